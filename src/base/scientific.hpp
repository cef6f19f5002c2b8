// Residuals and differences as people read them.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace appell {

// "1.5e-12", with so many digits after the point. A value that is not a number is written in words, not as "nan".
[[nodiscard]] inline std::string scientific(double value, int decimals = 1) {
    return std::isfinite(value) ? fmt::format("{:.{}e}", value, decimals) : "no value";
}

}  // namespace appell
