// Constraints that can only be kept while something rests: three velocities of a plane that are perpendicular in pairs (002 ex.
// 4, closed planar chain with an odd number of points). No row says so and no rank is lost, so that it is looked for at random
// consistent states. Rows that follow from the others are another matter: they lower the rank and take nothing away.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/consistent_states.hpp"

namespace appell {

struct VanishingVelocities {
    std::size_t states = 0;  // looked at
    // "vel(P2)", "omega(B)" and at how many states it vanishes, the most frequent first; empty unless something vanishes at each
    // state. Points and bodies that nothing could move are left out, and so are states in which everything rests.
    std::vector<std::pair<std::string, std::size_t>> names;
};

[[nodiscard]] VanishingVelocities vanishing_velocities(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                                       const ConsistentStates& states);

}  // namespace appell
