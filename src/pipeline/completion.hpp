// Conditions on positions that hide in constraints on velocities (doctor/hidden_positions.hpp), found where a motion starts or
// ends, and added to the constraints of a model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "doctor/hidden_positions.hpp"
#include "model/model.hpp"
#include "pipeline/lower_motion.hpp"

namespace appell {

// at a state q, u on the constraints
[[nodiscard]] std::vector<HiddenPosition> hidden_at(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, double t,
                                                    std::span<const double> x);

// says them, with what to do about them
void add_hidden_positions(Diagnostics& diagnostics, const ConstrainedDynamics& dynamics, std::span<const HiddenPosition> hidden);

struct CompletedModel {
    std::shared_ptr<const Model> model;
    std::vector<std::string> added;  // "hidden: x = 0"
};

// the model with a constraint for each of them; a note says so
[[nodiscard]] CompletedModel with_hidden_positions(const ConstrainedDynamics& dynamics, std::span<const HiddenPosition> hidden,
                                                   Diagnostics& diagnostics);

}  // namespace appell
