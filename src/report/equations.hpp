// The equations of a model for people and machines: constraint forces, kinematical equations, dynamical equations in the form
// `multipliers`, constraints at the acceleration level, energies; as text, as a LaTeX document, as JSON.
#pragma once

#include <string>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

[[nodiscard]] std::string equations_text(const ConstrainedDynamics& dynamics);
[[nodiscard]] std::string equations_latex(const ConstrainedDynamics& dynamics);
[[nodiscard]] std::string equations_json(const ConstrainedDynamics& dynamics);

}  // namespace appell
