#include "pipeline/motion_lowering.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "dynam/motion_residual.hpp"
#include "dynam/row_sizes.hpp"
#include "expr/dependence.hpp"
#include "pipeline/lower_motion.hpp"
#include "tape/closed_solve.hpp"

namespace appell {

namespace {

std::vector<NodeId*> nodes_in(ProgramSpec& spec) {
    std::vector<NodeId*> places;
    const auto add = [&](std::vector<NodeId>& nodes) {
        for (NodeId& id : nodes) places.push_back(&id);
    };
    for (ConstrainedSolve& solve : spec.solves) {
        for (SparseMatrix* matrix : {&solve.M, &solve.A, &solve.law_slope, &solve.S, &solve.D})
            for (SparseEntry& e : matrix->entries) places.push_back(&e.value);
        for (std::vector<NodeId>* nodes : {&solve.f, &solve.b, &solve.law, &solve.s}) add(*nodes);
        ClosedForm<NodeId>& closed = solve.closed;
        for (std::vector<NodeId>* nodes :
             {&closed.x, &closed.lambda, &closed.mass_pivots, &closed.mass_diagonal, &closed.row_pivots, &closed.row_diagonal})
            add(*nodes);
    }
    for (OutputGroup& group : spec.outputs) add(group.values);
    for (auto& [more, less] : spec.at_least) places.insert(places.end(), {&more, &less});
    return places;
}

}  // namespace

std::vector<NodeId> motion_expressions(const ConstrainedDynamics& d) {
    std::vector<NodeId> out = d.inertia->values();
    out.push_back(d.kinetic_energy);  // the velocities of all masses
    out.insert(out.end(), d.b.begin(), d.b.end());
    out.insert(out.end(), d.C.begin(), d.C.end());
    const auto rates = d.kinematics->coordinate_rates();
    out.insert(out.end(), rates.begin(), rates.end());
    for (const SparseMatrix* matrix : {&d.A, &d.D, &d.kinematics->K()})
        for (const SparseEntry& e : matrix->entries) out.push_back(e.value);
    for (const ConstraintRow& row : d.rows)
        for (const NodeId phi : {row.position, row.velocity})
            if (phi.valid()) out.push_back(phi);
    return out;
}

namespace {

void freeze_in(ProgramSpec& spec, FrozenConditions* conditions) {
    if (conditions != nullptr && !conditions->empty())
        for (NodeId* const node : nodes_in(spec)) *node = (*conditions)(*node);
}

}  // namespace

Program lower_frozen(Graph& graph, ProgramSpec spec, FrozenConditions* conditions) {
    freeze_in(spec, conditions);
    return lower_program(graph, spec);
}

MotionLowering::MotionLowering(const ConstrainedDynamics& dynamics, SymbolId length, double rest_speed)
    : d_(dynamics),
      m_(*dynamics.model),
      g_(dynamics.graph()),
      inputs_(program_inputs(m_)),
      length_(length),
      row_sizes_(row_sizes(dynamics)),
      rows_follow_(!row_sizes_.empty() && rows_follow_from_others(dynamics)) {
    inputs_.push_back(length);
    for (const SlipSymbols& slip : dynamics.slips)
        for (const SymbolId symbol : slip.all()) inputs_.push_back(symbol);
    std::vector<NodeId> squares;
    for (const Speed& s : m_.speeds) squares.push_back(g_.pow(g_.symbol_node(s.u), 2));
    squares.push_back(g_.constant(rest_speed * rest_speed));
    speed_ = g_.make(Op::Sqrt, g_.sum(squares));
}

Program MotionLowering::rate(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                             std::span<const ConstrainedSolve> solves) const {
    return streamed(lower(rate_spec(equations, std::move(power), solves)));
}

ProgramSpec MotionLowering::rate_spec(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                                      std::span<const ConstrainedSolve> solves) const {
    ProgramSpec spec{inputs_, {solves.begin(), solves.end()}, {}};
    spec.solves.insert(spec.solves.end(), equations.begin(), equations.end());
    const auto rates = d_.kinematics->coordinate_rates();
    spec.outputs.push_back({"qd", {rates.begin(), rates.end()}});
    std::vector<NodeId> ud;
    for (const Speed& s : m_.speeds) ud.push_back(g_.symbol_node(s.rate));
    spec.outputs.push_back({"ud", std::move(ud)});
    if (!power.empty()) spec.outputs.push_back({"power", std::move(power)});
    return spec;
}

Program MotionLowering::streamed(Program program) const {
    program.stream_begin = 1;  // q and u, behind t
    program.stream_end = static_cast<Slot>(1 + m_.coordinates.size() + m_.speeds.size());
    return program;
}

std::vector<SymbolId> MotionLowering::state_and(std::span<const SymbolId> more) const {
    std::vector<SymbolId> out;
    for (const Coordinate& c : m_.coordinates) out.push_back(c.q);
    for (const Speed& s : m_.speeds) out.push_back(s.u);
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

OutputGroup MotionLowering::slopes(const char* name, std::span<const NodeId> values, std::span<const SymbolId> variables,
                                   MatrixPlaces& places) const {
    OutputGroup out{name, {}};
    for (const SparseEntry& e : jacobian(g_, values, variables).entries) {
        places.emplace_back(e.row, e.column);
        out.values.push_back(e.value);
    }
    return out;
}

RateJacobian MotionLowering::jacobian_of(const ConstrainedDynamics& dynamics) const {
    RateJacobian out;
    const MotionResidual residual = motion_residual(dynamics);
    ProgramSpec spec{inputs_, residual.solves, {}};
    spec.outputs.push_back(slopes("rates", d_.kinematics->coordinate_rates(), state_and({}), out.rates));
    spec.outputs.push_back(slopes("residual", residual.equations, state_and(residual.unknowns), out.residual));
    out.equations = residual.equations.size();
    out.unknowns = residual.unknowns.size();
    out.rows = residual.rows;
    out.program = lower(spec);
    return out;
}

std::optional<ResidualForm> MotionLowering::residual_of(const ConstrainedDynamics& dynamics, std::vector<NodeId> power,
                                                        std::span<const ConstrainedSolve> solves) const {
    if (!dynamics.shared.empty()) return std::nullopt;  // what the multipliers of the members are is known behind a solve alone
    ResidualForm out;
    const MotionResidual residual = motion_residual(dynamics);
    if (residual.equations.size() != residual.unknowns.size()) return std::nullopt;
    out.unknowns = residual.unknowns.size();
    std::vector<SymbolId> inputs = inputs_;
    inputs.insert(inputs.end(), residual.unknowns.begin(), residual.unknowns.end());
    ProgramSpec equations{inputs, {solves.begin(), solves.end()}, {{"equations", residual.equations}}};
    const auto rates = d_.kinematics->coordinate_rates();
    equations.outputs.push_back({"qd", {rates.begin(), rates.end()}});
    if (!power.empty()) equations.outputs.push_back({"power", power});
    out.equations = lower(equations);
    const std::vector<SymbolId> variables = state_and(residual.unknowns);
    ProgramSpec derivatives{inputs, {}, {}};
    derivatives.outputs.push_back(slopes("rates", rates, state_and({}), out.rates));
    derivatives.outputs.push_back(slopes("residual", residual.equations, variables, out.residual));
    // a power that needs more than the unknowns has no slopes: nothing depends on a work, so that its own equation alone takes a
    // correction more
    derivatives.outputs.push_back(slopes("powers", solves.empty() ? power : std::vector<NodeId>{}, variables, out.powers));
    out.slopes = lower(derivatives);
    std::vector<NodeId> unknowns;
    for (const SymbolId symbol : residual.unknowns) unknowns.push_back(g_.symbol_node(symbol));
    out.solution = lower({inputs_, residual.solves, {{"unknowns", std::move(unknowns)}}});
    return out;
}

Program MotionLowering::observe(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> row,
                                std::span<const ConstrainedSolve> solves) const {
    std::vector<ConstrainedSolve> all(solves.begin(), solves.end());
    all.insert(all.end(), equations.begin(), equations.end());
    return lower({inputs_, std::move(all), {{"row", std::move(row)}}});
}

Program MotionLowering::position(bool hold_fixed, bool euclidean) {
    Correction c = correction(Level::position, "ds", euclidean);
    if (c.residual.empty()) return {};
    if (euclidean) c.solve.M = squares_of(d_.kinematics->K());
    if (hold_fixed)
        for (std::size_t i = 0; i < m_.coordinates.size(); ++i)
            if (m_.coordinates[i].fixed) hold_coordinate(c.solve, i);
    add_row_sizes(Level::position, c);
    const std::vector<NodeId> ds = moves(c, euclidean);
    std::vector<NodeId> dq(m_.coordinates.size(), g_.constant(0));
    for (const SparseEntry& e : d_.kinematics->K().entries) dq[e.row] = g_.add(dq[e.row], g_.mul(e.value, ds[e.column]));
    return lower({inputs_, {c.solve}, {{"residual", c.residual}, {"scaled", c.scaled}, {"dq", dq}}});
}

Program MotionLowering::velocity(bool hold_fixed, bool euclidean) {
    Correction c = correction(Level::velocity, "du", euclidean);
    if (c.residual.empty()) return {};
    if (euclidean) c.solve.M = unit_matrix(m_.speeds.size());
    if (hold_fixed) {
        // rates first: their residuals follow those of the constraints, row by row
        for (const StartRate& rate : m_.start_rates)
            if (rate.fixed) hold_rate(c, rate);
        for (std::size_t i = 0; i < m_.speeds.size(); ++i)
            if (m_.speeds[i].fixed) hold(c.solve, {{static_cast<std::uint32_t>(i), g_.constant(1)}});
    }
    add_row_sizes(Level::velocity, c);
    const std::vector<NodeId> du = moves(c, euclidean);
    return lower({inputs_, {c.solve}, {{"residual", c.residual}, {"scaled", c.scaled}, {"du", du}}});
}

Reduction MotionLowering::reduction(const StatePartition& partition) {
    Reduction out;
    const std::size_t nq = m_.coordinates.size();
    for (const std::uint32_t i : partition.coordinates) out.independent.push_back(i);
    for (const std::uint32_t j : partition.speeds) out.independent.push_back(nq + j);

    std::vector<SymbolId> q;
    for (const Coordinate& c : m_.coordinates) q.push_back(c.q);
    DependentOutputs position;
    for (const std::uint32_t row : partition.solved_position_rows) {
        const NodeId phi = d_.rows[row].position, inverse = inverse_length(row, partition);
        const SparseMatrix slopes = jacobian(g_, std::span(&phi, 1), q, DerivativeMode::automatic);
        position.add_row(g_.mul(phi, inverse), scaled(row, Level::position));
        for (const StatePartition::Direction& along : partition.directions) {
            const NodeId slope = along.turn ? d_.A.find(row, along.index) : slopes.find(0, along.index);
            position.jacobian.push_back(product(slope, inverse, along.scale));
        }
    }
    for (std::size_t k = 0; k < partition.directions.size(); ++k) {
        const StatePartition::Direction& along = partition.directions[k];
        if (!along.turn) position.add_move({along.index, k}, g_.constant(along.scale));
        for (const SparseEntry& e : d_.kinematics->K().entries)
            if (along.turn && e.column == along.index) position.add_move({e.row, k}, g_.mul(e.value, g_.constant(along.scale)));
    }
    out.position = dependent_rows(std::move(position), partition.directions.size());

    DependentOutputs velocity;
    for (const std::uint32_t row : partition.solved_velocity_rows) {
        const NodeId inverse = inverse_length(row, partition);
        velocity.add_row(g_.mul(d_.rows[row].velocity, inverse), scaled(row, Level::velocity));
        for (const std::uint32_t j : partition.dependent_speeds)
            velocity.jacobian.push_back(product(d_.A.find(row, j), inverse, partition.speed_scale[j]));
    }
    for (std::size_t k = 0; k < partition.dependent_speeds.size(); ++k) {
        const std::uint32_t j = partition.dependent_speeds[k];
        velocity.add_move({nq + j, k}, g_.constant(partition.speed_scale[j]));
    }
    out.velocity = dependent_rows(std::move(velocity), partition.dependent_speeds.size());
    return out;
}

DependentRows MotionLowering::dependent_rows(DependentOutputs outputs, std::size_t directions) {
    DependentRows out;
    out.count = directions;
    out.moves = std::move(outputs.places);
    if (out.count == 0) return out;
    out.program = lower({inputs_,
                         {},
                         {{"residual", std::move(outputs.residual)},
                          {"jacobian", std::move(outputs.jacobian)},
                          {"moves", std::move(outputs.moves)},
                          {"scaled", std::move(outputs.scaled)}}});
    return out;
}

std::optional<std::vector<std::vector<NodeId>>> MotionLowering::bends(const DependentLevel& level,
                                                                      std::span<const double> scales) const {
    const std::size_t n = level.rows.size();
    const auto constant = [&](std::span<const NodeId> values) {
        const std::vector<SymbolId> present = symbols_in(g_, values);
        return std::ranges::none_of(level.unknowns, [&](SymbolId u) { return std::ranges::binary_search(present, u); });
    };
    std::vector<std::vector<NodeId>> out(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (constant(level.slopes[i])) continue;
        out[i].assign(n * n, g_.constant(0));
        for (const SparseEntry& e : jacobian(g_, level.slopes[i], level.unknowns).entries)
            out[i][e.row * n + e.column] = g_.mul(e.value, g_.constant(scales[e.column]));
        if (!constant(out[i])) return std::nullopt;
    }
    return out;
}

// The slopes of the rows at the guess give Newton's step p, which solves the affine rows of the block, and the line n along which
// they stay solved while the quadratic row rises by one. On the line that row is  p'Hp/2 + (1 + p'Hn) s + n'Hn s^2/2, of which
// the root next to p is taken. Here p and n are times the determinant D, so that nothing waits for 1/D but the result.
void MotionLowering::follow_line(const DependentColumns::Block& block, const std::vector<NodeId>& step,
                                 const std::vector<NodeId>& line, const std::vector<NodeId>& bend, std::vector<NodeId>& steps,
                                 std::vector<NodeId>& slopes) const {
    const std::size_t n = line.size();
    std::vector<NodeId> along_step, along_line;
    for (std::size_t k = 0; k < n; ++k) {
        const std::span<const NodeId> row(&bend[k * n], n);
        along_step.push_back(dot_product(g_, row, step));
        along_line.push_back(dot_product(g_, row, line));
    }
    const NodeId rest = dot_product(g_, step, along_step);
    const NodeId slope = g_.add(g_.mul(block.determinant, block.determinant), dot_product(g_, line, along_step));
    const NodeId discriminant = g_.sub(g_.mul(slope, slope), g_.mul(dot_product(g_, line, along_line), rest));
    const NodeId way = g_.div(rest, g_.add(slope, g_.make(Op::Sqrt, discriminant)));
    for (const std::size_t k : block.unknowns) steps[k] = g_.mul(g_.sub(step[k], g_.mul(way, line[k])), block.reciprocal);
    const NodeId square = g_.mul(block.reciprocal, block.reciprocal);
    slopes.insert(slopes.end(), {g_.mul(slope, square), g_.mul(g_.mul(discriminant, square), square)});
}

std::optional<QuadraticSplit> MotionLowering::split_row(const DependentLevel& level, const DependentColumns::Block& block,
                                                        std::size_t quadratic) const {
    if (level.free.empty()) return std::nullopt;
    QuadraticBlock out;
    for (const std::size_t row : block.rows)
        if (row != quadratic) out.residuals.push_back(level.residuals[row]);
    out.residuals.push_back(level.residuals[quadratic]);
    for (const std::size_t k : block.unknowns) out.unknowns.push_back(level.unknowns[k]);
    return split_quadratic(g_, out, level.free, level.start);
}

bool MotionLowering::write_corrections(const DependentLevel& level, const StatePartition& partition, WrittenRate::Level& shape,
                                       Substitution& state, CorrectionOutputs& out) {
    constexpr std::size_t k_newtons = 3;
    const std::size_t n = level.rows.size();
    if (n == 0) return true;
    std::vector<NodeId> all = level.residuals;
    for (const std::vector<NodeId>& row : level.slopes) all.insert(all.end(), row.begin(), row.end());
    const std::optional<std::vector<std::vector<NodeId>>> bent = bends(level, shape.scales);
    const auto quadratic = [&](std::size_t row) { return !(*bent)[row].empty(); };
    std::vector<std::size_t> directions(n);
    std::iota(directions.begin(), directions.end(), std::size_t{0});
    std::vector<NodeId> entries(n);
    for (std::size_t k = 0; k < n; ++k) entries[k] = g_.symbol_node(level.unknowns[k]);
    shape.corrections = k_newtons;
    for (std::size_t correction = 0; correction < shape.corrections; ++correction) {
        const std::vector<NodeId> here = frozen_at(all, state);
        std::vector<std::vector<NodeId>> J(n);
        for (std::size_t i = 0; i < n; ++i) J[i].assign(&here[n + i * n], &here[n + i * n] + n);
        const std::optional<DependentColumns> columns = invert_columns(g_, J, directions);
        if (!columns) return false;
        const auto solved_along_a_line = [&](const DependentColumns::Block& block) {
            return std::ranges::count_if(block.rows, quadratic) <= 1;
        };
        if (bent && std::ranges::all_of(columns->blocks, solved_along_a_line)) shape.corrections = 1;
        const auto residual = [&](std::size_t row) { return g_.neg(here[row]); };
        std::vector<NodeId> steps = columns->times_inverse(g_, residual);
        std::vector<NodeId> values(n);
        std::vector<NodeId> sides(columns->blocks.size());  // of blocks that are solved everywhere
        for (std::size_t b = 0; b < columns->blocks.size(); ++b) {
            const DependentColumns::Block& block = columns->blocks[b];
            for (const std::size_t row : block.rows) {
                if (shape.corrections > 1 || !quadratic(row)) continue;
                if (const auto split = split_row(level, block, row)) {
                    const std::vector<NodeId> solution = frozen_at(split->values, state);
                    const std::vector<NodeId> spread = frozen_at(split->spread, state);
                    for (std::size_t k = 0; k < block.unknowns.size(); ++k) {
                        const std::size_t unknown = block.unknowns[k];
                        values[unknown] = solution[k];
                        steps[unknown] = g_.mul(spread[k], g_.constant(1 / shape.scales[unknown]));
                        out.solved.push_back({level.rows[block.rows[k]], level.unknowns[unknown], split->values[k]});
                    }
                    out.slopes.push_back(frozen_at({split->slope}, state).front());
                    if (split->everywhere) sides[b] = frozen_at({split->side}, state).front();
                    continue;
                }
                std::vector<NodeId> step(n, g_.constant(0)), line = step;
                for (const std::size_t k : block.unknowns) {
                    step[k] = columns->numerator(g_, block, k, residual);
                    line[k] = columns->cofactors[k][row];
                }
                follow_line(block, step, line, frozen_at((*bent)[row], state), steps, out.slopes);
            }
        }
        for (std::size_t k = 0; k < n; ++k) {
            const NodeId moved = g_.add(entries[k], g_.mul(g_.constant(shape.scales[k]), steps[k]));
            entries[k] = values[k].valid() ? values[k] : moved;
        }
        if (shape.corrections == 1) {
            std::vector<NodeId> reached(n);
            for (std::size_t k = 0; k < n; ++k) reached[k] = g_.mul(entries[k], g_.constant(1 / shape.scales[k]));
            out.sizes.insert(out.sizes.end(), {dot_product(g_, steps, steps), dot_product(g_, reached, reached)});
        } else {
            out.steps.insert(out.steps.end(), steps.begin(), steps.end());
        }
        if (correction + 1 == shape.corrections) {
            shape.blocks = columns->blocks.size();
            for (std::size_t b = 0; b < columns->blocks.size(); ++b) {
                const DependentColumns::Block& block = columns->blocks[b];
                if (sides[b].valid()) {
                    out.determinants.push_back(sides[b]);
                    out.lengths.push_back(g_.constant(0));
                    continue;
                }
                out.determinants.push_back(block.determinant);
                NodeId lengths = g_.constant(1);
                for (const std::size_t i : block.rows) lengths = g_.mul(lengths, squared_length(level.rows[i], partition));
                out.lengths.push_back(frozen_at({lengths}, state).front());
            }
        }
        for (std::size_t k = 0; k < n; ++k) state.set(level.unknowns[k], entries[k]);
    }
    out.entries.insert(out.entries.end(), entries.begin(), entries.end());
    return true;
}

std::optional<WrittenRate> MotionLowering::written_rate(const StatePartition& partition,
                                                        const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                                                        std::span<const ConstrainedSolve> solves, std::span<const double> start) {
    // beyond, the loop over the rows is as fast
    constexpr std::size_t k_most_rows = 6, k_most_instructions = 600;
    WrittenRate out;
    const std::size_t nq = m_.coordinates.size();
    if (partition.solved_velocity_rows.empty() || partition.solved_velocity_rows.size() > k_most_rows) return std::nullopt;
    for (const Frame& frame : m_.frames)
        if (std::holds_alternative<QuaternionRotation>(frame.orientation)) return std::nullopt;

    std::vector<SymbolId> q;
    for (const Coordinate& c : m_.coordinates) q.push_back(c.q);
    DependentLevel position{partition.solved_position_rows, {}, {}, {}, {}, start};
    for (const StatePartition::Direction& along : partition.directions) {
        position.unknowns.push_back(q[along.index]);
        out.position.entries.push_back(along.index);
        out.position.scales.push_back(along.scale);
    }
    for (const std::uint32_t row : position.rows) {
        const NodeId phi = d_.rows[row].position;
        const SparseMatrix slopes = jacobian(g_, std::span(&phi, 1), q, DerivativeMode::automatic);
        position.residuals.push_back(phi);
        std::vector<NodeId>& entries = position.slopes.emplace_back();
        for (const StatePartition::Direction& along : partition.directions)
            entries.push_back(product(slopes.find(0, along.index), g_.constant(1), along.scale));
    }
    DependentLevel velocity{partition.solved_velocity_rows, {}, {}, {}, {}, start};
    for (const std::uint32_t j : partition.speeds) velocity.free.push_back(m_.speeds[j].u);
    for (const std::uint32_t j : partition.dependent_speeds) {
        velocity.unknowns.push_back(m_.speeds[j].u);
        out.velocity.entries.push_back(nq + j);
        out.velocity.scales.push_back(partition.speed_scale[j]);
    }
    for (const std::uint32_t row : velocity.rows) {
        velocity.residuals.push_back(d_.rows[row].velocity);
        std::vector<NodeId>& entries = velocity.slopes.emplace_back();
        for (const std::uint32_t j : partition.dependent_speeds)
            entries.push_back(product(d_.A.find(row, j), g_.constant(1), partition.speed_scale[j]));
    }
    if (position.unknowns.size() != position.rows.size() || velocity.unknowns.size() != velocity.rows.size()) return std::nullopt;

    Substitution corrected;
    CorrectionOutputs outputs;
    if (!write_corrections(position, partition, out.position, corrected, outputs) ||
        !write_corrections(velocity, partition, out.velocity, corrected, outputs))
        return std::nullopt;
    const std::size_t without = lower(rate_spec(equations, power, solves)).instructions.size();
    ProgramSpec spec = rate_spec(with_solved_speeds(equations, outputs.solved, power), {}, solves);
    const std::vector<SymbolId> x = state_and({});
    std::vector<NodeId> xd;
    for (const OutputGroup& group : spec.outputs) xd.insert(xd.end(), group.values.begin(), group.values.end());
    for (const std::uint32_t i : partition.coordinates) out.order.push_back(i);
    for (const std::uint32_t j : partition.speeds) out.order.push_back(nq + j);
    const std::size_t independent = out.order.size();
    for (const WrittenRate::Level* level : {&out.position, &out.velocity})
        out.order.insert(out.order.end(), level->entries.begin(), level->entries.end());
    if (out.order.size() != x.size()) return std::nullopt;
    std::vector<NodeId> rates;
    for (std::size_t k = 0; k < x.size(); ++k) {
        spec.inputs[1 + k] = x[out.order[k]];
        if (k == independent) rates.insert(rates.end(), power.begin(), power.end());
        rates.push_back(xd[out.order[k]]);
    }
    spec.outputs = {{"rates", std::move(rates)}};
    freeze_in(spec, conditions_);
    put_in(spec, corrected);
    out.stage = stage_program(spec, out, outputs, independent, power.size());
    spec.outputs.push_back({"entries", std::move(outputs.entries)});
    spec.outputs.push_back({"sizes", std::move(outputs.sizes)});
    spec.outputs.push_back({"steps", std::move(outputs.steps)});
    spec.outputs.push_back({"slopes", std::move(outputs.slopes)});
    spec.outputs.push_back({"determinants", std::move(outputs.determinants)});
    spec.outputs.push_back({"lengths", std::move(outputs.lengths)});
    out.program = streamed(lower_program(g_, spec));
    if (out.program.instructions.size() > without + k_most_instructions) return std::nullopt;
    return out;
}

Program MotionLowering::stage_program(const ProgramSpec& whole, const WrittenRate& written, const CorrectionOutputs& outputs,
                                      std::size_t independent, std::size_t works) const {
    if (written.position.corrections > 1 || written.velocity.corrections > 1) return {};
    if (whole.solves.size() != 1 || whole.solves.front().closed.empty()) return {};
    const ConstrainedSolve& solve = whole.solves.front();
    const std::size_t states = written.order.size(), dependent = states - independent;
    Substitution rates;
    for (std::size_t i = 0; i < solve.x.size(); ++i) rates.set(solve.x[i], solve.closed.x[i]);
    for (std::size_t i = 0; i < solve.lambda.size(); ++i) rates.set(solve.lambda[i], solve.closed.lambda[i]);
    ProgramSpec spec;
    const std::vector<NodeId>& all = whole.outputs.front().values;
    spec.outputs = {{"rates", substitute(g_, std::span(all).first(independent + works), rates)}};

    const auto end = whole.inputs.begin() + static_cast<std::ptrdiff_t>(1 + independent);
    spec.inputs.assign(whole.inputs.begin(), end);
    spec.inputs.insert(spec.inputs.end(), end + static_cast<std::ptrdiff_t>(dependent), whole.inputs.end());
    const auto input = [&](std::string name) {
        spec.inputs.push_back(g_.add_symbol(std::move(name), SymbolKind::other));
        return g_.symbol_node(spec.inputs.back());
    };
    std::vector<NodeId> guesses, guess_rates;
    for (std::size_t k = 0; k < dependent; ++k) guesses.push_back(input(fmt::format("guess {}", k + 1)));
    for (std::size_t k = 0; k < dependent; ++k) guess_rates.push_back(input(fmt::format("rate of guess {}", k + 1)));
    const NodeId since = g_.sub(g_.symbol_node(spec.inputs.front()), input("time of guess"));
    Substitution guess;
    for (std::size_t k = 0; k < dependent; ++k)
        guess.set(whole.inputs[1 + independent + k], g_.add(guesses[k], g_.mul(since, guess_rates[k])));

    // the tests of WrittenSolution
    spec.at_least = conditions_of(g_, solve);
    for (const NodeId slope : outputs.slopes) {
        const NodeId least = g_.constant(WrittenRate::k_least_slope);
        if (g_.op(slope) == Op::Div) {  // nothing waits for the quotient
            const NodeId at = g_.operand(slope, 0), from = g_.operand(slope, 1);
            spec.at_least.emplace_back(g_.mul(at, from), g_.mul(least, g_.pow(from, 2)));
        } else {
            spec.at_least.emplace_back(slope, least);
        }
    }
    for (std::size_t k = 0; k < outputs.determinants.size(); ++k) {
        const NodeId determinant = outputs.determinants[k], least = input(fmt::format("least determinant {}", k + 1));
        spec.at_least.emplace_back(g_.mul(determinant, least), g_.constant(0));
        if (!g_.is_constant(outputs.lengths[k], 0))
            spec.at_least.emplace_back(g_.pow(determinant, 2), g_.mul(g_.pow(least, 2), outputs.lengths[k]));
    }
    for (std::size_t k = 0; k < outputs.sizes.size(); k += 2) spec.at_least.emplace_back(outputs.sizes[k + 1], outputs.sizes[k]);
    put_in(spec, guess);
    Program program = lower_program(g_, spec);
    program.stream_begin = 1;
    program.stream_end = static_cast<Slot>(1 + independent);
    return program;
}

std::vector<ConstrainedSolve> MotionLowering::with_solved_speeds(const std::vector<ConstrainedSolve>& equations,
                                                                 std::span<const SolvedSpeed> solved,
                                                                 std::span<const NodeId> power) const {
    if (solved.empty() || equations.size() != 1 || equations.front().kind != SolveKind::minimal) return equations;
    ConstrainedSolve solve = equations.front();
    if (solve.lambda.size() != d_.rows.size()) return equations;
    const std::vector<SymbolId> in_power = symbols_in(g_, power);
    for (std::size_t row = 0; row < d_.rows.size(); ++row)
        if (solve.lambda[row] != d_.rows[row].multiplier || std::ranges::binary_search(in_power, solve.lambda[row]))
            return equations;
    std::vector<SymbolId> u;
    for (const Speed& s : m_.speeds) u.push_back(s.u);
    for (const SolvedSpeed& s : solved) {
        const NodeId row = g_.sub(g_.symbol_node(s.speed), s.value);
        std::erase_if(solve.A.entries, [&](const SparseEntry& e) { return e.row == s.row; });
        for (const SparseEntry& e : jacobian(g_, std::span(&row, 1), u).entries)
            solve.A.entries.push_back({s.row, e.column, e.value});
        solve.b[s.row] = g_.neg(d_.kinematics->rate_bias(row));
    }
    std::ranges::sort(solve.A.entries, {}, [](const SparseEntry& e) { return std::pair(e.row, e.column); });
    solve.closed = {};
    add_closed_form(g_, solve);
    if (solve.closed.empty()) return equations;
    return {std::move(solve)};
}

std::vector<NodeId> MotionLowering::frozen_at(std::vector<NodeId> nodes, const Substitution& state) const {
    if (conditions_ != nullptr)
        for (NodeId& node : nodes) node = (*conditions_)(node);
    return substitute(g_, nodes, state);
}

void MotionLowering::put_in(ProgramSpec& spec, const Substitution& state) const {
    const std::vector<NodeId*> places = nodes_in(spec);
    std::vector<NodeId> nodes;
    for (const NodeId* place : places) nodes.push_back(*place);
    nodes = substitute(g_, nodes, state);
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = nodes[i];
}

std::span<const SparseEntry> MotionLowering::gradient(std::size_t row) const {
    const auto [begin, end] =
        std::equal_range(d_.A.entries.begin(), d_.A.entries.end(), SparseEntry{static_cast<std::uint32_t>(row), 0, {}},
                         [](const SparseEntry& a, const SparseEntry& b) { return a.row < b.row; });
    return {begin, end};
}

NodeId MotionLowering::squared_length(std::uint32_t row, const StatePartition& partition) {
    std::vector<NodeId> squares;
    for (const SparseEntry& e : gradient(row))
        squares.push_back(g_.pow(g_.mul(e.value, g_.constant(partition.speed_scale[e.column])), 2));
    return g_.sum(squares);
}

NodeId MotionLowering::inverse_length(std::uint32_t row, const StatePartition& partition) {
    NodeId length = g_.make(Op::Sqrt, squared_length(row, partition));
    // A row that others can stand for loses its share as it becomes short, so that another one is chosen in time.
    if (rows_follow_) {
        double widest = 0;
        for (const SparseEntry& e : gradient(row)) widest = std::max(widest, std::abs(partition.speed_scale[e.column]));
        if (widest > 0) length = g_.make(Op::Max, length, g_.constant(row_sizes_[row] * widest));
    }
    return g_.div(g_.constant(1), length);
}

NodeId MotionLowering::product(NodeId slope, NodeId inverse, double scale) {
    return slope.valid() ? g_.mul(g_.mul(slope, g_.constant(scale)), inverse) : g_.constant(0);
}

NodeId MotionLowering::scaled(std::size_t row, Level level) {
    std::vector<NodeId> squares;
    for (const SparseEntry& e : gradient(row)) squares.push_back(g_.pow(e.value, 2));
    const NodeId size = level == Level::position ? g_.symbol_node(length_) : speed_;
    const NodeId phi = level == Level::position ? d_.rows[row].position : d_.rows[row].velocity;
    NodeId gradient_length = g_.make(Op::Sqrt, g_.sum(squares));
    // A row that follows from the others is as exact as those are, however short it is for the moment.
    if (rows_follow_) gradient_length = g_.make(Op::Max, gradient_length, g_.constant(row_sizes_[row]));
    NodeId natural = g_.mul(gradient_length, size);
    if (level == Level::position) natural = g_.add(natural, coordinate_size(phi));
    return g_.div(phi, g_.make(Op::Max, natural, g_.constant(1e-280)));
}

std::vector<NodeId> MotionLowering::moves(Correction& c, bool euclidean) const {
    if (tree_ != nullptr && !euclidean) return tree_->transform(c.solve, c.solve.x);
    std::vector<NodeId> out;
    for (const SymbolId x : c.solve.x) out.push_back(g_.symbol_node(x));
    return out;
}

Correction MotionLowering::correction(Level level, const std::string& unknown, bool euclidean) {
    Correction c;
    c.solve.f.assign(m_.speeds.size(), g_.constant(0));
    c.solve.A = {0, m_.speeds.size(), {}};
    for (std::size_t i = 0; i < m_.speeds.size(); ++i)
        c.solve.x.push_back(g_.add_symbol(fmt::format("{}{}", unknown, i + 1), SymbolKind::other));
    for (std::size_t row = 0; row < d_.rows.size(); ++row) {
        if (d_.rows[row].level == Level::acceleration) continue;
        if (level == Level::position && d_.rows[row].level != Level::position) continue;
        const NodeId phi = level == Level::position ? d_.rows[row].position : d_.rows[row].velocity;
        const auto out_row = static_cast<std::uint32_t>(c.residual.size());
        for (const SparseEntry& e : gradient(row)) c.solve.A.entries.push_back({out_row, e.column, e.value});
        c.solve.b.push_back(g_.neg(phi));
        c.solve.lambda.push_back(g_.add_symbol(fmt::format("l_{}{}", unknown, row + 1), SymbolKind::other));
        c.residual.push_back(phi);
        c.scaled.push_back(scaled(row, level));
    }
    c.solve.A.rows = c.residual.size();
    if (c.residual.empty() || euclidean || tree_ != nullptr) return c;  // and no M is assembled
    c.solve.M = d_.M();
    keep_unbound(c.solve);
    return c;
}

void MotionLowering::add_row_sizes(Level level, Correction& c) const {
    if (row_sizes_.empty()) return;
    const std::size_t rows = c.solve.b.size();
    for (std::size_t row = 0; row < d_.rows.size(); ++row) {
        if (d_.rows[row].level == Level::acceleration) continue;
        if (level == Level::position && d_.rows[row].level != Level::position) continue;
        c.solve.b.push_back(g_.constant(row_sizes_[row]));
    }
    while (c.solve.b.size() < 2 * rows) c.solve.b.push_back(g_.constant(1));  // of values that are held
}

SparseMatrix MotionLowering::unit_matrix(std::size_t size) const {
    SparseMatrix out{size, size, {}};
    for (std::uint32_t i = 0; i < size; ++i) out.entries.push_back({i, i, g_.constant(1)});
    return out;
}

SparseMatrix MotionLowering::squares_of(const SparseMatrix& K) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NodeId>> terms;
    for (const SparseEntry& a : K.entries)
        for (const SparseEntry& b : K.entries)
            if (a.row == b.row && a.column >= b.column) terms[{a.column, b.column}].push_back(g_.mul(a.value, b.value));
    SparseMatrix out{K.columns, K.columns, {}};
    for (const auto& [place, sum] : terms) out.entries.push_back({place.first, place.second, g_.sum(sum)});
    return out;
}

void MotionLowering::keep_unbound(ConstrainedSolve& solve) {
    std::vector<bool> bound(m_.speeds.size(), false);
    for (const SparseEntry& e : solve.M.entries) bound[e.row] = bound[e.column] = true;
    for (const SparseEntry& e : solve.A.entries) bound[e.column] = true;
    for (std::uint32_t i = 0; i < bound.size(); ++i)
        if (!bound[i]) solve.M.entries.push_back({i, i, g_.constant(1)});
    std::sort(solve.M.entries.begin(), solve.M.entries.end(),
              [](const SparseEntry& a, const SparseEntry& b) { return std::pair(a.row, a.column) < std::pair(b.row, b.column); });
}

NodeId MotionLowering::coordinate_size(NodeId phi) {
    std::vector<SymbolId> q;
    for (const SymbolId s : symbols_in(g_, std::span(&phi, 1)))
        if (g_.symbol(s).kind == SymbolKind::coordinate) q.push_back(s);
    const SparseMatrix gradient = jacobian(g_, std::span(&phi, 1), q, DerivativeMode::automatic);
    std::vector<NodeId> terms;
    for (const SparseEntry& e : gradient.entries) terms.push_back(g_.make(Op::Abs, g_.mul(e.value, g_.symbol_node(q[e.column]))));
    return g_.sum(terms);
}

void MotionLowering::hold(ConstrainedSolve& solve, const std::vector<std::pair<std::uint32_t, NodeId>>& row) {
    for (const auto& [column, value] : row) solve.A.entries.push_back({static_cast<std::uint32_t>(solve.A.rows), column, value});
    ++solve.A.rows;
    solve.b.push_back(g_.constant(0));
    solve.lambda.push_back(g_.add_symbol(fmt::format("l_hold{}", solve.A.rows), SymbolKind::other));
}

void MotionLowering::hold_rate(Correction& c, const StartRate& rate) {
    const auto row = rate_gradient(rate.coordinate);
    hold(c.solve, row);
    const NodeId off = g_.sub(d_.kinematics->coordinate_rates()[rate.coordinate], g_.constant(rate.value));
    c.solve.b.back() = g_.neg(off);
    std::vector<NodeId> squares;
    for (const auto& [column, value] : row) squares.push_back(g_.pow(value, 2));
    const NodeId reach = g_.mul(g_.make(Op::Sqrt, g_.sum(squares)), speed_);
    const NodeId size = g_.add(reach, g_.constant(std::max(std::abs(rate.value), 1e-280)));
    c.residual.push_back(off);
    c.scaled.push_back(g_.div(off, size));
}

std::vector<std::pair<std::uint32_t, NodeId>> MotionLowering::rate_gradient(std::size_t coordinate) const {
    std::vector<std::pair<std::uint32_t, NodeId>> row;
    for (const SparseEntry& e : d_.kinematics->K().entries)
        if (e.row == coordinate) row.emplace_back(e.column, e.value);
    return row;
}

}  // namespace appell
