#include "dynam/nonideal.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "dynam/loads.hpp"
#include "dynam/modes.hpp"
#include "dynam/quantities.hpp"
#include "expr/dependence.hpp"
#include "expr/substitute.hpp"

namespace appell {

namespace {

NodeId& value_of(Action& action) {
    if (auto* force = std::get_if<ForceLoad>(&action)) return force->force;
    if (auto* torque = std::get_if<TorqueLoad>(&action)) return torque->torque;
    return std::get<GeneralizedLoad>(action).force;
}

void derive_actuators(ConstrainedDynamics& d, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    const Graph& g = d.graph();
    d.D = {m.speeds.size(), 0, {}};
    for (std::size_t k = 0; k < m.actuators.size(); ++k) {
        const Actuator& actuator = m.actuators[k];
        const bool used = std::any_of(m.constraints.begin(), m.constraints.end(), [&](const Constraint& c) {
            return std::find(c.actuators.begin(), c.actuators.end(), k) != c.actuators.end();
        });
        if (!used) {
            diagnostics.add({Code::E0723, actuator.span, fmt::format("actuator {} keeps no servo-constraint", actuator.name), "",
                             "a servo-constraint that names it",
                             fmt::format("write `by {}` behind one, or take it out", actuator.name)});
            continue;
        }
        const auto column = static_cast<std::uint32_t>(d.actuators.size());
        const std::vector<NodeId> direction = generalized_forces(*d.kinematics, actuator.directions);
        bool moves = false;
        for (std::uint32_t r = 0; r < direction.size(); ++r) {
            if (g.is_constant(direction[r], 0)) continue;
            d.D.entries.push_back({r, column, direction[r]});
            moves = true;
        }
        if (!moves)
            diagnostics.add({Code::E0723, actuator.span, fmt::format("actuator {} moves nothing", actuator.name), actuator.text,
                             "a force, torque or load that does work on some speed", ""});
        d.actuators.push_back(actuator.magnitude);
    }
    d.D.columns = d.actuators.size();
    std::stable_sort(d.D.entries.begin(), d.D.entries.end(),
                     [](const SparseEntry& x, const SparseEntry& y) { return x.row < y.row; });
    const auto servo_rows = static_cast<std::size_t>(
        std::count_if(d.rows.begin(), d.rows.end(), [](const ConstraintRow& row) { return row.by_actuators; }));
    if (servo_rows > d.actuators.size() && !diagnostics.has_errors()) {
        Span span;
        for (const ConstraintRow& row : d.rows)
            if (row.by_actuators) span = m.constraints[row.constraint].span;
        diagnostics.add(
            {Code::E0724, span, "there are fewer actuators than servo-constraints",
             fmt::format("{} actuator{} for {} rows", d.actuators.size(), d.actuators.size() == 1 ? "" : "s", servo_rows),
             "at least one actuator for each row", "add an actuator, or keep some of them by ideal forces"});
    }
}

// Zero for each multiplier that no row has. A constraint that is off exerts no force, and neither does a component that was left
// out because it is zero in every state.
Substitution multipliers_without_row(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    std::set<SymbolId> present;
    for (const ConstraintRow& row : d.rows) present.insert(row.multiplier);
    Substitution none;
    for (const Constraint& c : d.model->constraints)
        for (std::size_t i = 0; i < c.multipliers.size(); ++i) {
            if (present.contains(c.multipliers[i])) continue;
            none.set(c.multipliers[i], g.constant(0));
            none.set(c.ideal_multipliers[i], g.constant(0));
        }
    return none;
}

}  // namespace

std::vector<NonidealForce> laws_of(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    std::vector<NonidealForce> laws;
    for (std::size_t i = 0; i < m.frictions.size(); ++i) {
        if (!slides(d, i)) continue;
        const Friction& friction = m.frictions[i];
        ForceLoad load = friction.on;
        load.force = sliding_force(d, i);
        laws.push_back({friction.constraint, load, friction.text, friction.span});
        if (!friction.from) continue;
        ForceLoad opposite = *friction.from;
        opposite.force = d.graph().vneg(load.force);
        laws.push_back({friction.constraint, opposite, friction.text, friction.span});
    }
    for (const NonidealForce& n : m.nonideal)
        if (d.off.empty() || !d.off[n.constraint]) laws.push_back(n);
    return laws;
}

void derive_nonideal(ConstrainedDynamics& d, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    Graph& g = d.graph();
    derive_actuators(d, diagnostics);
    if (m.nonideal.empty() && m.frictions.empty()) return;
    WrittenForces forces(d, diagnostics);
    std::vector<Action> actions;
    for (const NonidealForce& n : laws_of(d)) {
        if (!m.constraints[n.constraint].actuators.empty())
            diagnostics.add(
                {Code::E0725, n.span,
                 fmt::format("constraint {} is kept by actuators and has no force of its own", m.constraints[n.constraint].name),
                 n.text, "a constraint that is kept by ideal forces", "write it as a `force`"});
        Action action = n.what;
        value_of(action) = forces.put_in(value_of(action), n.span);
        actions.push_back(std::move(action));
    }
    if (diagnostics.has_errors() || actions.empty()) return;
    d.C = generalized_forces(*d.kinematics, actions);
    d.C = substitute(g, d.C, multipliers_without_row(d));
    const std::vector<SymbolId> symbols = symbols_in(g, d.C);
    for (const Constraint& c : m.constraints)
        for (std::size_t i = 0; i < c.multipliers.size(); ++i) {
            const auto uses = [&](SymbolId s) { return std::find(symbols.begin(), symbols.end(), s) != symbols.end(); };
            d.C_of_ideal = d.C_of_ideal || uses(c.ideal_multipliers[i]);
            d.C_of_reaction = d.C_of_reaction || uses(c.multipliers[i]);
        }
}

}  // namespace appell
