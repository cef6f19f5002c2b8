// Constraint forces by inspection (000 eqs. 4-6, 26-27, 50-55, 59-60): the force that keeps a row acts on the points and bodies
// whose vectors stand in it, W_P = d phi/d vel(P) and tau_B = d phi/d omega(B), times the multiplier. In a velocity row positions
// and directions are held fixed: their change belongs to b. A position row is differentiated by pos(P), and by a small rotation
// of each direction e in it: tau = e x d phi/d e. Vectors stay in the user's own terms. For every row and speed
//     sum W . v_r + sum tau . omega_r + generalized_r = A_sr.
#pragma once

#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct ForceDirection {
    PointId point;
    FrameId body;  // valid: acts on this body's material point that is at `point`; else on the point itself
    NodeId W;      // a vector
};
struct TorqueDirection {
    FrameId body;
    NodeId tau;
};
struct GeneralizedDirection {
    std::uint32_t speed;
    NodeId value;  // of q, u, t
};

enum class ForceForm {
    vectors,
    partly_generalized,  // bare coordinates or speeds beside the vectors
    generalized_only     // no vector can be named
};

struct ConstraintForces {
    std::size_t constraint = 0;  // index in the model
    ForceForm form = ForceForm::vectors;
    std::string why;  // one sentence, unless all are vectors
    std::vector<ForceDirection> forces;
    std::vector<TorqueDirection> torques;
    std::vector<GeneralizedDirection> generalized;
};

// By row, for a multiplier of one. Reactions on what does not move in the Newtonian frame are left out.
[[nodiscard]] std::vector<ConstraintForces> row_forces(const ConstrainedDynamics& dynamics);
// By constraint, multipliers included; the components of a vector equation are added up.
[[nodiscard]] std::vector<ConstraintForces> constraint_forces(const ConstrainedDynamics& dynamics);

// "P1", "D at P"; bodies by their own name
[[nodiscard]] std::string place_name(const Model& model, const ForceDirection& force);
[[nodiscard]] std::string body_name(const Model& model, FrameId frame);

// The forces and torques on a body as one force at a point of it and one torque (000 eqs. 77-81). Forces on points fixed in the
// body count, unless the point is a particle.
struct Wrench {
    FrameId body;
    PointId point;
    NodeId force, torque;  // vectors
};
[[nodiscard]] Wrench reduce(const ConstrainedDynamics& dynamics, const ConstraintForces& forces, FrameId body, PointId point);

}  // namespace appell
