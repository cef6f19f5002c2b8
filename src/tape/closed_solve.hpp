// The elimination of a small solve written out as expressions: for a handful of unknowns the bookkeeping of a pivoted solve costs
// many times its arithmetic. No pivoting, so that the numbers that say whether it was needed come with the result: where one of
// them is not good, the solve of constrained_solve.hpp takes over, and decides rank, redundancy and everything else.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "expr/graph.hpp"
#include "tape/constrained_solve.hpp"
#include "tape/program.hpp"

namespace appell {

// beyond so many none is short enough
inline constexpr std::size_t k_most_closed_unknowns = 16;

// Adds the closed form to a solve of kind `multipliers`, and to one of kind `minimal` or `nonminimal` whose independent unknowns
// are given, if it is short enough to be faster.
void add_closed_form(Graph& graph, ConstrainedSolve& solve);

// The numbers in the slots are good:  pivots[i] > least * diagonals[i] > 0  for each; what is not a number is not.
struct PivotGuard {
    const std::vector<Slot>*pivots, *diagonals;
    double least;

    [[nodiscard]] bool holds(std::size_t i, const double* slots) const {
        const double diagonal = slots[(*diagonals)[i]];
        return diagonal > 0 && slots[(*pivots)[i]] > least * diagonal;
    }
    [[nodiscard]] bool is_steady(std::size_t i, const Program& program) const {
        return program.is_steady((*pivots)[i]) && program.is_steady((*diagonals)[i]);
    }
};
// the two of a closed form: of what has mass, and of the rows
[[nodiscard]] std::array<PivotGuard, 2> guards_of(const SolveBlock& block);
// And, where this is above zero, the smallest of the rows' diagonals is above so much of the largest.
[[nodiscard]] double least_square_of(const SolveBlock& block);

// the same as conditions, for a program that has the closed form and not the solve
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> conditions_of(Graph& graph, const ConstrainedSolve& solve);

// x and lambda from their closed forms into their slots; false where the pivots ask for the solve itself.
[[nodiscard]] bool take_closed_form(const SolveBlock& block, double* slots);
// what there is to say where they do not
[[nodiscard]] SolveReport report_of_closed_form(const SolveBlock& block, const double* slots);

// the guards of all solves of which both sides are steady: good as long as the parameters stay
[[nodiscard]] bool steady_pivots_are_good(const Program& program, const double* slots);

}  // namespace appell
