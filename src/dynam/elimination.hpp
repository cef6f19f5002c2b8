// The dependent rates in closed form, and the equations of motion in the independent ones: for the printed page. What is computed
// with is the numeric solve (tape/dense_solve.hpp); nothing here feeds it.
//
//     u_D' = D u_I' + d                                         D = -J2^-1 J1, d = J2^-1 b     (000 eq. 18, 003 eq. 20)
//     acc(P) = sum a~_r u_r' + a~_t,  alpha(B) = sum alpha~_r u_r' + alpha~_t                  (000 eqs. 11, 71)
//     F~_r + F~*_r = 0,  F~*_r = -(M~ u_I' + L~)_r                                             (000 eqs. 8, 75, 76)
//
// Where rows follow from others and none of their choices is regular wherever J2 has full rank, all of them are taken together,
// J2'J2 u_D' = J2'(b - J1 u_I'): that is regular exactly where the dependent rates are determined.
//
// J2 is inverted by minors, block by block: nothing is divided by but the determinants of its blocks. Blocks beyond 3 x 3 are
// refused, because nobody reads their inverse.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dynam/speed_partition.hpp"

namespace appell {

struct Elimination {
    SpeedPartition partition;
    // columns of the independent and of the dependent speeds; the partition's rows, or J2' times all of them
    SparseMatrix J1, J2;
    std::vector<NodeId> b;             // of these rows
    bool combined = false;             // it is J2' times all rows
    std::string refused;               // why there is no D in closed form; empty when there is
    SparseMatrix D;                    // rows: dependent speeds; columns: independent ones
    std::vector<NodeId> d;             // by dependent speed
    std::vector<NodeId> determinants;  // of the blocks of J2, those that are no numbers
};

[[nodiscard]] Elimination eliminate_dependent(const ConstrainedDynamics& dynamics, SpeedPartition partition);

// The inertia forces with u' = 0, turned around: F*_r = -(M u' + L)_r (003 eq. 41). f = F - L.
[[nodiscard]] std::vector<NodeId> inertia_remainders(const ConstrainedDynamics& dynamics);

// a vector that is linear in the independent u': an acceleration or an angular acceleration
struct AccelerationParts {
    std::vector<PartialVelocity> partials;  // coefficients of the rates of independent speeds, ascending; zeros are left out
    Vec3 remainder;
};

struct MinimalEquations {
    std::vector<AccelerationParts> particles, centers, bodies;  // the last are angular
    std::vector<NodeId> F;                                      // by independent speed: F~_r
    SparseMatrix M;                                             // M~, lower triangle
    std::vector<NodeId> L;                                      // L~
    std::vector<NodeId> f;                                      // F~ - L~
};

// `elimination` must not be refused
[[nodiscard]] MinimalEquations minimal_equations(const ConstrainedDynamics& dynamics, const Elimination& elimination);

// Rows that were not eliminated, in the independent rates: A~ u_I' = b~ with A~ = A S, b~ = b - A s. Their forces stay in
// evidence, F~_r + F~*_r + sum lambda_s A~_sr = 0 (000 eqs. 7, 22).
struct RemainingRows {
    SparseMatrix A;  // columns: independent speeds
    std::vector<NodeId> b;
};
// `elimination` must not be refused
[[nodiscard]] RemainingRows remaining_rows(const ConstrainedDynamics& shown, const Elimination& elimination);

// Where M is diagonal and A M^-1 A' has no block beyond 3 x 3: lambda = (A M^-1 A')^-1 (b - A a), a = M^-1 f (000 eq. 34,
// 001 eq. 47 with B^+ = B' (B B')^-1, since B B' = A M^-1 A').
struct SolvedMultipliers {
    std::vector<NodeId> a;        // by speed
    SparseMatrix G;               // A M^-1 A'
    std::vector<NodeId> missing;  // b - A a, by row
    std::vector<NodeId> lambda;   // by row
};
[[nodiscard]] std::optional<SolvedMultipliers> solved_multipliers(const ConstrainedDynamics& dynamics);

// the diagonal of M, by speed; empty when M has other entries or a vanishing one on the diagonal
[[nodiscard]] std::vector<NodeId> diagonal_masses(const ConstrainedDynamics& dynamics);

}  // namespace appell
