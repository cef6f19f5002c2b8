// The equations of a derivation in one formulation and one format.
#pragma once

#include <optional>
#include <string>

#include "pipeline/pipeline.hpp"
#include "report/equations.hpp"

namespace appell {

struct PrintRequest {
    std::string formulation = "multipliers";
    std::string format = "text";  // text, latex, markdown, json
};

// what PrintRequest::format may be
[[nodiscard]] std::vector<std::string_view> format_names();

// The independent speeds are chosen where the motion starts, its start values moved onto the constraints. No value when the model
// has problems; the reasons are among the derivation's diagnostics.
[[nodiscard]] std::optional<std::string> print_equations(Derivation& derivation, const PrintRequest& request);

}  // namespace appell
