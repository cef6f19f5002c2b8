#include "expr/dependence.hpp"

#include <algorithm>

#include "expr/sweep.hpp"

namespace appell {

namespace {

template <class IdType, class Pick>
std::vector<IdType> gather(const Graph& graph, std::span<const NodeId> roots, Op op, Pick pick) {
    Sweep sweep;
    std::vector<IdType> found;
    for (const NodeId id : sweep.collect(graph, roots))
        if (graph.op(id) == op) found.push_back(pick(id));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

std::vector<SymbolId> symbols_in(const Graph& graph, std::span<const NodeId> roots) {
    return gather<SymbolId>(graph, roots, Op::Symbol, [&](NodeId id) { return graph.symbol_of(id); });
}

std::vector<VectorSymbolId> vector_symbols_in(const Graph& graph, std::span<const NodeId> roots) {
    return gather<VectorSymbolId>(graph, roots, Op::VSymbol, [&](NodeId id) { return graph.vector_symbol_of(id); });
}

bool depends_on(const Graph& graph, NodeId root, SymbolId symbol) {
    const auto all = symbols_in(graph, std::span(&root, 1));
    return std::binary_search(all.begin(), all.end(), symbol);
}

bool depends_on(const Graph& graph, NodeId root, SymbolKind kind) {
    const auto all = symbols_in(graph, std::span(&root, 1));
    return std::any_of(all.begin(), all.end(), [&](SymbolId s) { return graph.symbol(s).kind == kind; });
}

std::vector<FunctionId> opaque_functions_in(const Graph& graph, std::span<const NodeId> roots) {
    return gather<FunctionId>(graph, roots, Op::Call, [&](NodeId id) { return graph.function(graph.function_of(id)).base; });
}

}  // namespace appell
