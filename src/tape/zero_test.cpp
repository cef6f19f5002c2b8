#include "tape/zero_test.hpp"

#include <algorithm>
#include <vector>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "tape/scalars.hpp"

namespace appell {

namespace {

// Symbols are drawn from (0.3, 1.3), so that terms are of order one and cancellation to 1e-35 is no accident.
constexpr int k_points = 3;
const Digits50 k_bar = 1e-35;

class RandomPoints {
public:
    RandomPoints(const Graph& graph, std::span<const NodeId> expressions)
        : graph_(graph),
          expressions_(expressions),
          symbols_(symbols_in(graph, expressions)),
          values_(graph.symbol_count(), Digits50(0)) {}

    // the expressions at the next point
    std::vector<Digits50> next() {
        for (const SymbolId symbol : symbols_) {
            state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
            values_[symbol.index()] = Digits50(0.3) + Digits50(static_cast<double>(state_ >> 11)) / Digits50(9007199254740992.0);
        }
        return evaluate<Digits50>(graph_, expressions_, values_);
    }

private:
    const Graph& graph_;
    std::span<const NodeId> expressions_;
    std::vector<SymbolId> symbols_;
    std::vector<Digits50> values_;
    std::uint64_t state_ = 0x2545f4914f6cdd1dull;
};

// by elimination with complete pivoting; rows are scaled to their largest entry first
std::size_t rank(std::vector<Digits50> a, std::size_t columns) {
    const std::size_t rows = a.size() / columns;
    for (std::size_t i = 0; i < rows; ++i) {
        Digits50 largest(0);
        for (std::size_t j = 0; j < columns; ++j) largest = std::max(largest, Digits50(abs(a[i * columns + j])));
        for (std::size_t j = 0; j < columns && largest > 0; ++j) a[i * columns + j] /= largest;
    }
    std::size_t found = 0;
    for (; found < std::min(rows, columns); ++found) {
        std::size_t row = found, column = 0;
        Digits50 largest(0);
        for (std::size_t i = found; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                if (abs(a[i * columns + j]) > largest) {
                    largest = abs(a[i * columns + j]);
                    row = i;
                    column = j;
                }
        if (!(largest > k_bar)) break;
        for (std::size_t j = 0; j < columns; ++j) std::swap(a[found * columns + j], a[row * columns + j]);
        for (std::size_t i = found + 1; i < rows; ++i) {
            const Digits50 factor = a[i * columns + column] / a[found * columns + column];
            for (std::size_t j = 0; j < columns; ++j) a[i * columns + j] -= factor * a[found * columns + j];
            a[i * columns + column] = 0;
        }
    }
    return found;
}

}  // namespace

std::vector<bool> identically_zero(const Graph& graph, std::span<const NodeId> expressions) {
    std::vector<bool> zero(expressions.size());
    // constants decide at once: the common case, and cheap in large graphs
    std::vector<NodeId> open;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const auto value = graph.constant_value(expressions[i]);
        zero[i] = !value || *value == 0;
        if (!value) {
            open.push_back(expressions[i]);
            place.push_back(i);
        }
    }
    if (open.empty()) return zero;
    RandomPoints points(graph, open);
    for (int point = 0; point < k_points; ++point) {
        const std::vector<Digits50> results = points.next();
        for (std::size_t i = 0; i < open.size(); ++i)
            if (!(abs(results[i]) < k_bar)) zero[place[i]] = false;  // also when it is not a number
    }
    return zero;
}

bool vanishes_identically(const Graph& graph, NodeId expression) {
    return identically_zero(graph, std::span(&expression, 1)).front();
}

std::size_t generic_rank(const Graph& graph, std::span<const NodeId> entries, std::size_t columns) {
    if (entries.empty()) return 0;
    std::size_t largest = 0;
    RandomPoints points(graph, entries);
    for (int point = 0; point < k_points; ++point) {
        std::vector<Digits50> values = points.next();
        const bool finite = std::all_of(values.begin(), values.end(), [](const Digits50& v) { return is_finite(v); });
        if (!finite) return std::min(entries.size() / columns, columns);
        largest = std::max(largest, rank(std::move(values), columns));
    }
    return largest;
}

}  // namespace appell
