// Is an expression zero for all values of its symbols? Decided by evaluation at random points, without rounding where that
// decides (exact_zero_test.hpp) and with fifty digits otherwise, which is right with overwhelming probability for the analytic
// expressions of mechanics; no symbolic simplification is needed.
#pragma once

#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

[[nodiscard]] bool vanishes_identically(const Graph& graph, NodeId expression);
// the same for many expressions in one go
[[nodiscard]] std::vector<bool> identically_zero(const Graph& graph, std::span<const NodeId> expressions);

// The rank that a matrix has almost everywhere; entries row by row. Where it can not be evaluated it counts as of full rank.
[[nodiscard]] std::size_t generic_rank(const Graph& graph, std::span<const NodeId> entries, std::size_t columns);

}  // namespace appell
