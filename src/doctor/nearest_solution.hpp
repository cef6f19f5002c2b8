// Equations solved for states: from a state to a near one where all of them hold, by Newton's method with the least change. There
// may be more unknowns than equations, and equations that follow from others.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "expr/graph.hpp"
#include "tape/workspace.hpp"

namespace appell {

class NearestSolution {
public:
    // `inputs`: every symbol of the equations; `unknowns`: those of them that may change
    NearestSolution(Graph& graph, std::vector<NodeId> equations, std::vector<SymbolId> inputs,
                    std::span<const SymbolId> unknowns);

    // From `values` (by input) to a solution; nothing when it does not converge. Where the jacobian loses rank at the solution,
    // convergence is slow, and ends where residuals are small for the size of their terms.
    [[nodiscard]] std::optional<std::vector<double>> solve(std::span<const double> values);
    // largest residual at a state, relative to what a change of the unknowns by their own size would do to it
    [[nodiscard]] double residual(std::span<const double> values);

private:
    bool evaluate(std::span<const double> values);
    void measure(std::span<const double> values);

    std::size_t equations_;
    std::vector<std::size_t> unknowns_;  // places in the inputs
    std::vector<SymbolKind> kinds_;      // of the unknowns
    std::vector<double> sizes_;          // of the unknowns: that of the largest of their kind
    std::vector<SparseEntry> entries_;   // of the jacobian
    Program program_;
    std::optional<Workspace<double>> workspace_;
};

}  // namespace appell
