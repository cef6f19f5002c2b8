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

std::vector<double> row_sizes(const ConstrainedDynamics& d) {
    if (d.rows.size() < 2) return {};
    std::vector<double> sizes = sizes_of(d);
    const std::optional<Extremes> at = extremes(sizes);
    if (!at || !(sizes[at->largest] > k_much_alike * sizes[at->smallest])) return {};
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
