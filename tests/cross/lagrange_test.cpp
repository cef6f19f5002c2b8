// Kane's M and f against Lagrange's equations formed from the energies by differentiation, against M summed from the partial
// velocities entry by entry, and against themselves under changes that must not matter.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/n_link_pendulum.hpp"
#include "support/random_state.hpp"
#include "support/sample_models.hpp"

namespace appell {
namespace {

ConstrainedDynamics derive_or_fail(std::shared_ptr<const Model> model) {
    auto derived = derive_dynamics(std::move(model));
    EXPECT_TRUE(derived.ok()) << render(derived.diagnostics, SourceSet{});
    return std::move(*derived);
}

Eigen::MatrixXd mass_matrix(const ConstrainedDynamics& d, const State<double>& s) {
    const auto n = static_cast<Eigen::Index>(d.model->speeds.size());
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
    for (const SparseEntry& e : d.M().entries) M(e.row, e.column) = M(e.column, e.row) = s(d.graph(), e.value);
    return M;
}

Eigen::VectorXd vector_of(const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

// Lagrange with u = q': (d/dt dT/du) - dT/dq + dV/dq = Q. Everything from T and V by graph derivatives.
TEST(Lagrange, AgreesWithKaneWithoutNonconservativeLoads) {
    // the sample without damper, torque and applied force: rebuild from the chain, which has gravity only
    auto built = build_n_link_pendulum(4);
    ASSERT_TRUE(built.ok());
    const ConstrainedDynamics d = derive_or_fail(std::make_shared<const Model>(std::move(*built)));
    Graph& g = d.graph();
    const Model& m = *d.model;
    std::vector<SymbolId> u, q;
    for (const Speed& s : m.speeds) u.push_back(s.u);
    for (const Coordinate& c : m.coordinates) q.push_back(c.q);
    const std::size_t n = u.size();
    std::vector<NodeId> momenta(n);
    for (std::size_t i = 0; i < n; ++i) momenta[i] = derivative(g, std::span(&d.kinetic_energy, 1), u[i]).front();
    for (unsigned seed = 1; seed <= 5; ++seed) {
        Eigen::MatrixXd M(n, n);
        Eigen::VectorXd f(n);
        std::vector<NodeId> rows;
        for (std::size_t i = 0; i < n; ++i) {
            const NodeId dT = derivative(g, std::span(&d.kinetic_energy, 1), q[i]).front();
            const NodeId dV = derivative(g, std::span(&d.potential_energy, 1), q[i]).front();
            NodeId right = g.sub(dT, dV);
            for (std::size_t j = 0; j < n; ++j) {
                rows.push_back(derivative(g, std::span(&momenta[i], 1), u[j]).front());
                right = g.sub(right, g.mul(derivative(g, std::span(&momenta[i], 1), q[j]).front(), g.symbol_node(u[j])));
            }
            rows.push_back(right);
        }
        auto s = random_state(m, seed);
        s.values[m.inputs.front().symbol.index()] = 0;
        const auto values = s(g, rows);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                M(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = values[i * (n + 1) + j];
            f(static_cast<Eigen::Index>(i)) = values[i * (n + 1) + n];
        }
        EXPECT_LT((M - mass_matrix(d, s)).norm(), 1e-12);
        EXPECT_LT((f - vector_of(s(g, d.f()))).norm(), 1e-11);
    }
}

// All loads included, rheonomic, bodies with full inertia: power balance. d/dt T = u . (f-part of loads) fails for rheonomic
// systems, so the generalized forces of the loads are compared with -dV/dq and virtual power instead; here: Lagrange with Q
// computed as the derivative of the loads' power by the speeds.
TEST(Lagrange, AgreesWithKaneForARheonomicTree) {
    const ConstrainedDynamics d = derive_or_fail(sample_tree(SampleSpeeds::rates));
    Graph& g = d.graph();
    const Model& m = *d.model;
    Kinematics& kin = *d.kinematics;
    const std::size_t n = m.speeds.size();
    const auto by = [&](NodeId e, SymbolId s) { return derivative(g, std::span(&e, 1), s).front(); };
    // power of damper, torque pair and force, written out from positions and velocities alone
    const auto find_point = [&](const std::string& name) {
        for (std::size_t i = 0; i < m.points.size(); ++i)
            if (m.points[i].name == name) return PointId(i);
        return PointId{};
    };
    const auto find_frame = [&](const std::string& name) {
        for (std::size_t i = 0; i < m.frames.size(); ++i)
            if (m.frames[i].name == name) return FrameId(i);
        return FrameId{};
    };
    const auto parameter = [&](const std::string& name) {
        for (const Parameter& p : m.parameters)
            if (p.name == name) return g.symbol_node(p.symbol);
        return NodeId{};
    };
    const auto q = [&](std::size_t i) { return g.symbol_node(m.coordinates[i].q); };
    const PointId P = find_point("P"), Q = find_point("Q");
    const FrameId B = find_frame("B"), C = find_frame("C"), N = Model::newtonian();
    const auto in_N = [&](const Vec3& v) { return kin.frames().express(v, N); };
    const Vec3 line = sub(g, kin.frames().express(kin.position(P), N), kin.frames().express(kin.position(Q), N));
    const NodeId distance = g.make(Op::Sqrt, dot(g, line, line));
    const NodeId closing = kin.rate_bias(distance);  // its rate, by differentiation
    // Rayleigh: the damper's generalized force is -d(c/2 rate^2)/du
    const NodeId dissipation = g.mul(g.constant(0.5), g.mul(parameter("c"), g.pow(closing, 2)));
    const Vec3 torque = in_N(Vec3{B, {parameter("c"), q(1), g.constant(0)}});
    const Vec3 force{N, {parameter("c"), g.constant(0.2), g.mul(q(0), q(1))}};
    const NodeId power =
        g.add(dot(g, torque, sub(g, in_N(kin.omega(C)), in_N(kin.omega(B)))), dot(g, force, in_N(kin.velocity(Q))));
    std::vector<NodeId> equations;  // n rows of [M | f] by Lagrange
    for (std::size_t i = 0; i < n; ++i) {
        const SymbolId ui = m.speeds[i].u;
        const NodeId momentum = by(d.kinetic_energy, ui);
        for (std::size_t j = 0; j < n; ++j) equations.push_back(by(momentum, m.speeds[j].u));
        NodeId right = g.sub(by(d.kinetic_energy, m.coordinates[i].q), by(d.potential_energy, m.coordinates[i].q));
        right = g.sub(right, by(dissipation, ui));
        right = g.add(right, by(power, ui));
        equations.push_back(g.sub(right, kin.rate_bias(momentum)));
    }
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const auto s = random_state(m, seed);
        const auto values = s(g, equations);
        const Eigen::MatrixXd M = mass_matrix(d, s);
        const auto f = s(g, d.f());
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                EXPECT_NEAR(values[i * (n + 1) + j], M(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), 1e-11);
            EXPECT_NEAR(values[i * (n + 1) + n], f[i], 1e-10) << m.speeds[i].name;
        }
    }
}

TEST(MassMatrix, IsTheSumOverPartialVelocitiesInBothOrders) {
    for (const auto& model : {sample_tree(SampleSpeeds::mixed), sample_quaternion()}) {
        const ConstrainedDynamics d = derive_or_fail(model);
        Graph& g = d.graph();
        Kinematics& kin = *d.kinematics;
        const std::size_t n = model->speeds.size();
        // M_rs and M_sr written separately: v_r . (m v_s) and v_s . (m v_r), w_r . (I w_s) and w_s . (I w_r)
        std::vector<NodeId> separate(n * n, g.constant(0));
        const auto add_pairs = [&](std::span<const PartialVelocity> partials, const std::function<Vec3(const Vec3&)>& momentum) {
            for (const PartialVelocity& r : partials)
                for (const PartialVelocity& s : partials) {
                    NodeId& entry = separate[r.speed * n + s.speed];
                    entry = g.add(entry, dot(g, r.v, momentum(s.v)));
                }
        };
        for (const Particle& p : model->particles)
            add_pairs(kin.partial_velocities(p.point), [&](const Vec3& v) { return scale(g, p.mass, v); });
        for (const Body& b : model->bodies) {
            add_pairs(kin.partial_velocities(b.center), [&](const Vec3& v) { return scale(g, b.mass, v); });
            Matrix3 I{b.inertia[0], b.inertia[3], b.inertia[5], b.inertia[3], b.inertia[1],
                      b.inertia[4], b.inertia[5], b.inertia[4], b.inertia[2]};
            const Matrix3 R = kin.frames().rotation(b.frame, b.inertia_frame);
            I = multiply(g, multiply(g, R, I), transpose(R));
            // parallel axes: the sample gives C's inertia about another point
            const Vec3 arm = sub(g, kin.frames().express(kin.position(b.center), b.frame),
                                 kin.frames().express(kin.position(b.inertia_point), b.frame));
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 3; ++j) {
                    const NodeId diagonal = i == j ? dot(g, arm, arm) : g.constant(0);
                    I[3 * i + j] = g.sub(I[3 * i + j], g.mul(b.mass, g.sub(diagonal, g.mul(arm.c[i], arm.c[j]))));
                }
            add_pairs(kin.partial_omegas(b.frame), [&](const Vec3& w) { return Vec3{w.frame, multiply(g, I, w.c)}; });
        }
        for (unsigned seed = 1; seed <= 3; ++seed) {
            const auto s = random_state(*model, seed);
            const Eigen::MatrixXd M = mass_matrix(d, s);
            const auto values = s(g, separate);
            for (std::size_t r = 0; r < n; ++r)
                for (std::size_t c = 0; c < n; ++c) {
                    EXPECT_NEAR(values[r * n + c], values[c * n + r], 1e-12);
                    EXPECT_NEAR(values[r * n + c], M(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)), 1e-12);
                }
            EXPECT_GT(M.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0);
        }
    }
}

TEST(Metamorphic, OtherSpeedsGiveTheSameAccelerations) {
    // the same tree with u = q' and with mixed speeds: q'' = K u' + (d/dt K) u + k' must agree
    const ConstrainedDynamics plain = derive_or_fail(sample_tree(SampleSpeeds::rates));
    const ConstrainedDynamics mixed = derive_or_fail(sample_tree(SampleSpeeds::mixed));
    for (unsigned seed = 1; seed <= 3; ++seed) {
        auto s = random_state(*plain.model, seed);
        const Eigen::VectorXd qdd = mass_matrix(plain, s).ldlt().solve(vector_of(s(plain.graph(), plain.f())));
        // the same q, q', parameters, t in the other model
        auto r = random_state(*mixed.model, seed);
        for (std::size_t i = 0; i < plain.model->coordinates.size(); ++i) {
            r.values[mixed.model->coordinates[i].q.index()] = s.values[plain.model->coordinates[i].q.index()];
            r.values[mixed.model->coordinates[i].rate.index()] = s.values[plain.model->speeds[i].u.index()];
        }
        for (std::size_t i = 0; i < plain.model->parameters.size(); ++i)
            r.values[mixed.model->parameters[i].symbol.index()] = s.values[plain.model->parameters[i].symbol.index()];
        r.values[mixed.model->time.index()] = s.values[plain.model->time.index()];
        const auto u = r(mixed.graph(), mixed.kinematics->speed_definitions());
        for (std::size_t i = 0; i < u.size(); ++i) r.values[mixed.model->speeds[i].u.index()] = u[i];
        const Eigen::VectorXd ud = mass_matrix(mixed, r).ldlt().solve(vector_of(r(mixed.graph(), mixed.f())));
        std::vector<NodeId> second;
        for (const NodeId rate : mixed.kinematics->coordinate_rates()) second.push_back(mixed.kinematics->rate(rate));
        for (std::size_t i = 0; i < u.size(); ++i)
            r.values[mixed.model->speeds[i].rate.index()] = ud[static_cast<Eigen::Index>(i)];
        const auto qdd_mixed = r(mixed.graph(), second);
        for (std::size_t i = 0; i < qdd_mixed.size(); ++i)
            EXPECT_NEAR(qdd_mixed[i], qdd[static_cast<Eigen::Index>(i)], 1e-8 * (1 + qdd.norm()))
                << i;  // conditioning of M and K: about 1e4
    }
}

TEST(NLinkPendulum, CountsAndMemoryStayQuadratic) {
    std::size_t previous = 0;
    for (const int n : {25, 50, 100, 200}) {
        auto built = build_n_link_pendulum(n);
        ASSERT_TRUE(built.ok());
        const ConstrainedDynamics d = derive_or_fail(std::make_shared<const Model>(std::move(*built)));
        const std::size_t nodes = d.graph().size();
        if (previous > 0) {
            EXPECT_LT(nodes, 4.2 * static_cast<double>(previous)) << n;
        }
        EXPECT_EQ(d.M().entries.size(), static_cast<std::size_t>((n + 1) * (n + 2) / 2));
        previous = nodes;
    }
    EXPECT_LT(previous, 4'000'000u);
}

}  // namespace
}  // namespace appell
