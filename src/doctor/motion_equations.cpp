#include "doctor/motion_equations.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dynam/motion_residual.hpp"
#include "expr/dependence.hpp"
#include "expr/sweep.hpp"

namespace appell {

namespace {

Eigen::Index at_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

template <class T>
Eigen::VectorX<T> vector(const Workspace<T>& from, const std::string& name) {
    const auto values = from.output(name);
    Eigen::VectorX<T> out(at_index(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) out(at_index(i)) = values[i];
    return out;
}

std::vector<NodeId> nodes_of(Graph& g, std::span<const SymbolId> symbols) {
    std::vector<NodeId> out;
    for (const SymbolId s : symbols) out.push_back(g.symbol_node(s));
    return out;
}

const QuaternionRotation& quaternion_of(const Model& m, std::size_t frame) {
    return std::get<QuaternionRotation>(m.frames[frame].orientation);
}

// all numbers but those of the kinks, in a row
template <class Numbers, class Visit>
void each_number(Numbers& n, const Visit& visit) {
    const auto all = [&](auto& entries) {
        for (auto& entry : entries.reshaped()) visit(entry);
    };
    all(n.speed_rates), all(n.rates), all(n.phi), all(n.psi), all(n.multipliers), all(n.actuators);
    all(n.R_z), all(n.R_x), all(n.R_w), all(n.G), all(n.P), all(n.V), all(n.M), all(n.Y);
}
std::vector<Digits50> numbers_of(const MotionNumbers& n) {
    std::vector<Digits50> out;
    each_number(n, [&](const Digits50& number) { out.push_back(number); });
    return out;
}
void set_numbers(MotionNumbers& n, const std::vector<Digits50>& numbers) {
    auto next = numbers.begin();
    each_number(n, [&](Digits50& number) { number = *next++; });
}

}  // namespace

MotionEquations::MotionEquations(const ConstrainedDynamics& dynamics, std::span<const SymbolId> free)
    : d_(dynamics), nq_(dynamics.model->coordinates.size()), nu_(dynamics.model->speeds.size()) {
    const Model& m = *d_.model;
    Graph& g = d_.graph();
    const Kinematics& kin = *d_.kinematics;

    // --- what a point lists
    std::vector<SymbolId> q, u, w;
    for (const Coordinate& c : m.coordinates) q.push_back(c.q);
    for (const Speed& s : m.speeds) u.push_back(s.u);
    for (const Input& i : m.inputs) {
        w.push_back(i.symbol);
        input_names_.push_back(i.name);
    }
    for (const SymbolId s : free) {
        w.push_back(s);
        input_names_.push_back(g.symbol(s).name);
    }
    inputs_ = w.size();
    symbols_ = {m.time};
    symbols_.insert(symbols_.end(), q.begin(), q.end());
    symbols_.insert(symbols_.end(), u.begin(), u.end());
    for (const Parameter& p : m.parameters) symbols_.push_back(p.symbol);
    symbols_.insert(symbols_.end(), w.begin(), w.end());

    // --- what varies
    for (const SymbolId rate : kin.independent_rates()) {
        for (std::uint32_t i = 0; i < nq_; ++i)
            if (m.coordinates[i].rate == rate)
                variations_.push_back({Variation::Kind::coordinate, i, 0, m.coordinates[i].name, m.coordinates[i].name + "'"});
        for (std::uint32_t f = 0; f < m.frames.size(); ++f)
            if (std::holds_alternative<QuaternionRotation>(m.frames[f].orientation))
                for (std::uint32_t axis = 0; axis < 3; ++axis)
                    if (quaternion_of(m, f).rates[axis] == rate)
                        variations_.push_back({Variation::Kind::turn, f, axis,
                                               fmt::format("turn({}, {})", m.frames[f].name, "xyz"[axis]),
                                               fmt::format("turn({}, {})'", m.frames[f].name, "xyz"[axis])});
    }
    APPELL_ASSERT(variations_.size() == nu_, "as many rates as speeds");
    for (std::uint32_t j = 0; j < nu_; ++j)
        variations_.push_back({Variation::Kind::speed, j, 0, m.speeds[j].name, g.symbol(m.speeds[j].rate).name});

    // --- the residual and its unknowns; the equations of motion are the first block
    const MotionResidual equations = motion_residual(d_);
    ProgramSpec spec{symbols_, equations.solves, {}};
    const std::vector<NodeId>& residual = equations.equations;
    const std::vector<SymbolId>& z = equations.unknowns;
    unknowns_ = z.size();
    std::vector<SymbolId> speed_rates, multipliers;
    for (const Speed& s : m.speeds) speed_rates.push_back(s.rate);
    for (const ConstraintRow& row : d_.rows)
        if (!row.by_actuators) multipliers.push_back(row.multiplier);

    std::vector<SymbolId> variables = q;
    variables.insert(variables.end(), u.begin(), u.end());
    const std::vector<SymbolId> q_and_u = variables;
    variables.insert(variables.end(), w.begin(), w.end());
    variables.insert(variables.end(), z.begin(), z.end());
    R_ = add_jacobian(spec, "R", residual, variables);

    const std::vector<NodeId> rates(kin.rate_values().begin(), kin.rate_values().end());
    rates_ = add_jacobian(spec, "rates by x", rates, q_and_u);
    std::vector<NodeId> phi, psi;
    for (std::size_t i = 0; i < d_.rows.size(); ++i) {
        if (d_.rows[i].level == Level::acceleration) continue;
        if (d_.rows[i].level == Level::position) {
            phi.push_back(d_.rows[i].position);
            position_rows_.push_back(i);
        }
        psi.push_back(d_.rows[i].velocity);
        velocity_rows_.push_back(i);
    }
    ProgramSpec rows{symbols_, {}, {}};
    phi_ = add_jacobian(rows, "phi by q", phi, q);
    psi_ = add_jacobian(rows, "psi by x", psi, q_and_u);
    rows.outputs.push_back({"phi", phi});
    rows.outputs.push_back({"psi", psi});
    spec.outputs.insert(spec.outputs.end(), rows.outputs.begin(), rows.outputs.end());
    spec.outputs.push_back({"rates", rates});
    spec.outputs.push_back({"u'", nodes_of(g, speed_rates)});
    spec.outputs.push_back({"multipliers", nodes_of(g, multipliers)});
    spec.outputs.push_back({"actuators", nodes_of(g, d_.actuators)});
    const auto entries_of = [](const SparseMatrix& matrix) {
        std::vector<NodeId> out;
        for (const SparseEntry& e : matrix.entries) out.push_back(e.value);
        return out;
    };
    spec.outputs.push_back({"M", entries_of(d_.M())});
    spec.outputs.push_back({"Y", entries_of(kin.Y())});

    std::vector<NodeId> all = residual;
    all.insert(all.end(), rates.begin(), rates.end());
    all.insert(all.end(), phi.begin(), phi.end());
    all.insert(all.end(), psi.begin(), psi.end());
    const std::vector<SymbolId> present = symbols_in(g, all);
    depends_on_time_ = std::find(present.begin(), present.end(), m.time) != present.end();
    psi.insert(psi.end(), phi.begin(), phi.end());
    for (const SymbolId s : symbols_in(g, psi))
        rows_depend_on_inputs_ = rows_depend_on_inputs_ || std::find(w.begin(), w.end(), s) != w.end();
    find_kinks(spec, std::move(all));

    program_ = lower_program(g, spec);
    workspace_ = std::make_unique<Workspace<Digits50>>(program_);
    rows_program_ = lower_program(g, rows);
    rows_workspace_ = std::make_unique<Workspace<Digits50>>(rows_program_);
}

MotionEquations::Entries MotionEquations::add_jacobian(ProgramSpec& spec, const std::string& name, std::span<const NodeId> roots,
                                                       std::span<const SymbolId> variables) {
    const SparseMatrix slopes = jacobian(d_.graph(), roots, variables);
    Entries out{roots.size(), variables.size(), {}};
    OutputGroup group{name, {}};
    for (const SparseEntry& e : slopes.entries) {
        out.places.emplace_back(e.row, e.column);
        group.values.push_back(e.value);
    }
    spec.outputs.push_back(std::move(group));
    return out;
}

// where a derivative jumps: sign, abs, min, max and comparisons, at a zero of what they look at
void MotionEquations::find_kinks(ProgramSpec& spec, std::vector<NodeId> roots) {
    Graph& g = d_.graph();
    Sweep sweep;
    const std::vector<NodeId> order = sweep.collect(g, roots);
    OutputGroup group{"kinks", {}};
    for (const NodeId id : order) {
        const Op op = g.op(id);
        if (op == Op::Abs || op == Op::Sign)
            group.values.push_back(g.operand(id, 0));
        else if (op == Op::Min || op == Op::Max || op == Op::Less || op == Op::LessEqual)
            group.values.push_back(g.sub(g.operand(id, 0), g.operand(id, 1)));
        else
            continue;
        kink_nodes_.push_back(id);
    }
    spec.outputs.push_back(std::move(group));
}

template <class T>
Eigen::MatrixX<T> MotionEquations::Entries::read(const Workspace<T>& from, const std::string& name) const {
    const auto values = from.output(name);
    Eigen::MatrixX<T> out = Eigen::MatrixX<T>::Zero(at_index(rows), at_index(columns));
    for (std::size_t k = 0; k < values.size(); ++k) out(places[k].first, places[k].second) = values[k];
    return out;
}

// by coordinates and speeds, to configuration and speeds
template <class T>
Eigen::MatrixX<T> MotionEquations::by_variations(const Eigen::MatrixX<T>& by_x, std::span<const Digits50> point) const {
    Eigen::MatrixX<T> out(by_x.rows(), at_index(2 * nu_));
    out.leftCols(at_index(nu_)) = by_configuration<T>(by_x.leftCols(at_index(nq_)), point);
    out.rightCols(at_index(nu_)) = by_x.rightCols(at_index(nu_));
    return out;
}

template <class T, class Rows>
void MotionEquations::read_rows(const Workspace<T>& from, std::span<const Digits50> point, Rows& out) const {
    out.phi = vector(from, "phi");
    out.psi = vector(from, "psi");
    out.P = by_configuration(phi_.read(from, "phi by q"), point);
    out.V = by_variations(psi_.read(from, "psi by x"), point);
}

std::optional<RoughRows> MotionEquations::rough_rows_at(std::span<const Digits50> point) {
    if (!rough_rows_) rough_rows_ = std::make_unique<Workspace<double>>(rows_program_);
    std::transform(point.begin(), point.end(), rough_rows_->inputs().begin(),
                   [](const Digits50& value) { return static_cast<double>(value); });
    rough_rows_->run();
    for (const double value : rough_rows_->outputs())
        if (!std::isfinite(value)) return std::nullopt;
    RoughRows out;
    read_rows(*rough_rows_, point, out);
    return out;
}

MotionNumbers MotionEquations::rows_at(std::span<const Digits50> point) {
    MotionNumbers out;
    std::copy(point.begin(), point.end(), rows_workspace_->inputs().begin());
    out.report = rows_workspace_->run();
    for (const Digits50& value : rows_workspace_->outputs())
        if (!is_finite(value)) return out;
    out.finite = true;
    read_rows(*rows_workspace_, point, out);
    return out;
}

// columns of q to columns of the configuration's variations: de = 1/2 G(e) dtheta for a quaternion (Kinematics::derive_speeds)
template <class T>
Eigen::MatrixX<T> MotionEquations::by_configuration(const Eigen::MatrixX<T>& by_q, std::span<const Digits50> point) const {
    Eigen::MatrixX<T> out = Eigen::MatrixX<T>::Zero(by_q.rows(), at_index(nu_));
    const Model& m = *d_.model;
    for (std::size_t c = 0; c < nu_; ++c) {
        const Variation& v = variations_[c];
        if (v.kind == Variation::Kind::coordinate) {
            out.col(at_index(c)) = by_q.col(v.index);
            continue;
        }
        const auto& places = quaternion_of(m, v.index).coordinates;
        std::array<T, 4> e;
        for (std::size_t i = 0; i < 4; ++i) e[i] = static_cast<T>(point[1 + places[i]]) / 2;
        const std::array<std::array<T, 4>, 3> G{
            {{{T(-e[1]), e[0], e[3], T(-e[2])}}, {{T(-e[2]), T(-e[3]), e[0], e[1]}}, {{T(-e[3]), e[2], T(-e[1]), e[0]}}}};
        for (std::size_t i = 0; i < 4; ++i) out.col(at_index(c)) += by_q.col(at_index(places[i])) * G[v.axis][i];
    }
    return out;
}

bool MotionEquations::is_kink(const Digits50& argument) {
    static const Digits50 bar("1e-25");  // of numbers of size one, subtracted with fifty digits
    return abs(argument) <= bar;
}

MotionNumbers MotionEquations::at(std::span<const Digits50> point) {
    MotionNumbers out = evaluate(point);
    const bool kinked = out.finite ? std::any_of(out.kinks.begin(), out.kinks.end(), is_kink)
                                   : out.report.status == EvalStatus::ok || out.report.status == EvalStatus::not_finite;
    if (!kinked) return out;
    if (std::optional<MotionNumbers> limit = limit_at(point)) return std::move(*limit);
    return out;
}

// Drag -|v| v at rest has the derivative zero, though abs and the root in |v| have none there; (1 - cos x)/x^2 has a value at
// zero. The numbers at states a little to both sides in some directions tell: where all agree, and at two distances, they are
// continued to the point; the part that is even in the distance and linear in it goes.
std::optional<MotionNumbers> MotionEquations::limit_at(std::span<const Digits50> point) {
    constexpr int k_directions = 3;
    // far enough for what fifty digits leave of a cancellation, near enough for the digits of a double
    static const Digits50 near("1e-18"), far("1e-16"), agree("1e-12");
    std::uint64_t state = 0x9e3779b97f4a7c15ull;
    std::vector<std::vector<Digits50>> nearest, farther;
    MotionNumbers out;
    for (int direction = 0; direction < k_directions; ++direction) {
        Column50 along(at_index(2 * nu_));
        for (Digits50& entry : along) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            entry = Digits50(static_cast<double>(state >> 11)) / Digits50(9007199254740992.0) + Digits50(0.25);
            if ((state & (1ull << 40)) != 0) entry = -entry;
        }
        for (const bool at_near : {false, true})
            for (const int side : {1, -1}) {
                std::vector<Digits50> beside(point.begin(), point.end());
                move(beside, along * ((at_near ? near : far) * side));
                out = evaluate(beside);
                if (!out.finite) return std::nullopt;
                (at_near ? nearest : farther).push_back(numbers_of(out));
            }
    }
    std::vector<Digits50> limit(nearest.front().size());
    const Digits50 count(static_cast<double>(nearest.size()));
    for (std::size_t i = 0; i < limit.size(); ++i) {
        Digits50 least = nearest[0][i], largest = least, sum_near(0), sum_far(0);
        for (std::size_t k = 0; k < nearest.size(); ++k) {
            least = std::min({least, nearest[k][i], farther[k][i]});
            largest = std::max({largest, nearest[k][i], farther[k][i]});
            sum_near += nearest[k][i];
            sum_far += farther[k][i];
        }
        if (largest - least > agree * (1 + std::max(Digits50(abs(least)), Digits50(abs(largest))))) return std::nullopt;
        limit[i] = (sum_near + (sum_near - sum_far) * (near / (far - near))) / count;
    }
    set_numbers(out, limit);
    out.limit = true;
    return out;
}

MotionNumbers MotionEquations::evaluate(std::span<const Digits50> point) {
    MotionNumbers out;
    APPELL_ASSERT(point.size() == symbols_.size(), "a point lists t, q, u, parameters, inputs");
    std::copy(point.begin(), point.end(), workspace_->inputs().begin());
    out.report = workspace_->run();
    if (out.report.status != EvalStatus::ok && out.report.status != EvalStatus::inconsistent_rows) return out;
    for (const Digits50& value : workspace_->outputs())
        if (!is_finite(value)) return out;
    out.finite = true;
    out.speed_rates = vector(*workspace_, "u'");
    out.rates = vector(*workspace_, "rates");
    out.multipliers = vector(*workspace_, "multipliers");
    out.actuators = vector(*workspace_, "actuators");
    out.kinks = vector(*workspace_, "kinks");
    read_rows(*workspace_, point, out);
    const auto nq = at_index(nq_), nu = at_index(nu_);
    const Matrix50 R = R_.read(*workspace_, "R");
    out.R_x = by_variations<Digits50>(R.leftCols(nq + nu), point);
    out.R_w = R.middleCols(nq + nu, at_index(inputs_));
    out.R_z = R.rightCols(at_index(unknowns_));
    out.G = by_variations(rates_.read(*workspace_, "rates by x"), point);
    out.M = Matrix50::Zero(nu, nu);
    const auto masses = workspace_->output("M");
    for (std::size_t k = 0; k < masses.size(); ++k) {
        const SparseEntry& e = d_.M().entries[k];
        out.M(e.row, e.column) = out.M(e.column, e.row) = masses[k];
    }
    out.Y = Matrix50::Zero(nu, nu);
    const auto definitions = workspace_->output("Y");
    for (std::size_t k = 0; k < definitions.size(); ++k) {
        const SparseEntry& e = d_.kinematics->Y().entries[k];
        out.Y(e.row, e.column) = definitions[k];
    }
    return out;
}

void MotionEquations::move(std::vector<Digits50>& point, const Column50& step) const {
    const Model& m = *d_.model;
    std::vector<std::array<Digits50, 3>> turns(m.frames.size());
    std::vector<bool> turned(m.frames.size(), false);
    for (std::size_t k = 0; k < variations_.size(); ++k) {
        const Variation& v = variations_[k];
        const Digits50& by = step(at_index(k));
        switch (v.kind) {
            case Variation::Kind::coordinate: point[1 + v.index] += by; break;
            case Variation::Kind::speed: point[1 + nq_ + v.index] += by; break;
            case Variation::Kind::turn: turns[v.index][v.axis] = by; turned[v.index] = true;
        }
    }
    for (std::size_t f = 0; f < m.frames.size(); ++f) {
        if (!turned[f]) continue;
        // e times the quaternion of a turn about body axes by |turn|
        const std::array<Digits50, 3>& h = turns[f];
        const Digits50 angle = sqrt(Digits50(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]));
        if (angle == 0) continue;
        const Digits50 c = cos(Digits50(angle / 2)), s = sin(Digits50(angle / 2)) / angle;
        const Digits50 x = h[0] * s, y = h[1] * s, z = h[2] * s;
        const auto& places = quaternion_of(m, f).coordinates;
        std::array<Digits50, 4> e;
        for (std::size_t i = 0; i < 4; ++i) e[i] = point[1 + places[i]];
        point[1 + places[0]] = e[0] * c - e[1] * x - e[2] * y - e[3] * z;
        point[1 + places[1]] = e[1] * c + e[0] * x - e[3] * y + e[2] * z;
        point[1 + places[2]] = e[2] * c + e[3] * x + e[0] * y - e[1] * z;
        point[1 + places[3]] = e[3] * c - e[2] * x + e[1] * y + e[0] * z;
    }
}

void MotionEquations::normalise(std::vector<Digits50>& point) const {
    for (const Frame& frame : d_.model->frames)
        if (const auto* rotation = std::get_if<QuaternionRotation>(&frame.orientation)) {
            Digits50 square(0);
            for (const std::size_t i : rotation->coordinates) square += point[1 + i] * point[1 + i];
            for (const std::size_t i : rotation->coordinates) point[1 + i] /= sqrt(square);
        }
}

std::vector<double> MotionEquations::values(std::span<const Digits50> point) const {
    std::vector<double> out(d_.graph().symbol_count(), 0);
    for (std::size_t i = 0; i < symbols_.size(); ++i) out[symbols_[i].index()] = static_cast<double>(point[i]);
    return out;
}

}  // namespace appell
