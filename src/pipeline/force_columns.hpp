// The columns of --forces: everything that keeps the constraints.
#pragma once

#include <string>
#include <vector>

#include "dynam/acting_forces.hpp"

namespace appell {

// What acts in a mode of a motion, with a place for all that acts in any: the rows of every mode have the same columns. What is
// off exerts nothing. Laws are left out, since the nonideal member contains them.
[[nodiscard]] std::vector<ActingForce> forces_for_columns(const ConstrainedDynamics& mode, const ConstrainedDynamics& whole);

}  // namespace appell
