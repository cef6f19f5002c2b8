// The numbers a motion starts with: parameters, start values of coordinates and speeds, and what must be wrong with them.
#pragma once

#include <optional>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

// The numbers of a motion: everything about it that is no structure. `numbers` is the model of the dynamics, or the same text
// read with other values.
struct StartNumbers {
    std::vector<double> parameters;  // as in Motion
    std::vector<double> x0;
};
[[nodiscard]] Result<StartNumbers> start_numbers(const ConstrainedDynamics& dynamics, const Model& numbers, double from);

// the same with the values by symbol of the graph, the speeds' rates filled in from their definitions
struct Start {
    std::vector<double> values;
    StartNumbers numbers;
};
[[nodiscard]] std::optional<Start> find_start(const ConstrainedDynamics& dynamics, const Model& numbers, double from,
                                              Diagnostics& diagnostics);

}  // namespace appell
