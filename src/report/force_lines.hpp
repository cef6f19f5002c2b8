// The constraint forces of a model for people and machines: `on P1: lambda(c)*vel(P2)`, torques on bodies, generalized forces
// with the reason why no vector can be named; laws of nonideal constraints, the members of 001 eq. 40, and actuators. `check` and
// `derive` say it in the same words.
#pragma once

#include <string>

#include "dynam/constrained_dynamics.hpp"
#include "report/document.hpp"

namespace appell {

// lines indented by two blanks; empty without constraints
[[nodiscard]] std::string constraint_forces_text(const ConstrainedDynamics& dynamics);
// a section of a document; without blocks when there are no constraints
[[nodiscard]] Section constraint_forces_section(const ConstrainedDynamics& dynamics);
// an object: `constraints`, each with form, why, forces, torques, generalized and, where there are nonideal forces, the same
// three lists under law, ideal and nonideal; `actuators`; and the `intermediates` of the expressions
[[nodiscard]] std::string constraint_forces_json(const ConstrainedDynamics& dynamics);

}  // namespace appell
