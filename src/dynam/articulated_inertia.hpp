// u' of a tree of bodies by articulated inertias: M u' = f is solved without M, in a number of operations that grows with the
// number of bodies.
//
// Velocities are a recursion (kinem/velocity_field.hpp): each component y, of an angular velocity or of the velocity of a point,
// is a combination of earlier ones x and of the few speeds of its own joint. So are the parts of accelerations that contain u':
//
//     y = sum c x + sum s u'
//
// By Gauss's principle u' makes  1/2 sum y' I y - sum F y  least. From the leaves to the root, each y is replaced by its
// combination, so that its inertia and its force pass on to x and u', and over each u' the sum is made least as soon as nothing
// else that is left contains it: what remains is the articulated inertia at the joint (Featherstone, Rigid Body Dynamics
// Algorithms, 2008, ch. 7). There a joint has its parent's motion and rates of its own. Here the coefficients may be anything, so
// that speeds may be relative or absolute, joints may share them, and bodies need no joint between them at all.
#pragma once

#include <optional>
#include <span>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

// The solve that gives the speeds' rates of a system without constraint rows, laws and actuators. None where there is no
// tree of small joints, and where some rate has no inertia at the state: then M tells which.
// `values` are those of t, q, u, parameters and inputs, by symbol.
[[nodiscard]] std::optional<ConstrainedSolve> articulated_rates(const ConstrainedDynamics& dynamics,
                                                                std::span<const double> values);

}  // namespace appell
