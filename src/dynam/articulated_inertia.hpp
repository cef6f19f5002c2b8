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
//
// What it amounts to is M = L D L', with one pass over the tree for every product with L^-1 or L'^-1: D are the inertias left
// along the rates. In z = L' u' a system with constraint rows is
//
//     D z - (A L'^-1)' lambda = L^-1 f,   (A L'^-1) z = b
//
// with a diagonal M and a pass for each row: the block that all constraint rows go into (tape/constrained_solve.hpp), which
// eliminates lambda by the Schur complement, decides rank in the metric of M, and costs as much as there are bodies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

class ArticulatedTree {
public:
    // None where there is no tree of small joints, where some rate has no inertia at the state (M tells which), and where no body
    // is moved by more speeds than `deeper_than`: M has as many columns that couple, or fewer. `values` are those of t, q, u,
    // parameters and inputs, by symbol.
    [[nodiscard]] static std::optional<ArticulatedTree> of(const ConstrainedDynamics& dynamics, std::span<const double> values,
                                                           std::size_t deeper_than = 0);
    // at another state
    [[nodiscard]] bool has_inertia(std::span<const double> values) const;

    // by speed
    [[nodiscard]] const std::vector<NodeId>& inertias() const { return inertias_; }  // D
    [[nodiscard]] const std::vector<NodeId>& forces() const { return forces_; }      // L^-1 f
    // L^-1 times numbers by speed, where an invalid node is nothing; from the leaves to the root
    [[nodiscard]] std::vector<NodeId> down(std::vector<NodeId> by_speed) const;
    // L'^-1 times numbers by speed; from the root to the leaves
    [[nodiscard]] std::vector<NodeId> up(const std::vector<NodeId>& by_speed) const;

    // M x - A' lambda = f,  A x = b  in the unknowns z = L' x, which take the names given; x. M of the solve is not looked at,
    // and f must be L^-1 f already.
    [[nodiscard]] std::vector<NodeId> transform(ConstrainedSolve& solve, std::vector<SymbolId> z) const;

private:
    class Elimination;
    // a speed's rate, by its index; or behind these a component of a velocity
    using Variable = std::uint32_t;
    struct Share {
        Variable of;
        NodeId factor;
    };
    // a component: the sum of its shares; or a speed's rate: what it were with the rest at zero, less its shares
    struct Step {
        Variable variable;
        std::vector<Share> shares;
    };

    Graph* graph_ = nullptr;
    std::size_t speeds_ = 0, variables_ = 0;
    std::vector<Step> steps_;  // from the leaves to the root
    std::vector<NodeId> inertias_, forces_;
    double growth_ = 1;  // ConstrainedSolve::growth, as it is at the state
};

// The solves that give the speeds' rates, and the multipliers, of a system without laws and actuators.
[[nodiscard]] std::vector<ConstrainedSolve> articulated_rates(const ConstrainedDynamics& dynamics, const ArticulatedTree& tree);

}  // namespace appell
