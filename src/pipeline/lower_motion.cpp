#include "pipeline/lower_motion.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/baumgarte.hpp"
#include "dynam/central_inertia.hpp"
#include "dynam/energy_ledger.hpp"
#include "dynam/motion_residual.hpp"
#include "dynam/quantities.hpp"
#include "dynam/state_partition.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "expr/substitute.hpp"
#include "jit/native_code.hpp"
#include "pipeline/force_columns.hpp"
#include "pipeline/scene_columns.hpp"
#include "sim/project.hpp"
#include "tape/closed_solve.hpp"
#include "tape/constrained_solve.hpp"

namespace appell {

namespace {

// One Newton correction as a solve: M x - A' l = 0, A x = -phi for some rows, in new unknowns; its residuals raw and scaled.
struct Correction {
    ConstrainedSolve solve;
    std::vector<NodeId> residual, scaled;
};

class MotionLowering {
public:
    MotionLowering(const ConstrainedDynamics& dynamics, SymbolId length, double speed_noise)
        : d_(dynamics), m_(*dynamics.model), g_(dynamics.graph()), inputs_(program_inputs(m_)), length_(length) {
        inputs_.push_back(length);
        for (const std::array<SymbolId, 3>& direction : dynamics.slip_directions)
            inputs_.insert(inputs_.end(), direction.begin(), direction.end());
        std::vector<NodeId> squares;
        for (const Speed& s : m_.speeds) squares.push_back(g_.pow(g_.symbol_node(s.u), 2));
        if (speed_noise > 0) squares.push_back(g_.constant(speed_noise * speed_noise));
        speed_ = g_.make(Op::Sqrt, g_.sum(squares));
    }

    [[nodiscard]] const std::vector<SymbolId>& inputs() const { return inputs_; }

    // `power` of the works, and the solves it needs beside the equations
    [[nodiscard]] Program rate(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> power,
                               std::span<const ConstrainedSolve> solves) const {
        ProgramSpec spec{inputs_, {solves.begin(), solves.end()}, {}};
        spec.solves.insert(spec.solves.end(), equations.begin(), equations.end());
        const auto rates = d_.kinematics->coordinate_rates();
        spec.outputs.push_back({"qd", {rates.begin(), rates.end()}});
        std::vector<NodeId> ud;
        for (const Speed& s : m_.speeds) ud.push_back(g_.symbol_node(s.rate));
        spec.outputs.push_back({"ud", std::move(ud)});
        if (!power.empty()) spec.outputs.push_back({"power", std::move(power)});
        return lower_program(g_, spec);
    }

    // the derivatives of the rate, by x
    [[nodiscard]] RateJacobian jacobian_of(const ConstrainedDynamics& dynamics) const {
        RateJacobian out;
        const MotionResidual residual = motion_residual(dynamics);
        std::vector<SymbolId> variables;
        for (const Coordinate& c : m_.coordinates) variables.push_back(c.q);
        for (const Speed& s : m_.speeds) variables.push_back(s.u);
        ProgramSpec spec{inputs_, residual.solves, {}};
        const auto add = [&](const char* name, std::span<const NodeId> roots, auto& places) {
            OutputGroup group{name, {}};
            for (const SparseEntry& e : jacobian(g_, roots, variables).entries) {
                places.emplace_back(e.row, e.column);
                group.values.push_back(e.value);
            }
            spec.outputs.push_back(std::move(group));
        };
        add("rates", d_.kinematics->coordinate_rates(), out.rates);
        variables.insert(variables.end(), residual.unknowns.begin(), residual.unknowns.end());
        add("residual", residual.equations, out.residual);
        out.equations = residual.equations.size();
        out.unknowns = residual.unknowns.size();
        out.rows = dynamics.rows.size();
        out.program = lower_program(g_, spec);
        return out;
    }

    // `solves`: what the observed quantities need beside the equations
    [[nodiscard]] Program observe(const std::vector<ConstrainedSolve>& equations, std::vector<NodeId> row,
                                  std::span<const ConstrainedSolve> solves) const {
        std::vector<ConstrainedSolve> all(solves.begin(), solves.end());
        all.insert(all.end(), equations.begin(), equations.end());
        return lower_program(g_, {inputs_, std::move(all), {{"row", std::move(row)}}});
    }

    // further parameters of the run
    void add_inputs(std::span<const SymbolId> more) { inputs_.insert(inputs_.end(), more.begin(), more.end()); }

    // Onto the position rows: q moves by K ds with least ds' M ds, or least |dq|^2.
    [[nodiscard]] Program position(bool hold_fixed, bool euclidean = false) {
        Correction c = correction(Level::position, "ds");
        if (euclidean) c.solve.M = squares_of(d_.kinematics->K());
        if (c.residual.empty()) return {};
        if (hold_fixed)
            for (std::size_t i = 0; i < m_.coordinates.size(); ++i)
                if (m_.coordinates[i].fixed) hold_coordinate(c.solve, i);
        std::vector<NodeId> dq(m_.coordinates.size(), g_.constant(0));
        for (const SparseEntry& e : d_.kinematics->K().entries)
            dq[e.row] = g_.add(dq[e.row], g_.mul(e.value, g_.symbol_node(c.solve.x[e.column])));
        return lower_program(g_, {inputs_, {c.solve}, {{"residual", c.residual}, {"scaled", c.scaled}, {"dq", dq}}});
    }

    // onto all rows at velocity level
    [[nodiscard]] Program velocity(bool hold_fixed, bool euclidean = false) {
        Correction c = correction(Level::velocity, "du");
        if (euclidean) c.solve.M = unit_matrix(m_.speeds.size());
        if (c.residual.empty()) return {};
        if (hold_fixed) {
            // rates first: their residuals follow those of the constraints, row by row
            for (const StartRate& rate : m_.start_rates)
                if (rate.fixed) hold_rate(c, rate);
            for (std::size_t i = 0; i < m_.speeds.size(); ++i)
                if (m_.speeds[i].fixed) hold(c.solve, {{static_cast<std::uint32_t>(i), g_.constant(1)}});
        }
        std::vector<NodeId> du;
        for (const SymbolId x : c.solve.x) du.push_back(g_.symbol_node(x));
        return lower_program(g_, {inputs_, {c.solve}, {{"residual", c.residual}, {"scaled", c.scaled}, {"du", du}}});
    }

    // the rows that give the dependent coordinates and speeds
    [[nodiscard]] Reduction reduction(const StatePartition& partition) {
        Reduction out;
        const std::size_t nq = m_.coordinates.size();
        for (const std::uint32_t i : partition.coordinates) out.independent.push_back(i);
        for (const std::uint32_t j : partition.speeds) out.independent.push_back(nq + j);

        std::vector<SymbolId> q;
        for (const Coordinate& c : m_.coordinates) q.push_back(c.q);
        DependentOutputs position;
        for (const std::uint32_t row : partition.position_rows) {
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
                if (along.turn && e.column == along.index)
                    position.add_move({e.row, k}, g_.mul(e.value, g_.constant(along.scale)));
        }
        out.position = dependent_rows(std::move(position));

        DependentOutputs velocity;
        for (const std::uint32_t row : partition.velocity_rows) {
            const NodeId inverse = inverse_length(row, partition);
            velocity.add_row(g_.mul(d_.rows[row].velocity, inverse), scaled(row, Level::velocity));
            for (const std::uint32_t j : partition.dependent_speeds)
                velocity.jacobian.push_back(product(d_.A.find(row, j), inverse, partition.speed_scale[j]));
        }
        for (std::size_t k = 0; k < partition.dependent_speeds.size(); ++k) {
            const std::uint32_t j = partition.dependent_speeds[k];
            velocity.add_move({nq + j, k}, g_.constant(partition.speed_scale[j]));
        }
        out.velocity = dependent_rows(std::move(velocity));
        return out;
    }

private:
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

    DependentRows dependent_rows(DependentOutputs outputs) {
        DependentRows out;
        out.count = outputs.residual.size();
        out.moves = std::move(outputs.places);
        if (out.count == 0) return out;
        out.program = lower_program(g_, {inputs_,
                                         {},
                                         {{"residual", std::move(outputs.residual)},
                                          {"jacobian", std::move(outputs.jacobian)},
                                          {"moves", std::move(outputs.moves)},
                                          {"scaled", std::move(outputs.scaled)}}});
        return out;
    }

    // the entries of A_s
    [[nodiscard]] std::span<const SparseEntry> gradient(std::size_t row) const {
        const auto [begin, end] =
            std::equal_range(d_.A.entries.begin(), d_.A.entries.end(), SparseEntry{static_cast<std::uint32_t>(row), 0, {}},
                             [](const SparseEntry& a, const SparseEntry& b) { return a.row < b.row; });
        return {begin, end};
    }

    // 1/|A_s|, every speed in its own unit
    NodeId inverse_length(std::uint32_t row, const StatePartition& partition) {
        std::vector<NodeId> squares;
        for (const SparseEntry& e : gradient(row))
            squares.push_back(g_.pow(g_.mul(e.value, g_.constant(partition.speed_scale[e.column])), 2));
        return g_.div(g_.constant(1), g_.make(Op::Sqrt, g_.sum(squares)));
    }

    // a slope that is structurally zero is not there
    NodeId product(NodeId slope, NodeId inverse, double scale) {
        return slope.valid() ? g_.mul(g_.mul(slope, g_.constant(scale)), inverse) : g_.constant(0);
    }

    // a row's residual over |A_s| |u|, or over |A_s| times the model's length; the floor only keeps 0/0 away
    NodeId scaled(std::size_t row, Level level) {
        std::vector<NodeId> squares;
        for (const SparseEntry& e : gradient(row)) squares.push_back(g_.pow(e.value, 2));
        const NodeId size = level == Level::position ? g_.symbol_node(length_) : speed_;
        const NodeId phi = level == Level::position ? d_.rows[row].position : d_.rows[row].velocity;
        NodeId natural = g_.mul(g_.make(Op::Sqrt, g_.sum(squares)), size);
        if (level == Level::position) natural = g_.add(natural, coordinate_size(phi));
        return g_.div(phi, g_.make(Op::Max, natural, g_.constant(1e-280)));
    }

    Correction correction(Level level, const std::string& unknown) {
        Correction c;
        c.solve.M = d_.M;
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
        keep_unbound(c.solve);
        return c;
    }

    [[nodiscard]] SparseMatrix unit_matrix(std::size_t size) const {
        SparseMatrix out{size, size, {}};
        for (std::uint32_t i = 0; i < size; ++i) out.entries.push_back({i, i, g_.constant(1)});
        return out;
    }

    // K' K, lower triangle
    [[nodiscard]] SparseMatrix squares_of(const SparseMatrix& K) const {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NodeId>> terms;
        for (const SparseEntry& a : K.entries)
            for (const SparseEntry& b : K.entries)
                if (a.row == b.row && a.column >= b.column) terms[{a.column, b.column}].push_back(g_.mul(a.value, b.value));
        SparseMatrix out{K.columns, K.columns, {}};
        for (const auto& [place, sum] : terms) out.entries.push_back({place.first, place.second, g_.sum(sum)});
        return out;
    }

    // Speeds that move no mass and stand in none of the rows (those of another level may bind them) would leave the solve
    // singular: with a one on the diagonal they stay where they are.
    void keep_unbound(ConstrainedSolve& solve) {
        std::vector<bool> bound(m_.speeds.size(), false);
        for (const SparseEntry& e : solve.M.entries) bound[e.row] = bound[e.column] = true;
        for (const SparseEntry& e : solve.A.entries) bound[e.column] = true;
        for (std::uint32_t i = 0; i < bound.size(); ++i)
            if (!bound[i]) solve.M.entries.push_back({i, i, g_.constant(1)});
        std::sort(solve.M.entries.begin(), solve.M.entries.end(), [](const SparseEntry& a, const SparseEntry& b) {
            return std::pair(a.row, a.column) < std::pair(b.row, b.column);
        });
    }

    // sum |dphi/dq_i| |q_i|: the round-off of phi where coordinates have grown beyond the model's length, or are angles
    NodeId coordinate_size(NodeId phi) {
        std::vector<SymbolId> q;
        for (const SymbolId s : symbols_in(g_, std::span(&phi, 1)))
            if (g_.symbol(s).kind == SymbolKind::coordinate) q.push_back(s);
        const SparseMatrix gradient = jacobian(g_, std::span(&phi, 1), q, DerivativeMode::automatic);
        std::vector<NodeId> terms;
        for (const SparseEntry& e : gradient.entries)
            terms.push_back(g_.make(Op::Abs, g_.mul(e.value, g_.symbol_node(q[e.column]))));
        return g_.sum(terms);
    }

    void hold(ConstrainedSolve& solve, const std::vector<std::pair<std::uint32_t, NodeId>>& row) {
        for (const auto& [column, value] : row)
            solve.A.entries.push_back({static_cast<std::uint32_t>(solve.A.rows), column, value});
        ++solve.A.rows;
        solve.b.push_back(g_.constant(0));
        solve.lambda.push_back(g_.add_symbol(fmt::format("l_hold{}", solve.A.rows), SymbolKind::other));
    }

    void hold_coordinate(ConstrainedSolve& solve, std::size_t coordinate) { hold(solve, rate_gradient(coordinate)); }

    // A rate is a function of the coordinates, which may have moved: it is brought to its value like a constraint, and a residual
    // left of it says that it can not be.
    void hold_rate(Correction& c, const StartRate& rate) {
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

    // how a rate depends on the speeds
    [[nodiscard]] std::vector<std::pair<std::uint32_t, NodeId>> rate_gradient(std::size_t coordinate) const {
        std::vector<std::pair<std::uint32_t, NodeId>> row;
        for (const SparseEntry& e : d_.kinematics->K().entries)
            if (e.row == coordinate) row.emplace_back(e.column, e.value);
        return row;
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    std::vector<SymbolId> inputs_;
    SymbolId length_;
    NodeId speed_;  // |u|
};

// the Newtonian plane in which the paths of a plot move, from their positions' structure
std::pair<int, int> path_plane(Graph& g, const std::vector<Vec3>& paths) {
    std::array<bool, 3> moves{};
    for (const Vec3& p : paths)
        for (std::size_t axis = 0; axis < 3; ++axis)
            moves[axis] =
                moves[axis] || depends_on(g, p.c[axis], SymbolKind::coordinate) || depends_on(g, p.c[axis], SymbolKind::time);
    if (!moves[1] && moves[2]) return {0, 2};
    if (!moves[0] && moves[1] && moves[2]) return {1, 2};
    return {0, 1};
}

}  // namespace

std::vector<SymbolId> program_inputs(const Model& model) {
    std::vector<SymbolId> inputs{model.time};
    for (const Coordinate& c : model.coordinates) inputs.push_back(c.q);
    for (const Speed& s : model.speeds) inputs.push_back(s.u);
    for (const Parameter& p : model.parameters) inputs.push_back(p.symbol);
    for (const Input& i : model.inputs) inputs.push_back(i.symbol);
    return inputs;
}

namespace {

// Numbers at the start values, by symbol; the speeds' rates filled in from their definitions.
struct StartValues {
    std::vector<double> values;
    std::vector<double> speeds;
};

// The definitions of the speeds can be solved where |Y^-1| |Y| is not beyond all digits: free of units, unlike a determinant.
bool speeds_are_singular(Graph& g, const Kinematics& kin, std::span<const double> values) {
    const std::vector<double> determinants = evaluate<double>(g, kin.determinants(), values);
    if (std::any_of(determinants.begin(), determinants.end(), [](double v) { return v == 0 || !std::isfinite(v); })) return true;
    std::vector<SymbolId> speeds;
    for (const Speed& s : kin.model().speeds) speeds.push_back(s.u);
    const SparseMatrix inverse = jacobian(g, kin.rate_values(), speeds, DerivativeMode::reverse);
    // row sums of |Y^-1| |Y|: the sum over k of |Y^-1_ik| times the size of row k of Y in the units of rate i
    std::vector<NodeId> entries;
    for (const SparseEntry& e : inverse.entries) entries.push_back(e.value);
    for (const SparseEntry& e : kin.Y().entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    std::vector<std::vector<std::pair<std::uint32_t, double>>> rows(kin.Y().rows);
    for (std::size_t k = 0; k < kin.Y().entries.size(); ++k)
        rows[kin.Y().entries[k].row].emplace_back(kin.Y().entries[k].column, std::abs(numbers[inverse.entries.size() + k]));
    for (std::size_t k = 0; k < inverse.entries.size(); ++k)
        for (const auto& [column, size] : rows[inverse.entries[k].column])
            if (column == inverse.entries[k].row && !(std::abs(numbers[k]) * size < 1e12)) return true;
    return false;
}

// Bodies whose inertia about the centre is not that of any mass distribution, and direction cosines that are no rotation.
void check_numbers_of_bodies(const ConstrainedDynamics& d, std::span<const double> values, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    Diagnostics judged_before;
    for (const Body& body : m.bodies) {
        const Matrix3 I = central_inertia(*d.kinematics, body, judged_before);
        const std::vector<double> n = evaluate<double>(g, I, values);
        // no principal moment may be negative: all principal minors of a semidefinite matrix are at least zero
        const double size = std::max({std::abs(n[0]), std::abs(n[4]), std::abs(n[8])}), bar = 1e-12;
        const auto minor = [&](int i, int j) {
            return n[static_cast<std::size_t>(4 * i)] * n[static_cast<std::size_t>(4 * j)] -
                   n[static_cast<std::size_t>(3 * i + j)] * n[static_cast<std::size_t>(3 * i + j)];
        };
        const double determinant =
            n[0] * (n[4] * n[8] - n[5] * n[5]) - n[1] * (n[1] * n[8] - n[5] * n[2]) + n[2] * (n[1] * n[5] - n[4] * n[2]);
        const bool bad = std::min({n[0], n[4], n[8]}) < -bar * size ||
                         std::min({minor(0, 1), minor(1, 2), minor(0, 2)}) < -bar * size * size ||
                         determinant < -bar * size * size * size;
        if (bad)
            diagnostics.add({Code::E0713, body.span,
                             fmt::format("the inertia of {} about its mass centre has a negative principal moment", body.name),
                             fmt::format("Ixx = {}, Iyy = {}, Izz = {} about the centre", short_number(n[0]), short_number(n[4]),
                                         short_number(n[8])),
                             "an inertia that some mass distribution has",
                             "check the point it is given about, and the signs of the products"});
    }
    for (std::size_t i = 0; i < m.frames.size(); ++i) {
        if (!std::holds_alternative<DirectionCosines>(m.frames[i].orientation)) continue;
        const std::vector<double> R = evaluate<double>(g, d.kinematics->frames().rotation_to_parent(FrameId(i)), values);
        double error = 0;
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                error = std::max(error, std::abs(R[a] * R[b] + R[3 + a] * R[3 + b] + R[6 + a] * R[6 + b] - (a == b ? 1 : 0)));
        const double determinant =
            R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
        if (!(error < 1e-8) || !(determinant > 0))
            diagnostics.add({Code::E0608, m.frames[i].span,
                             fmt::format("the direction cosines of frame {} are no rotation at the start", m.frames[i].name),
                             fmt::format("columns that miss orthonormality by {}", short_number(error, 3)),
                             "three orthonormal columns, right-handed",
                             "check the entries, or turn the frame by angles or a quaternion"});
    }
}

// Start values of the speeds: as given, or through the rates where rates are given.
StartValues start_values(const ConstrainedDynamics& d, const Model& numbers, double from, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    const Kinematics& kin = *d.kinematics;
    StartValues out{std::vector<double>(g.symbol_count(), 0), {}};
    std::vector<double>& values = out.values;
    values[m.time.index()] = from;
    const auto put = [&](const auto& symbols, auto symbol, const auto& from_list, auto value) {
        for (std::size_t i = 0; i < symbols.size(); ++i) values[symbol(symbols[i]).index()] = value(from_list[i]);
    };
    put(
        m.parameters, [](const Parameter& p) { return p.symbol; }, numbers.parameters,
        [](const Parameter& p) { return p.value; });
    put(
        m.inputs, [](const Input& i) { return i.symbol; }, numbers.inputs, [](const Input& i) { return i.value.value_or(0); });
    put(
        m.coordinates, [](const Coordinate& c) { return c.q; }, numbers.coordinates, [](const Coordinate& c) { return c.start; });
    put(
        m.speeds, [](const Speed& s) { return s.u; }, numbers.speeds, [](const Speed& s) { return s.start; });
    for (const Speed& s : numbers.speeds) out.speeds.push_back(s.start);
    check_numbers_of_bodies(d, values, diagnostics);
    if (speeds_are_singular(g, kin, values))
        diagnostics.add({Code::E0605, m.speeds.front().span, "the definitions of the speeds are singular at the start values",
                         "a vanishing determinant", "definitions that determine every q'",
                         "start elsewhere, or choose other speeds or coordinates (a quaternion has no such states)"});
    if (diagnostics.has_errors() || numbers.start_rates.empty()) return out;
    for (const StartRate& rate : numbers.start_rates) {
        const auto independent = kin.independent_rates();
        if (std::find(independent.begin(), independent.end(), m.coordinates[rate.coordinate].rate) != independent.end()) continue;
        diagnostics.add({Code::E0610, rate.span,
                         fmt::format("the rate of {} can not be given a start value: it belongs to a quaternion",
                                     m.coordinates[rate.coordinate].name),
                         "", "start values of the angular velocity",
                         "declare speeds such as w1 = dot(omega(B), B.x) and start those"});
        return out;
    }
    // rates from the speeds' start values, the given ones replaced, and back through the definitions
    const std::vector<double> rates = evaluate<double>(g, kin.rate_values(), values);
    for (std::size_t i = 0; i < rates.size(); ++i) values[kin.independent_rates()[i].index()] = rates[i];
    for (const StartRate& rate : numbers.start_rates) values[m.coordinates[rate.coordinate].rate.index()] = rate.value;
    out.speeds = evaluate<double>(g, kin.speed_definitions(), values);
    // a speed that cancels (v*cos(a) + w*sin(a)) is 0 to the round-off of the others
    double largest = 0;
    for (const double u : out.speeds) largest = std::max(largest, std::abs(u));
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (numbers.speeds[i].given && std::abs(out.speeds[i] - numbers.speeds[i].start) >
                                           1e-9 * (std::abs(numbers.speeds[i].start) + std::abs(out.speeds[i])) + 1e-14 * largest)
            diagnostics.add({Code::E0609, numbers.start_rates.front().span,
                             fmt::format("the start value of speed {} and the start values of rates disagree", m.speeds[i].name),
                             fmt::format("{} = {} given, {} from the rates", m.speeds[i].name,
                                         short_number(numbers.speeds[i].start), short_number(out.speeds[i])),
                             "one of the two", "give start values of speeds or of rates"});
    for (std::size_t i = 0; i < m.speeds.size(); ++i) values[m.speeds[i].u.index()] = out.speeds[i];
    return out;
}

// The start values by symbol, moved onto the constraints as the run will move them; none where it will not get that far.
std::optional<std::vector<double>> values_on_constraints(const Model& m, const Motion& motion, std::vector<double> x, double t,
                                                         std::vector<double> values) {
    Projector position(motion, motion.for_start_position(), Projector::Part::coordinates);
    Projector velocity(motion, motion.for_start_velocity(), Projector::Part::speeds);
    for (Projector* projector : {&position, &velocity})
        if (projector->project(t, x, k_project_start).status != ProjectStatus::converged) return std::nullopt;
    for (std::size_t i = 0; i < m.coordinates.size(); ++i) values[m.coordinates[i].q.index()] = x[i];
    for (std::size_t i = 0; i < m.speeds.size(); ++i) values[m.speeds[i].u.index()] = x[m.coordinates.size() + i];
    return values;
}

// rows that reach few speeds each are worked on there only, but have their place in full
constexpr std::size_t k_sparse = 64;

bool too_many_entries(const ConstrainedDynamics& d, std::size_t entries, std::size_t most, const LowerMotionOptions& options,
                      Diagnostics& diagnostics) {
    if (entries <= most) return false;
    diagnostics.add({Code::E0715,
                     {},
                     fmt::format("{} constraint rows on {} speeds are too many for formulation {}", d.rows.size(),
                                 d.model->speeds.size(), name_of(options.formulation)),
                     fmt::format("{} entries", entries),
                     fmt::format("at most {}", most),
                     fmt::format("make the family smaller, or raise the limit with --limit solve_entries={}",
                                 entries / (most / std::max<std::size_t>(options.solve_entries, 1)) + 1)});
    return true;
}

// what the solves of a program work on
std::size_t entries_of(const Program& program) {
    std::size_t most = 0;
    for (const SolveBlock& block : program.solves)
        most = std::max(most, block.kind == SolveKind::multipliers ? RowColumns(block).entries
                              : block.rows == 0                    ? 0
                                                                   : block.size * (block.size + block.rows));
    return most;
}

// the system with Baumgarte's damping; its gains are parameters behind all others
ConstrainedDynamics damp(const ConstrainedDynamics& d, const LowerMotionOptions& options, Motion& motion,
                         MotionLowering& lowering) {
    Graph& g = d.graph();
    std::array<double, 3> gains{};
    if (options.gains.size() == 1)
        gains = {2 * options.gains[0], -options.gains[0] * options.gains[0], options.gains[0]};
    else if (options.gains.size() == 2)
        gains = {options.gains[0], options.gains[1], options.gains[0] / 2};
    else if (options.step > 0)
        gains = gains_of_step(options.step);
    else
        motion.step_gains = motion.parameters.size();
    std::vector<SymbolId> symbols;
    for (const char* name : {"gain of rates", "gain of positions", "gain of velocities"})
        symbols.push_back(g.add_symbol(name, SymbolKind::other));
    motion.parameters.insert(motion.parameters.end(), gains.begin(), gains.end());
    lowering.add_inputs(symbols);
    return damped(d, {g.symbol_node(symbols[0]), g.symbol_node(symbols[1]), g.symbol_node(symbols[2])});
}

}  // namespace

namespace {

// the start by symbol and by state, and the model's length
struct Start {
    StartValues start;
    StartNumbers numbers;
};
std::optional<Start> find_start(const ConstrainedDynamics& d, const Model& numbers, double from, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Kinematics& kin = *d.kinematics;
    Start out{start_values(d, numbers, from, diagnostics), {}};
    if (diagnostics.has_errors()) return std::nullopt;
    std::vector<double>& x0 = out.numbers.x0;
    for (const Coordinate& c : numbers.coordinates) x0.push_back(c.start);
    x0.insert(x0.end(), out.start.speeds.begin(), out.start.speeds.end());
    if (!std::all_of(x0.begin(), x0.end(), [](double v) { return std::isfinite(v); })) {
        diagnostics.add(
            {Code::E0803, {}, "a start value is not a finite number", "", "finite start values", "check the parameters in it"});
        return std::nullopt;
    }
    // the model's length: the farthest point at the start; positions are scaled by it
    std::vector<NodeId> places;
    for (std::size_t i = 0; i < m.points.size(); ++i) {
        const Vec3 p = kin.frames().express(kin.position(PointId(i)), Model::newtonian());
        places.insert(places.end(), p.c.begin(), p.c.end());
    }
    double length = 0;
    for (const double c : evaluate<double>(d.graph(), places, out.start.values))
        length = std::isfinite(c) ? std::max(length, std::abs(c)) : length;
    for (const Parameter& p : numbers.parameters) out.numbers.parameters.push_back(p.value);
    for (const Input& i : numbers.inputs) out.numbers.parameters.push_back(i.value.value_or(0));
    out.numbers.parameters.push_back(length > 0 ? length : 1);
    return out;
}

}  // namespace

Result<StartNumbers> start_numbers(const ConstrainedDynamics& dynamics, const Model& numbers, double from) {
    Result<StartNumbers> result;
    const Model& m = *dynamics.model;
    if (numbers.parameters.size() != m.parameters.size() || numbers.inputs.size() != m.inputs.size() ||
        numbers.coordinates.size() != m.coordinates.size() || numbers.speeds.size() != m.speeds.size())
        throw Error("the numbers of a motion come from the same model");
    if (std::optional<Start> start = find_start(dynamics, numbers, from, result.diagnostics))
        result.value = std::move(start->numbers);
    return result;
}

Result<LoweredMotion> lower_motion(const ConstrainedDynamics& d, const LowerMotionOptions& options) {
    Result<LoweredMotion> result;
    Diagnostics& diagnostics = result.diagnostics;
    const Model& m = *d.model;
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    LoweredMotion out;

    if (too_many_entries(d, d.rows.size() * m.speeds.size(), k_sparse * options.solve_entries, options, diagnostics))
        return result;
    if (options.for_run)
        for (const Input& input : m.inputs)
            if (!input.value)
                diagnostics.add({Code::E0707, input.span, fmt::format("input {} has no value", input.name), "",
                                 "a number for the run",
                                 fmt::format("write `input {} = 0`, or use --set {}=VALUE", input.name, input.name)});
    std::optional<Start> found = find_start(d, m, options.from, diagnostics);
    if (!found) return result;
    const StartValues start = std::move(found->start);
    out.x0 = std::move(found->numbers.x0);
    if (!options.state.empty()) out.x0 = options.state;
    const SymbolId length_symbol = g.add_symbol("length scale", SymbolKind::other);

    // --- the observed row
    Quantities observable(d, diagnostics);
    std::vector<NodeId> row;
    std::vector<std::string>& columns = out.motion.columns;
    const auto column = [&](std::string name, NodeId value) {
        columns.push_back(std::move(name));
        row.push_back(value);
        return row.size() - 1;
    };
    RowLayout& layout = out.layout;
    layout.coordinates = row.size();
    for (const Coordinate& c : m.coordinates) column(c.name, g.symbol_node(c.q));
    layout.speeds = row.size();
    for (const Speed& s : m.speeds) column(s.name, g.symbol_node(s.u));
    layout.multipliers = row.size();
    // sticking shows as friction, not as a constraint
    std::vector<ConstraintRow> rows = options.whole ? options.whole->rows : d.rows;
    std::erase_if(rows, [&](const ConstraintRow& r) { return m.constraints[r.constraint].stick_of.has_value(); });
    for (const ConstraintRow& r : rows)
        if (!r.by_actuators) column(g.symbol(r.multiplier).name, observable.scalar(g.symbol_node(r.multiplier), {}));
    for (const SymbolId magnitude : d.actuators) column(g.symbol(magnitude).name, g.symbol_node(magnitude));
    layout.residuals = row.size();
    for (const ConstraintRow& r : rows)
        if (r.level == Level::position) column(fmt::format("residual({})", r.name), r.position);
    for (const ConstraintRow& r : rows)
        if (r.level != Level::acceleration)
            column(fmt::format("residual({}){}", r.name, r.level == Level::position ? "'" : ""), r.velocity);
    layout.kinetic = column("kinetic", d.kinetic_energy);
    layout.potential = column("potential", d.potential_energy);
    layout.energy = column("energy", g.add(d.kinetic_energy, d.potential_energy));
    // the works stand behind the state, and the balance needs the start: both are put in as the run goes
    Quantities acting(d, diagnostics);
    std::vector<NodeId> powers;
    layout.works = out.motion.work_columns = row.size();
    if (options.for_run) {
        // a mode has the entries of the whole system, some of them with nothing to enter
        const std::vector<LedgerEntry> entries = energy_ledger(d, acting);
        std::vector<std::string> names;
        if (options.whole && !d.off.empty()) {
            Diagnostics said;
            Quantities all(*options.whole, said);
            for (const LedgerEntry& entry : energy_ledger(*options.whole, all)) names.push_back(entry.name);
        } else {
            for (const LedgerEntry& entry : entries) names.push_back(entry.name);
        }
        for (const LedgerEntry& entry : entries)
            APPELL_ASSERT(std::find(names.begin(), names.end(), entry.name) != names.end(),
                          "the whole has every entry of a mode");
        if (m.switches()) names.emplace_back(k_jumps);
        for (std::string& name : names) {
            column(fmt::format("work({})", name), g.constant(0));
            const auto found = std::find_if(entries.begin(), entries.end(), [&](const LedgerEntry& e) { return e.name == name; });
            powers.push_back(found == entries.end() ? g.constant(0) : found->power);
            out.motion.works.push_back(std::move(name));
        }
        column("balance", g.constant(0));
    }
    layout.outputs = row.size();
    for (const Output& o : m.outputs) {
        if (std::find(columns.begin(), columns.end(), o.name) != columns.end())
            diagnostics.add({Code::E0203, o.span,
                             fmt::format("an output can not be called {}: the table has that column already", o.name), "",
                             "another name", ""});
        column(o.name, observable.scalar(o.value, o.span));
    }
    layout.visible = row.size();
    if (options.forces_in.valid()) {
        layout.forces_frame = m.frame(options.forces_in).name;
        for (const ActingForce& f : forces_for_columns(d, options.whole ? *options.whole : d)) {
            const std::string name = force_name(m, f);
            if (f.kind == ActingForce::Kind::generalized) {
                column(name, observable.scalar(f.value, {}));
                layout.force_units.emplace_back();  // energy over whatever the speed's unit times a second is
                continue;
            }
            for (std::size_t axis = 0; axis < 3; ++axis) {
                column(fmt::format("{}.{}", name, "xyz"[axis]),
                       observable.scalar(g.dot(f.value, m.frame(options.forces_in).basis[axis]), {}));
                layout.force_units.emplace_back(f.kind == ActingForce::Kind::force ? "N" : "N m");
            }
        }
    }
    layout.forces_end = row.size();
    for (const Plot& plot : m.plots) {
        std::vector<Vec3> paths;
        for (const PlotTrace& trace : plot.traces)
            if (trace.path.valid()) paths.push_back(kin.frames().express(kin.position(trace.path), Model::newtonian()));
        RowLayout::PlotColumns where;
        std::tie(where.across, where.up) = plot.plane ? std::pair((*plot.plane)[0], (*plot.plane)[1]) : path_plane(g, paths);
        const std::size_t x = plot.x.valid() ? column("", observable.scalar(plot.x, plot.span)) : RowLayout::k_time;
        for (const PlotTrace& trace : plot.traces) {
            if (trace.path.valid()) {
                const Vec3 p = kin.frames().express(kin.position(trace.path), Model::newtonian());
                const std::size_t across = column("", p.c[static_cast<std::size_t>(where.across)]);
                where.traces.push_back({across, column("", p.c[static_cast<std::size_t>(where.up)])});
            } else {
                where.traces.push_back({x, column("", observable.scalar(trace.y, plot.span))});
            }
        }
        layout.plots.push_back(std::move(where));
    }
    if (options.scene)
        layout.scene = scene_columns(d, options.whole ? *options.whole : d, observable, start.values,
                                     [&](NodeId value) { return column("", value); });

    if (diagnostics.has_errors()) return result;
    if (options.for_run) {
        // every number of a run must have a value, the outputs' as well
        std::vector<NodeId> used(row);
        used.insert(used.end(), powers.begin(), powers.end());
        used.insert(used.end(), d.f.begin(), d.f.end());
        used.insert(used.end(), d.b.begin(), d.b.end());
        used.insert(used.end(), d.C.begin(), d.C.end());
        for (const SparseEntry& e : d.D.entries) used.push_back(e.value);
        for (const SparseEntry& e : d.M.entries) used.push_back(e.value);
        for (const SparseEntry& e : d.A.entries) used.push_back(e.value);
        for (const FunctionId f : opaque_functions_in(g, used))
            diagnostics.add(
                {Code::E0706,
                 {},
                 fmt::format("function {} has no expression, so that a run has no values for it", g.function(f).name),
                 "",
                 "a function given by an expression",
                 fmt::format("write function {}({}) = ...", g.function(f).name, fmt::join(g.function(f).arguments, ", "))});
        if (diagnostics.has_errors()) return result;
    }

    // --- programs
    Motion& motion = out.motion;
    motion.coordinates = m.coordinates.size();
    motion.speeds = m.speeds.size();
    motion.velocity_rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& r) { return r.level != Level::acceleration; }));
    motion.position_rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& r) { return r.level == Level::position; }));
    for (const ConstraintRow& r : d.rows) {
        if (r.level != Level::acceleration) motion.velocity_constraints.push_back(r.constraint);
        if (!r.by_actuators) motion.rate_constraints.push_back(r.constraint);
    }
    motion.parameters = std::move(found->numbers.parameters);
    out.first_direction = motion.parameters.size();
    motion.parameters.resize(motion.parameters.size() + 3 * d.slip_directions.size(), 0.0);
    for (std::size_t i = 0; i < d.slip_directions.size(); ++i) motion.parameters[out.first_direction + 3 * i] = 1;
    for (const Friction& friction : m.frictions)
        motion.repeats_rows = motion.repeats_rows || (!d.off.empty() && !d.off[friction.stick]);
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
        if (m.coordinates[i].fixed) motion.held.push_back(i);
    for (std::size_t i = 0; i < m.speeds.size(); ++i)
        if (m.speeds[i].fixed) motion.held.push_back(m.coordinates.size() + i);
    MotionLowering lowering(d, length_symbol, options.speed_noise);
    out.length_symbol = length_symbol;
    std::optional<ConstrainedDynamics> with_damping;
    if (options.drift == DriftControl::baumgarte) with_damping = damp(d, options, motion, lowering);
    const bool euclidean = options.drift == DriftControl::yoon;
    motion.position = lowering.position(false, euclidean);
    motion.velocity = lowering.velocity(false, euclidean);
    if (too_many_entries(d, entries_of(motion.velocity), options.solve_entries, options, diagnostics)) return result;
    const auto fixed = [](const auto& value) { return value.fixed; };
    // start values are moved in the metric of mass, whatever is done later
    if (euclidean || std::any_of(m.coordinates.begin(), m.coordinates.end(), fixed))
        motion.start_position = lowering.position(true);
    if (euclidean || std::any_of(m.speeds.begin(), m.speeds.end(), fixed) ||
        std::any_of(m.start_rates.begin(), m.start_rates.end(), fixed))
        motion.start_velocity = lowering.velocity(true);
    for (const Frame& frame : m.frames)
        if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation)) motion.quaternions.push_back(q->coordinates);
    // `minimal`: what is integrated is decided where the run starts
    const auto at_start = values_on_constraints(m, motion, out.x0, options.from, start.values);
    std::optional<ConstrainedDynamics> partitioned;
    if (options.formulation == Formulation::minimal && at_start) {
        Result<StatePartition> partition = choose_state_partition(d, *at_start);
        diagnostics.append(partition.diagnostics);
        if (!partition.ok()) return result;
        for (const std::uint32_t i : partition->coordinates) out.independent_coordinates.push_back(i);
        for (const std::uint32_t j : partition->speeds) out.independent_speeds.push_back(j);
        if (motion.velocity_rows != 0) motion.reduction = lowering.reduction(*partition);
        // the accelerations by the same partition, where all rows take part in it
        if (motion.velocity_rows == d.rows.size()) partitioned.emplace(d).independent = partition->speeds;
    }
    const ConstrainedDynamics& of_run = partitioned ? *partitioned : with_damping ? *with_damping : d;
    Formulated equations = formulate(of_run, options.formulation, at_start.value_or(start.values));
    if (!equations.not_applicable.empty()) {
        diagnostics.add(
            {Code::E0820, m.run.span, fmt::format("formulation {} does not apply to this model", name_of(options.formulation)),
             equations.not_applicable, "a formulation that does", "`appell check` lists them; `multipliers` always applies"});
        return result;
    }
    if (options.for_run)
        for (ConstrainedSolve& solve : equations.solves) add_closed_form(g, solve);
    motion.rate = lowering.rate(equations.solves, std::move(powers), acting.solves());
    if (too_many_entries(d, entries_of(motion.rate), options.solve_entries, options, diagnostics)) return result;
    if (options.jacobian && !motion.reduction) motion.jacobian = lowering.jacobian_of(with_damping ? *with_damping : d);
    motion.observe = lowering.observe(equations.solves, std::move(row), observable.solves());
    if (options.for_run && options.native) {
        for (Program* program : {&motion.rate, &motion.position, &motion.velocity, &motion.observe}) add_native_code(*program);
        if (motion.reduction)
            for (DependentRows* rows : {&motion.reduction->position, &motion.reduction->velocity}) add_native_code(rows->program);
    }
    out.inputs = lowering.inputs();
    out.equations = equations.solves;
    out.nodes = g.size();
    out.instructions = motion.rate.instructions.size();
    result.value = std::move(out);
    return result;
}

}  // namespace appell
