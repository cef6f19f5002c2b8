// Modes: which constraints are on. Contacts open and close, friction sticks (which is a constraint, slip = 0) or slides (which is
// a law), events drop constraints and enforce them. The rows of all of them are derived once; the dynamics of a mode has the rows
// that are on and the laws that belong to them.
#pragma once

#include <array>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

// The force of friction while it slides, on the place it acts on: -bound times the direction of the slip. With symbols of the
// slip, d the direction slid in last, the direction is unit(slip) with the sign that keeps it on the side of d, and d itself at
// rest: it goes smoothly through zero slip, so that the instant can be found, and it leaves rest the way the rest was lost. While
// the slip begins the direction is d.
[[nodiscard]] NodeId sliding_force(const ConstrainedDynamics& dynamics, std::size_t friction);

// the direction slid in last, at the time that it is
[[nodiscard]] NodeId last_direction(const ConstrainedDynamics& dynamics, std::size_t friction);

// whether a friction slides in this mode: its constraint is on, and it does not stick
[[nodiscard]] bool slides(const ConstrainedDynamics& dynamics, std::size_t friction);

// Sticking friction is kept by rows, and is a nonideal force all the same (docs/theory/nonideal.md): whether a row is one of
// friction that sticks in this mode; whether there are nonideal forces at all, laws or sticking; the system without such rows.
[[nodiscard]] bool sticks(const ConstrainedDynamics& dynamics, const ConstraintRow& row);
[[nodiscard]] bool has_nonideal(const ConstrainedDynamics& dynamics);
[[nodiscard]] ConstrainedDynamics without_sticking(const ConstrainedDynamics& dynamics);

// The dynamics of a mode. `slips`: of every friction; empty for the law as the user wrote it.
[[nodiscard]] Result<ConstrainedDynamics> in_mode(const ConstrainedDynamics& whole, std::vector<bool> off,
                                                  std::vector<SlipSymbols> slips = {});

// The same for the start, where frictions may leave rest: by friction the direction, zero for one that does not.
[[nodiscard]] Result<ConstrainedDynamics> in_start_mode(const ConstrainedDynamics& whole, std::vector<bool> off,
                                                        const std::vector<std::array<double, 3>>& leaves_along);

// what is off before anything is known about the state: contacts open, frictions sliding
[[nodiscard]] std::vector<bool> off_at_start(const Model& model);

}  // namespace appell
