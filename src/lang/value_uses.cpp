#include "lang/value_uses.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "expr/evaluate.hpp"

namespace appell {

namespace {

template <class List>
auto* named(List& list, std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
    return found == list.end() ? nullptr : &*found;
}

bool put(Model& model, const ValueUses& uses, const std::string& name, double value) {
    if (!std::isfinite(value)) return false;
    // a speed that was not declared has the name of the rate that it is
    if (name.ends_with('\'')) {
        for (StartRate& rate : model.start_rates)
            if (!rate.fixed && name == model.coordinates[rate.coordinate].name + "'") {
                rate.value = value;
                return true;
            }
        return false;
    }
    if (Parameter* const parameter = named(model.parameters, name)) {
        parameter->value = value;
        return !uses.computed_from.contains(parameter->symbol);
    }
    if (Input* const input = named(model.inputs, name)) {
        input->value = value;
        return true;
    }
    if (Coordinate* const coordinate = named(model.coordinates, name)) {
        coordinate->start = value;
        return true;
    }
    if (Speed* const speed = named(model.speeds, name)) {
        speed->start = value;
        speed->given = true;
        return true;
    }
    return false;
}

}  // namespace

bool put_values(Model& model, const ValueUses& uses, std::span<const std::string> names, std::span<const double> values) {
    for (std::size_t k = 0; k < names.size(); ++k)
        if (!put(model, uses, names[k], values[k])) return false;
    std::vector<double> by_symbol(model.graph->symbol_count(), 0);
    for (const Parameter& p : model.parameters) by_symbol[p.symbol.index()] = p.value;
    const auto all = [&](const std::vector<NodeId>& nodes, auto good) {
        const std::vector<double> numbers = evaluate<double>(*model.graph, nodes, by_symbol);
        return std::all_of(numbers.begin(), numbers.end(), good);
    };
    // comparisons are false for what is not a number
    return all(uses.positive, [](double v) { return v > 0 && std::isfinite(v); }) &&
           all(uses.not_negative, [](double v) { return v >= 0 && std::isfinite(v); });
}

}  // namespace appell
