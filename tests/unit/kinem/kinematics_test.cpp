// Velocities against numerical derivatives of positions, angular velocities against rotation matrices, accelerations against
// derivatives of velocities, partial velocities against derivatives by the speeds; all by the complex step, so that tolerances
// are round-off times the size of the expressions.
#include "kinem/kinematics.hpp"

#include <gtest/gtest.h>

#include "support/random_state.hpp"
#include "support/sample_models.hpp"

namespace appell {
namespace {

constexpr double k_round_off = 1e-12;  // a few hundred operations of order ten on numbers of order one

class KinematicsOf : public ::testing::TestWithParam<int> {
protected:
    static std::shared_ptr<const Model> model() {
        switch (GetParam()) {
            case 0: return sample_tree(SampleSpeeds::rates);
            case 1: return sample_tree(SampleSpeeds::mixed);
            default: return sample_quaternion();
        }
    }
    void SetUp() override {
        auto derived = derive_dynamics(model());
        ASSERT_TRUE(derived.ok()) << render(derived.diagnostics, SourceSet{});
        d_ = std::move(*derived);
    }
    [[nodiscard]] Vec3 in_newtonian(const Vec3& v) { return d_.kinematics->frames().express(v, Model::newtonian()); }
    ConstrainedDynamics d_;
};

TEST_P(KinematicsOf, VelocityIsTheDerivativeOfPosition) {
    Kinematics& kin = *d_.kinematics;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        for (std::size_t i = 0; i < d_.model->points.size(); ++i) {
            const Vec3 p = kin.frames().express(kin.position(PointId(i)), Model::newtonian());
            const Vec3 v = in_newtonian(kin.velocity(PointId(i)));
            const auto s = random_state(*d_.model, seed);
            const auto moved = along_motion(d_, s, {});
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_NEAR(moved(d_.graph(), p.c[c]).imag() / k_complex_step, s(d_.graph(), v.c[c]), k_round_off)
                    << "point " << i;
        }
    }
}

TEST_P(KinematicsOf, AngularVelocityIsThatOfTheRotationMatrix) {
    Kinematics& kin = *d_.kinematics;
    const auto s = random_state(*d_.model, 7);
    for (std::size_t i = 1; i < d_.model->frames.size(); ++i) {
        const Matrix3 R = kin.frames().rotation(Model::newtonian(), FrameId(i));
        const auto s2 = random_state(*d_.model, 7);
        const auto moved = along_motion(d_, s2, {});
        double r[9], rd[9];
        for (std::size_t k = 0; k < 9; ++k) {
            r[k] = s2(d_.graph(), R[k]);
            rd[k] = moved(d_.graph(), R[k]).imag() / k_complex_step;
        }
        for (int a = 0; a < 3; ++a) {
            // w_a = (R' Rdot)_(c, b) with (a, b, c) cyclic
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            double w = 0, unit = 0;
            for (int k = 0; k < 3; ++k) {
                w += r[3 * k + c] * rd[3 * k + b];
                unit += r[3 * k + a] * r[3 * k + a];
            }
            EXPECT_NEAR(unit, 1, k_round_off);
            EXPECT_NEAR(w, s(d_.graph(), kin.omega(FrameId(i)).c[static_cast<std::size_t>(a)]), k_round_off) << "frame " << i;
        }
    }
}

TEST_P(KinematicsOf, AccelerationIsTheDerivativeOfVelocity) {
    Kinematics& kin = *d_.kinematics;
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    std::mt19937 random(3);
    std::vector<double> ud;
    for (std::size_t i = 0; i < m.speeds.size(); ++i) ud.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
    for (std::size_t i = 0; i < m.points.size(); ++i) {
        const Vec3 v = in_newtonian(kin.velocity(PointId(i)));
        Vec3 a = kin.acceleration_bias(PointId(i));  // plus the sum of partial velocities times u'
        for (const PartialVelocity& p : kin.partial_velocities(PointId(i))) a = add(g, a, scale(g, g.constant(ud[p.speed]), p.v));
        a = in_newtonian(a);
        const auto s = random_state(m, 11);
        const auto moved = along_motion(d_, s, ud);
        for (std::size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(moved(g, v.c[c]).imag() / k_complex_step, s(g, a.c[c]), 10 * k_round_off) << "point " << i;
    }
}

TEST_P(KinematicsOf, PartialVelocitiesAreDerivativesBySpeeds) {
    Kinematics& kin = *d_.kinematics;
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    const auto s = random_state(m, 13);
    for (std::size_t r = 0; r < m.speeds.size(); ++r) {
        State<std::complex<double>> moved;
        for (const double v : s.values) moved.values.emplace_back(v);
        moved.values[m.speeds[r].u.index()] += std::complex<double>(0, k_complex_step);
        const auto check = [&](const Vec3& v, std::span<const PartialVelocity> partials) {
            for (std::size_t c = 0; c < 3; ++c) {
                double expected = 0;
                for (const PartialVelocity& p : partials)
                    if (p.speed == r) expected = s(g, p.v.c[c]);
                EXPECT_NEAR(moved(g, v.c[c]).imag() / k_complex_step, expected, k_round_off);
            }
        };
        for (std::size_t i = 0; i < m.points.size(); ++i) check(kin.velocity(PointId(i)), kin.partial_velocities(PointId(i)));
        for (std::size_t i = 0; i < m.frames.size(); ++i) check(kin.omega(FrameId(i)), kin.partial_omegas(FrameId(i)));
    }
}

TEST_P(KinematicsOf, DefinitionsGiveBackTheSpeeds) {
    // u -> q' = K u + k -> the definition of u, resolved, is u again
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    for (unsigned seed = 21; seed < 26; ++seed)
        for (const Speed& speed : m.speeds) {
            if (g.symbol(speed.u).name.starts_with("w_")) continue;  // rates of quaternions have no q' of their own
            const NodeId resolved = d_.kinematics->resolve(speed.definition);
            const auto s = random_state(m, seed);
            EXPECT_NEAR(s(g, resolved), s.values[speed.u.index()], 10 * k_round_off) << speed.name;
        }
}

TEST_P(KinematicsOf, KIsSparseAndRecomposesTheRates) {
    Graph& g = d_.graph();
    const Model& m = *d_.model;
    const auto s = random_state(m, 31);
    std::vector<double> qd = s(g, d_.kinematics->k());
    for (const SparseEntry& e : d_.kinematics->K().entries) {
        EXPECT_FALSE(g.is_constant(e.value, 0));
        qd[e.row] += s(g, e.value) * s.values[m.speeds[e.column].u.index()];
    }
    const auto expected = s(g, d_.kinematics->coordinate_rates());
    for (std::size_t i = 0; i < qd.size(); ++i) EXPECT_NEAR(qd[i], expected[i], k_round_off);
}

INSTANTIATE_TEST_SUITE_P(Samples, KinematicsOf, ::testing::Values(0, 1, 2));

TEST(Speeds, BodyFixedComponentsStayWhatTheyAre) {
    // u1, u2 as components of vel(P) in B: the velocity is u1 B.x + u2 B.y, not a sum of sines and cosines
    ModelBuilder b("planar");
    Graph& g = b.graph();
    const Expr x = b.coordinate("x"), y = b.coordinate("y"), th = b.coordinate("th");
    const FrameId B = b.simple_frame("B", Model::newtonian(), 2, th.id);
    const PointId P = b.point("P", g.vadd(b.position(Model::origin()), b.vector(Model::newtonian(), x.id, y.id, g.constant(0))));
    const Expr u1 = b.speed("u1", g.dot(b.velocity(P), b.basis(B, 0)));
    const Expr u2 = b.speed("u2", g.dot(b.velocity(P), b.basis(B, 1)));
    b.speed("u3", b.rate(2).id);
    b.particle("P", P, b.parameter("m", 1).id);
    auto kin = Kinematics::derive(std::make_shared<const Model>(std::move(*b.build())));
    ASSERT_TRUE(kin.ok());
    const Vec3& v = (*kin)->velocity(P);
    EXPECT_EQ(v.frame, B);
    EXPECT_EQ(v.c[0], u1.id);
    EXPECT_EQ(v.c[1], u2.id);
    // and K = [c -s; s c] with no division left
    for (const SparseEntry& e : (*kin)->K().entries) EXPECT_NE((*kin)->graph().op(e.value), Op::Div);
}

TEST(Speeds, SingularOnlyWhereTheDefinitionIs) {
    // u1 = c x' + s y', u2 = -s x' + c y': an elimination would divide by cos(th); the inverse must hold at th = pi/2 too
    ModelBuilder b("planar");
    Graph& g = b.graph();
    const Expr x = b.coordinate("x"), y = b.coordinate("y"), th = b.coordinate("th");
    (void)x, (void)y;
    b.speed("u1", (cos(th) * b.rate(0) + sin(th) * b.rate(1)).id);
    b.speed("u2", (-sin(th) * b.rate(0) + cos(th) * b.rate(1)).id);
    b.speed("u3", b.rate(2).id);
    b.particle("P", Model::origin(), b.parameter("m", 1).id);
    const auto model = std::make_shared<const Model>(std::move(*b.build()));
    auto kin = Kinematics::derive(model);
    ASSERT_TRUE(kin.ok());
    for (const double angle : {0.0, M_PI / 2, M_PI, 4.0}) {
        auto s = random_state(*model, 1);
        s.values[model->coordinates[2].q.index()] = angle;
        const auto qd = s(g, (*kin)->coordinate_rates());
        EXPECT_NEAR(
            qd[0],
            std::cos(angle) * s.values[model->speeds[0].u.index()] - std::sin(angle) * s.values[model->speeds[1].u.index()],
            1e-14);
    }
}

Diagnostics diagnose_speeds(const std::function<void(ModelBuilder&)>& define) {
    ModelBuilder b("two");
    Graph& g = b.graph();
    const Expr x = b.coordinate("x"), y = b.coordinate("y");
    b.particle("P", b.point("P", g.vadd(b.position(Model::origin()), b.vector(Model::newtonian(), x.id, y.id, g.constant(0)))),
               g.constant(1));
    define(b);
    return derive_dynamics(std::make_shared<const Model>(std::move(*b.build()))).diagnostics;
}

TEST(Speeds, WhatCanNotBeInvertedIsDiagnosed) {
    EXPECT_TRUE(diagnose_speeds([](ModelBuilder& b) { b.speed("u1", b.rate(0).id); }).has(Code::E0601));
    EXPECT_TRUE(diagnose_speeds([](ModelBuilder& b) {
                    b.speed("u1", (b.rate(0) * b.rate(1)).id);
                    b.speed("u2", b.rate(1).id);
                }).has(Code::E0602));
    // structurally: y' occurs nowhere
    EXPECT_TRUE(diagnose_speeds([](ModelBuilder& b) {
                    b.speed("u1", b.rate(0).id);
                    b.speed("u2", (2 * b.rate(0)).id);
                }).has(Code::E0603));
    // numerically: the determinant sin^2 + cos^2 - 1 of a disguised multiple vanishes for every state
    EXPECT_TRUE(diagnose_speeds([](ModelBuilder& b) {
                    const Expr x{&b.graph(), b.graph().symbol_node(b.model().coordinates[0].q)};
                    b.speed("u1", (b.rate(0) + b.rate(1)).id);
                    b.speed("u2", (sin(x) * (sin(x) * b.rate(0)) + cos(x) * (cos(x) * b.rate(0)) + b.rate(1)).id);
                }).has(Code::E0603));
}

}  // namespace
}  // namespace appell
