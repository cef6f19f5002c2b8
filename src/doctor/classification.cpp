#include "doctor/classification.hpp"

#include <algorithm>

#include "doctor/pfaffian.hpp"
#include "expr/dependence.hpp"

namespace appell {

namespace {

// sum u d phi/du
NodeId along_speeds(Graph& g, const Model& m, NodeId phi) {
    std::vector<SymbolId> speeds;
    for (const Speed& s : m.speeds) speeds.push_back(s.u);
    std::vector<NodeId> terms;
    for (const SparseEntry& e : jacobian(g, std::span(&phi, 1), speeds).entries)
        terms.push_back(g.mul(e.value, g.symbol_node(speeds[e.column])));
    return terms.empty() ? g.constant(0) : g.sum(terms);
}

// the constant p with  first = p second  at states off the constraints; none without one
std::optional<double> ratio(const Graph& g, const Model& m, const Samples& samples, NodeId first, NodeId second) {
    std::optional<Digits50> p;
    const NodeId both[] = {first, second};
    std::uint64_t state = 0x2545f4914f6cdd1dull;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, samples.size()); ++k) {
        std::vector<Digits50> values = samples.values(g, samples.states[k]);
        for (const Speed& s : m.speeds) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            values[s.u.index()] += Digits50(0.2) + Digits50(static_cast<double>(state >> 11)) / Digits50(9007199254740992.0);
        }
        const std::vector<Digits50> numbers = evaluate<Digits50>(g, both, values);
        if (!is_finite(numbers[0]) || !is_finite(numbers[1]) || numbers[1] == 0) return std::nullopt;
        const Digits50 here = numbers[0] / numbers[1];
        if (p && !(abs(here - *p) < Digits50(1e-25) * (Digits50(1) + abs(here)))) return std::nullopt;
        p = here;
    }
    return p ? std::optional(static_cast<double>(*p)) : std::nullopt;
}

}  // namespace

std::vector<RowClass> classify(const ConstrainedDynamics& d, const Samples& samples) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const AffineRows affine = affine_rows(d);
    std::vector<RowClass> out;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        const ConstraintRow& row = d.rows[i];
        RowClass c{.row = i, .level = row.level, .degree = {}, .affine_degree = {}, .by_actuators = row.by_actuators};
        c.ideal = std::none_of(m.nonideal.begin(), m.nonideal.end(),
                               [&](const NonidealForce& n) { return n.constraint == row.constraint; }) &&
                  std::none_of(m.frictions.begin(), m.frictions.end(),
                               [&](const Friction& f) { return f.constraint == row.constraint; });
        if (row.level == Level::acceleration) {
            out.push_back(c);
            continue;
        }
        c.linearity = std::find(affine.nonlinear.begin(), affine.nonlinear.end(), i) == affine.nonlinear.end()
                          ? Linearity::affine
                          : Linearity::nonlinear;
        const NodeId phi = row.position.valid() ? row.position : row.velocity;
        c.rheonomic = depends_on(g, phi, SymbolKind::time);
        if (row.level == Level::velocity && samples.size() > 0) {
            const NodeId euler = along_speeds(g, m, row.velocity);
            c.degree = ratio(g, m, samples, euler, row.velocity);
            if (!c.degree) c.affine_degree = ratio(g, m, samples, along_speeds(g, m, euler), euler);
        }
        out.push_back(c);
    }
    return out;
}

}  // namespace appell
