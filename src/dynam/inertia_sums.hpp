// The sums over masses behind M and f.
//
// M_rs = sum_i m_i v_r.v_s and f_r = sum_i v_r.R_i. A point that inherits all partial velocities of its base point (as along a
// chain whose velocities live in one frame) hands its mass and its resultant down to the base, and only pairs with a new partial
// velocity are formed here. The composite masses are shared by all entries: a planar chain of n links costs O(n^2) instead of
// O(n^3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kinem/kinematics.hpp"

namespace appell {

class InertiaSums {
public:
    explicit InertiaSums(Kinematics& kinematics);

    void add_mass(PointId point, NodeId mass);
    // resultant force on a point, in the home frame of its velocity
    void add_force(PointId point, const Vec3& resultant);
    // the rotation of a body: inertia in the body's basis
    void add_rotation(FrameId body, const Matrix3& inertia);
    // force with given partial velocities (of a material point), or torque with partial angular velocities, in their frame
    void add_resultant(std::span<const PartialVelocity> partials, const Vec3& resultant);
    void add_generalized(std::size_t speed, NodeId force);

    // Works off the points, last to first; call once, when everything is added.
    void finish();
    [[nodiscard]] SparseMatrix mass_matrix();  // lower triangle
    [[nodiscard]] std::vector<NodeId> generalized_forces();

private:
    struct Term {
        std::uint64_t place;  // (row, column)
        NodeId value;
    };

    void add_entry(std::uint32_t r, std::uint32_t s, NodeId term);

    Kinematics& kin_;
    Graph& g_;
    std::vector<NodeId> mass_;                 // by point, with what was handed down; invalid for none
    std::vector<Vec3> resultant_;              // by point; frame invalid for none
    std::vector<Term> entries_;                // of M, as they were added; several may have one place
    std::vector<std::vector<NodeId>> forces_;  // by speed -> terms
};

}  // namespace appell
