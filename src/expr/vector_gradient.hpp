// The gradient of a scalar expression by the vectors in it, as vectors in the user's own terms: d/dv of dot(v, w) is w. One
// descending pass that carries scalar adjoints for scalar nodes and vector adjoints for vector nodes. Constraint forces are read
// off this way (design: forces by inspection).
#pragma once

#include <vector>

#include "expr/graph.hpp"

namespace appell {

struct VectorGradient {
    struct ByVector {
        VectorSymbolId symbol;
        NodeId value;  // a vector
    };
    struct ByScalar {
        SymbolId symbol;
        NodeId value;  // a scalar; may contain vectors
    };

    // symbols ascending, without structural zeros
    std::vector<ByVector> vectors;
    std::vector<ByScalar> scalars;  // scalar symbols beside the vectors, their coefficients included
    NodeId derivative;              // a dt(v, A) the expression depends on, where the pass ends; invalid without one
};

[[nodiscard]] VectorGradient vector_gradient(Graph& graph, NodeId expression);

}  // namespace appell
