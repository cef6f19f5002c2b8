// The method of Kutta and Merson, of order 4 and five stages, with a fixed step: the scheme of 003. R. H. Merson, An operational
// method for the study of integration processes, Proc. Symp. Data Processing, Salisbury (1957).
//
// Merson's error estimate, a fifth of what the last stage and the new state differ by, is one only where the rate is linear in x.
// No step is chosen by it here.
#pragma once

#include <array>

#include "sim/fixed_step_method.hpp"

namespace appell {

struct KuttaMersonTableau {
    static constexpr std::array<double, 4> nodes{1.0 / 3, 1.0 / 3, 1.0 / 2, 1};
    static constexpr std::array<std::array<double, 5>, 5> rows{{
        {1.0 / 3},
        {1.0 / 6, 1.0 / 6},
        {1.0 / 8, 0, 3.0 / 8},
        {1.0 / 2, 0, -3.0 / 2, 2},
        {1.0 / 6, 0, 0, 2.0 / 3, 1.0 / 6},
    }};
};

using KuttaMerson = FixedStepMethod<KuttaMersonTableau>;

}  // namespace appell
