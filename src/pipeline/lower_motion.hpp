// From the derived dynamics to what `sim` integrates: programs, start values and the columns of a trajectory.
#pragma once

#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "sim/motion.hpp"

namespace appell {

// Where things are in a trajectory row (after t). Columns from `visible` on serve the plots only.
struct RowLayout {
    std::size_t coordinates = 0, speeds = 0, multipliers = 0, residuals = 0;  // begin of each group
    std::size_t kinetic = 0, potential = 0, energy = 0;
    std::size_t outputs = 0;
    std::size_t visible = 0;
    struct TraceColumns {
        std::size_t x, y;  // x of a trace against time is k_time
    };
    static constexpr std::size_t k_time = static_cast<std::size_t>(-1);
    std::vector<std::vector<TraceColumns>> plots;  // by plot and trace
    struct PathPlane {
        int across = 0, up = 1;  // Newtonian axes drawn
    };
};

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
