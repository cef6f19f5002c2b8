// From the derived dynamics to what `sim` integrates: programs, start values and the columns of a trajectory.
#pragma once

#include <string>
#include <vector>

#include "base/drift_control.hpp"
#include "base/limits.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/formulations.hpp"
#include "report/run_record.hpp"
#include "sim/motion.hpp"

namespace appell {

struct LowerMotionOptions {
    Formulation formulation = Formulation::multipliers;
    double from = 0;  // start time
    std::size_t solve_entries = Limits{}.solve_entries;
    bool for_run = false;  // a run needs values of opaque functions; a check takes random smooth ones
    DriftControl drift = DriftControl::project;
    std::vector<double> gains = {};  // of Baumgarte's damping; empty: from the steps
    double step = 0;                 // their length, where it is fixed
    bool jacobian = false;           // of the rate, for implicit integrators; not of a reduced state
    FrameId forces_in{};             // valid: columns of everything that keeps the constraints, along the axes of this frame
};

struct LoweredMotion {
    Motion motion;
    std::vector<double> x0;  // start values as the user gave them
    RowLayout layout;
    // of `minimal`, what is integrated
    std::vector<std::size_t> independent_coordinates, independent_speeds;
    SymbolId length_symbol;        // the model's length, last of the programs' inputs
    std::size_t nodes = 0;         // of the expression graph
    std::size_t instructions = 0;  // of the accelerations' program
};

// Problems that stop a run before it begins (no value for an input, an opaque function, singular speeds) are diagnostics.
[[nodiscard]] Result<LoweredMotion> lower_motion(const ConstrainedDynamics& dynamics, const LowerMotionOptions& options);

// the inputs of every program over this model, in order: t, q, u, parameters, inputs
[[nodiscard]] std::vector<SymbolId> program_inputs(const Model& model);

}  // namespace appell
