// Findings of the doctor that a user must not miss, as diagnostics.
#pragma once

#include "base/diagnostics.hpp"
#include "doctor/diagnosis.hpp"
#include "pipeline/lower_motion.hpp"

namespace appell {

// conditions on positions that hide in rows on velocities; also of a model that can not be started, which they explain
void add_hidden_positions(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                          std::span<const double> start);
// After a loss of rank: linear rows that say the same as the constraint does, where there are any.
void add_equivalent_rows(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                         std::span<const double> start, std::size_t constraint);
void add_findings(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);

}  // namespace appell
