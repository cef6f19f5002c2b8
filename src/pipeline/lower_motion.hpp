// From the derived dynamics to what `sim` integrates: programs, start values and the columns of a trajectory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/drift_control.hpp"
#include "base/limits.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/formulations.hpp"
#include "expr/conditions.hpp"
#include "pipeline/start_numbers.hpp"
#include "report/run_record.hpp"
#include "sim/motion.hpp"

namespace appell {

struct LowerMotionOptions {
    Formulation formulation = Formulation::multipliers;
    double from = 0;  // start time
    std::size_t solve_entries = Limits{}.solve_entries;
    bool native = true;    // machine code, where the processor is one that it is made for
    bool for_run = false;  // a run needs values of opaque functions; a check takes random smooth ones
    bool works = true;     // the energy ledger's integrals are carried along with a run
    DriftControl drift = DriftControl::project;
    std::vector<double> gains = {};  // of Baumgarte's damping; empty: from the steps
    double step = 0;                 // their length, where it is fixed
    bool jacobian = false;           // of the rate, for implicit integrators; not of a reduced state
    bool residual = false;           // the equations as they stand, for integrators that solve them so; likewise
    FrameId forces_in{};             // valid: columns of everything that keeps the constraints, along the axes of this frame
    bool scene = false;              // columns of what an animation shows
    // of one mode of a system: the system with all its rows, which has the columns, and where the motion is when the mode begins
    const ConstrainedDynamics* whole = nullptr;
    std::vector<double> state{};
    double rest_speed = 0;  // rest_speed() of the run; 0: of the model
    // conditions of the motion are added to these and frozen; none: they are evaluated as they are written
    FrozenConditions* conditions = nullptr;
};

// A system may come to rest, or have no freedom at all: speeds below this are zero, and residuals are not measured against less.
[[nodiscard]] double rest_speed(const Model& model, double atol);

// the ledger's entry of impacts and of what events do to the state; the last one, where a motion has modes
inline constexpr const char* k_jumps = "impacts and events";

struct LoweredMotion {
    Motion motion;
    std::vector<double> x0;              // start values as the user gave them
    std::vector<double> start_values{};  // by symbol, on the constraints; empty where they could not be brought there
    RowLayout layout;
    // of `minimal`, what is integrated
    std::vector<std::size_t> independent_coordinates, independent_speeds;
    Partition partition{};  // of the rates, where the formulation is made for one
    // of a mode: the user's independent speeds as they fit it; some that were named depend on others that were not
    std::vector<std::size_t> independent_in_mode;
    bool leaves_out_named_speeds = false;
    SymbolId length_symbol;                   // the model's length, last of the programs' inputs
    std::vector<SymbolId> inputs;             // of the programs
    std::vector<ConstrainedSolve> equations;  // that give u' and the multipliers
    std::size_t first_slip = 0;               // among the motion's parameters: by friction those of SlipSymbols
    std::size_t first_side = 0, sides = 0;    // likewise: sides of conditions
    std::size_t nodes = 0;                    // of the expression graph
    std::size_t instructions = 0;             // of the accelerations' program
};

// Problems that stop a run before it begins (no value for an input, an opaque function, singular speeds) are diagnostics.
[[nodiscard]] Result<LoweredMotion> lower_motion(const ConstrainedDynamics& dynamics, const LowerMotionOptions& options);

// the inputs of every program over this model, in order: t, q, u, parameters, inputs
[[nodiscard]] std::vector<SymbolId> program_inputs(const Model& model);

// the Newtonian plane in which the paths of a plot move, from their positions' structure
[[nodiscard]] std::pair<int, int> path_plane(const Graph& graph, const std::vector<Vec3>& paths);

}  // namespace appell
