// Which speeds depend on which: rows of A u' = b that are independent at a state, and as many speeds whose rates they determine
// (column_choice.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct SpeedPartition {
    std::vector<std::uint32_t> rows;         // independent ones, ascending
    std::vector<std::uint32_t> redundant;    // the others
    std::vector<std::uint32_t> dependent;    // speeds, ascending, as many as rows
    std::vector<std::uint32_t> independent;  // the others, ascending
    double determinant = 1;                  // |det J2| at the state, rows scaled to unit length
    bool steady = false;                     // det J2 is the same in every state
    // No choice of rows is regular wherever the speeds are determined: `rows` are those of the state, and all of them together
    // serve every state.
    bool takes_turns = false;
};

// `values` has a number for every symbol of the graph. With `dependent`, the speeds are those, and rows are chosen for them: if
// these rows are fewer than the speeds given, the speeds can not all depend on the others at this state.
[[nodiscard]] SpeedPartition choose_speed_partition(const ConstrainedDynamics& dynamics, std::span<const double> values,
                                                    std::span<const std::uint32_t> dependent = {});

// The user's choice of independent speeds in one mode of a system that switches, at a state. A choice that does not fit the rows
// that are on is a preference: of the speeds that were to depend as many do as can, and only where they are too few, or
// determined badly, others.
// It stays as it is where it fits, and where the rows that are always on contradict it.
struct FittedChoice {
    std::vector<std::uint32_t> independent, dependent;
    bool leaves_out = false;  // a speed that was named depends here, and one that was not does not
};
[[nodiscard]] FittedChoice fitted_choice(const ConstrainedDynamics& mode, std::span<const double> values);

// whether the rows that are always on determine as much of the speeds that are to depend as they determine of all
[[nodiscard]] bool choice_fits_what_is_always_on(const ConstrainedDynamics& dynamics, std::span<const double> values);

// whether something switches a constraint of this row on or off
[[nodiscard]] bool switches(const Model& model, const ConstraintRow& row);

// numbers in (0.2, 1.2), always the same, for models whose start state can not be had
[[nodiscard]] std::vector<double> generic_values(const Graph& graph);

}  // namespace appell
