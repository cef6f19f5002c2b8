// smooth(EXPR): conditions that a user calls harmless. What its value does is verified where it switches, and so is what the
// motion does there: a law may hold a derivative of it, or the same comparison elsewhere.
#pragma once

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "expr/conditions.hpp"

namespace appell {

// Reports values of smooth() that jump, and those of which that cannot be said.
void check_smooth_values(const ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

// Adds the conditions of all laws to `conditions`, but for those that are harmless by smooth(). Where they are not, because the
// motion jumps there, a note says so.
void find_law_conditions(const ConstrainedDynamics& dynamics, FrozenConditions& conditions, Diagnostics& diagnostics);

}  // namespace appell
