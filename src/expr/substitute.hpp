// Simultaneous substitution of symbols by expressions, all roots at once. Nodes that do not contain a substituted symbol
// keep their ids.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// symbol -> replacement, and vector symbol -> replacement
class Substitution {
public:
    void set(SymbolId symbol, NodeId replacement);
    void set(VectorSymbolId symbol, NodeId replacement);
    [[nodiscard]] NodeId find(SymbolId symbol) const;
    [[nodiscard]] NodeId find(VectorSymbolId symbol) const;

private:
    std::unordered_map<std::uint32_t, NodeId> scalars_, vectors_;  // by symbol
};

[[nodiscard]] std::vector<NodeId> substitute(Graph& graph, std::span<const NodeId> roots, const Substitution& substitution);
[[nodiscard]] NodeId substitute(Graph& graph, NodeId root, const Substitution& substitution);

// The same node over other operands, through the rules. Leaves are returned as they are.
[[nodiscard]] NodeId rebuild(Graph& graph, NodeId id, NodeId x, NodeId y, NodeId z);

}  // namespace appell
