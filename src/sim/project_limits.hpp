// What Projector judges by, for one run or for several that march together.
#pragma once

#include <cstddef>

namespace appell::projection {

// residuals are scaled by the size of the terms in them: a few dozen roundings is all that is left to gain
inline constexpr double k_round_off = 32 * 2.220446049250313e-16;
// where an iteration that no longer gains counts as converged; rows written promise 1e-12
inline constexpr double k_good_enough = 2e-13;
// scaled residuals of rows that follow from the others are round-off, times what the others leave of it
inline constexpr double k_rows_follow = 1e-9;
// what has moved by more than this part of itself, and of the largest one by a part of it, has moved by more than round-off
inline constexpr double k_moved = 8 * 2.220446049250313e-16, k_moved_of_largest = 1e-3;
// along a step: they do next to the constraints
inline constexpr std::size_t k_most_corrections = 6;

}  // namespace appell::projection
