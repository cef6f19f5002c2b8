// Newton's iteration onto a set of equations of the state, by the least change in the metric of mass: onto the constraints, an
// equilibrium, a steady motion. With fifty digits.
#pragma once

#include <string>
#include <vector>

#include "doctor/motion_equations.hpp"

namespace appell {

// What shall hold. `index`: of the row among position or velocity rows, of the speed, of the variation.
struct TrimEquation {
    enum class Kind { position, velocity, speed_rate, rate, value };
    Kind kind;
    std::size_t index;
    Digits50 target = Digits50(0);  // of a rate or a value
};

struct TrimSearch {
    bool converged = false;
    bool finite = true;
    std::size_t worst = 0;  // of the equations, where it did not
    Digits50 residual;      // of that one
    bool nearly = false;    // it came close, but slowly: towards a state where the equations are singular
    MotionNumbers numbers;  // at the point left behind
};

// u' by configuration and speeds. `determined`: the equations give u', whatever they leave open of the multipliers.
struct SpeedRateSlopes {
    Matrix50 by_x;
    bool determined = true;
};
[[nodiscard]] SpeedRateSlopes speed_rate_slopes(const MotionNumbers& numbers, const Matrix50& directions);

// what stands for one unit of each variation: 1/sqrt of its inertia
[[nodiscard]] Column50 units_of(const MotionNumbers& numbers);

// Moves the point along the variations `free` (all: empty) until the equations hold to 1e-40 of the size of their terms.
[[nodiscard]] TrimSearch search(MotionEquations& equations, std::vector<Digits50>& point, const std::vector<TrimEquation>& wanted,
                                const Column50& units, const std::vector<std::size_t>& free = {});

}  // namespace appell
