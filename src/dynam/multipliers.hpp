// Formulation `multipliers` (000 eqs. 5-7): Kane's equations with the constraint forces in evidence,
//     M u' - A' lambda = f,   A u' = b.
#pragma once

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

[[nodiscard]] ConstrainedSolve multipliers_form(const ConstrainedDynamics& dynamics);

}  // namespace appell
