// One turn of a march (sim/march.hpp) on the numbers of eight runs, side by side: what the kernels of lane_kernels.hpp are given.
// Numbers of lanes without a run are computed, too, and mean nothing.
#pragma once

#include <cstddef>

#include "lanes/lane_kernels.hpp"

namespace appell {

// A program that is evaluated at the numbers in its slots; the lanes where it succeeds.
struct LaneEvaluation {
    void* workspace = nullptr;
    LaneMask (*run)(void* workspace) = nullptr;
    double* slots = nullptr;          // inputs first: t, x
    const double* outputs = nullptr;  // output i is at places[i]
    const Slot* places = nullptr;

    // what its report says of the rows: by solve, pivots of a closed form and their diagonals, or the solve itself
    struct Pivots {
        LaneSolvePlan::List<Slot> pivots, diagonals;
        const LaneSolvePlan* solve = nullptr;
    };
    const Pivots* pivots = nullptr;
    std::size_t pivots_count = 0;
};

struct LaneMarchPlan {
    // sizes
    std::size_t coordinates = 0, states = 0, carried = 0;
    std::size_t rows = 0, constraints = 0;   // of velocities
    const std::size_t* row_begin = nullptr;  // by constraint, and the end: of its rows' entries
    std::size_t position_rows = 0;

    // the method
    std::size_t stages = 0;
    const double *nodes = nullptr, *tableau = nullptr, *error = nullptr, *extension = nullptr;
    double alpha = 0, beta = 0, most_growth = 0, most_shrink = 0, stability = 0;

    LaneEvaluation rate, position, velocity;
    struct Outputs {  // of position and velocity
        std::size_t scaled = 0, scaled_end = 0, correction = 0;
    };
    Outputs of_position, of_velocity;
    double (*arc_cosine)(double) = nullptr;

    // One number by lane each. Whole numbers are doubles, too.
    struct Numbers {
        double *t, *t_previous, *t_end, *direction, *h, *log_error, *rejected, *t_row;
        double *rtol, *share, *max_step, *least_pivot;
        double *steps, *most_steps, *phase, *rejections, *evaluations;  // phase: of all steps so far, modulo k_stiff_asked
        double *at_the_bound, *below_it, *stiff_steps, *stiff_from;
        double *speed_size, *longest_step, *longest_taken, *projections, *smallest_pivot, *smallest_pivot_at;
    };
    Numbers one = {};

    struct Sample {
        double *rows, *directions, *sizes;
    };
    // several numbers by lane
    double *x = nullptr, *rate_at_x = nullptr, *atol = nullptr, *longest = nullptr, *coordinate_sizes = nullptr;
    Sample before = {}, middle = {}, after = {}, ahead = {};
    // of one turn
    double *rates = nullptr, *trial = nullptr, *last_stage = nullptr, *state = nullptr, *inside = nullptr, *end_rate = nullptr;
    double *change = nullptr, *bend = nullptr, *twist = nullptr, *fourth = nullptr, *step = nullptr;
};

}  // namespace appell
