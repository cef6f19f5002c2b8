#include "doctor/small_determinant.hpp"

namespace appell {

NodeId small_determinant(Graph& g, const std::vector<std::vector<NodeId>>& a, std::span<const std::size_t> rows,
                         std::span<const std::size_t> columns) {
    const auto at = [&](std::size_t i, std::size_t j) { return a[rows[i]][columns[j]]; };
    if (rows.size() == 1) return at(0, 0);
    const auto two = [&](std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
        return g.sub(g.mul(at(i, k), at(j, l)), g.mul(at(i, l), at(j, k)));
    };
    if (rows.size() == 2) return two(0, 1, 0, 1);
    return g.add(g.sub(g.mul(at(0, 0), two(1, 2, 1, 2)), g.mul(at(0, 1), two(1, 2, 0, 2))), g.mul(at(0, 2), two(1, 2, 0, 1)));
}

}  // namespace appell
