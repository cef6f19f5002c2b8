#include "doctor/pfaffian.hpp"

#include <algorithm>
#include <variant>

#include "expr/dependence.hpp"
#include "expr/linear_split.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

const Digits50 k_zero = 1e-30;

std::vector<SymbolId> speed_symbols(const Model& m) {
    std::vector<SymbolId> out;
    for (const Speed& s : m.speeds) out.push_back(s.u);
    return out;
}

// second derivatives of these vanish on every piece and say nothing
bool piecewise(const Graph& g, NodeId phi) {
    Sweep sweep;
    for (const NodeId node : sweep.collect(g, std::span(&phi, 1))) switch (g.op(node)) {
            case Op::Abs:
            case Op::Sign:
            case Op::Min:
            case Op::Max:
            case Op::If: return true;
            default: break;
        }
    return false;
}

// A matrix of expressions beside its values at two samples: the values decide what is zero, the expressions are what is built.
struct Entry {
    NodeId node;
    Digits50 value[2];

    [[nodiscard]] bool zero() const { return abs(value[0]) < k_zero && abs(value[1]) < k_zero; }
    [[nodiscard]] bool pivot() const { return abs(value[0]) > k_zero && abs(value[1]) > k_zero; }
};

}  // namespace

AffineRows affine_rows(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const std::vector<SymbolId> u = speed_symbols(*d.model);
    AffineRows out;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        if (d.rows[i].level == Level::acceleration) continue;
        const NodeId phi = d.rows[i].velocity;
        const LinearSplit split = split_linear(g, std::span(&phi, 1), u);
        std::vector<NodeId> a(u.size(), g.constant(0));
        if (!split.failure) {
            for (const SparseEntry& e : split.coefficients.entries) a[e.column] = e.value;
            out.rows.push_back(i);
            out.a.push_back(std::move(a));
            out.c.push_back(split.remainders.front());
            continue;
        }
        if (piecewise(g, phi)) {
            out.nonlinear.push_back(i);
            continue;
        }
        // written so that it looks nonlinear, such as (u1 + u2)^2 - (u1 - u2)^2 - 4 u1 u2 + u1: the second derivatives decide
        const SparseMatrix gradient = jacobian(g, std::span(&phi, 1), u);
        std::vector<NodeId> slopes;
        for (const SparseEntry& e : gradient.entries) slopes.push_back(e.value);
        std::vector<NodeId> second;
        for (const SparseEntry& e : jacobian(g, slopes, u).entries) second.push_back(e.value);
        const std::vector<bool> zero = identically_zero(g, second);
        if (!std::all_of(zero.begin(), zero.end(), [](bool z) { return z; })) {
            out.nonlinear.push_back(i);
            continue;
        }
        Substitution at_rest;
        for (const SymbolId symbol : u) at_rest.set(symbol, g.constant(0));
        for (const SparseEntry& e : gradient.entries) a[e.column] = substitute(g, e.value, at_rest);
        out.rows.push_back(i);
        out.a.push_back(std::move(a));
        out.c.push_back(substitute(g, phi, at_rest));
    }
    return out;
}

NullSpace null_space(Graph& g, const AffineRows& affine, std::size_t speeds, const Samples& samples,
                     std::vector<std::size_t> which) {
    if (which.empty())
        for (std::size_t i = 0; i < affine.rows.size(); ++i) which.push_back(i);
    const std::size_t m = which.size(), columns = speeds + 1;  // the last is c
    std::vector<NodeId> nodes;
    for (const std::size_t i : which) {
        nodes.insert(nodes.end(), affine.a[i].begin(), affine.a[i].end());
        nodes.push_back(affine.c[i]);
    }
    std::vector<Entry> a(nodes.size());
    for (std::size_t k = 0; k < 2; ++k) {
        const std::vector<Digits50> values = samples.evaluate(g, nodes, std::min(k, samples.size() - 1));
        for (std::size_t i = 0; i < nodes.size(); ++i) a[i].value[k] = values[i];
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) a[i].node = nodes[i];
    const auto at = [&](std::size_t i, std::size_t j) -> Entry& { return a[i * columns + j]; };

    NullSpace out;
    std::vector<bool> row_done(m, false), column_done(speeds, false);
    std::vector<std::size_t> pivot_row;  // by step
    for (;;) {
        // numbers first, then what fills least; of equals the speed named last depends
        std::size_t row = m, column = 0;
        double best = 0;
        for (std::size_t i = 0; i < m; ++i) {
            if (row_done[i]) continue;
            std::size_t in_row = 0;
            for (std::size_t j = 0; j < speeds; ++j) in_row += at(i, j).zero() ? 0 : 1;
            for (std::size_t j = 0; j < speeds; ++j) {
                const Entry& e = at(i, j);
                if (column_done[j] || !e.pivot()) continue;
                std::size_t in_column = 0;
                for (std::size_t r = 0; r < m; ++r) in_column += at(r, j).zero() ? 0 : 1;
                const double cost = 1.0 + static_cast<double>((in_row - 1) * (in_column - 1)) +
                                    (g.constant_value(e.node) ? 0.0 : static_cast<double>(m * speeds)) +
                                    (abs(e.value[0]) < 1e-6 ? 1e6 : 0.0);
                if (row == m || cost < best || (cost == best && j > column)) {
                    best = cost;
                    row = i;
                    column = j;
                }
            }
        }
        if (row == m) break;
        row_done[row] = true;
        column_done[column] = true;
        pivot_row.push_back(row);
        out.pivot_rows.push_back(which[row]);
        out.dependent.push_back(static_cast<std::uint32_t>(column));
        const Entry pivot = at(row, column);
        for (std::size_t j = 0; j < columns; ++j) {
            Entry& e = at(row, j);
            if (e.zero() && j < speeds) {
                e.node = g.constant(0);
                continue;
            }
            e.node = g.div(e.node, pivot.node);
            for (std::size_t k = 0; k < 2; ++k) e.value[k] /= pivot.value[k];
        }
        for (std::size_t i = 0; i < m; ++i) {
            const Entry factor = at(i, column);
            if (i == row || factor.zero()) continue;
            for (std::size_t j = 0; j < columns; ++j) {
                Entry& e = at(i, j);
                const Entry& p = at(row, j);
                if (g.is_constant(p.node, 0)) continue;
                e.node = g.sub(e.node, g.mul(factor.node, p.node));
                for (std::size_t k = 0; k < 2; ++k) e.value[k] -= factor.value[k] * p.value[k];
                if (e.zero()) e.node = g.constant(0);
            }
            at(i, column).node = g.constant(0);
            for (Digits50& v : at(i, column).value) v = 0;
        }
    }
    for (std::size_t i = 0; i < m; ++i)
        if (!row_done[i] && !at(i, speeds).zero()) out.contradictory = true;
    for (std::uint32_t j = 0; j < speeds; ++j)
        if (!column_done[j]) out.free.push_back(j);
    out.s.assign(speeds, g.constant(0));
    for (std::size_t k = 0; k < pivot_row.size(); ++k) out.s[out.dependent[k]] = g.neg(at(pivot_row[k], speeds).node);
    for (const std::uint32_t j : out.free) {
        std::vector<NodeId>& S = out.S.emplace_back(speeds, g.constant(0));
        S[j] = g.constant(1);
        for (std::size_t k = 0; k < pivot_row.size(); ++k) S[out.dependent[k]] = g.neg(at(pivot_row[k], j).node);
    }
    return out;
}

Distribution distribution(const ConstrainedDynamics& d, const NullSpace& ns) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const Kinematics& kin = *d.kinematics;
    const std::size_t nq = m.coordinates.size();
    // q' = K u + k
    const auto rates = [&](std::span<const NodeId> u, bool with_k) {
        std::vector<std::vector<NodeId>> terms(nq);
        for (const SparseEntry& e : kin.K().entries)
            if (!g.is_constant(u[e.column], 0)) terms[e.row].push_back(g.mul(e.value, u[e.column]));
        std::vector<NodeId> out;
        for (std::size_t i = 0; i < nq; ++i) {
            if (with_k) terms[i].push_back(kin.k()[i]);
            out.push_back(terms[i].empty() ? g.constant(0) : g.sum(terms[i]));
        }
        return out;
    };
    Distribution out;
    for (const Coordinate& c : m.coordinates) out.variables.push_back(c.q);
    for (const std::vector<NodeId>& S : ns.S) out.fields.push_back(rates(S, false));
    std::vector<NodeId> drift = rates(ns.s, true);
    const std::vector<bool> still = identically_zero(g, drift);
    out.time = !std::all_of(still.begin(), still.end(), [](bool z) { return z; });
    for (const std::vector<NodeId>& field : out.fields)
        for (const NodeId component : field) out.time = out.time || depends_on(g, component, SymbolKind::time);
    if (out.time) {
        out.variables.push_back(m.time);
        for (std::vector<NodeId>& field : out.fields) field.push_back(g.constant(0));
        drift.push_back(g.constant(1));
        out.fields.push_back(std::move(drift));
    }
    out.dimension = out.variables.size();
    for (const Frame& frame : m.frames)
        if (std::holds_alternative<QuaternionRotation>(frame.orientation)) --out.dimension;
    return out;
}

}  // namespace appell
