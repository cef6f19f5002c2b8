#include "report/unit_labels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/dependence.hpp"

namespace appell {

namespace {

// a torque has the dimension of an energy and is none
bool is_torque(const Graph& g, NodeId value) {
    const std::vector<VectorSymbolId> symbols = vector_symbols_in(g, std::span(&value, 1));
    return std::any_of(symbols.begin(), symbols.end(), [&](VectorSymbolId id) {
        const auto kind = static_cast<VectorKind>(g.vector_symbol(id).kind);
        return kind == VectorKind::constraint_torque || kind == VectorKind::nonideal_torque;
    });
}

}  // namespace

std::string unit_of(const Model& model, NodeId value, const std::optional<Dimension>& dimension) {
    if (!dimension || dimension->none()) return "";
    std::string unit = si_text(*dimension);
    return unit == "J" && value.valid() && is_torque(*model.graph, value) ? "N m" : unit;
}

std::string with_unit(const std::string& label, const std::string& unit) {
    return unit.empty() ? label : fmt::format("{} [{}]", label, unit);
}

}  // namespace appell
