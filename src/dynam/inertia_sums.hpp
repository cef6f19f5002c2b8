// The sums over masses behind M and f, with equal partial velocities merged.
//
// M_rs = sum_i m_i v_r.v_s and f_r = sum_i v_r.R_i run over points that often share partial velocities (every point further out on a
// chain does). Points with the same v_r and v_s contribute (sum m_i) v_r.v_s, and the resultants of points with the same v_r are
// added before the dot product. Taken from the last point to the first, the partial sums are shared between the entries: a planar
// chain of n links needs O(n^2) nodes instead of O(n^3).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kinem/kinematics.hpp"

namespace appell {

class InertiaSums {
public:
    InertiaSums(Graph& graph, std::size_t speeds) : g_(graph), forces_(speeds), loose_(speeds, graph.constant(0)), speeds_(speeds) {}

    // a point mass: all partial velocities in one frame
    void add_mass(std::span<const PartialVelocity> partials, NodeId mass);
    // the rotation of a body: partial angular velocities and inertia in the body's basis
    void add_rotation(std::span<const PartialVelocity> partials, const Matrix3& inertia);
    // resultant force on a point, or torque on a body, in the frame of its partial velocities
    void add_resultant(std::span<const PartialVelocity> partials, const Vec3& resultant);
    void add_generalized(std::size_t speed, NodeId force);

    [[nodiscard]] SparseMatrix mass_matrix();  // lower triangle
    [[nodiscard]] std::vector<NodeId> generalized_forces();

private:
    struct MassGroup {
        std::array<NodeId, 3> v, w;
        NodeId product, mass;
    };
    struct MassEntry {
        std::vector<MassGroup> groups;
        NodeId rotation;
    };
    struct ForceGroup {
        Vec3 v, resultant;
    };

    MassEntry& entry(std::uint32_t r, std::uint32_t s);

    Graph& g_;
    std::unordered_map<std::uint64_t, std::uint32_t> index_;  // (row, column) -> entries_
    std::vector<std::pair<std::uint64_t, MassEntry>> entries_;
    std::vector<std::vector<ForceGroup>> forces_;
    std::vector<NodeId> loose_;
    std::size_t speeds_;
};

}  // namespace appell
