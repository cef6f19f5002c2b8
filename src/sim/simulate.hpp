// A run: start values onto the constraints, adaptive steps with projection, rows at fixed times, and a summary with a reason.
// Rows come from the integrator's continuous extension and are projected before they are written, so that every row satisfies the
// constraints to round-off. The step loop neither allocates nor throws.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/integrators.hpp"
#include "sim/checkpoint.hpp"
#include "sim/motion.hpp"
#include "sim/passed_position.hpp"
#include "sim/row_watch.hpp"
#include "sim/switching.hpp"

namespace appell {

struct SimulateOptions {
    double t0 = 0, t1 = 1;  // t1 may lie before t0: the run then goes backwards
    // Rows at t0 + k * every, at the times `at` in between, and at t1. Zero: a row after every step; infinity: none between t0
    // and t1 but those `at`.
    double every = 0;
    std::vector<double> at = {};
    bool at_events = false;  // rows where something happens, too: before, and after where it changes the state or the motion
    double rtol = 1e-7, atol = 1e-8;
    bool project = true;        // corrects states that have drifted:
    bool correct_once = false;  // by one correction of each level after a step, not down to round-off
    bool through = false;       // goes on through singular positions where the motion does so smoothly (passage.hpp)
    std::size_t max_steps = 100'000'000;
    std::size_t max_rows = 20'000'000;
    IntegratorKind integrator = IntegratorKind::dopri5;
    double step = 0;                         // of integrators with a fixed step
    double first_step = 0;                   // of the others, where they set out; 0: chosen from the rates
    double max_step = 0;                     // 0: no bound
    std::vector<double> atol_by_entry = {};  // in place of atol, one for each entry of x
};

enum class EndReason {
    finished,
    event,                  // one that says stop
    no_mode,                // what happened leaves no motion that is consistent with contacts and friction
    chatter,                // events without end while time stands still
    no_value,               // of a guard that the motion depends on
    start_has_no_solution,  // Newton's iteration found no consistent state near the start values
    start_not_finite,
    not_finite,                // a rate that is not finite, however short the step
    step_too_small,            // the error could not be met with a step that still moves t: mostly a singularity of the motion
    singular_mass,             // some motion has no inertia and no constraint
    singular_partition,        // the chosen independent speeds do not determine the others
    edge_of_chart,             // the rates that the equations take as functions of the others no longer are (chart_watch.hpp)
    unreachable,               // actuators can not produce what a servo row asks for
    no_reaction,               // no constraint force satisfies a law that depends on it,
    several_reactions,         // or several do
    inconsistent_constraints,  // dependent rows contradict each other
    penetrated,                // a row shows an open contact below zero: an instant was missed
    rank_loss,                 // a row has no gradient, or depends on others, unlike at the start or at states around it
    projection_failed,
    too_many_steps,
    too_many_rows,
    cancelled,
    wrong_checkpoint  // the run to be resumed is another one
};
[[nodiscard]] std::string_view name(EndReason reason);

struct Moved {
    std::size_t index;  // of the coordinate or the speed
    bool is_speed;
    double from, to;
};

struct SimulateSummary {
    EndReason reason = EndReason::finished;
    double t_start = 0;
    double t_end = 0;  // of the last accepted state, or of the last row where that is later
    std::size_t steps = 0, rejected = 0, evaluations = 0;
    std::size_t jacobians = 0;    // of implicit integrators
    std::size_t stiff_steps = 0;  // kept short by stability, by the judgement of an explicit integrator
    double stiff_from = 0;        // when it first found so
    std::size_t projections = 0;  // Newton corrections applied
    std::size_t rows = 0;
    // largest over all rows written
    double position_residual = 0, position_scaled = 0;
    double velocity_residual = 0, velocity_scaled = 0;
    std::size_t rank = 0;  // of the velocity rows at the start
    bool redundant = false;
    struct Redundancy {  // where rows were first found to depend on others
        std::size_t rows = 0, rank = 0;
        double t = 0;
    } redundancy;
    double smallest_pivot = 1;        // of the rows, least seen at accepted states: the inverse of their condition
    double smallest_pivot_at = 0;     // when
    std::size_t singular_column = 0;  // for singular_mass: the speed that has no inertia
    bool unbound = false;             // for singular_mass: the rows of one level do not determine it, when the start is assembled
    std::size_t row = 0;              // for unreachable: the servo row
    RowLoss loss = RowLoss::none;     // for rank_loss
    std::size_t constraint = 0;       // for rank_loss and inconsistent_constraints: which one (Motion::velocity_constraints)
    std::optional<std::size_t> penetrated;  // for penetrated: the guard
    double penetrated_at = 0, penetrated_gap = 0;
    double chatter_from = 0;      // for chatter: up to t_end something switched again and again
    double steps_needed = 0;      // for too_many_steps: in all, at the pace of the last ones
    bool contradiction = false;   // for start_has_no_solution: rows ask for different moves where it ends
    bool through = false;         // the run may go through singular positions
    bool no_way_through = false;  // a run that may goes through singular positions found no smooth continuation where it ended
    std::vector<PassedPosition> passed;
    std::vector<Moved> moved;  // what the start projection changed
    std::vector<double> x_start, x_end;
};

using RowSink = std::function<void(double t, std::span<const double> row)>;
using Progress = std::function<bool(double t)>;  // false cancels

// A run that can be stopped and resumed. `save` gets the state of the run after a step when `due` says so, and where it is
// stopped before its end (cancelled, too many steps) in any case. Resumed with the same motion, start values and options,
// the run goes on as if it had not been stopped; rows that it wrote before are not written again. A run that can not list what
// it remembers (modes, gains from the steps, integrators of SUNDIALS) saves an empty checkpoint, once: it is the same run from
// its start.
struct Resumable {
    std::optional<Checkpoint> from;
    std::function<bool()> due;
    std::function<void(const Checkpoint&)> save;
};

// Throws Error for options or start values outside their rules.
[[nodiscard]] SimulateSummary simulate(const Motion& motion, std::span<const double> x0, const SimulateOptions& options,
                                       const RowSink& sink, const Progress& progress = {}, const Resumable& resumable = {});
// The same with a motion that may be another one after each event.
[[nodiscard]] SimulateSummary simulate(Switching& switching, std::span<const double> x0, const SimulateOptions& options,
                                       const RowSink& sink, const Progress& progress = {}, const Resumable& resumable = {});

}  // namespace appell
