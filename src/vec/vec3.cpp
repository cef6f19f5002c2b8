#include "vec/vec3.hpp"

#include <algorithm>

namespace appell {

namespace {

void require_same_frame(const Vec3& v, const Vec3& w) {
    if (v.frame != w.frame) throw Error("vectors of different frames can not be combined by components");
}

}  // namespace

Vec3 zero_vector(Graph& graph, FrameId frame) {
    const NodeId zero = graph.constant(0);
    return {frame, {zero, zero, zero}};
}

int nonzero_count(const Graph& graph, const Vec3& v) {
    return static_cast<int>(std::count_if(v.c.begin(), v.c.end(), [&](NodeId c) { return !graph.is_constant(c, 0); }));
}

bool is_zero(const Graph& graph, const Vec3& v) { return nonzero_count(graph, v) == 0; }

Vec3 add(Graph& graph, const Vec3& v, const Vec3& w) {
    require_same_frame(v, w);
    return {v.frame, {graph.add(v.c[0], w.c[0]), graph.add(v.c[1], w.c[1]), graph.add(v.c[2], w.c[2])}};
}

Vec3 sub(Graph& graph, const Vec3& v, const Vec3& w) {
    require_same_frame(v, w);
    return {v.frame, {graph.sub(v.c[0], w.c[0]), graph.sub(v.c[1], w.c[1]), graph.sub(v.c[2], w.c[2])}};
}

Vec3 scale(Graph& graph, NodeId s, const Vec3& v) {
    return {v.frame, {graph.mul(s, v.c[0]), graph.mul(s, v.c[1]), graph.mul(s, v.c[2])}};
}

Vec3 cross(Graph& graph, const Vec3& v, const Vec3& w) {
    require_same_frame(v, w);
    const auto minor = [&](std::size_t i, std::size_t j) {
        return graph.sub(graph.mul(v.c[i], w.c[j]), graph.mul(v.c[j], w.c[i]));
    };
    return {v.frame, {minor(1, 2), minor(2, 0), minor(0, 1)}};
}

NodeId dot(Graph& graph, const Vec3& v, const Vec3& w) {
    require_same_frame(v, w);
    return graph.add(graph.add(graph.mul(v.c[0], w.c[0]), graph.mul(v.c[1], w.c[1])), graph.mul(v.c[2], w.c[2]));
}

Matrix3 identity(Graph& graph) {
    const NodeId zero = graph.constant(0), one = graph.constant(1);
    return {one, zero, zero, zero, one, zero, zero, zero, one};
}

Matrix3 multiply(Graph& graph, const Matrix3& a, const Matrix3& b) {
    Matrix3 out;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            out[3 * i + j] = graph.add(graph.add(graph.mul(a[3 * i], b[j]), graph.mul(a[3 * i + 1], b[3 + j])),
                                       graph.mul(a[3 * i + 2], b[6 + j]));
    return out;
}

Matrix3 transpose(const Matrix3& a) { return {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}; }

std::array<NodeId, 3> multiply(Graph& graph, const Matrix3& a, const std::array<NodeId, 3>& v) {
    std::array<NodeId, 3> out;
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = graph.add(graph.add(graph.mul(a[3 * i], v[0]), graph.mul(a[3 * i + 1], v[1])), graph.mul(a[3 * i + 2], v[2]));
    return out;
}

MixedVector add(Graph& graph, const MixedVector& v, const MixedVector& w) {
    MixedVector out;
    auto p = v.parts.begin(), q = w.parts.begin();
    while (p != v.parts.end() || q != w.parts.end()) {
        if (q == w.parts.end() || (p != v.parts.end() && p->frame < q->frame)) {
            out.parts.push_back(*p++);
        } else if (p == v.parts.end() || q->frame < p->frame) {
            out.parts.push_back(*q++);
        } else {
            const Vec3 sum = add(graph, *p++, *q++);
            if (!is_zero(graph, sum)) out.parts.push_back(sum);
        }
    }
    return out;
}

MixedVector scale(Graph& graph, NodeId s, const MixedVector& v) {
    MixedVector out;
    for (const Vec3& part : v.parts)
        if (const Vec3 scaled = scale(graph, s, part); !is_zero(graph, scaled)) out.parts.push_back(scaled);
    return out;
}

}  // namespace appell
