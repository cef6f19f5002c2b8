// Nonideal forces of constraints (001 eqs. 9-40) and the directions of actuators, as generalized forces.
#pragma once

#include "dynam/constrained_dynamics.hpp"

namespace appell {

// The laws that are at work: those of constraints that are on, and of frictions that slide.
[[nodiscard]] std::vector<NonidealForce> laws_of(const ConstrainedDynamics& dynamics);

// Fills C, D and the actuators of the dynamics, whose rows are known; problems go to the diagnostics.
void derive_nonideal(ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

}  // namespace appell
