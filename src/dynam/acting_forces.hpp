// Everything that keeps the constraints, one force, torque or generalized force at a time, in the user's own vectors: the forces
// of the multipliers, the laws of nonideal constraints with the members of 001 eq. 40 that they lead to, and the actuators.
#pragma once

#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

enum class ForceMember {
    reaction,  // lambda W
    law,       // the nonideal force as stated
    ideal,     // lambda_i W, lambda_i the multiplier were there no nonideal force: second member of 001 eq. 40
    nonideal,  // law + (lambda - lambda_i) W: third member. It and the ideal one add up to reaction and law
    actuator   // magnitude times direction
};

struct ActingForce {
    enum class Kind { force, torque, generalized };

    ForceMember member = ForceMember::reaction;
    std::size_t owner = 0;  // index of the constraint in the model; of an actuator, its own
    Kind kind = Kind::force;
    PointId point;            // of a force
    FrameId body;             // of a torque; of a force on a body's material point that is at `point`
    std::uint32_t speed = 0;  // of a generalized force
    NodeId value;             // a vector; a scalar when generalized
};

// By constraint, then by actuator. Laws and the members they lead to only where the model has nonideal forces: every constraint
// has the members then, since a law of one changes the multipliers of all. Reactions on what does not move are left out.
[[nodiscard]] std::vector<ActingForce> acting_forces(const ConstrainedDynamics& dynamics);

// Do a point and a body's material point there, or those of two bodies, move with the same velocity in every state? Then forces
// on them act at one place. An invalid frame stands for the point itself.
[[nodiscard]] bool moves_alike(const ConstrainedDynamics& dynamics, PointId point, FrameId a, FrameId b);

// "P", "B at P", "B", or the speed's name
[[nodiscard]] std::string place_name(const Model& model, const ActingForce& force);

// as the language writes it: force(c, P), ideal(c, B at P), torque(c, B); and actuator(F, P), generalized(c, u)
[[nodiscard]] std::string force_name(const Model& model, const ActingForce& force);

}  // namespace appell
