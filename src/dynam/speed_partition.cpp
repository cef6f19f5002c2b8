#include "dynam/speed_partition.hpp"

#include <algorithm>

#include "dynam/column_choice.hpp"

namespace appell {

SpeedPartition choose_speed_partition(const ConstrainedDynamics& d, std::span<const double> values,
                                      std::span<const std::uint32_t> dependent) {
    const std::size_t speeds = d.model->speeds.size();
    ColumnRules rules{std::vector<bool>(speeds, dependent.empty()), {}};
    for (const std::uint32_t speed : dependent) rules.allowed[speed] = true;
    ColumnChoice choice = choose_columns(d.graph(), d.A, values, rules);
    SpeedPartition out;
    out.determinant = choice.determinant;
    out.steady = choice.steady;
    out.takes_turns = choice.takes_turns;
    const auto rest = [](const std::vector<std::uint32_t>& chosen, std::size_t count) {
        std::vector<std::uint32_t> others;
        for (std::uint32_t i = 0; i < count; ++i)
            if (!std::binary_search(chosen.begin(), chosen.end(), i)) others.push_back(i);
        return others;
    };
    out.redundant = rest(choice.rows, d.rows.size());
    out.independent = rest(choice.columns, speeds);
    out.rows = std::move(choice.rows);
    out.dependent = std::move(choice.columns);
    return out;
}

bool switches(const Model& m, const ConstraintRow& row) {
    const Constraint& c = m.constraints[row.constraint];
    const auto names = [&](const std::vector<std::size_t>& list) {
        return std::ranges::find(list, row.constraint) != list.end();
    };
    return c.unilateral || c.stick_of || c.off_at_start ||
           std::ranges::any_of(m.events, [&](const Event& e) { return names(e.drops) || names(e.enforces); });
}

namespace {

// rows of A that are chosen, with all columns or those of the dependent speeds alone
std::size_t rank_of(const ConstrainedDynamics& d, const std::vector<bool>& row, bool of_dependent,
                    std::span<const double> values) {
    std::vector<std::uint32_t> place(d.rows.size());
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < row.size(); ++i) place[i] = row[i] ? count++ : count;
    SparseMatrix some{count, d.A.columns, {}};
    for (const SparseEntry& e : d.A.entries)
        if (row[e.row] && (!of_dependent || std::ranges::find(d.dependent, e.column) != d.dependent.end()))
            some.entries.push_back({place[e.row], e.column, e.value});
    return rank_at(d.graph(), some, values);
}

}  // namespace

bool choice_fits_what_is_always_on(const ConstrainedDynamics& d, std::span<const double> values) {
    std::vector<bool> always;
    for (const ConstraintRow& row : d.rows) always.push_back(!switches(*d.model, row));
    return rank_of(d, always, true, values) == rank_of(d, always, false, values);
}

FittedChoice fitted_choice(const ConstrainedDynamics& d, std::span<const double> values) {
    // determinants smaller than this part of the largest one are not well conditioned
    constexpr double k_well = 0.03;
    FittedChoice out{d.independent, d.dependent};
    if (!choice_fits_what_is_always_on(d, values)) return out;
    const std::size_t speeds = d.model->speeds.size();
    const auto choose = [&](const std::vector<std::uint32_t>& first) {
        return choose_columns(d.graph(), d.A, values, {std::vector<bool>(speeds, true), first});
    };
    ColumnChoice choice = choose(d.dependent);
    if (ColumnChoice best = choose({}); !(choice.determinant >= k_well * best.determinant)) choice = std::move(best);
    if (std::ranges::equal(choice.columns, d.dependent)) return out;
    out.dependent = choice.columns;
    out.independent.clear();
    for (std::uint32_t i = 0; i < speeds; ++i)
        if (!std::ranges::binary_search(out.dependent, i)) out.independent.push_back(i);
    const auto named = [&](std::uint32_t speed) { return std::ranges::find(d.independent, speed) != d.independent.end(); };
    out.leaves_out = std::ranges::any_of(out.dependent, named) && !std::ranges::all_of(out.independent, named);
    return out;
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
