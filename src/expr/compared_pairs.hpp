// Which expressions are compared with which, and what a user says of it: smooth(EXPR) is a value whose conditions do no harm.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// Two expressions that something compares: a comparison, abs, sign, min, max.
struct ComparedPair {
    NodeId first, second;
    // what they are made of; unknown: what a solve finds, a multiplier or an acceleration
    bool time = false, state = false, unknown = false;
    bool jumps = false;  // as in Condition (expr/conditions.hpp)
};

// what is compared under the roots, each pair once; not what has one side only
[[nodiscard]] std::vector<ComparedPair> compared_pairs(Graph& graph, std::span<const NodeId> roots);

// The graph keeps smooth(EXPR) as a given function without arguments, whose name is the text.
struct SmoothValue {
    std::string text;
    NodeId value;
};
void add_smooth_value(Graph& graph, const SmoothValue& smooth);
[[nodiscard]] std::vector<SmoothValue> smooth_values(const Graph& graph);

}  // namespace appell
