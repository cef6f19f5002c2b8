// The linear equations of a system over its independent variations, at any state on the constraints (linearization.hpp), and
// which coordinates they do not contain.
#pragma once

#include "doctor/motion_equations.hpp"

namespace appell {

// Variations that follow from the others, and the rows that they follow from.
struct Dependence {
    std::vector<std::size_t> position_rows, velocity_rows;               // among those of MotionEquations
    std::vector<std::size_t> dependent_configuration, dependent_speeds;  // variations; speeds counted from zero
    std::vector<std::size_t> independent;                                // variations: configuration, speeds

    friend bool operator==(const Dependence&, const Dependence&) = default;
};

// y' = A y + B w over all independent variations
struct Reduced {
    bool ok = false, determined = true;
    Matrix50 A, B;
    MotionNumbers numbers;
};

// The partition of the state (dynam/state_partition.hpp) in terms of variations: where it turns a quaternion along speeds, turns
// about the frame's axes are chosen instead. False, with diagnostics, where there is none.
[[nodiscard]] bool choose_dependence(MotionEquations& motion, std::span<const Digits50> point, const MotionNumbers& at,
                                     Dependence& out, Diagnostics& diagnostics);

[[nodiscard]] Reduced reduce(const MotionNumbers& at, const MotionEquations& motion, const Dependence& dependence);

// Of candidates (places among the independent variations), those whose columns are zero in the rows of everything else. A row of
// one that is not ignorable must not contain one that is, so that dropping one may drop others.
void keep_ignorable(const Dependence& dependence, const Matrix50& A, std::vector<std::size_t>& ignorable);

// Coordinates and turns that the reduced equations do not contain at random states near the point, parameters as they are; none
// where no such state is found. `rank`: of the rows on velocities there.
[[nodiscard]] std::vector<std::size_t> find_ignorable(MotionEquations& motion, const Dependence& dependence,
                                                      const std::vector<Digits50>& point, const Column50& units,
                                                      std::uint64_t seed, std::size_t& rank);

[[nodiscard]] Matrix50 columns_of(const Matrix50& m, const std::vector<std::size_t>& columns);
[[nodiscard]] Matrix50 rows_of(const Matrix50& m, const std::vector<std::size_t>& rows);

}  // namespace appell
