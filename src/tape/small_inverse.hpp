// The inverse of a few columns of a few rows, written out: by minors, so that no order of pivots is fixed which a motion could
// spoil.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// Rows and columns fall into blocks that do not couple.
struct DependentColumns {
    std::vector<std::vector<NodeId>> inverse;  // unknown by row
    // by block: its determinant, the square of it, and that of the lengths of its rows, which says what is small
    std::vector<NodeId> determinants, squares, lengths;
    std::vector<std::vector<std::size_t>> blocks;  // their rows
};

// of the columns `dependent` of the rows A; nothing where a block is too large or can not be regular
[[nodiscard]] std::optional<DependentColumns> invert_columns(Graph& graph, const std::vector<std::vector<NodeId>>& A,
                                                             const std::vector<std::size_t>& dependent);

// terms in pairs, then pairs in pairs: a chain of additions would be waited for link by link
[[nodiscard]] NodeId sum_in_pairs(Graph& graph, std::vector<NodeId> terms);

}  // namespace appell
