// A small solve unrolled: the same operations as runtime/constrained_solve.c, in the same order, without loops, tables and zeros.
//     static int NAME(const double *o, double *z)
// reads the operands and writes x, by column, and lambda; 0 where the other function has to look: M close to singular, a row that
// vanishes, numbers that are not finite.
#pragma once

#include <optional>
#include <string>

#include "tape/program.hpp"

namespace appell {

// none for solves that are large, of another kind, or have several rows (which are pivoted)
[[nodiscard]] std::optional<std::string> small_solve_text(const SolveBlock& block, const std::string& name);

}  // namespace appell
