#include "dynam/row_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/speed_partition.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

constexpr double k_much_alike = 1e3;
constexpr double k_widest_spread = 1e26;      // from 1e-12 to 1e12, and what is in a row
constexpr double k_longest = 1e140;           // squares of lengths, and their products with masses, are numbers
constexpr double k_other_state = 0.37;        // a state beside the start, in parts of it
constexpr double k_beside_zero = 1.0 / 1024;  // and where it is zero
constexpr double k_dependent = 1e-7;          // of a row of unit length: what the others leave of it
constexpr double k_on_constraints = 1e-9;     // of the lengths of the rows
constexpr int k_most_corrections = 20;
constexpr std::size_t k_most_products = 20'000'000;  // models beyond this have sparse solves, which pivot by themselves

// Two states: anywhere, and beside the start; a state of its own for rows that are made of large distances, or of small ones.
std::vector<std::vector<double>> some_states(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    std::vector<double> anywhere = generic_values(d.graph());
    const auto set = [](std::vector<double>& values, SymbolId symbol, double value) { values[symbol.index()] = value; };
    for (const Parameter& p : m.parameters) set(anywhere, p.symbol, p.value);
    for (const Input& i : m.inputs) set(anywhere, i.symbol, i.value.value_or(anywhere[i.symbol.index()]));
    std::vector<double> start = anywhere;
    const auto beside = [&](SymbolId symbol, double value) {
        const double part = k_other_state * anywhere[symbol.index()];
        set(start, symbol, value == 0 ? k_beside_zero * part : value * (1 + part));
    };
    for (const Coordinate& c : m.coordinates) beside(c.q, c.start);
    for (const Speed& s : m.speeds) beside(s.u, s.start);
    return {std::move(anywhere), std::move(start)};
}

// by constraint: its components vanish one without the other
std::vector<double> sizes_of(const ConstrainedDynamics& d) {
    std::vector<double> of_constraint(d.model->constraints.size(), 0.0), sizes;
    std::vector<NodeId> entries;
    for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
    for (const std::vector<double>& state : some_states(d)) {
        const std::vector<double> numbers = evaluate<double>(d.graph(), entries, state);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            double& size = of_constraint[d.rows[d.A.entries[k].row].constraint];
            if (std::isfinite(numbers[k])) size = std::max(size, std::abs(numbers[k]));
        }
    }
    for (const ConstraintRow& row : d.rows) sizes.push_back(of_constraint[row.constraint]);
    return sizes;
}

// Rows of A as numbers. What is looked for is their rank, and the least change of the speeds that gives their right sides.
class NumericRows {
public:
    NumericRows(const ConstrainedDynamics& d, std::span<const double> state, bool positions_only) : columns_(d.A.columns) {
        std::vector<NodeId> entries;
        for (const SparseEntry& e : d.A.entries) entries.push_back(e.value);
        const std::vector<double> numbers = evaluate<double>(d.graph(), entries, state);
        std::vector<std::size_t> place(d.rows.size(), d.rows.size());
        for (std::size_t row = 0; row < d.rows.size(); ++row)
            if (!positions_only || d.rows[row].level == Level::position) place[row] = count_++;
        entries_.resize(count_ * columns_);
        right_.resize(count_);
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (const std::size_t row = place[d.A.entries[k].row]; row < d.rows.size())
                entries_[row * columns_ + d.A.entries[k].column] = numbers[k];
        for (std::size_t row = 0; row < count_; ++row) lengths_.push_back(length(row));
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] double original_length(std::size_t row) const { return lengths_[row]; }
    void set_right(std::size_t row, double value) { right_[row] = value; }

    // modified Gram-Schmidt, the longest remainder of a row of unit length first
    std::size_t orthogonalise(std::vector<double>& change) {
        change.assign(columns_, 0);
        std::vector<bool> used(count_, false);
        for (std::size_t row = 0; row < count_; ++row) scale(row, lengths_[row] > 0 ? 1 / lengths_[row] : 0);
        for (std::size_t rank = 0;; ++rank) {
            std::size_t best = count_;
            double longest = k_dependent;
            for (std::size_t row = 0; row < count_; ++row)
                if (const double left = used[row] ? 0 : length(row); left > longest) longest = left, best = row;
            if (best == count_) return rank;
            used[best] = true;
            scale(best, 1 / longest);
            for (std::size_t i = 0; i < columns_; ++i) change[i] += right_[best] * entries_[best * columns_ + i];
            for (std::size_t row = 0; row < count_; ++row)
                if (!used[row]) remove_part(row, best);
        }
    }

private:
    [[nodiscard]] double length(std::size_t row) const {
        double square = 0;
        for (std::size_t i = 0; i < columns_; ++i) square += entries_[row * columns_ + i] * entries_[row * columns_ + i];
        return std::sqrt(square);
    }
    void scale(std::size_t row, double factor) {
        for (std::size_t i = 0; i < columns_; ++i) entries_[row * columns_ + i] *= factor;
        right_[row] *= factor;
    }
    void remove_part(std::size_t row, std::size_t direction) {
        double part = 0;
        for (std::size_t i = 0; i < columns_; ++i) part += entries_[row * columns_ + i] * entries_[direction * columns_ + i];
        for (std::size_t i = 0; i < columns_; ++i) entries_[row * columns_ + i] -= part * entries_[direction * columns_ + i];
        right_[row] -= part * right_[direction];
    }

    std::size_t columns_, count_ = 0;
    std::vector<double> entries_, right_, lengths_;
};

// The start values brought onto the constraints on positions; empty where Newton's iteration does not get there.
std::vector<double> state_on_constraints(const ConstrainedDynamics& d) {
    const Model& m = *d.model;
    std::vector<double> state = generic_values(d.graph()), change;
    const auto set = [&](SymbolId symbol, double value) { state[symbol.index()] = value; };
    for (const Parameter& p : m.parameters) set(p.symbol, p.value);
    for (const Input& i : m.inputs) set(i.symbol, i.value.value_or(state[i.symbol.index()]));
    for (const Coordinate& c : m.coordinates) set(c.q, c.start);
    std::vector<NodeId> positions;
    for (const ConstraintRow& row : d.rows)
        if (row.level == Level::position) positions.push_back(row.position);
    const auto rates_with = [&](const std::vector<double>* speeds) {
        for (std::size_t i = 0; i < m.speeds.size(); ++i) set(m.speeds[i].u, speeds != nullptr ? (*speeds)[i] : 0);
        return evaluate<double>(d.graph(), d.kinematics->coordinate_rates(), state);
    };
    bool there = positions.empty();
    for (int k = 0; k < k_most_corrections && !there; ++k) {
        NumericRows rows(d, state, true);
        const std::vector<double> residual = evaluate<double>(d.graph(), positions, state);
        there = true;
        for (std::size_t row = 0; row < rows.count(); ++row) {
            rows.set_right(row, -residual[row]);
            there = there && std::abs(residual[row]) <= k_on_constraints * rows.original_length(row);
        }
        if (there) break;
        (void)rows.orthogonalise(change);
        const std::vector<double> moved = rates_with(&change), at_rest = rates_with(nullptr);
        for (std::size_t i = 0; i < m.coordinates.size(); ++i) state[m.coordinates[i].q.index()] += moved[i] - at_rest[i];
    }
    for (const Speed& s : m.speeds) set(s.u, s.start);
    return there ? state : std::vector<double>();
}

struct Extremes {
    std::size_t largest, smallest;  // rows
};

// none where nothing is known of any
std::optional<Extremes> extremes(const std::vector<double>& sizes) {
    std::optional<Extremes> out;
    for (std::size_t row = 0; row < sizes.size(); ++row) {
        if (sizes[row] == 0) continue;
        if (!out) out = {row, row};
        if (sizes[row] > sizes[out->largest]) out->largest = row;
        if (sizes[row] < sizes[out->smallest]) out->smallest = row;
    }
    return out;
}

}  // namespace

bool rows_follow_from_others(const ConstrainedDynamics& d) {
    if (d.rows.size() < 2 || d.rows.size() * d.rows.size() * d.A.columns > k_most_products) return false;
    const std::vector<double> state = state_on_constraints(d);
    if (state.empty()) return false;
    NumericRows rows(d, state, false);
    std::vector<double> change;
    return rows.orthogonalise(change) < rows.count();
}

std::vector<double> row_sizes(const ConstrainedDynamics& d) {
    if (d.rows.size() < 2) return {};
    std::vector<double> sizes = sizes_of(d);
    const std::optional<Extremes> at = extremes(sizes);
    if (!at) return {};
    if (!(sizes[at->largest] > k_much_alike * sizes[at->smallest]) && !rows_follow_from_others(d)) return {};
    const double between = std::sqrt(sizes[at->largest] * sizes[at->smallest]);
    for (double& size : sizes)
        if (size == 0) size = between;
    return sizes;
}

void check_row_sizes(const ConstrainedDynamics& d, Diagnostics& diagnostics) {
    if (d.rows.empty()) return;
    const std::vector<double> sizes = sizes_of(d);
    const std::optional<Extremes> at = extremes(sizes);
    if (!at) return;
    const auto span_of = [&](std::size_t row) { return d.model->constraints[d.rows[row].constraint].span; };
    for (const std::size_t row : {at->largest, at->smallest})
        if (sizes[row] > k_longest || sizes[row] < 1 / k_longest) {
            diagnostics.add(
                {Code::E0853, span_of(row), fmt::format("the coefficients of constraint {} are out of range", d.rows[row].name),
                 fmt::format("coefficients of the speeds up to {}", short_number(sizes[row], 3)),
                 fmt::format("coefficients between {} and {}", short_number(1 / k_longest, 3), short_number(k_longest, 3)),
                 "divide both sides by a factor, or state it in other units"});
            return;
        }
    const double spread = sizes[at->largest] / sizes[at->smallest];
    if (!(spread > k_widest_spread)) return;
    diagnostics.add(
        {Code::W0854, span_of(at->smallest),
         fmt::format("the coefficients of constraint {} are {} times smaller than those of {}", d.rows[at->smallest].name,
                     short_number(spread, 3), d.rows[at->largest].name),
         fmt::format("up to {} and up to {}", short_number(sizes[at->smallest], 3), short_number(sizes[at->largest], 3)),
         fmt::format("scales no more than {} apart", short_number(k_widest_spread, 3)),
         "divide both sides of one of them by a factor; its multiplier is that factor times as large then"});
}

}  // namespace appell
