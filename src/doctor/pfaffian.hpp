// The rows that are affine in the speeds, a(q, t) . u + c(q, t) = 0, seen as a distribution: which velocities they leave at a
// configuration, as vector fields over (q, t). Position rows take part by their time derivative; nonlinear rows do not.
#pragma once

#include <cstdint>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct AffineRows {
    std::vector<std::size_t> rows;       // indices in the dynamics
    std::vector<std::vector<NodeId>> a;  // by row and speed; zeros are constants
    std::vector<NodeId> c;
    std::vector<std::size_t> nonlinear;  // velocity rows that are not affine
};

[[nodiscard]] AffineRows affine_rows(const ConstrainedDynamics& dynamics);

// u = S y + s at every configuration where the pivots do not vanish; y are the free speeds
struct NullSpace {
    std::vector<std::size_t> pivot_rows;   // places in AffineRows::rows; the others follow from them
    std::vector<std::uint32_t> dependent;  // speeds, by pivot row
    std::vector<std::uint32_t> free;       // speeds
    std::vector<std::vector<NodeId>> S;    // by free speed, then by speed
    std::vector<NodeId> s;                 // by speed
    bool contradictory = false;            // rows that leave no velocity at generic configurations
};

// Symbolic elimination; pivots do not vanish at the samples and are numbers where possible. Only the rows listed (places in
// `affine`), or all of them when the list is empty.
[[nodiscard]] NullSpace null_space(Graph& graph, const AffineRows& affine, std::size_t speeds, const Samples& samples,
                                   std::vector<std::size_t> which = {});

// The vector fields of admissible motion over the variables: coordinates, then time where it matters. The rows and the
// kinematics matter through time where they depend on it or leave a velocity that is not zero; then the last field has the time
// component one, and is what the rows leave for y = 0.
struct Distribution {
    std::vector<SymbolId> variables;
    std::vector<std::vector<NodeId>> fields;  // components by variable
    bool time = false;
    std::size_t dimension = 0;  // of the space of variables, with quaternions on their unit spheres
};

[[nodiscard]] Distribution distribution(const ConstrainedDynamics& dynamics, const NullSpace& null_space);

}  // namespace appell
