// The exact split of expressions that are linear in given symbols: root = sum coefficient * symbol + remainder. A pass of its
// own that carries linear forms upward: nothing is differentiated and no zeros are put in, so the parts recompose exactly.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "expr/differentiate.hpp"
#include "expr/graph.hpp"

namespace appell {

struct NotLinear {
    std::size_t root;  // index of the root that is not linear
    NodeId term;       // the smallest subexpression where linearity fails
};

struct LinearSplit {
    SparseMatrix coefficients;       // rows: roots; columns: variables
    std::vector<NodeId> remainders;  // by root
    std::optional<NotLinear> failure;
};

[[nodiscard]] LinearSplit split_linear(Graph& graph, std::span<const NodeId> roots, std::span<const SymbolId> variables);

}  // namespace appell
