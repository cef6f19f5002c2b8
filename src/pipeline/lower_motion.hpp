// From the derived dynamics to what `sim` integrates: programs, start values and the columns of a trajectory.
#pragma once

#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "report/run_record.hpp"
#include "sim/motion.hpp"

namespace appell {

struct LoweredMotion {
    Motion motion;
    std::vector<double> x0;  // start values as the user gave them
    RowLayout layout;
    std::size_t nodes = 0;         // of the expression graph
    std::size_t instructions = 0;  // of the accelerations' program
};

// Problems that stop a run before it begins (no value for an input, an opaque function, singular speeds) are diagnostics.
[[nodiscard]] Result<LoweredMotion> lower_motion(const ConstrainedDynamics& dynamics);

// Of a constraint's rows: the program inputs that a program over this model has, in order t, q, u, parameters, inputs.
[[nodiscard]] std::vector<SymbolId> program_inputs(const Model& model);

}  // namespace appell
