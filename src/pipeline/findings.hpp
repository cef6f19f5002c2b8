// Findings of the doctor that a user must not miss, as diagnostics.
#pragma once

#include "base/diagnostics.hpp"
#include "doctor/diagnosis.hpp"

namespace appell {

void add_findings(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);

}  // namespace appell
