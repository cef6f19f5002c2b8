#include "doctor/singular_states.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "doctor/nearest_solution.hpp"
#include "doctor/small_determinant.hpp"
#include "doctor/special_states.hpp"
#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "expr/sweep.hpp"
#include "tape/dense_rank.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

constexpr std::size_t k_largest_minor = 3;
constexpr std::size_t k_most_minors = 60;
constexpr std::size_t k_most_printed = 6;
constexpr std::size_t k_longest_minor = 60;  // nodes
const Digits50 k_start_zero = 1e-9;          // start values are on the constraints to round-off of doubles

using Dense = std::vector<std::vector<NodeId>>;  // rows of A

// Rows of independent blocks (no speed in common) lose rank each for themselves.
std::vector<std::vector<std::size_t>> blocks(const Graph& g, const Dense& a, std::span<const std::size_t> rows) {
    std::vector<std::vector<std::size_t>> out;
    std::vector<bool> taken(a.size(), false);
    const auto touch = [&](std::size_t i, std::size_t j) {
        for (std::size_t c = 0; c < a[i].size(); ++c)
            if (!g.is_constant(a[i][c], 0) && !g.is_constant(a[j][c], 0)) return true;
        return false;
    };
    for (const std::size_t seed : rows) {
        if (taken[seed]) continue;
        std::vector<std::size_t> block{seed};
        taken[seed] = true;
        for (std::size_t k = 0; k < block.size(); ++k)
            for (const std::size_t other : rows)
                if (!taken[other] && touch(block[k], other)) {
                    taken[other] = true;
                    block.push_back(other);
                }
        std::sort(block.begin(), block.end());
        out.push_back(std::move(block));
    }
    return out;
}

class Finder {
public:
    Finder(const ConstrainedDynamics& d, const Samples& samples) : d_(d), g_(d.graph()), m_(*d.model), samples_(samples) {
        a_.assign(d.rows.size(), std::vector<NodeId>(m_.speeds.size(), g_.constant(0)));
        for (const SparseEntry& e : d.A.entries) a_[e.row][e.column] = e.value;
    }

    SingularStates run(const SingularOptions& options) {
        SingularStates out;
        std::vector<NodeId> entries;
        for (const std::vector<NodeId>& row : a_) entries.insert(entries.end(), row.begin(), row.end());
        const DenseRank generic(samples_.evaluate(g_, entries, 0), m_.speeds.size());
        out.rank = generic.rank();
        rows_ = generic.pivot_rows();
        std::sort(rows_.begin(), rows_.end());
        out.start_rank =
            DenseRank(evaluate<Digits50>(g_, entries, samples_.values(g_, samples_.start)), m_.speeds.size(), k_start_zero)
                .rank();
        minors(out);
        if (!out.never && out.start_rank == out.rank) search(out, options);
        return out;
    }

private:
    // slow convergence may end near a state where nothing is lost
    bool loses_rank(std::span<const double> state, std::size_t rank) {
        std::vector<NodeId> entries;
        for (const std::vector<NodeId>& row : a_) entries.insert(entries.end(), row.begin(), row.end());
        const std::vector<Digits50> inputs(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(samples_.symbols.size()));
        const std::vector<Digits50> numbers = evaluate<Digits50>(g_, entries, samples_.values(g_, inputs));
        const bool finite = std::all_of(numbers.begin(), numbers.end(), [](const Digits50& x) { return is_finite(x); });
        if (!finite) return false;
        // rows as long as at the first sample: one that has become nothing must not be scaled up to a row
        const std::vector<Digits50> usual = samples_.evaluate(g_, entries, 0);
        std::vector<Digits50> scaled = numbers;
        const std::size_t n = m_.speeds.size();
        for (std::size_t i = 0; i < a_.size(); ++i) {
            Digits50 largest(0), here(0);
            for (std::size_t j = 0; j < n; ++j) {
                largest = std::max(largest, Digits50(abs(usual[i * n + j])));
                here = std::max(here, Digits50(abs(numbers[i * n + j])));
            }
            if (here < Digits50(1e-4) * largest)
                for (std::size_t j = 0; j < n; ++j) scaled[i * n + j] = 0;
        }
        return DenseRank(std::move(scaled), n, Digits50(1e-4)).rank() < rank;
    }

    // Blocks that can not lose rank are passed over. Of several blocks that can, each has its own set; the first is printed.
    void minors(SingularStates& out) {
        bool can_lose = false;
        for (const std::vector<std::size_t>& block : blocks(g_, a_, rows_)) {
            std::vector<std::size_t> columns;
            for (std::size_t c = 0; c < m_.speeds.size(); ++c)
                if (std::any_of(block.begin(), block.end(), [&](std::size_t r) { return !g_.is_constant(a_[r][c], 0); }))
                    columns.push_back(c);
            if (block.size() > k_largest_minor) {
                can_lose = true;
                continue;
            }
            std::vector<NodeId> found;
            bool never = false;
            std::vector<bool> chosen(columns.size(), false);
            std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(std::min(block.size(), columns.size())), true);
            std::size_t count = 0;
            do {
                std::vector<std::size_t> pick;
                for (std::size_t c = 0; c < columns.size(); ++c)
                    if (chosen[c]) pick.push_back(columns[c]);
                const NodeId minor = small_determinant(g_, a_, block, pick);
                if (depends_on_no_state(minor)) {
                    if (abs(samples_.evaluate(g_, std::span(&minor, 1), 0).front()) > Digits50(1e-30)) never = true;
                } else {
                    found.push_back(minor);
                }
            } while (!never && ++count < k_most_minors && std::prev_permutation(chosen.begin(), chosen.end()));
            if (never) continue;
            if (count >= k_most_minors) {
                can_lose = true;
                continue;
            }
            const std::vector<bool> zero = identically_zero(g_, found);
            std::vector<NodeId> shown;
            for (std::size_t i = 0; i < found.size(); ++i)
                if (!zero[i] && std::find(shown.begin(), shown.end(), found[i]) == shown.end()) shown.push_back(found[i]);
            if (shown.size() <= k_most_printed) {
                shown = without_repetitions(std::move(shown));
                if (can_not_vanish_together(shown)) continue;
            }
            can_lose = true;
            Sweep sweep;
            const bool readable = shown.size() <= k_most_printed && std::all_of(shown.begin(), shown.end(), [&](NodeId n) {
                                      return sweep.collect(g_, std::span(&n, 1)).size() <= k_longest_minor;
                                  });
            if (readable && out.vanishing.empty()) out.vanishing = std::move(shown);
        }
        out.never = !can_lose;
    }

    // those that are equal, or opposite, to an earlier one say nothing new
    std::vector<NodeId> without_repetitions(std::vector<NodeId> minors) {
        std::vector<NodeId> kept;
        for (const NodeId minor : minors) {
            std::vector<NodeId> differences;
            for (const NodeId other : kept) {
                differences.push_back(g_.sub(minor, other));
                differences.push_back(g_.add(minor, other));
            }
            const std::vector<bool> zero = identically_zero(g_, differences);
            if (std::find(zero.begin(), zero.end(), true) == zero.end()) kept.push_back(minor);
        }
        return kept;
    }

    // as sin and cos of one angle: the sum of the squares of two of them, or of all, is the same in every state
    bool can_not_vanish_together(std::span<const NodeId> minors) {
        std::vector<NodeId> squares, sums;
        for (const NodeId minor : minors) squares.push_back(g_.pow(minor, 2));
        for (std::size_t i = 0; i < squares.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) sums.push_back(g_.add(squares[i], squares[j]));
        sums.push_back(g_.sum(squares));
        std::vector<SymbolId> states;
        for (const SymbolId s : symbols_in(g_, sums))
            if (g_.symbol(s).kind != SymbolKind::parameter) states.push_back(s);
        const SparseMatrix slopes = jacobian(g_, sums, states);
        std::vector<NodeId> values;
        for (const SparseEntry& e : slopes.entries) values.push_back(e.value);
        const std::vector<bool> zero = identically_zero(g_, values);
        std::vector<bool> constant(sums.size(), true);
        for (std::size_t k = 0; k < zero.size(); ++k)
            if (!zero[k]) constant[slopes.entries[k].row] = false;
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (constant[i] && samples_.evaluate(g_, std::span(&sums[i], 1), 0).front() > Digits50(1e-30)) return true;
        return false;
    }

    bool depends_on_no_state(NodeId node) const {
        for (const SymbolId s : symbols_in(g_, std::span(&node, 1)))
            if (g_.symbol(s).kind != SymbolKind::parameter) return false;
        return true;
    }

    void search(SingularStates& out, const SingularOptions& options) {
        std::vector<SymbolId> unknowns, inputs = samples_.symbols, weights;
        for (const Coordinate& c : m_.coordinates) unknowns.push_back(c.q);
        for (const Speed& s : m_.speeds) unknowns.push_back(s.u);
        const std::size_t states = unknowns.size();
        std::vector<NodeId> equations, square;
        for (const ConstraintRow& row : d_.rows) {
            if (row.position.valid()) equations.push_back(row.position);
            if (row.velocity.valid()) equations.push_back(row.velocity);
        }
        for (const Frame& frame : m_.frames)
            if (const auto* q = std::get_if<QuaternionRotation>(&frame.orientation)) {
                std::vector<NodeId> squares{g_.constant(-1)};
                for (const std::size_t c : q->coordinates) squares.push_back(g_.pow(g_.symbol_node(m_.coordinates[c].q), 2));
                equations.push_back(g_.sum(squares));
            }
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            weights.push_back(g_.add_symbol("weight of " + d_.rows[rows_[k]].name, SymbolKind::other));
            square.push_back(g_.pow(g_.symbol_node(weights.back()), 2));
        }
        for (std::size_t c = 0; c < m_.speeds.size(); ++c) {
            std::vector<NodeId> terms;
            for (std::size_t k = 0; k < rows_.size(); ++k)
                if (!g_.is_constant(a_[rows_[k]][c], 0)) terms.push_back(g_.mul(g_.symbol_node(weights[k]), a_[rows_[k]][c]));
            if (!terms.empty()) equations.push_back(g_.sum(terms));
        }
        square.push_back(g_.constant(-1));
        equations.push_back(g_.sum(square));
        unknowns.insert(unknowns.end(), weights.begin(), weights.end());
        inputs.insert(inputs.end(), weights.begin(), weights.end());
        NearestSolution solver(g_, std::move(equations), inputs, unknowns);

        std::vector<double> start;
        for (const Digits50& x : samples_.start) start.push_back(static_cast<double>(x));
        double q_size = 1e-3, u_size = 1e-3;
        for (std::size_t i = 0; i < states; ++i)
            (i < m_.coordinates.size() ? q_size : u_size) =
                std::max(i < m_.coordinates.size() ? q_size : u_size, std::abs(start[1 + i]));
        std::mt19937_64 random(options.seed);
        std::uniform_real_distribution<double> symmetric(-1, 1);
        std::vector<double> best;
        for (std::size_t k = 0; k < options.tries; ++k) {
            // near the start first, then farther away
            const double spread = k == 0 ? 0.01 : static_cast<double>(k) / static_cast<double>(options.tries);
            std::vector<double> from = start;
            for (std::size_t i = 0; i < states; ++i)
                from[1 + i] += spread * (i < m_.coordinates.size() ? q_size : u_size) * symmetric(random);
            double norm = 0;
            for (std::size_t i = 0; i < weights.size(); ++i) {
                from.push_back(symmetric(random));
                norm += from.back() * from.back();
            }
            for (std::size_t i = 0; i < weights.size(); ++i) from[start.size() + i] /= std::sqrt(norm);
            const auto state = solver.solve(from);
            if (!state || !loses_rank(*state, out.rank)) continue;
            double distance = 0;
            for (std::size_t i = 0; i < states; ++i)
                distance += std::pow(((*state)[1 + i] - start[1 + i]) / (i < m_.coordinates.size() ? q_size : u_size), 2);
            distance = std::sqrt(distance);
            if (best.empty() || distance < out.distance) {
                best = *state;
                out.distance = distance;
            }
        }
        if (best.empty()) return;
        out.found = true;
        for (std::size_t i = 0; i < states; ++i) {
            const double size = i < m_.coordinates.size() ? q_size : u_size;  // what is small against it is the search's error
            out.state.emplace_back(g_.symbol(unknowns[i]).name, std::abs(best[1 + i]) < 1e-7 * size ? 0 : best[1 + i]);
        }
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (std::abs(best[start.size() + k]) > 1e-6) out.weak.push_back(rows_[k]);
        best.resize(start.size());
        out.inputs = best;
        // what holds there and not almost everywhere
        SpecialStateTest test(d_, special_states(d_), samples_.symbols);
        const std::vector<bool> here = test.holds(best);
        std::vector<bool> elsewhere(here.size(), false);
        for (std::size_t k = 0; k < std::min<std::size_t>(4, samples_.size()); ++k) {
            std::vector<double> other;
            for (const Digits50& x : samples_.states[k]) other.push_back(static_cast<double>(x));
            const std::vector<bool> there = test.holds(other);
            for (std::size_t i = 0; i < there.size(); ++i) elsewhere[i] = elsewhere[i] || there[i];
        }
        const std::vector<bool> at_start = test.holds(start);
        for (std::size_t i = 0; i < at_start.size(); ++i) elsewhere[i] = elsewhere[i] || at_start[i];
        out.special = descriptions(test, here, elsewhere, 3);
    }

    const ConstrainedDynamics& d_;
    Graph& g_;
    const Model& m_;
    const Samples& samples_;
    Dense a_;
    std::vector<std::size_t> rows_;  // independent ones
};

}  // namespace

SingularStates singular_states(const ConstrainedDynamics& d, const Samples& samples, const SingularOptions& options) {
    return Finder(d, samples).run(options);
}

}  // namespace appell
