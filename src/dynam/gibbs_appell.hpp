// Formulation `gibbs-appell` (002 eqs. 72-75): the gradient of the acceleration energy
//     S = sum 1/2 m a.a + sum (1/2 alpha.I.alpha + alpha.(omega x I omega))
// by the accelerations u' equals the generalized active forces on every admissible direction. M and the inertia terms come from
// differentiating S twice by u', not from partial velocities; the dependent u' are eliminated by the rows.
#pragma once

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

[[nodiscard]] ConstrainedSolve gibbs_appell_form(const ConstrainedDynamics& dynamics);

// the terms of S, those of the particles first, then those of the bodies
[[nodiscard]] std::vector<NodeId> acceleration_energies(const ConstrainedDynamics& dynamics);

// generalized active forces alone, without inertia terms
[[nodiscard]] std::vector<NodeId> generalized_active_forces(const ConstrainedDynamics& dynamics);

}  // namespace appell
