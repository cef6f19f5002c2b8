// What is said of the singular positions that a run went through, or could not go through (sim/passage.hpp).
#pragma once

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/simulate.hpp"

namespace appell {

void add_passed_positions(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                          const SimulateSummary& summary);

}  // namespace appell
