#include "pipeline/start_problems.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/nonideal.hpp"
#include "dynam/quantities.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "expr/print.hpp"
#include "expr/sweep.hpp"
#include "pipeline/lower_motion.hpp"
#include "tape/dense_rank.hpp"
#include "tape/workspace.hpp"

namespace appell {

namespace {

// what double leaves of a zero after a few operations, on rows scaled to their largest entry
constexpr double k_zero = 1e-9;

// What is small against the largest number of all is round-off; rows are scaled by themselves later.
std::vector<Digits50> without_round_off(std::span<const double> numbers) {
    double largest = 0;
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
    std::vector<Digits50> out;
    for (const double number : numbers) out.emplace_back(std::abs(number) > 1e-13 * largest ? number : 0.0);
    return out;
}

// a basis of what M takes to zero; empty, too, where M is not finite
std::vector<std::vector<Digits50>> null_space_of_mass(const ConstrainedDynamics& d, std::span<const double> values) {
    Graph& g = d.graph();
    const std::size_t n = d.model->speeds.size();
    std::vector<NodeId> entries(n * n, g.constant(0));
    for (const SparseEntry& e : d.M().entries) entries[e.row * n + e.column] = entries[e.column * n + e.row] = e.value;
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) return {};
    return DenseRank(without_round_off(numbers), n, Digits50(k_zero)).null_space();
}

// "a - 2*b" of the entries that are not zero, the first with the sign +
std::string combination(const std::vector<Digits50>& coefficients, const std::vector<std::string>& names) {
    std::string out;
    double first = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto c = static_cast<double>(coefficients[i]);
        if (std::abs(c) < k_zero) continue;
        if (first == 0) first = c;
        c /= first;
        const std::string sign = out.empty() ? "" : c < 0 ? " - " : " + ";
        const std::string size = std::abs(std::abs(c) - 1) < k_zero ? "" : short_number(std::abs(c), 6) + "*";
        out += sign + size + names[i];
    }
    return out;
}

}  // namespace

std::vector<double> values_at(const ConstrainedDynamics& d, const Motion& motion, double t, std::span<const double> x) {
    std::vector<double> values(d.graph().symbol_count(), 0.0), state{t};
    state.insert(state.end(), x.begin(), x.end());
    state.insert(state.end(), motion.parameters.begin(), motion.parameters.end());
    const std::vector<SymbolId> symbols = program_inputs(*d.model);
    for (std::size_t i = 0; i < symbols.size(); ++i) values[symbols[i].index()] = state[i];
    return values;
}

std::optional<Diagnostic> singular_coordinates(const ConstrainedDynamics& d, const Motion& motion, double t,
                                               std::span<const double> x) {
    const Model& m = *d.model;
    const auto null_space = null_space_of_mass(d, values_at(d, motion, t, x));
    std::vector<std::string> names;
    for (const Speed& speed : m.speeds) names.push_back(speed.name);
    for (const std::vector<Digits50>& together : null_space) {
        const auto in = [&](const Digits50& c) { return abs(c) > Digits50(k_zero); };
        if (std::count_if(together.begin(), together.end(), in) < 2) continue;
        // elsewhere they move something, or it is the masses that are wrong and not the place
        std::vector<double> elsewhere(x.begin(), x.end());
        for (std::size_t i = 0; i < m.coordinates.size(); ++i)
            elsewhere[i] += (0.1 + 0.01 * static_cast<double>(i)) * (1 + std::abs(elsewhere[i]));
        if (!null_space_of_mass(d, values_at(d, motion, t, elsewhere)).empty()) return std::nullopt;
        const auto first = static_cast<std::size_t>(std::find_if(together.begin(), together.end(), in) - together.begin());
        std::vector<std::string> involved;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (in(together[i])) involved.push_back(names[i]);
        return Diagnostic{Code::E0605,
                          m.speeds[first].span,
                          fmt::format("the coordinates are singular at the start: {} together move nothing there",
                                      fmt::join(involved, " and ")),
                          fmt::format("no kinetic energy in {}", combination(together, names)),
                          "coordinates whose rates all move something at the start",
                          "start elsewhere, or choose other angles (a quaternion has no such states)"};
    }
    return std::nullopt;
}

std::optional<Diagnostic> law_without_value(const ConstrainedDynamics& d, const Motion& motion, double t,
                                            std::span<const double> x) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    Diagnostics ignored;  // the laws have been derived before
    WrittenForces forces(d, ignored);
    const auto known = [&](NodeId scalar) {
        const std::vector<SymbolId> symbols = symbols_in(g, std::span(&scalar, 1));
        return std::none_of(symbols.begin(), symbols.end(), [&](SymbolId s) {
            const SymbolKind kind = g.symbol(s).kind;
            return kind == SymbolKind::multiplier || kind == SymbolKind::other || kind == SymbolKind::speed_rate;
        });
    };
    for (const NonidealForce& law : laws_of(d)) {
        NodeId written;
        if (const auto* force = std::get_if<ForceLoad>(&law.what))
            written = force->force;
        else if (const auto* torque = std::get_if<TorqueLoad>(&law.what))
            written = torque->torque;
        else
            written = std::get<GeneralizedLoad>(law.what).force;
        const NodeId whole = forces.put_in(written, law.span);
        Sweep sweep;
        const std::vector<NodeId> nodes = sweep.collect(g, std::span(&whole, 1));
        for (const NodeId node : nodes) {
            NodeId divisor;
            if (g.op(node) == Op::Div) divisor = g.operand(node, 1);
            if (g.op(node) == Op::PowInt && g.exponent(node) < 0) divisor = g.operand(node, 0);
            if (!divisor.valid()) continue;
            const NodeId scalar = d.kinematics->resolve(divisor);
            if (!known(scalar)) continue;
            const double value = evaluate<double>(g, std::span(&scalar, 1), values_at(d, motion, t, x)).front();
            if (value != 0 && !std::isnan(value)) continue;
            const bool moves = depends_on(g, scalar, SymbolKind::speed);
            return Diagnostic{
                Code::E0851,
                law.span,
                fmt::format("the law of constraint {} has no value at t = {}: it divides by {}, which vanishes there",
                            m.constraints[law.constraint].name, short_number(t), to_text(g, divisor)),
                law.text,
                "a law that is finite there",
                moves ? fmt::format("a direction of motion says nothing at rest; dry friction written as `nonideal "
                                    "{}: friction on P = ...` sticks and slides",
                                    m.constraints[law.constraint].name)
                      : std::string("start elsewhere, or write the law without that division")};
        }
    }
    return std::nullopt;
}

std::optional<PartWithoutValue> part_without_value(const ConstrainedDynamics& d, const Motion& motion, double t,
                                                   std::span<const double> x, const std::string& when) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    const std::vector<double> values = values_at(d, motion, t, x);
    const auto unknown = [&](NodeId scalar) {
        const std::vector<SymbolId> symbols = symbols_in(g, std::span(&scalar, 1));
        return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId s) {
            const SymbolKind kind = g.symbol(s).kind;
            return kind == SymbolKind::multiplier || kind == SymbolKind::other || kind == SymbolKind::speed_rate;
        });
    };
    // operands come first: the first number that is not finite is made of such as are
    const auto look_into = [&](NodeId written, const std::string& what, Span span) -> std::optional<PartWithoutValue> {
        Sweep sweep;
        for (const NodeId node : std::vector<NodeId>(sweep.collect(g, std::span(&written, 1)))) {
            if (g.is_vector(node)) continue;
            const NodeId scalar = d.kinematics->resolve(node);
            if (unknown(scalar)) continue;
            const double value = evaluate<double>(g, std::span(&scalar, 1), values).front();
            if (!std::isfinite(value))
                return PartWithoutValue{span, fmt::format("{} has no value {}", what, when),
                                        fmt::format("{} is {}", to_text(g, node), std::isnan(value) ? "no number" : "infinite")};
        }
        return std::nullopt;
    };
    for (std::size_t i = 1; i < m.points.size(); ++i)
        if (auto found = look_into(m.points[i].position, "the position of " + m.points[i].name, m.points[i].span)) return found;
    for (const Speed& speed : m.speeds)
        if (auto found = look_into(speed.definition, "the definition of speed " + speed.name, speed.span)) return found;
    for (std::size_t i = 0; i < m.constraints.size(); ++i) {
        const Constraint& c = m.constraints[i];
        if (!d.off.empty() && d.off[i]) continue;
        if (auto found = look_into(c.phi, "constraint " + c.name, c.span)) return found;
    }
    for (const Load& load : m.loads) {
        struct Expressions {
            std::vector<NodeId> operator()(const ForceLoad& l) const { return {l.force}; }
            std::vector<NodeId> operator()(const TorqueLoad& l) const { return {l.torque}; }
            std::vector<NodeId> operator()(const GravityLoad& l) const { return {l.acceleration}; }
            std::vector<NodeId> operator()(const SpringLoad& l) const { return {l.stiffness, l.length}; }
            std::vector<NodeId> operator()(const DamperLoad& l) const { return {l.coefficient}; }
            std::vector<NodeId> operator()(const GeneralizedLoad& l) const { return {l.force}; }
            std::vector<NodeId> operator()(const PotentialLoad& l) const { return {l.energy}; }
        };
        for (const NodeId written : std::visit(Expressions{}, load.what))
            if (auto found = look_into(written, "this load", load.span)) return found;
    }
    // a root of zero is finite, its derivative is not
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        std::vector<std::pair<NodeId, std::string>> derived{{d.b[i], "a second derivative"}};
        for (const SparseEntry& e : d.A.entries)
            if (e.row == i) derived.emplace_back(e.value, "the derivative by " + m.speeds[e.column].name);
        for (const auto& [node, name] : derived) {
            if (unknown(node) || std::isfinite(evaluate<double>(g, std::span(&node, 1), values).front())) continue;
            const Constraint& c = m.constraints[d.rows[i].constraint];
            return PartWithoutValue{c.span, fmt::format("constraint {} has no finite derivatives {}", c.name, when),
                                    fmt::format("{}: {}", name, to_text(g, node))};
        }
    }
    return std::nullopt;
}

std::string unreachable_combinations(const ConstrainedDynamics& d, const Motion& motion, double t, std::span<const double> x) {
    Graph& g = d.graph();
    const std::size_t n = d.model->speeds.size(), p = d.actuators.size();
    std::vector<std::string> names;
    std::vector<std::uint32_t> place(d.rows.size());  // among the rows of actuators, or among the others
    std::uint32_t ideal = 0;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        place[i] = d.rows[i].by_actuators ? static_cast<std::uint32_t>(names.size()) : ideal++;
        if (d.rows[i].by_actuators) names.push_back(d.rows[i].name);
    }
    // what a unit of each actuator accelerates, with the rows that ideal forces keep:  M x - A' lambda = D_k,  A x = 0
    SparseMatrix A{ideal, n, {}};
    std::vector<std::vector<NodeId>> servo(names.size(), std::vector<NodeId>(n, g.constant(0)));
    for (const SparseEntry& e : d.A.entries) {
        if (d.rows[e.row].by_actuators)
            servo[place[e.row]][e.column] = e.value;
        else
            A.entries.push_back({place[e.row], e.column, e.value});
    }
    ProgramSpec spec{program_inputs(*d.model), {}, {{"reached", {}}}};
    for (std::size_t k = 0; k < p; ++k) {
        ConstrainedSolve solve;
        solve.M = d.M();
        solve.A = A;
        solve.f.assign(n, g.constant(0));
        for (const SparseEntry& e : d.D.entries)
            if (e.column == k) solve.f[e.row] = e.value;
        solve.b.assign(ideal, g.constant(0));
        for (std::size_t j = 0; j < n; ++j) solve.x.push_back(g.add_symbol(fmt::format("x{}", j), SymbolKind::other));
        for (std::uint32_t i = 0; i < ideal; ++i) solve.lambda.push_back(g.add_symbol(fmt::format("l{}", i), SymbolKind::other));
        for (const std::vector<NodeId>& row : servo) {
            NodeId sum = g.constant(0);
            for (std::size_t j = 0; j < n; ++j) sum = g.add(sum, g.mul(row[j], g.symbol_node(solve.x[j])));
            spec.outputs.front().values.push_back(sum);
        }
        spec.solves.push_back(std::move(solve));
    }
    const Program program = lower_program(g, spec);
    Workspace<double> workspace(program);
    std::vector<double> inputs{t};
    inputs.insert(inputs.end(), x.begin(), x.end());
    inputs.insert(inputs.end(), motion.parameters.begin(), motion.parameters.end());
    std::copy_n(inputs.begin(), workspace.inputs().size(), workspace.inputs().begin());
    if (workspace.run().status != EvalStatus::ok) return "";
    const auto reached = workspace.output("reached");
    std::vector<std::string> out;
    for (const auto& direction : DenseRank(without_round_off(reached), names.size(), Digits50(k_zero)).null_space())
        out.push_back(combination(direction, names));
    return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace appell
