// The first gallery against closed forms and conserved quantities. The closed forms are written out here from the sources and
// from elementary mechanics; nothing of the derivation is used.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// P1: 000 eq. 34 with sigma2 = sigma4 = 0, m1 = 1, m2 = 2, s1 = s3 = 1, at every row; the paper's tolerances
TEST(PerpendicularPucks, MultiplierIsEquation34AtEveryRow) {
    const TextRun r = run_text(gallery_text("perpendicular_pucks"));
    ASSERT_EQ(r.run.rows(), 1001u);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double u1 = r.at(i, "u1"), u2 = r.at(i, "u2"), u3 = r.at(i, "u3"), u4 = r.at(i, "u4");
        const double lambda = -(1 * u1 + 2 * u3) / (1 * (u1 * u1 + u2 * u2) + 2 * (u3 * u3 + u4 * u4));
        EXPECT_NEAR(r.at(i, "lambda(perpendicular)"), lambda, 4e-15 * (1 + std::abs(lambda)));  // a few roundings of one quotient
        EXPECT_LT(std::abs(r.at(i, "cosine")), 1e-12);
    }
    EXPECT_LT(r.run.summary.velocity_scaled, 1e-12);
}

// The constraint is homogeneous and scleronomic: its force has power 2 lambda phi = 0, so that the energy is the work of s1 and
// s3.
TEST(PerpendicularPucks, ConstraintForcesDoNoWork) {
    const TextRun r = run_text(gallery_text("perpendicular_pucks"));
    const double start = r.at(0, "energy");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double work = (r.at(i, "x1") - 1) + (r.at(i, "x2") - 1);
        EXPECT_NEAR(r.at(i, "energy") - start, work, 1e-5);  // rtol 1e-7 on energies up to 50 J over 20 steps
    }
}

TEST(PerpendicularPucks, ATighterRunGivesTheSamePath) {
    const TextRun r = run_text(gallery_text("perpendicular_pucks"));
    RunOptions tight;
    tight.rtol = tight.atol = 1e-12;
    const TextRun s = run_text(gallery_text("perpendicular_pucks"), tight);
    for (const char* name : {"x1", "y1", "x2", "y2"}) EXPECT_NEAR(r.at(1000, name), s.at(1000, name), 1e-5);
}

// P5: lambda = m g / (1 + a^2) always (000 eq. 65); the horizontal speed decreases linearly by g a / (1 + a^2) (eqs. 66, 67)
TEST(AppellsParticle, FollowsTheClosedForm) {
    const TextRun r = run_text(gallery_text("appells_particle"));
    const double g = 9.81, a = 0.5, w0 = 5;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i), w = w0 - g * a / (1 + a * a) * t;
        EXPECT_NEAR(r.at(i, "lambda(slope)"), g / (1 + a * a), 1e-12);
        EXPECT_NEAR(r.at(i, "u1"), 0.6 * w, 1e-9);
        EXPECT_NEAR(r.at(i, "u2"), 0.8 * w, 1e-9);
        EXPECT_NEAR(r.at(i, "u3"), a * w, 1e-9);
        EXPECT_NEAR(r.at(i, "z"), a * (w0 * t - g * a / (1 + a * a) * t * t / 2), 1e-9);
    }
}

// Ascending, it stops at t = w0 (1 + a^2) / (g a): a true singularity, where the run must end by name and keep its rows
TEST(AppellsParticle, EndsByNameWhereItStops) {
    for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
        Derivation d = derive_text(gallery_text("appells_particle"));
        RunOptions longer;
        longer.until = 3;
        longer.rtol = longer.atol = tolerance;
        const auto r = run(d, longer);
        ASSERT_TRUE(r.has_value());
        EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << render(d.diagnostics, d.sources);
        EXPECT_EQ(r->summary.loss, RowLoss::turns);
        EXPECT_NEAR(r->summary.t_end, 5 * 1.25 / (9.81 * 0.5), 1e-3);
        EXPECT_EQ(r->rows(), 128u);  // t = 0 .. 1.27 s
        EXPECT_LT(r->summary.steps, 200u);
    }
}

// Its velocity goes straight through the tip of the cone, and the gradient of its row has the same limit from both sides.
TEST(AppellsParticle, PassesTheTipOfItsConeWithNoTolerance) {
    for (const double tolerance : {1e-5, 1e-7, 1e-10}) {
        ReadOptions read;
        read.set["u3"] = 5;
        Derivation d = derive_text(gallery_text("appells_particle_any_force"), read);
        RunOptions options;
        options.rtol = options.atol = tolerance;
        const auto result = run(d, options);
        ASSERT_TRUE(result.has_value());
        EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << tolerance;
        EXPECT_NEAR(result->summary.t_end, 0.9918295, 1e-2) << tolerance;
        EXPECT_LT(result->summary.t_end, 0.9919) << tolerance;
    }
}

// The skate on an incline, thrown with spin w and no speed: x = (g sin s / (2 w^2)) sin^2(w t), the classical cycloid.
TEST(Skate, DescribesACycloid) {
    const TextRun r = run_text(gallery_text("skate"));
    const double k = 9.81 * std::sin(M_PI / 18), w = 1;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i), s = std::sin(w * t);
        EXPECT_NEAR(r.at(i, "x"), k / (2 * w * w) * s * s, 2e-8);
        EXPECT_NEAR(r.at(i, "y"), k / (2 * w * w) * (w * t - 0.5 * std::sin(2 * w * t)), 2e-8);
        EXPECT_NEAR(r.at(i, "theta"), w * t, 1e-9);
    }
}

// L3: with the thruster off, body-fixed speeds of a free body are those of a straight motion seen from a turning frame
TEST(PlanarBody, MovesStraightWithoutForce) {
    ReadOptions off;
    off.set["F"] = 0;
    const TextRun r = run_text(gallery_text("planar_body"), {}, off);
    const double angle = M_PI / 9;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i);
        EXPECT_NEAR(r.at(i, "q1"), 0.5 * std::cos(angle) * t, 1e-6);  // rtol 1e-8 over 150 steps
        EXPECT_NEAR(r.at(i, "q2"), 0.5 * std::sin(angle) * t, 1e-6);
    }
}

TEST(DoublePendulum, EnergyErrorFollowsTheTolerance) {
    double previous = 1;
    for (const double rtol : {1e-6, 1e-8, 1e-10}) {
        RunOptions options;
        options.rtol = options.atol = rtol;
        options.until = 5;
        const TextRun r = run_text(gallery_text("double_pendulum"), options);
        const double change = r.run.energy.largest_change / r.run.energy.largest;
        EXPECT_LT(change, 1000 * rtol);    // the promise of the design: at most a thousand times rtol ...
        EXPECT_LT(change, previous / 10);  // ... and proportional to it
        previous = change;
    }
}

// A torque-free body keeps its kinetic energy and the vector of its angular momentum in N
TEST(FreeBody, KeepsItsIntegrals) {
    const TextRun r = run_text(gallery_text("free_body"));
    const double I[3] = {1, 2, 3};
    double start[3] = {};
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double e0 = r.at(i, "e0"), e1 = r.at(i, "e1"), e2 = r.at(i, "e2"), e3 = r.at(i, "e3");
        EXPECT_NEAR(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3, 1, 1e-14);
        const double h[3] = {I[0] * r.at(i, "w1"), I[1] * r.at(i, "w2"), I[2] * r.at(i, "w3")};
        // body to N by the quaternion product e h e*
        const double c[3] = {e2 * h[2] - e3 * h[1], e3 * h[0] - e1 * h[2], e1 * h[1] - e2 * h[0]};
        const double e[3] = {e1, e2, e3};
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            const double H = h[a] + 2 * (e0 * c[a] + e[b] * c[d] - e[d] * c[b]);
            if (i == 0) start[a] = H;
            EXPECT_NEAR(H, start[a], 1e-7);  // 1000 times rtol times the momentum of 4
        }
        EXPECT_NEAR(r.at(i, "kinetic"), r.at(0, "kinetic"), 4e-9);
    }
}

// Rolling disk: energy is kept; the contact point's material velocity vanishes; a steady turn satisfies the textbook balance
TEST(RollingDisk, KeepsEnergyAndContact) {
    const TextRun r = run_text(gallery_text("rolling_disk"));
    EXPECT_LT(r.run.energy.largest_change / r.run.energy.largest, 1e-7);
    EXPECT_LT(r.run.summary.velocity_scaled, 1e-12);
}

// Steady turning of a thin disk at constant lean: with lean a from the vertical (positive by the model's axes), yaw rate p and
// spin rate s constant, the lean equation of a thin uniform disk reads  4 g sin a + 5 r p^2 sin a cos a + 6 r p s cos a = 0
// (Routh; here from the balance of moments about the contact point). Start there and the lean must stay.
TEST(RollingDisk, SteadyTurnStays) {
    const double r0 = 0.5, g = 9.81, a = 15 * M_PI / 180, p = -0.8;
    const double s = -(4 * g * std::sin(a) + 5 * r0 * p * p * std::sin(a) * std::cos(a)) / (6 * r0 * p * std::cos(a));
    ReadOptions start;
    start.set["yaw'"] = p;
    start.set["spin'"] = s;
    start.set["x'"] = r0 * s;
    const TextRun r = run_text(gallery_text("rolling_disk"), {}, start);
    for (std::size_t i = 0; i < r.run.rows(); ++i) EXPECT_NEAR(r.at(i, "lean"), a, 1e-6);
}

// B2: 003 eqs. 121, 122 with l0 = 1 hold at every row: u1' = -2 x (g + 2 u1^2) / (1 + 4 x^2); the energy (123) is kept
TEST(SlidingParticle, ObeysTheSourcesEquations) {
    const TextRun r = run_text(gallery_text("sliding_particle"));
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double x = r.at(i, "x"), u1 = r.at(i, "u1");
        const double ud1 = -2 * x * (9.81 + 2 * u1 * u1) / (1 + 4 * x * x);
        EXPECT_NEAR(r.at(i, "lambda(surface)") * 2 * x, ud1, 1e-11);  // m u1' = 2 x lambda
        EXPECT_NEAR(r.at(i, "E"), r.at(0, "E"), 1e-6);
    }
    EXPECT_LT(r.run.summary.position_scaled, 1e-12);
    EXPECT_LT(r.run.summary.velocity_scaled, 1e-12);
}

// Small swings of the pendulum: period 2 pi sqrt(l/g) (1 + theta0^2/16 + 11 theta0^4/3072)
TEST(SimplePendulum, HasTheTextbookPeriod) {
    const TextRun r = run_text(gallery_text("simple_pendulum"));
    const double theta0 = M_PI / 6;
    const double period = 2 * M_PI * std::sqrt(1 / 9.81) * (1 + theta0 * theta0 / 16 + 11 * std::pow(theta0, 4) / 3072);
    double first = 0, last = 0;
    int crossings = 0;
    for (std::size_t i = 1; i < r.run.rows(); ++i) {
        const double a = r.at(i - 1, "theta"), b = r.at(i, "theta");
        if (a > 0 && b <= 0) {
            const double t = r.run.t(i - 1) + a / (a - b) * 0.01;
            if (crossings == 0) first = t;
            last = t;
            ++crossings;
        }
    }
    EXPECT_NEAR((last - first) / (crossings - 1), period, 2e-5 * period);  // the series' next term is 1e-5
}

}  // namespace
}  // namespace appell
