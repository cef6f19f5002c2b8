// Which coordinates and speeds are integrated by `minimal`, and which rows give the others (000 secs. 2-4; design section 4).
//
// A dependent coordinate is solved from the position rows. Coordinates of a quaternion are never solved for one by one: each of
// them alone fails somewhere on a turn. The quaternion is integrated whole, and where position rows bind it, it is put right by
// small turns along dependent speeds, dq = K ds, as projection does. Dependent speeds are solved from all rows that restrict
// velocities, differentiated position rows among them; the rate of a dependent coordinate depends, too, where it is a speed.
// Rows on accelerations restrict no velocity and take no part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct StatePartition {
    struct Direction {
        bool turn;            // along a speed; otherwise a coordinate
        std::uint32_t index;  // of the speed or the coordinate
        double scale;
    };
    std::vector<std::uint32_t> position_rows;  // independent ones, indices into the dynamics' rows
    std::vector<Direction> directions;         // as many: what solves them
    std::vector<std::uint32_t> velocity_rows;
    // What a run solves: these rows; or all of the level, where no choice of them is regular wherever all of them together are,
    // so that others stand in for them as the motion goes.
    std::vector<std::uint32_t> solved_position_rows, solved_velocity_rows;
    std::vector<std::uint32_t> dependent_speeds;
    std::vector<std::uint32_t> coordinates, speeds;  // the independent ones, which are integrated

    // what stands for one unit of each speed, so that metres and radians compare: 1/sqrt(M_jj) at the state
    std::vector<double> speed_scale;
};

// At a state on the constraints; `values` has a number for every symbol of the graph. Speeds that the user named independent stay
// so. A choice that the rows do not allow is a diagnostic.
[[nodiscard]] Result<StatePartition> choose_state_partition(const ConstrainedDynamics& dynamics, std::span<const double> values);

}  // namespace appell
