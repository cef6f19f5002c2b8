// The formulations by name: what a run can integrate and what `check` compares. Each is a function of the constrained dynamics to
// one solve; where their sources' algebra differs, so does the code (tape/dense_solve.cpp, gibbs_appell.cpp).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

enum class Formulation { multipliers, minimal, nonminimal, udwadia_kalaba, ukp, gibbs_appell };

struct FormulationInfo {
    Formulation formulation;
    std::string_view name;
    std::string_view source;  // document and equations
    bool needs_regular_mass;
};

[[nodiscard]] std::span<const FormulationInfo> all_formulations();
[[nodiscard]] std::optional<Formulation> find_formulation(std::string_view name);

// The solves of a program, the last of which gives u' and the multipliers; laws and actuators come before it.
[[nodiscard]] std::vector<ConstrainedSolve> formulate(const ConstrainedDynamics& dynamics, Formulation formulation);

}  // namespace appell
