#include "dynam/constrained_dynamics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dynam/central_inertia.hpp"
#include "dynam/constraint_rows.hpp"
#include "dynam/loads.hpp"
#include "dynam/material_points.hpp"
#include "dynam/nonideal.hpp"
#include "dynam/row_sizes.hpp"
#include "dynam/speed_partition.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "expr/print.hpp"

namespace appell {

namespace {

// gravity is the same for every mass wherever it is: a function of time and parameters in the Newtonian frame
void check_uniform_gravity(Kinematics& kin, const MixedVector& gravity, Diagnostics& diagnostics) {
    const Vec3 v = kin.frames().express(gravity, Model::newtonian());
    for (const NodeId c : v.c)
        for (const SymbolKind kind : {SymbolKind::coordinate, SymbolKind::speed, SymbolKind::speed_rate}) {
            if (!depends_on(kin.graph(), c, kind)) continue;
            Span span;
            for (const Load& load : kin.model().loads)
                if (std::holds_alternative<GravityLoad>(load.what)) span = load.span;
            diagnostics.add(
                {Code::E0714, span, "gravity depends on the motion", to_text(kin.graph(), c),
                 "an acceleration that is uniform in space: parameters and time, along axes that do not turn with a coordinate",
                 "write a field that depends on place as forces, or as a `potential`"});
            return;
        }
}

// the first load that contains a symbol
Span load_with(Kinematics& kin, SymbolId symbol) {
    const Graph& g = kin.graph();
    for (const Load& load : kin.model().loads) {
        std::vector<NodeId> resolved;
        for (const NodeId n : expressions_of(load.what)) {
            if (!g.is_vector(n)) {
                resolved.push_back(kin.resolve(n));
                continue;
            }
            for (const Vec3& part : kin.resolve_vector(n).parts) resolved.insert(resolved.end(), part.c.begin(), part.c.end());
        }
        const std::vector<SymbolId> symbols = symbols_in(g, resolved);
        if (std::binary_search(symbols.begin(), symbols.end(), symbol)) return load.span;
    }
    return {};
}

// dot(gravity, position) by point: that of its base point and the parts it adds, so that a chain costs what its links cost
class Depths {
public:
    Depths(Kinematics& kin, const MixedVector& gravity) : kin_(kin), gravity_(gravity), known_(kin.model().points.size()) {}

    [[nodiscard]] NodeId operator()(PointId point) {
        std::vector<PointId> open{point};
        while (!known_[open.back().index()].valid() && extends_base(open.back())) open.push_back(kin_.base(open.back()));
        for (std::size_t i = open.size(); i-- > 0;) {
            NodeId& depth = known_[open[i].index()];
            if (depth.valid()) continue;
            const std::vector<Vec3>& parts = kin_.position(open[i]).parts;
            const bool from_base = i + 1 < open.size();
            depth = from_base ? known_[open[i + 1].index()] : kin_.graph().constant(0);
            for (std::size_t k = from_base ? kin_.position(open[i + 1]).parts.size() : 0; k < parts.size(); ++k)
                depth = kin_.graph().add(depth, kin_.frames().dot(gravity_, {{parts[k]}}));
        }
        return known_[point.index()];
    }

private:
    // the parts of the base come first and are the same
    [[nodiscard]] bool extends_base(PointId point) const {
        if (!kin_.base(point).valid()) return false;
        const std::vector<Vec3>&parts = kin_.position(point).parts, &base = kin_.position(kin_.base(point)).parts;
        return base.size() <= parts.size() && std::equal(base.begin(), base.end(), parts.begin());
    }

    Kinematics& kin_;
    const MixedVector& gravity_;
    std::vector<NodeId> known_;  // by point
};

NodeId half(Graph& g, NodeId product) { return g.mul(g.constant(0.5), product); }

}  // namespace

std::optional<std::uint32_t> ConstrainedDynamics::speed_of(SymbolId symbol) const {
    const NodeId node = graph().symbol_node(symbol);
    for (std::uint32_t i = 0; i < model->speeds.size(); ++i)
        if (model->speeds[i].u == symbol || model->speeds[i].definition == node) return i;
    return std::nullopt;
}

namespace {

// the user's independent speeds must be as many as the rows leave
void choose_independent(ConstrainedDynamics& d, Diagnostics& diagnostics) {
    const Model& m = *d.model;
    if (m.independent.empty()) return;
    for (const SymbolId symbol : m.independent) {
        if (const auto speed = d.speed_of(symbol)) {
            d.independent.push_back(*speed);
            continue;
        }
        diagnostics.add({Code::E0611, m.independent_span,
                         fmt::format("{} is no speed of this model", d.graph().symbol(symbol).name),
                         d.graph().symbol(symbol).name, "speeds", "name the speeds that are declared"});
    }
    for (std::uint32_t i = 0; i < m.speeds.size(); ++i)
        if (std::find(d.independent.begin(), d.independent.end(), i) == d.independent.end()) d.dependent.push_back(i);
    if (d.dependent.size() > d.rows.size() && !diagnostics.has_errors())
        diagnostics.add({Code::E0611, m.independent_span, fmt::format("{} independent speeds are too few", d.independent.size()),
                         fmt::format("{} speeds, {} constraint rows", m.speeds.size(), d.rows.size()),
                         fmt::format("at least {}", m.speeds.size() - d.rows.size()), ""});
    if (diagnostics.has_errors() || d.dependent.empty()) return;
    // Rank is largest at generic values: what these rows do not determine there they determine nowhere.
    const std::vector<double> values = generic_values(d.graph());
    std::vector<NodeId> entries;
    for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(d.graph(), entries, std::span<const double>(values));
    if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); })) return;
    // where constraints come and go, modes may take other speeds
    const bool switched = std::ranges::any_of(d.rows, [&](const ConstraintRow& row) { return switches(m, row); });
    if (switched ? choice_fits_what_is_always_on(d, values)
                 : choose_speed_partition(d, values, d.dependent).rows.size() == d.dependent.size())
        return;
    std::vector<std::string> names;
    for (const std::uint32_t speed : d.independent) names.push_back(m.speeds[speed].name);
    diagnostics.add({Code::E0817, m.independent_span,
                     fmt::format("the independent speeds {} do not determine the others at any state", fmt::join(names, ", ")),
                     "", "a choice whose dependent speeds follow from the constraints",
                     "choose other speeds with `independent`, or leave it out"});
}

}  // namespace

Result<ConstrainedDynamics> derive_dynamics(std::shared_ptr<const Model> model) {
    Result<ConstrainedDynamics> result;
    check_material_points(*model, result.diagnostics);
    if (result.diagnostics.has_errors()) return result;
    auto kinematics = Kinematics::derive(model);
    result.diagnostics.append(kinematics.diagnostics);
    if (!kinematics.ok()) return result;
    ConstrainedDynamics dynamics;
    dynamics.model = model;
    dynamics.kinematics = std::move(*kinematics);
    Kinematics& kin = *dynamics.kinematics;
    Graph& g = kin.graph();

    dynamics.inertia = std::make_shared<InertiaSums>(kin);
    InertiaSums& sums = *dynamics.inertia;
    const ResolvedLoads loads = add_loads(kin, sums);

    check_uniform_gravity(kin, loads.gravity, result.diagnostics);
    if (result.diagnostics.has_errors()) return result;

    // gravity has a potential where it depends on parameters alone
    std::vector<NodeId> kinetic_terms, potential_terms{loads.potential};
    bool gravity_has_potential = true;
    for (const Vec3& part : loads.gravity.parts) {
        gravity_has_potential = gravity_has_potential && part.frame == Model::newtonian();
        for (const SymbolId s : symbols_in(g, part.c))
            gravity_has_potential = gravity_has_potential && g.symbol(s).kind == SymbolKind::parameter;
    }

    Depths depth(kin, loads.gravity);
    const auto add_mass_at = [&](PointId point, NodeId mass) {
        const Vec3& v = kin.velocity(point);
        sums.add_mass(point, mass);
        // Kane: resultant of gravity and of the inertia force with u' = 0
        const Vec3 resultant = sub(g, kin.frames().express(loads.gravity, v.frame), kin.acceleration_bias(point));
        sums.add_force(point, scale(g, mass, resultant));
        kinetic_terms.push_back(half(g, g.mul(mass, dot(g, v, v))));
        if (gravity_has_potential && !loads.gravity.parts.empty()) potential_terms.push_back(g.neg(g.mul(mass, depth(point))));
    };
    for (const Body& body : model->bodies) {
        add_mass_at(body.center, kin.resolve(body.mass));
        const Turning turn = turning(kin, body, result.diagnostics);
        sums.add_rotation(body.frame, turn.basis, turn.inertia);
        sums.add_torque(body.frame, scale(g, g.constant(-1), turn.momentum_bias(g)));
        kinetic_terms.push_back(half(g, dot(g, turn.omega, turn.momentum(g))));
    }
    for (const Particle& particle : model->particles) add_mass_at(particle.point, kin.resolve(particle.mass));
    dynamics.kinetic_energy = g.sum(kinetic_terms);
    dynamics.potential_energy = g.sum(potential_terms);
    dynamics.gravity_has_potential = gravity_has_potential;
    derive_constraint_rows(dynamics, result.diagnostics);
    if (!result.diagnostics.has_errors()) check_row_sizes(dynamics, result.diagnostics);
    choose_independent(dynamics, result.diagnostics);
    if (!result.diagnostics.has_errors()) derive_nonideal(dynamics, result.diagnostics);

    // loads must be functions of q, u, t alone
    const auto symbols = symbols_in(g, sums.values());
    for (const SymbolId s : symbols)
        if (const SymbolKind kind = g.symbol(s).kind;
            kind == SymbolKind::speed_rate || kind == SymbolKind::multiplier || kind == SymbolKind::other)
            result.diagnostics.add({Code::E0712, load_with(kin, s), fmt::format("a load depends on {}", g.symbol(s).name),
                                    g.symbol(s).name, "loads that depend on positions, velocities, time, parameters and inputs",
                                    ""});
    if (!result.diagnostics.has_errors()) result.value = std::move(dynamics);
    return result;
}

ConstrainedDynamics with_rows(ConstrainedDynamics d, const std::vector<bool>& kept) {
    std::vector<std::uint32_t> place;
    std::vector<ConstraintRow> rows;
    std::vector<NodeId> b;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        place.push_back(static_cast<std::uint32_t>(rows.size()));
        if (!kept[i]) continue;
        rows.push_back(d.rows[i]);
        b.push_back(d.b[i]);
    }
    SparseMatrix A{rows.size(), d.A.columns, {}};
    for (const SparseEntry& e : d.A.entries)
        if (kept[e.row]) A.entries.push_back({place[e.row], e.column, e.value});
    std::erase_if(d.shared,
                  [&](const SharedRows& s) { return !std::ranges::all_of(s.rows, [&](std::size_t i) { return kept[i]; }); });
    for (SharedRows& shared : d.shared)
        for (std::size_t& row : shared.rows) row = place[row];
    d.rows = std::move(rows);
    d.b = std::move(b);
    d.A = std::move(A);
    return d;
}

}  // namespace appell
