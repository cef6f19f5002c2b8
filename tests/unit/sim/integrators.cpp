// Every integrator of the table, on three problems with closed forms: order of its steps and of its continuous extension, time
// reversal, steps taken back, states replaced, tolerances, ends.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "sim/make_integrator.hpp"
#include "sim/works.hpp"
#include "support/first_order_problems.hpp"

namespace appell {
namespace {

using test::distance;
using test::Problem;
using test::problems;
using test::Values;

Values state(const Integrator& integrator) { return {integrator.x().begin(), integrator.x().end()}; }

struct Errors {
    double at_steps = 0, inside = 0;
};

// steps without error control, whatever the method
Errors run_fixed(const IntegratorInfo& row, Problem& p, int steps) {
    const auto integrator = make_integrator(row.kind, p, {.rtol = 1e-11, .atol = 1e-11, .fixed_step = p.t1 / steps});
    Errors errors;
    EXPECT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
    Values x(p.size());
    while (!integrator->at_end()) {
        if (integrator->step() != StepStatus::ok) {
            ADD_FAILURE() << row.name << " failed at t = " << integrator->t();
            break;
        }
        errors.at_steps = std::max(errors.at_steps, distance(state(*integrator), p.solution(integrator->t())));
        for (const double share : {0.07, 0.25, 0.5, 0.8, 0.93}) {
            const double t = integrator->t_previous() + share * (integrator->t() - integrator->t_previous());
            EXPECT_TRUE(integrator->dense(t, x));
            errors.inside = std::max(errors.inside, distance(x, p.solution(t)));
        }
    }
    EXPECT_EQ(integrator->statistics().steps, static_cast<std::size_t>(steps));
    return errors;
}

// those whose order does not change from step to step
std::vector<IntegratorInfo> with_an_order() {
    std::vector<IntegratorInfo> out;
    for (const IntegratorInfo& row : integrator_table())
        if (row.order > 0) out.push_back(row);
    return out;
}

// few enough that errors of high order stand above round-off, many enough that the leading power rules
int coarse_steps(const IntegratorInfo& row) { return row.order >= 8 ? 10 : 40; }

TEST(Integrators, HaveTheirOrder) {
    for (const IntegratorInfo& row : with_an_order())
        for (Problem& p : problems()) {
            const int n = coarse_steps(row);
            const Errors coarse = run_fixed(row, p, n), fine = run_fixed(row, p, 2 * n);
            const double order = std::log2(coarse.at_steps / fine.at_steps);
            EXPECT_NEAR(order, row.order, 0.5) << row.name << ", " << p.label;
        }
}

TEST(Integrators, ContinuousExtensionsHaveTheirOrder) {
    // inside a step the error is one power higher than the order of the extension as a method, unless the steps' own is larger
    for (const IntegratorInfo& row : with_an_order())
        for (Problem& p : problems()) {
            const int n = coarse_steps(row);
            const Errors coarse = run_fixed(row, p, n), fine = run_fixed(row, p, 2 * n);
            const double order = std::log2(coarse.inside / fine.inside);
            EXPECT_NEAR(order, std::min(row.order, row.dense_order + 1), 0.5) << row.name << ", " << p.label;
            // and never much larger than at the steps
            EXPECT_LT(fine.inside, 20 * fine.at_steps) << row.name << ", " << p.label;
        }
}

// The extension alone: one step from an exact state, so that the method's global error does not cover it.
TEST(Integrators, ContinuousExtensionsOfOneStep) {
    for (const IntegratorInfo& row : with_an_order())
        for (Problem& p : problems()) {
            const auto worst = [&](double h) {
                const auto integrator = make_integrator(row.kind, p, {.rtol = 1e-11, .atol = 1e-11, .fixed_step = h});
                const double t0 = 0.3;
                EXPECT_EQ(integrator->start(t0, p.solution(t0), 10), StepStatus::ok);
                EXPECT_EQ(integrator->step(), StepStatus::ok);
                Values x(p.size());
                double error = 0;
                for (double share = 0.02; share < 1; share += 0.02) {
                    EXPECT_TRUE(integrator->dense(t0 + share * h, x));
                    error = std::max(error, distance(x, p.solution(t0 + share * h)));
                }
                return error;
            };
            const double h = row.order >= 8 ? 0.4 : 0.1;
            const double order = std::log2(worst(h) / worst(h / 2));
            EXPECT_NEAR(order, row.dense_order + 1, 0.7) << row.name << ", " << p.label;
        }
}

IntegratorOptions usual(const IntegratorInfo& row) {
    IntegratorOptions options{.rtol = 1e-10, .atol = 1e-10};
    if (row.fixed_step) options.fixed_step = 1.0 / 512;
    return options;
}

TEST(Integrators, ContinuousExtensionsMeetTheStepsEnds) {
    for (const IntegratorInfo& row : integrator_table()) {
        Problem p = std::move(problems()[1]);
        const auto integrator = make_integrator(row.kind, p, usual(row));
        ASSERT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
        Values before(2), after(2), previous = p.solution(0);
        for (int i = 0; i < 5; ++i) {
            ASSERT_EQ(integrator->step(), StepStatus::ok);
            EXPECT_TRUE(integrator->dense(integrator->t_previous(), before));
            EXPECT_TRUE(integrator->dense(integrator->t(), after));
            // the polynomial of a multistep method passes its older states by the tolerance
            EXPECT_LE(distance(before, previous), row.order == 0 ? 1e-10 : 0) << row.name;
            EXPECT_LT(distance(after, state(*integrator)), 4e-16) << row.name;
            previous = state(*integrator);
        }
    }
}

TEST(Integrators, ReturnWhenTimeIsReversed) {
    for (const IntegratorInfo& row : integrator_table())
        for (Problem& p : problems()) {
            const auto there = make_integrator(row.kind, p, usual(row)), back = make_integrator(row.kind, p, usual(row));
            ASSERT_EQ(there->start(0, p.solution(0), p.t1), StepStatus::ok);
            while (!there->at_end()) ASSERT_EQ(there->step(), StepStatus::ok);
            ASSERT_EQ(back->start(p.t1, there->x(), 0), StepStatus::ok);
            Values x(p.size());
            while (!back->at_end()) {
                ASSERT_EQ(back->step(), StepStatus::ok);
                ASSERT_LT(back->t(), back->t_previous());
                const double t = 0.5 * (back->t() + back->t_previous());
                ASSERT_TRUE(back->dense(t, x));
                // backwards the logistic and the bell solutions are unstable and grow errors by e^5 and e^4
                EXPECT_LT(distance(x, p.solution(t)), 1e-6) << row.name << ", " << p.label;
            }
            EXPECT_EQ(back->t(), 0);
            EXPECT_LT(distance(state(*back), p.solution(0)), 1e-6) << row.name << ", " << p.label;
        }
}

TEST(Integrators, ErrorsFollowTheTolerance) {
    // a hundredfold tolerance moves the error about a hundredfold (and the luck of one end point)
    for (const IntegratorInfo& row : integrator_table()) {
        if (row.fixed_step) continue;
        for (Problem& p : problems()) {
            const auto error = [&](double tolerance) {
                const auto integrator = make_integrator(row.kind, p, {.rtol = tolerance, .atol = tolerance});
                EXPECT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
                double worst = 0;
                while (!integrator->at_end()) {
                    if (integrator->step() != StepStatus::ok) return std::nan("");
                    worst = std::max(worst, distance(state(*integrator), p.solution(integrator->t())));
                }
                return worst;
            };
            const double loose = error(1e-5), middle = error(1e-7), tight = error(1e-9);
            EXPECT_GT(loose / middle, 8) << row.name << ", " << p.label;
            EXPECT_LT(loose / middle, 2000) << row.name << ", " << p.label;
            EXPECT_GT(middle / tight, 8) << row.name << ", " << p.label;
            EXPECT_LT(middle / tight, 2000) << row.name << ", " << p.label;
            EXPECT_LT(tight, 1e-7) << row.name << ", " << p.label;
        }
    }
}

// one rate at the start, one to find the first step, then as many a trial as the method has stages, the rate at the end among
// them
TEST(Integrators, CountWhatTheyDo) {
    for (const IntegratorInfo& row : integrator_table()) {
        Problem p = std::move(problems()[1]);
        const auto integrator = make_integrator(row.kind, p, usual(row));
        ASSERT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
        while (!integrator->at_end()) ASSERT_EQ(integrator->step(), StepStatus::ok);
        const IntegratorStatistics& s = integrator->statistics();
        switch (row.kind) {
            case IntegratorKind::dopri5: EXPECT_EQ(s.evaluations, 6 * (s.steps + s.rejected) + 2); break;
            case IntegratorKind::dop853: EXPECT_EQ(s.evaluations, 12 * s.steps + 11 * s.rejected + 2); break;
            case IntegratorKind::rk4: EXPECT_EQ(s.evaluations, 4 * s.steps + 1); break;
            case IntegratorKind::merson: EXPECT_EQ(s.evaluations, 5 * s.steps + 1); break;
            default: EXPECT_GT(s.evaluations, 2 * s.steps); EXPECT_LT(s.evaluations, 30 * s.steps);
        }
    }
}

TEST(Integrators, RespectTheLargestStep) {
    for (const IntegratorInfo& row : integrator_table()) {
        if (row.fixed_step) continue;
        Problem p(
            "nothing", [](double, auto, auto xd) { xd[0] = 0; }, [](double) { return Values{1}; }, 2);
        const auto integrator = make_integrator(row.kind, p, {.max_step = 0.125});
        ASSERT_EQ(integrator->start(0, Values{1}, 2), StepStatus::ok);
        while (!integrator->at_end()) {
            ASSERT_EQ(integrator->step(), StepStatus::ok);
            EXPECT_LE(integrator->t() - integrator->t_previous(), 1.02 * 0.125);
        }
        EXPECT_GE(integrator->statistics().steps, 15u);
    }
}

TEST(Integrators, SetOutWithTheFirstStepThatIsGiven) {
    for (const IntegratorInfo& row : integrator_table()) {
        if (row.fixed_step) continue;
        Problem p(
            "nothing", [](double, auto, auto xd) { xd[0] = 0; }, [](double) { return Values{1}; }, 2);
        // one that would lead beyond the end leads to the end
        for (const auto& [end, first] : {std::pair(2.0, 0.03125), std::pair(-2.0, -0.03125), std::pair(0.01, 0.01)}) {
            const auto integrator = make_integrator(row.kind, p, {.first_step = 0.03125, .max_step = 0.5});
            ASSERT_EQ(integrator->start(0, Values{1}, end), StepStatus::ok);
            ASSERT_EQ(integrator->step(), StepStatus::ok) << row.name << " to " << end;
            EXPECT_EQ(integrator->t(), first) << row.name;
        }
    }
}

// steps end at products, never at sums: where a row is wanted every third of them, it is there
TEST(Integrators, FixedStepsEndAtMultiples) {
    for (const IntegratorInfo& row : integrator_table()) {
        if (!row.fixed_step) continue;
        Problem p = std::move(problems()[1]);
        const auto integrator = make_integrator(row.kind, p, {.fixed_step = 0.1});
        ASSERT_EQ(integrator->start(0.5, p.solution(0.5), 10.25), StepStatus::ok);
        for (int k = 1; k <= 97; ++k) {
            ASSERT_EQ(integrator->step(), StepStatus::ok);
            EXPECT_EQ(integrator->t(), 0.5 + k * 0.1);
        }
        ASSERT_EQ(integrator->step(), StepStatus::ok);
        EXPECT_EQ(integrator->t(), 10.25);
        EXPECT_TRUE(integrator->at_end());
    }
    Problem p = std::move(problems()[1]);
    EXPECT_THROW((void)make_integrator(IntegratorKind::rk4, p, {}), Error);
}

TEST(Integrators, TakeAStepBack) {
    for (const IntegratorInfo& row : integrator_table()) {
        Problem p = std::move(problems()[1]);
        const auto integrator = make_integrator(row.kind, p, usual(row));
        ASSERT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(integrator->step(), StepStatus::ok);
        const Values x = state(*integrator);
        const double t = integrator->t();
        ASSERT_EQ(integrator->step(), StepStatus::ok);
        const double end = integrator->t(), size = end - t;
        ASSERT_TRUE(integrator->retreat());
        EXPECT_EQ(integrator->t(), t);
        EXPECT_EQ(state(*integrator), x);
        ASSERT_EQ(integrator->step(), StepStatus::ok);
        EXPECT_LT(integrator->t() - t, 0.5 * size);
        Values inside(2);
        const double middle = 0.5 * (integrator->t() + t);
        EXPECT_TRUE(integrator->dense(middle, inside));
        EXPECT_LT(distance(inside, p.solution(middle)), 1e-8);
        bool passed = false;  // a fixed step comes back to its multiples
        while (!integrator->at_end()) {
            ASSERT_EQ(integrator->step(), StepStatus::ok);
            passed = passed || integrator->t() == end;
        }
        EXPECT_TRUE(passed || !row.fixed_step) << row.name;
        EXPECT_LT(distance(state(*integrator), p.solution(p.t1)), row.order == 0 ? 1e-7 : 1e-8) << row.name;
    }
}

// The extension of a step stays what it was when the state at its end is replaced; the next step sets out from the new state.
TEST(Integrators, GoOnFromAnotherState) {
    for (const IntegratorInfo& row : integrator_table()) {
        Problem p = std::move(problems()[1]);
        const auto integrator = make_integrator(row.kind, p, usual(row));
        ASSERT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(integrator->step(), StepStatus::ok);
        const double t = integrator->t(), middle = 0.5 * (t + integrator->t_previous());
        Values twice = state(*integrator), inside(2), start(2);
        for (double& v : twice) v *= 2;
        ASSERT_EQ(integrator->replace_state(twice, true), StepStatus::ok);
        EXPECT_EQ(state(*integrator), twice);
        ASSERT_TRUE(integrator->dense(middle, inside));
        EXPECT_LT(distance(inside, p.solution(middle)), 1e-9) << row.name;
        ASSERT_EQ(integrator->step(), StepStatus::ok);
        ASSERT_TRUE(integrator->dense(t, start));
        EXPECT_LE(distance(start, twice), row.order == 0 ? 1e-10 : 0) << row.name;
        while (!integrator->at_end()) ASSERT_EQ(integrator->step(), StepStatus::ok);
        Values end = p.solution(p.t1);
        for (double& v : end) v *= 2;
        EXPECT_LT(distance(state(*integrator), end), row.order == 0 ? 1e-7 : 1e-8) << row.name;
    }
}

TEST(Integrators, StopAtAPole) {
    // x' = x^2 from 1 has a pole at t = 1
    for (const IntegratorInfo& row : integrator_table()) {
        if (row.fixed_step) continue;
        Problem p(
            "pole", [](double, auto x, auto xd) { xd[0] = x[0] * x[0]; }, [](double t) { return Values{1 / (1 - t)}; }, 2);
        const auto integrator = make_integrator(row.kind, p, {});
        ASSERT_EQ(integrator->start(0, Values{1}, 2), StepStatus::ok);
        StepStatus status = StepStatus::ok;
        for (int i = 0; i < 100'000 && status == StepStatus::ok && !integrator->at_end(); ++i) status = integrator->step();
        EXPECT_NE(status, StepStatus::ok) << row.name;
        EXPECT_NEAR(integrator->t(), 1, row.order == 0 ? 1e-5 : 1e-6) << row.name;
    }
}

// a fixed step is shortened only where the rate ends
TEST(Integrators, StopWhereTheRateEnds) {
    for (const IntegratorInfo& row : integrator_table()) {
        Problem p(
            "end", [](double t, auto, auto xd) { xd[0] = std::sqrt(1 - t); }, [](double) { return Values{0}; }, 2);
        const auto integrator = make_integrator(row.kind, p, usual(row));
        ASSERT_EQ(integrator->start(0, Values{0}, 2), StepStatus::ok);
        StepStatus status = StepStatus::ok;
        for (int i = 0; i < 100'000 && status == StepStatus::ok && !integrator->at_end(); ++i) status = integrator->step();
        EXPECT_EQ(status, StepStatus::rate_failed) << row.name;
        EXPECT_EQ(integrator->rate_status(), RateStatus::not_finite) << row.name;
        EXPECT_NEAR(integrator->t(), 1, 1e-6) << row.name;
        EXPECT_NEAR(integrator->x()[0], 2.0 / 3, 1e-5) << row.name;
    }
}

// entries with a tolerance that is infinite are carried along, and change nothing
TEST(Integrators, CarryEntriesWithoutASay) {
    constexpr double k_infinite = std::numeric_limits<double>::infinity();
    for (const IntegratorInfo& row : integrator_table()) {
        Problem plain = std::move(problems()[1]);
        Problem more(
            "more",
            [](double t, auto x, auto xd) {
                xd[0] = x[1];
                xd[1] = -x[0];
                xd[2] = std::cos(40 * t);
            },
            [](double t) {
                return Values{std::cos(t), -std::sin(t), std::sin(40 * t) / 40};
            },
            6);
        IntegratorOptions of_plain = usual(row), of_more = usual(row);
        of_more.atol_by_entry = {of_plain.atol, of_plain.atol, k_infinite};
        const auto a = make_integrator(row.kind, plain, of_plain), b = make_integrator(row.kind, more, of_more);
        ASSERT_EQ(a->start(0, plain.solution(0), 6), StepStatus::ok);
        ASSERT_EQ(b->start(0, more.solution(0), 6), StepStatus::ok);
        if (row.implicit) {  // the library's estimate of a first step sees all entries
            while (!a->at_end()) ASSERT_EQ(a->step(), StepStatus::ok);
            while (!b->at_end()) ASSERT_EQ(b->step(), StepStatus::ok);
            EXPECT_NEAR(static_cast<double>(a->statistics().steps) / static_cast<double>(b->statistics().steps), 1, 0.05)
                << row.name;
            continue;
        }
        while (!a->at_end()) {
            ASSERT_EQ(a->step(), StepStatus::ok);
            ASSERT_EQ(b->step(), StepStatus::ok);
            ASSERT_EQ(a->t(), b->t()) << row.name;
            ASSERT_EQ(a->x()[0], b->x()[0]) << row.name;
        }
    }
}

TEST(Integrators, TolerancesByEntry) {
    // two oscillators of sizes 1 and 1000 under one absolute tolerance, or under one for each: then the second costs no steps
    for (const IntegratorInfo& row : integrator_table()) {
        if (row.fixed_step) continue;
        Problem p(
            "two",
            [](double, auto x, auto xd) {
                xd[0] = x[1];
                xd[1] = -x[0];
                xd[2] = 9 * x[3];
                xd[3] = -9 * x[2];
            },
            [](double t) {
                return Values{std::cos(t), -std::sin(t), 1000 * std::cos(9 * t), -1000 * std::sin(9 * t)};
            },
            6);
        const auto steps = [&](const IntegratorOptions& options) {
            const auto integrator = make_integrator(row.kind, p, options);
            EXPECT_EQ(integrator->start(0, p.solution(0), p.t1), StepStatus::ok);
            while (!integrator->at_end() && integrator->step() == StepStatus::ok) {
            }
            EXPECT_TRUE(integrator->at_end());
            return std::pair(integrator->statistics().steps, distance(state(*integrator), p.solution(p.t1)));
        };
        const auto all = steps({.rtol = 0, .atol = 1e-6});
        const auto each = steps({.rtol = 0, .atol = 1, .atol_by_entry = {1e-6, 1e-6, 1, 1}});
        EXPECT_LT(3 * each.first, 2 * all.first) << row.name;
        EXPECT_LT(all.second, 1e-3) << row.name;
        EXPECT_GT(each.second, 10 * all.second) << row.name;
    }
}

// x' = v, v' = -x with w' = v^2 carried: the same steps as without, and its own work right
TEST(Integrators, CarriesIntegralsThatHaveNoSay) {
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
        const auto owned = make_integrator(IntegratorKind::dopri5, system, {.rtol = 1e-9, .atol = 1e-9});
        Integrator& integrator = *owned;
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
TEST(Integrators, WorkAtAnInstant) {
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
    const auto owned = make_integrator(IntegratorKind::dopri5, system, {.rtol = 1e-9, .atol = 1e-9, .max_step = 0.1});
    Integrator& integrator = *owned;
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
