// Seeded random expressions over a few symbols. Every expression is finite and smooth enough near moderate symbol values:
// functions with a restricted domain get arguments that stay inside it, and growing functions get bounded ones. Subexpressions
// are shared at random.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "expr/graph.hpp"

namespace appell::test {

struct RandomExprOptions {
    std::size_t symbols = 4;
    std::size_t parameters = 0;  // so many of them, the last ones
    bool analytic_only = false;  // no operation whose complex continuation is not the analytic function itself
    bool piecewise = true;       // abs, sign, min, max, comparisons, if (needs analytic_only = false)
    bool calls = false;          // opaque functions
};

class RandomExpr {
public:
    RandomExpr(Graph& graph, std::uint64_t seed, RandomExprOptions options = {}) : g_(graph), random_(seed), options_(options) {
        for (std::size_t i = 0; i < options.symbols; ++i) {
            const SymbolKind kind = i + options.parameters < options.symbols ? SymbolKind::other : SymbolKind::parameter;
            symbols_.push_back(g_.add_symbol(std::string("s").append(std::to_string(g_.symbol_count())), kind));
            pool_.push_back(g_.symbol_node(symbols_.back()));
        }
        pool_.push_back(g_.constant(0.5));
        pool_.push_back(g_.constant(-1.25));
        pool_.push_back(g_.pi());
        if (options.calls)
            function_ = g_.add_opaque_function(std::string("F").append(std::to_string(g_.function_count())), {"x", "y"});
    }

    [[nodiscard]] const std::vector<SymbolId>& symbols() const { return symbols_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }

    // further symbols to draw from
    void add(SymbolId symbol) {
        symbols_.push_back(symbol);
        pool_.push_back(g_.symbol_node(symbol));
    }

    // uniform in [-1.5, 1.5], one for each symbol of the graph
    [[nodiscard]] std::vector<double> values() {
        std::vector<double> v(g_.symbol_count());
        for (double& x : v) x = std::uniform_real_distribution<double>(-1.5, 1.5)(random_);
        return v;
    }

    // an expression grown by so many random operations
    [[nodiscard]] NodeId next(std::size_t operations) {
        NodeId last = pick();
        for (std::size_t i = 0; i < operations; ++i) {
            last = grow(last);
            pool_.push_back(last);
        }
        return last;
    }

private:
    [[nodiscard]] std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    [[nodiscard]] NodeId pick() { return pool_[below(pool_.size())]; }
    [[nodiscard]] NodeId bounded(NodeId x) { return g_.make(below(2) == 0 ? Op::Sin : Op::Cos, x); }  // in [-1, 1]
    [[nodiscard]] NodeId inside(NodeId x) { return g_.mul(g_.constant(0.75), bounded(x)); }           // in [-0.75, 0.75]
    [[nodiscard]] NodeId above(NodeId x, double least) { return g_.add(g_.constant(least + 1), bounded(x)); }

    [[nodiscard]] NodeId grow(NodeId x) {
        const NodeId y = pick();
        switch (below(options_.analytic_only || !options_.piecewise ? 18 : 24)) {
            case 0: return g_.add(x, y);
            case 1: return g_.sub(x, y);
            case 2: return g_.mul(bounded(x), y);
            case 3: return g_.div(x, above(y, 0.5));
            case 4: return g_.neg(x);
            case 5: return g_.pow(bounded(x), static_cast<int>(below(5)) + 2);
            case 6: return g_.pow(above(x, 0.5), -static_cast<int>(below(3)) - 1);
            case 7: return g_.make(Op::Pow, above(x, 0.25), bounded(y));
            case 8: return g_.make(Op::Sqrt, above(x, 0.25));
            case 9: return g_.make(Op::Exp, bounded(x));
            case 10: return g_.make(Op::Log, above(x, 0.25));
            case 11: return g_.make(below(2) == 0 ? Op::Sin : Op::Cos, x);
            case 12: return g_.make(Op::Tan, inside(x));
            case 13: return g_.make(below(2) == 0 ? Op::Asin : Op::Acos, inside(x));
            case 14: return g_.make(Op::Atan2, bounded(x), above(y, 0.5));
            case 15: return g_.make(below(2) == 0 ? Op::Atan : Op::Tanh, inside(x));
            case 16: return g_.make(below(2) == 0 ? Op::Sinh : Op::Cosh, bounded(x));
            case 17: {
                const std::size_t which = options_.calls ? below(4) : below(3);
                if (which == 0) return g_.make(Op::Asinh, inside(x));
                if (which == 1) return g_.make(Op::Acosh, above(x, 1.5));
                if (which == 2) return g_.make(Op::Atanh, inside(x));
                const NodeId arguments[] = {x, y};
                return g_.call(function_, arguments);
            }
            case 18: return g_.make(Op::Abs, x);
            case 19: return g_.make(Op::Sign, x);
            case 20: return g_.make(Op::Min, x, y);
            case 21: return g_.make(Op::Max, x, y);
            case 22: return g_.make(below(2) == 0 ? Op::Less : Op::LessEqual, x, y);
            default: return g_.make(Op::If, g_.make(Op::Less, x, y), pick(), y);
        }
    }

    Graph& g_;
    std::mt19937_64 random_;
    RandomExprOptions options_;
    std::vector<SymbolId> symbols_;
    std::vector<NodeId> pool_;
    FunctionId function_;
};

}  // namespace appell::test
