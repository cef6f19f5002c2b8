// Entries of the linear equations as expressions of the parameters and of the state, where that takes no inversion.
//
// The residual's jacobians (linearization.hpp) are taken as expressions, and whatever is zero at the state is put to zero. What
// follows from the constraints (dependent coordinates, speeds and their rates, multipliers) is solved for one by one, each from
// an equation in which nothing else is unknown. On the motions that are left, u_D = D u_I, the equations are
//     M~ u_I' = F~ y + ...,   M~ = D' M D
// and where M~ does not couple a speed with others, its row of A is F~ over an entry of M~. Everything else stays a number. Each
// expression is compared with the number it stands for, with fifty digits, before anybody sees it.
#pragma once

#include <vector>

#include "doctor/linearization.hpp"

namespace appell {

struct SymbolicLinearization {
    // by entry of A and B, row by row; invalid where there is a number only. Empty: no entry.
    std::vector<NodeId> A, B;
};

// `longest`: of an expression as text; longer ones are left out
[[nodiscard]] SymbolicLinearization symbolic_linearization(const ConstrainedDynamics& dynamics, const LinearSystem& system,
                                                           std::size_t longest = 60);

}  // namespace appell
