// The inverse of a few columns of a few rows, written out: by minors, so that no order of pivots is fixed which a motion could
// spoil.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// Rows and columns fall into blocks that do not couple.
struct DependentColumns {
    struct Block {
        std::vector<std::size_t> rows, unknowns;
        NodeId determinant, reciprocal;
        NodeId lengths;  // the product of the squared lengths of its rows, which says what is small
    };
    std::vector<Block> blocks;
    std::vector<std::vector<NodeId>> cofactors;  // unknown by row: the inverse, times the determinant of the block

    // Of one unknown in a block: the inverse times a column of numbers, by row, times the determinant. Who multiplies by the
    // reciprocal in the end waits for one product behind the division.
    template <class Entry>
    [[nodiscard]] NodeId numerator(Graph& graph, const Block& block, std::size_t unknown, const Entry& entry) const;
    // all of them
    template <class Entry>
    [[nodiscard]] std::vector<NodeId> times_inverse(Graph& graph, const Entry& entry) const;
};

// of the columns `dependent` of the rows A; nothing where a block is too large or can not be regular
[[nodiscard]] std::optional<DependentColumns> invert_columns(Graph& graph, const std::vector<std::vector<NodeId>>& A,
                                                             const std::vector<std::size_t>& dependent);

// terms in pairs, then pairs in pairs: a chain of additions would be waited for link by link
[[nodiscard]] NodeId sum_in_pairs(Graph& graph, std::vector<NodeId> terms);
[[nodiscard]] NodeId dot_product(Graph& graph, std::span<const NodeId> a, std::span<const NodeId> b);

template <class Entry>
NodeId DependentColumns::numerator(Graph& g, const Block& block, std::size_t unknown, const Entry& entry) const {
    std::vector<NodeId> terms;
    for (const std::size_t row : block.rows) terms.push_back(g.mul(cofactors[unknown][row], entry(row)));
    return sum_in_pairs(g, std::move(terms));
}

template <class Entry>
std::vector<NodeId> DependentColumns::times_inverse(Graph& g, const Entry& entry) const {
    std::vector<NodeId> out(cofactors.size());
    for (const Block& block : blocks)
        for (const std::size_t unknown : block.unknowns)
            out[unknown] = g.mul(numerator(g, block, unknown, entry), block.reciprocal);
    return out;
}

}  // namespace appell
