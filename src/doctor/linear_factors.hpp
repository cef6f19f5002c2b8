// Contrived nonlinearity (000 secs. 1, 4.4 and 5; 002 examples 6-8): a constraint row that is nonlinear in the velocities as
// written, but says no more than linear rows do, given the other rows.
//
// The rows that are linear leave u = u_k + S y. On this space a row phi
//   follows from the others or is affine, when its gradient by y is constant;
//   is a quadratic form in (y, 1), when its gradient is affine: of rank one it is a square, of rank two and indefinite the
//   product of two linear factors, semidefinite of rank r it says as much as r linear rows; every other one is genuine; has a
//   linear factor, when it vanishes on the whole plane that touches it at a consistent state, far from that state as well. Where
//   its gradient vanishes, the kernel of its hessian takes the place of the plane.
// All is decided with fifty digits and must be the same at all samples. A row found to be linear serves as a linear one for the
// others, on the branch of each sample. Rows that stay genuine one by one are looked at together: the affine hull of the states
// that satisfy them, near each sample, shows what linear equations they imply.
//
// A row that is a higher power of a linear one (from the third on) is not found: its first two derivatives vanish.
#pragma once

#include <string>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

enum class LinearTruth {
    contradicts,  // can not hold, given the others
    follows,      // from the other rows
    affine,       // in the velocities, given the others
    square,       // of one linear factor: its gradient vanishes wherever it holds
    product,      // of two linear factors
    squares,      // holds only where several linear equations do, and its gradient vanishes there
    factor        // a linear factor times something else
};

struct LinearEquation {
    NodeId expression;           // affine in the speeds, zero on the factor; invalid without a closed form
    std::string text;            // of it; without a closed form, with the numbers it has at the start
    std::vector<double> normal;  // at the start: by speed, largest 1; empty where a denominator vanishes there
    bool at_start = false;       // the start is on it
};

struct LinearRow {
    std::size_t row;
    LinearTruth truth;
    std::vector<std::size_t> given;         // the rows needed to see it
    std::vector<LinearEquation> equations;  // of `squares` all hold; of `product` one of the two; none for `follows`
    std::string sentence;
};

// Nonlinear rows that together imply linear equations, though none of them alone is linear.
struct LinearTogether {
    std::vector<std::size_t> rows, given;
    std::vector<LinearEquation> equations;
    bool complete = false;  // the equations say all that the rows do
    std::string sentence;
};

struct LinearFactors {
    std::vector<LinearRow> rows;
    std::vector<LinearTogether> together;
};

[[nodiscard]] LinearFactors find_linear_factors(const ConstrainedDynamics& dynamics, const Samples& samples);

}  // namespace appell
