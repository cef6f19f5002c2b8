#include "dynam/column_choice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "dynam/speed_partition.hpp"
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
constexpr std::size_t k_most_row_choices = 50;    // of rows that follow from each other
constexpr double k_same_coefficient = 1e-9;       // in all states, relatively
constexpr int k_other_states = 3;

using Columns = std::vector<std::uint32_t>;

// A matrix of numbers, its rows scaled to unit length.
struct Rows {
    struct Entry {
        std::uint32_t column;
        double value;
    };
    std::vector<std::vector<Entry>> entries;  // by row, ascending columns
    std::vector<double> length;               // before they were scaled
    std::size_t columns = 0;

    [[nodiscard]] double at(std::size_t row, std::uint32_t column) const {
        const auto found = std::ranges::lower_bound(entries[row], column, {}, &Entry::column);
        return found != entries[row].end() && found->column == column ? found->value : 0;
    }
};

// the last index below another one whose number is above a bound
class Largest {
public:
    explicit Largest(std::size_t size) : leaves_(std::bit_ceil(std::max<std::size_t>(size, 1))), tree_(2 * leaves_, 0.0) {}

    void set(std::size_t index, double value) {
        std::size_t node = leaves_ + index;
        tree_[node] = value;
        while ((node /= 2) > 0) tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
    }

    // `none` where there is no such index
    [[nodiscard]] std::size_t last_above(double bound, std::size_t below, std::size_t none) const {
        if (below == 0) return none;
        std::size_t node = leaves_ + below - 1;
        while (!(tree_[node] > bound)) {
            while (node % 2 == 0) node /= 2;  // to where something is on the left, and there
            if (node == 1) return none;
            --node;
        }
        while (node < leaves_) node = 2 * node + (tree_[2 * node + 1] > bound ? 1 : 0);
        return node - leaves_;
    }

private:
    std::size_t leaves_;
    std::vector<double> tree_;
};

// Gaussian elimination with complete pivoting, over the first columns as far as they go, then over all allowed ones; the later
// column among equal pivots. Rows that reach few columns are worked on there only.
class Elimination {
public:
    explicit Elimination(Rows matrix) : a_(std::move(matrix)), rows_with_(a_.columns), position_(a_.entries.size()) {
        for (std::uint32_t i = 0; i < a_.entries.size(); ++i) {
            order_.push_back(i);
            position_[i] = i;
            for (const Rows::Entry& e : a_.entries[i]) {
                rows_with_[e.column].push_back(i);
                first_ = std::max(first_, std::abs(e.value));
            }
        }
    }

    void run(const std::vector<bool>& allowed) {
        Largest largest(a_.columns);
        for (std::uint32_t j = 0; j < a_.columns; ++j)
            if (allowed[j]) largest.set(j, largest_of(j));
        while (rows.size() < std::min(a_.entries.size(), a_.columns)) {
            const Pivot pivot = find_pivot(largest);
            if (!(pivot.size > k_rank_noise * first_)) return;
            take(pivot);
            for (const std::uint32_t j : touched_)
                if (allowed[j]) largest.set(j, largest_of(j));
        }
    }

    std::vector<std::uint32_t> rows, columns;  // of the pivots, in order
    double determinant = 1;                    // of these, its size

private:
    struct Pivot {
        double size = 0;
        std::uint32_t row = 0, column = 0;
    };

    [[nodiscard]] bool is_left(std::uint32_t row) const { return position_[row] >= rows.size(); }

    [[nodiscard]] double largest_of(std::uint32_t column) const {
        double largest = 0;
        for (const std::uint32_t i : rows_with_[column])
            if (is_left(i)) largest = std::max(largest, std::abs(a_.at(i, column)));
        return largest;
    }

    // from the last column to the first, and down each: what is larger by more than the tie
    Pivot find_pivot(const Largest& largest) {
        Pivot out;
        std::size_t column = a_.columns;
        while ((column = largest.last_above(out.size * (1 + k_tie), column, a_.columns)) != a_.columns) {
            std::vector<std::uint32_t>& with = rows_with_[column];
            std::ranges::sort(with, {}, [&](std::uint32_t i) { return position_[i]; });
            for (const std::uint32_t i : with) {
                const double size = std::abs(a_.at(i, static_cast<std::uint32_t>(column)));
                if (is_left(i) && size > out.size * (1 + k_tie)) out = {size, i, static_cast<std::uint32_t>(column)};
            }
        }
        return out;
    }

    void take(const Pivot& pivot) {
        const std::uint32_t other = order_[rows.size()];
        std::swap(order_[position_[pivot.row]], order_[rows.size()]);
        std::swap(position_[pivot.row], position_[other]);
        rows.push_back(pivot.row);
        columns.push_back(pivot.column);
        determinant *= pivot.size;
        touched_.clear();
        for (const Rows::Entry& e : a_.entries[pivot.row]) touched_.push_back(e.column);
        const double by = a_.at(pivot.row, pivot.column);
        for (const std::uint32_t i : rows_with_[pivot.column])
            if (is_left(i)) subtract(i, a_.at(i, pivot.column) / by, pivot);
        rows_with_[pivot.column].clear();
    }

    // the pivot's row, times the factor, from another one
    void subtract(std::uint32_t row, double factor, const Pivot& pivot) {
        const std::vector<Rows::Entry>&from = a_.entries[row], &less = a_.entries[pivot.row];
        merged_.clear();
        auto next = from.begin();
        for (const Rows::Entry& e : less) {
            while (next != from.end() && next->column < e.column) merged_.push_back(*next++);
            const bool both = next != from.end() && next->column == e.column;
            if (e.column != pivot.column) {
                merged_.push_back({e.column, (both ? next->value : 0) - factor * e.value});
                if (!both) rows_with_[e.column].push_back(row);
            }
            if (both) ++next;
        }
        merged_.insert(merged_.end(), next, from.end());
        std::swap(a_.entries[row], merged_);
    }

    Rows a_;
    std::vector<std::vector<std::uint32_t>> rows_with_;  // by column; among them those that are pivots' already
    std::vector<std::uint32_t> order_, position_;        // of rows: the pivots', then those that are left
    std::vector<std::uint32_t> touched_;                 // columns of the last pivot's row
    std::vector<Rows::Entry> merged_;
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

// a x = b by elimination with row pivoting; b becomes x. False where a is singular to round-off.
bool solve(std::vector<double> a, std::vector<double>& b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[row * n + k])) row = i;
        if (!(std::abs(a[row * n + k]) > k_rank_noise)) return false;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[row * n + j]);
        std::swap(b[k], b[row]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
    return true;
}

// the next choice of some out of `count` in ascending order; false after the last
bool next_choice(Columns& chosen, std::size_t count) {
    for (std::size_t k = chosen.size(); k-- > 0;)
        if (chosen[k] + (chosen.size() - k) < count) {
            ++chosen[k];
            for (std::size_t l = k + 1; l < chosen.size(); ++l) chosen[l] = chosen[l - 1] + 1;
            return true;
        }
    return false;
}

// the matrix at the state; entries that are not finite count as zero
Rows scaled_rows(const Graph& g, const SparseMatrix& matrix, std::span<const double> values) {
    std::vector<NodeId> entries;
    for (const SparseEntry& e : matrix.entries) entries.push_back(e.value);
    const std::vector<double> numbers = evaluate<double>(g, entries, values);
    Rows out{std::vector<std::vector<Rows::Entry>>(matrix.rows), {}, matrix.columns};
    for (std::size_t k = 0; k < entries.size(); ++k)
        if (std::isfinite(numbers[k]) && numbers[k] != 0)
            out.entries[matrix.entries[k].row].push_back({matrix.entries[k].column, numbers[k]});
    for (std::vector<Rows::Entry>& row : out.entries) {
        double length = 0;
        for (const Rows::Entry& e : row) length = std::hypot(length, e.value);
        for (Rows::Entry& e : row) e.value /= length;
        out.length.push_back(length);
        std::ranges::sort(row, {}, &Rows::Entry::column);
    }
    return out;
}

class Choice {
public:
    Choice(Graph& graph, const SparseMatrix& matrix, std::span<const double> values, const ColumnRules& rules)
        : g_(graph),
          matrix_(matrix),
          values_(values),
          rules_(rules),
          n_(matrix.columns),
          scaled_(scaled_rows(graph, matrix, values)) {}

    ColumnChoice choose() {
        Elimination elimination(scaled_);
        std::vector<bool> first(n_, false);
        for (const std::uint32_t column : rules_.first) first[column] = true;
        elimination.run(first);
        must_ = elimination.columns;
        elimination.run(rules_.allowed);
        rows_ = elimination.rows;
        std::sort(rows_.begin(), rows_.end());
        Columns columns = elimination.columns;
        std::sort(columns.begin(), columns.end());
        if (rows_.size() > k_largest_minor)
            return {rows_, columns, elimination.determinant, false, !others_are_fixed_sums(columns)};
        if (!rows_.empty() && choices() <= k_most_choices) columns = by_determinant();
        const ColumnChoice choice{rows_, columns, size_of(columns), steady(columns), false};
        if (choice.steady || others_are_fixed_sums(columns)) return choice;
        return with_other_rows(choice);
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
            for (std::size_t j = 0; j < r; ++j) a[i * r + j] = scaled_.at(rows_[i], columns[j]);
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
        do {
            if (permitted(columns)) candidates.push_back({size_of(columns), columns});
        } while (next_choice(columns, n_));
        double largest = 0;
        for (const Candidate& c : candidates) largest = std::max(largest, c.size);
        if (largest == 0) return {};
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

    // Rows that are left out are sums of the others with coefficients that never change, as copies are: the others then do
    // wherever all of them would. Also where none is left out.
    [[nodiscard]] bool others_are_fixed_sums(const Columns& columns) const {
        const std::size_t m = scaled_.entries.size(), r = rows_.size();
        if (m == r) return true;
        if (r == 0) return false;
        std::vector<double> first;
        std::vector<double> state(values_.begin(), values_.end());
        const std::vector<double> generic = generic_values(g_);
        for (int k = 0; k < k_other_states; ++k) {
            const std::optional<std::vector<double>> sums = coefficients(columns, state);
            if (!sums) return false;
            if (first.empty()) first = *sums;
            for (std::size_t i = 0; i < first.size(); ++i)
                if (!(std::abs((*sums)[i] - first[i]) <= k_same_coefficient * std::max(1.0, std::abs(first[i])))) return false;
            for (std::size_t i = 0; i < state.size(); ++i)
                if (g_.symbol(SymbolId(i)).kind != SymbolKind::parameter) state[i] += generic[i] * (1 + 0.3 * k);
        }
        return true;
    }

    // the rows left out, of unit length at the state of the choice, as sums of the chosen ones; none where they are not
    [[nodiscard]] std::optional<std::vector<double>> coefficients(const Columns& columns, std::span<const double> state) const {
        const std::size_t m = scaled_.entries.size(), r = rows_.size();
        std::vector<NodeId> entries;
        for (const SparseEntry& e : matrix_.entries) entries.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(g_, entries, state);
        std::vector<double> a(m * n_, 0.0);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            if (!std::isfinite(numbers[k])) return std::nullopt;
            const std::uint32_t row = matrix_.entries[k].row;
            if (scaled_.length[row] > 0) a[row * n_ + matrix_.entries[k].column] = numbers[k] / scaled_.length[row];
        }
        std::vector<double> out;
        for (std::size_t j = 0; j < m; ++j) {
            if (std::ranges::binary_search(rows_, static_cast<std::uint32_t>(j))) continue;
            // of the square system of the chosen columns, transposed; the others must agree
            std::vector<double> square(r * r), sum(r);
            for (std::size_t i = 0; i < r; ++i) {
                for (std::size_t k = 0; k < r; ++k) square[i * r + k] = a[rows_[k] * n_ + columns[i]];
                sum[i] = a[j * n_ + columns[i]];
            }
            if (!solve(square, sum)) return std::nullopt;
            for (std::size_t c = 0; c < n_; ++c) {
                double rest = a[j * n_ + c], size = std::abs(rest);
                for (std::size_t k = 0; k < r; ++k) {
                    rest -= sum[k] * a[rows_[k] * n_ + c];
                    size += std::abs(sum[k] * a[rows_[k] * n_ + c]);
                }
                if (!(std::abs(rest) <= k_same_coefficient * std::max(1.0, size))) return std::nullopt;
            }
            out.insert(out.end(), sum.begin(), sum.end());
        }
        return out;
    }

    // Other rows, with columns of their own, whose determinant is the same in every state; the choice as it was, if there are
    // none.
    [[nodiscard]] ColumnChoice with_other_rows(ColumnChoice choice) {
        const std::size_t m = scaled_.entries.size(), r = rows_.size();
        const Columns of_choice = rows_;
        if (r > 0 && choices() <= k_most_choices) {
            std::vector<std::uint32_t> rows(r);
            for (std::uint32_t k = 0; k < r; ++k) rows[k] = k;
            std::size_t tried = 0;
            for (bool more = true; more && tried < k_most_row_choices; ++tried) {
                rows_ = rows;
                const Columns columns = by_determinant();
                if (const double size = columns.empty() ? 0 : size_of(columns);
                    size > k_steady_enough * choice.determinant && steady(columns))
                    return {rows_, columns, size, true, false};
                more = next_choice(rows, m);
            }
            rows_ = of_choice;
        }
        choice.takes_turns = true;
        return choice;
    }

    Graph& g_;
    const SparseMatrix& matrix_;
    std::span<const double> values_;
    const ColumnRules& rules_;
    std::size_t n_;
    Rows scaled_;
    Columns rows_, must_;
};

}  // namespace

ColumnChoice choose_columns(Graph& graph, const SparseMatrix& matrix, std::span<const double> values, const ColumnRules& rules) {
    return Choice(graph, matrix, values, rules).choose();
}

std::size_t rank_at(const Graph& graph, const SparseMatrix& matrix, std::span<const double> values) {
    Elimination elimination(scaled_rows(graph, matrix, values));
    elimination.run(std::vector<bool>(matrix.columns, true));
    return elimination.rows.size();
}

}  // namespace appell
