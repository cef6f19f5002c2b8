#include "pipeline/completion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/print.hpp"

namespace appell {

namespace {

struct Named {
    std::vector<std::string> rows, speeds;
    std::string condition;
};

Named names_of(const ConstrainedDynamics& d, const HiddenPosition& h) {
    Named out;
    for (const std::size_t row : h.rows) out.rows.push_back(d.rows[row].name);
    for (const std::uint32_t u : h.speeds) out.speeds.push_back(d.model->speeds[u].name);
    out.condition = to_text(d.graph(), h.determinant) + " = 0";
    return out;
}

Span span_of(const ConstrainedDynamics& d, const HiddenPosition& h) {
    return d.model->constraints[d.rows[h.rows.front()].constraint].span;
}

std::string free_name(const Model& m) {
    const auto taken = [&](const std::string& name) {
        const auto same = [&](const auto& named) { return named.name == name; };
        return std::ranges::any_of(m.constraints, same) || std::ranges::any_of(m.parameters, same) ||
               std::ranges::any_of(m.coordinates, same) || std::ranges::any_of(m.points, same) ||
               std::ranges::any_of(m.outputs, same);
    };
    std::string name = "hidden";
    for (std::size_t k = 2; taken(name); ++k) name = fmt::format("hidden{}", k);
    return name;
}

}  // namespace

std::vector<HiddenPosition> hidden_at(const ConstrainedDynamics& d, const LoweredMotion& lowered, double t,
                                      std::span<const double> x) {
    std::vector<double> values(d.graph().symbol_count(), 0.0), state{t};
    state.insert(state.end(), x.begin(), x.end());
    state.insert(state.end(), lowered.motion.parameters.begin(), lowered.motion.parameters.end());
    const std::vector<SymbolId> symbols = program_inputs(*d.model);
    for (std::size_t i = 0; i < symbols.size() && i < state.size(); ++i) values[symbols[i].index()] = state[i];
    return hidden_positions(d, values);
}

void add_hidden_positions(Diagnostics& diagnostics, const ConstrainedDynamics& d, std::span<const HiddenPosition> hidden) {
    for (const HiddenPosition& h : hidden) {
        const Named named = names_of(d, h);
        const std::string what = h.may_rest ? "may hide" : "hides";
        diagnostics.add(
            {Code::W1008, span_of(d, h),
             fmt::format("a condition on positions {} in the constraints {}", what, fmt::join(named.rows, ", ")), named.condition,
             fmt::format("a constraint that states it, or {} at rest", fmt::join(named.speeds, ", ")),
             fmt::format("`--complete` adds it for you; in the model it is `constraint hidden: {}`. It holds here, and {}",
                         named.condition,
                         h.may_rest ? fmt::format("either it goes on holding or {} rest: the constraints do not say which",
                                                  fmt::join(named.speeds, ", "))
                                    : "the motion can only go on while it does")});
    }
}

CompletedModel with_hidden_positions(const ConstrainedDynamics& d, std::span<const HiddenPosition> hidden,
                                     Diagnostics& diagnostics) {
    auto model = std::make_shared<Model>(*d.model);
    Graph& g = d.graph();
    CompletedModel out;
    for (const HiddenPosition& h : hidden) {
        const Named named = names_of(d, h);
        Constraint c;
        c.name = free_name(*model);
        c.phi = h.determinant;
        c.multipliers.push_back(g.add_symbol(fmt::format("lambda({})", c.name), SymbolKind::multiplier));
        c.ideal_multipliers.push_back(g.add_symbol(fmt::format("ideal({})", c.name), SymbolKind::multiplier));
        c.text = named.condition;
        c.span = span_of(d, h);
        out.added.push_back(fmt::format("{}: {}", c.name, named.condition));
        diagnostics.add({Code::W1008, c.span,
                         fmt::format("a condition on positions {} in the constraints {}; it was added to them as {}",
                                     h.may_rest ? "may hide" : "hides", fmt::join(named.rows, ", "), c.name),
                         named.condition, "", "state it in the model; its multiplier is a force like any other"});
        model->constraints.push_back(std::move(c));
    }
    out.model = std::move(model);
    return out;
}

}  // namespace appell
