// Conditions on positions that hide in constraints on velocities (002 remark 7). Where the rows a . u = 0 lose rank they admit
// velocities that they admit nowhere near: a motion with such velocities can only go on while the rank stays lost. Where that
// happens on a surface of configurations, the equation of the surface is a holonomic constraint that nobody stated.
//
// At a state: rows that depend on each other there, n' a = 0. With V the velocities that these rows admit, the rank stays lost to
// first order along dq where  n' (da/dq dq) V = 0. That is one condition, g . dq = 0, where this map has rank one, g h'; a speed
// u = V y with h . y = 0 belongs to the velocities that are admitted nearby, too, and asks for nothing. At y = 0 there are two
// branches: the rank stays lost, or V y stays zero. Rows a . u + c = 0 have c as one more column, of a speed that is one. Where
// the map has a higher rank, other rows may leave less than V: those that bind the same speeds are taken along.
#pragma once

#include <span>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct HiddenPosition {
    std::vector<std::size_t> rows;      // of the dynamics
    std::vector<std::uint32_t> speeds;  // that their determinant is made of
    NodeId determinant;                 // of q and t
    bool may_rest = false;              // the speeds rest, and may go on resting: then it need not hold
};

// Those that rows on positions do not state, at a state on the constraints; `values` are by symbol.
[[nodiscard]] std::vector<HiddenPosition> hidden_positions(const ConstrainedDynamics& dynamics, std::span<const double> values);

}  // namespace appell
