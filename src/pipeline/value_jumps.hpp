// Does a value jump where two expressions are equal? Asked numerically, at random points of that surface: between two numbers
// next to each other, one on either side of it, a value without a jump changes by round-off, and by less the closer they are.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace appell {

class ValueJumps {
public:
    explicit ValueJumps(const Model& model);

    enum class Verdict { none, jumps, never_met };
    struct Jump {
        double below, above;  // a value where first < second, and where first > second
    };
    // `never_met`: no point was found where both are equal and the values are finite
    [[nodiscard]] Verdict look(NodeId first, NodeId second, std::span<const NodeId> values, Jump& jump);

private:
    class Surface;

    [[nodiscard]] double any_value(SymbolId symbol);

    const Graph& g_;
    std::vector<double> numbers_;  // by symbol, of parameters and the start; NaN where there is none
    std::mt19937 random_;
};

}  // namespace appell
