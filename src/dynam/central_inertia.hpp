// Central inertia of a body in its own basis, from whatever point and frame it was given in.
#pragma once

#include "base/diagnostics.hpp"
#include "kinem/kinematics.hpp"

namespace appell {

// The parallel-axis theorem takes it from another point; a point or frame that moves relative to the body is a diagnostic.
[[nodiscard]] Matrix3 central_inertia(Kinematics& kinematics, const Body& body, Diagnostics& diagnostics);

}  // namespace appell
