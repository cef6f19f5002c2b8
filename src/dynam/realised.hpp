// Constraints that ideal forces alone do not keep: nonideal laws and actuators (001 eqs. 9-40, design section 4). They come down
// to given forces once the multipliers in the laws and the magnitudes of the actuators are known, so that every formulation sees
// ideal rows and given forces only:
//     M u' = f + C + D tau + A' lambda.
#pragma once

#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

struct Realisation {
    std::vector<ConstrainedSolve> before;  // for the ideal multipliers, for those in the laws, and for the actuators
    ConstrainedDynamics ideal;             // rows kept by ideal forces, with the others among the given forces
    std::vector<ConstrainedSolve> after;   // for the multipliers of rows that share a force
};

// Of a system without laws and actuators: itself.
[[nodiscard]] Realisation realise(const ConstrainedDynamics& dynamics);

// For the multipliers as they were without any nonideal force: the first solve of `realise` where there are laws.
[[nodiscard]] ConstrainedSolve ideal_solve(const ConstrainedDynamics& dynamics);

// The same system for the printed page: the rows that ideal forces keep, with laws and actuators among the given forces, in terms
// of the multipliers and magnitudes themselves.
[[nodiscard]] ConstrainedDynamics with_given_forces(const ConstrainedDynamics& dynamics);

}  // namespace appell
