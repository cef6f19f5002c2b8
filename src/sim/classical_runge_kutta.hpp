// The classical method of Runge and Kutta, of order 4, with a fixed step.
#pragma once

#include <array>

#include "sim/fixed_step_method.hpp"

namespace appell {

struct ClassicalTableau {
    static constexpr std::array<double, 3> nodes{1.0 / 2, 1.0 / 2, 1};
    static constexpr std::array<std::array<double, 4>, 4> rows{{
        {1.0 / 2},
        {0, 1.0 / 2},
        {0, 0, 1},
        {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
    }};
};

using ClassicalRungeKutta = FixedStepMethod<ClassicalTableau>;

}  // namespace appell
