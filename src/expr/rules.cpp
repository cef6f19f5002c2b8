#include "expr/rules.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "expr/graph.hpp"

namespace appell {

namespace {

// Operands of the node to be made. A rule returns the replacement, or an invalid id when it does not apply.
struct Operands {
    NodeId x, y, z;
};

using Apply = NodeId (*)(Graph&, const Operands&);

struct Rule {
    Op op;
    std::string_view name;
    Apply apply;
};

constexpr NodeId k_no;

bool is(Graph& g, NodeId n, Op op) { return g.op(n) == op; }
bool is(Graph& g, NodeId n, double value) { return g.is_constant(n, value); }

// --- exact folding: a sum, product or quotient of doubles is folded only when no rounding happened. The remainder of a tiny
// product is itself below the smallest double and would look like zero, so tiny numbers are left alone.
constexpr double k_tiny = 0x1p-900;
NodeId fold_add(Graph& g, const Operands& o) {
    const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
    if (!x || !y) return k_no;
    if (*x == 0 || *y == 0) return *x == 0 ? o.y : o.x;
    const double s = *x + *y, part = s - *x;
    const double rounding = (*x - (s - part)) + (*y - part);  // two-sum
    return std::isfinite(s) && rounding == 0 ? g.constant(s) : k_no;
}
NodeId fold_mul(Graph& g, const Operands& o) {
    const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
    if (!x || !y) return k_no;
    const double p = *x * *y;
    if (*x == 0 || *y == 0) return !std::isfinite(p) ? k_no : *x == 0 ? o.x : o.y;
    return std::isfinite(p) && std::abs(p) > k_tiny && std::fma(*x, *y, -p) == 0 ? g.constant(p) : k_no;
}
NodeId fold_div(Graph& g, const Operands& o) {
    const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
    if (!x || !y || *y == 0) return k_no;
    const double q = *x / *y;
    if (*x == 0) return g.constant(0);
    return std::isfinite(q) && std::abs(*x) > k_tiny && std::abs(q) > k_tiny && std::fma(q, *y, -*x) == 0 ? g.constant(q) : k_no;
}

// c * x with a constant c: {c, x}; x itself: {1, x}
std::pair<double, NodeId> scaled(Graph& g, NodeId n) {
    if (is(g, n, Op::Mul)) {
        for (int side = 0; side < 2; ++side)
            if (const auto c = g.constant_value(g.operand(n, side))) return {*c, g.operand(n, 1 - side)};
    }
    return {1.0, n};
}

// the square of sin or cos of an angle: {angle, which}; invalid angle otherwise
std::pair<NodeId, Op> trigonometric_square(Graph& g, NodeId n) {
    if (is(g, n, Op::PowInt) && g.exponent(n) == 2) {
        const NodeId base = g.operand(n, 0);
        if (is(g, base, Op::Sin) || is(g, base, Op::Cos)) return {g.operand(base, 0), g.op(base)};
    }
    return {k_no, Op::Constant};
}

bool complementary_squares(Graph& g, NodeId p, NodeId q) {
    const auto [angle, which] = trigonometric_square(g, p);
    const auto [other_angle, other] = trigonometric_square(g, q);
    return angle.valid() && angle == other_angle && which != other;
}

// --- quotients by a magnitude: x/abs(x) is sign(x), which has a value on both sides next to zero and says that it jumps there

// Factors that are looked at: a product may be as long as a model, and shared by itself again and again.
constexpr int k_factors = 32;

// The product without one factor x; invalid where x is not a factor of it, or not among the first ones.
NodeId without_factor(Graph& g, NodeId product, NodeId x, int& left) {
    if (left-- <= 0) return k_no;
    if (product == x) return g.constant(1);
    switch (g.op(product)) {
        case Op::Neg: {
            const NodeId rest = without_factor(g, g.operand(product, 0), x, left);
            return rest.valid() ? g.neg(rest) : k_no;
        }
        case Op::Sub: {  // (x - y) of (y - x)
            const bool opposite =
                is(g, x, Op::Sub) && g.operand(x, 0) == g.operand(product, 1) && g.operand(x, 1) == g.operand(product, 0);
            return opposite ? g.constant(-1) : k_no;
        }
        case Op::PowInt: return g.operand(product, 0) == x && g.exponent(product) > 1 ? g.pow(x, g.exponent(product) - 1) : k_no;
        case Op::Mul:
            for (int side = 0; side < 2; ++side)
                if (const NodeId rest = without_factor(g, g.operand(product, side), x, left); rest.valid())
                    return g.mul(rest, g.operand(product, 1 - side));
            return k_no;
        default: return k_no;
    }
}

NodeId without_factor(Graph& g, NodeId product, NodeId x) {
    int left = k_factors;
    return without_factor(g, product, x, left);
}

// In the given part of `of`, a factor abs(x) such that x is a factor of `other`: what becomes of both products, and sign(x).
struct Magnitude {
    NodeId of{}, other{}, sign{};
};
Magnitude without_magnitude(Graph& g, NodeId of, NodeId other, NodeId part, int& left) {
    if (left-- <= 0) return {};
    if (is(g, part, Op::Mul)) {
        const Magnitude first = without_magnitude(g, of, other, g.operand(part, 0), left);
        return first.sign.valid() ? first : without_magnitude(g, of, other, g.operand(part, 1), left);
    }
    if (!is(g, part, Op::Abs)) return {};
    const NodeId x = g.operand(part, 0), rest = without_factor(g, other, x);
    if (!rest.valid()) return {};
    const NodeId rest_of = without_factor(g, of, part);
    return rest_of.valid() ? Magnitude{rest_of, rest, g.make(Op::Sign, x)} : Magnitude{};
}

// n / d where a factor of d is the magnitude of a factor of n
NodeId without_magnitude(Graph& g, NodeId n, NodeId d) {
    int left = k_factors;
    const Magnitude found = without_magnitude(g, d, n, d, left);
    return found.sign.valid() ? g.div(g.mul(found.sign, found.other), found.of) : k_no;
}

// n / d where a factor of n is the magnitude of a factor of d
NodeId sign_of_magnitude(Graph& g, NodeId n, NodeId d) {
    int left = k_factors;
    const Magnitude found = without_magnitude(g, n, d, n, left);
    return found.sign.valid() ? g.div(g.mul(found.sign, found.of), found.other) : k_no;
}

template <Op op>
NodeId pull_sign_of_odd(Graph& g, const Operands& o) {
    return is(g, o.x, Op::Neg) ? g.neg(g.make(op, g.operand(o.x, 0))) : k_no;
}
template <Op op>
NodeId drop_sign_of_even(Graph& g, const Operands& o) {
    return is(g, o.x, Op::Neg) ? g.make(op, g.operand(o.x, 0)) : k_no;
}
template <int at, int value>
NodeId value_at(Graph& g, const Operands& o) {
    return is(g, o.x, static_cast<double>(at)) ? g.constant(value) : k_no;
}
template <Op inverse>
NodeId undo(Graph& g, const Operands& o) {
    return is(g, o.x, inverse) ? g.operand(o.x, 0) : k_no;
}
template <class Compare>
NodeId fold_comparison(Graph& g, const Operands& o) {
    const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
    return x && y ? g.constant(Compare{}(*x, *y) ? 1 : 0) : k_no;
}

// clang-format off
constexpr auto k_rules = std::to_array<Rule>({
    // --- sums
    {Op::Add, "c1 + c2, exact", fold_add},
    {Op::Add, "0 + x = x", [](Graph& g, const Operands& o) { return is(g, o.x, 0.0) ? o.y : is(g, o.y, 0.0) ? o.x : k_no; }},
    {Op::Add, "x + (-y) = x - y", [](Graph& g, const Operands& o) {
        if (is(g, o.y, Op::Neg)) return g.sub(o.x, g.operand(o.y, 0));
        if (is(g, o.x, Op::Neg)) return g.sub(o.y, g.operand(o.x, 0));
        return k_no; }},
    {Op::Add, "c1 x + c2 x = (c1 + c2) x", [](Graph& g, const Operands& o) {
        const auto [c, x] = scaled(g, o.x);
        const auto [d, y] = scaled(g, o.y);
        if (x != y || g.op(x) == Op::Constant) return k_no;
        const NodeId total = g.add(g.constant(c), g.constant(d));
        return g.op(total) == Op::Constant ? g.mul(total, x) : k_no; }},
    {Op::Add, "(x - y) + y = x", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::Sub) && g.operand(o.x, 1) == o.y) return g.operand(o.x, 0);
        if (is(g, o.y, Op::Sub) && g.operand(o.y, 1) == o.x) return g.operand(o.y, 0);
        return k_no; }},
    {Op::Add, "sin^2 + cos^2 = 1", [](Graph& g, const Operands& o) {
        return complementary_squares(g, o.x, o.y) ? g.constant(1) : k_no; }},
    {Op::Add, "k sin^2 + k cos^2 = k", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::Mul) || !is(g, o.y, Op::Mul)) return k_no;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                if (g.operand(o.x, i) == g.operand(o.y, j) && complementary_squares(g, g.operand(o.x, 1 - i), g.operand(o.y, 1 - j)))
                    return g.operand(o.x, i);
        return k_no; }},
    // --- differences
    {Op::Sub, "c1 - c2, exact", [](Graph& g, const Operands& o) {
        const auto y = g.constant_value(o.y);
        return y ? fold_add(g, {o.x, g.constant(-*y), {}}) : k_no; }},
    {Op::Sub, "x - 0 = x", [](Graph& g, const Operands& o) { return is(g, o.y, 0.0) ? o.x : k_no; }},
    {Op::Sub, "0 - x = -x", [](Graph& g, const Operands& o) { return is(g, o.x, 0.0) ? g.neg(o.y) : k_no; }},
    {Op::Sub, "x - x = 0", [](Graph& g, const Operands& o) { return o.x == o.y ? g.constant(0) : k_no; }},
    {Op::Sub, "x - (-y) = x + y", [](Graph& g, const Operands& o) { return is(g, o.y, Op::Neg) ? g.add(o.x, g.operand(o.y, 0)) : k_no; }},
    {Op::Sub, "(-x) - y = -(x + y)", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::Neg) ? g.neg(g.add(g.operand(o.x, 0), o.y)) : k_no; }},
    {Op::Sub, "c1 x - c2 x = (c1 - c2) x", [](Graph& g, const Operands& o) {
        const auto [c, x] = scaled(g, o.x);
        const auto [d, y] = scaled(g, o.y);
        if (x != y || g.op(x) == Op::Constant) return k_no;
        const NodeId total = g.sub(g.constant(c), g.constant(d));
        return g.op(total) == Op::Constant ? g.mul(total, x) : k_no; }},
    {Op::Sub, "(x + y) - y = x", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::Add)) return k_no;
        return g.operand(o.x, 0) == o.y ? g.operand(o.x, 1) : g.operand(o.x, 1) == o.y ? g.operand(o.x, 0) : k_no; }},
    {Op::Sub, "1 - sin^2 = cos^2", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, 1.0)) return k_no;
        const auto [angle, which] = trigonometric_square(g, o.y);
        return angle.valid() ? g.pow(g.make(which == Op::Sin ? Op::Cos : Op::Sin, angle), 2) : k_no; }},
    // --- products
    {Op::Mul, "c1 c2, exact", fold_mul},
    {Op::Mul, "0 x = 0", [](Graph& g, const Operands& o) { return is(g, o.x, 0.0) ? o.x : is(g, o.y, 0.0) ? o.y : k_no; }},
    {Op::Mul, "1 x = x", [](Graph& g, const Operands& o) { return is(g, o.x, 1.0) ? o.y : is(g, o.y, 1.0) ? o.x : k_no; }},
    {Op::Mul, "(-1) x = -x", [](Graph& g, const Operands& o) {
        return is(g, o.x, -1.0) ? g.neg(o.y) : is(g, o.y, -1.0) ? g.neg(o.x) : k_no; }},
    {Op::Mul, "(-x) y = -(x y)", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::Neg)) return g.neg(g.mul(g.operand(o.x, 0), o.y));
        if (is(g, o.y, Op::Neg)) return g.neg(g.mul(o.x, g.operand(o.y, 0)));
        return k_no; }},
    {Op::Mul, "c1 (c2 x) = (c1 c2) x", [](Graph& g, const Operands& o) {
        for (int side = 0; side < 2; ++side) {
            const auto outer = g.constant_value(side == 0 ? o.x : o.y);
            if (!outer) continue;
            const auto [inner, x] = scaled(g, side == 0 ? o.y : o.x);
            if (inner == 1.0) return k_no;
            const NodeId product = g.mul(g.constant(*outer), g.constant(inner));
            return g.op(product) == Op::Constant ? g.mul(product, x) : k_no;
        }
        return k_no; }},
    {Op::Mul, "x x = x^2", [](Graph& g, const Operands& o) {
        return o.x == o.y && !is(g, o.x, Op::Sqrt) && !is(g, o.x, Op::PowInt) ? g.pow(o.x, 2) : k_no; }},
    {Op::Mul, "sqrt(x) sqrt(x) = x", [](Graph& g, const Operands& o) {
        return o.x == o.y && is(g, o.x, Op::Sqrt) ? g.operand(o.x, 0) : k_no; }},
    {Op::Mul, "x^m x^n = x^(m+n), m n > 0", [](Graph& g, const Operands& o) {
        const auto power = [&](NodeId n) { return is(g, n, Op::PowInt) ? std::pair(g.operand(n, 0), g.exponent(n)) : std::pair(n, 1); };
        if (!is(g, o.x, Op::PowInt) && !is(g, o.y, Op::PowInt)) return k_no;
        const auto [x, m] = power(o.x);
        const auto [y, n] = power(o.y);
        return x == y && (m > 0) == (n > 0) && std::abs(m) + std::abs(n) < 1 << 20 ? g.pow(x, m + n) : k_no; }},
    {Op::Mul, "(y / x) x = y", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::Div) && g.operand(o.x, 1) == o.y) return g.operand(o.x, 0);
        if (is(g, o.y, Op::Div) && g.operand(o.y, 1) == o.x) return g.operand(o.y, 0);
        return k_no; }},
    {Op::Mul, "(y / abs(x)) x = y sign(x)", [](Graph& g, const Operands& o) {
        for (const auto& [quotient, factor] : {std::pair(o.x, o.y), std::pair(o.y, o.x)}) {
            if (!is(g, quotient, Op::Div)) continue;
            const NodeId n = g.operand(quotient, 0), d = g.operand(quotient, 1);
            if (const NodeId whole = without_magnitude(g, factor, d); whole.valid()) return g.mul(n, whole);
        }
        return k_no; }},
    // --- quotients
    {Op::Div, "c1 / c2, exact", fold_div},
    {Op::Div, "0 / x = 0", [](Graph& g, const Operands& o) { return is(g, o.x, 0.0) && !is(g, o.y, 0.0) ? o.x : k_no; }},
    {Op::Div, "x / 1 = x", [](Graph& g, const Operands& o) { return is(g, o.y, 1.0) ? o.x : k_no; }},
    {Op::Div, "x / (-1) = -x", [](Graph& g, const Operands& o) { return is(g, o.y, -1.0) ? g.neg(o.x) : k_no; }},
    {Op::Div, "x / x = 1", [](Graph& g, const Operands& o) { return o.x == o.y && !is(g, o.x, 0.0) ? g.constant(1) : k_no; }},
    {Op::Div, "(-x) / y = -(x / y)", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::Neg)) return g.neg(g.div(g.operand(o.x, 0), o.y));
        if (is(g, o.y, Op::Neg)) return g.neg(g.div(o.x, g.operand(o.y, 0)));
        return k_no; }},
    {Op::Div, "(x y) / y = x", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::Mul)) return k_no;
        return g.operand(o.x, 0) == o.y ? g.operand(o.x, 1) : g.operand(o.x, 1) == o.y ? g.operand(o.x, 0) : k_no; }},
    {Op::Div, "x^n / x = x^(n-1)", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::PowInt) && g.operand(o.x, 0) == o.y && g.exponent(o.x) > 1 ? g.pow(o.y, g.exponent(o.x) - 1) : k_no; }},
    {Op::Div, "x / sqrt(x) = sqrt(x)", [](Graph& g, const Operands& o) {
        return is(g, o.y, Op::Sqrt) && g.operand(o.y, 0) == o.x ? o.y : k_no; }},
    {Op::Div, "x / abs(x) = sign(x)", [](Graph& g, const Operands& o) { return without_magnitude(g, o.x, o.y); }},
    {Op::Div, "abs(x) / x = sign(x)", [](Graph& g, const Operands& o) { return sign_of_magnitude(g, o.x, o.y); }},
    {Op::Div, "(x / y) / z = x / (y z)", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::Div) ? g.div(g.operand(o.x, 0), g.mul(g.operand(o.x, 1), o.y)) : k_no; }},
    // --- signs
    {Op::Neg, "-(c)", [](Graph& g, const Operands& o) { const auto x = g.constant_value(o.x); return x ? g.constant(-*x) : k_no; }},
    {Op::Neg, "-(-x) = x", undo<Op::Neg>},
    {Op::Neg, "-(x - y) = y - x", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::Sub) ? g.sub(g.operand(o.x, 1), g.operand(o.x, 0)) : k_no; }},
    {Op::Neg, "-(c x) = (-c) x", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::Mul)) return k_no;
        const auto [c, x] = scaled(g, o.x);
        return c != 1.0 ? g.mul(g.constant(-c), x) : k_no; }},
    // --- powers
    {Op::PowInt, "x^0 = 1", [](Graph& g, const Operands& o) { return o.y.value == 0 ? g.constant(1) : k_no; }},
    {Op::PowInt, "x^1 = x", [](Graph&, const Operands& o) { return o.y.value == 1 ? o.x : k_no; }},
    {Op::PowInt, "c^n, exact", [](Graph& g, const Operands& o) {
        const auto x = g.constant_value(o.x);
        const int n = static_cast<std::int32_t>(o.y.value);
        if (!x || n < 2 || n > 64) return k_no;
        NodeId product = o.x;
        for (int i = 1; i < n; ++i) {
            product = fold_mul(g, {product, o.x, {}});
            if (!product.valid()) return k_no;
        }
        return product; }},
    {Op::PowInt, "(x^m)^n = x^(m n)", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::PowInt)) return k_no;
        const std::int64_t n = static_cast<std::int64_t>(g.exponent(o.x)) * static_cast<std::int32_t>(o.y.value);
        return std::abs(n) < 1 << 20 ? g.pow(g.operand(o.x, 0), static_cast<int>(n)) : k_no; }},
    {Op::PowInt, "(-x)^n", [](Graph& g, const Operands& o) {
        if (!is(g, o.x, Op::Neg)) return k_no;
        const int n = static_cast<std::int32_t>(o.y.value);
        const NodeId power = g.pow(g.operand(o.x, 0), n);
        return n % 2 == 0 ? power : g.neg(power); }},
    {Op::PowInt, "sqrt(x)^2 = x", [](Graph& g, const Operands& o) {
        const int n = static_cast<std::int32_t>(o.y.value);
        return is(g, o.x, Op::Sqrt) && n % 2 == 0 ? g.pow(g.operand(o.x, 0), n / 2) : k_no; }},
    {Op::PowInt, "abs(x)^2 = x^2", [](Graph& g, const Operands& o) {
        const int n = static_cast<std::int32_t>(o.y.value);
        return is(g, o.x, Op::Abs) && n % 2 == 0 ? g.pow(g.operand(o.x, 0), n) : k_no; }},
    {Op::Pow, "x^n with integer n", [](Graph& g, const Operands& o) {
        const auto n = g.constant_value(o.y);
        return n && *n == std::floor(*n) && std::abs(*n) < 1 << 20 ? g.pow(o.x, static_cast<int>(*n)) : k_no; }},
    {Op::Pow, "x^(1/2) = sqrt(x)", [](Graph& g, const Operands& o) { return is(g, o.y, 0.5) ? g.make(Op::Sqrt, o.x) : k_no; }},
    {Op::Pow, "1^y = 1", [](Graph& g, const Operands& o) { return is(g, o.x, 1.0) ? o.x : k_no; }},
    {Op::Sqrt, "sqrt(c), exact", [](Graph& g, const Operands& o) {
        const auto x = g.constant_value(o.x);
        if (!x || *x < 0) return k_no;
        const double root = std::sqrt(*x);
        return *x == 0 || (*x > k_tiny && std::isfinite(*x) && std::fma(root, root, -*x) == 0) ? g.constant(root) : k_no; }},
    {Op::Sqrt, "sqrt(x^2) = abs(x)", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::PowInt) && g.exponent(o.x) == 2 ? g.make(Op::Abs, g.operand(o.x, 0)) : k_no; }},
    // --- elementary functions
    {Op::Exp, "exp(0) = 1", value_at<0, 1>},
    {Op::Exp, "exp(log(x)) = x", undo<Op::Log>},
    {Op::Log, "log(1) = 0", value_at<1, 0>},
    {Op::Log, "log(exp(x)) = x", undo<Op::Exp>},
    {Op::Sin, "sin(0) = 0", value_at<0, 0>},
    {Op::Sin, "sin(-x) = -sin(x)", pull_sign_of_odd<Op::Sin>},
    {Op::Cos, "cos(0) = 1", value_at<0, 1>},
    {Op::Cos, "cos(-x) = cos(x)", drop_sign_of_even<Op::Cos>},
    {Op::Tan, "tan(0) = 0", value_at<0, 0>},
    {Op::Tan, "tan(-x) = -tan(x)", pull_sign_of_odd<Op::Tan>},
    {Op::Asin, "asin(0) = 0", value_at<0, 0>},
    {Op::Asin, "asin(-x) = -asin(x)", pull_sign_of_odd<Op::Asin>},
    {Op::Acos, "acos(1) = 0", value_at<1, 0>},
    {Op::Atan, "atan(0) = 0", value_at<0, 0>},
    {Op::Atan, "atan(-x) = -atan(x)", pull_sign_of_odd<Op::Atan>},
    {Op::Sinh, "sinh(0) = 0", value_at<0, 0>},
    {Op::Sinh, "sinh(-x) = -sinh(x)", pull_sign_of_odd<Op::Sinh>},
    {Op::Cosh, "cosh(0) = 1", value_at<0, 1>},
    {Op::Cosh, "cosh(-x) = cosh(x)", drop_sign_of_even<Op::Cosh>},
    {Op::Tanh, "tanh(0) = 0", value_at<0, 0>},
    {Op::Tanh, "tanh(-x) = -tanh(x)", pull_sign_of_odd<Op::Tanh>},
    {Op::Asinh, "asinh(0) = 0", value_at<0, 0>},
    {Op::Asinh, "asinh(-x) = -asinh(x)", pull_sign_of_odd<Op::Asinh>},
    {Op::Acosh, "acosh(1) = 0", value_at<1, 0>},
    {Op::Atanh, "atanh(0) = 0", value_at<0, 0>},
    {Op::Atanh, "atanh(-x) = -atanh(x)", pull_sign_of_odd<Op::Atanh>},
    // --- piecewise operations
    {Op::Abs, "abs(c)", [](Graph& g, const Operands& o) { const auto x = g.constant_value(o.x); return x ? g.constant(std::abs(*x)) : k_no; }},
    {Op::Abs, "abs(abs(x)) = abs(x)", [](Graph& g, const Operands& o) { return is(g, o.x, Op::Abs) ? o.x : k_no; }},
    {Op::Abs, "abs(-x) = abs(x)", drop_sign_of_even<Op::Abs>},
    {Op::Sign, "sign(c)", [](Graph& g, const Operands& o) {
        const auto x = g.constant_value(o.x);
        return x ? g.constant(*x > 0 ? 1 : *x < 0 ? -1 : 0) : k_no; }},
    {Op::Sign, "sign(-x) = -sign(x)", pull_sign_of_odd<Op::Sign>},
    {Op::Min, "min(x, x) = x", [](Graph&, const Operands& o) { return o.x == o.y ? o.x : k_no; }},
    {Op::Min, "min(c1, c2)", [](Graph& g, const Operands& o) {
        const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
        return x && y ? (*x <= *y ? o.x : o.y) : k_no; }},
    {Op::Max, "max(x, x) = x", [](Graph&, const Operands& o) { return o.x == o.y ? o.x : k_no; }},
    {Op::Max, "max(c1, c2)", [](Graph& g, const Operands& o) {
        const auto x = g.constant_value(o.x), y = g.constant_value(o.y);
        return x && y ? (*y <= *x ? o.x : o.y) : k_no; }},
    {Op::Less, "c1 < c2", fold_comparison<std::less<double>>},
    {Op::Less, "x < x is false", [](Graph& g, const Operands& o) { return o.x == o.y ? g.constant(0) : k_no; }},
    {Op::LessEqual, "c1 <= c2", fold_comparison<std::less_equal<double>>},
    {Op::LessEqual, "x <= x is true", [](Graph& g, const Operands& o) { return o.x == o.y ? g.constant(1) : k_no; }},
    {Op::If, "if(c, x, y)", [](Graph& g, const Operands& o) {
        const auto c = g.constant_value(o.x);
        return c ? (*c != 0 ? o.y : o.z) : k_no; }},
    {Op::If, "if(c, x, x) = x", [](Graph&, const Operands& o) { return o.y == o.z ? o.y : k_no; }},
    // --- vectors
    {Op::VAdd, "0 + v = v", [](Graph& g, const Operands& o) { return is(g, o.x, Op::VZero) ? o.y : is(g, o.y, Op::VZero) ? o.x : k_no; }},
    {Op::VAdd, "v + (-v) = 0", [](Graph& g, const Operands& o) {
        const bool opposite = (is(g, o.x, Op::VNeg) && g.operand(o.x, 0) == o.y) || (is(g, o.y, Op::VNeg) && g.operand(o.y, 0) == o.x);
        return opposite ? g.vector_zero() : k_no; }},
    {Op::VNeg, "-0 = 0", [](Graph& g, const Operands& o) { return is(g, o.x, Op::VZero) ? o.x : k_no; }},
    {Op::VNeg, "-(-v) = v", undo<Op::VNeg>},
    {Op::VScale, "0 v = s 0 = 0", [](Graph& g, const Operands& o) {
        return is(g, o.x, 0.0) || is(g, o.y, Op::VZero) ? g.vector_zero() : k_no; }},
    {Op::VScale, "1 v = v", [](Graph& g, const Operands& o) { return is(g, o.x, 1.0) ? o.y : k_no; }},
    {Op::VScale, "(-s) v = -(s v)", [](Graph& g, const Operands& o) {
        if (is(g, o.x, -1.0)) return g.vneg(o.y);
        if (is(g, o.x, Op::Neg)) return g.vneg(g.vscale(g.operand(o.x, 0), o.y));
        if (is(g, o.y, Op::VNeg)) return g.vneg(g.vscale(o.x, g.operand(o.y, 0)));
        return k_no; }},
    {Op::VScale, "s (r v) = (s r) v", [](Graph& g, const Operands& o) {
        return is(g, o.y, Op::VScale) ? g.vscale(g.mul(o.x, g.operand(o.y, 0)), g.operand(o.y, 1)) : k_no; }},
    {Op::Dot, "0 . v = 0", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::VZero) || is(g, o.y, Op::VZero) ? g.constant(0) : k_no; }},
    {Op::Dot, "(-v) . w = -(v . w)", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::VNeg)) return g.neg(g.dot(g.operand(o.x, 0), o.y));
        if (is(g, o.y, Op::VNeg)) return g.neg(g.dot(o.x, g.operand(o.y, 0)));
        return k_no; }},
    {Op::Cross, "0 x v = 0", [](Graph& g, const Operands& o) {
        return is(g, o.x, Op::VZero) || is(g, o.y, Op::VZero) ? g.vector_zero() : k_no; }},
    {Op::Cross, "v x v = 0", [](Graph& g, const Operands& o) { return o.x == o.y ? g.vector_zero() : k_no; }},
    {Op::Cross, "(-v) x w = -(v x w)", [](Graph& g, const Operands& o) {
        if (is(g, o.x, Op::VNeg)) return g.vneg(g.cross(g.operand(o.x, 0), o.y));
        if (is(g, o.y, Op::VNeg)) return g.vneg(g.cross(o.x, g.operand(o.y, 0)));
        return k_no; }},
    {Op::VDt, "d0/dt = 0", [](Graph& g, const Operands& o) { return is(g, o.x, Op::VZero) ? o.x : k_no; }},
});
// clang-format on

// the rules of one operation are contiguous in the table
struct Range {
    std::size_t begin = 0, end = 0;
};

constexpr auto k_ranges = [] {
    std::array<Range, 64> ranges{};
    for (std::size_t i = 0; i < k_rules.size(); ++i) {
        Range& range = ranges[static_cast<std::size_t>(k_rules[i].op)];
        if (range.end == 0) range.begin = i;
        range.end = i + 1;
    }
    return ranges;
}();

}  // namespace

std::size_t rule_count() { return k_rules.size(); }
std::string_view rule_name(std::size_t index) { return k_rules[index].name; }

struct RuleTable {
    // the node for op(operands): rewritten by the first rule that applies, interned otherwise
    static NodeId build(Graph& g, Op op, const Operands& o) {
        const Range range = k_ranges[static_cast<std::size_t>(op)];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (const NodeId replacement = k_rules[i].apply(g, o); replacement.valid()) {
                ++g.rule_uses_[i];
                return replacement;
            }
        }
        // the second field of PowInt and VDt is a payload: an exponent of -1 has the bits of an invalid id
        const bool payload = op == Op::PowInt || op == Op::VDt;
        Node node{op, o.x.value, payload || o.y.valid() ? o.y.value : 0, o.z.valid() ? o.z.value : 0};
        const bool commutative = op == Op::Add || op == Op::Mul || op == Op::VAdd || op == Op::Dot;
        if (commutative && node.a > node.b) std::swap(node.a, node.b);
        return g.intern(node);
    }
};

NodeId Graph::make(Op op, NodeId x, NodeId y, NodeId z) { return RuleTable::build(*this, op, {x, y, z}); }
NodeId Graph::pow(NodeId x, int n) { return RuleTable::build(*this, Op::PowInt, {x, NodeId(static_cast<std::uint32_t>(n)), {}}); }
NodeId Graph::vadd(NodeId v, NodeId w) { return RuleTable::build(*this, Op::VAdd, {v, w, {}}); }
NodeId Graph::vneg(NodeId v) { return RuleTable::build(*this, Op::VNeg, {v, {}, {}}); }
NodeId Graph::vscale(NodeId s, NodeId v) { return RuleTable::build(*this, Op::VScale, {s, v, {}}); }
NodeId Graph::dot(NodeId v, NodeId w) { return RuleTable::build(*this, Op::Dot, {v, w, {}}); }
NodeId Graph::cross(NodeId v, NodeId w) { return RuleTable::build(*this, Op::Cross, {v, w, {}}); }
NodeId Graph::vdt(NodeId v, std::uint32_t frame) { return RuleTable::build(*this, Op::VDt, {v, NodeId(frame), {}}); }

}  // namespace appell
