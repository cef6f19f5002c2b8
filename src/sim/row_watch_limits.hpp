// What RowWatch judges by, for one run or for several that march together.
#pragma once

namespace appell::row_watch {

// a turn that is not worth a look, in radians: no singularity that matters turns a gradient by less
inline constexpr double k_small_turn = 0.05, k_cosine_of_small_turn = 0.99875026039496624656;
// stands for rows that come out with another orientation; no angle is that large
inline constexpr double k_over = 4;
// half a step that turns a gradient by more than this may hide more than it shows
inline constexpr double k_notable_turn = 0.4;
// turns of neighbouring parts of a step differ by less than this on a smooth motion that is resolved
inline constexpr double k_uneven = 3;
// sizes that differ by less than this along a step have no zero between them
inline constexpr double k_steady = 0.5;
// a gradient that falls to this part of itself inside one step goes to zero, or so it seems
inline constexpr double k_collapse = 1e-3;
// A singularity that a step goes across is not missed by less than this part of the coordinates and speeds: next to it the errors
// of a run grow beyond all tolerances, and decide to which side it goes.
inline constexpr double k_near = 1e-5;
inline constexpr double k_near_not_projected = 1e-3;
inline constexpr double k_large_turn = 0.5;
// The smallest pivot is as long as the way to where it vanishes, and doubles within that length; so does a gradient.
inline constexpr double k_doubles = 0.5;
// a smallest pivot, or a gradient against the longest it was, that is worth a look at the states around
inline constexpr double k_nearly_lost = 1e-4;
// of the largest speed: what a step that passes through rest may miss it by
inline constexpr double k_rest = 1e-3;
// a component of a vector equation whose square is more than 1/16 of the whole is not short
inline constexpr double k_whole_component = 16;
// of the longest step so far
inline constexpr double k_short_step = 1e-4;
// of the step: what the state does there, continued, is where it would have gone straight on
inline constexpr double k_beginning = 1e-4;
// squares of changes of orthonormal directions, added up, that leave their orientation as it was for certain
inline constexpr double k_same_orientation = 0.9;
// at the start, against states around: the multiplier has lost ten digits
inline constexpr double k_no_gradient = 1e-10;
inline constexpr int k_states_around = 16;
// of a row, what others leave of one that follows from them
inline constexpr double k_follows = 1e-7;

}  // namespace appell::row_watch
