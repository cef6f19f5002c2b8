// Units as the axes of plots name them.
#pragma once

#include <optional>
#include <string>

#include "model/model.hpp"

namespace appell {

// SI; empty for pure numbers, and where the dimension is not known
[[nodiscard]] std::string unit_of(const Model& model, NodeId value, const std::optional<Dimension>& dimension);
// "v [m/s]"; the label alone without a unit
[[nodiscard]] std::string with_unit(const std::string& label, const std::string& unit);

}  // namespace appell
