// The equations of a derivation in one formulation and one format.
#pragma once

#include <optional>
#include <string>

#include "pipeline/pipeline.hpp"
#include "report/equations.hpp"

namespace appell {

struct PrintRequest {
    std::string formulation;      // empty: multipliers; minimal where some constraint forces are to be in evidence
    std::string format = "text";  // text, latex, markdown, json
    // constraint forces in evidence, instead of those that the model names: all, none, motion (those of constraints on velocities
    // and accelerations: 000 eq. 2), or names separated by commas
    std::optional<std::string> evidence{};
};

// what PrintRequest::format may be
[[nodiscard]] std::vector<std::string_view> format_names();

// The independent speeds are chosen where the motion starts, its start values moved onto the constraints. No value when the model
// has problems; the reasons are among the derivation's diagnostics.
[[nodiscard]] std::optional<std::string> print_equations(Derivation& derivation, const PrintRequest& request);

// the state at which dependent speeds are chosen, put into the options
void choose_equation_state(const Derivation& derivation, EquationOptions& options);

}  // namespace appell
