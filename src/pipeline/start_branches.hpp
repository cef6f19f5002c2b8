// Constraints that are not linear have several branches: a linkage closes with its elbow up or down, a speed under a square root
// has either sign. Start values off the constraints are moved to the nearest branch; where another one is about as near, the user
// must hear of it.
#pragma once

#include <optional>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "sim/simulate.hpp"

namespace appell {

// The branches near the start values of a run that moved them. `motion` is the one it began with.
[[nodiscard]] std::optional<Diagnostic> other_branches(const ConstrainedDynamics& dynamics, const Motion& motion,
                                                       const SimulateSummary& summary);

}  // namespace appell
