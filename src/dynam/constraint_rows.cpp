#include "dynam/constraint_rows.hpp"

#include <fmt/format.h>

#include "expr/print.hpp"
#include "expr/sweep.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

unsigned bit(SymbolKind kind) { return 1u << static_cast<unsigned>(kind); }

// which kinds of symbols an expression contains, as bits
unsigned kinds_in(const Graph& g, Sweep& sweep, NodeId root) {
    unsigned kinds = 0;
    for (const NodeId id : sweep.collect(g, std::span(&root, 1)))
        if (g.op(id) == Op::Symbol) kinds |= bit(g.symbol(g.symbol_of(id)).kind);
    return kinds;
}

struct Equation {
    std::size_t constraint;
    std::string name;
    SymbolId multiplier;
    NodeId phi;
    bool component;  // of a vector equation
};

std::vector<Equation> scalar_equations(Kinematics& kin) {
    std::vector<Equation> out;
    const Model& m = kin.model();
    for (std::size_t i = 0; i < m.constraints.size(); ++i) {
        const Constraint& c = m.constraints[i];
        if (!kin.graph().is_vector(c.phi)) {
            out.push_back({i, c.name, c.multipliers.front(), kin.resolve(c.phi), false});
            continue;
        }
        const Vec3 v = kin.frames().express(kin.resolve_vector(c.phi), Model::newtonian());
        static constexpr const char* k_axes[] = {"x", "y", "z"};
        for (std::size_t axis = 0; axis < 3; ++axis)
            out.push_back({i, fmt::format("{}, {}", c.name, k_axes[axis]), c.multipliers[axis], v.c[axis], true});
    }
    return out;
}

}  // namespace

void derive_constraint_rows(ConstrainedDynamics& dynamics, Diagnostics& diagnostics) {
    Kinematics& kin = *dynamics.kinematics;
    Graph& g = kin.graph();
    const Model& m = kin.model();
    const std::vector<Equation> equations = scalar_equations(kin);

    // components of vector equations that are zero for every state are left out, with a note
    std::vector<NodeId> components;
    for (const Equation& e : equations)
        if (e.component) components.push_back(e.phi);
    const std::vector<bool> zero = identically_zero(g, components);

    Sweep sweep;
    std::size_t component = 0;
    for (const Equation& e : equations) {
        const Constraint& c = m.constraints[e.constraint];
        if (e.component && zero[component++]) {
            diagnostics.add(
                {Code::N0711, c.span,
                 fmt::format("component {} of constraint {} is identically zero and was left out", e.name.back(), c.name), "", "",
                 ""});
            continue;
        }
        const unsigned kinds = kinds_in(g, sweep, e.phi);
        if (kinds & (bit(SymbolKind::speed_rate) | bit(SymbolKind::multiplier) | bit(SymbolKind::other))) {
            diagnostics.add({Code::E0705, c.span,
                             fmt::format("constraint {} contains accelerations or constraint forces", c.name), to_text(g, e.phi),
                             "an equation of positions or velocities", "integrate it once by hand, or state it on velocities"});
            continue;
        }
        const bool velocity = kinds & bit(SymbolKind::speed);
        if (!velocity && !(kinds & bit(SymbolKind::coordinate))) {
            const auto value = g.constant_value(e.phi);
            const bool never = value && *value != 0;
            diagnostics.add({never ? Code::E0704 : Code::E0703, c.span,
                             never ? fmt::format("constraint {} can never hold: left minus right is {}", c.name, *value)
                                   : fmt::format("constraint {} depends on no coordinate and no speed", c.name),
                             to_text(g, e.phi), "an equation that restricts positions or velocities",
                             "check the names in it; a relation between parameters belongs into `param`"});
            continue;
        }
        ConstraintRow row{e.name, e.constraint, velocity ? Level::velocity : Level::position, {}, {}, e.multiplier};
        row.position = velocity ? NodeId{} : e.phi;
        row.velocity = velocity ? e.phi : kin.rate_bias(e.phi);
        dynamics.rows.push_back(std::move(row));
    }

    // A = d phi / d u and b = -(d phi / dt with u' = 0): linear in u' whatever the nonlinearity in u
    std::vector<SymbolId> speeds;
    for (const Speed& s : m.speeds) speeds.push_back(s.u);
    std::vector<NodeId> phi;
    for (const ConstraintRow& row : dynamics.rows) phi.push_back(row.velocity);
    dynamics.A = jacobian(g, phi, speeds, DerivativeMode::automatic);
    for (const NodeId p : phi) dynamics.b.push_back(g.neg(kin.rate_bias(p)));

    // a row whose gradient vanishes identically (e.g. a difference of equal velocities) restricts nothing
    std::vector<bool> has_entry(phi.size(), false);
    for (const SparseEntry& e : dynamics.A.entries) has_entry[e.row] = true;
    for (std::size_t i = 0; i < phi.size(); ++i)
        if (!has_entry[i])
            diagnostics.add({Code::E0703, m.constraints[dynamics.rows[i].constraint].span,
                             fmt::format("constraint {} restricts no speed", dynamics.rows[i].name), to_text(g, phi[i]),
                             "an equation that restricts positions or velocities", ""});
}

}  // namespace appell
