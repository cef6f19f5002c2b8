// Programs of one mode that look at the conditions in its laws (expr/conditions.hpp): where they are, how they move, and what a
// switch of theirs changes at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/lower_motion.hpp"
#include "sim/motion_program.hpp"
#include "tape/enclosure.hpp"

namespace appell {

struct LawPrograms {
    // by condition: "value" of its guard, "size" of what is compared, "rate" of the guard along the motion, and "rate size" of
    // the terms of that; likewise "second" and "second size" of the rate's rate, where that is known
    Program values;
    Program guards;  // "value" alone
    // by condition of time alone: its "value", of nothing but time; and whether other conditions are part of it
    std::vector<Program> clocks;
    std::vector<std::size_t> of_time;  // conditions
    std::vector<bool> nested;
    // by condition: laws jump there, and no speeds are compared, whose second rates would be those of accelerations
    std::vector<bool> has_second;
    // "place": positions and directions that depend on sides
    Program places;
    std::vector<std::string> place_names;  // by entry of "place"
    // "momentum" of every mass and every turning body, by component; "potential" and "kinetic" energy. Where velocities
    // or energies can change with the sides.
    Program momenta;
    // "jump" of the speeds towards those that satisfy the rows and change the momenta least; the momenta before are further
    // inputs after those of the motion. Where rows are not linear in the speeds, one step of Newton's method.
    Program impulse;

    std::optional<MotionProgram> look, place, momentum;
    std::optional<Enclosure> bounds;  // of "value"
    const Motion* motion = nullptr;   // that they belong to
    std::size_t first_side = 0, conditions = 0;

    void set_parameter(std::size_t index, double value);
};

// Solves of the motion's equations are taken from `lowered`, with conditions already found.
void make_law_programs(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, FrozenConditions& conditions,
                       LawPrograms& out);

// A change of the sides can change velocities or energies at once.
[[nodiscard]] bool switches_may_jump(const ConstrainedDynamics& dynamics, const FrozenConditions& conditions);

}  // namespace appell
