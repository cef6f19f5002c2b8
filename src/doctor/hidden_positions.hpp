// Conditions on positions that hide in constraints on velocities (002 remark 7). Some rows a . u = 0 bind as many speeds as they
// are rows: these speeds must vanish, except where the determinant of the rows does. A motion with such speeds can only go on
// while that determinant stays zero: a holonomic constraint that nobody stated.
#pragma once

#include <span>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct HiddenPosition {
    std::vector<std::size_t> rows;      // of the dynamics
    std::vector<std::uint32_t> speeds;  // that must vanish otherwise
    NodeId determinant;                 // of q and t
};

// Those whose determinant vanishes at the start, and that position rows do not state there; at most three rows each.
// `values` are by symbol.
[[nodiscard]] std::vector<HiddenPosition> hidden_positions(const ConstrainedDynamics& dynamics, std::span<const double> values);

}  // namespace appell
