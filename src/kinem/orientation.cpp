#include "kinem/orientation.hpp"

#include <variant>

#include "expr/dependence.hpp"

namespace appell {

namespace {

// turn about basis axis 0, 1 or 2
Matrix3 axis_rotation(Graph& g, int axis, NodeId angle) {
    const NodeId c = g.make(Op::Cos, angle), s = g.make(Op::Sin, angle);
    Matrix3 R = identity(g);
    const auto i = static_cast<std::size_t>((axis + 1) % 3), j = static_cast<std::size_t>((axis + 2) % 3);
    R[3 * i + i] = c;
    R[3 * i + j] = g.neg(s);
    R[3 * j + i] = s;
    R[3 * j + j] = c;
    return R;
}

std::array<NodeId, 3> unit_axis(Graph& g, const std::array<NodeId, 3>& axis) {
    const Vec3 v{FrameId(0), axis};
    const NodeId length = g.make(Op::Sqrt, dot(g, v, v));
    return {g.div(axis[0], length), g.div(axis[1], length), g.div(axis[2], length)};
}

// Rodrigues: R = E cos + (1 - cos) e e' + sin [e]
Matrix3 general_rotation(Graph& g, const std::array<NodeId, 3>& e, NodeId angle) {
    const NodeId c = g.make(Op::Cos, angle), s = g.make(Op::Sin, angle), one = g.constant(1), versine = g.sub(one, c);
    Matrix3 R;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            NodeId entry = g.mul(versine, g.mul(e[i], e[j]));
            if (i == j) {
                entry = g.add(c, entry);
            } else {
                const std::size_t k = 3 - i - j;
                const NodeId turn = g.mul(s, e[k]);
                entry = (i + 1) % 3 == j ? g.sub(entry, turn) : g.add(entry, turn);
            }
            R[3 * i + j] = entry;
        }
    return R;
}

// basis axis of a constant unit axis, or -1
int basis_axis(const Graph& g, const std::array<NodeId, 3>& axis) {
    for (int i = 0; i < 3; ++i) {
        bool match = true;
        for (int j = 0; j < 3; ++j) match = match && g.is_constant(axis[static_cast<std::size_t>(j)], i == j ? 1 : 0);
        if (match) return i;
    }
    return -1;
}

// a space-fixed sequence is the body-fixed one in reverse order
struct BodySequence {
    std::array<int, 3> axes;
    std::array<NodeId, 3> angles;
};
BodySequence body_sequence(const RotationSequence& s) {
    if (s.body_fixed) return {s.axes, s.angles};
    return {{s.axes[2], s.axes[1], s.axes[0]}, {s.angles[2], s.angles[1], s.angles[0]}};
}

// S with R' = R S, so that S = [w] in the child's basis
std::array<NodeId, 3> from_matrix_rate(Graph& g, const Matrix3& R, TimeDerivative& rate) {
    const auto entry = [&](std::size_t i, std::size_t j) {  // sum_k R_ki R'_kj
        NodeId sum = g.constant(0);
        for (std::size_t k = 0; k < 3; ++k) sum = g.add(sum, g.mul(R[3 * k + i], rate(R[3 * k + j])));
        return sum;
    };
    return {entry(2, 1), entry(0, 2), entry(1, 0)};
}

}  // namespace

std::optional<std::size_t> common_axis(const Graph& g, const Orientation& orientation) {
    const auto* const simple = std::get_if<SimpleRotation>(&orientation);
    const int axis = simple != nullptr ? basis_axis(g, simple->axis) : -1;
    return axis < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(axis));
}

Matrix3 rotation_matrix(Graph& g, const Model& model, const Orientation& orientation) {
    if (const auto* simple = std::get_if<SimpleRotation>(&orientation)) {
        if (!simple->angle.valid()) return identity(g);  // the Newtonian frame
        const int axis = basis_axis(g, simple->axis);
        return axis >= 0 ? axis_rotation(g, axis, simple->angle) : general_rotation(g, unit_axis(g, simple->axis), simple->angle);
    }
    if (const auto* sequence = std::get_if<RotationSequence>(&orientation)) {
        const BodySequence s = body_sequence(*sequence);
        Matrix3 R = axis_rotation(g, s.axes[0], s.angles[0]);
        for (std::size_t i = 1; i < 3; ++i) R = multiply(g, R, axis_rotation(g, s.axes[i], s.angles[i]));
        return R;
    }
    if (const auto* quaternion = std::get_if<QuaternionRotation>(&orientation)) {
        // homogeneous form: a rotation for unit norm, which the run keeps
        std::array<Expr, 4> e;
        for (std::size_t i = 0; i < 4; ++i) e[i] = {&g, g.symbol_node(model.coordinates.at(quaternion->coordinates[i]).q)};
        const auto sq = [](Expr x) { return x * x; };
        return {(sq(e[0]) + sq(e[1]) - sq(e[2]) - sq(e[3])).id, (2 * (e[1] * e[2] - e[0] * e[3])).id,
                (2 * (e[1] * e[3] + e[0] * e[2])).id,           (2 * (e[1] * e[2] + e[0] * e[3])).id,
                (sq(e[0]) - sq(e[1]) + sq(e[2]) - sq(e[3])).id, (2 * (e[2] * e[3] - e[0] * e[1])).id,
                (2 * (e[1] * e[3] - e[0] * e[2])).id,           (2 * (e[2] * e[3] + e[0] * e[1])).id,
                (sq(e[0]) - sq(e[1]) - sq(e[2]) + sq(e[3])).id};
    }
    return std::get<DirectionCosines>(orientation).rows;
}

std::array<NodeId, 3> relative_angular_velocity(Graph& g, const Orientation& orientation, const Matrix3& R,
                                                TimeDerivative& rate) {
    if (const auto* simple = std::get_if<SimpleRotation>(&orientation)) {
        const NodeId zero = g.constant(0);
        if (!simple->angle.valid()) return {zero, zero, zero};
        for (const NodeId c : simple->axis)
            if (rate(c) != zero) return from_matrix_rate(g, R, rate);  // the axis itself turns
        const std::array<NodeId, 3> e = basis_axis(g, simple->axis) >= 0 ? simple->axis : unit_axis(g, simple->axis);
        const NodeId turn = rate(simple->angle);
        return {g.mul(e[0], turn), g.mul(e[1], turn), g.mul(e[2], turn)};
    }
    if (const auto* sequence = std::get_if<RotationSequence>(&orientation)) {
        // w = R3' R2' e1 a1' + R3' e2 a2' + e3 a3'
        const BodySequence s = body_sequence(*sequence);
        const NodeId zero = g.constant(0);
        std::array<NodeId, 3> w{zero, zero, zero};
        for (std::size_t i = 0; i < 3; ++i) {
            if (i > 0) w = multiply(g, transpose(axis_rotation(g, s.axes[i], s.angles[i])), w);
            NodeId& component = w[static_cast<std::size_t>(s.axes[i])];
            component = g.add(component, rate(s.angles[i]));
        }
        return w;
    }
    if (const auto* quaternion = std::get_if<QuaternionRotation>(&orientation)) {
        std::array<NodeId, 3> w;
        for (std::size_t i = 0; i < 3; ++i) w[i] = g.symbol_node(quaternion->rates[i]);
        return w;
    }
    return from_matrix_rate(g, R, rate);
}

}  // namespace appell
