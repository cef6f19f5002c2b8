// How long the rows of A are in general, whatever they are at one state: what a row that vanishes somewhere is round-off against.
// Scales of rows mean nothing; users write one condition in metres and the next in newtons, or both sides of one times 1e8.
#pragma once

#include "dynam/constrained_dynamics.hpp"

namespace appell {

// By row, where the scales are far apart; empty where they are much alike, so that no row is taken for round-off of another.
// A solve finds them behind the right sides of its rows.
[[nodiscard]] std::vector<double> row_sizes(const ConstrainedDynamics& dynamics);

// scales beyond what is computed with
void check_row_sizes(const ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

}  // namespace appell
