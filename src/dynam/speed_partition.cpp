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
