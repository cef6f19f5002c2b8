// The tree of frames with the rotation of each to its parent, and the rotations between any two frames, found along the tree and
// remembered. R(A, B) takes components in B to components in A.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "vec/vec3.hpp"

namespace appell {

class FrameTree {
public:
    explicit FrameTree(Graph& graph) : graph_(graph) {}

    // the first frame is the root; R takes components in the new frame to components in the parent
    FrameId add(FrameId parent, const Matrix3& R_parent_child);

    [[nodiscard]] FrameId parent(FrameId frame) const { return parents_[frame.index()]; }
    [[nodiscard]] const Matrix3& rotation_to_parent(FrameId frame) const { return to_parent_[frame.index()]; }
    [[nodiscard]] const Matrix3& rotation(FrameId to, FrameId from);

    [[nodiscard]] Vec3 express(const Vec3& v, FrameId frame);
    [[nodiscard]] Vec3 express(const MixedVector& v, FrameId frame);
    [[nodiscard]] NodeId dot(const MixedVector& v, const MixedVector& w);
    // The root of a sum of squares in one basis. From products of parts in several bases (a^2 + b^2 - 2 a b cos) round-off can
    // leave something negative where the parts cancel.
    [[nodiscard]] NodeId magnitude(const MixedVector& v);
    [[nodiscard]] MixedVector cross(const MixedVector& v, const MixedVector& w);

private:
    [[nodiscard]] const Matrix3& from_ancestor(FrameId ancestor, FrameId frame);

    Graph& graph_;
    std::vector<FrameId> parents_;
    std::vector<std::uint32_t> depth_;
    std::vector<Matrix3> to_parent_;
    std::map<std::pair<FrameId, FrameId>, Matrix3> known_;
};

}  // namespace appell
