// Runs whose dependent coordinates and speeds are solved from the rows: closed forms, round-off, branches, and where the choice
// of dependent ones fails.
#include "sim/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/simulate.hpp"
#include "support/hand_motion.hpp"

namespace appell {
namespace {

using test::build_motion;
using test::build_reduced_motion;
using test::HandModel;
using test::pendulum;

constexpr double k_gravity = 9.81;
constexpr double k_epsilon = std::numeric_limits<double>::epsilon();

struct Trajectory {
    std::vector<double> t;
    std::vector<std::vector<double>> rows;
    SimulateSummary summary;
};

Trajectory run(const Motion& motion, const std::vector<double>& x0, double t1, double every, double tolerance) {
    Trajectory out;
    SimulateOptions options;
    options.t1 = t1;
    options.every = every;
    options.rtol = options.atol = tolerance;
    out.summary = simulate(motion, x0, options, [&](double t, std::span<const double> row) {
        out.t.push_back(t);
        out.rows.emplace_back(row.begin(), row.end());
    });
    return out;
}

TEST(Reduction, PendulumInXKeepsItsLengthToRoundOff) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_reduced_motion(m, {1}, {1});
    const double angle = 0.9, period = 4 * std::sqrt(1 / k_gravity) * std::comp_ellint_1(std::sin(angle / 2));
    const std::vector<double> x0{std::sin(angle), -std::cos(angle), 0, 0};
    const Trajectory r = run(motion, x0, 3 * period, period / 50, 1e-10);
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    for (const auto& row : r.rows) {
        // y is the number next to the root, or its neighbour: x^2, y^2, the sum and y itself are rounded
        EXPECT_LT(std::abs(row[0] * row[0] + row[1] * row[1] - 1), 4 * k_epsilon);
        EXPECT_LE(std::abs(row[0] * row[2] + row[1] * row[3]), 4 * k_epsilon * std::hypot(row[2], row[3]));
        EXPECT_NEAR(2 * row[4], k_gravity * row[1] - (row[2] * row[2] + row[3] * row[3]), 1e-12);
        EXPECT_LT(row[1], 0);
    }
    for (const std::size_t k : {50u, 100u, 150u})
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(r.rows[k][i], x0[i], 2e-6) << "period " << k / 50;
    EXPECT_EQ(r.summary.projections, 0u);
}

// whatever the method, the state it integrates is the reduced one, forwards and backwards
TEST(Reduction, EveryIntegrator) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_reduced_motion(m, {1}, {1});
    const double angle = 0.9, period = 4 * std::sqrt(1 / k_gravity) * std::comp_ellint_1(std::sin(angle / 2));
    const std::vector<double> x0{std::sin(angle), -std::cos(angle), 0, 0};
    for (const IntegratorInfo& row : integrator_table())
        for (const double direction : {1, -1}) {
            SimulateOptions options;
            options.integrator = row.kind;
            options.t1 = direction * period;
            options.every = period / 50;
            options.rtol = options.atol = 1e-10;
            options.step = period / 1999;  // rows are inside the steps
            double residual = 0;
            std::vector<double> last;
            const SimulateSummary s = simulate(motion, x0, options, [&](double, std::span<const double> x) {
                residual = std::max(residual, std::abs(x[0] * x[0] + x[1] * x[1] - 1));
                last.assign(x.begin(), x.end());
            });
            ASSERT_EQ(s.reason, EndReason::finished) << row.name;
            EXPECT_LT(residual, 4 * k_epsilon) << row.name;
            for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(last[i], x0[i], 2e-6) << row.name;
        }
}

TEST(Reduction, TheIntegratorSeesTheIndependentEntriesOnly) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_reduced_motion(m, {1}, {1});
    struct Whole final : FirstOrderSystem {
        [[nodiscard]] std::size_t size() const override { return 4; }
        RateStatus rate(double, std::span<const double> x, std::span<double> xd) override {
            seen.assign(x.begin(), x.end());
            xd[0] = x[2];
            xd[1] = x[3];
            xd[2] = -x[0];
            xd[3] = 7;
            return RateStatus::ok;
        }
        std::vector<double> seen;
    } whole;
    ReducedRate rate(motion, whole);
    EXPECT_EQ(rate.size(), 2u);
    const std::vector<double> x0{0.6, -0.8, 0.4, 0.3};
    ASSERT_EQ(rate.start(0, x0), RateStatus::ok);
    // a function of t, the independent entries and the guess: what was asked before does not matter
    const std::vector<double> y{0.5, 0.2}, elsewhere{0.7, -1};
    std::vector<double> first(2), again(2), other(2);
    ASSERT_EQ(rate.rate(0, y, first), RateStatus::ok);
    const std::vector<double> seen = whole.seen;
    EXPECT_NEAR(seen[1], -std::sqrt(0.75), k_epsilon);
    EXPECT_NEAR(seen[3], 0.5 * 0.2 / std::sqrt(0.75), k_epsilon);
    EXPECT_EQ(first, (std::vector<double>{0.2, -0.5}));
    ASSERT_EQ(rate.rate(0.1, elsewhere, other), RateStatus::ok);
    ASSERT_EQ(rate.rate(0, y, again), RateStatus::ok);
    EXPECT_EQ(whole.seen, seen);
    EXPECT_EQ(first, again);
}

// u2^2 = 1 + u1^2 has two branches; each run stays on its own, with whatever tolerance, although u1 comes near zero again and
// again
TEST(Reduction, StaysOnTheBranchOfTheStart) {
    HandModel m(2);
    m.forces[0] = (-4.0 * m.Q(0)).id;
    m.forces[1] = m.g.constant(0.5);
    m.velocity.push_back((m.U(1) * m.U(1) - m.U(0) * m.U(0) - 1.0).id);
    const Motion motion = build_reduced_motion(m, {}, {1});
    for (const double sign : {1.0, -1.0})
        for (const double tolerance : {1e-2, 1e-4, 1e-10}) {
            const Trajectory r = run(motion, {1, 0, 0.2, sign * std::sqrt(1.04)}, 10, 0.05, tolerance);
            ASSERT_EQ(r.summary.reason, EndReason::finished) << sign << " " << tolerance;
            for (const auto& row : r.rows) {
                EXPECT_GE(sign * row[3], 1.0);
                EXPECT_LT(std::abs(row[3] * row[3] - row[2] * row[2] - 1), 4 * k_epsilon * row[3] * row[3]);
            }
        }
}

TEST(Reduction, AgreesWithTheWholeState) {
    // a particle in space on a paraboloid, with a row that couples its velocities
    HandModel m(3);
    m.masses = {1, 2, 0.5};
    m.forces[2] = m.g.constant(-3);
    m.position.push_back((m.Q(2) - m.Q(0) * m.Q(0) - 0.5 * (m.Q(1) * m.Q(1))).id);
    m.velocity.push_back((m.U(1) - (0.3 * m.Q(0) + 1.0) * m.U(0) + 0.1 * (m.U(2) * m.U(2))).id);
    const std::vector<double> x0{0.5, 0.2, 0.27, 0.3, 0.345, 0.369};
    const Trajectory whole = run(build_motion(m), x0, 5, 0.05, 1e-11);
    const Trajectory reduced = run(build_reduced_motion(m, {2}, {1, 2}), x0, 5, 0.05, 1e-11);
    ASSERT_EQ(whole.summary.reason, EndReason::finished);
    ASSERT_EQ(reduced.summary.reason, EndReason::finished);
    ASSERT_EQ(whole.rows.size(), reduced.rows.size());
    // two runs of some hundred steps at 1e-11
    for (std::size_t k = 0; k < whole.rows.size(); ++k)
        for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(reduced.rows[k][i], whole.rows[k][i], 2e-9) << k << " " << i;
    EXPECT_LT(reduced.summary.position_scaled, 4 * k_epsilon);
    EXPECT_LT(reduced.summary.velocity_scaled, 4 * k_epsilon);
}

TEST(Reduction, EndsWhereTheDependentEntriesLoseTheirShare) {
    // from 115 degrees the pendulum falls past the horizontal, where y no longer follows from x
    HandModel m = pendulum(k_gravity);
    const double angle = 2.0;
    const std::vector<double> x0{std::sin(angle), -std::cos(angle), 0, 0};
    const Trajectory reduced = run(build_reduced_motion(m, {1}, {1}), x0, 3, 0.01, 1e-10);
    EXPECT_EQ(reduced.summary.reason, EndReason::singular_partition);
    const Trajectory whole = run(build_motion(m), x0, 3, 0.01, 1e-10);
    // the share is |y|, from |cos 2| at the start to a thousandth of it
    EXPECT_NEAR(std::abs(reduced.summary.x_end[1]), 1e-3 * std::abs(std::cos(angle)), 1e-6);
    EXPECT_GT(reduced.summary.x_end[1], 0);
    ASSERT_GT(reduced.rows.size(), 10u);
    EXPECT_EQ(reduced.rows.size(), static_cast<std::size_t>(reduced.summary.t_end / 0.01) + 1);
    // what errors of some 1e-10 in x become in y
    for (std::size_t k = 0; k < reduced.rows.size(); ++k)
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(reduced.rows[k][i], whole.rows[k][i], 1e-6);
}

TEST(Reduction, RefusesAStartWhereTheChoiceFails) {
    HandModel m = pendulum(k_gravity);
    const Trajectory r = run(build_reduced_motion(m, {1}, {1}), {1, 0, 0, 0}, 1, 0.1, 1e-8);
    EXPECT_EQ(r.summary.reason, EndReason::singular_partition);
    EXPECT_TRUE(r.rows.empty());
    EXPECT_EQ(r.summary.steps, 0u);
}

TEST(Reduction, NothingIndependentIsLeft) {
    // both coordinates follow the clock: x^3 + x = sin 3t, y^2 = 1 + cos(t)/2
    HandModel m(2);
    const auto wave = [&](Op op, double frequency) { return Expr{&m.g, m.g.make(op, (frequency * m.time()).id)}; };
    m.position.push_back((m.Q(0) * m.Q(0) * m.Q(0) + m.Q(0) - wave(Op::Sin, 3)).id);
    m.position.push_back((m.Q(1) * m.Q(1) - 1.0 - 0.5 * wave(Op::Cos, 1)).id);
    const Trajectory r = run(build_reduced_motion(m, {0, 1}, {0, 1}), {0, std::sqrt(1.5), 3, 0}, 10, 0.1, 1e-8);
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    ASSERT_EQ(r.rows.size(), 101u);
    for (std::size_t k = 0; k < r.rows.size(); ++k) {
        const double t = r.t[k], y = std::sqrt(1 + 0.5 * std::cos(t)), x = r.rows[k][0];
        EXPECT_NEAR(x * x * x + x, std::sin(3 * t), 4 * k_epsilon);
        EXPECT_NEAR(r.rows[k][1], y, 4 * k_epsilon);
        EXPECT_NEAR(r.rows[k][2], 3 * std::cos(3 * t) / (3 * x * x + 1), 1e-14);
        EXPECT_NEAR(r.rows[k][3], -0.25 * std::sin(t) / y, 1e-15);
    }
}

TEST(Reduction, RunsBackwards) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_reduced_motion(m, {1}, {1});
    const std::vector<double> x0{0.6, -0.8, 0, 0};
    const Trajectory there = run(motion, x0, 2, 0, 1e-11);
    SimulateOptions options;
    options.t0 = 2;
    options.t1 = 0;
    options.rtol = options.atol = 1e-11;
    const SimulateSummary back = simulate(motion, there.summary.x_end, options, {});
    ASSERT_EQ(back.reason, EndReason::finished);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(back.x_end[i], x0[i], 1e-9);
}

TEST(Reduction, RowsLeftOutMustFollow) {
    // two rows, of which one is redundant at the start (u2 = 0 in both); later it is not, and the reduced state can not keep it
    HandModel m(3);
    m.forces[0] = m.g.constant(1);
    m.velocity.push_back((m.U(1) - 0.5 * (m.U(0) * m.U(0))).id);
    Motion motion = build_reduced_motion(m, {}, {1});
    m.velocity.push_back((m.U(1) - 0.5 * (m.U(0) * m.U(0)) + m.U(2) * m.U(0) * m.U(0)).id);
    m.forces[2] = m.g.constant(1);
    const Motion both = build_motion(m);
    const Reduction one = *motion.reduction;
    motion = both;
    motion.reduction = one;
    const Trajectory r = run(motion, {0, 0, 0, 0, 0, 0}, 1, 0.01, 1e-8);
    EXPECT_TRUE(r.summary.reason == EndReason::singular_partition || r.summary.reason == EndReason::inconsistent_constraints);
    EXPECT_LT(r.summary.t_end, 0.1);
}

}  // namespace
}  // namespace appell
