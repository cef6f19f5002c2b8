// The elimination of a small solve written out as expressions: for a handful of unknowns the bookkeeping of a pivoted solve costs
// many times its arithmetic. No pivoting, so that the numbers that say whether it was needed come with the result: where one of
// them is not good, the solve of constrained_solve.hpp takes over, and decides rank, redundancy and everything else.
#pragma once

#include <span>

#include "expr/graph.hpp"
#include "tape/constrained_solve.hpp"
#include "tape/program.hpp"

namespace appell {

// Adds the closed form to a solve of kind `multipliers`, if it is short enough to be faster.
void add_closed_form(Graph& graph, ConstrainedSolve& solve);

// x and lambda from their closed forms into their slots; false where the pivots ask for the solve itself.
[[nodiscard]] bool take_closed_form(const SolveBlock& block, double* slots, SolveReport& report);

}  // namespace appell
