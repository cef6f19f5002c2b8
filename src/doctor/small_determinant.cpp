#include "doctor/small_determinant.hpp"

#include <bit>
#include <cstdint>

namespace appell {

// Along the rows: minors of the last rows over every choice of as many columns.
NodeId small_determinant(Graph& g, const std::vector<std::vector<NodeId>>& a, std::span<const std::size_t> rows,
                         std::span<const std::size_t> columns) {
    const std::size_t size = rows.size();
    std::vector<NodeId> minor(std::size_t{1} << size, g.constant(0));
    minor[0] = g.constant(1);
    for (std::uint32_t chosen = 1; chosen < minor.size(); ++chosen) {
        const std::size_t row = size - static_cast<std::size_t>(std::popcount(chosen));
        bool minus = false;
        for (std::size_t j = 0; j < size; ++j) {
            if ((chosen >> j & 1u) == 0) continue;
            const NodeId term = g.mul(a[rows[row]][columns[j]], minor[chosen ^ (1u << j)]);
            minor[chosen] = minus ? g.sub(minor[chosen], term) : g.add(minor[chosen], term);
            minus = !minus;
        }
    }
    return minor.back();
}

}  // namespace appell
