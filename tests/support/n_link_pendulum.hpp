// The planar n-link pendulum on a cart, built through the library: a cart of mass m0 on the x axis, massless links of length l_i
// with particles m_i at their ends, absolute angles q_i from the downward vertical, a force on the cart.
#pragma once

#include <string>

#include "model/builder.hpp"

namespace appell {

inline Result<Model> build_n_link_pendulum(int n) {
    ModelBuilder b("n_link_pendulum");
    Graph& g = b.graph();
    const FrameId N = Model::newtonian();
    const Expr gravity = b.parameter("g", 9.81);
    const Expr x = b.coordinate("x");
    std::vector<Expr> q, m, l;
    m.push_back(b.parameter("m0", 1));
    for (int i = 1; i <= n; ++i) {
        q.push_back(b.coordinate("q" + std::to_string(i), 0.1 * i));
        m.push_back(b.parameter("m" + std::to_string(i), 1 + 0.01 * i));
        l.push_back(b.parameter("l" + std::to_string(i), 1.0 / n));
    }
    PointId at = b.point("P0", g.vadd(b.position(Model::origin()), g.vscale(x.id, b.basis(N, 0))));
    b.particle("P0", at, m[0].id);
    b.load({ForceLoad{at, {}, g.vscale(b.input("F", 0).id, b.basis(N, 0))}, "", {}});
    for (int i = 1; i <= n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const FrameId B = b.simple_frame("B" + std::to_string(i), N, 2, q[k - 1].id);
        at = b.point("P" + std::to_string(i), g.vadd(b.position(at), g.vscale(g.neg(l[k - 1].id), b.basis(B, 1))));
        b.particle("P" + std::to_string(i), at, m[k].id);
    }
    b.load({GravityLoad{g.vscale(g.neg(gravity.id), b.basis(N, 1))}, "", {}});
    return b.build();
}

}  // namespace appell
