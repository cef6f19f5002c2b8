// Conditions in laws. A comparison, abs, sign, min, max: each compares two expressions and has two sides, by the sign of their
// difference. Where a law switches, no step of an integrator may lie on both sides: the sides are frozen, as symbols that stay
// constant during a step, and the differences are guards whose passages through zero end it. A side of 0 is not frozen: the
// condition then means what is written. What bends under a root (abs, min, max) is as written on any side: frozen it would leave
// what the root is defined for as soon as a stage of a step looks beyond the surface.
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

// the side of a condition that something keeps on its surface: first - second counts as zero
inline constexpr int k_on_surface = 2;

struct Condition {
    NodeId first, second;  // what is compared, as written
    SymbolId side;         // the sign of first - second: -1 or 1; or k_on_surface; 0 is not frozen
    bool of_time = false;  // no coordinate and no speed is part of it
    bool jumps = false;    // some value may be another one on each side; abs, min and max only bend, but for quotients of them
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
    enum class Below { anything, root };
    [[nodiscard]] NodeId frozen(NodeId id, Below below);  // the node over the images of its operands
    [[nodiscard]] NodeId on_side(const Condition& c, NodeId id, NodeId x, NodeId y);
    [[nodiscard]] NodeId image(NodeId id, Below below);

    Graph& graph_;
    std::vector<Condition> conditions_;
    std::unordered_map<std::uint64_t, std::size_t> index_;  // by the pair that is compared
    std::unordered_set<std::uint64_t> left_;                // pairs
    std::vector<NodeId> images_;                            // by node; invalid where not known yet
    std::unordered_map<std::size_t, NodeId> under_roots_;   // likewise, of what lies under a root
};

}  // namespace appell
