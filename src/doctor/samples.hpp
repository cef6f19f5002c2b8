// Where the doctor looks: random states on the constraints, with fifty digits. A rank or a zero found at several of them holds
// almost everywhere; the same seed gives the same findings.
#pragma once

#include <span>
#include <vector>

#include "tape/evaluate_wide.hpp"

namespace appell {

struct Samples {
    std::vector<SymbolId> symbols;              // what a state lists: t, q, u, parameters, inputs
    std::vector<std::vector<Digits50>> states;  // at each the rows hold to 1e-40; parameters as the model has them
    std::vector<Digits50> start;                // the start values, on the constraints to round-off of doubles

    [[nodiscard]] std::size_t size() const { return states.size(); }
    // by symbol of the graph, as `evaluate` wants them
    [[nodiscard]] std::vector<Digits50> values(const Graph& graph, std::span<const Digits50> state) const {
        std::vector<Digits50> out(graph.symbol_count(), Digits50(0));
        for (std::size_t i = 0; i < symbols.size(); ++i) out[symbols[i].index()] = state[i];
        return out;
    }
    [[nodiscard]] std::vector<Digits50> evaluate(const Graph& graph, std::span<const NodeId> roots, std::size_t state) const {
        return appell::evaluate<Digits50>(graph, roots, values(graph, states[state]));
    }
};

}  // namespace appell
