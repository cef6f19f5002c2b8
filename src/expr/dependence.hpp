// Which symbols an expression contains.
#pragma once

#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// the scalar symbols under the roots, ids ascending
[[nodiscard]] std::vector<SymbolId> symbols_in(const Graph& graph, std::span<const NodeId> roots);
[[nodiscard]] std::vector<VectorSymbolId> vector_symbols_in(const Graph& graph, std::span<const NodeId> roots);
[[nodiscard]] bool depends_on(const Graph& graph, NodeId root, SymbolId symbol);
[[nodiscard]] bool depends_on(const Graph& graph, NodeId root, SymbolKind kind);
// the opaque functions under the roots, the base functions of partial derivatives, ids ascending
[[nodiscard]] std::vector<FunctionId> opaque_functions_in(const Graph& graph, std::span<const NodeId> roots);

}  // namespace appell
