#include "tape/closed_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/sweep.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_unknowns = 16, k_most_rows = 6;
constexpr std::size_t k_most_operations = 1000;  // the pivoted solve of a full matrix of 8 takes as long as 1300
// What is left of a diagonal entry of M, and of A M^-1 A', after elimination, relative to the entry: below these digits were lost
// that the pivoted solve keeps. The latter is the square of what a row has of its own.
constexpr double k_least_mass = 1e-3, k_least_row = 1e-2;
// rows that are small against the others to round-off count as zero there: squares, with room
constexpr double k_least_square = 1e-20;

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
void backward(Graph& g, const Factors& f, std::vector<NodeId>& v) {
    for (std::size_t i = v.size(); i-- > 0;)
        for (std::size_t j = i + 1; j < v.size(); ++j) v[i] = g.sub(v[i], g.mul(f.L[j][i], v[j]));
}

}  // namespace

// With M = L D L':  y_j = L^-1 A_j',  S = y' D^-1 y,  S lambda = b - y' D^-1 L^-1 f,  x = L'^-1 D^-1 (L^-1 f + y lambda).
void add_closed_form(Graph& g, ConstrainedSolve& solve) {
    const std::size_t n = solve.x.size(), m = solve.lambda.size();
    if (solve.kind != SolveKind::multipliers || n == 0 || n > k_most_unknowns || m > k_most_rows) return;
    const NodeId zero = g.constant(0);
    std::vector<std::vector<NodeId>> M(n), S(m), y(m, std::vector<NodeId>(n, zero));
    for (std::size_t i = 0; i < n; ++i) M[i].assign(i + 1, zero);
    for (const SparseEntry& e : solve.M.entries) M[e.row][e.column] = e.value;
    for (const SparseEntry& e : solve.A.entries) y[e.row][e.column] = e.value;
    const Factors mass = factor(g, M);
    std::vector<NodeId> w = solve.f;
    forward(g, mass, w);
    for (std::vector<NodeId>& row : y) forward(g, mass, row);
    const auto product = [&](const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
        NodeId sum = zero;
        for (std::size_t k = 0; k < n; ++k) sum = g.add(sum, g.mul(a[k], g.mul(b[k], mass.inverse[k])));
        return sum;
    };
    std::vector<NodeId> lambda;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) S[i].push_back(product(y[i], y[j]));
        lambda.push_back(g.sub(solve.b[i], product(y[i], w)));
    }
    const Factors rows = factor(g, S);
    forward(g, rows, lambda);
    for (std::size_t i = 0; i < m; ++i) lambda[i] = g.mul(lambda[i], rows.inverse[i]);
    backward(g, rows, lambda);
    std::vector<NodeId> x;
    for (std::size_t k = 0; k < n; ++k) {
        NodeId sum = w[k];
        for (std::size_t j = 0; j < m; ++j) sum = g.add(sum, g.mul(lambda[j], y[j][k]));
        x.push_back(g.mul(sum, mass.inverse[k]));
    }
    backward(g, mass, x);

    ClosedForm<NodeId> closed{std::move(x), std::move(lambda), mass.D, {}, rows.D, {}};
    for (std::size_t i = 0; i < n; ++i) closed.mass_diagonal.push_back(M[i][i]);
    for (std::size_t i = 0; i < m; ++i) closed.row_diagonal.push_back(S[i][i]);
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

bool take_closed_form(const SolveBlock& block, double* slots, SolveReport& report) {
    const ClosedForm<Slot>& closed = block.closed;
    // NOTE: comparisons are false for what is not a number, and the solve then says what is wrong
    for (std::size_t i = 0; i < closed.mass_pivots.size(); ++i) {
        const double diagonal = slots[closed.mass_diagonal[i]];
        if (!(diagonal > 0) || !(slots[closed.mass_pivots[i]] > k_least_mass * diagonal)) return false;
    }
    double least = 1, longest = 0, shortest = std::numeric_limits<double>::infinity();
    std::uint32_t weakest = 0;
    for (std::size_t i = 0; i < closed.row_pivots.size(); ++i) {
        const double diagonal = slots[closed.row_diagonal[i]], share = slots[closed.row_pivots[i]] / diagonal;
        if (!(diagonal > 0) || !(share > k_least_row)) return false;
        if (share < least) {
            least = share;
            weakest = static_cast<std::uint32_t>(i);
        }
        longest = std::max(longest, diagonal);
        shortest = std::min(shortest, diagonal);
    }
    if (!closed.row_pivots.empty() && !(shortest > k_least_square * longest)) return false;
    double sum = 0;  // not finite where any of them is
    for (std::size_t i = 0; i < block.x.size(); ++i) sum += slots[block.x[i]] = slots[closed.x[i]];
    for (std::size_t i = 0; i < block.lambda.size(); ++i) sum += slots[block.lambda[i]] = slots[closed.lambda[i]];
    if (!std::isfinite(sum)) return false;
    report = {};
    report.rank = static_cast<std::uint32_t>(block.lambda.size());
    report.smallest_pivot = std::sqrt(least);
    report.weakest_row = weakest;
    return true;
}

}  // namespace appell
