#include "dynam/gibbs_appell.hpp"

#include "dynam/central_inertia.hpp"
#include "dynam/inertia_sums.hpp"
#include "dynam/loads.hpp"
#include "dynam/multipliers.hpp"
#include "expr/substitute.hpp"

namespace appell {

std::vector<NodeId> acceleration_energies(const ConstrainedDynamics& d) {
    Kinematics& kin = *d.kinematics;
    Graph& g = kin.graph();
    const NodeId half = g.constant(0.5);
    std::vector<NodeId> terms;
    const auto of_mass = [&](PointId point, NodeId mass) {
        const Vec3& v = kin.velocity(point);
        const Vec3 local{v.frame, {kin.rate(v.c[0]), kin.rate(v.c[1]), kin.rate(v.c[2])}};
        const Vec3 a = add(g, local, cross(g, kin.omega(v.frame), v));
        return g.mul(half, g.mul(kin.resolve(mass), dot(g, a, a)));
    };
    for (const Particle& p : d.model->particles) terms.push_back(of_mass(p.point, p.mass));
    Diagnostics ignored;  // the inertia was judged when the dynamics were derived
    for (const Body& b : d.model->bodies) {
        const Matrix3 I = central_inertia(kin, b, ignored);
        const Vec3& w = kin.omega(b.frame);
        const Vec3 alpha{b.frame, {kin.rate(w.c[0]), kin.rate(w.c[1]), kin.rate(w.c[2])}};
        const Vec3 I_alpha{b.frame, multiply(g, I, alpha.c)}, I_w{b.frame, multiply(g, I, w.c)};
        const NodeId turning = g.add(g.mul(half, dot(g, alpha, I_alpha)), dot(g, alpha, cross(g, w, I_w)));
        terms.push_back(g.add(of_mass(b.center, b.mass), turning));
    }
    return terms;
}

std::vector<NodeId> generalized_active_forces(const ConstrainedDynamics& d) {
    Kinematics& kin = *d.kinematics;
    Graph& g = kin.graph();
    InertiaSums sums(kin);
    const ResolvedLoads loads = add_loads(kin, sums);
    const auto weigh = [&](PointId point, NodeId mass) {
        sums.add_force(point, scale(g, kin.resolve(mass), kin.frames().express(loads.gravity, kin.velocity(point).frame)));
    };
    for (const Particle& p : d.model->particles) weigh(p.point, p.mass);
    for (const Body& b : d.model->bodies) weigh(b.center, b.mass);
    std::vector<NodeId> forces = sums.generalized_forces();
    for (std::size_t i = 0; i < d.added_force.size(); ++i) forces[i] = g.add(forces[i], d.added_force[i]);
    return forces;
}

ConstrainedSolve gibbs_appell_form(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    std::vector<SymbolId> accelerations;
    for (const Speed& s : d.model->speeds) accelerations.push_back(s.rate);
    const NodeId S = g.sum(acceleration_energies(d));
    const SparseMatrix gradient = jacobian(g, std::span(&S, 1), accelerations, DerivativeMode::reverse);
    std::vector<NodeId> rows(accelerations.size(), g.constant(0));
    for (const SparseEntry& e : gradient.entries) rows[e.column] = e.value;
    // dS/du' = M u' + (terms without u')
    const SparseMatrix M = jacobian(g, rows, accelerations, DerivativeMode::reverse);
    Substitution at_rest;
    for (const SymbolId a : accelerations) at_rest.set(a, g.constant(0));
    const std::vector<NodeId> bias = substitute(g, rows, at_rest);
    const std::vector<NodeId> active = generalized_active_forces(d);

    ConstrainedSolve solve = multipliers_form(d);
    solve.kind = SolveKind::minimal;
    solve.M.entries.clear();
    for (const SparseEntry& e : M.entries)
        if (e.row >= e.column) solve.M.entries.push_back(e);
    for (std::size_t i = 0; i < active.size(); ++i) solve.f[i] = g.sub(active[i], bias[i]);
    return solve;
}

}  // namespace appell
