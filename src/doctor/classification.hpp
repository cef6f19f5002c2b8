// What kind of constraint each row is, beyond integrability: its level, whether it is linear in the velocities, whether time
// stands in it, and how it scales with the velocities (Euler's theorem).
#pragma once

#include <optional>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

enum class Linearity { affine, nonlinear };

struct RowClass {
    std::size_t row;  // index in the dynamics
    Level level;
    Linearity linearity = Linearity::affine;  // in the speeds, of the row on velocities
    bool rheonomic = false;                   // time stands in it, or in the positions of its points
    // phi(q, s u, t) = s^p phi(q, u, t): p; where that fails but phi minus a function of q and t scales so, `affine_degree`
    std::optional<double> degree, affine_degree;
    bool ideal = true;          // no law gives its force another part
    bool by_actuators = false;  // a servo row
};

[[nodiscard]] std::vector<RowClass> classify(const ConstrainedDynamics& dynamics, const Samples& samples);

}  // namespace appell
