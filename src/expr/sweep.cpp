#include "expr/sweep.hpp"

#include <algorithm>

namespace appell {

namespace {

constexpr std::size_t k_first_table = 64;
// stamps for all nodes are worth their cost where one node in so many is visited, or where there are not many
constexpr std::size_t k_good_part = 16;
constexpr std::size_t k_small_graph = 4096;
constexpr std::size_t k_first_room = 64;

}  // namespace

void Sweep::begin(const Graph& graph) {
    graph_size_ = graph.size();
    if (!stamp_.empty() || graph_size_ <= k_small_graph) stamp_.resize(graph_size_, 0);
    order_.clear();
    stack_.clear();
    order_.reserve(k_first_room);
    stack_.reserve(k_first_room);
    few_count_ = 0;
    if (++epoch_ == 0) {
        std::fill(stamp_.begin(), stamp_.end(), 0);
        std::fill(few_.begin(), few_.end(), Seen{});
        epoch_ = 1;
    }
}

bool Sweep::visit_few(NodeId id) {
    if (2 * (few_count_ + 1) > few_.size()) make_room();
    if (!stamp_.empty()) return visit(id);
    return insert(id);
}

bool Sweep::insert(NodeId id) {
    const std::size_t mask = few_.size() - 1;
    std::size_t slot = (id.index() * 0x9e3779b97f4a7c15ull >> 32) & mask;
    for (; few_[slot].epoch == epoch_; slot = (slot + 1) & mask)
        if (few_[slot].id == id) return false;
    few_[slot] = {id, epoch_};
    ++few_count_;
    return true;
}

// a table twice as large, or the stamps
void Sweep::make_room() {
    if (few_count_ * k_good_part > graph_size_) {
        stamp_.assign(graph_size_, 0);
        for (const Seen& seen : few_)
            if (seen.epoch == epoch_) stamp_[seen.id.index()] = epoch_;
        few_ = {};
        return;
    }
    std::vector<Seen> old(std::max(k_first_table, 2 * few_.size()));
    old.swap(few_);
    few_count_ = 0;
    for (const Seen& seen : old)
        if (seen.epoch == epoch_) insert(seen.id);
}

void Sweep::sort() {
    if (stamp_.empty() || order_.size() * k_good_part < graph_size_) {
        std::sort(order_.begin(), order_.end());
        return;
    }
    // the stamps are in order
    std::size_t next = 0;
    for (std::size_t i = 0; next < order_.size(); ++i)
        if (stamp_[i] == epoch_) order_[next++] = NodeId(i);
}

}  // namespace appell
