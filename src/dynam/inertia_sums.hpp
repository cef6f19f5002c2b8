// Everything with mass and everything that pushes it, by point and body, and the sums M and f over them.
//
// M_rs = sum_i m_i v_r.v_s and f_r = sum_i v_r.R_i. A point that inherits all partial velocities of its base point (as along a
// chain whose velocities live in one frame) hands its mass and its resultant down to the base, and only pairs with a new partial
// velocity are formed here. The composite masses are shared by all entries: a planar chain of n links costs O(n^2) instead of
// O(n^3). The sums are formed when they are first asked for: the articulated inertias of a tree (articulated_inertia.hpp) do
// without.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "kinem/kinematics.hpp"

namespace appell {

class InertiaSums {
public:
    // in the body's basis, or that of the frame before its last rotation (central_inertia.hpp)
    struct Rotation {
        FrameId body, basis;
        Matrix3 inertia;
    };
    struct Torque {
        FrameId body;
        Vec3 torque;
    };
    struct MaterialForce {
        FrameId body;
        PointId point;
        Vec3 force;  // in the home frame of the mass centre's velocity
    };
    struct Generalized {
        std::uint32_t speed;
        NodeId force;
    };
    using Resultant = std::variant<Torque, MaterialForce, Generalized>;

    explicit InertiaSums(Kinematics& kinematics);

    void add_mass(PointId point, NodeId mass) { add_mass(mass_, point, mass); }
    // resultant force on a point, in the home frame of its velocity
    void add_force(PointId point, const Vec3& resultant) { add_force(force_, point, resultant); }
    void add_rotation(FrameId body, FrameId basis, const Matrix3& inertia) { rotations_.push_back({body, basis, inertia}); }
    void add_torque(FrameId body, const Vec3& torque);
    // on the body's material point that is at `point`
    void add_material_force(FrameId body, PointId point, const MixedVector& force);
    void add_generalized(std::size_t speed, NodeId force);

    // what was added; invalid nodes and frames by point: nothing
    [[nodiscard]] const std::vector<NodeId>& masses() const { return mass_; }
    [[nodiscard]] const std::vector<Vec3>& forces() const { return force_; }
    [[nodiscard]] const std::vector<Rotation>& rotations() const { return rotations_; }
    [[nodiscard]] const std::vector<Resultant>& resultants() const { return resultants_; }
    [[nodiscard]] std::vector<NodeId> values() const;  // the expressions of all of it that moves

    // The sums; nothing may be added afterwards.
    [[nodiscard]] const SparseMatrix& mass_matrix() { return assembled().M; }  // lower triangle
    [[nodiscard]] const std::vector<NodeId>& generalized_forces() { return assembled().f; }
    [[nodiscard]] bool is_assembled() const { return assembled_.has_value(); }

private:
    struct Assembled {
        SparseMatrix M;
        std::vector<NodeId> f;
    };
    struct Term {
        std::uint64_t place;  // (row, column)
        NodeId value;
    };
    // in the making
    struct Terms {
        std::vector<Term> entries;                // of M, as they were added; several may have one place
        std::vector<std::vector<NodeId>> forces;  // by speed -> terms
    };

    void add_mass(std::vector<NodeId>& sums, PointId point, NodeId mass);
    void add_force(std::vector<Vec3>& sums, PointId point, const Vec3& resultant);
    const Assembled& assembled();
    [[nodiscard]] std::vector<PartialVelocity> partial_omegas(FrameId body, FrameId basis) const;
    void add_entry(Terms& terms, std::uint32_t r, std::uint32_t s, NodeId term) const;
    void assemble_rotations(Terms& terms);
    void assemble_points(Terms& terms);  // last to first
    [[nodiscard]] SparseMatrix sum_of_entries(std::vector<Term> entries);

    Kinematics& kin_;
    Graph& g_;
    std::vector<NodeId> mass_;  // by point
    std::vector<Vec3> force_;   // by point
    std::vector<Rotation> rotations_;
    std::vector<Resultant> resultants_;
    std::optional<Assembled> assembled_;
};

}  // namespace appell
