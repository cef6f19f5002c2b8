// One substitution in many expressions, one after the other: what they share is visited once.
#pragma once

#include <utility>
#include <vector>

#include "expr/substitute.hpp"
#include "expr/sweep.hpp"

namespace appell {

class MemoizedSubstitution {
public:
    MemoizedSubstitution(Graph& graph, Substitution substitution) : graph_(graph), substitution_(std::move(substitution)) {}

    [[nodiscard]] NodeId operator()(NodeId expression);
    // what is visited for an expression: no part of one that was substituted in before
    [[nodiscard]] std::vector<NodeId> new_in(NodeId expression);
    // for a symbol of which no expression had any so far
    void set(SymbolId symbol, NodeId replacement) { substitution_.set(symbol, replacement); }
    void set(VectorSymbolId symbol, NodeId replacement) { substitution_.set(symbol, replacement); }
    [[nodiscard]] bool has(VectorSymbolId symbol) const { return substitution_.find(symbol).valid(); }

private:
    [[nodiscard]] bool is_known(NodeId id) const { return id.index() < images_.size() && images_[id.index()].valid(); }

    Graph& graph_;
    Substitution substitution_;
    Sweep sweep_;
    std::vector<NodeId> images_;  // by node; invalid where not known yet
};

}  // namespace appell
