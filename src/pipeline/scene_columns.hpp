// The scene of a run: columns of a trajectory row for where everything is and what acts on it.
#pragma once

#include <functional>
#include <span>

#include "dynam/quantities.hpp"
#include "report/scene.hpp"

namespace appell {

// `whole` has the rows of all constraints, so that every mode of a motion gives the same scene; `start`: a number for every
// symbol of the graph; `column` appends a value to the row and returns its place.
[[nodiscard]] Scene scene_columns(const ConstrainedDynamics& dynamics, const ConstrainedDynamics& whole, Quantities& observable,
                                  std::span<const double> start, const std::function<std::size_t(NodeId)>& column);

}  // namespace appell
