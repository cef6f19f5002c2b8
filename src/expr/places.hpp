// Where nodes stand in an ascending list of them, without a search: a table by node, of which only their entries are written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/ids.hpp"

namespace appell {

class Places {
public:
    void assign(std::span<const NodeId> order) {
        const std::size_t size = order.empty() ? 0 : order.back().index() + 1;
        if (size > size_) {
            size_ = 2 * size;
            place_ = std::make_unique_for_overwrite<std::uint32_t[]>(size_);
        }
        for (std::size_t i = 0; i < order.size(); ++i) place_[order[i].index()] = static_cast<std::uint32_t>(i);
    }
    // of a node of the list
    [[nodiscard]] std::size_t operator[](NodeId id) const { return place_[id.index()]; }

private:
    std::size_t size_ = 0;
    std::unique_ptr<std::uint32_t[]> place_;
};

}  // namespace appell
