// Residuals and differences as people read them.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace appell {

// "1.5e-12": so many digits behind the point. What is no number is said in words: people do not read "nan".
[[nodiscard]] inline std::string scientific(double value, int decimals = 1) {
    return std::isfinite(value) ? fmt::format("{:.{}e}", value, decimals) : "no value";
}

}  // namespace appell
