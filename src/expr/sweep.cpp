#include "expr/sweep.hpp"

#include <algorithm>

namespace appell {

void Sweep::begin(const Graph& graph) {
    stamp_.resize(graph.size(), 0);
    order_.clear();
    stack_.clear();
    if (++epoch_ == 0) {
        std::fill(stamp_.begin(), stamp_.end(), 0);
        epoch_ = 1;
    }
}

void Sweep::sort() { std::sort(order_.begin(), order_.end()); }

}  // namespace appell
