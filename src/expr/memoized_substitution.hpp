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

private:
    Graph& graph_;
    Substitution substitution_;
    Sweep sweep_;
    std::vector<NodeId> images_;  // by node; invalid where not known yet
};

}  // namespace appell
