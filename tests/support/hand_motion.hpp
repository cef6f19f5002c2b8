// Motions made by hand, without mechanics: q' = u, M u' - A' lambda = f with constant diagonal M, position rows phi(q, t) and
// velocity rows psi(q, u, t). Everything else follows by differentiation, so that tests of `sim` need nothing above `tape`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "expr/differentiate.hpp"
#include "expr/graph.hpp"
#include "sim/motion.hpp"

namespace appell::test {

struct HandModel {
    Graph g;
    SymbolId t;
    std::vector<SymbolId> q, u;
    std::vector<double> masses;
    std::vector<NodeId> forces;
    std::vector<NodeId> position, velocity;

    explicit HandModel(std::size_t n) : t(g.add_symbol("t", SymbolKind::time)), masses(n, 1.0) {
        for (std::size_t i = 0; i < n; ++i)
            q.push_back(g.add_symbol(std::string("q").append(std::to_string(i + 1)), SymbolKind::coordinate));
        for (std::size_t i = 0; i < n; ++i)
            u.push_back(g.add_symbol(std::string("u").append(std::to_string(i + 1)), SymbolKind::speed));
        forces.assign(n, g.constant(0));
    }
    [[nodiscard]] Expr time() { return {&g, g.symbol_node(t)}; }
    [[nodiscard]] Expr Q(std::size_t i) { return {&g, g.symbol_node(q[i])}; }
    [[nodiscard]] Expr U(std::size_t i) { return {&g, g.symbol_node(u[i])}; }
};

namespace detail {

inline ConstrainedSolve solve_with(HandModel& m, const SparseMatrix& A, std::vector<NodeId> f, std::vector<NodeId> b) {
    ConstrainedSolve s;
    const std::size_t n = m.q.size();
    s.M.rows = s.M.columns = n;
    for (std::uint32_t i = 0; i < n; ++i)
        if (m.masses[i] != 0) s.M.entries.push_back({i, i, m.g.constant(m.masses[i])});
    s.A = A;
    s.f = std::move(f);
    s.b = std::move(b);
    for (std::size_t i = 0; i < n; ++i) s.x.push_back(m.g.add_symbol("x", SymbolKind::speed_rate));
    for (std::size_t i = 0; i < A.rows; ++i) s.lambda.push_back(m.g.add_symbol("lambda", SymbolKind::multiplier));
    return s;
}

inline std::vector<NodeId> nodes(HandModel& m, const std::vector<SymbolId>& symbols) {
    std::vector<NodeId> out;
    for (const SymbolId s : symbols) out.push_back(m.g.symbol_node(s));
    return out;
}

// residuals over the length of their row times a size; the tiny constant keeps rest finite
inline std::vector<NodeId> scaled(HandModel& m, const std::vector<NodeId>& rows, const SparseMatrix& A, NodeId size2) {
    std::vector<NodeId> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        NodeId square = m.g.constant(1e-300);
        for (const SparseEntry& e : A.entries)
            if (e.row == i) square = m.g.add(square, m.g.mul(e.value, e.value));
        out.push_back(m.g.div(rows[i], m.g.make(Op::Sqrt, m.g.add(m.g.constant(1e-300), m.g.mul(square, size2)))));
    }
    return out;
}

// the time derivative with u held: the part of a row's rate that does not contain u'
inline TimeDerivative rate_bias(HandModel& m) {
    TimeDerivative along(m.g);
    along.set_rate(m.t, m.g.constant(1));
    for (std::size_t i = 0; i < m.q.size(); ++i) along.set_rate(m.q[i], m.g.symbol_node(m.u[i]));
    return along;
}

// the position rows differentiated, then the velocity rows
inline std::vector<NodeId> velocity_rows(HandModel& m) {
    TimeDerivative along = rate_bias(m);
    std::vector<NodeId> rows;
    for (const NodeId phi : m.position) rows.push_back(along(phi));
    rows.insert(rows.end(), m.velocity.begin(), m.velocity.end());
    return rows;
}

inline NodeId squares(HandModel& m, const std::vector<NodeId>& terms) {
    NodeId sum = m.g.constant(0);
    for (const NodeId term : terms) sum = m.g.add(sum, m.g.mul(term, term));
    return sum;
}

// the rows of one level for the dependent symbols, which stand in x from `first` on
inline DependentRows dependent_rows(HandModel& m, const std::vector<NodeId>& rows, const std::vector<SymbolId>& symbols,
                                    const std::vector<std::size_t>& dependent, std::size_t first) {
    DependentRows out;
    out.count = rows.size();
    if (rows.empty()) return out;
    const SparseMatrix A = jacobian(m.g, rows, symbols);
    std::vector<NodeId> residual, entries, moves;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<NodeId> row;
        for (const SparseEntry& e : A.entries)
            if (e.row == i) row.push_back(e.value);
        const NodeId length = m.g.make(Op::Sqrt, squares(m, row));
        residual.push_back(m.g.div(rows[i], length));
        for (const std::size_t j : dependent) {
            const NodeId slope = A.find(i, j);
            entries.push_back(slope.valid() ? m.g.div(slope, length) : m.g.constant(0));
        }
    }
    for (std::size_t k = 0; k < dependent.size(); ++k) {
        out.moves.push_back({first + dependent[k], k});
        moves.push_back(m.g.constant(1));
    }
    std::vector<SymbolId> inputs{m.t};
    inputs.insert(inputs.end(), m.q.begin(), m.q.end());
    inputs.insert(inputs.end(), m.u.begin(), m.u.end());
    const NodeId size2 = first == 0 ? m.g.constant(1) : squares(m, nodes(m, m.u));
    out.program = lower_program(
        m.g,
        {inputs, {}, {{"residual", residual}, {"jacobian", entries}, {"moves", moves}, {"scaled", scaled(m, rows, A, size2)}}});
    return out;
}

inline std::vector<NodeId> negated(HandModel& m, std::vector<NodeId> rows) {
    for (NodeId& row : rows) row = m.g.neg(row);
    return rows;
}

}  // namespace detail

inline Motion build_motion(HandModel& m) {
    using namespace detail;
    Graph& g = m.g;
    const std::size_t n = m.q.size();
    TimeDerivative along = rate_bias(m);
    const std::vector<NodeId> rows = velocity_rows(m);
    const SparseMatrix A = jacobian(g, rows, m.u), phi_q = jacobian(g, m.position, m.q);
    std::vector<NodeId> b;
    for (const NodeId row : rows) b.push_back(g.neg(along(row)));
    std::vector<SymbolId> inputs{m.t};
    inputs.insert(inputs.end(), m.q.begin(), m.q.end());
    inputs.insert(inputs.end(), m.u.begin(), m.u.end());
    const std::vector<NodeId> none(n, g.constant(0));
    const NodeId speed2 = squares(m, nodes(m, m.u));

    Motion motion;
    motion.coordinates = motion.speeds = n;
    motion.position_rows = m.position.size();
    motion.velocity_rows = rows.size();
    const ConstrainedSolve dynamics = solve_with(m, A, m.forces, b);
    motion.rate = lower_program(g, {inputs, {dynamics}, {{"qd", nodes(m, m.u)}, {"ud", nodes(m, dynamics.x)}}});
    std::vector<NodeId> row = nodes(m, m.q);
    for (const auto& more : {nodes(m, m.u), nodes(m, dynamics.lambda)}) row.insert(row.end(), more.begin(), more.end());
    motion.observe = lower_program(g, {inputs, {dynamics}, {{"row", row}}});
    for (const NodeId id : row) motion.columns.push_back(g.symbol(g.symbol_of(id)).name);
    if (!m.position.empty()) {
        const ConstrainedSolve s = solve_with(m, phi_q, none, negated(m, m.position));
        const ProgramSpec spec{
            inputs,
            {s},
            {{"residual", m.position}, {"scaled", scaled(m, m.position, phi_q, g.constant(1))}, {"dq", nodes(m, s.x)}}};
        motion.position = lower_program(g, spec);
    }
    if (!rows.empty()) {
        const ConstrainedSolve s = solve_with(m, A, none, negated(m, rows));
        const ProgramSpec spec{inputs, {s}, {{"residual", rows}, {"scaled", scaled(m, rows, A, speed2)}, {"du", nodes(m, s.x)}}};
        motion.velocity = lower_program(g, spec);
    }
    return motion;
}

// the same motion, of which only the independent coordinates and speeds are integrated
inline Motion build_reduced_motion(HandModel& m, const std::vector<std::size_t>& dependent_q,
                                   const std::vector<std::size_t>& dependent_u) {
    Motion motion = build_motion(m);
    Reduction& reduction = motion.reduction.emplace();
    const auto depends = [](const std::vector<std::size_t>& v, std::size_t i) {
        return std::find(v.begin(), v.end(), i) != v.end();
    };
    const std::size_t n = m.q.size();
    for (std::size_t i = 0; i < n; ++i)
        if (!depends(dependent_q, i)) reduction.independent.push_back(i);
    for (std::size_t i = 0; i < n; ++i)
        if (!depends(dependent_u, i)) reduction.independent.push_back(n + i);
    reduction.position = detail::dependent_rows(m, m.position, m.q, dependent_q, 0);
    reduction.velocity = detail::dependent_rows(m, detail::velocity_rows(m), m.u, dependent_u, n);
    return motion;
}

// a point of mass one in the vertical plane, held at distance one from the origin, gravity g downwards
inline HandModel pendulum(double gravity) {
    HandModel m(2);
    m.forces[1] = m.g.constant(-gravity);
    m.position.push_back((m.Q(0) * m.Q(0) + m.Q(1) * m.Q(1) - 1.0).id);
    return m;
}

}  // namespace appell::test
