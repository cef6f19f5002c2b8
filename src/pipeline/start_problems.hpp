// What is wrong with a state that the equations of motion have no answer at: found from the model's own expressions, evaluated
// there, after a run has ended.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "sim/motion.hpp"

namespace appell {

// the values of t, q, u, parameters and inputs at a state, by symbol
[[nodiscard]] std::vector<double> values_at(const ConstrainedDynamics& dynamics, const Motion& motion, double t,
                                            std::span<const double> x);

// Speeds that together move nothing at a state though they do elsewhere: a gimbal lock, a pole. None: the mass matrix is singular
// for another reason.
[[nodiscard]] std::optional<Diagnostic> singular_coordinates(const ConstrainedDynamics& dynamics, const Motion& motion, double t,
                                                             std::span<const double> x);

// A nonideal law that divides by something that vanishes at a state, as the direction of a velocity does at rest.
[[nodiscard]] std::optional<Diagnostic> law_without_value(const ConstrainedDynamics& dynamics, const Motion& motion, double t,
                                                          std::span<const double> x);

// A constraint, load, point or speed that is no finite number at a state, or whose derivative is none, and the part of it that is
// at fault. `when` is "at the start", or "at t = ...".
struct PartWithoutValue {
    Span span;
    std::string message, found;
};
[[nodiscard]] std::optional<PartWithoutValue> part_without_value(const ConstrainedDynamics& dynamics, const Motion& motion,
                                                                 double t, std::span<const double> x, const std::string& when);

// Combinations of servo rows that no actuator accelerates at a state, such as "s.x - s.y".
[[nodiscard]] std::string unreachable_combinations(const ConstrainedDynamics& dynamics, const Motion& motion, double t,
                                                   std::span<const double> x);

}  // namespace appell
