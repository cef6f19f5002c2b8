// Findings of the doctor that a user must not miss, as diagnostics.
#pragma once

#include <optional>
#include <span>

#include "base/diagnostics.hpp"
#include "doctor/diagnosis.hpp"
#include "pipeline/lower_motion.hpp"

namespace appell {

// After a loss of rank: linear rows that say the same as the constraint (or any of them) does, where there are any. A square has
// no consistent states that random ones could be brought to; it is looked at where the other rows hold.
void add_equivalent_rows(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                         std::span<const double> start, std::optional<std::size_t> constraint);
void add_findings(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);

}  // namespace appell
