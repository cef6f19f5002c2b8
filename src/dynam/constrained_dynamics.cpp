#include "dynam/constrained_dynamics.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dynam/constraint_rows.hpp"
#include "dynam/inertia_sums.hpp"
#include "dynam/loads.hpp"
#include "expr/dependence.hpp"
#include "expr/print.hpp"

namespace appell {

namespace {

bool moves(const Graph& g, NodeId n) { return depends_on(g, n, SymbolKind::coordinate) || depends_on(g, n, SymbolKind::time); }

// central inertia of a body in its own basis; the parallel-axis theorem takes it from another point
Matrix3 central_inertia(Kinematics& kin, const Body& body, Diagnostics& diagnostics) {
    Graph& g = kin.graph();
    const auto& i = body.inertia;  // xx yy zz xy yz zx
    Matrix3 I{i[0], i[3], i[5], i[3], i[1], i[4], i[5], i[4], i[2]};
    for (NodeId& entry : I) entry = kin.resolve(entry);
    if (body.inertia_frame != body.frame) {
        const Matrix3 R = kin.frames().rotation(body.frame, body.inertia_frame);
        if (std::any_of(R.begin(), R.end(), [&](NodeId r) { return moves(g, r); })) {
            diagnostics.add({Code::E0607, body.span,
                             fmt::format("the inertia of {} is given in {}, which turns relative to the body", body.name,
                                         kin.model().frame(body.inertia_frame).name),
                             "", "a frame fixed in the body", "give the inertia in the body's own frame"});
            return I;
        }
        I = multiply(g, multiply(g, R, I), transpose(R));
    }
    if (body.inertia_point == body.center) return I;
    const MixedVector mixed = add(g, kin.position(body.center), scale(g, g.constant(-1), kin.position(body.inertia_point)));
    const Vec3 r = kin.frames().express(mixed, body.frame);
    for (const NodeId c : r.c)
        if (moves(g, c)) {
            diagnostics.add({Code::E0607, body.span,
                             fmt::format("the inertia of {} is about {}, which is not fixed in the body", body.name,
                                         kin.model().point(body.inertia_point).name),
                             to_text(g, c), "a point fixed in the body", "give the inertia about the mass centre"});
            return I;
        }
    // I_center = I_Q - m (|r|^2 E - r r')
    const NodeId mass = kin.resolve(body.mass), squared = dot(g, r, r);
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
            const NodeId outer = g.mul(r.c[a], r.c[b]);
            I[3 * a + b] = g.sub(I[3 * a + b], g.mul(mass, a == b ? g.sub(squared, outer) : g.neg(outer)));
        }
    return I;
}

// frames that must belong to bodies
void check_material_points(const Kinematics& kin, Diagnostics& diagnostics) {
    const Model& m = kin.model();
    const auto report = [&](FrameId frame, Span span) {
        diagnostics.add({Code::E0604, span,
                         fmt::format("frame {} belongs to no body, so that it has no material points", m.frame(frame).name), "",
                         "a body, or the Newtonian frame", "declare a body with this frame, or use vel(P) of a point"});
    };
    const auto check = [&](NodeId expression, Span span) {
        for (const VectorSymbolId id : vector_symbols_in(*m.graph, std::span(&expression, 1))) {
            const VectorSymbolInfo& symbol = m.graph->vector_symbol(id);
            if (static_cast<VectorKind>(symbol.kind) == VectorKind::velocity_at && FrameId(symbol.first) != Model::newtonian() &&
                !kin.has_body(FrameId(symbol.first)))
                report(FrameId(symbol.first), span);
        }
    };
    bool any = false;
    for (std::size_t i = 0; i < m.graph->vector_symbol_count(); ++i)
        any = any || static_cast<VectorKind>(m.graph->vector_symbol(VectorSymbolId(i)).kind) == VectorKind::velocity_at;
    if (any) {
        for (const Constraint& c : m.constraints) check(c.phi, c.span);
        for (const Speed& s : m.speeds) check(s.definition, s.span);
        for (const Output& o : m.outputs) check(o.value, o.span);
    }
    for (const Load& load : m.loads)
        if (const auto* force = std::get_if<ForceLoad>(&load.what);
            force && force->body.valid() && force->body != Model::newtonian() && !kin.has_body(force->body))
            report(force->body, load.span);
}

// velocity . velocity in one frame, halved, times m
NodeId half(Graph& g, NodeId product) { return g.mul(g.constant(0.5), product); }

}  // namespace

Result<ConstrainedDynamics> derive_dynamics(std::shared_ptr<const Model> model) {
    Result<ConstrainedDynamics> result;
    auto kinematics = Kinematics::derive(model);
    result.diagnostics.append(kinematics.diagnostics);
    if (!kinematics.ok()) return result;
    ConstrainedDynamics dynamics;
    dynamics.model = model;
    dynamics.kinematics = std::move(*kinematics);
    Kinematics& kin = *dynamics.kinematics;
    Graph& g = kin.graph();
    check_material_points(kin, result.diagnostics);
    if (result.diagnostics.has_errors()) return result;

    InertiaSums sums(kin);
    const ResolvedLoads loads = add_loads(kin, sums);

    // gravity has a potential where it depends on parameters alone
    std::vector<NodeId> kinetic_terms, potential_terms{loads.potential};
    bool gravity_has_potential = true;
    for (const Vec3& part : loads.gravity.parts)
        for (const NodeId c : part.c)
            for (const SymbolId s : symbols_in(g, std::span(&c, 1)))
                gravity_has_potential =
                    gravity_has_potential && g.symbol(s).kind == SymbolKind::parameter && part.frame == Model::newtonian();

    const auto add_mass_at = [&](PointId point, NodeId mass) {
        const Vec3& v = kin.velocity(point);
        sums.add_mass(point, mass);
        // Kane: resultant of gravity and of the inertia force with u' = 0
        const Vec3 resultant = sub(g, kin.frames().express(loads.gravity, v.frame), kin.acceleration_bias(point));
        sums.add_force(point, scale(g, mass, resultant));
        kinetic_terms.push_back(half(g, g.mul(mass, dot(g, v, v))));
        if (gravity_has_potential && !loads.gravity.parts.empty())
            potential_terms.push_back(g.neg(g.mul(mass, kin.frames().dot(loads.gravity, kin.position(point)))));
    };
    for (const Body& body : model->bodies) {
        add_mass_at(body.center, kin.resolve(body.mass));
        const Matrix3 I = central_inertia(kin, body, result.diagnostics);
        const Vec3& w = kin.omega(body.frame);
        const auto partials = kin.partial_omegas(body.frame);
        sums.add_rotation(body.frame, I);
        const Vec3 momentum{body.frame, multiply(g, I, w.c)};
        const Vec3 change{body.frame, multiply(g, I, kin.alpha_bias(body.frame).c)};
        sums.add_resultant(partials, scale(g, g.constant(-1), add(g, change, cross(g, w, momentum))));
        kinetic_terms.push_back(half(g, dot(g, w, momentum)));
    }
    for (const Particle& particle : model->particles) add_mass_at(particle.point, kin.resolve(particle.mass));
    sums.finish();

    dynamics.M = sums.mass_matrix();
    dynamics.f = sums.generalized_forces();
    dynamics.kinetic_energy = g.sum(kinetic_terms);
    dynamics.potential_energy = g.sum(potential_terms);
    derive_constraint_rows(dynamics, result.diagnostics);

    // loads must be functions of q, u, t alone
    const auto symbols = symbols_in(g, dynamics.f);
    for (const SymbolId s : symbols)
        if (const SymbolKind kind = g.symbol(s).kind;
            kind == SymbolKind::speed_rate || kind == SymbolKind::multiplier || kind == SymbolKind::other)
            result.diagnostics.add({Code::E0712,
                                    {},
                                    fmt::format("a load depends on {}", g.symbol(s).name),
                                    g.symbol(s).name,
                                    "loads that depend on positions, velocities, time, parameters and inputs",
                                    ""});
    if (!result.diagnostics.has_errors()) result.value = std::move(dynamics);
    return result;
}

}  // namespace appell
