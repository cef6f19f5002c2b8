#include "pipeline/print_equations.hpp"

#include <algorithm>
#include <array>

#include "dynam/speed_partition.hpp"
#include "pipeline/consistent_states.hpp"
#include "pipeline/lower_motion.hpp"

namespace appell {

namespace {

constexpr auto k_formats = std::to_array<std::pair<std::string_view, EquationFormat>>({{"text", EquationFormat::text},
                                                                                       {"latex", EquationFormat::latex},
                                                                                       {"markdown", EquationFormat::markdown},
                                                                                       {"json", EquationFormat::json}});

// numbers for the programs' inputs t, q, u, parameters, ... as numbers by symbol
std::vector<double> by_symbol(const Derivation& d, std::span<const double> inputs) {
    std::vector<double> values = generic_values(*d.model->graph);
    const std::vector<SymbolId> symbols = program_inputs(*d.model);
    for (std::size_t i = 0; i < std::min(symbols.size(), inputs.size()); ++i) values[symbols[i].index()] = inputs[i];
    return values;
}

// The state at which dependent speeds are chosen: the start; where rows lose rank there (two pucks at rest), the first of some
// random consistent states with more independent rows. A model that can not be started has equations all the same: generic values
// decide for it.
void choose_state(const Derivation& d, EquationOptions& options) {
    const ConstrainedDynamics& dynamics = *d.dynamics;
    if (dynamics.rows.empty()) return;
    const Result<LoweredMotion> lowered =
        lower_motion(dynamics, {Formulation::multipliers, d.model->run.from, d.limits.solve_entries, false});
    if (!lowered.ok()) return;
    const auto rank = [&](const std::vector<double>& state) { return choose_speed_partition(dynamics, state).rows.size(); };
    SimulateOptions at_start;
    at_start.t0 = at_start.t1 = d.model->run.from;
    const SimulateSummary start = simulate(lowered->motion, lowered->x0, at_start, [](double, std::span<const double>) {});
    std::size_t rows = 0;
    if (start.reason == EndReason::finished) {
        std::vector<double> inputs{d.model->run.from};
        inputs.insert(inputs.end(), start.x_start.begin(), start.x_start.end());
        inputs.insert(inputs.end(), lowered->motion.parameters.begin(), lowered->motion.parameters.end());
        options.state = by_symbol(d, inputs);
        options.place = "at the start state";
        rows = rank(options.state);
        if (rows == dynamics.rows.size()) return;
    }
    CertificateOptions some;
    some.states = 3;
    some.tries = 300;
    const auto states = random_consistent_states(dynamics, *lowered, {}, some).rough;
    for (const std::vector<double>& inputs : states) {
        std::vector<double> state = by_symbol(d, inputs);
        if (rank(state) <= rows) continue;
        rows = rank(state);
        options.state = std::move(state);
        options.place = "at a random state on the constraints";
    }
    // without such states nothing is known of the rank but what generic values show
    if (states.empty()) {
        options.state.clear();
        options.place = EquationOptions{}.place;
    }
}

}  // namespace

std::vector<std::string_view> format_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, format] : k_formats) names.push_back(name);
    return names;
}

std::optional<std::string> print_equations(Derivation& derivation, const PrintRequest& request) {
    if (!derivation.ok()) return std::nullopt;
    EquationOptions options;
    options.formulation = find_formulation(request.formulation).value_or(Formulation::multipliers);
    for (const auto& [name, format] : k_formats)
        if (name == request.format) options.format = format;
    try {
        choose_state(derivation, options);
        return equations(*derivation.dynamics, options);
    } catch (const NodeLimitReached& limit) {
        derivation.diagnostics.add(
            {Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
        return std::nullopt;
    }
}

}  // namespace appell
