// Determinants of a few rows, written out.
#pragma once

#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// of the entries a[row][column]; rows and columns equally many, one to eight
[[nodiscard]] NodeId small_determinant(Graph& graph, const std::vector<std::vector<NodeId>>& a, std::span<const std::size_t> rows,
                                       std::span<const std::size_t> columns);

}  // namespace appell
