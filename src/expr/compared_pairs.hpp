// Which expressions are compared with which, and what a user says of it: smooth(EXPR) is a value whose conditions do no harm.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// It compares two expressions: a comparison, abs, sign, min, max; atan2, which jumps at its cut; atan and tanh of a quotient,
// which jump where the denominator passes zero. Both as written.
[[nodiscard]] bool compares(const Graph& graph, NodeId id);
struct Compared {
    NodeId first, second;
};
[[nodiscard]] Compared compared_by(Graph& graph, NodeId id);

// Two expressions that something compares.
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
