// Programs of one mode that look at the conditions in its laws (expr/conditions.hpp): where they are, how they move, and what a
// switch of theirs changes at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/lower_motion.hpp"
#include "sim/motion_program.hpp"

namespace appell {

struct LawPrograms {
    // by condition: "value" of its guard, "size" of what is compared, and "rate" of the guard along the motion
    Program values;
    // "value" by condition of time alone, of nothing but time
    Program clock;
    std::vector<std::size_t> of_time;  // conditions
    // "place": positions and directions that depend on sides
    Program places;
    std::vector<std::string> place_names;  // by entry of "place"
    // "momentum": the derivatives of the kinetic energy by the speeds; "kinetic" and "potential" energy. Where velocities or
    // energies can change with the sides.
    Program momenta;
    // "jump" of the speeds from a change of the momenta, which are further inputs after those of the motion, and from the rows'
    // residuals
    Program impulse;

    std::optional<MotionProgram> look, place, momentum;
    const Motion* motion = nullptr;  // that they belong to
    std::size_t first_side = 0, conditions = 0;

    void set_parameter(std::size_t index, double value);
};

// Solves of the motion's equations are taken from `lowered`, with conditions already found.
void make_law_programs(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, FrozenConditions& conditions,
                       LawPrograms& out);

// A change of the sides can change velocities or energies at once.
[[nodiscard]] bool switches_may_jump(const ConstrainedDynamics& dynamics, FrozenConditions& conditions);

}  // namespace appell
