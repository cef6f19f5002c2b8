#include "tape/closed_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "expr/sweep.hpp"
#include "tape/exact_zero_test.hpp"
#include "tape/small_inverse.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_rows = 6;
constexpr std::size_t k_most_operations = 1000;  // the pivoted solve of a full matrix of 8 takes as long as 1300
// reduced equations, beyond which their entries are too many to be looked at one by one
constexpr std::size_t k_most_settled = 4;
// What is left of a diagonal entry of M, and of A M^-1 A', after elimination, relative to the entry: below these digits were lost
// that the pivoted solve keeps. The latter is the square of what a row has of its own.
constexpr double k_least_mass = 1e-3, k_least_row = 1e-2;
// rows that are small against the others to round-off count as zero there: squares, with room
constexpr double k_least_square = 1e-20;
// Of the dependent unknowns' determinant, rows scaled to unit length, squared: one and a half digits may be lost, and in the
// reduced masses as many again; these have a guard of their own.
constexpr double k_least_determinant = 1e-3, k_least_reduced = 1e-2;

// L D L' of a symmetric matrix given by its lower triangle; zeros stay zeros by the graph's own rules
struct Factors {
    std::vector<std::vector<NodeId>> L;
    std::vector<NodeId> D, inverse;  // 1/D: one division for each, whatever it is used for
};

Factors factor(Graph& g, const std::vector<std::vector<NodeId>>& S) {
    const std::size_t n = S.size();
    Factors out{std::vector<std::vector<NodeId>>(n), {}, {}};
    for (std::size_t i = 0; i < n; ++i) {
        NodeId d = S[i][i];
        std::vector<NodeId> scaled;  // L_ij d_j
        for (std::size_t j = 0; j < i; ++j) {
            NodeId entry = S[i][j];
            for (std::size_t k = 0; k < j; ++k) entry = g.sub(entry, g.mul(scaled[k], out.L[j][k]));
            scaled.push_back(entry);
            out.L[i].push_back(g.mul(entry, out.inverse[j]));
            d = g.sub(d, g.mul(entry, out.L[i][j]));
        }
        out.D.push_back(d);
        out.inverse.push_back(g.div(g.constant(1), d));
    }
    return out;
}

void forward(Graph& g, const Factors& f, std::vector<NodeId>& v) {
    for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) v[i] = g.sub(v[i], g.mul(f.L[i][j], v[j]));
}
// the last quotient is all that its reciprocal would be needed for
void divide(Graph& g, const Factors& f, std::vector<NodeId>& v) {
    for (std::size_t i = 0; i + 1 < v.size(); ++i) v[i] = g.mul(v[i], f.inverse[i]);
    if (!v.empty()) v.back() = g.div(v.back(), f.D.back());
}
void backward(Graph& g, const Factors& f, std::vector<NodeId>& v) {
    for (std::size_t i = v.size(); i-- > 0;)
        for (std::size_t j = i + 1; j < v.size(); ++j) v[i] = g.sub(v[i], g.mul(f.L[j][i], v[j]));
}

std::vector<std::vector<NodeId>> lower_triangle(Graph& g, const ConstrainedSolve& solve) {
    std::vector<std::vector<NodeId>> M(solve.x.size());
    for (std::size_t i = 0; i < M.size(); ++i) M[i].assign(i + 1, g.constant(0));
    for (const SparseEntry& e : solve.M.entries) M[e.row][e.column] = e.value;
    return M;
}
std::vector<std::vector<NodeId>> rows_of(Graph& g, const ConstrainedSolve& solve) {
    std::vector<std::vector<NodeId>> A(solve.lambda.size(), std::vector<NodeId>(solve.x.size(), g.constant(0)));
    for (const SparseEntry& e : solve.A.entries) A[e.row][e.column] = e.value;
    return A;
}

// each pair once: masses repeat
void add_mass_pivots(ClosedForm<NodeId>& closed, const Factors& factors, const std::vector<std::vector<NodeId>>& M) {
    for (std::size_t i = 0; i < M.size(); ++i) {
        bool known = false;
        for (std::size_t k = 0; k < closed.mass_pivots.size(); ++k)
            known = known || (closed.mass_pivots[k] == factors.D[i] && closed.mass_diagonal[k] == M[i][i]);
        if (known) continue;
        closed.mass_pivots.push_back(factors.D[i]);
        closed.mass_diagonal.push_back(M[i][i]);
    }
}

// With M = L D L':  y_j = L^-1 A_j',  S = y' D^-1 y,  S lambda = b - y' D^-1 L^-1 f,  x = L'^-1 D^-1 (L^-1 f + y lambda).
ClosedForm<NodeId> closed_multipliers(Graph& g, const ConstrainedSolve& solve) {
    const std::size_t n = solve.x.size(), m = solve.lambda.size();
    std::vector<std::vector<NodeId>> M = lower_triangle(g, solve), S(m), y = rows_of(g, solve);
    const Factors mass = factor(g, M);
    std::vector<NodeId> w = solve.f;
    forward(g, mass, w);
    for (std::vector<NodeId>& row : y) forward(g, mass, row);
    const auto product = [&](const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
        std::vector<NodeId> terms;
        for (std::size_t k = 0; k < n; ++k) terms.push_back(g.mul(a[k], g.mul(b[k], mass.inverse[k])));
        return sum_in_pairs(g, std::move(terms));
    };
    std::vector<NodeId> lambda;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) S[i].push_back(product(y[i], y[j]));
        lambda.push_back(g.sub(solve.b[i], product(y[i], w)));
    }
    const Factors rows = factor(g, S);
    forward(g, rows, lambda);
    divide(g, rows, lambda);
    backward(g, rows, lambda);
    std::vector<NodeId> x;
    for (std::size_t k = 0; k < n; ++k) {
        NodeId sum = w[k];
        for (std::size_t j = 0; j < m; ++j) sum = g.add(sum, g.mul(lambda[j], y[j][k]));
        x.push_back(g.mul(sum, mass.inverse[k]));
    }
    backward(g, mass, x);

    ClosedForm<NodeId> closed{std::move(x), std::move(lambda), {}, {}, rows.D, {}};
    add_mass_pivots(closed, mass, M);
    for (std::size_t i = 0; i < m; ++i) {
        closed.row_diagonal.push_back(S[i][i]);
        closed.pivot_rows.push_back(static_cast<std::uint32_t>(i));
    }
    return closed;
}

// without what it does not depend on, and zero where it is
NodeId settled(Graph& g, NodeId expression) {
    expression = without_idle_symbols(g, expression);
    return exact_zero_test(g, std::span(&expression, 1)).front() == ZeroVerdict::zero ? g.constant(0) : expression;
}

// x = E y + e with y the independent unknowns (000 eqs. 8-18), then E'(M x - f) = 0; lambda from the dependent rows of
// A' lambda = M x - f. The equations of `nonminimal` (003 eqs. 20-50) are these, before y and the others are separated.
ClosedForm<NodeId> closed_minimal(Graph& g, const ConstrainedSolve& solve) {
    const std::size_t n = solve.x.size(), m = solve.lambda.size(), p = solve.independent.size();
    if (p == 0 || p + m != n) return {};
    const NodeId zero = g.constant(0), one = g.constant(1);
    const std::vector<std::size_t> independent(solve.independent.begin(), solve.independent.end());
    std::vector<std::size_t> dependent;
    for (std::size_t j = 0; j < n; ++j)
        if (std::find(independent.begin(), independent.end(), j) == independent.end()) dependent.push_back(j);
    const std::vector<std::vector<NodeId>> A = rows_of(g, solve), M = lower_triangle(g, solve);
    const auto mass = [&](std::size_t i, std::size_t j) { return i < j ? M[j][i] : M[i][j]; };
    const std::optional<DependentColumns> columns = invert_columns(g, A, dependent);
    if (!columns) return {};
    std::vector<std::vector<NodeId>> E(n, std::vector<NodeId>(p, zero));
    std::vector<NodeId> e(n, zero);
    for (std::size_t k = 0; k < p; ++k) E[independent[k]][k] = one;
    for (std::size_t k = 0; k < p; ++k) {
        const std::vector<NodeId> column = columns->times_inverse(g, [&](std::size_t i) { return A[i][independent[k]]; });
        for (std::size_t d = 0; d < m; ++d) E[dependent[d]][k] = g.neg(column[d]);
    }
    const std::vector<NodeId> given = columns->times_inverse(g, [&](std::size_t i) { return solve.b[i]; });
    for (std::size_t d = 0; d < m; ++d) e[dependent[d]] = given[d];
    // M E and f - M e, then E' of both
    const auto sum_over = [&](const auto& term) {
        std::vector<NodeId> terms;
        for (std::size_t i = 0; i < n; ++i) terms.push_back(term(i));
        return sum_in_pairs(g, std::move(terms));
    };
    std::vector<std::vector<NodeId>> ME(n), reduced(p);
    std::vector<NodeId> force, y;
    for (std::size_t i = 0; i < n; ++i) {
        force.push_back(g.sub(solve.f[i], sum_over([&](std::size_t j) { return g.mul(mass(i, j), e[j]); })));
        for (std::size_t k = 0; k < p; ++k) ME[i].push_back(sum_over([&](std::size_t j) { return g.mul(mass(i, j), E[j][k]); }));
    }
    for (std::size_t k = 0; k < p; ++k) {
        y.push_back(sum_over([&](std::size_t i) { return g.mul(E[i][k], force[i]); }));
        for (std::size_t l = 0; l <= k; ++l)
            reduced[k].push_back(sum_over([&](std::size_t i) { return g.mul(E[i][k], ME[i][l]); }));
    }
    // what turns with a body, or rolls along, is often the same at all angles, in all directions of the mechanism
    if (p <= k_most_settled) {
        for (std::vector<NodeId>& row : reduced)
            for (NodeId& entry : row) entry = settled(g, entry);
        for (NodeId& entry : y) entry = settled(g, entry);
    }
    Factors factors;
    if (p == 2) {
        // one division instead of two that wait for each other
        const NodeId a = reduced[0][0], b = reduced[1][0], c = reduced[1][1];
        const NodeId determinant = g.sub(g.mul(a, c), g.mul(b, b)), reciprocal = g.div(one, determinant);
        y = {g.mul(g.sub(g.mul(c, y[0]), g.mul(b, y[1])), reciprocal), g.mul(g.sub(g.mul(a, y[1]), g.mul(b, y[0])), reciprocal)};
        factors.D = {a, determinant};
        reduced[1][1] = g.mul(a, c);  // what the determinant is compared with
    } else {
        factors = factor(g, reduced);
        forward(g, factors, y);
        divide(g, factors, y);
        backward(g, factors, y);
    }

    ClosedForm<NodeId> closed;
    for (std::size_t j = 0; j < n; ++j) {
        NodeId sum = e[j];
        for (std::size_t k = 0; k < p; ++k) sum = g.add(sum, g.mul(E[j][k], y[k]));
        closed.x.push_back(sum);
    }
    std::vector<NodeId> excess;  // of the dependent unknowns: M x - f
    for (const std::size_t d : dependent) {
        NodeId sum = g.neg(solve.f[d]);
        for (std::size_t j = 0; j < n; ++j) sum = g.add(sum, g.mul(mass(d, j), closed.x[j]));
        excess.push_back(sum);
    }
    closed.lambda.assign(m, zero);
    for (const DependentColumns::Block& block : columns->blocks) {
        for (const std::size_t i : block.rows) {
            NodeId sum = zero;
            for (const std::size_t d : block.unknowns) sum = g.add(sum, g.mul(columns->cofactors[d][i], excess[d]));
            closed.lambda[i] = g.mul(sum, block.reciprocal);
        }
        closed.row_pivots.push_back(g.mul(block.determinant, block.determinant));
        closed.row_diagonal.push_back(block.lengths);
        closed.pivot_rows.push_back(static_cast<std::uint32_t>(block.rows.front()));
    }
    add_mass_pivots(closed, factors, reduced);
    return closed;
}

}  // namespace

void add_closed_form(Graph& g, ConstrainedSolve& solve) {
    const std::size_t n = solve.x.size(), m = solve.lambda.size();
    if (n == 0 || n > k_most_closed_unknowns || m > k_most_rows) return;
    // what turns with a body is often the same at all angles
    for (SparseEntry& e : solve.M.entries) e.value = without_idle_symbols(g, e.value);
    ClosedForm<NodeId> closed;
    switch (solve.kind) {
        case SolveKind::multipliers: closed = closed_multipliers(g, solve); break;
        case SolveKind::minimal:
        case SolveKind::nonminimal: closed = closed_minimal(g, solve); break;
        default: break;
    }
    if (closed.empty()) return;
    // what it costs beside the operands that the solve has anyway
    std::vector<NodeId> given, all;
    for (const SparseMatrix* matrix : {&solve.M, &solve.A})
        for (const SparseEntry& e : matrix->entries) given.push_back(e.value);
    given.insert(given.end(), solve.f.begin(), solve.f.end());
    given.insert(given.end(), solve.b.begin(), solve.b.end());
    all = given;
    closed.for_each([&](NodeId id) { all.push_back(id); });
    Sweep sweep;
    const std::size_t without = sweep.collect(g, given).size();
    if (sweep.collect(g, all).size() - without <= k_most_operations) solve.closed = std::move(closed);
}

namespace {

// of what has mass, and of the rows
std::pair<double, double> least_pivots(SolveKind kind) {
    const bool multipliers = kind == SolveKind::multipliers;
    return {multipliers ? k_least_mass : k_least_reduced, multipliers ? k_least_row : k_least_determinant};
}

}  // namespace

std::array<PivotGuard, 2> guards_of(const SolveBlock& block) {
    const ClosedForm<Slot>& closed = block.closed;
    const auto [mass, row] = least_pivots(block.kind);
    return {PivotGuard{&closed.mass_pivots, &closed.mass_diagonal, mass},
            PivotGuard{&closed.row_pivots, &closed.row_diagonal, row}};
}

std::vector<std::pair<NodeId, NodeId>> conditions_of(Graph& g, const ConstrainedSolve& solve) {
    if (solve.kind == SolveKind::multipliers) throw Error("conditions are those of reduced equations");
    const ClosedForm<NodeId>& closed = solve.closed;
    std::vector<std::pair<NodeId, NodeId>> out;
    // NOTE: a pivot of zero makes numbers that are not finite, which need no condition; and one that is a number, as of rows
    // solved for their unknowns, comes no nearer to zero
    const auto add = [&](const std::vector<NodeId>& pivots, const std::vector<NodeId>& diagonals, double least) {
        for (std::size_t i = 0; i < pivots.size(); ++i) {
            if (const auto number = g.constant_value(pivots[i]); number && *number > 0) continue;
            out.emplace_back(pivots[i], g.constant(0));
            if (pivots[i] != diagonals[i]) out.emplace_back(pivots[i], g.mul(g.constant(least), diagonals[i]));
        }
    };
    const auto [mass, row] = least_pivots(solve.kind);
    add(closed.mass_pivots, closed.mass_diagonal, mass);
    add(closed.row_pivots, closed.row_diagonal, row);
    return out;
}

double least_square_of(const SolveBlock& block) {
    return block.kind == SolveKind::multipliers && block.closed.row_diagonal.size() > 1 ? k_least_square : 0;
}

bool take_closed_form(const SolveBlock& block, double* slots) {
    const ClosedForm<Slot>& closed = block.closed;
    // NOTE: comparisons are false for what is not a number, and the solve then says what is wrong
    for (const PivotGuard& guard : guards_of(block))
        for (std::size_t i = 0; i < guard.pivots->size(); ++i)
            if (!guard.holds(i, slots)) return false;
    if (const double least = least_square_of(block); least > 0) {
        double longest = 0, shortest = std::numeric_limits<double>::infinity();
        for (const Slot slot : closed.row_diagonal) {
            longest = std::max(longest, slots[slot]);
            shortest = std::min(shortest, slots[slot]);
        }
        if (!(shortest > least * longest)) return false;
    }
    bool finite = true;
    for (std::size_t i = 0; i < closed.x.size(); ++i) finite &= std::isfinite(slots[block.x[i]] = slots[closed.x[i]]);
    for (std::size_t i = 0; i < closed.lambda.size(); ++i)
        finite &= std::isfinite(slots[block.lambda[i]] = slots[closed.lambda[i]]);
    return finite;
}

bool steady_pivots_are_good(const Program& program, const double* slots) {
    for (const SolveBlock& block : program.solves)
        for (const PivotGuard& guard : guards_of(block))
            for (std::size_t i = 0; i < guard.pivots->size(); ++i)
                if (guard.is_steady(i, program) && !guard.holds(i, slots)) return false;
    return true;
}

SolveReport report_of_closed_form(const SolveBlock& block, const double* slots) {
    const ClosedForm<Slot>& closed = block.closed;
    SolveReport report;
    report.rank = static_cast<std::uint32_t>(block.lambda.size());
    double least = 1;
    for (std::size_t i = 0; i < closed.row_pivots.size(); ++i) {
        const double share = slots[closed.row_pivots[i]] / slots[closed.row_diagonal[i]];
        if (share < least) {
            least = share;
            report.weakest_row = closed.pivot_rows[i];
        }
    }
    report.smallest_pivot = std::sqrt(least);
    return report;
}

}  // namespace appell
