// What depends on forces that are not unique (dynam/shares.hpp). Where rows depend on each other, N' A = 0, a change of the
// multipliers by N eta is none of the force A' lambda. It may be one of the laws C(lambda), and by them of the motion:
//
//     M dx - A' dlambda - C_lambda (dlambda + N eta) = 0,   A dx = 0,   N' dlambda = 0.
#pragma once

#include <span>
#include <vector>

namespace appell {

// numbers at one state, matrices row by row
struct ForcesAtState {
    std::size_t speeds = 0, rows = 0;
    std::span<const double> M, A;                // speeds x speeds, rows x speeds
    std::span<const double> slope, ideal_slope;  // of the law by the multipliers, and by the ideal ones: speeds x rows
    std::span<const double> rate, multipliers;
};

struct ForceChoice {
    std::vector<std::size_t> rows;  // whose multipliers are not unique
    bool law = false;               // the laws change with the choice
    bool motion = false;            // u' does
};

[[nodiscard]] ForceChoice look_at_choice(const ForcesAtState& forces);

}  // namespace appell
