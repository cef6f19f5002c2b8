// Central inertia of a body in its own basis, from whatever point and frame it was given in.
#pragma once

#include "base/diagnostics.hpp"
#include "kinem/kinematics.hpp"

namespace appell {

// The parallel-axis theorem takes it from another point; a point or frame that moves relative to the body is a diagnostic.
[[nodiscard]] Matrix3 central_inertia(Kinematics& kinematics, const Body& body, Diagnostics& diagnostics);

// A body's turning, in a basis in which its inertia is constant: its own, or, for one that is symmetric about the axis of its
// last rotation, that of the frame before, where neither inertia nor angular velocity know the angle of that rotation.
struct Turning {
    FrameId basis;
    Matrix3 inertia;
    Vec3 omega, alpha_bias;

    [[nodiscard]] Vec3 momentum(Graph& graph) const { return {basis, multiply(graph, inertia, omega.c)}; }
    // its rate with u' = 0
    [[nodiscard]] Vec3 momentum_bias(Graph& graph) const;
};
[[nodiscard]] Turning turning(Kinematics& kinematics, const Body& body, Diagnostics& diagnostics);

}  // namespace appell
