// Loads resolved into resultants: forces at points, torques on bodies, generalized forces, and the potential energy behind them.
#pragma once

#include <span>
#include <vector>

#include "dynam/inertia_sums.hpp"
#include "kinem/kinematics.hpp"

namespace appell {

struct ResolvedLoads {
    MixedVector gravity;  // acceleration that acts on every mass
    NodeId potential;     // of springs and potentials; gravity's part depends on the masses and is added there
};

// Adds everything but gravity to the sums.
[[nodiscard]] ResolvedLoads add_loads(Kinematics& kinematics, InertiaSums& sums);

// The expressions of a load, or of an action, as written.
[[nodiscard]] std::vector<NodeId> expressions_of(const decltype(Load::what)& load);
[[nodiscard]] std::vector<NodeId> expressions_of(const Action& action);

// Generalized forces of some actions, by speed.
[[nodiscard]] std::vector<NodeId> generalized_forces(Kinematics& kinematics, std::span<const Action> actions);

}  // namespace appell
