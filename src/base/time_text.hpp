// A time of a run as text for people, with as many digits as tell it from the start.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "base/number_format.hpp"

namespace appell {

[[nodiscard]] inline std::string time_text(double t, double start) {
    constexpr double k_least = 6, k_most = 17;
    const double farthest = std::max(std::abs(t), std::abs(start)), gone_by = std::abs(t - start);
    const double more = gone_by > 0 && farthest > gone_by ? std::ceil(std::log10(farthest / gone_by)) : 0;
    return short_number(t, static_cast<int>(std::min(k_most, k_least + more)));
}

}  // namespace appell
