// Vectors by components in one frame, and vectors that mix frames. Components are nodes of a graph; the frame is part of the
// value, so that nothing is added across bases by accident.
#pragma once

#include <array>
#include <vector>

#include "base/ids.hpp"
#include "expr/graph.hpp"

namespace appell {

struct Vec3 {
    FrameId frame;
    std::array<NodeId, 3> c;

    friend bool operator==(const Vec3&, const Vec3&) = default;
};

[[nodiscard]] Vec3 zero_vector(Graph& graph, FrameId frame);
[[nodiscard]] bool is_zero(const Graph& graph, const Vec3& v);
[[nodiscard]] int nonzero_count(const Graph& graph, const Vec3& v);

// same-frame arithmetic; mixing frames throws Error
[[nodiscard]] Vec3 add(Graph& graph, const Vec3& v, const Vec3& w);
[[nodiscard]] Vec3 sub(Graph& graph, const Vec3& v, const Vec3& w);
[[nodiscard]] Vec3 scale(Graph& graph, NodeId s, const Vec3& v);
[[nodiscard]] Vec3 cross(Graph& graph, const Vec3& v, const Vec3& w);
[[nodiscard]] NodeId dot(Graph& graph, const Vec3& v, const Vec3& w);

// 3 x 3, row by row
using Matrix3 = std::array<NodeId, 9>;

[[nodiscard]] Matrix3 identity(Graph& graph);
[[nodiscard]] Matrix3 multiply(Graph& graph, const Matrix3& a, const Matrix3& b);
[[nodiscard]] Matrix3 transpose(const Matrix3& a);
[[nodiscard]] std::array<NodeId, 3> multiply(Graph& graph, const Matrix3& a, const std::array<NodeId, 3>& v);

// A sum of parts in different frames: at most one part per frame, frames ascending.
struct MixedVector {
    std::vector<Vec3> parts;
};

[[nodiscard]] MixedVector add(Graph& graph, const MixedVector& v, const MixedVector& w);
[[nodiscard]] MixedVector scale(Graph& graph, NodeId s, const MixedVector& v);

}  // namespace appell
