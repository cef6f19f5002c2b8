// Conditions in laws. A comparison, abs, sign, min, max: each compares two expressions and has two sides, by the sign of their
// difference. Where a law switches, no step of an integrator may lie on both sides: the sides are frozen, as symbols that stay
// constant during a step, and the differences are guards whose passages through zero end it. A side of 0 is not frozen: the
// condition then means what is written.
//
// A condition counts if it depends on time or on the state, and on nothing else that moves. What depends on unknowns of a solve
// (multipliers, accelerations) stays as it is written, and so does what has one side only (a root compared with zero).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

struct Condition {
    NodeId first, second;  // what is compared, as written
    SymbolId side;         // the sign of first - second: -1 or 1; 0 is not frozen
    bool of_time = false;  // no coordinate and no speed is part of it
    bool jumps = false;    // some value may be another one on each side; abs, min and max alone only bend
    NodeId guard = {};     // first - second, with the conditions inside it frozen
};

class FrozenConditions {
public:
    explicit FrozenConditions(Graph& graph) : graph_(graph) {}

    // Comparisons of the same pairs as by these nodes are harmless: they are never frozen. To be said before `find`.
    void leave(std::span<const NodeId> roots);
    // Adds the conditions under the roots.
    void find(std::span<const NodeId> roots);
    [[nodiscard]] const std::vector<Condition>& all() const { return conditions_; }
    [[nodiscard]] bool empty() const { return conditions_.empty(); }
    [[nodiscard]] std::size_t size() const { return conditions_.size(); }
    // the expression with symbols in the place of the conditions
    [[nodiscard]] NodeId operator()(NodeId expression);

private:
    [[nodiscard]] static std::uint64_t key(NodeId x, NodeId y);
    [[nodiscard]] NodeId frozen(NodeId id);  // the node over the images of its operands
    [[nodiscard]] NodeId image(NodeId id) const { return images_[id.index()]; }

    Graph& graph_;
    std::vector<Condition> conditions_;
    std::unordered_map<std::uint64_t, std::size_t> index_;  // by the pair that is compared
    std::unordered_set<std::uint64_t> left_;                // pairs
    std::vector<NodeId> images_;                            // by node; invalid where not known yet
};

}  // namespace appell
