#include "vec/frame_tree.hpp"

namespace appell {

FrameId FrameTree::add(FrameId parent, const Matrix3& R_parent_child) {
    parents_.push_back(parent);
    depth_.push_back(parent.valid() ? depth_[parent.index()] + 1 : 0);
    to_parent_.push_back(R_parent_child);
    return FrameId(parents_.size() - 1);
}

const Matrix3& FrameTree::from_ancestor(FrameId ancestor, FrameId frame) {
    // climb to the nearest frame whose rotation is known, then multiply downward
    std::vector<FrameId> below;
    FrameId at = frame;
    while (at != ancestor && !known_.contains({ancestor, at})) {
        below.push_back(at);
        at = parents_[at.index()];
    }
    if (at == ancestor) known_.emplace(std::pair(ancestor, ancestor), identity(graph_));
    for (std::size_t i = below.size(); i-- > 0;) {
        const Matrix3 product = multiply(graph_, known_.at({ancestor, at}), to_parent_[below[i].index()]);
        at = below[i];
        known_.emplace(std::pair(ancestor, at), product);
    }
    return known_.at({ancestor, frame});
}

const Matrix3& FrameTree::rotation(FrameId to, FrameId from) {
    if (const auto found = known_.find({to, from}); found != known_.end()) return found->second;
    FrameId p = to, q = from;
    while (p != q) {
        if (depth_[p.index()] >= depth_[q.index()])
            p = parents_[p.index()];
        else
            q = parents_[q.index()];
    }
    if (p == to) return from_ancestor(to, from);
    const Matrix3 up = transpose(from_ancestor(p, to));
    const Matrix3 R = p == from ? up : multiply(graph_, up, from_ancestor(p, from));
    return known_.emplace(std::pair(to, from), R).first->second;
}

Vec3 FrameTree::express(const Vec3& v, FrameId frame) {
    if (v.frame == frame) return v;
    if (is_zero(graph_, v)) return zero_vector(graph_, frame);
    return {frame, multiply(graph_, rotation(frame, v.frame), v.c)};
}

Vec3 FrameTree::express(const MixedVector& v, FrameId frame) {
    Vec3 sum = zero_vector(graph_, frame);
    for (const Vec3& part : v.parts) sum = appell::add(graph_, sum, express(part, frame));
    return sum;
}

NodeId FrameTree::dot(const MixedVector& v, const MixedVector& w) {
    NodeId sum = graph_.constant(0);
    for (const Vec3& p : v.parts)
        for (const Vec3& q : w.parts) {
            // turn the sparser of the two: fewer products
            const bool turn_q = nonzero_count(graph_, q) <= nonzero_count(graph_, p);
            sum = graph_.add(sum,
                             turn_q ? appell::dot(graph_, p, express(q, p.frame)) : appell::dot(graph_, express(p, q.frame), q));
        }
    return sum;
}

NodeId FrameTree::magnitude(const MixedVector& v) {
    if (v.parts.empty()) return graph_.constant(0);
    const Vec3 whole = express(v, v.parts.front().frame);
    return graph_.make(Op::Sqrt, appell::dot(graph_, whole, whole));
}

MixedVector FrameTree::cross(const MixedVector& v, const MixedVector& w) {
    MixedVector sum;
    for (const Vec3& p : v.parts)
        for (const Vec3& q : w.parts) {
            const bool turn_q = nonzero_count(graph_, q) <= nonzero_count(graph_, p);
            const Vec3 product =
                turn_q ? appell::cross(graph_, p, express(q, p.frame)) : appell::cross(graph_, express(p, q.frame), q);
            if (!is_zero(graph_, product)) sum = appell::add(graph_, sum, MixedVector{{product}});
        }
    return sum;
}

}  // namespace appell
