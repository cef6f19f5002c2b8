#include "dynam/constraint_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/linear_split.hpp"
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

// of a constraint, and of others of its family that lie beside it
struct ZeroComponents {
    Span span;
    std::string axes, name;
    std::size_t others = 0;
};

void note(Diagnostics& diagnostics, const ZeroComponents& zero) {
    const bool several = zero.axes.size() > 1 || zero.others > 0;
    const std::string family =
        zero.others == 0
            ? ""
            : fmt::format(" and {} of its family", zero.others == 1 ? "of another" : fmt::format("of {} others", zero.others));
    diagnostics.add(
        {Code::N0711, zero.span,
         fmt::format("component{} {} of constraint {}{} {} identically zero and {} left out", zero.axes.size() > 1 ? "s" : "",
                     zero.axes, zero.name, family, several ? "are" : "is", several ? "were" : "was"),
         "", "", ""});
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
    std::vector<NodeId> written;  // by row
    std::size_t component = 0;
    std::string left_out;  // axes of the constraint at hand
    std::vector<ZeroComponents> zeros;
    for (std::size_t i = 0; i < equations.size(); ++i) {
        const Equation& e = equations[i];
        const Constraint& c = m.constraints[e.constraint];
        const bool zero_component = e.component && zero[component++];
        if (zero_component) left_out += (left_out.empty() ? "" : " and ") + std::string(1, e.name.back());
        const bool last = i + 1 == equations.size() || equations[i + 1].constraint != e.constraint;
        if (last && c.stick_of) left_out.clear();  // made by us: no news
        if (last && !left_out.empty()) {
            if (zeros.empty() || zeros.back().axes != left_out || !(zeros.back().span == c.span))
                zeros.push_back({c.span, left_out, c.name});
            else
                ++zeros.back().others;
            left_out.clear();
        }
        if (zero_component) continue;
        const unsigned kinds = kinds_in(g, sweep, e.phi);
        if (kinds & (bit(SymbolKind::multiplier) | bit(SymbolKind::other))) {
            diagnostics.add({Code::E0705, c.span, fmt::format("constraint {} contains constraint forces", c.name),
                             to_text(g, e.phi), "an equation of positions, velocities or accelerations", ""});
            continue;
        }
        const bool acceleration = kinds & bit(SymbolKind::speed_rate), velocity = kinds & bit(SymbolKind::speed);
        if (!acceleration && !velocity && !(kinds & bit(SymbolKind::coordinate))) {
            const auto value = g.constant_value(e.phi);
            const bool never = value && *value != 0;
            diagnostics.add({never ? Code::E0704 : Code::E0703, c.span,
                             never ? fmt::format("constraint {} can never hold: left minus right is {}", c.name, *value)
                                   : fmt::format("constraint {} depends on no coordinate and no speed", c.name),
                             to_text(g, e.phi), "an equation that restricts positions or velocities",
                             "check the names in it; a relation between parameters belongs into `param`"});
            continue;
        }
        const Level level = acceleration ? Level::acceleration : velocity ? Level::velocity : Level::position;
        ConstraintRow row{e.name, e.constraint, level, {}, {}, e.multiplier, !c.actuators.empty()};
        if (level == Level::position) row.position = e.phi;
        if (level == Level::velocity) row.velocity = e.phi;
        if (level == Level::position) row.velocity = kin.rate_bias(e.phi);
        dynamics.rows.push_back(std::move(row));
        written.push_back(e.phi);
    }
    for (const ZeroComponents& z : zeros) note(diagnostics, z);

    // A = d phi / d u and b = -(d phi / dt with u' = 0): linear in u' whatever the nonlinearity in u. A row written on
    // accelerations must be linear in them, and is split.
    std::vector<SymbolId> speeds, rates;
    for (const Speed& s : m.speeds) {
        speeds.push_back(s.u);
        rates.push_back(s.rate);
    }
    std::vector<NodeId> on_speeds, on_rates;
    std::vector<std::uint32_t> speed_rows, rate_rows;
    for (std::uint32_t i = 0; i < dynamics.rows.size(); ++i) {
        const bool acceleration = dynamics.rows[i].level == Level::acceleration;
        (acceleration ? on_rates : on_speeds).push_back(acceleration ? written[i] : dynamics.rows[i].velocity);
        (acceleration ? rate_rows : speed_rows).push_back(i);
    }
    dynamics.A = {dynamics.rows.size(), speeds.size(), {}};
    dynamics.b.resize(dynamics.rows.size());
    const SparseMatrix gradient = jacobian(g, on_speeds, speeds, DerivativeMode::automatic);
    for (const SparseEntry& e : gradient.entries) dynamics.A.entries.push_back({speed_rows[e.row], e.column, e.value});
    for (std::size_t i = 0; i < on_speeds.size(); ++i) dynamics.b[speed_rows[i]] = g.neg(kin.rate_bias(on_speeds[i]));
    const LinearSplit split = split_linear(g, on_rates, rates);
    if (split.failure) {
        const ConstraintRow& row = dynamics.rows[rate_rows[split.failure->root]];
        diagnostics.add({Code::E0722, m.constraints[row.constraint].span,
                         fmt::format("constraint {} is not linear in the accelerations", row.name),
                         to_text(g, split.failure->term), "an equation linear in u', x'' and acc(P)",
                         "no force direction belongs to it: d'Alembert's principle for such constraints is not settled, and "
                         "its equations have several branches"});
        return;
    }
    for (const SparseEntry& e : split.coefficients.entries) dynamics.A.entries.push_back({rate_rows[e.row], e.column, e.value});
    for (std::size_t i = 0; i < on_rates.size(); ++i) dynamics.b[rate_rows[i]] = g.neg(split.remainders[i]);
    std::stable_sort(dynamics.A.entries.begin(), dynamics.A.entries.end(),
                     [](const SparseEntry& x, const SparseEntry& y) { return x.row < y.row; });

    // a row whose gradient vanishes identically (e.g. a difference of equal velocities) restricts nothing
    std::vector<bool> has_entry(written.size(), false);
    for (const SparseEntry& e : dynamics.A.entries) has_entry[e.row] = true;
    for (std::size_t i = 0; i < written.size(); ++i)
        if (!has_entry[i])
            diagnostics.add({Code::E0703, m.constraints[dynamics.rows[i].constraint].span,
                             fmt::format("constraint {} restricts no speed", dynamics.rows[i].name), to_text(g, written[i]),
                             "an equation that restricts positions or velocities", ""});
}

}  // namespace appell
