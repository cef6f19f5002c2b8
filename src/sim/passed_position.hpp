// A singular position that a run went through (passage.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace appell {

struct PassedPosition {
    double t = 0;                // when
    std::size_t constraint = 0;  // whose row depended on the others
    double from = 0, to = 0;     // the arc
    // states of the arc at these shares of the way before it, then of the way behind it; none where they could not be had
    static constexpr std::array k_shares{1.0 / 32, 1.0 / 128};
    std::vector<double> times, states;
};

}  // namespace appell
