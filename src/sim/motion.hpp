// What is integrated: the state x = (q, u) and the programs that give its rate, its observed quantities and its corrections
// onto the constraints. Mechanics ends above this header; `sim` sees programs, sizes and names.
//
// Every program has the inputs t, q, u, parameters, in this order. Parameters stand for all that is constant during a run.
// The correction programs are one Newton step each, computed at the state given: apply q += dq or u += du and look again.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tape/program.hpp"

namespace appell {

struct Motion {
    std::size_t coordinates = 0;
    std::size_t speeds = 0;
    std::size_t position_rows = 0;  // rows of the position program; without any the position programs may stay empty
    std::size_t velocity_rows = 0;  // rows of the velocity program, the differentiated position rows among them
    // Which constraint a row of the velocity program, and of the rate's last solve, belongs to; ascending. The components of a
    // vector equation are watched together. Empty: every row is a constraint of its own.
    std::vector<std::size_t> velocity_constraints, rate_constraints;
    std::vector<double> parameters;

    Program rate;                      // outputs "qd" (coordinates), "ud" (speeds)
    Program observe;                   // output "row": the columns of a trajectory row after t
    std::vector<std::string> columns;  // names of "row"
    Program position;                  // outputs "residual", "scaled" (position rows), "dq" (coordinates)
    Program velocity;                  // outputs "residual", "scaled" (velocity rows), "du" (speeds)
    // the same, with the values the user fixed held; used once, at the start. Not there where nothing is fixed.
    Program start_position, start_velocity;
    std::vector<std::size_t> held;                        // indices into x = (q, u) of start values that must not move
    std::vector<std::array<std::size_t, 4>> quaternions;  // coordinate indices kept at unit norm

    // the programs that bring start values onto the constraints
    [[nodiscard]] const Program& for_start_position() const { return start_position.outputs.empty() ? position : start_position; }
    [[nodiscard]] const Program& for_start_velocity() const { return start_velocity.outputs.empty() ? velocity : start_velocity; }
    [[nodiscard]] std::size_t states() const { return coordinates + speeds; }
    [[nodiscard]] std::size_t inputs() const { return 1 + states() + parameters.size(); }
};

}  // namespace appell
