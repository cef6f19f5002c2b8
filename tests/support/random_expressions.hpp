// Seeded random expressions over given symbols. Every one is defined and smooth (or piecewise smooth) for all real arguments:
// roots, logarithms, quotients and inverse functions get arguments inside their domain by construction, and bounded functions
// are mixed in, so that values stay of moderate size. Subexpressions are reused, so that graphs have sharing.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "expr/graph.hpp"

namespace appell::test {

struct ExpressionMix {
    bool piecewise = false;  // abs, sign, min, max, comparisons, if; without them everything is analytic near the real axis
    bool opaque = false;     // calls of opaque functions f(x), g(x, y)
};

class RandomExpressions {
public:
    RandomExpressions(Graph& graph, std::vector<Expr> symbols, std::uint64_t seed, ExpressionMix options = {})
        : graph_(graph), pool_(std::move(symbols)), random_(seed), options_(options) {
        if (!options_.opaque) return;
        f_ = graph_.add_opaque_function("f", {"x"});
        g_ = graph_.add_opaque_function("g", {"x", "y"});
    }

    // an expression of about this many operations more than the ones made before
    Expr next(int operations) {
        const std::size_t first = pool_.size();
        for (int i = 0; i < operations; ++i) pool_.push_back(step());
        Expr result = pool_.back();
        for (std::size_t i = first; i + 1 < pool_.size(); i += 3) result = result + pool_[i];
        pool_.push_back(tanh(result) + pool_[pick(first)]);
        return result;
    }

    double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(random_() >> 11) / 9007199254740992.0);
    }
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % (count == 0 ? 1 : count)); }

    // a point where all expressions are defined
    std::vector<double> point(std::size_t symbols) {
        std::vector<double> values(symbols);
        for (double& v : values) v = uniform(-2, 2);
        return values;
    }

private:
    // recent results are preferred, so that expressions get deep as well as wide
    Expr operand() {
        const std::size_t n = pool_.size();
        return pick(2) == 0 && n > 6 ? pool_[n - 1 - pick(6)] : pool_[pick(n)];
    }
    Expr number() {
        static constexpr double k_numbers[] = {2, 3, -1, 0.5, 0.25, -1.5, 0.1, 7};
        return constant(graph_, k_numbers[pick(8)]);
    }

    Expr step() {
        const Expr x = operand(), y = operand(), one = constant(graph_, 1);
        const std::size_t analytic = 24, piecewise = options_.piecewise ? 7 : 0, opaque = options_.opaque ? 2 : 0;
        switch (pick(analytic + piecewise + opaque)) {
            case 0:
            case 1: return x + y;
            case 2:
            case 3: return x - y;
            case 4: return sin(x) * y;
            case 5: return x * cos(y);
            case 6: return tanh(x) * tanh(y);
            case 7: return x / (constant(graph_, 2) + y * y);
            case 8: return -x;
            case 9: return number() * x;
            case 10: return number() + x;
            case 11: return pow(sin(x), 3);
            case 12: return pow(one + pow(sin(x), 2), -2);
            case 13: return sqrt(one + x * x);
            case 14: return exp(sin(x));
            case 15: return log(constant(graph_, 1.5) + x * x);
            case 16: return tan(0.5 * tanh(x));
            case 17: return asin(0.75 * sin(x)) + acos(0.5 * tanh(y));
            case 18: return atan(x);
            case 19: return atan2(sin(x), constant(graph_, 2) + cos(y));
            case 20: return sinh(tanh(x)) + cosh(sin(y));
            case 21: return pow(constant(graph_, 2) + sin(x), tanh(y));
            case 22: return inverse_hyperbolic(x);
            case 23: return Expr{&graph_, graph_.pi()} * tanh(x);
            default: break;
        }
        const std::size_t kind = pick(piecewise + opaque);
        if (kind >= piecewise) {
            const NodeId arguments[] = {x.id, y.id};
            const bool two = kind > piecewise;
            return {&graph_, graph_.call(two ? g_ : f_, std::span(arguments, two ? 2 : 1))};
        }
        switch (kind) {
            case 0: return abs(x);
            case 1: return sign(x) * y;
            case 2: return min(x, y);
            case 3: return max(x, y);
            case 4: return conditional(less(x, y), sin(x), cos(y));
            case 5: return conditional(less_equal(x, constant(graph_, 0.3)), y, -x);
            default: return less(x, y) * tanh(y);
        }
    }

    Expr inverse_hyperbolic(Expr x) {
        const auto make = [&](Op op, Expr e) { return Expr{&graph_, graph_.make(op, e.id)}; };
        switch (pick(3)) {
            case 0: return make(Op::Asinh, x);
            case 1: return make(Op::Acosh, constant(graph_, 2) + sin(x));
            default: return make(Op::Atanh, 0.5 * tanh(x));
        }
    }

    Graph& graph_;
    std::vector<Expr> pool_;
    std::mt19937_64 random_;
    ExpressionMix options_;
    FunctionId f_, g_;
};

// n symbols x0, x1, ... of a graph
inline std::vector<Expr> make_symbols(Graph& graph, std::size_t count, SymbolKind kind = SymbolKind::coordinate) {
    std::vector<Expr> symbols;
    for (std::size_t i = 0; i < count; ++i)
        symbols.push_back({&graph, graph.symbol_node(graph.add_symbol("x" + std::to_string(i), kind))});
    return symbols;
}

}  // namespace appell::test
