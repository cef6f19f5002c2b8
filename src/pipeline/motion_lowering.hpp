// The programs of a motion (sim/motion.hpp) from the derived dynamics: the rate, the observed row, corrections of positions and
// velocities, the rows of a reduced state, the derivatives of the rate.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dynam/articulated_inertia.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/rate_equations.hpp"
#include "dynam/state_partition.hpp"
#include "expr/conditions.hpp"
#include "expr/substitute.hpp"
#include "sim/motion.hpp"
#include "tape/quadratic_split.hpp"
#include "tape/small_inverse.hpp"

namespace appell {

// One Newton correction as a solve: M x - A' l = 0, A x = -phi for some rows, in new unknowns; its residuals raw and scaled.
struct Correction {
    ConstrainedSolve solve;
    std::vector<NodeId> residual, scaled;
};

// The expressions that a motion depends on: what M, f, A, b, the laws and the rates of the coordinates are made of.
[[nodiscard]] std::vector<NodeId> motion_expressions(const ConstrainedDynamics& dynamics);

// lower_program with conditions frozen, where there are any
[[nodiscard]] Program lower_frozen(Graph& graph, ProgramSpec spec, FrozenConditions* conditions);

class MotionLowering {
public:
    MotionLowering(const ConstrainedDynamics& dynamics, SymbolId length, double rest_speed);

    [[nodiscard]] const std::vector<SymbolId>& inputs() const { return inputs_; }

    // `power` of the works, and the solves it needs beside the equations
    [[nodiscard]] Program rate(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                               std::span<const ConstrainedSolve> solves) const;

    // of Chart
    [[nodiscard]] Program chart(const ChartRows& rows) const {
        return lower({inputs_, {}, {{"rows", rows.rows}, {"inertia", rows.inertia}}});
    }

    // the derivatives of the rate, by x
    [[nodiscard]] RateJacobian jacobian_of(const ConstrainedDynamics& dynamics) const;

    // the equations as they stand; `power` and `solves` as for the rate. None where they are more or fewer than the unknowns
    [[nodiscard]] std::optional<ResidualForm> residual_of(const ConstrainedDynamics& dynamics, std::vector<NodeId> power,
                                                          std::span<const ConstrainedSolve> solves) const;

    // `solves`: what the observed quantities need beside the equations
    [[nodiscard]] Program observe(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> row,
                                  std::span<const ConstrainedSolve> solves) const;

    // corrections by the passes over a tree, in place of M
    void use(const ArticulatedTree* tree) { tree_ = tree; }

    // conditions of the motion, whose sides are further parameters of the run
    void freeze(FrozenConditions& conditions) {
        conditions_ = &conditions;
        for (const Condition& c : conditions.all()) inputs_.push_back(c.side);
    }

    // further parameters of the run
    void add_inputs(std::span<const SymbolId> more) { inputs_.insert(inputs_.end(), more.begin(), more.end()); }

    // Onto the position rows: q moves by K ds with least ds' M ds, or least |dq|^2.
    [[nodiscard]] Program position(bool hold_fixed, bool euclidean = false);

    // onto all rows at velocity level
    [[nodiscard]] Program velocity(bool hold_fixed, bool euclidean = false);

    // the rows that give the dependent coordinates and speeds
    [[nodiscard]] Reduction reduction(const StatePartition& partition);
    // Their corrections with the rate behind them, where these are short; the rate as for rate(). `start`: by symbol.
    [[nodiscard]] std::optional<WrittenRate> written_rate(const StatePartition& partition,
                                                          const std::vector<ConstrainedSolve>& equations,
                                                          std::vector<NodeId> power, std::span<const ConstrainedSolve> solves,
                                                          std::span<const double> start);

private:
    [[nodiscard]] ProgramSpec rate_spec(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                                        std::span<const ConstrainedSolve> solves) const;
    [[nodiscard]] Program lower(ProgramSpec spec) const { return lower_frozen(g_, std::move(spec), conditions_); }
    // with the state as its streamed inputs
    [[nodiscard]] Program streamed(Program program) const;
    [[nodiscard]] std::vector<SymbolId> state_and(std::span<const SymbolId> more) const;  // q, u, more
    // entries of a jacobian as an output, and their places
    [[nodiscard]] OutputGroup slopes(const char* name, std::span<const NodeId> values, std::span<const SymbolId> variables,
                                     MatrixPlaces& places) const;

    struct DependentOutputs {
        std::vector<NodeId> residual, jacobian, moves, scaled;
        std::vector<DependentRows::Move> places;  // of the moves

        void add_row(NodeId phi, NodeId over_its_size) {
            residual.push_back(phi);
            scaled.push_back(over_its_size);
        }
        void add_move(DependentRows::Move place, NodeId value) {
            places.push_back(place);
            moves.push_back(value);
        }
    };

    DependentRows dependent_rows(DependentOutputs outputs, std::size_t directions);

    // rows of one level with their slopes along the directions of the dependent entries
    struct DependentLevel {
        std::vector<std::uint32_t> rows;
        std::vector<NodeId> residuals;
        std::vector<std::vector<NodeId>> slopes;  // row by direction
        std::vector<SymbolId> unknowns;           // by direction
        std::vector<SymbolId> free;               // speeds that the unknowns follow from
        std::span<const double> start;            // by symbol
    };
    // A dependent speed as a function of what is free, and the row whose place the equation of both can take.
    struct SolvedSpeed {
        std::uint32_t row;
        SymbolId speed;
        NodeId value;
    };
    struct CorrectionOutputs {
        std::vector<NodeId> entries, sizes, steps, slopes, determinants, lengths;
        std::vector<SolvedSpeed> solved;
    };
    // The corrections of one level from a state on, which is then the state after them; false where they are not short.
    bool write_corrections(const DependentLevel& level, const StatePartition& partition, WrittenRate::Level& shape,
                           Substitution& state, CorrectionOutputs& out);
    // By row, how its slopes change along the directions, row by row, where this does not depend on the unknowns; empty for a row
    // that is affine. None where it does.
    [[nodiscard]] std::optional<std::vector<std::vector<NodeId>>> bends(const DependentLevel& level,
                                                                        std::span<const double> scales) const;
    // from Newton's step to the solution of a block one of whose rows is quadratic
    void follow_line(const DependentColumns::Block& block, const std::vector<NodeId>& step, const std::vector<NodeId>& line,
                     const std::vector<NodeId>& bend, std::vector<NodeId>& steps, std::vector<NodeId>& slopes) const;
    // the same without roots, where the quadratic row is a product
    [[nodiscard]] std::optional<QuadraticSplit> split_row(const DependentLevel& level, const DependentColumns::Block& block,
                                                          std::size_t quadratic) const;
    // The equations with rows that say  speed = value  in place of those that were solved for their speeds, which have the same
    // normals where they hold, and no quotient of speeds in them. As they were where their multipliers are needed.
    [[nodiscard]] std::vector<ConstrainedSolve> with_solved_speeds(const std::vector<ConstrainedSolve>& equations,
                                                                   std::span<const SolvedSpeed> solved,
                                                                   std::span<const NodeId> power) const;
    // WrittenRate::stage; `whole`: what its program is made of, with its first output alone
    [[nodiscard]] Program stage_program(const ProgramSpec& whole, const WrittenRate& written, const CorrectionOutputs& outputs,
                                        std::size_t independent, std::size_t works) const;
    // At a state, the conditions frozen before: what they compare are other expressions behind the substitution, which nobody
    // knows.
    [[nodiscard]] std::vector<NodeId> frozen_at(std::vector<NodeId> nodes, const Substitution& state) const;
    // a state in place of its symbols, where conditions are frozen
    void put_in(ProgramSpec& spec, const Substitution& state) const;

    // the entries of A_s
    [[nodiscard]] std::span<const SparseEntry> gradient(std::size_t row) const;

    // |A_s|^2 and 1/|A_s|, every speed in its own unit
    NodeId squared_length(std::uint32_t row, const StatePartition& partition);
    NodeId inverse_length(std::uint32_t row, const StatePartition& partition);

    // a slope that is structurally zero is not there
    NodeId product(NodeId slope, NodeId inverse, double scale);

    // a row's residual over |A_s| |u|, or over |A_s| times the model's length; the floor only keeps 0/0 away
    NodeId scaled(std::size_t row, Level level);

    Correction correction(Level level, const std::string& unknown, bool euclidean);
    // how long its rows are in general, where that is far apart; to be asked for when it has all of them
    void add_row_sizes(Level level, Correction& correction) const;
    // the moves, by speed; of a correction with all its rows
    [[nodiscard]] std::vector<NodeId> moves(Correction& correction, bool euclidean) const;

    [[nodiscard]] SparseMatrix unit_matrix(std::size_t size) const;

    // K' K, lower triangle
    [[nodiscard]] SparseMatrix squares_of(const SparseMatrix& K) const;

    // Speeds that move no mass and stand in none of the rows (those of another level may bind them) would leave the solve
    // singular: with a one on the diagonal they stay where they are.
    void keep_unbound(ConstrainedSolve& solve);

    // sum |dphi/dq_i| |q_i|: the round-off of phi where coordinates have grown beyond the model's length, or are angles
    NodeId coordinate_size(NodeId phi);

    void hold(ConstrainedSolve& solve, const std::vector<std::pair<std::uint32_t, NodeId>>& row);

    void hold_coordinate(ConstrainedSolve& solve, std::size_t coordinate) { hold(solve, rate_gradient(coordinate)); }

    // A rate is a function of the coordinates, which may have moved: it is brought to its value like a constraint, and a residual
    // left of it says that it can not be.
    void hold_rate(Correction& c, const StartRate& rate);

    // how a rate depends on the speeds
    [[nodiscard]] std::vector<std::pair<std::uint32_t, NodeId>> rate_gradient(std::size_t coordinate) const;

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    std::vector<SymbolId> inputs_;
    SymbolId length_;
    NodeId speed_;  // |u|
    const ArticulatedTree* tree_ = nullptr;
    FrozenConditions* conditions_ = nullptr;
    std::vector<double> row_sizes_;  // empty: much alike
    bool rows_follow_;               // some from the others
};

}  // namespace appell
