// Time far from t = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

// against the way that is left: rounding t is an error that counts
[[nodiscard]] inline bool far_from_zero(double t, double t_end) {
    constexpr double k_counts = 1e-13;
    return std::max(std::abs(t), std::abs(t_end)) * std::numeric_limits<double>::epsilon() > k_counts * std::abs(t_end - t);
}

}  // namespace appell
