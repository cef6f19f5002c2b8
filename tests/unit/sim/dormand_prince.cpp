// The integrator alone, on three problems with closed forms: order of its steps and of its continuous extension, time reversal,
// tolerances, ends of all kinds.
#include "sim/dormand_prince.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "sim/works.hpp"

namespace appell {
namespace {

using Values = std::vector<double>;

struct Problem : FirstOrderSystem {
    const char* label;
    std::function<void(double, std::span<const double>, std::span<double>)> right_side;
    std::function<Values(double)> solution;
    double t1 = 2;

    Problem(const char* name, decltype(right_side) g, decltype(solution) s, double end)
        : label(name), right_side(std::move(g)), solution(std::move(s)), t1(end) {}
    [[nodiscard]] std::size_t size() const override { return solution(0).size(); }
    [[nodiscard]] RateStatus rate(double t, std::span<const double> x, std::span<double> xd) override {
        right_side(t, x, xd);
        for (const double v : xd)
            if (!std::isfinite(v)) return RateStatus::not_finite;
        return RateStatus::ok;
    }
};

std::vector<Problem> problems() {
    std::vector<Problem> all;
    // time enters: exp(-t^2)
    all.emplace_back(
        "bell", [](double t, auto x, auto xd) { xd[0] = -2 * t * x[0]; }, [](double t) { return Values{std::exp(-t * t)}; }, 2);
    all.emplace_back(
        "oscillator",
        [](double, auto x, auto xd) {
            xd[0] = x[1];
            xd[1] = -x[0];
        },
        [](double t) {
            return Values{std::cos(t), -std::sin(t)};
        },
        6);
    // nonlinear: 1 / (1 + 9 e^-t)
    all.emplace_back(
        "logistic", [](double, auto x, auto xd) { xd[0] = x[0] * (1 - x[0]); },
        [](double t) { return Values{1 / (1 + 9 * std::exp(-t))}; }, 5);
    return all;
}

double distance(const Values& x, const Values& y) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
    return worst;
}

struct Errors {
    double at_steps = 0, inside = 0;
};

Errors run_fixed(Problem& p, int steps) {
    DormandPrince integrator(p, {.rtol = 1, .atol = 1, .max_step = 0, .fixed_step = p.t1 / steps});
    Errors errors;
    EXPECT_EQ(integrator.start(0, p.solution(0), p.t1), StepStatus::ok);
    Values x(p.size());
    while (!integrator.at_end()) {
        EXPECT_EQ(integrator.step(), StepStatus::ok);
        errors.at_steps =
            std::max(errors.at_steps, distance({integrator.x().begin(), integrator.x().end()}, p.solution(integrator.t())));
        for (const double share : {0.25, 0.5, 0.8}) {
            const double t = integrator.t_previous() + share * (integrator.t() - integrator.t_previous());
            EXPECT_TRUE(integrator.dense(t, x));
            errors.inside = std::max(errors.inside, distance(x, p.solution(t)));
        }
    }
    return errors;
}

TEST(DormandPrince, HasOrderFive) {
    // errors fall 32-fold when the step is halved; the next term of the expansion bends the measured slope by some tenths
    for (Problem& p : problems()) {
        const Errors coarse = run_fixed(p, 40), fine = run_fixed(p, 80);
        const double order = std::log2(coarse.at_steps / fine.at_steps);
        EXPECT_GT(order, 4.6) << p.label;
        EXPECT_LT(order, 5.5) << p.label;
    }
}

TEST(DormandPrince, ContinuousExtensionHasOrderFour) {
    // order 4 as a method: its error inside a step is of the fifth power of the step
    for (Problem& p : problems()) {
        const Errors coarse = run_fixed(p, 40), fine = run_fixed(p, 80);
        const double order = std::log2(coarse.inside / fine.inside);
        EXPECT_GT(order, 4.5) << p.label;
        EXPECT_LT(order, 5.5) << p.label;
    }
}

TEST(DormandPrince, ContinuousExtensionMeetsTheStepsEnds) {
    Problem p = std::move(problems()[1]);
    DormandPrince integrator(p, {});
    ASSERT_EQ(integrator.start(0, p.solution(0), p.t1), StepStatus::ok);
    Values before(2), after(2), previous = p.solution(0);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(integrator.step(), StepStatus::ok);
        EXPECT_TRUE(integrator.dense(integrator.t_previous(), before));
        EXPECT_TRUE(integrator.dense(integrator.t(), after));
        EXPECT_EQ(before, previous);
        EXPECT_LT(distance(after, {integrator.x().begin(), integrator.x().end()}), 4e-16);
        previous.assign(integrator.x().begin(), integrator.x().end());
    }
}

double run_adaptive(Problem& p, double tolerance, IntegratorStatistics* statistics = nullptr) {
    DormandPrince integrator(p, {.rtol = tolerance, .atol = tolerance});
    EXPECT_EQ(integrator.start(0, p.solution(0), p.t1), StepStatus::ok);
    while (!integrator.at_end()) EXPECT_EQ(integrator.step(), StepStatus::ok);
    if (statistics != nullptr) *statistics = integrator.statistics();
    return distance({integrator.x().begin(), integrator.x().end()}, p.solution(p.t1));
}

TEST(DormandPrince, ErrorsFollowTheTolerance) {
    // a hundredfold tolerance moves the error about a hundredfold (power 4/5 to 1, and the luck of one end point)
    for (Problem& p : problems()) {
        const double loose = run_adaptive(p, 1e-5), middle = run_adaptive(p, 1e-7), tight = run_adaptive(p, 1e-9);
        EXPECT_GT(loose / middle, 8) << p.label;
        EXPECT_LT(loose / middle, 2000) << p.label;
        EXPECT_GT(middle / tight, 8) << p.label;
        EXPECT_LT(middle / tight, 2000) << p.label;
        EXPECT_LT(tight, 1e-7) << p.label;
    }
}

TEST(DormandPrince, CountsWhatItDoes) {
    Problem p = std::move(problems()[1]);
    IntegratorStatistics s;
    (void)run_adaptive(p, 1e-8, &s);
    // six evaluations a trial, one at the start and one to find the first step
    EXPECT_EQ(s.evaluations, 6 * (s.steps + s.rejected) + 2);
}

TEST(DormandPrince, ReturnsWhenTimeIsReversed) {
    for (Problem& p : problems()) {
        constexpr double k_tight = 1e-11;
        DormandPrince there(p, {.rtol = k_tight, .atol = k_tight}), back(p, {.rtol = k_tight, .atol = k_tight});
        ASSERT_EQ(there.start(0, p.solution(0), p.t1), StepStatus::ok);
        while (!there.at_end()) ASSERT_EQ(there.step(), StepStatus::ok);
        ASSERT_EQ(back.start(p.t1, there.x(), 0), StepStatus::ok);
        while (!back.at_end()) ASSERT_EQ(back.step(), StepStatus::ok);
        EXPECT_EQ(back.t(), 0);
        // backwards the logistic and the bell solutions are unstable and grow errors by e^5 and e^4
        EXPECT_LT(distance({back.x().begin(), back.x().end()}, p.solution(0)), 1e-7) << p.label;
    }
}

TEST(DormandPrince, RetreatRestoresTheState) {
    Problem p = std::move(problems()[1]);
    DormandPrince integrator(p, {});
    ASSERT_EQ(integrator.start(0, p.solution(0), p.t1), StepStatus::ok);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(integrator.step(), StepStatus::ok);
    const Values x(integrator.x().begin(), integrator.x().end());
    const double t = integrator.t();
    ASSERT_EQ(integrator.step(), StepStatus::ok);
    const double size = integrator.t() - t;
    ASSERT_TRUE(integrator.retreat());
    EXPECT_EQ(integrator.t(), t);
    EXPECT_EQ(Values(integrator.x().begin(), integrator.x().end()), x);
    while (!integrator.at_end()) {
        ASSERT_EQ(integrator.step(), StepStatus::ok);
        if (integrator.t_previous() == t) {
            EXPECT_LT(integrator.t() - t, 0.5 * size);
        }
    }
    EXPECT_LT(distance({integrator.x().begin(), integrator.x().end()}, p.solution(p.t1)), 1e-6);
}

TEST(DormandPrince, StopsAtAPole) {
    // x' = x^2 from 1 has a pole at t = 1
    Problem p(
        "pole", [](double, auto x, auto xd) { xd[0] = x[0] * x[0]; }, [](double t) { return Values{1 / (1 - t)}; }, 2);
    DormandPrince integrator(p, {});
    ASSERT_EQ(integrator.start(0, Values{1}, 2), StepStatus::ok);
    StepStatus status = StepStatus::ok;
    for (int i = 0; i < 100'000 && status == StepStatus::ok && !integrator.at_end(); ++i) status = integrator.step();
    EXPECT_NE(status, StepStatus::ok);
    EXPECT_NEAR(integrator.t(), 1, 1e-6);
}

TEST(DormandPrince, StopsWhereTheRateEnds) {
    Problem p(
        "end", [](double t, auto, auto xd) { xd[0] = std::sqrt(1 - t); }, [](double) { return Values{0}; }, 2);
    DormandPrince integrator(p, {});
    ASSERT_EQ(integrator.start(0, Values{0}, 2), StepStatus::ok);
    StepStatus status = StepStatus::ok;
    for (int i = 0; i < 100'000 && status == StepStatus::ok && !integrator.at_end(); ++i) status = integrator.step();
    EXPECT_EQ(status, StepStatus::rate_failed);
    EXPECT_EQ(integrator.rate_status(), RateStatus::not_finite);
    EXPECT_NEAR(integrator.t(), 1, 1e-6);
    EXPECT_NEAR(integrator.x()[0], 2.0 / 3, 1e-6);
}

TEST(DormandPrince, RespectsTheLargestStep) {
    Problem p(
        "nothing", [](double, auto, auto xd) { xd[0] = 0; }, [](double) { return Values{1}; }, 2);
    DormandPrince integrator(p, {.max_step = 0.125});
    ASSERT_EQ(integrator.start(0, Values{1}, 2), StepStatus::ok);
    while (!integrator.at_end()) {
        ASSERT_EQ(integrator.step(), StepStatus::ok);
        EXPECT_LE(integrator.t() - integrator.t_previous(), 1.02 * 0.125);
    }
    EXPECT_GE(integrator.statistics().steps, 15u);
}

// x' = v, v' = -x with w' = v^2 carried: the same steps as without, and its own work right
TEST(DormandPrince, CarriesIntegralsThatHaveNoSay) {
    struct Carrying : FirstOrderSystem {
        std::size_t carried;
        explicit Carrying(std::size_t n) : carried(n) {}
        [[nodiscard]] std::size_t size() const override { return 2 + carried; }
        [[nodiscard]] std::size_t controlled() const override { return 2; }
        [[nodiscard]] RateStatus rate(double, std::span<const double> x, std::span<double> xd) override {
            xd[0] = x[1];
            xd[1] = -x[0];
            if (carried > 0) xd[2] = 1e6 * x[1] * x[1];
            if (carried > 1) xd[3] = std::numeric_limits<double>::quiet_NaN();
            return RateStatus::ok;
        }
    };
    std::vector<Values> ends;
    std::vector<std::size_t> evaluations;
    for (const std::size_t carried : {0u, 1u, 2u}) {
        Carrying system(carried);
        DormandPrince integrator(system, {1e-9, 1e-9, 0, 0});
        Values start(2 + carried, 0.0);
        start[1] = 1;
        ASSERT_EQ(integrator.start(0, start, 3), StepStatus::ok);
        while (!integrator.at_end()) ASSERT_EQ(integrator.step(), StepStatus::ok);
        ends.emplace_back(integrator.x().begin(), integrator.x().begin() + 2);
        evaluations.push_back(integrator.statistics().evaluations);
        if (carried > 0) {
            EXPECT_NEAR(integrator.x()[2], 1e6 * (1.5 + std::sin(6.0) / 4), 1e-2);
        }
    }
    EXPECT_EQ(ends[0], ends[1]);
    EXPECT_EQ(ends[0], ends[2]);
    EXPECT_EQ(evaluations[0], evaluations[1]);
    EXPECT_EQ(evaluations[0], evaluations[2]);
}

// a work done at an instant stays in the ledger, and the motion goes on as it would
TEST(DormandPrince, WorkAtAnInstant) {
    struct Falling : FirstOrderSystem {
        [[nodiscard]] std::size_t size() const override { return 3; }
        [[nodiscard]] std::size_t controlled() const override { return 2; }
        [[nodiscard]] RateStatus rate(double, std::span<const double> x, std::span<double> xd) override {
            xd[0] = x[1];
            xd[1] = -1;
            xd[2] = -x[1];
            return RateStatus::ok;
        }
    };
    Motion motion;
    motion.coordinates = motion.speeds = 1;
    motion.works = {"weight"};
    Falling system;
    DormandPrince integrator(system, {1e-9, 1e-9, 0.1, 0});
    ASSERT_EQ(integrator.start(0, Values{0, 0, 0}, 2), StepStatus::ok);
    while (integrator.t() < 1) ASSERT_EQ(integrator.step(), StepStatus::ok);
    Values x(integrator.x().begin(), integrator.x().end());
    add_work(motion, x, 0, 10);
    ASSERT_EQ(integrator.replace_state(x, false), StepStatus::ok);
    while (!integrator.at_end()) ASSERT_EQ(integrator.step(), StepStatus::ok);
    EXPECT_NEAR(integrator.x()[1], -2, 1e-9);
    EXPECT_NEAR(integrator.x()[2], 12, 1e-9);
}

}  // namespace
}  // namespace appell
