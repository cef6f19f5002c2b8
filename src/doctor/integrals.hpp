// Hidden integrals in closed form. A function F stays constant in all motions that affine rows admit when X(F) = 0 for every
// field X of theirs. F is sought as a sum of products of what the rows are made of (coordinates, time, parameters, sines and
// cosines of angles, exponentials, roots; in later rounds their inverses and logarithms): X(F) = 0 at many configurations is a
// linear system for the coefficients, solved with fifty digits, simple terms first. This finds potentials and integrals that
// need an integrating factor alike. What is found is tested at other configurations; what is not found may still exist.
#pragma once

#include <vector>

#include "doctor/pfaffian.hpp"

namespace appell {

// at most `wanted`, functionally independent of each other and of the position rows
[[nodiscard]] std::vector<NodeId> hidden_integrals(const ConstrainedDynamics& dynamics, const AffineRows& affine,
                                                   const Distribution& distribution, std::size_t wanted, const Samples& samples);

}  // namespace appell
