// The linear split and substitution on random expressions.
#include <gtest/gtest.h>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "expr/linear_split.hpp"
#include "expr/substitute.hpp"
#include "support/many_digits.hpp"
#include "support/random_expressions.hpp"

namespace appell {
namespace {

using test::Digits50;
using test::RandomExpressions;

template <class T>
T value(const Graph& g, NodeId id, const std::vector<T>& at) {
    return evaluate<T>(g, std::span(&id, 1), at).front();
}

std::vector<Digits50> digits(const std::vector<double>& values) { return {values.begin(), values.end()}; }

Digits50 distance(const Digits50& a, const Digits50& b) { return abs(Digits50(a - b)); }

// Expressions linear in y by construction: nested sums, products with free factors, quotients by free denominators, conditionals.
class LinearExpressions {
public:
    LinearExpressions(Graph& g, RandomExpressions& random, std::vector<Expr> variables)
        : g_(g), random_(random), pool_(std::move(variables)) {}

    Expr next() {
        for (int i = 0; i < 12; ++i) {
            const Expr a = pool_[random_.pick(pool_.size())], b = pool_[random_.pick(pool_.size())], free = random_.next(2);
            switch (random_.pick(7)) {
                case 0: pool_.push_back(a + b); break;
                case 1: pool_.push_back(a - b); break;
                case 2: pool_.push_back(free * a); break;
                case 3: pool_.push_back(a / (constant(g_, 2) + free * free)); break;
                case 4: pool_.push_back(a + free); break;
                case 5: pool_.push_back(-a); break;
                default: pool_.push_back(conditional(less(free, constant(g_, 0.1)), a, b + free)); break;
            }
        }
        return pool_.back() + pool_[pool_.size() - 5];
    }

private:
    Graph& g_;
    RandomExpressions& random_;
    std::vector<Expr> pool_;
};

// sum of coefficient * variable + remainder is the root, up to the rounding of fifty digits
TEST(split_property, recomposes) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 6);
        RandomExpressions random(g, {x[0], x[1], x[2]}, seed, {.piecewise = true, .opaque = true});
        LinearExpressions linear(g, random, {x[3], x[4], x[5]});
        const std::vector<NodeId> roots{linear.next().id, linear.next().id, random.next(4).id};
        const std::vector<SymbolId> variables{g.symbol_of(x[3].id), g.symbol_of(x[4].id), g.symbol_of(x[5].id)};
        const LinearSplit split = split_linear(g, roots, variables);
        ASSERT_FALSE(split.failure.has_value());
        EXPECT_EQ(split.remainders[2], roots[2]) << "a root without variables is its own remainder";
        for (const SparseEntry& entry : split.coefficients.entries) {
            for (const SymbolId v : variables) EXPECT_FALSE(depends_on(g, entry.value, v));
            EXPECT_NE(entry.value, g.constant(0));
        }
        const std::vector<Digits50> at = digits(random.point(6));
        for (std::size_t row = 0; row < roots.size(); ++row) {
            Digits50 total = value(g, split.remainders[row], at), size = abs(total);
            for (std::size_t column = 0; column < variables.size(); ++column)
                if (const NodeId c = split.coefficients.find(row, column); c.valid()) {
                    const Digits50 term = value(g, c, at) * at[column + 3];
                    total += term;
                    size += abs(term);
                }
            EXPECT_LE(distance(total, value(g, roots[row], at)), Digits50("1e-44") * (1 + size));
        }
    }
}

// substituting and then evaluating is evaluating at the substituted values
TEST(split_property, substitution_is_composition) {
    for (std::uint64_t seed = 500; seed < 530; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 4);
        RandomExpressions random(g, x, seed, {.piecewise = true, .opaque = true});
        const NodeId root = random.next(10).id, first = random.next(4).id, second = random.next(4).id;
        Substitution s;
        s.set(g.symbol_of(x[0].id), first);
        s.set(g.symbol_of(x[1].id), second);
        const NodeId composed = substitute(g, root, s);
        std::vector<Digits50> at = digits(random.point(4));
        const Digits50 result = value(g, composed, at);
        const Digits50 a = value(g, first, at), b = value(g, second, at);
        at[0] = a;
        at[1] = b;
        // simultaneous: the replacement of x0 may contain x1
        EXPECT_LE(distance(result, value(g, root, at)), Digits50("1e-42") * (1 + abs(result)));
    }
}

// a symbol outside the dependence set does not matter; every symbol inside appears as a node
TEST(split_property, dependence_sets) {
    for (std::uint64_t seed = 600; seed < 620; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 8);
        RandomExpressions random(g, x, seed);
        const NodeId root = random.next(4).id;
        const std::vector<SymbolId> set = symbols_in(g, std::span(&root, 1));
        EXPECT_TRUE(std::is_sorted(set.begin(), set.end()));
        const std::vector<double> at = random.point(8);
        for (const Expr& symbol : x) {
            const SymbolId id = g.symbol_of(symbol.id);
            EXPECT_EQ(depends_on(g, root, id), std::binary_search(set.begin(), set.end(), id));
            if (depends_on(g, root, id)) continue;
            std::vector<double> moved = at;
            moved[id.index()] += 1;
            EXPECT_EQ(value(g, root, at), value(g, root, moved));
        }
    }
}

}  // namespace
}  // namespace appell
