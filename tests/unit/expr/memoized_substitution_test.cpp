// One substitution in many expressions: the images are those of substitute(), and what expressions share is visited once.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "expr/memoized_substitution.hpp"

namespace appell {
namespace {

TEST(MemoizedSubstitution, EachExpressionOfAChainIsVisitedForItsOwnNodesOnly) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::coordinate), y = g.add_symbol("y", SymbolKind::coordinate);
    Substitution x_is_y;
    x_is_y.set(x, g.symbol_node(y));
    MemoizedSubstitution memoized(g, x_is_y);
    NodeId chain = g.symbol_node(x), expected = g.symbol_node(y);
    for (int i = 0; i < 1000; ++i) {
        chain = g.make(Op::Sin, chain);
        expected = g.make(Op::Sin, expected);
        EXPECT_EQ(memoized.new_in(chain).size(), i == 0 ? 2u : 1u);
        EXPECT_EQ(memoized(chain), expected);
        EXPECT_TRUE(memoized.new_in(chain).empty());
    }
}

TEST(MemoizedSubstitution, SymbolsMayGetTheirMeaningWhenTheyAreFirstMet) {
    std::mt19937 random(7);
    Graph g;
    std::vector<SymbolId> symbols;
    std::vector<NodeId> nodes;
    for (int i = 0; i < 20; ++i) {
        symbols.push_back(g.add_symbol("s" + std::to_string(i), SymbolKind::coordinate));
        nodes.push_back(g.symbol_node(symbols.back()));
    }
    const auto any = [&] { return nodes[std::uniform_int_distribution<std::size_t>(0, nodes.size() - 1)(random)]; };
    for (int i = 0; i < 500; ++i) nodes.push_back(i % 2 == 0 ? g.add(any(), any()) : g.mul(any(), any()));
    Substitution all;
    for (std::size_t i = 0; i < symbols.size(); i += 2) all.set(symbols[i], g.constant(static_cast<double>(i) + 0.5));
    MemoizedSubstitution memoized(g, {});
    const std::size_t count = nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        for (const NodeId id : memoized.new_in(nodes[i]))
            if (g.op(id) == Op::Symbol)
                if (const NodeId found = all.find(g.symbol_of(id)); found.valid()) memoized.set(g.symbol_of(id), found);
        EXPECT_EQ(memoized(nodes[i]), substitute(g, nodes[i], all));
    }
}

}  // namespace
}  // namespace appell
