// Runs of hand-made motions with closed forms: constraints at every row, start values, rows, and every way a run can end.
#include "sim/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "sim/project.hpp"
#include "support/hand_motion.hpp"

namespace appell {
namespace {

using test::build_motion;
using test::HandModel;
using test::pendulum;

struct Trajectory {
    std::vector<double> t;
    std::vector<std::vector<double>> rows;
    SimulateSummary summary;
};

Trajectory run(const Motion& motion, const std::vector<double>& x0, const SimulateOptions& options) {
    Trajectory out;
    out.summary = simulate(motion, x0, options, [&](double t, std::span<const double> row) {
        out.t.push_back(t);
        out.rows.emplace_back(row.begin(), row.end());
    });
    return out;
}

SimulateOptions until(double t1, double every, double tolerance = 1e-9) {
    SimulateOptions o;
    o.t1 = t1;
    o.every = every;
    o.rtol = o.atol = tolerance;
    return o;
}

constexpr double k_gravity = 9.81;

TEST(Simulate, CartesianPendulumSwingsWithTheEllipticPeriod) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    const double angle = 2.0, period = 4 * std::sqrt(1 / k_gravity) * std::comp_ellint_1(std::sin(angle / 2));
    const std::vector<double> x0{std::sin(angle), -std::cos(angle), 0, 0};
    const Trajectory r = run(motion, x0, until(3 * period, period / 50, 1e-10));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    ASSERT_EQ(r.rows.size(), 151u);
    const double energy = -k_gravity * std::cos(angle);
    for (const auto& row : r.rows) {
        EXPECT_LT(std::abs(row[0] * row[0] + row[1] * row[1] - 1), 1e-12);
        EXPECT_LT(std::abs(row[0] * row[2] + row[1] * row[3]), 1e-11);
        // errors of some thousand steps at 1e-10 each, times gravity
        EXPECT_NEAR(0.5 * (row[2] * row[2] + row[3] * row[3]) + k_gravity * row[1], energy, 1e-6);
        // the rod's force, from the equation along it: lambda * 2 = gravity part - v^2
        EXPECT_NEAR(2 * row[4], k_gravity * row[1] - (row[2] * row[2] + row[3] * row[3]), 1e-9);
    }
    EXPECT_LT(r.summary.position_scaled, 1e-12);
    EXPECT_LT(r.summary.velocity_scaled, 1e-12);
    for (const std::size_t k : {50u, 100u, 150u})
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(r.rows[k][i], x0[i], 2e-6) << "period " << k / 50;
    EXPECT_GT(r.summary.projections, 0u);
    EXPECT_TRUE(r.summary.moved.empty());
    EXPECT_EQ(r.summary.rank, 1u);
}

TEST(Simulate, WithoutProjectionTheRowsDrift) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    SimulateOptions o = until(10, 0.1, 1e-5);
    const Trajectory with = run(motion, {1, 0, 0, 0}, o);
    o.project = false;
    const Trajectory without = run(motion, {1, 0, 0, 0}, o);
    ASSERT_EQ(without.summary.reason, EndReason::finished);
    EXPECT_EQ(without.summary.projections, 0u);
    EXPECT_GT(without.summary.position_scaled, 1e-9);
    EXPECT_LT(with.summary.position_scaled, 1e-12);
}

// |v| = c under gravity: the reaction lies along v, and s = sin of the path's angle has s' = -(g/c)(1 - s^2)
TEST(Simulate, ConstantSpeedUnderGravityFollowsTheHyperbolicTangent) {
    HandModel m(2);
    const double c = 2;
    m.forces[1] = m.g.constant(-k_gravity);
    m.velocity.push_back((m.U(0) * m.U(0) + m.U(1) * m.U(1) - c * c).id);
    const Motion motion = build_motion(m);
    const double s0 = 0.8;
    const Trajectory r = run(motion, {0, 0, c * std::sqrt(1 - s0 * s0), c * s0}, until(0.8, 0.05, 1e-10));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    for (std::size_t k = 0; k < r.t.size(); ++k) {
        const double s = -std::tanh(k_gravity / c * r.t[k] + std::atanh(-s0));
        EXPECT_NEAR(r.rows[k][3], c * s, 1e-8) << r.t[k];
        EXPECT_LT(std::abs(std::hypot(r.rows[k][2], r.rows[k][3]) - c), 1e-12);
    }
}

TEST(Simulate, RowTimesAreProductsAndTheLastIsTheEnd) {
    HandModel m(1);
    m.forces[0] = (-m.Q(0)).id;
    const Motion motion = build_motion(m);
    const Trajectory r = run(motion, {1, 0}, until(1.05, 0.1));
    ASSERT_EQ(r.t.size(), 12u);
    for (int k = 0; k <= 10; ++k) EXPECT_EQ(r.t[static_cast<std::size_t>(k)], k * 0.1);
    EXPECT_EQ(r.t.back(), 1.05);
    // 0.1 * 10 is the end itself: no second row there
    const Trajectory whole = run(motion, {1, 0}, until(1, 0.1));
    ASSERT_EQ(whole.t.size(), 11u);
    EXPECT_EQ(whole.t.back(), 1.0);
    for (std::size_t k = 0; k < r.t.size(); ++k) EXPECT_NEAR(r.rows[k][0], std::cos(r.t[k]), 1e-7);
    // a row for every step
    const Trajectory steps = run(motion, {1, 0}, until(1, 0));
    EXPECT_EQ(steps.t.size(), steps.summary.steps + 1);
    // nothing to do
    const Trajectory nothing = run(motion, {1, 0}, until(0, 0.1));
    EXPECT_EQ(nothing.t, std::vector<double>{0});
    EXPECT_EQ(nothing.summary.reason, EndReason::finished);
}

TEST(Simulate, RunsBackwards) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    const std::vector<double> x0{std::sin(0.7), -std::cos(0.7), 0, 0};
    const Trajectory there = run(motion, x0, until(2, 0.25, 1e-11));
    SimulateOptions o = until(0, 0.25, 1e-11);
    o.t0 = 2;
    const Trajectory back = run(motion, there.summary.x_end, o);
    ASSERT_EQ(back.summary.reason, EndReason::finished);
    ASSERT_EQ(back.t.size(), there.t.size());
    for (std::size_t k = 0; k < back.t.size(); ++k) {
        const std::size_t mirror = back.t.size() - 1 - k;
        EXPECT_EQ(back.t[k], there.t[mirror]);
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(back.rows[k][i], there.rows[mirror][i], 1e-8);
    }
}

TEST(Simulate, RowsInsideStepsAreAsGoodAsStepsThatEndThere) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    const std::vector<double> x0{1, 0, 0, 0};
    const Trajectory dense = run(motion, x0, until(1, 0.01, 1e-8));
    EXPECT_LT(dense.summary.steps, 100u);  // so that most rows lie inside steps
    for (const std::size_t k : {7u, 33u, 81u}) {
        const Trajectory ended = run(motion, x0, until(dense.t[k], 0, 1e-12));
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(dense.rows[k][i], ended.rows.back()[i], 1e-6);
    }
}

TEST(Simulate, StartValuesMoveTheShortestWay) {
    HandModel m = pendulum(0);
    const Motion motion = build_motion(m);
    // onto the circle: radially; then the velocity loses its radial part
    const Trajectory r = run(motion, {3, 4, 1, 0}, until(0, 0));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    const std::vector<double> expected{0.6, 0.8, 0.64, -0.48};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(r.summary.x_start[i], expected[i], 1e-14);
    ASSERT_EQ(r.summary.moved.size(), 4u);
    EXPECT_EQ(r.summary.moved[2].is_speed, true);
    EXPECT_EQ(r.summary.moved[2].index, 0u);
    EXPECT_EQ(r.summary.moved[2].from, 1);
    EXPECT_NEAR(r.summary.moved[2].to, 0.64, 1e-14);
}

TEST(Simulate, MassesWeighHowStartSpeedsMove) {
    // u1 + u2 = 4 from rest, masses 1 and 3: the least M-weighted change gives 3 and 1
    HandModel m(2);
    m.masses = {1, 3};
    m.velocity.push_back((m.U(0) + m.U(1) - 4.0).id);
    const Motion motion = build_motion(m);
    const Trajectory r = run(motion, {0, 0, 0, 0}, until(0, 0));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    EXPECT_NEAR(r.summary.x_start[2], 3, 1e-14);
    EXPECT_NEAR(r.summary.x_start[3], 1, 1e-14);
}

TEST(Simulate, ADistantStartIsReachedByShortenedCorrections) {
    // atan(q) = 0: full corrections from 3 overshoot further and further
    HandModel m(1);
    m.position.push_back(atan(m.Q(0)).id);
    const Motion motion = build_motion(m);
    const Trajectory r = run(motion, {3, 0}, until(0, 0));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    EXPECT_NEAR(r.summary.x_start[0], 0, 1e-14);
}

TEST(Simulate, StartWithoutSolutionIsSaidSo) {
    {
        HandModel m(2);
        m.velocity.push_back((m.U(0) * m.U(0) + m.U(1) * m.U(1) + 1.0).id);
        const Trajectory r = run(build_motion(m), {0, 0, 1, 1}, until(1, 0.1));
        EXPECT_EQ(r.summary.reason, EndReason::start_has_no_solution);
        EXPECT_TRUE(r.rows.empty());
    }
    {
        HandModel m(1);
        m.velocity = {m.U(0).id, (m.U(0) - 1.0).id};  // two rows that contradict each other
        EXPECT_EQ(run(build_motion(m), {0, 0.3}, until(1, 0.1)).summary.reason, EndReason::start_has_no_solution);
    }
    {
        HandModel m(1);
        EXPECT_EQ(run(build_motion(m), {std::nan(""), 0}, until(1, 0.1)).summary.reason, EndReason::start_not_finite);
        m.forces[0] = m.g.make(Op::Log, m.Q(0).id);
        EXPECT_EQ(run(build_motion(m), {-1, 0}, until(1, 0.1)).summary.reason, EndReason::start_not_finite);
    }
}

TEST(Simulate, RedundantRowsChangeNothing) {
    HandModel single = pendulum(k_gravity), twice = pendulum(k_gravity);
    twice.position.push_back((3.0 * (twice.Q(0) * twice.Q(0) + twice.Q(1) * twice.Q(1) - 1.0)).id);
    const std::vector<double> x0{1, 0, 0, 0};
    const Trajectory a = run(build_motion(single), x0, until(2, 0.1)), b = run(build_motion(twice), x0, until(2, 0.1));
    ASSERT_EQ(b.summary.reason, EndReason::finished);
    EXPECT_TRUE(b.summary.redundant);
    EXPECT_FALSE(a.summary.redundant);
    EXPECT_EQ(b.summary.rank, 1u);
    for (std::size_t k = 0; k < a.rows.size(); ++k)
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a.rows[k][i], b.rows[k][i], 1e-10);
}

TEST(Simulate, ContradictingAccelerationsStopTheRun) {
    // u1 = 0 and u1 = t agree at t = 0, their rates do not
    HandModel m(1);
    m.velocity = {m.U(0).id, (m.U(0) - m.time()).id};
    EXPECT_EQ(run(build_motion(m), {0, 0}, until(1, 0.1)).summary.reason, EndReason::inconsistent_constraints);
}

TEST(Simulate, LossOfRankStopsTheRunAndKeepsTheRows) {
    {
        // the second row turns into the first as the exponential dies out: 1e-10 is reached at t = 1.15
        HandModel m(2);
        m.velocity = {m.U(0).id, (m.U(0) + exp(-20.0 * m.time()) * m.U(1)).id};
        SimulateOptions o = until(5, 0.1);
        o.max_step = 0.05;
        const Trajectory r = run(build_motion(m), {0, 0, 0, 0}, o);
        EXPECT_EQ(r.summary.reason, EndReason::rank_loss);
        EXPECT_NEAR(r.summary.t_end, std::log(1e10) / 20, 0.1);
        EXPECT_GE(r.rows.size(), 10u);
        EXPECT_EQ(r.summary.rank, 2u);
    }
    {
        // exactly dependent at the end
        HandModel m(2);
        m.velocity = {m.U(0).id, (m.U(0) + (m.time() - 1.0) * m.U(1)).id};
        EXPECT_EQ(run(build_motion(m), {0, 0, 0, 0}, until(1, 0.25)).summary.reason, EndReason::rank_loss);
    }
}

// what the two crossing lines x y = 0 and their like do to a particle that moves along one of them at unit speed, pushed across
HandModel on_a_line(const std::function<Expr(HandModel&)>& phi) {
    HandModel m(2);
    m.forces[1] = m.g.constant(0.5);
    m.position.push_back(phi(m).id);
    return m;
}

TEST(Simulate, NoStepPassesAStateWithoutAGradient) {
    const std::vector<std::pair<RowLoss, std::function<Expr(HandModel&)>>> cases{
        {RowLoss::vanishes, [](HandModel& m) { return m.Q(0) * m.Q(1); }},                          // its sign changes
        {RowLoss::vanishes, [](HandModel& m) { return m.Q(0) * m.Q(0) * m.Q(1); }},                 // it does not
        {RowLoss::vanishes, [](HandModel& m) { return 1e-9 * (m.Q(0) * m.Q(1)); }},                 // in other units
        {RowLoss::turns, [](HandModel& m) { return m.Q(1) - 0.2 * abs(m.Q(0)) + 0.2 * m.Q(0); }}};  // a corner
    for (const auto& [loss, phi] : cases)
        for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
            HandModel m = on_a_line(phi);
            const Trajectory r = run(build_motion(m), {1, 0, -1, 0}, until(3, 0.01, tolerance));
            EXPECT_EQ(r.summary.reason, EndReason::rank_loss) << tolerance;
            EXPECT_EQ(r.summary.loss, loss) << tolerance;
            EXPECT_EQ(r.summary.constraint, 0u);
            EXPECT_EQ(r.summary.rank, 1u);
            EXPECT_NEAR(r.summary.t_end, 1, 2e-3) << tolerance;
            EXPECT_EQ(r.rows.size(), 100u) << tolerance;  // t = 0 .. 0.99
            for (std::size_t k = 0; k < r.rows.size(); ++k) EXPECT_NEAR(r.rows[k][0], 1 - r.t[k], 1e-9);
        }
}

TEST(Simulate, AStartWithoutAGradientIsNoStart) {
    const std::vector<std::function<Expr(HandModel&)>> cases{[](HandModel& m) { return m.Q(1) * m.Q(1); },
                                                             [](HandModel& m) { return m.Q(1) * (m.Q(0) - 1.0); }};
    for (const auto& phi : cases) {
        HandModel m = on_a_line(phi);
        const Trajectory r = run(build_motion(m), {1, 0, -1, 0}, until(3, 0.01));
        EXPECT_EQ(r.summary.reason, EndReason::rank_loss);
        EXPECT_EQ(r.summary.loss, RowLoss::vanishes);
        EXPECT_EQ(r.summary.rank, 0u);
        EXPECT_TRUE(r.rows.empty());
    }
    // found by Newton's iteration, which only halves the distance each time: the gradient left over is round-off
    HandModel m = on_a_line(cases.front());
    EXPECT_EQ(run(build_motion(m), {1, 0.1, -1, 0}, until(3, 0.01)).summary.reason, EndReason::rank_loss);
}

TEST(Simulate, AGradientThatOnlyGetsSmallIsFollowed) {
    // the hyperbola x y = c: from far out on one arm round the corner, where the gradient is 1400 times smaller and turns by a
    // right angle within a millimetre of a metre's way. The speed stays one.
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
        HandModel m(2);
        m.position.push_back((m.Q(0) * m.Q(1) - 1e-6).id);
        const Trajectory r = run(build_motion(m), {1, 1e-6, -1, 1e-6}, until(3, 0.01, tolerance));
        ASSERT_EQ(r.summary.reason, EndReason::finished) << tolerance;
        const std::vector<double>& end = r.rows.back();
        EXPECT_NEAR(end[3], 1, 1e3 * tolerance);
        EXPECT_NEAR(end[1], 2, 2e-3);  // the corner is cut by less than its size
        EXPECT_LT(r.summary.steps, 2000u);
    }
    // a gradient that dies out without end stays a gradient
    HandModel m(2);
    m.forces[0] = m.g.constant(1);
    m.velocity.push_back((exp(-15.0 * m.time()) * (m.U(1) - m.U(0))).id);
    const Trajectory r = run(build_motion(m), {0, 0, 1, 1}, until(3, 0.1));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    EXPECT_NEAR(r.rows.back()[3], 2.5, 1e-8);  // both masses together: u' = 1/2
}

TEST(Simulate, NoStepPassesAnInstantOfDependentRows) {
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        HandModel m(3);
        m.forces[2] = m.g.constant(1);
        m.velocity = {m.U(0).id, (m.U(0) + (m.time() - 1.0) * m.U(1)).id};
        const Trajectory r = run(build_motion(m), {0, 0, 0, 0, 0, 1}, until(3, 0.01, tolerance));
        EXPECT_EQ(r.summary.reason, EndReason::rank_loss) << tolerance;
        EXPECT_EQ(r.summary.loss, RowLoss::dependent);
        EXPECT_EQ(r.summary.constraint, 1u);
        EXPECT_NEAR(r.summary.t_end, 1, 5e-3) << tolerance;
    }
}

TEST(Simulate, ComponentsOfAVectorEquationAreWatchedTogether) {
    // u x e = 0 with e turning through the first axis: there the first row has no gradient, and the other two say it all
    HandModel m(3);
    const Expr ey = sin(m.time() - 1.0), ex = cos(m.time() - 1.0);
    m.velocity = {(-(ey * m.U(2))).id, (ex * m.U(2)).id, (ey * m.U(0) - ex * m.U(1)).id};
    Motion motion = build_motion(m);
    const std::vector<double> x0{0, 0, 0, std::cos(1.0), -std::sin(1.0), 0};
    // as one constraint, and as three of which any two imply the third: their rank is two all the way
    for (const std::vector<std::size_t>& constraints : {std::vector<std::size_t>{}, {0, 0, 0}}) {
        motion.velocity_constraints = constraints;
        const Trajectory r = run(motion, x0, until(2, 0.1));
        ASSERT_EQ(r.summary.reason, EndReason::finished);
        EXPECT_NEAR(r.rows.back()[3], std::cos(1.0), 1e-7);
    }
}

TEST(Simulate, AProjectionThatFailsIsNoLossOfRank) {
    // no solution from the first step on
    HandModel m(1);
    const auto wall = [&](Expr inside) { return m.Q(0) * m.Q(0) + conditional(inside, constant(m.g, 1), constant(m.g, -1)); };
    m.position.push_back(wall(less(constant(m.g, 1e-9), m.time())).id);
    const Trajectory first = run(build_motion(m), {1, 0}, until(1, 0.1));
    EXPECT_EQ(first.summary.reason, EndReason::projection_failed);
    EXPECT_LE(first.summary.t_end, 1e-9);
    // no solution for a moment that a step may well pass, but not a row: the step is taken back
    m.position = {wall(less(abs(m.time() - 0.5), constant(m.g, 1e-3))).id};
    const Trajectory second = run(build_motion(m), {1, 0}, until(1, 0.1));
    EXPECT_EQ(second.summary.reason, EndReason::projection_failed);
    EXPECT_NEAR(second.summary.t_end, 0.499, 1e-6);
    EXPECT_EQ(second.rows.size(), 5u);
}

TEST(Simulate, RatesThatAreNotFiniteStopTheRun) {
    HandModel m(1);
    m.forces[0] = sqrt(constant(m.g, 1) - m.time()).id;
    const Trajectory r = run(build_motion(m), {0, 0}, until(2, 0.25));
    EXPECT_EQ(r.summary.reason, EndReason::not_finite);
    EXPECT_NEAR(r.summary.t_end, 1, 1e-6);
    EXPECT_EQ(r.rows.size(), 4u);  // 0, 0.25, 0.5, 0.75
    for (std::size_t k = 0; k < r.rows.size(); ++k) EXPECT_NEAR(r.rows[k][1], 2.0 / 3 * (1 - std::pow(1 - r.t[k], 1.5)), 1e-8);
}

TEST(Simulate, APoleStopsTheRun) {
    // u' = 2 u q with q' = u follows q = 1 / (1 - t)
    HandModel m(1);
    m.forces[0] = (2.0 * m.U(0) * m.Q(0)).id;
    const Trajectory r = run(build_motion(m), {1, 1}, until(2, 0.25));
    EXPECT_TRUE(r.summary.reason == EndReason::step_too_small || r.summary.reason == EndReason::not_finite)
        << name(r.summary.reason);
    EXPECT_NEAR(r.summary.t_end, 1, 1e-5);
    EXPECT_EQ(r.rows.size(), 4u);
}

TEST(Simulate, SpeedsWithoutInertiaAreNamed) {
    HandModel m(3);
    m.masses[1] = 0;
    const Trajectory r = run(build_motion(m), {0, 0, 0, 0, 0, 0}, until(1, 0.1));
    EXPECT_EQ(r.summary.reason, EndReason::singular_mass);
    EXPECT_EQ(r.summary.singular_column, 1u);
    // held by a row it is no trouble
    m.velocity.push_back((m.U(1) - 1.0).id);
    EXPECT_EQ(run(build_motion(m), {0, 0, 0, 0, 1, 0}, until(1, 0.1)).summary.reason, EndReason::finished);
}

TEST(Simulate, LimitsAndCancelling) {
    HandModel m(1);
    m.forces[0] = (-m.Q(0)).id;
    const Motion motion = build_motion(m);
    SimulateOptions o = until(100, 1);
    o.max_steps = 5;
    EXPECT_EQ(run(motion, {1, 0}, o).summary.reason, EndReason::too_many_steps);
    EXPECT_EQ(run(motion, {1, 0}, o).summary.steps, 5u);
    o = until(100, 0);
    o.max_rows = 4;
    EXPECT_EQ(run(motion, {1, 0}, o).summary.reason, EndReason::too_many_rows);
    EXPECT_EQ(run(motion, {1, 0}, o).rows.size(), 4u);
    int calls = 0;
    const SimulateSummary s = simulate(motion, std::vector<double>{1, 0}, until(100, 1), {}, [&](double) { return ++calls < 4; });
    EXPECT_EQ(s.reason, EndReason::cancelled);
    EXPECT_EQ(s.steps, 3u);
}

TEST(Simulate, OptionsOutsideTheirRulesAreRefused) {
    HandModel m(1);
    const Motion motion = build_motion(m);
    const std::vector<double> x0{0, 0};
    const auto refused = [&](auto change) {
        SimulateOptions o = until(1, 0.1);
        change(o);
        EXPECT_THROW((void)simulate(motion, x0, o, {}), Error);
    };
    refused([](SimulateOptions& o) { o.rtol = -1; });
    refused([](SimulateOptions& o) { o.atol = 0; });
    refused([](SimulateOptions& o) { o.every = -0.1; });
    refused([](SimulateOptions& o) { o.t1 = std::numeric_limits<double>::infinity(); });
    refused([](SimulateOptions& o) { o.max_step = -1; });
    refused([](SimulateOptions& o) { o.max_rows = 3; });
    EXPECT_THROW((void)simulate(motion, std::vector<double>{0}, until(1, 0.1), {}), Error);
}

TEST(Simulate, ErrorsFollowTheTolerance) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    const double period = 4 * std::sqrt(1 / k_gravity) * std::comp_ellint_1(std::sin(0.5));
    const std::vector<double> x0{std::sin(1.0), -std::cos(1.0), 0, 0};
    const auto error = [&](double tolerance) { return std::abs(run(motion, x0, until(period, 0, tolerance)).rows.back()[2]); };
    const double loose = error(1e-5), middle = error(1e-7), tight = error(1e-9);
    EXPECT_GT(loose / middle, 8);
    EXPECT_GT(middle / tight, 8);
    EXPECT_LT(tight, 1e-7);
}

// a quaternion turned at a constant rate: e0 = cos(w t / 2), and its norm stays one
TEST(Simulate, QuaternionsKeepTheirNorm) {
    Graph g;
    const SymbolId t = g.add_symbol("t", SymbolKind::time), w = g.add_symbol("w", SymbolKind::speed);
    std::vector<SymbolId> e, inputs{t};
    for (int i = 0; i < 4; ++i) e.push_back(g.add_symbol(std::string("e").append(std::to_string(i)), SymbolKind::coordinate));
    inputs.insert(inputs.end(), e.begin(), e.end());
    inputs.push_back(w);
    const auto E = [&](std::size_t i) { return Expr{&g, g.symbol_node(e[i])}; };
    const Expr W{&g, g.symbol_node(w)};
    Motion motion;
    motion.coordinates = 4;
    motion.speeds = 1;
    motion.rate =
        lower_program(g, {inputs,
                          {},
                          {{"qd", {(-0.5 * W * E(3)).id, (0.5 * W * E(2)).id, (-0.5 * W * E(1)).id, (0.5 * W * E(0)).id}},
                           {"ud", {g.constant(0)}}}});
    motion.observe = lower_program(g, {inputs, {}, {{"row", {E(0).id, E(1).id, E(2).id, E(3).id}}}});
    motion.columns = {"e0", "e1", "e2", "e3"};
    motion.quaternions = {{0, 1, 2, 3}};
    const Trajectory r = run(motion, {2, 0, 0, 0, 3}, until(10, 0.1));
    ASSERT_EQ(r.summary.reason, EndReason::finished);
    EXPECT_EQ(r.summary.moved.size(), 1u);
    for (std::size_t k = 0; k < r.rows.size(); ++k) {
        double square = 0;
        for (const double v : r.rows[k]) square += v * v;
        EXPECT_NEAR(square, 1, 1e-15);
        EXPECT_NEAR(r.rows[k][0], std::cos(1.5 * r.t[k]), 1e-7);
        EXPECT_NEAR(r.rows[k][3], std::sin(1.5 * r.t[k]), 1e-7);
    }
    EXPECT_EQ(run(motion, {0, 0, 0, 0, 3}, until(1, 0.1)).summary.reason, EndReason::start_not_finite);
}

// listed times, alone, beside a grid and beside the steps; in either direction; each once
TEST(Simulate, RowsAtListedTimes) {
    HandModel m = pendulum(k_gravity);
    const Motion motion = build_motion(m);
    const std::vector<double> x0{1, 0, 0, 0};
    SimulateOptions o = until(1, std::numeric_limits<double>::infinity());
    o.at = {0.7, 0.31, 0.7, 1.0, 0.0};
    const Trajectory listed = run(motion, x0, o);
    EXPECT_EQ(listed.t, (std::vector<double>{0, 0.31, 0.7, 1}));
    EXPECT_EQ(listed.summary.rows, 4u);
    o.every = 0.1;
    o.at = {0.3, 0.55};  // 3 * 0.1 is not 0.3
    const Trajectory grid = run(motion, x0, o);
    ASSERT_EQ(grid.t.size(), 12u);
    EXPECT_EQ(grid.t[3], 0.3);
    EXPECT_EQ(grid.t[6], 0.55);
    o.every = 0;
    const Trajectory steps = run(motion, x0, o);
    EXPECT_EQ(steps.t.size(), steps.summary.steps + 1 + 2);
    EXPECT_TRUE(std::is_sorted(steps.t.begin(), steps.t.end()));
    EXPECT_EQ(std::count(steps.t.begin(), steps.t.end(), 0.55), 1);
    // the rows do not change the motion
    EXPECT_EQ(steps.summary.x_end, listed.summary.x_end);
    EXPECT_EQ(steps.rows[static_cast<std::size_t>(std::find(steps.t.begin(), steps.t.end(), 0.55) - steps.t.begin())],
              grid.rows[6]);
    SimulateOptions back = o;
    back.t0 = 1;
    back.t1 = -1;
    back.every = std::numeric_limits<double>::infinity();
    back.at = {-0.5, 0.5, 3};
    EXPECT_EQ(run(motion, x0, back).t, (std::vector<double>{1, 0.5, -0.5, -1}));
    o.at = {std::numeric_limits<double>::quiet_NaN()};
    EXPECT_THROW((void)run(motion, x0, o), Error);
}

}  // namespace
}  // namespace appell
