// A small solve unrolled: the same operations as runtime/constrained_solve.c, in the same order, without loops, tables and zeros.
//     static int NAME(const double *o, double *z, MODEL_report *r)
// reads the operands and writes x, by column, lambda, and what there is to report; 0 where the other function has to look: M
// close to singular, rows that vanish or are close to dependent, numbers that are not finite.
#pragma once

#include <optional>
#include <string>

#include "tape/program.hpp"

namespace appell {

// none for solves that are large, of another kind, or have many rows, of which each order of pivoting would be a text of its own
[[nodiscard]] std::optional<std::string> small_solve_text(const SolveBlock& block, const std::string& name);

}  // namespace appell
