// Where a formulation ends though the motion does not: it needs a regular mass matrix, or a chart in which some rates follow from
// the others. Both are properties of the formulation, and are told in its name.
#pragma once

#include <optional>

#include "base/diagnostics.hpp"
#include "dynam/formulations.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/simulate.hpp"

namespace appell {

// Why a run by this formulation ended so; none where the formulation is not to blame.
[[nodiscard]] std::optional<Diagnostic> formulation_limit(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                                          Formulation formulation, const SimulateSummary& summary,
                                                          const LowerMotionOptions& options);

}  // namespace appell
