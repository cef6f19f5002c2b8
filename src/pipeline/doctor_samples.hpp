// The states the doctor looks at, from the random consistent states of a model.
#pragma once

#include "doctor/samples.hpp"
#include "pipeline/consistent_states.hpp"

namespace appell {

// `start`: q, u on the constraints. Without states of fifty digits (a model beyond the size for them) there are no samples.
[[nodiscard]] Samples doctor_samples(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                     const ConsistentStates& states, std::span<const double> start);

}  // namespace appell
