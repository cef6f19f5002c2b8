// How long the rows of A are in general, whatever they are at one state: what a row that vanishes somewhere is round-off against.
// Scales of rows mean nothing; users write one condition in metres and the next in newtons, or both sides of one times 1e8.
#pragma once

#include "dynam/constrained_dynamics.hpp"

namespace appell {

// By row, where the scales are far apart, or where some rows follow from the others: one that is short for the moment must not
// stand for those. Empty where rows are much alike and independent. A solve finds them behind the right sides of its rows.
[[nodiscard]] std::vector<double> row_sizes(const ConstrainedDynamics& dynamics);

// Some rows follow from the others at the start, on the constraints; a little off them they seem independent.
[[nodiscard]] bool rows_follow_from_others(const ConstrainedDynamics& dynamics);

// scales beyond what is computed with
void check_row_sizes(const ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

}  // namespace appell
