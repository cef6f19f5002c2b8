// Residuals and differences as people read them.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace appell {

// "1.5e-12": so many digits behind the point. What is no number has one word here, as in number_format.hpp: the sign that a
// processor gives it says nothing.
[[nodiscard]] inline std::string scientific(double value, int decimals = 1) {
    return std::isnan(value) ? "nan" : fmt::format("{:.{}e}", value, decimals);
}

}  // namespace appell
