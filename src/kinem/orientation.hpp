// Rotation matrix and relative angular velocity of a frame from the way its orientation is given.
#pragma once

#include <optional>

#include "expr/differentiate.hpp"
#include "model/model.hpp"
#include "vec/vec3.hpp"

namespace appell {

// R: parent components = R * child components
[[nodiscard]] Matrix3 rotation_matrix(Graph& graph, const Model& model, const Orientation& orientation);

// 0, 1 or 2 where the child is turned about this basis axis, which then is common to both
[[nodiscard]] std::optional<std::size_t> common_axis(const Graph& graph, const Orientation& orientation);

// Angular velocity of the child in the parent, components in the child's basis. `rate` gives time derivatives of scalars; a
// quaternion frame answers with its own three rate symbols.
[[nodiscard]] std::array<NodeId, 3> relative_angular_velocity(Graph& graph, const Orientation& orientation, const Matrix3& R,
                                                              TimeDerivative& rate);

}  // namespace appell
