// Reachability: the nodes under some roots, operands first. The stamps are kept between calls, so that a pass over a small
// expression of a large graph costs what the expression costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

class Sweep {
public:
    // All nodes reachable from the roots, ids ascending. `stop(id)` true keeps a node and everything only below it out.
    template <class Stop>
    [[nodiscard]] const std::vector<NodeId>& collect(const Graph& graph, std::span<const NodeId> roots, Stop stop);
    [[nodiscard]] const std::vector<NodeId>& collect(const Graph& graph, std::span<const NodeId> roots) {
        return collect(graph, roots, [](NodeId) { return false; });
    }

private:
    bool visit(NodeId id) {
        if (stamp_[id.index()] == epoch_) return false;
        stamp_[id.index()] = epoch_;
        return true;
    }
    void begin(const Graph& graph);
    void sort();

    std::vector<std::uint32_t> stamp_;
    std::uint32_t epoch_ = 0;
    std::vector<NodeId> order_;
    std::vector<NodeId> stack_;
};

template <class Stop>
const std::vector<NodeId>& Sweep::collect(const Graph& graph, std::span<const NodeId> roots, Stop stop) {
    begin(graph);
    for (const NodeId root : roots)
        if (!stop(root) && visit(root)) stack_.push_back(root);
    while (!stack_.empty()) {
        const NodeId id = stack_.back();
        stack_.pop_back();
        order_.push_back(id);
        for (int i = 0; i < graph.arity(id); ++i) {
            const NodeId operand = graph.operand(id, i);
            if (!stop(operand) && visit(operand)) stack_.push_back(operand);
        }
    }
    sort();
    return order_;
}

}  // namespace appell
