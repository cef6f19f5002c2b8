// Constraints brought to rows: level, phi at every level, and A u' = b.
#pragma once

#include "dynam/constrained_dynamics.hpp"

namespace appell {

// Fills rows, A and b of the dynamics; problems go to the diagnostics.
void derive_constraint_rows(ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

}  // namespace appell
