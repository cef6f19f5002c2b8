// Rows of a few unknowns, all affine but one that is quadratic, which may be the product of two affine ones where the others hold
// (Appell and Hamel's wheel: v^2 = (a phi')^2 along its plane). The unknowns then follow without a root and without a guess.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

struct QuadraticBlock {
    std::vector<NodeId> residuals;  // as many as unknowns, the quadratic one last
    std::vector<SymbolId> unknowns;
};

struct QuadraticSplit {
    std::vector<NodeId> values;  // by unknown: the solution
    std::vector<NodeId>
        spread;  // by unknown: from the solution of the affine rows nearest to zero to the middle of both solutions
    // of the quadratic row at the solution, over the same at the unknowns' values: negative if these are on the other factor
    NodeId slope;
    NodeId side;              // vanishes where both factors do, and has another sign beyond
    bool everywhere = false;  // nothing is divided by but what parameters make: no state is near one without a solution
};

// The factor that a state is on, given by symbol. `affine_in`: the symbols that the factors are affine in, and do not have in
// their denominators. None where the row is no product, or affine where the others hold.
[[nodiscard]] std::optional<QuadraticSplit> split_quadratic(Graph& graph, const QuadraticBlock& block,
                                                            std::span<const SymbolId> affine_in, std::span<const double> state);

}  // namespace appell
