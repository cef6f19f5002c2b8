// Steps that several runs take at once, in step with each other (lanes/lane_march.hpp).
//
// Most steps of most runs are ordinary: the error estimate accepts the step or shortens it, a few corrections bring its end onto
// the constraints, and the watch over their rows sees nothing that is worth a closer look. Such steps are taken here by the
// operations of ExplicitRungeKutta, Projector and RowWatch, in their order, on the numbers of all runs at once. Nothing else is
// decided: a run that comes to a step of another kind (a rate that fails, rows of the constraints that turn, a row of its table
// inside the step) is given back as it was before that step, and the loop of Stretch, which knows the rest, takes it. So every
// run has the numbers that it has alone, to the last bit.
#pragma once

#include <cstddef>
#include <span>

#include "sim/integrator.hpp"

namespace appell {

struct Motion;

// An explicit method with an error estimate that needs the rate at the end, and a continuous extension of the fourth power whose
// other terms follow from states and rates of both ends.
struct MarchMethod {
    std::size_t stages = 0;
    const double* nodes = nullptr;      // of the second stage on
    const double* rows = nullptr;       // stages x stages: of the second stage on, and of the new state
    const double* error = nullptr;      // stages + 1: weights of their rates and of the rate at the end
    const double* extension = nullptr;  // likewise: the fourth power
    double alpha = 0, beta = 0, most_growth = 0, most_shrink = 0, stability = 0;
    [[nodiscard]] bool operator==(const MarchMethod&) const = default;
};

// What a run remembers from one accepted step to the next, and what its steps are judged by. Pointers lead to the memory of who
// lends it; sizes are those of the motion.
struct March {
    const Motion* motion = nullptr;
    MarchMethod method = {};

    // what does not change
    double t_end = 0;
    double t_row = 0;  // no step leads beyond; one that ends there is the last
    double rtol = 0, share = 0, max_step = 0;
    const double* atol = nullptr;                 // by entry that steps are controlled by
    double least_pivot = 0;                       // of the rows
    std::span<const std::size_t> row_begin = {};  // by constraint, and the end: of its rows' entries
    std::size_t most_steps = 0;

    // of the integrator
    double t = 0, t_previous = 0, h = 0, log_error = 0;
    bool rejected = false;
    double *x = nullptr, *rate = nullptr;
    std::size_t at_the_bound = 0, below_it = 0;
    IntegratorStatistics statistics = {};

    // of the watch over the rows, at the last accepted state; and the largest so far
    double *rows = nullptr, *directions = nullptr, *sizes = nullptr, *longest = nullptr;
    double* coordinate_sizes = nullptr;
    double speed_size = 0, longest_step = 0;

    // of the run
    std::size_t projections = 0;
    double smallest_pivot = 1, smallest_pivot_at = 0;

    std::size_t steps = 0;     // that were taken
    double longest_taken = 0;  // of them
};

}  // namespace appell
