// What is integrated: the state x = (q, u) and the programs that give its rate, its observed quantities and its corrections
// onto the constraints. Mechanics ends above this header; `sim` sees programs, sizes and names.
//
// Behind q and u the integrator carries the works w, w' = power: integrals that nothing depends on, neither the motion nor its
// steps. Where a state is looked at, entries behind q and u are passed over.
//
// Every program has the inputs t, q, u, parameters, in this order. Parameters stand for all that is constant during a run.
// The correction programs are one Newton step each, computed at the state given: apply q += dq or u += du and look again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/neighbours.hpp"
#include "tape/program.hpp"

namespace appell {

// Constraint rows of one level that give the dependent entries of x once the independent ones are known: as many rows as
// directions in which x may move. The program's outputs, at a state:
//     "residual"  by row
//     "jacobian"  rows x directions, row by row: how the residuals change along the directions
//     "moves"     the entries of the directions
//     "scaled"    by row: the residual over the size of its terms, so that round-off can be told
// Rows and directions are scaled such that a row's change along all directions of x, dependent or not, has length one: the
// smallest pivot of the jacobian is what share of the rows the dependent entries have, free of units.
struct DependentRows {
    struct Move {
        std::size_t entry, direction;  // of x, of the jacobian
    };
    Program program;
    std::size_t count = 0;
    std::vector<Move> moves;  // by output "moves"
};

// The rate at a state whose dependent entries are a guess, as one program that corrects them first: for rows that couple in small
// blocks. Its state is in another order, which leaves what is integrated in one piece: the independent entries, then the
// dependent ones by level. Its outputs:
//     "rates"         at the corrected state: of the independent entries, of the works, of the dependent entries
//     "entries"       the dependent ones, after all corrections
//     "sizes"         by level with one correction: of the correction, and of what it leads to, both squared
//     "steps"         by level with several: along the directions, by correction
//     "slopes"        of rows that are quadratic in their dependent entries: what tells that the guess is near the solution
//     "determinants"  by level and block of the jacobian at the last correction, and
//     "lengths"       the squares of what they are small against; for a product that is solved at all states what vanishes where
//                     its factors meet, against nothing: the gradient vanishes there, and no step may lead beyond
struct WrittenRate {
    // Of a quadratic row along the line on which the other rows of its block are solved: at the beginning of the line against the
    // guess, and at the solution against the same, squared where it is no product. Near one both are on the branch of the guess.
    static constexpr double k_least_slope = 0.5;
    struct Level {
        std::vector<std::size_t> entries;  // of x, by direction
        std::vector<double> scales;        // an entry's change along its direction
        // None without rows. One is exact for rows that are affine, or of which one in a block is quadratic; others take several
        // of Newton's.
        std::size_t corrections = 0;
        std::size_t blocks = 0;
    };
    Program program;
    Level position, velocity;
    std::vector<std::size_t> order;  // entries of x, in the order of the program's state

    // The same for the stages of a step, without outputs where a level takes Newton's corrections. Its state are the independent
    // entries alone; behind the parameters there are the dependent ones at some time, their rates, that time, and by determinant
    // what it must be above for rows of unit length, with its sign. Its outputs: the rates of the independent entries and of the
    // works. Its conditions are those under which the outputs above can be believed.
    Program stage;
};

// The reduced state: what is integrated, and the rows that give the rest (reduction.hpp).
struct Reduction {
    std::vector<std::size_t> independent;  // entries of x that are integrated, ascending
    DependentRows position, velocity;
    std::optional<WrittenRate> written;
};

// Equations that take some rates as functions of the others. The program's outputs:
//     "rows"      of the constraints that give them, over the rates of all coordinates, row by row; as many as depend
//     "inertia"   by rate
struct Chart {
    Program program;
    std::vector<std::size_t> dependent;  // coordinates
};

// A function of the state whose passage through zero is an event.
struct Guard {
    enum class Passage { falling, rising, either };
    Passage passage = Passage::either;
    // It is positive by what it stands for (a gap, a margin), whatever round-off says where it starts: going below is a passage.
    bool armed = false;
    double noise = 0;  // values this close to zero are round-off
    // It has no value where its side is not known yet: leaving zero counts.
    bool leaves = false;
    bool essential = false;  // the motion depends on it: a run cannot go on where it has no value
    bool gap = false;        // no row may be written where it is below zero by more than the tolerances
};

using MatrixPlaces = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // row and column

// The derivatives of the rate, for implicit integrators (motion_jacobian.hpp). The program's outputs are entries of matrices,
//     "residual"  of equations that u' solves: by x, then by the unknowns, u' first
//     "rates"     of q': by x
// whose places are here, as row and column.
struct RateJacobian {
    Program program;
    std::size_t equations = 0, unknowns = 0;
    std::size_t rows = 0;  // of constraints, among the equations
    MatrixPlaces residual, rates;
};

// The equations of motion as they stand, for integrators that solve F(t, x, x', z) = 0 (implicit_equations.hpp). The unknowns are
// u' and then z: multipliers, forces of actuators.
struct ResidualForm {
    // inputs of the motion, then the unknowns; outputs "equations" (as many as unknowns), "qd", and "power" where there are works
    Program equations;
    Program slopes;    // same inputs; outputs "residual", "rates" as RateJacobian has them, and "powers" like "residual"
    Program solution;  // inputs of the motion; output "unknowns"
    std::size_t unknowns = 0;
    MatrixPlaces residual, rates, powers;
};

// Gains that bring a violation back within some ten steps of size h: a double root at -1/(10 h). Stability would allow ten times
// as much, but what drifts within a step would then be worth more to the estimate of its error than the motion itself.
[[nodiscard]] inline std::array<double, 3> gains_of_step(double h) { return {-0.2 / h, -0.01 / (h * h), -0.1 / h}; }

struct Motion {
    std::size_t coordinates = 0;
    std::size_t speeds = 0;
    std::size_t position_rows = 0;  // rows of the position program; without any the position programs may stay empty
    std::size_t velocity_rows = 0;  // rows of the velocity program, the differentiated position rows among them
    // Which constraint a row of the velocity program, and of the rate's last solve, belongs to; ascending. The components of a
    // vector equation are watched together. Empty: every row is a constraint of its own.
    std::vector<std::size_t> velocity_constraints, rate_constraints;
    std::vector<double> parameters;
    // Among the parameters: sides of conditions in laws, 1 or -1 while they are frozen (expr/conditions.hpp).
    std::size_t first_side = 0, sides = 0;
    double length = 1;  // of the model: what gaps are small against

    Program rate;                      // outputs "qd" (coordinates), "ud" (speeds), and "power" where there are works
    Program observe;                   // output "row": the columns of a trajectory row after t
    std::vector<std::string> columns;  // names of "row"
    std::vector<std::string> works;    // names of the works
    std::size_t work_columns = 0;      // of "row": where they are put in
    Program position;                  // outputs "residual", "scaled" (position rows), "dq" (coordinates)
    Program velocity;                  // outputs "residual", "scaled" (velocity rows), "du" (speeds)
    // The same, with the values the user fixed held; used once, at the start. Not there where nothing is fixed. They may have
    // further residuals: what must come to a value of its own.
    Program start_position, start_velocity;
    std::vector<std::size_t> held;                        // indices into x = (q, u) of start values that must not move
    std::vector<std::array<std::size_t, 4>> quaternions;  // coordinate indices kept at unit norm
    std::optional<Reduction> reduction;                   // without: all of x is integrated
    std::optional<Chart> chart;                           // without: the equations hold wherever they can be solved
    std::optional<RateJacobian> jacobian;                 // where it is wanted
    std::optional<ResidualForm> residual;                 // likewise
    // Where in the parameters the gains G1, G2, G of Baumgarte's damping are, when the run shall choose them from its steps
    std::optional<std::size_t> step_gains;

    // output "guard", by guard; not there without any. The first guards are those of t, q and u alone, the others need solves.
    Program guard, guard_by_solves;
    std::vector<Guard> guards;
    // Parameters that remember where the motion was: at every accepted state output "follow" of this program is put into them.
    Program follow;
    std::vector<std::size_t> followed;  // indices in `parameters`
    bool repeats_rows = false;          // rows depend on each other by how they were made: no news for the user
    Neighbours* neighbours = nullptr;   // other motions with the same programs, that are evaluated together with this one

    // the programs that bring start values onto the constraints
    [[nodiscard]] const Program& for_start_position() const { return start_position.outputs.empty() ? position : start_position; }
    [[nodiscard]] const Program& for_start_velocity() const { return start_velocity.outputs.empty() ? velocity : start_velocity; }
    [[nodiscard]] std::size_t states() const { return coordinates + speeds; }
    [[nodiscard]] std::size_t carried() const { return states() + works.size(); }  // q, u, w
    [[nodiscard]] std::size_t inputs() const { return 1 + states() + parameters.size(); }
};

}  // namespace appell
