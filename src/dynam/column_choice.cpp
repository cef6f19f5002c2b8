#include "dynam/column_choice.hpp"

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

// Gaussian elimination with complete pivoting, over the first columns as far as they go, then over all allowed ones; the later
// column among equal pivots.
class Elimination {
public:
    Elimination(std::vector<double> a, std::size_t rows, std::size_t columns) : a_(std::move(a)), m_(rows), n_(columns) {
        for (std::uint32_t i = 0; i < m_; ++i) order_.push_back(i);
        for (const double v : a_) first_ = std::max(first_, std::abs(v));
    }

    void run(const std::vector<bool>& allowed) {
        while (rows.size() < std::min(m_, n_)) {
            const std::size_t k = rows.size();
            std::size_t row = k, column = n_;
            double largest = 0;
            for (std::size_t j = n_; j-- > 0;)
                for (std::size_t i = k; allowed[j] && i < m_; ++i)
                    if (std::abs(at(i, j)) > largest * (1 + k_tie)) {
                        largest = std::abs(at(i, j));
                        row = i;
                        column = j;
                    }
            if (column == n_ || !(largest > k_rank_noise * first_)) return;
            for (std::size_t j = 0; j < n_; ++j) std::swap(at(k, j), at(row, j));
            std::swap(order_[k], order_[row]);
            for (std::size_t i = k + 1; i < m_; ++i) {
                const double factor = at(i, column) / at(k, column);
                for (std::size_t j = 0; j < n_; ++j) at(i, j) -= factor * at(k, j);
                at(i, column) = 0;
            }
            rows.push_back(order_[k]);
            columns.push_back(static_cast<std::uint32_t>(column));
        }
    }

    Columns rows, columns;  // of the pivots, in order

private:
    double& at(std::size_t i, std::size_t j) { return a_[i * n_ + j]; }

    std::vector<double> a_;
    std::size_t m_, n_;
    Columns order_;
    double first_ = 0;
};

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

// the matrix at the state, its rows scaled to unit length; entries that are not finite count as zero
std::vector<double> scaled_rows(const Graph& g, const SparseMatrix& matrix, std::span<const double> values) {
    std::vector<NodeId> entries;
    for (const SparseEntry& e : matrix.entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    std::vector<double> out(matrix.rows * matrix.columns, 0.0), length(matrix.rows, 0.0);
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const SparseEntry& e = matrix.entries[k];
        const double value = std::isfinite(numbers[k]) ? numbers[k] : 0;
        out[e.row * matrix.columns + e.column] = value;
        length[e.row] = std::hypot(length[e.row], value);
    }
    for (std::size_t i = 0; i < matrix.rows; ++i)
        for (std::size_t j = 0; j < matrix.columns && length[i] > 0; ++j) out[i * matrix.columns + j] /= length[i];
    return out;
}

class Choice {
public:
    Choice(Graph& graph, const SparseMatrix& matrix, std::span<const double> values, const ColumnRules& rules)
        : g_(graph), matrix_(matrix), rules_(rules), n_(matrix.columns), scaled_(scaled_rows(graph, matrix, values)) {}

    ColumnChoice choose() {
        Elimination elimination(scaled_, matrix_.rows, n_);
        std::vector<bool> first(n_, false);
        for (const std::uint32_t column : rules_.first) first[column] = true;
        elimination.run(first);
        must_ = elimination.columns;
        elimination.run(rules_.allowed);
        rows_ = elimination.rows;
        std::sort(rows_.begin(), rows_.end());
        Columns columns = elimination.columns;
        std::sort(columns.begin(), columns.end());
        if (!rows_.empty() && rows_.size() <= k_largest_minor && choices() <= k_most_choices) columns = by_determinant();
        const bool is_steady = rows_.size() <= k_largest_minor && steady(columns);
        return {rows_, columns, size_of(columns), is_steady};
    }

private:
    [[nodiscard]] std::size_t choices() const {
        std::size_t count = 1;
        for (std::size_t k = 0; k < rows_.size(); ++k) count = count * (n_ - k) / (k + 1);
        return count;
    }

    [[nodiscard]] bool permitted(const Columns& columns) const {
        const auto chosen = [&](std::uint32_t c) { return std::binary_search(columns.begin(), columns.end(), c); };
        const auto allowed = [&](std::uint32_t c) {
            return rules_.allowed[c] || std::find(must_.begin(), must_.end(), c) != must_.end();
        };
        return std::all_of(must_.begin(), must_.end(), chosen) && std::all_of(columns.begin(), columns.end(), allowed);
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
        std::vector<NodeId> terms;
        Columns order(columns.size());
        for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
        do {
            NodeId term = g_.constant(1);
            for (std::size_t i = 0; i < order.size() && term.valid(); ++i) {
                const NodeId entry = matrix_.find(rows_[i], columns[order[i]]);
                term = entry.valid() ? g_.mul(term, entry) : NodeId{};
            }
            std::size_t inversions = 0;
            for (std::size_t i = 0; i < order.size(); ++i)
                for (std::size_t j = i + 1; j < order.size(); ++j) inversions += order[i] > order[j];
            if (term.valid()) terms.push_back(inversions % 2 == 0 ? term : g_.neg(term));
        } while (std::next_permutation(order.begin(), order.end()));
        const NodeId det = g_.sum(terms);
        const std::vector<SymbolId> symbols = symbols_in(g_, std::span(&det, 1));
        return std::all_of(symbols.begin(), symbols.end(),
                           [&](SymbolId s) { return g_.symbol(s).kind == SymbolKind::parameter; });
    }

    [[nodiscard]] Columns by_determinant() const {
        struct Candidate {
            double size;
            Columns columns;
        };
        std::vector<Candidate> candidates;
        Columns columns(rows_.size());
        for (std::uint32_t k = 0; k < columns.size(); ++k) columns[k] = k;
        for (bool more = true; more;) {
            if (permitted(columns)) candidates.push_back({size_of(columns), columns});
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
        // sizes in steps of the tolerance, so that the order is a strict one; later columns first
        const auto rank = [&](const Candidate& c) { return std::llround(c.size / largest / k_tie); };
        std::erase_if(candidates, [&](const Candidate& c) { return c.size < k_steady_enough * largest; });
        std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
            return rank(a) != rank(b) ? rank(a) > rank(b) : a.columns > b.columns;
        });
        for (std::size_t k = 0; k < std::min(candidates.size(), k_most_determinants); ++k)
            if (steady(candidates[k].columns)) return candidates[k].columns;
        return candidates.front().columns;
    }

    Graph& g_;
    const SparseMatrix& matrix_;
    const ColumnRules& rules_;
    std::size_t n_;
    std::vector<double> scaled_;
    Columns rows_, must_;
};

}  // namespace

ColumnChoice choose_columns(Graph& graph, const SparseMatrix& matrix, std::span<const double> values, const ColumnRules& rules) {
    return Choice(graph, matrix, values, rules).choose();
}

std::size_t rank_at(const Graph& graph, const SparseMatrix& matrix, std::span<const double> values) {
    Elimination elimination(scaled_rows(graph, matrix, values), matrix.rows, matrix.columns);
    elimination.run(std::vector<bool>(matrix.columns, true));
    return elimination.rows.size();
}

}  // namespace appell
