#include "doctor/power.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "doctor/classification.hpp"
#include "doctor/pfaffian.hpp"
#include "dynam/constraint_forces.hpp"
#include "dynam/formulations.hpp"
#include "expr/dependence.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"
#include "tape/workspace.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

constexpr std::size_t k_looked_at = 6;
const Digits50 k_zero = 1e-25;

bool zero_at_samples(const Graph& g, const Samples& samples, NodeId node) {
    for (std::size_t k = 0; k < std::min(k_looked_at, samples.size()); ++k)
        if (!(abs(samples.evaluate(g, std::span(&node, 1), k).front()) < k_zero)) return false;
    return true;
}

std::size_t size_of(const Graph& g, NodeId node) {
    Sweep sweep;
    return sweep.collect(g, std::span(&node, 1)).size();
}

// Sum W . v + sum tau . omega + generalized, with the velocities that the motion has. A generalized force acts along r' = Y^-1
// (u - Z): where a speed is measured against something that moves, Z is no motion of the system.
NodeId power_of(const ConstrainedDynamics& d, const ConstraintForces& forces, std::span<const NodeId> offsets) {
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    std::vector<NodeId> terms;
    for (const ForceDirection& f : forces.forces) {
        const Vec3 v = f.body.valid() ? kin.material_velocity(f.body, f.point) : kin.velocity(f.point);
        terms.push_back(kin.frames().dot(kin.resolve_vector(f.W), {{v}}));
    }
    for (const TorqueDirection& t : forces.torques)
        terms.push_back(kin.frames().dot(kin.resolve_vector(t.tau), {{kin.omega(t.body)}}));
    for (const GeneralizedDirection& r : forces.generalized)
        terms.push_back(g.mul(r.value, g.sub(g.symbol_node(d.model->speeds[r.speed].u), offsets[r.speed])));
    return terms.empty() ? g.constant(0) : g.sum(terms);
}

// generalized momenta dT/dq', by the chain rule through u = Y r + Z
std::vector<Conserved> momenta(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const Kinematics& kin = *d.kinematics;
    std::vector<SymbolId> speeds;
    for (const Speed& s : m.speeds) speeds.push_back(s.u);
    std::vector<NodeId> by_speed(speeds.size(), g.constant(0));
    for (const SparseEntry& e : jacobian(g, std::span(&d.kinetic_energy, 1), speeds).entries) by_speed[e.column] = e.value;
    std::vector<Conserved> out;
    for (std::size_t i = 0; i < kin.independent_rates().size(); ++i) {
        std::vector<NodeId> terms;
        for (const SparseEntry& e : kin.Y().entries)
            if (e.column == i) terms.push_back(g.mul(e.value, by_speed[e.row]));
        if (terms.empty()) continue;
        const std::string& rate = g.symbol(kin.independent_rates()[i]).name;
        out.push_back({fmt::format("the momentum dT/d{}", rate), g.sum(terms)});
    }
    for (std::size_t r = 0; r < speeds.size(); ++r) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const Conserved& c) { return c.value == by_speed[r]; });
        if (!known) out.push_back({fmt::format("the momentum dT/d{}", m.speeds[r].name), by_speed[r]});
    }
    return out;
}

}  // namespace

PowerAudit audit_power(const ConstrainedDynamics& d, const Samples& samples) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    Kinematics& kin = *d.kinematics;
    PowerAudit out;
    const AffineRows affine = affine_rows(d);
    const std::vector<RowClass> classes = classify(d, samples);
    const std::vector<ConstraintForces> forces = row_forces(d);
    const std::vector<NodeId> offsets = kin.speed_offsets();
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        if (d.rows[i].by_actuators) continue;
        RowPower row{i, true, g.constant(0)};
        NodeId power = power_of(d, forces[i], offsets);
        row.workless = zero_at_samples(g, samples, power);
        if (!row.workless) {
            // shorter forms that are equal on the constraint
            std::vector<NodeId> shorter;
            for (std::size_t k = 0; k < affine.rows.size(); ++k) {
                if (affine.rows[k] != i) continue;
                NodeId still = affine.c[k];
                for (std::size_t r = 0; r < offsets.size(); ++r) still = g.add(still, g.mul(affine.a[k][r], offsets[r]));
                shorter.push_back(g.neg(still));
            }
            if (const auto p = classes[i].affine_degree) {
                // Euler: what remains of p phi is p times phi at rest
                Substitution at_rest;
                for (const Speed& s : m.speeds) at_rest.set(s.u, g.constant(0));
                shorter.push_back(g.mul(g.constant(-*p), substitute(g, d.rows[i].velocity, at_rest)));
            }
            const auto cost = [&](NodeId form) { return std::pair(depends_on(g, form, SymbolKind::speed), size_of(g, form)); };
            for (const NodeId form : shorter)
                if (cost(form) < cost(power) && zero_at_samples(g, samples, g.sub(form, power))) power = form;
            row.per_multiplier = power;
            out.reasons.push_back(fmt::format("the force of constraint {} does work", d.rows[i].name));
        }
        out.rows.push_back(row);
    }

    // the rates of candidates along the motion
    const NodeId energy = g.add(d.kinetic_energy, d.potential_energy);
    std::vector<Conserved> candidates = momenta(d);
    std::vector<NodeId> terms{g.neg(d.kinetic_energy), d.potential_energy};
    {
        std::vector<SymbolId> speeds;
        for (const Speed& s : m.speeds) speeds.push_back(s.u);
        for (const SparseEntry& e : jacobian(g, std::span(&d.kinetic_energy, 1), speeds).entries)
            terms.push_back(g.mul(e.value, g.sub(g.symbol_node(speeds[e.column]), offsets[e.column])));
    }
    const NodeId jacobi = g.sum(terms);
    const bool has_jacobi = !vanishes_identically(g, g.sub(jacobi, energy));
    if (has_jacobi) candidates.push_back({"Jacobi's integral T2 - T0 + V", jacobi});
    std::vector<NodeId> values{energy}, rates{kin.rate(energy)};
    for (const Conserved& c : candidates) {
        values.push_back(c.value);
        rates.push_back(kin.rate(c.value));
    }
    for (const NodeId rate : rates) out.autonomous = out.autonomous && !depends_on(g, rate, SymbolKind::time);
    const Formulated formulated = formulate(d, Formulation::multipliers, {}, {});
    std::vector<bool> constant(values.size(), true), trivial(values.size(), true);
    const Program program = lower_program(g, {samples.symbols, formulated.solves, {{"rates", rates}, {"values", values}}});
    Workspace<Digits50> workspace(program);
    std::size_t evaluated = 0;
    for (std::size_t k = 0; k < std::min(k_looked_at, samples.size()); ++k) {
        std::copy(samples.states[k].begin(), samples.states[k].end(), workspace.inputs().begin());
        const EvalStatus status = workspace.run().status;
        if (status != EvalStatus::ok && status != EvalStatus::inconsistent_rows) continue;
        ++evaluated;
        const auto rate = workspace.output("rates"), value = workspace.output("values");
        // energies and momenta of the model, whatever its units are
        Digits50 size(0);
        for (const Digits50& v : value) size = std::max(size, Digits50(abs(v)));
        for (std::size_t i = 0; i < values.size(); ++i) {
            constant[i] = constant[i] && abs(rate[i]) <= k_zero * (size + abs(value[i]));
            trivial[i] = trivial[i] && abs(value[i]) <= k_zero * size;
        }
    }
    out.decided = evaluated > 0;
    if (!out.decided) return out;
    out.energy_conserved = constant[0];
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (constant[i + 1] && !trivial[i + 1]) out.conserved.push_back(candidates[i]);
    if (out.energy_conserved) {
        out.reasons.clear();
        return out;
    }
    if (!d.C.empty()) out.reasons.push_back("nonideal constraint forces do work");
    if (!d.actuators.empty()) out.reasons.push_back("actuators do work");
    for (const Load& load : m.loads) {
        const bool potential = std::holds_alternative<GravityLoad>(load.what) || std::holds_alternative<SpringLoad>(load.what) ||
                               std::holds_alternative<PotentialLoad>(load.what);
        if (!potential) out.reasons.push_back(fmt::format("`{}` is no part of V", load.text));
    }
    // members of a family have the same load
    std::vector<std::string> once;
    for (std::string& reason : out.reasons)
        if (std::find(once.begin(), once.end(), reason) == once.end()) once.push_back(std::move(reason));
    out.reasons = std::move(once);
    if (depends_on(g, d.potential_energy, SymbolKind::time)) out.reasons.push_back("the potential energy depends on time");
    if (depends_on(g, d.kinetic_energy, SymbolKind::time) || has_jacobi)
        out.reasons.push_back("points are driven: their positions or the speeds depend on time as written");
    return out;
}

}  // namespace appell
