#include "dynam/speed_partition.hpp"

#include <algorithm>
#include <cmath>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

constexpr double k_rank_noise = 1e-10;      // smaller pivots, relative to the first, are round-off of projected states
constexpr double k_tie = 1e-9;              // determinants that differ by less, relatively, are equal
constexpr double k_steady_enough = 1e-3;    // a steady determinant may be this much smaller than the largest one
constexpr std::size_t k_largest_minor = 3;  // beyond, the columns are those of the pivots
constexpr std::size_t k_most_choices = 20'000;
constexpr std::size_t k_most_determinants = 200;  // formed as expressions

using Columns = std::vector<std::uint32_t>;

struct Pivots {
    Columns rows, columns;
};

// Gaussian elimination with complete pivoting over the allowed columns; the later column among equal pivots
Pivots pivots(std::vector<double> a, std::size_t rows, std::size_t columns, const std::vector<bool>& allowed) {
    Pivots out;
    std::vector<std::uint32_t> order(rows);
    for (std::uint32_t i = 0; i < rows; ++i) order[i] = i;
    double first = 0;
    for (std::size_t k = 0; k < std::min(rows, columns); ++k) {
        std::size_t row = k, column = columns;
        double largest = 0;
        for (std::size_t j = columns; j-- > 0;)
            for (std::size_t i = k; allowed[j] && i < rows; ++i)
                if (std::abs(a[i * columns + j]) > largest * (1 + k_tie)) {
                    largest = std::abs(a[i * columns + j]);
                    row = i;
                    column = j;
                }
        if (k == 0) first = largest;
        if (column == columns || !(largest > k_rank_noise * first)) break;
        for (std::size_t j = 0; j < columns; ++j) std::swap(a[k * columns + j], a[row * columns + j]);
        std::swap(order[k], order[row]);
        for (std::size_t i = k + 1; i < rows; ++i) {
            const double factor = a[i * columns + column] / a[k * columns + column];
            for (std::size_t j = 0; j < columns; ++j) a[i * columns + j] -= factor * a[k * columns + j];
            a[i * columns + column] = 0;
        }
        out.rows.push_back(order[k]);
        out.columns.push_back(static_cast<std::uint32_t>(column));
    }
    std::sort(out.rows.begin(), out.rows.end());
    std::sort(out.columns.begin(), out.columns.end());
    return out;
}

double determinant(std::vector<double> a, std::size_t n) {
    double det = 1;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[row * n + k])) row = i;
        if (a[row * n + k] == 0) return 0;
        if (row != k) det = -det;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[row * n + j]);
        det *= a[k * n + k];
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return det;
}

class Choice {
public:
    Choice(const ConstrainedDynamics& d, std::span<const double> values)
        : d_(d), n_(d.model->speeds.size()), m_(d.rows.size()), scaled_(n_ * m_, 0.0) {
        std::vector<NodeId> entries;
        for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(d.graph(), entries, values);
        std::vector<double> length(m_, 0.0);
        for (std::size_t k = 0; k < entries.size(); ++k) {
            const double value = std::isfinite(numbers[k]) ? numbers[k] : 0;
            scaled_[d.A.entries[k].row * n_ + d.A.entries[k].column] = value;
            length[d.A.entries[k].row] = std::hypot(length[d.A.entries[k].row], value);
        }
        for (std::size_t i = 0; i < m_; ++i)
            for (std::size_t j = 0; j < n_ && length[i] > 0; ++j) scaled_[i * n_ + j] /= length[i];
    }

    SpeedPartition choose(std::span<const std::uint32_t> given) {
        std::vector<bool> allowed(n_, given.empty());
        for (const std::uint32_t speed : given) allowed[speed] = true;
        Pivots found = pivots(scaled_, m_, n_, allowed);
        rows_ = std::move(found.rows);
        out_.rows = rows_;
        out_.dependent = std::move(found.columns);
        if (given.empty() && !rows_.empty() && rows_.size() <= k_largest_minor && choices() <= k_most_choices) by_determinant();
        out_.determinant = size_of(out_.dependent);
        out_.steady = rows_.size() <= k_largest_minor && steady(out_.dependent);
        for (std::uint32_t i = 0; i < m_; ++i)
            if (!std::binary_search(rows_.begin(), rows_.end(), i)) out_.redundant.push_back(i);
        for (std::uint32_t j = 0; j < n_; ++j)
            if (!std::binary_search(out_.dependent.begin(), out_.dependent.end(), j)) out_.independent.push_back(j);
        return std::move(out_);
    }

private:
    [[nodiscard]] std::size_t choices() const {
        std::size_t count = 1;
        for (std::size_t k = 0; k < rows_.size(); ++k) count = count * (n_ - k) / (k + 1);
        return count;
    }

    [[nodiscard]] double size_of(const Columns& columns) const {
        const std::size_t r = columns.size();
        std::vector<double> a(r * r);
        for (std::size_t i = 0; i < r; ++i)
            for (std::size_t j = 0; j < r; ++j) a[i * r + j] = scaled_[rows_[i] * n_ + columns[j]];
        return std::abs(determinant(std::move(a), r));
    }

    // does the determinant depend on parameters alone?
    [[nodiscard]] bool steady(const Columns& columns) const {
        Graph& g = d_.graph();
        std::vector<NodeId> terms;
        Columns order(columns.size());
        for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
        do {
            NodeId term = g.constant(1);
            for (std::size_t i = 0; i < order.size() && term.valid(); ++i) {
                const NodeId entry = d_.A.find(rows_[i], columns[order[i]]);
                term = entry.valid() ? g.mul(term, entry) : NodeId{};
            }
            std::size_t inversions = 0;
            for (std::size_t i = 0; i < order.size(); ++i)
                for (std::size_t j = i + 1; j < order.size(); ++j) inversions += order[i] > order[j];
            if (term.valid()) terms.push_back(inversions % 2 == 0 ? term : g.neg(term));
        } while (std::next_permutation(order.begin(), order.end()));
        const NodeId det = g.sum(terms);
        const std::vector<SymbolId> symbols = symbols_in(g, std::span(&det, 1));
        return std::all_of(symbols.begin(), symbols.end(), [&](SymbolId s) { return g.symbol(s).kind == SymbolKind::parameter; });
    }

    void by_determinant() {
        struct Candidate {
            double size;
            Columns columns;
        };
        std::vector<Candidate> candidates;
        Columns columns(rows_.size());
        for (std::uint32_t k = 0; k < columns.size(); ++k) columns[k] = k;
        for (bool more = true; more;) {
            candidates.push_back({size_of(columns), columns});
            more = false;
            for (std::size_t k = columns.size(); k-- > 0 && !more;)
                if (columns[k] + (columns.size() - k) < n_) {
                    more = true;
                    ++columns[k];
                    for (std::size_t l = k + 1; l < columns.size(); ++l) columns[l] = columns[l - 1] + 1;
                }
        }
        double largest = 0;
        for (const Candidate& c : candidates) largest = std::max(largest, c.size);
        // sizes in steps of the tolerance, so that the order is a strict one; later speeds first
        const auto rank = [&](const Candidate& c) { return std::llround(c.size / largest / k_tie); };
        std::erase_if(candidates, [&](const Candidate& c) { return c.size < k_steady_enough * largest; });
        std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
            return rank(a) != rank(b) ? rank(a) > rank(b) : a.columns > b.columns;
        });
        out_.dependent = candidates.front().columns;
        for (std::size_t k = 0; k < std::min(candidates.size(), k_most_determinants); ++k)
            if (steady(candidates[k].columns)) {
                out_.dependent = candidates[k].columns;
                return;
            }
    }

    const ConstrainedDynamics& d_;
    std::size_t n_, m_;
    std::vector<double> scaled_;  // A at the state, rows of unit length
    Columns rows_;
    SpeedPartition out_;
};

}  // namespace

SpeedPartition choose_speed_partition(const ConstrainedDynamics& d, std::span<const double> values,
                                      std::span<const std::uint32_t> dependent) {
    return Choice(d, values).choose(dependent);
}

std::vector<double> generic_values(const Graph& graph) {
    std::vector<double> values;
    std::uint64_t state = 0x9e3779b97f4a7c15ull;
    for (std::size_t i = 0; i < graph.symbol_count(); ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        values.push_back(0.2 + static_cast<double>(state >> 40) / 16777216.0);
    }
    return values;
}

}  // namespace appell
