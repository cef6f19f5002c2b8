// Models that use every way to turn a frame and to place a point, for tests of kinematics and dynamics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/builder.hpp"

namespace appell {

enum class SampleSpeeds { rates, mixed };

// A tree: a rheonomic turntable, a body on it by a body-fixed sequence, a second by a space-fixed one, a skew axis, a particle on
// a sliding offset in mixed bases, a spring, a damper, gravity, a torque between bodies and a generalized force.
inline std::shared_ptr<const Model> sample_tree(SampleSpeeds speeds) {
    ModelBuilder b("sample_tree");
    Graph& g = b.graph();
    const FrameId N = Model::newtonian();
    std::vector<Expr> q;
    for (int i = 1; i <= 8; ++i) q.push_back(b.coordinate("q" + std::to_string(i), 0.1 * i));
    const Expr m1 = b.parameter("m1", 1.1), m2 = b.parameter("m2", 0.7), m3 = b.parameter("m3", 0.4), l = b.parameter("l", 0.9),
               k = b.parameter("k", 2), w = b.parameter("w", 0.6), c = b.parameter("c", 0.3), gravity = b.parameter("g", 9.81);
    const FrameId A = b.simple_frame("A", N, 2, (w * b.time() + q[0]).id);
    const FrameId B = b.frame("B", A, RotationSequence{true, {2, 0, 1}, {q[1].id, q[2].id, q[3].id}});
    const FrameId C = b.frame("C", B, RotationSequence{false, {0, 1, 0}, {q[4].id, (q[5] + 0.3).id, (0.5 * q[1]).id}});
    const FrameId C2 = b.simple_frame("C2", C, 1, g.constant(0.5));  // fixed in C: the axes C's inertia is given in
    const FrameId D = b.frame("D", A, SimpleRotation{{g.constant(1), g.constant(2), g.constant(-1)}, q[6].id});
    const PointId O = Model::origin();
    const PointId Bo = b.point("Bo", g.vadd(b.position(O), b.vector(A, l.id, g.constant(0.2), q[7].id)));
    const PointId Co = b.point("Co", g.vadd(g.vadd(b.position(Bo), b.vector(B, g.constant(0.1), l.id, g.constant(0))),
                                            b.vector(C, g.constant(0.3), g.constant(0), g.constant(0.2))));
    const PointId P = b.point(
        "P", g.vadd(b.position(Co), g.vadd(g.vscale((q[7] * q[6]).id, b.basis(D, 0)), g.vscale(sin(q[0]).id, b.basis(B, 2)))));
    const PointId Q = b.point("Q", g.vadd(b.position(Bo), b.vector(B, g.constant(0.4), g.constant(-0.1), g.constant(0.3))));
    const PointId Q2 = b.point("Q2", g.vadd(b.position(Co), b.vector(C, g.constant(0.25), g.constant(0), g.constant(0.125))));
    const auto inertia = [&](double xx, double yy, double zz, double xy, double yz, double zx) {
        return std::array<NodeId, 6>{g.constant(xx), g.constant(yy), g.constant(zz),
                                     g.constant(xy), g.constant(yz), g.constant(zx)};
    };
    b.body({"B", B, Bo, m1.id, inertia(2, 3, 4, 0.25, -0.125, 0.5), {}, {}, {}, {}});
    b.body({"C", C, Co, m2.id, inertia(1, 1.5, 1.25, 0.125, 0, 0), C2, Q2, {}, {}});
    b.particle("P", P, m3.id);
    b.load({GravityLoad{g.vscale(g.neg(gravity.id), b.basis(N, 2))}, "", {}});
    b.load({SpringLoad{P, Q, k.id, g.constant(0.25)}, "", {}});
    b.load({DamperLoad{P, Q, c.id}, "", {}});
    b.load({TorqueLoad{C, B, b.vector(B, c.id, q[1].id, g.constant(0))}, "", {}});
    b.load({ForceLoad{Q, B, b.vector(N, c.id, g.constant(0.2), (q[0] * q[1]).id)}, "", {}});
    b.load({PotentialLoad{(k * q[4] * q[4] * cos(q[5])).id}, "", {}});
    if (speeds == SampleSpeeds::mixed) {
        for (int axis = 0; axis < 3; ++axis) b.speed("w" + std::to_string(axis), g.dot(b.omega(B), b.basis(B, axis)));
        b.speed("v", g.dot(b.velocity(Bo), b.basis(A, 2)));
        b.speed("s1", (b.rate(4) + 2 * b.rate(5) + q[0]).id);
        b.speed("s2", (b.rate(4) - b.rate(5) * q[2]).id);
        b.speed("s3", (3 * b.rate(6) + b.rate(4) + b.time()).id);
        b.speed("s4", (b.rate(1) + 0.25 * b.rate(2)).id);
    }
    return std::make_shared<const Model>(std::move(*b.build()));
}

// A free body whose attitude is a quaternion, with direction cosines on top; speeds are the default ones.
inline std::shared_ptr<const Model> sample_quaternion() {
    ModelBuilder b("sample_quaternion");
    Graph& g = b.graph();
    for (const char* name : {"x", "y", "z", "e0", "e1", "e2", "e3", "a"}) b.coordinate(name, 0.5);
    const auto q = [&](std::size_t i) { return Expr{&g, g.symbol_node(b.model().coordinates[i].q)}; };
    const FrameId B = b.quaternion_frame("B", Model::newtonian(), {3, 4, 5, 6});
    const NodeId zero = g.constant(0), one = g.constant(1);
    const FrameId C = b.frame(
        "C", B, DirectionCosines{{cos(q(7)).id, zero, sin(q(7)).id, zero, one, zero, (-sin(q(7))).id, zero, cos(q(7)).id}});
    const PointId Bo =
        b.point("Bo", g.vadd(b.position(Model::origin()), b.vector(Model::newtonian(), q(0).id, q(1).id, q(2).id)));
    const PointId P = b.point("P", g.vadd(b.position(Bo), b.vector(C, one, zero, g.constant(0.5))));
    const std::array<NodeId, 6> inertia{one, g.constant(2), g.constant(2.5), g.constant(0.125), zero, zero};
    b.body({"B", B, Bo, b.parameter("m", 2).id, inertia, {}, {}, {}, {}});
    b.particle("P", P, b.parameter("mp", 0.5).id);
    b.load({GravityLoad{g.vscale(g.neg(b.parameter("g", 9.81).id), b.basis(Model::newtonian(), 2))}, "", {}});
    return std::make_shared<const Model>(std::move(*b.build()));
}

}  // namespace appell
