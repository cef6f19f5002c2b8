// Baumgarte's damping (003 eqs. 104-113): what a constraint is violated by decays inside the equations themselves. A row on
// positions asks for phi'' = G1 phi' + G2 phi instead of phi'' = 0, one on velocities for phi' = G phi instead of phi' = 0. Only
// the right side b of A u' = b changes, so that every formulation that takes the rows at the level of accelerations takes the
// damping, too. On the constraints nothing changes at all.
#pragma once

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct BaumgarteGains {
    NodeId of_rate, of_position;  // G1, G2: rows on positions
    NodeId of_velocity;           // G: rows on velocities
};

[[nodiscard]] ConstrainedDynamics damped(ConstrainedDynamics dynamics, const BaumgarteGains& gains);

}  // namespace appell
