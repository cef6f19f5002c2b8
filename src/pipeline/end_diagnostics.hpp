// Why a run ended, in the model's own words: reasons of `sim` become diagnostics with names, places and hints.
#pragma once

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "pipeline/pipeline.hpp"
#include "sim/motion.hpp"

namespace appell {

// switching: why a run ended that something switched in, from what switches it
void add_end_diagnostics(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, const Motion& motion,
                         const SimulateSummary& summary, const Diagnostic& switching = {});

// true when the options are not usable
[[nodiscard]] bool check_run_options(Diagnostics& diagnostics, const Model& model, const RunOptions& wanted, const Run& run);

}  // namespace appell
