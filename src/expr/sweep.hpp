// Reachability: the nodes under some roots, operands first, at a cost proportional to the nodes visited: they are kept in a hash
// table, and once they are a good part of the graph in a table of stamps, one per node, which stays for later calls.
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
    struct Seen {
        NodeId id;
        std::uint32_t epoch = 0;
    };

    // true for a node that was not visited before in this epoch
    bool visit(NodeId id) {
        if (stamp_.empty()) return visit_few(id);
        if (stamp_[id.index()] == epoch_) return false;
        stamp_[id.index()] = epoch_;
        return true;
    }
    bool visit_few(NodeId id);
    bool insert(NodeId id);
    void make_room();
    void begin(const Graph& graph);
    void sort();

    std::size_t graph_size_ = 0;
    std::vector<Seen> few_;             // open addressing, at most half full; entries of other epochs are free
    std::size_t few_count_ = 0;         // of this epoch
    std::vector<std::uint32_t> stamp_;  // by node; empty while few_ serves
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
