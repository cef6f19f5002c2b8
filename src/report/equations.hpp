// The equations of a model for people and machines, written the way the source of a formulation does it: counts and speeds,
// kinematical equations, velocities and partial velocities, then what is the formulation's own, and the energies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dynam/formulations.hpp"

namespace appell {

enum class EquationFormat { text, latex, markdown, json };

struct EquationOptions {
    Formulation formulation = Formulation::multipliers;
    EquationFormat format = EquationFormat::text;
    // a number for every symbol of the graph: the state at which the dependent speeds are chosen, and what it is; generic values
    // when empty
    std::vector<double> state{};
    std::string place = "at generic values";
    std::vector<std::uint32_t> dependent{};  // speeds that shall depend on the others; empty: chosen by conditioning
    // constraints, by index in the model, whose forces are in evidence; absent: as the model says. Only `minimal` and
    // `nonminimal` follow it: the others have all constraint forces in their equations, or none.
    std::optional<std::vector<std::size_t>> evidence{};
};

// LaTeX is a whole document for pdflatex with amsmath. JSON has a schema version, the matrices K, M, A and vectors k, f, b, and
// every section with each formula as text and as LaTeX.
// Throws Error when the speeds given can not all depend on the others at the state.
[[nodiscard]] std::string equations(const ConstrainedDynamics& dynamics, const EquationOptions& options = {});

}  // namespace appell
