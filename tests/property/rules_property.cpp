// Every rule of the rewrite table: operands that make it fire, and the rewritten node against the node as written, at random
// points in fifty digits and in double. A rule that never fired, or has no case here, fails.
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "expr/evaluate.hpp"
#include "expr/rules.hpp"
#include "support/many_digits.hpp"

namespace appell {
namespace {

using test::Digits50;

// scalars and vectors alike: the test's own evaluation, since only this test needs vectors as numbers
template <class T>
struct Value {
    T s{0};
    std::array<T, 3> v{T(0), T(0), T(0)};
};

template <class T>
std::vector<Value<T>> evaluate_all(const Graph& g, const std::vector<T>& scalars, const std::vector<std::array<T, 3>>& vectors) {
    std::vector<Value<T>> out(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
        const NodeId id(i);
        Value<T>& r = out[i];
        const auto at = [&](int k) -> const Value<T>& { return out[g.operand(id, k).index()]; };
        switch (g.op(id)) {
            case Op::Constant: r.s = T(*g.constant_value(id)); break;
            case Op::Pi: r.s = pi_value<T>(); break;
            case Op::Symbol: r.s = scalars[g.symbol_of(id).index()]; break;
            case Op::PowInt: r.s = int_power(at(0).s, g.exponent(id)); break;
            case Op::NoArgs:
            case Op::Args:
            case Op::Call:
            case Op::VZero: break;
            case Op::VSymbol: r.v = vectors[g.vector_symbol_of(id).index()]; break;
            case Op::VAdd:
                for (int k = 0; k < 3; ++k) r.v[k] = at(0).v[k] + at(1).v[k];
                break;
            case Op::VNeg:
                for (int k = 0; k < 3; ++k) r.v[k] = -at(0).v[k];
                break;
            case Op::VScale:
                for (int k = 0; k < 3; ++k) r.v[k] = at(0).s * at(1).v[k];
                break;
            case Op::Cross:
                for (int k = 0; k < 3; ++k)
                    r.v[k] = at(0).v[(k + 1) % 3] * at(1).v[(k + 2) % 3] - at(0).v[(k + 2) % 3] * at(1).v[(k + 1) % 3];
                break;
            case Op::Dot: r.s = at(0).v[0] * at(1).v[0] + at(0).v[1] * at(1).v[1] + at(0).v[2] * at(1).v[2]; break;
            case Op::VDt: break;  // only the derivative of zero occurs here, and it is zero
            default: {
                const int arity = g.arity(id);
                const T none(0);
                r.s = apply_op<T>(g.op(id), at(0).s, arity > 1 ? at(1).s : none, arity > 2 ? at(2).s : none);
            }
        }
    }
    return out;
}

struct Case {
    Op op;
    NodeId x, y, z;
    std::optional<int> exponent{};  // PowInt
};

struct Bench {
    Graph g;
    Expr x, y, w, p;  // any sign; p is positive
    NodeId v1, v2;

    Bench() {
        const auto symbol = [&](const char* name) { return Expr{&g, g.symbol_node(g.add_symbol(name, SymbolKind::other))}; };
        x = symbol("x"), y = symbol("y"), w = symbol("w"), p = symbol("p");
        v1 = g.vector_node(g.add_vector_symbol({"v1", 0, 0, 0}));
        v2 = g.vector_node(g.add_vector_symbol({"v2", 0, 0, 1}));
    }
    Expr c(double value) { return constant(g, value); }
    Expr made(Op op, Expr e) { return {&g, g.make(op, e.id)}; }
    // the node exactly as given
    NodeId raw(const Case& k) {
        if (k.op == Op::PowInt) return g.intern({k.op, k.x.value, static_cast<std::uint32_t>(*k.exponent)});
        return g.intern({k.op, k.x.value, k.y.valid() ? k.y.value : 0, k.z.valid() ? k.z.value : 0});
    }
    NodeId rewritten(const Case& k) {
        switch (k.op) {
            case Op::PowInt: return g.pow(k.x, *k.exponent);
            case Op::VAdd: return g.vadd(k.x, k.y);
            case Op::VNeg: return g.vneg(k.x);
            case Op::VScale: return g.vscale(k.x, k.y);
            case Op::Dot: return g.dot(k.x, k.y);
            case Op::Cross: return g.cross(k.x, k.y);
            case Op::VDt: return g.vdt(k.x, 0);
            default: return g.make(k.op, k.x, k.y, k.z);
        }
    }
};

using Cases = std::vector<Case>;
using Maker = std::function<Cases(Bench&)>;

Case unary(Op op, Expr x) { return {op, x.id, {}, {}}; }
Case binary(Op op, Expr x, Expr y) { return {op, x.id, y.id, {}}; }
Case power(Expr x, int n) { return {Op::PowInt, x.id, {}, {}, n}; }

// both orders of a commutative operation
Cases both(Op op, Expr x, Expr y) { return {binary(op, x, y), binary(op, y, x)}; }
Cases join(Cases a, const Cases& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// the operation and the rule's name, as names repeat over operations
const std::map<std::pair<Op, std::string>, Maker>& cases() {
    static const std::map<std::pair<Op, std::string>, Maker> table = [] {
        std::map<std::pair<Op, std::string>, Maker> t;
        const auto put = [&](Op op, const char* name, Maker make) { t[{op, name}] = std::move(make); };
        // --- sums
        put(Op::Add, "c1 + c2, exact", [](Bench& b) { return both(Op::Add, b.c(0.5), b.c(3)); });
        put(Op::Add, "0 + x = x", [](Bench& b) { return both(Op::Add, b.c(0), b.x); });
        put(Op::Add, "x + (-y) = x - y", [](Bench& b) { return both(Op::Add, b.x, -b.y); });
        put(Op::Add, "c1 x + c2 x = (c1 + c2) x", [](Bench& b) {
            return join(both(Op::Add, 3 * b.x, 0.25 * b.x), Cases{binary(Op::Add, b.x, b.x), binary(Op::Add, b.x, -2 * b.x)});
        });
        put(Op::Add, "(x - y) + y = x", [](Bench& b) { return both(Op::Add, b.x - b.y, b.y); });
        put(Op::Add, "sin^2 + cos^2 = 1", [](Bench& b) { return both(Op::Add, pow(sin(b.x), 2), pow(cos(b.x), 2)); });
        put(Op::Add, "k sin^2 + k cos^2 = k",
            [](Bench& b) { return both(Op::Add, b.y * pow(sin(b.x), 2), pow(cos(b.x), 2) * b.y); });
        // --- differences
        put(Op::Sub, "c1 - c2, exact", [](Bench& b) { return Cases{binary(Op::Sub, b.c(0.5), b.c(3))}; });
        put(Op::Sub, "x - 0 = x", [](Bench& b) { return Cases{binary(Op::Sub, b.x, b.c(0))}; });
        put(Op::Sub, "0 - x = -x", [](Bench& b) { return Cases{binary(Op::Sub, b.c(0), b.x)}; });
        put(Op::Sub, "x - x = 0", [](Bench& b) { return Cases{binary(Op::Sub, sin(b.x), sin(b.x))}; });
        put(Op::Sub, "x - (-y) = x + y", [](Bench& b) { return Cases{binary(Op::Sub, b.x, -b.y)}; });
        put(Op::Sub, "(-x) - y = -(x + y)", [](Bench& b) { return Cases{binary(Op::Sub, -b.x, b.y)}; });
        put(Op::Sub, "c1 x - c2 x = (c1 - c2) x", [](Bench& b) {
            return Cases{binary(Op::Sub, 3 * b.x, 0.25 * b.x), binary(Op::Sub, b.x, 2 * b.x)};
        });
        put(Op::Sub, "(x + y) - y = x", [](Bench& b) {
            return Cases{binary(Op::Sub, b.x + b.y, b.y), binary(Op::Sub, b.x + b.y, b.x)};
        });
        put(Op::Sub, "1 - sin^2 = cos^2", [](Bench& b) {
            return Cases{binary(Op::Sub, b.c(1), pow(sin(b.x), 2)), binary(Op::Sub, b.c(1), pow(cos(b.x), 2))};
        });
        // --- products
        put(Op::Mul, "c1 c2, exact", [](Bench& b) { return both(Op::Mul, b.c(0.5), b.c(3)); });
        put(Op::Mul, "0 x = 0", [](Bench& b) { return both(Op::Mul, b.c(0), b.x); });
        put(Op::Mul, "1 x = x", [](Bench& b) { return both(Op::Mul, b.c(1), b.x); });
        put(Op::Mul, "(-1) x = -x", [](Bench& b) { return both(Op::Mul, b.c(-1), b.x); });
        put(Op::Mul, "(-x) y = -(x y)", [](Bench& b) { return both(Op::Mul, -b.x, b.y); });
        put(Op::Mul, "c1 (c2 x) = (c1 c2) x", [](Bench& b) { return both(Op::Mul, b.c(3), 0.5 * b.x); });
        put(Op::Mul, "x x = x^2", [](Bench& b) { return Cases{binary(Op::Mul, b.x, b.x)}; });
        put(Op::Mul, "sqrt(x) sqrt(x) = x", [](Bench& b) { return Cases{binary(Op::Mul, sqrt(b.p), sqrt(b.p))}; });
        put(Op::Mul, "x^m x^n = x^(m+n), m n > 0", [](Bench& b) {
            return join(join(both(Op::Mul, pow(b.x, 2), pow(b.x, 3)), both(Op::Mul, b.x, pow(b.x, 3))),
                        both(Op::Mul, pow(b.x, -2), pow(b.x, -1)));
        });
        put(Op::Mul, "(y / x) x = y", [](Bench& b) { return both(Op::Mul, b.y / b.x, b.x); });
        put(Op::Mul, "(y / abs(x)) x = y sign(x)",
            [](Bench& b) { return join(both(Op::Mul, b.y / abs(b.x), b.x), both(Op::Mul, b.w / (abs(b.x) * b.p), 2 * b.x)); });
        // --- quotients
        put(Op::Div, "c1 / c2, exact", [](Bench& b) { return Cases{binary(Op::Div, b.c(3), b.c(8))}; });
        put(Op::Div, "0 / x = 0", [](Bench& b) { return Cases{binary(Op::Div, b.c(0), b.x)}; });
        put(Op::Div, "x / 1 = x", [](Bench& b) { return Cases{binary(Op::Div, b.x, b.c(1))}; });
        put(Op::Div, "x / (-1) = -x", [](Bench& b) { return Cases{binary(Op::Div, b.x, b.c(-1))}; });
        put(Op::Div, "x / x = 1", [](Bench& b) { return Cases{binary(Op::Div, b.x, b.x)}; });
        put(Op::Div, "(-x) / y = -(x / y)", [](Bench& b) {
            return Cases{binary(Op::Div, -b.x, b.y), binary(Op::Div, b.x, -b.y)};
        });
        put(Op::Div, "(x y) / y = x", [](Bench& b) {
            return Cases{binary(Op::Div, b.x * b.y, b.y), binary(Op::Div, b.x * b.y, b.x)};
        });
        put(Op::Div, "x^n / x = x^(n-1)", [](Bench& b) {
            return Cases{binary(Op::Div, pow(b.x, 4), b.x), binary(Op::Div, pow(b.x, 2), b.x)};
        });
        put(Op::Div, "x / sqrt(x) = sqrt(x)", [](Bench& b) { return Cases{binary(Op::Div, b.p, sqrt(b.p))}; });
        put(Op::Div, "x / abs(x) = sign(x)", [](Bench& b) {
            return Cases{binary(Op::Div, b.x, abs(b.x)), binary(Op::Div, b.y * b.x, abs(b.x)),
                         binary(Op::Div, b.x - b.y, abs(b.y - b.x)), binary(Op::Div, pow(b.x, 2), abs(b.x) * b.y)};
        });
        put(Op::Div, "abs(x) / x = sign(x)", [](Bench& b) {
            return Cases{binary(Op::Div, abs(b.x), b.x), binary(Op::Div, abs(b.x), b.y * b.x),
                         binary(Op::Div, b.w * abs(b.x), b.x)};
        });
        put(Op::Div, "(x / y) / z = x / (y z)", [](Bench& b) { return Cases{binary(Op::Div, b.x / b.y, b.w)}; });
        // --- signs
        put(Op::Neg, "-(c)", [](Bench& b) { return Cases{unary(Op::Neg, b.c(3)), unary(Op::Neg, b.c(0))}; });
        put(Op::Neg, "-(-x) = x", [](Bench& b) { return Cases{unary(Op::Neg, -b.x)}; });
        put(Op::Neg, "-(x - y) = y - x", [](Bench& b) { return Cases{unary(Op::Neg, b.x - b.y)}; });
        put(Op::Neg, "-(c x) = (-c) x", [](Bench& b) { return Cases{unary(Op::Neg, 3 * b.x)}; });
        // --- powers
        put(Op::PowInt, "x^0 = 1", [](Bench& b) { return Cases{power(b.x, 0)}; });
        put(Op::PowInt, "x^1 = x", [](Bench& b) { return Cases{power(b.x, 1)}; });
        put(Op::PowInt, "c^n, exact", [](Bench& b) { return Cases{power(b.c(1.5), 5), power(b.c(-3), 3)}; });
        put(Op::PowInt, "(x^m)^n = x^(m n)", [](Bench& b) {
            return Cases{power(pow(b.x, 2), 3), power(pow(b.x, -2), 3), power(pow(b.x, -3), -1), power(pow(b.x, 3), 2)};
        });
        put(Op::PowInt, "(-x)^n", [](Bench& b) {
            return Cases{power(-b.x, 2), power(-b.x, 3), power(-b.x, -3), power(-b.x, -2)};
        });
        put(Op::PowInt, "sqrt(x)^2 = x", [](Bench& b) {
            return Cases{power(sqrt(b.p), 2), power(sqrt(b.p), 4), power(sqrt(b.p), -2)};
        });
        put(Op::PowInt, "abs(x)^2 = x^2", [](Bench& b) { return Cases{power(abs(b.x), 2), power(abs(b.x), -4)}; });
        put(Op::Pow, "x^n with integer n", [](Bench& b) {
            return Cases{binary(Op::Pow, b.p, b.c(3)), binary(Op::Pow, b.x, b.c(-2))};
        });
        put(Op::Pow, "x^(1/2) = sqrt(x)", [](Bench& b) { return Cases{binary(Op::Pow, b.p, b.c(0.5))}; });
        put(Op::Pow, "1^y = 1", [](Bench& b) { return Cases{binary(Op::Pow, b.c(1), b.y)}; });
        put(Op::Sqrt, "sqrt(c), exact", [](Bench& b) { return Cases{unary(Op::Sqrt, b.c(2.25)), unary(Op::Sqrt, b.c(0))}; });
        put(Op::Sqrt, "sqrt(x^2) = abs(x)", [](Bench& b) { return Cases{unary(Op::Sqrt, pow(b.x, 2))}; });
        // --- elementary functions
        const auto at_constant = [&](Op op, const char* name, double value) {
            put(op, name, [op, value](Bench& b) { return Cases{unary(op, b.c(value))}; });
        };
        // |y sin(x) / (5 p)| is at most 1/2: inside every domain
        const auto at_negative = [&](Op op, const char* name) {
            put(op, name, [op](Bench& b) { return Cases{unary(op, -(b.y * sin(b.x)) / (5 * b.p))}; });
        };
        at_constant(Op::Exp, "exp(0) = 1", 0);
        put(Op::Exp, "exp(log(x)) = x", [](Bench& b) { return Cases{unary(Op::Exp, log(b.p))}; });
        at_constant(Op::Log, "log(1) = 0", 1);
        put(Op::Log, "log(exp(x)) = x", [](Bench& b) { return Cases{unary(Op::Log, exp(b.x))}; });
        at_constant(Op::Sin, "sin(0) = 0", 0);
        at_negative(Op::Sin, "sin(-x) = -sin(x)");
        at_constant(Op::Cos, "cos(0) = 1", 0);
        at_negative(Op::Cos, "cos(-x) = cos(x)");
        at_constant(Op::Tan, "tan(0) = 0", 0);
        at_negative(Op::Tan, "tan(-x) = -tan(x)");
        at_constant(Op::Asin, "asin(0) = 0", 0);
        at_negative(Op::Asin, "asin(-x) = -asin(x)");
        at_constant(Op::Acos, "acos(1) = 0", 1);
        at_constant(Op::Atan, "atan(0) = 0", 0);
        at_negative(Op::Atan, "atan(-x) = -atan(x)");
        at_constant(Op::Sinh, "sinh(0) = 0", 0);
        at_negative(Op::Sinh, "sinh(-x) = -sinh(x)");
        at_constant(Op::Cosh, "cosh(0) = 1", 0);
        at_negative(Op::Cosh, "cosh(-x) = cosh(x)");
        at_constant(Op::Tanh, "tanh(0) = 0", 0);
        at_negative(Op::Tanh, "tanh(-x) = -tanh(x)");
        at_constant(Op::Asinh, "asinh(0) = 0", 0);
        at_negative(Op::Asinh, "asinh(-x) = -asinh(x)");
        at_constant(Op::Acosh, "acosh(1) = 0", 1);
        at_constant(Op::Atanh, "atanh(0) = 0", 0);
        at_negative(Op::Atanh, "atanh(-x) = -atanh(x)");
        // --- piecewise operations
        put(Op::Abs, "abs(c)", [](Bench& b) {
            return Cases{unary(Op::Abs, b.c(-3)), unary(Op::Abs, b.c(2)), unary(Op::Abs, b.c(0))};
        });
        put(Op::Abs, "abs(abs(x)) = abs(x)", [](Bench& b) { return Cases{unary(Op::Abs, abs(b.x))}; });
        put(Op::Abs, "abs(-x) = abs(x)", [](Bench& b) { return Cases{unary(Op::Abs, -b.x)}; });
        put(Op::Sign, "sign(c)", [](Bench& b) {
            return Cases{unary(Op::Sign, b.c(-3)), unary(Op::Sign, b.c(0)), unary(Op::Sign, b.c(5))};
        });
        put(Op::Sign, "sign(-x) = -sign(x)", [](Bench& b) { return Cases{unary(Op::Sign, -b.x)}; });
        for (const Op op : {Op::Min, Op::Max}) {
            const std::string name(info(op).text);
            put(op, (name + "(x, x) = x").c_str(), [op](Bench& b) { return Cases{binary(op, b.x, b.x)}; });
            put(op, (name + "(c1, c2)").c_str(), [op](Bench& b) { return both(op, b.c(2), b.c(-3)); });
        }
        put(Op::Less, "c1 < c2", [](Bench& b) { return both(Op::Less, b.c(2), b.c(-3)); });
        put(Op::Less, "x < x is false", [](Bench& b) { return Cases{binary(Op::Less, b.x, b.x)}; });
        put(Op::LessEqual, "c1 <= c2",
            [](Bench& b) { return join(both(Op::LessEqual, b.c(2), b.c(-3)), both(Op::LessEqual, b.c(2), b.c(2))); });
        put(Op::LessEqual, "x <= x is true", [](Bench& b) { return Cases{binary(Op::LessEqual, b.x, b.x)}; });
        put(Op::If, "if(c, x, y)", [](Bench& b) {
            return Cases{
                {Op::If, b.c(0).id, b.x.id, b.y.id}, {Op::If, b.c(1).id, b.x.id, b.y.id}, {Op::If, b.c(-2).id, b.x.id, b.y.id}};
        });
        put(Op::If, "if(c, x, x) = x", [](Bench& b) { return Cases{{Op::If, less(b.x, b.y).id, b.w.id, b.w.id}}; });
        // --- vectors
        put(Op::VAdd, "0 + v = v", [](Bench& b) {
            return Cases{{Op::VAdd, b.v1, b.g.vector_zero(), {}}, {Op::VAdd, b.g.vector_zero(), b.v1, {}}};
        });
        put(Op::VAdd, "v + (-v) = 0", [](Bench& b) {
            return Cases{{Op::VAdd, b.v1, b.g.vneg(b.v1), {}}, {Op::VAdd, b.g.vneg(b.v1), b.v1, {}}};
        });
        put(Op::VNeg, "-0 = 0", [](Bench& b) { return Cases{{Op::VNeg, b.g.vector_zero(), {}, {}}}; });
        put(Op::VNeg, "-(-v) = v", [](Bench& b) { return Cases{{Op::VNeg, b.g.vneg(b.v1), {}, {}}}; });
        put(Op::VScale, "0 v = s 0 = 0", [](Bench& b) {
            return Cases{{Op::VScale, b.c(0).id, b.v1, {}}, {Op::VScale, b.x.id, b.g.vector_zero(), {}}};
        });
        put(Op::VScale, "1 v = v", [](Bench& b) { return Cases{{Op::VScale, b.c(1).id, b.v1, {}}}; });
        put(Op::VScale, "(-s) v = -(s v)", [](Bench& b) {
            return Cases{
                {Op::VScale, b.c(-1).id, b.v1, {}}, {Op::VScale, (-b.x).id, b.v1, {}}, {Op::VScale, b.x.id, b.g.vneg(b.v1), {}}};
        });
        put(Op::VScale, "s (r v) = (s r) v", [](Bench& b) { return Cases{{Op::VScale, b.x.id, b.g.vscale(b.y.id, b.v1), {}}}; });
        put(Op::Dot, "0 . v = 0", [](Bench& b) {
            return Cases{{Op::Dot, b.g.vector_zero(), b.v1, {}}, {Op::Dot, b.v1, b.g.vector_zero(), {}}};
        });
        put(Op::Dot, "(-v) . w = -(v . w)", [](Bench& b) {
            return Cases{{Op::Dot, b.g.vneg(b.v1), b.v2, {}}, {Op::Dot, b.v1, b.g.vneg(b.v2), {}}};
        });
        put(Op::Cross, "0 x v = 0", [](Bench& b) {
            return Cases{{Op::Cross, b.g.vector_zero(), b.v1, {}}, {Op::Cross, b.v1, b.g.vector_zero(), {}}};
        });
        put(Op::Cross, "v x v = 0", [](Bench& b) { return Cases{{Op::Cross, b.v1, b.v1, {}}}; });
        put(Op::Cross, "(-v) x w = -(v x w)", [](Bench& b) {
            return Cases{{Op::Cross, b.g.vneg(b.v1), b.v2, {}}, {Op::Cross, b.v1, b.g.vneg(b.v2), {}}};
        });
        put(Op::VDt, "d0/dt = 0", [](Bench& b) { return Cases{{Op::VDt, b.g.vector_zero(), {}, {}}}; });
        return t;
    }();
    return table;
}

template <class T>
void expect_same_values(const Bench& b, NodeId raw, NodeId rewritten, std::mt19937_64& random, const T& tolerance) {
    const auto uniform = [&](double low, double high) {
        return T(low + (high - low) * (static_cast<double>(random() >> 11) / 9007199254740992.0));
    };
    for (int trial = 0; trial < 8; ++trial) {
        // away from zero, both signs; the last symbol is positive
        std::vector<T> scalars;
        for (int i = 0; i < 3; ++i) scalars.push_back(uniform(0.4, 2.5) * T(random() % 2 == 0 ? 1 : -1));
        scalars.push_back(uniform(1, 2.5));
        std::vector<std::array<T, 3>> vectors(2);
        for (auto& v : vectors)
            for (T& component : v) component = uniform(-2, 2);
        const auto values = evaluate_all<T>(b.g, scalars, vectors);
        const auto close = [&](const T& p, const T& q) { return (p > q ? T(p - q) : T(q - p)) <= tolerance; };
        EXPECT_TRUE(close(values[raw.index()].s, values[rewritten.index()].s))
            << values[raw.index()].s << " as written, " << values[rewritten.index()].s << " rewritten";
        for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(close(values[raw.index()].v[k], values[rewritten.index()].v[k]));
    }
}

// Values are below 200 with a few operations each: a few units of the last place, generously 1e-46 of 50 digits and 1e-12 of 16.
TEST(rules, every_rule_fires_and_keeps_the_value) {
    std::mt19937_64 random(20240611);
    std::size_t covered = 0;
    std::vector<bool> fired(rule_count(), false);
    for (const auto& [key, make] : cases()) {
        Bench bench;
        const Cases list = make(bench);
        for (const Case& k : list) {
            const NodeId raw = bench.raw(k);
            const auto before = bench.g.rule_uses();
            const NodeId rewritten = bench.rewritten(k);
            const auto& after = bench.g.rule_uses();
            bool this_rule = false;
            for (std::size_t i = 0; i < rule_count(); ++i) {
                if (after[i] == before[i]) continue;
                if (rule_name(i) == key.second) {
                    this_rule = true;
                    fired[i] = true;
                }
            }
            SCOPED_TRACE(std::string(info(key.first).name) + ": " + key.second);
            EXPECT_TRUE(this_rule) << "the case does not make its rule fire";
            EXPECT_NE(raw, rewritten);
            expect_same_values<double>(bench, raw, rewritten, random, 1e-12);
            expect_same_values<Digits50>(bench, raw, rewritten, random, Digits50("1e-46"));
        }
        ++covered;
    }
    for (std::size_t i = 0; i < rule_count(); ++i) EXPECT_TRUE(fired[i]) << "no case made this rule fire: " << rule_name(i);
    EXPECT_EQ(covered, rule_count()) << "as many cases as rules";
}

// Where the original is defined at special points, so must be the rewritten node, with the same value.
TEST(rules, special_points) {
    Bench b;
    const auto value = [&](Expr e, double at) {
        const std::vector<double> values(4, at);
        return evaluate<double>(b.g, std::span(&e.id, 1), values).front();
    };
    EXPECT_EQ(value(sqrt(pow(b.x, 2)), -3), 3);  // not x
    EXPECT_EQ(value(pow(b.x, b.c(2)), -3), 9);   // the real power of a negative base
    EXPECT_EQ(value(pow(b.x, 0), 0), 1);         // 0^0 = 1, as std::pow has it
    EXPECT_EQ(value(pow(b.x, b.c(0)), 0), 1);
    EXPECT_EQ(value(sign(-b.x), 0), 0);
    EXPECT_EQ(value(abs(b.x) * abs(b.x), -3), 9);
    EXPECT_EQ(value(min(b.x, b.x), 2), 2);
    // x x^-1 is left alone: it is not defined at zero
    EXPECT_NE(b.x * pow(b.x, -1), b.c(1));
}

// A magnitude deep in a product, or a product of one with itself again and again: rules look at the first factors only.
TEST(Rules, QuotientsOfLongProductsEnd) {
    Graph g;
    const NodeId x = g.symbol_node(g.add_symbol("x", SymbolKind::coordinate)), size = g.make(Op::Abs, x);
    NodeId deep = size;
    for (int i = 1; i < 200'000; ++i) deep = g.mul(deep, g.add(x, g.constant(i)));
    NodeId shared = g.mul(g.add(x, g.constant(1)), size);
    for (int i = 0; i < 60; ++i) shared = g.mul(shared, g.add(shared, x));
    for (const NodeId d : {deep, shared}) {
        EXPECT_EQ(g.op(g.div(x, d)), Op::Div);
        EXPECT_EQ(g.op(g.div(d, g.add(x, g.constant(0.5)))), Op::Div);
    }
    EXPECT_EQ(g.div(x, g.mul(size, g.constant(2))), g.div(g.make(Op::Sign, x), g.constant(2)));
}

}  // namespace
}  // namespace appell
