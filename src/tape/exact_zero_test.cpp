#include "tape/exact_zero_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "expr/dependence.hpp"
#include "expr/places.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"

namespace appell {

namespace {

using Word = std::uint64_t;
__extension__ using Wide = unsigned __int128;

// A prime of Mersenne: products are reduced by a sum, powers of two are shifts. It is 3 modulo 4, so that no square is -1.
constexpr int k_bits = 61;
constexpr Word k_prime = (Word(1) << k_bits) - 1;
// each errs with probability degree / prime, independently
constexpr std::size_t k_points = 3;
// of an angle within an angle: 2 q, not 1e6 q
constexpr double k_largest_multiple = 64;

// what one expression is at each of the points
struct Residues {
    std::array<Word, k_points> at;

    friend bool operator==(const Residues&, const Residues&) = default;
};

Word reduced(Word x) { return x >= k_prime ? x - k_prime : x; }

template <class Each>
Residues at_each(Each each) {
    Residues out;
    for (std::size_t i = 0; i < k_points; ++i) out.at[i] = each(i);
    return out;
}

Residues all(Word value) {
    return at_each([&](std::size_t) { return value; });
}
Residues operator+(const Residues& x, const Residues& y) {
    return at_each([&](std::size_t i) { return reduced(x.at[i] + y.at[i]); });
}
Residues operator-(const Residues& x) {
    return at_each([&](std::size_t i) { return reduced(k_prime - x.at[i]); });
}
Residues operator-(const Residues& x, const Residues& y) {
    return at_each([&](std::size_t i) { return reduced(x.at[i] + (k_prime - y.at[i])); });
}
Residues operator*(const Residues& x, const Residues& y) {
    return at_each([&](std::size_t i) {
        const Wide product = Wide(x.at[i]) * y.at[i];
        return reduced((Word(product) & k_prime) + Word(product >> k_bits));
    });
}

template <class T>
T power(T base, Word n, T one) {
    T result = one;
    for (; n != 0; n >>= 1) {
        if ((n & 1) != 0) result = result * base;
        if (n > 1) base = base * base;
    }
    return result;
}

bool vanishes_somewhere(const Residues& x) { return std::find(x.at.begin(), x.at.end(), Word(0)) != x.at.end(); }

// Fermat: x^(p - 1) = 1
Residues inverse(const Residues& x) { return power(x, k_prime - 2, all(1)); }

// A double is an integer times a power of two, and 2^61 = 1: nothing is rounded.
Residues residues_of(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    const auto integer = static_cast<Word>(std::ldexp(fraction, 53));
    const int shift = ((exponent - 53) % k_bits + k_bits) % k_bits;
    const Residues size = all(integer) * all(Word(1) << shift);
    return value < 0 ? -size : size;
}

// How much is known about a value: the least of what is known about its operands.
enum class Standing : std::uint8_t {
    exact,     // not zero says that the expression is not zero
    free,      // of a function for which any number was drawn: zero says that the expression is zero, whatever the function is
    undefined  // a divisor was zero
};

// the cosine and sine of an angle
struct Turn {
    Residues c = all(1), s = all(0);
    Standing standing = Standing::exact;

    // by the sum of the angles
    friend Turn operator*(const Turn& x, const Turn& y) {
        return {x.c * y.c - x.s * y.s, x.s * y.c + x.c * y.s, std::max(x.standing, y.standing)};
    }
    [[nodiscard]] Turn back() const { return {c, -s, standing}; }
};

Turn turn_of_half_tangent(const Residues& t, Standing standing) {
    const Residues square = t * t, over = inverse(all(1) + square);
    return {(all(1) - square) * over, (t + t) * over, standing};
}

class ExactEvaluation {
public:
    ExactEvaluation(const Graph& graph, std::span<const NodeId> order) : g_(graph), order_(order), values_(order.size()) {
        places_.assign(order);
        // which angles must be known: descending, for an angle may be a sum of others
        for (std::size_t i = order.size(); i-- > 0;) {
            const Op op = g_.op(order[i]);
            if (op == Op::Sin || op == Op::Cos || op == Op::Tan) want_turn(operand(i, 0));
            if (values_[i].turn == k_no_turn) continue;
            if (op == Op::Add || op == Op::Sub) want_turn(operand(i, 1));
            if (op == Op::Add || op == Op::Sub || op == Op::Neg) want_turn(operand(i, 0));
            if (const auto multiple = multiple_of(i)) want_turn(operand(i, multiple->operand));
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            values_[i].residues = residues(i);
            if (values_[i].turn != k_no_turn) turns_[values_[i].turn] = turn(i);
        }
    }

    [[nodiscard]] ZeroVerdict verdict(NodeId expression) const {
        const Value& value = values_[places_[expression]];
        if (value.standing == Standing::undefined) return ZeroVerdict::open;
        if (value.residues == all(0)) return ZeroVerdict::zero;
        return value.standing == Standing::exact ? ZeroVerdict::not_zero : ZeroVerdict::open;
    }

private:
    static constexpr std::uint32_t k_no_turn = 0xffffffffu;

    struct Value {
        Residues residues;
        std::uint32_t turn = k_no_turn;  // where the node is an angle
        Standing standing = Standing::exact;
    };

    [[nodiscard]] std::size_t operand(std::size_t i, int which) const { return places_[g_.operand(order_[i], which)]; }

    void want_turn(std::size_t i) {
        if (values_[i].turn != k_no_turn) return;
        values_[i].turn = static_cast<std::uint32_t>(turns_.size());
        turns_.emplace_back();
    }

    struct Multiple {
        int times;
        int operand;
    };

    // n x with an integer n
    [[nodiscard]] std::optional<Multiple> multiple_of(std::size_t i) const {
        if (g_.op(order_[i]) != Op::Mul) return std::nullopt;
        for (const int side : {0, 1}) {
            const auto factor = g_.constant_value(g_.operand(order_[i], side));
            if (factor && std::abs(*factor) <= k_largest_multiple && *factor == std::floor(*factor))
                return Multiple{static_cast<int>(*factor), 1 - side};
        }
        return std::nullopt;
    }

    [[nodiscard]] Residues draw() {
        return at_each([&](std::size_t) {
            for (;;) {
                // splitmix64
                Word drawn = state_ += 0x9e3779b97f4a7c15ull;
                drawn = (drawn ^ (drawn >> 30)) * 0xbf58476d1ce4e5b9ull;
                drawn = (drawn ^ (drawn >> 27)) * 0x94d049bb133111ebull;
                drawn = (drawn ^ (drawn >> 31)) & k_prime;
                if (drawn != k_prime) return drawn;
            }
        });
    }

    [[nodiscard]] Residues residues(std::size_t i) {
        const NodeId id = order_[i];
        Standing& standing = values_[i].standing;
        const auto of = [&](int which) -> const Residues& {
            const Value& value = values_[operand(i, which)];
            standing = std::max(standing, value.standing);
            return value.residues;
        };
        const auto angle = [&]() -> const Turn& {
            const Turn& turn = turns_[values_[operand(i, 0)].turn];
            standing = turn.standing;
            return turn;
        };
        const auto quotient = [&](const Residues& x, const Residues& y) {
            if (vanishes_somewhere(y)) standing = Standing::undefined;
            return x * inverse(y);
        };
        switch (g_.op(id)) {
            case Op::Constant: {
                const double number = *g_.constant_value(id);
                if (std::isfinite(number)) return residues_of(number);
                standing = Standing::undefined;
                return all(0);
            }
            case Op::Symbol: return draw();
            case Op::Add: return of(0) + of(1);
            case Op::Sub: return of(0) - of(1);
            case Op::Neg: return -of(0);
            case Op::Mul: return of(0) * of(1);
            case Op::Div: return quotient(of(0), of(1));
            case Op::PowInt: {
                const int n = g_.exponent(id);
                const Residues size = power(of(0), static_cast<Word>(std::abs(n)), all(1));
                return n < 0 ? quotient(all(1), size) : size;
            }
            case Op::Sin: return angle().s;
            case Op::Cos: return angle().c;
            case Op::Tan: return quotient(angle().s, angle().c);
            default: break;
        }
        standing = Standing::free;
        for (int which = 0; which < g_.arity(id); ++which) (void)of(which);  // what is undefined stays so
        return draw();
    }

    // of a node that is an angle
    [[nodiscard]] Turn turn(std::size_t i) {
        const auto of = [&](int which) -> const Turn& { return turns_[values_[operand(i, which)].turn]; };
        switch (g_.op(order_[i])) {
            case Op::Symbol: return turn_of_half_tangent(draw(), Standing::exact);
            case Op::Add: return of(0) * of(1);
            case Op::Sub: return of(0) * of(1).back();
            case Op::Neg: return of(0).back();
            default: break;
        }
        if (const auto multiple = multiple_of(i)) {
            const Turn& once = of(multiple->operand);
            return power(multiple->times < 0 ? once.back() : once, static_cast<Word>(std::abs(multiple->times)), Turn{});
        }
        // other angles may have to do with each other, like q/2 and q
        return turn_of_half_tangent(draw(), std::max(Standing::free, values_[i].standing));
    }

    const Graph& g_;
    std::span<const NodeId> order_;
    Places places_;
    std::vector<Value> values_;
    std::vector<Turn> turns_;
    Word state_ = 0x2545f4914f6cdd1dull;
};

}  // namespace

std::vector<ZeroVerdict> exact_zero_test(const Graph& graph, std::span<const NodeId> expressions) {
    Sweep sweep;
    const ExactEvaluation evaluation(graph, sweep.collect(graph, expressions));
    std::vector<ZeroVerdict> out;
    out.reserve(expressions.size());
    for (const NodeId expression : expressions) out.push_back(evaluation.verdict(expression));
    return out;
}

NodeId without_idle_symbols(Graph& g, NodeId expression) {
    std::vector<NodeId> not_everywhere;
    Sweep sweep;
    for (const NodeId id : sweep.collect(g, std::span(&expression, 1))) {
        switch (g.op(id)) {
            case Op::Constant:
            case Op::Pi:
            case Op::Symbol:
            case Op::Add:
            case Op::Sub:
            case Op::Mul:
            case Op::Neg:
            case Op::Sin:
            case Op::Cos: break;
            case Op::Div: not_everywhere.push_back(g.operand(id, 1)); break;
            case Op::PowInt:
                if (g.exponent(id) < 0) not_everywhere.push_back(id);
                break;
            default: not_everywhere.push_back(id);
        }
    }
    const std::vector<SymbolId> kept = symbols_in(g, not_everywhere);
    for (const SymbolId symbol : symbols_in(g, std::span(&expression, 1))) {
        if (g.symbol(symbol).kind == SymbolKind::parameter || std::ranges::binary_search(kept, symbol)) continue;
        Substitution zero;
        zero.set(symbol, g.constant(0));
        const NodeId without = substitute(g, expression, zero), change = g.sub(expression, without);
        if (exact_zero_test(g, std::span(&change, 1)).front() == ZeroVerdict::zero) expression = without;
    }
    return expression;
}

}  // namespace appell
