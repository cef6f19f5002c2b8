// What is zero, and what rank a matrix has, for all values of its symbols.
#include "tape/zero_test.hpp"

#include <gtest/gtest.h>

namespace appell {
namespace {

TEST(GenericRank, IsThatOfAlmostEveryPoint) {
    Graph g;
    const Expr x{&g, g.symbol_node(g.add_symbol("x", SymbolKind::parameter))},
        y{&g, g.symbol_node(g.add_symbol("y", SymbolKind::parameter))}, zero = constant(g, 0);
    const auto rank = [&](std::vector<Expr> entries, std::size_t columns) {
        std::vector<NodeId> ids;
        for (const Expr& e : entries) ids.push_back(e.id);
        return generic_rank(g, ids, columns);
    };
    EXPECT_EQ(rank({sin(x), cos(x), -cos(x), sin(x)}, 2), 2u);
    // the second row is tan(x) times the first, and no rule of the graph knows
    EXPECT_EQ(rank({cos(x), sin(x), sin(x), sin(x) * tan(x)}, 2), 1u);
    EXPECT_EQ(rank({x - y, zero, zero, 1e-9 * y}, 2), 2u);  // singular at x = y only; small is not zero
    EXPECT_EQ(rank({zero, zero, zero}, 3), 0u);
    EXPECT_EQ(rank({x, y, x * y, x, 2.0 * x, 3.0 * y}, 2), 2u);
    EXPECT_EQ(rank({}, 3), 0u);
    // no number anywhere: full rank, so that nobody relies on what can not be known
    EXPECT_EQ(rank({log(-x), zero}, 2), 1u);
}

TEST(ZeroTest, KnowsIdentitiesAndNothingElse) {
    Graph g;
    const Expr x{&g, g.symbol_node(g.add_symbol("x", SymbolKind::parameter))};
    EXPECT_TRUE(vanishes_identically(g, (pow(sin(2.0 * x), 2) - 4.0 * pow(sin(x) * cos(x), 2)).id));
    EXPECT_FALSE(vanishes_identically(g, (1e-20 * x).id));
    EXPECT_FALSE(vanishes_identically(g, log(-x).id));
}

}  // namespace
}  // namespace appell
