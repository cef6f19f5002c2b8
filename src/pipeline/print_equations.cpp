#include "pipeline/print_equations.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dynam/speed_partition.hpp"
#include "pipeline/consistent_states.hpp"
#include "pipeline/lower_motion.hpp"
#include "report/equation_sections.hpp"

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

// --evidence as constraints of the model; problems are named
std::vector<std::size_t> find_evidence(Derivation& d, const std::string& wanted) {
    const std::vector<Constraint>& all = d.model->constraints;
    std::vector<std::size_t> out;
    if (wanted == "none") return out;
    if (wanted == "all" || wanted == "motion") {
        for (const ConstraintRow& row : d.dynamics->rows)
            if (!row.by_actuators && (wanted == "all" || row.level != Level::position) &&
                (out.empty() || out.back() != row.constraint))
                out.push_back(row.constraint);
        return out;
    }
    std::vector<std::string> names;
    for (const Constraint& c : all) names.push_back(c.name);
    for (std::size_t at = 0; at <= wanted.size();) {
        const std::size_t end = std::min(wanted.find(',', at), wanted.size());
        const std::size_t first = std::min(wanted.find_first_not_of(' ', at), end);
        std::string name = wanted.substr(first, end - first);
        while (name.ends_with(' ')) name.pop_back();
        at = end + 1;
        bool found = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            // NAME, the equations NAME.1, NAME.2 of one statement, or the members NAME[1], NAME[2] of a family
            const bool part = all[i].name.starts_with(name) && all[i].name.size() > name.size() && !name.empty() &&
                              (all[i].name[name.size()] == '.' || all[i].name[name.size()] == '[');
            if (all[i].name != name && !part) continue;
            found = true;
            if (!all[i].actuators.empty())
                d.diagnostics.add({Code::E0725, all[i].span,
                                   fmt::format("constraint {} is kept by actuators and has no force of its own", all[i].name),
                                   "--evidence " + wanted, "a constraint that is kept by ideal forces",
                                   "the magnitudes of actuators are always in the equations"});
            else if (std::find(out.begin(), out.end(), i) == out.end())
                out.push_back(i);
        }
        if (found) continue;
        const std::string near = nearest_name(name, names);
        d.diagnostics.add({Code::E0202,
                           {},
                           fmt::format("the model has no constraint `{}`", name),
                           "--evidence " + wanted,
                           "all, motion, none, or names of constraints separated by commas",
                           near.empty() ? "" : fmt::format("did you mean {}?", near)});
    }
    return out;
}

// Evidence asked for by name, in a formulation that can not show it, is refused; what a model says is meant for those that can.
bool refuse_evidence(Derivation& d, const EquationOptions& options) {
    if (!options.evidence || follows_evidence(options.formulation)) return false;
    std::size_t ideal = 0;
    for (const Constraint& c : d.model->constraints) ideal += c.actuators.empty() ? 1 : 0;
    const bool all = options.formulation == Formulation::multipliers;
    if (options.evidence->size() == (all ? ideal : 0)) return false;
    d.diagnostics.add(
        {Code::E0821,
         {},
         fmt::format("formulation {} has {} constraint forces in evidence", name_of(options.formulation), all ? "all" : "no"),
         "--evidence",
         "formulation minimal or nonminimal",
         "use --formulation minimal, or leave --evidence out"});
    return true;
}

}  // namespace

// The state at which dependent speeds are chosen: the start; where rows lose rank there (two pucks at rest), the first of some
// random consistent states with more independent rows. A model that can not be started has equations all the same: generic values
// decide for it.
void choose_equation_state(const Derivation& d, EquationOptions& options) {
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
    some.wide_work = 0;
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

std::vector<std::string_view> format_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, format] : k_formats) names.push_back(name);
    return names;
}

std::optional<std::string> print_equations(Derivation& derivation, const PrintRequest& request) {
    if (!derivation.ok()) return std::nullopt;
    EquationOptions options;
    if (request.evidence) options.evidence = find_evidence(derivation, *request.evidence);
    const bool some = !options.evidence.value_or(derivation.model->evidence).empty();
    options.formulation = find_formulation(request.formulation).value_or(some ? Formulation::minimal : Formulation::multipliers);
    if (!derivation.ok() || refuse_evidence(derivation, options)) return std::nullopt;
    for (const auto& [name, format] : k_formats)
        if (name == request.format) options.format = format;
    try {
        choose_equation_state(derivation, options);
        return equations(*derivation.dynamics, options);
    } catch (const NodeLimitReached& limit) {
        derivation.diagnostics.add(
            {Code::E0012, {}, limit.what(), "", "a smaller model, or a higher limit", "use --limit nodes=N"});
        return std::nullopt;
    }
}

}  // namespace appell
