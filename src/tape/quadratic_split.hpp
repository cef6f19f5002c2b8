// Rows of a few unknowns, all affine but one that is quadratic, which may be the product of two affine ones where the others hold
// (Appell and Hamel's wheel: v^2 = (a phi')^2 along its plane). The unknowns then follow without a root and without a guess.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

struct QuadraticBlock {
    std::vector<NodeId> residuals;            // as many as unknowns, the quadratic one last
    std::vector<std::vector<NodeId>> slopes;  // row by direction: an unknown moves by its scale along its direction
    std::vector<NodeId> bend;                 // of the quadratic row: how its slopes change along the directions, row by row
    std::vector<SymbolId> unknowns;           // by direction
    std::vector<double> scales;
};

struct QuadraticSplit {
    std::vector<NodeId> places;  // by direction, from zero: of the solution
    std::vector<NodeId> spread;  // by direction: from what is nearest to zero to the middle of both solutions
    // of the quadratic row at the solution, over the same at the unknowns' values: negative if these are on the other factor
    NodeId slope;
};

// The factor that a state is on, given by symbol. `affine_in`: the symbols that the factors are affine in, and do not have in
// their denominators. None where the row is no product, or affine where the others hold.
[[nodiscard]] std::optional<QuadraticSplit> split_quadratic(Graph& graph, const QuadraticBlock& block,
                                                            std::span<const SymbolId> affine_in, std::span<const double> state);

}  // namespace appell
