// The equations of motion as a residual of everything that is solved for: with z = (u', lambda, tau),
//     R(q, u, z) = ( M u' - A' lambda - D tau - f - C,  A u' - b ) = 0.
// Its derivatives give those of z without an inverse of anything: R_z dz = -R_x dx. Laws may depend on what the multipliers were
// without them; these are then unknowns of z, too, with a block of equations of their own.
#pragma once

#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

struct MotionResidual {
    std::vector<NodeId> equations;
    std::size_t rows = 0;                  // of constraints
    std::vector<SymbolId> unknowns;        // z; the rates of the speeds are first
    std::vector<ConstrainedSolve> solves;  // give the unknowns their values
};

[[nodiscard]] MotionResidual motion_residual(const ConstrainedDynamics& dynamics);

}  // namespace appell
