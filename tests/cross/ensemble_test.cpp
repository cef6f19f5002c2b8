// Members of a sweep against runs of their own: the numbers to the last bit, whatever changes from member to member and in
// whatever order they are computed.
#include "pipeline/ensemble.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

ModelText model_text(const std::string& text) {
    return {"model.appell", text, [](const std::string&) { return std::nullopt; }, {}};
}

std::size_t place(const Ensemble& e, const std::string& column) {
    const auto found = std::find(e.columns().begin(), e.columns().end(), column);
    EXPECT_NE(found, e.columns().end()) << column;
    return static_cast<std::size_t>(found - e.columns().begin());
}

const Progress k_on = [](double) { return true; };

void expect_runs(const std::string& text, const SweepPlan& plan, const RunOptions& options = {}) {
    Result<Ensemble> made = Ensemble::make(model_text(text), options, plan);
    ASSERT_TRUE(made.ok()) << render(made.diagnostics, SourceSet{});
    // last to first: no member depends on another
    for (std::size_t i = made->size(); i-- > 0;) {
        const Ensemble::Outcome member = made->run(made->prepare(i), k_on);
        EXPECT_EQ(member.values, made->values(i));
        ReadOptions read;
        for (std::size_t k = 0; k < member.values.size(); ++k) read.set[made->swept()[k]] = member.values[k];
        Derivation d = derive_text(text, read);
        const auto single = run(d, options);
        const bool rows = single.has_value() && single->rows() > 0;
        ASSERT_EQ(rows, !member.numbers.empty()) << member.reason << render(d.diagnostics, d.sources);
        if (!rows) continue;
        EXPECT_EQ(member.reason, name(single->summary.reason));
        ASSERT_EQ(member.numbers.size(), made->columns().size());
        for (std::size_t c = 0; c < single->layout.visible; ++c) {
            const std::string& column = single->columns[c];
            if (std::find(made->columns().begin(), made->columns().end(), column) == made->columns().end()) continue;
            EXPECT_EQ(member.numbers[place(*made, column)], single->at(single->rows() - 1, c)) << column << " of member " << i;
        }
        EXPECT_EQ(member.numbers[place(*made, "t_end")], single->t(single->rows() - 1));
        EXPECT_EQ(member.numbers[place(*made, "balance_relative")], single->energy.relative_error());
        for (const std::string& name : plan.extremes) {
            double least = INFINITY, largest = -INFINITY;
            const std::size_t c = static_cast<std::size_t>(std::find(single->columns.begin(), single->columns.end(), name) -
                                                           single->columns.begin());
            for (std::size_t row = 0; row < single->rows(); ++row) {
                least = std::min(least, single->at(row, c));
                largest = std::max(largest, single->at(row, c));
            }
            EXPECT_EQ(member.numbers[place(*made, "min(" + name + ")")], least);
            EXPECT_EQ(member.numbers[place(*made, "max(" + name + ")")], largest);
        }
    }
}

TEST(Ensemble, MembersAreRuns) {
    // start values and other parameters that follow from the one swept; a rate; an output
    const std::string text =
        "system s\nparam l = 1, k = 3/l, m = 2\ncoord x = 2*l, y = 0\nparticle P mass m at O + x*N.x + y*N.y\n"
        "spring P O stiffness k length l\nforce on P = -0.1*vel(P)\nstart y' = 0.5\noutput r = mag(pos(P))\nrun for 2*l";
    SweepPlan plan;
    plan.over = {{"l", {0.5, 1, 2}}, {"y'", {0, 1}}};
    plan.extremes = {"r", "energy", "x"};
    expect_runs(text, plan);
    plan.random = {{"m", SweepDraw::Law::uniform, 1, 3}, {"y", SweepDraw::Law::normal, 0, 0.1}};
    plan.samples = 2;
    expect_runs(text, plan);
}

TEST(Ensemble, WhatNeedsADerivationOfItsOwnHasOne) {
    // sizes change the equations, fixed rates the programs, `minimal` chooses at the start
    SweepPlan plan;
    plan.over = {{"n", {1, 2, 4}}};
    expect_runs(
        "system s\nsize n = 3\nfor i in 1..n\n  coord x[i] = 0.1*i\n  particle P[i] mass 1 at O + x[i]*N.x\n"
        "  spring P[i] O stiffness i\nend\nrun for 1 s",
        plan);
    plan.over = {{"x'", {0.5, 1}}};
    expect_runs(
        "system s\ncoord x = 1, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x' = 2*y'\nstart x' = 1 fixed\nrun "
        "for 1 s",
        plan);
    RunOptions minimal;
    minimal.formulation = "minimal";
    plan.over = {{"u2", {0.1, 0.7}}};
    expect_runs(gallery_text("perpendicular_pucks"), plan, minimal);
}

TEST(Ensemble, OneThatFailsLosesNoOther) {
    const std::string text =
        "system s\nparam c = 1\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint a: x^2 + y^2 = c\n"
        "force on P = log(2 - t*c)*N.y\nrun for 1.5 s";
    SweepPlan plan;
    plan.over = {{"c", {-1, 0.5, 1, 1.8}}};
    Result<Ensemble> made = Ensemble::make(model_text(text), {}, plan);
    ASSERT_TRUE(made.ok());
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < made->size(); ++i) reasons.push_back(made->run(made->prepare(i), k_on).reason);
    EXPECT_EQ(reasons, (std::vector<std::string>{"start_has_no_solution", "finished", "finished", "not_finite"}));
    expect_runs(text, plan);
}

// all members by several threads, in lanes, against one by one; how many were under way at a time
std::size_t expect_same_in_lanes(const std::string& text, const SweepPlan& plan, const RunOptions& options, std::size_t threads) {
    Result<Ensemble> made = Ensemble::make(model_text(text), options, plan);
    EXPECT_TRUE(made.ok()) << render(made.diagnostics, SourceSet{});
    if (!made.ok()) return 0;
    std::mutex preparing;
    std::atomic<std::size_t> next = 0, at_once = 0;
    std::vector<Ensemble::Outcome> outcomes(made->size());
    const auto work = [&](Neighbours* neighbours) {
        ++at_once;
        for (;;) {
            const std::size_t i = next++;
            if (i >= outcomes.size()) return;
            Ensemble::Prepared prepared;
            {
                const std::lock_guard lock(preparing);
                prepared = made->prepare(i);
            }
            outcomes[i] = made->run(prepared, k_on, neighbours);
        }
    };
    {
        std::vector<std::jthread> pool;
        for (std::size_t i = 0; i < threads; ++i) pool.emplace_back([&] { made->in_lanes(outcomes.size(), work); });
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const Ensemble::Outcome alone = made->run(made->prepare(i), k_on);
        EXPECT_EQ(outcomes[i].member, i);
        EXPECT_EQ(outcomes[i].values, alone.values);
        EXPECT_EQ(outcomes[i].reason, alone.reason);
        EXPECT_EQ(outcomes[i].numbers.size(), alone.numbers.size()) << outcomes[i].reason;
        for (std::size_t c = 0; c < std::min(alone.numbers.size(), outcomes[i].numbers.size()); ++c) {
            const double a = outcomes[i].numbers[c], b = alone.numbers[c];
            EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << made->columns()[c] << " of member " << i;
        }
    }
    return at_once;
}

TEST(Ensemble, LanesAreTheMembersOneByOne) {
    RunOptions options;
    options.until = 3;
    options.every = 0.5;
    SweepPlan plan;
    plan.random = {{"m", SweepDraw::Law::uniform, 0.5, 3}, {"u1", SweepDraw::Law::uniform, -2, 2}};
    plan.samples = 90;
    // solves with pivots; a long program in one piece
    for (const std::size_t threads : {1, 3})
        for (const char* model : {"appell_hamel_linear", "appell_hamel_nonlinear"}) {
            const std::size_t at_once = expect_same_in_lanes(gallery_text(model), plan, options, threads);
#if defined(__x86_64__) && defined(__unix__)
            EXPECT_GT(at_once, threads);
#endif
        }
    // stages of other methods, with steps that are chosen and steps that are not
    plan.samples = 20;
    for (const char* integrator : {"dop853", "merson", "rk4"}) {
        options.integrator = integrator;
        expect_same_in_lanes(gallery_text("appell_hamel_linear"), plan, options, 1);
        options.step = 0.01;
    }
    options.integrator.reset();
    options.step.reset();
    plan.random = {{"g", SweepDraw::Law::uniform, 9, 10}};
    plan.samples = 30;
    options.until = 0.3;
    options.every = 0.1;
    expect_same_in_lanes(gallery_text("bicycle"), plan, options, 1);
    options.until = 3;
    options.every = 0.5;
    plan.random = {{"u2", SweepDraw::Law::uniform, 0.2, 3}};
    plan.extremes = {"energy"};
    expect_same_in_lanes(gallery_text("perpendicular_pucks"), plan, options, 2);
    // a tree of bodies, without rows and with some
    for (const char* rows : {"", "constraint s: dot(vel(P[n]), N.x) = 0\n"}) {
        plan.random = {{"g", SweepDraw::Law::uniform, 9, 10}};
        plan.samples = 20;
        plan.extremes = {};
        expect_same_in_lanes(std::string("system tree\nsize n = 12\nparam g = 9.81\nframe B[0] from N rotate 0 about y\n"
                                         "point P[0] at O\nfor i in 1..n\n  coord q[i] = 0.1\nend\nfor i in 1..n\n"
                                         "  frame B[i] from B[i-1] rotate q[i] about y\n"
                                         "  particle P[i] mass 1 at P[i-1] - B[i].z\nend\ngravity -g*N.z\n") +
                                 rows + "run for 1 s\n",
                             plan, options, 1);
    }
    plan.extremes = {"energy"};
    // no constraints, other integrators
    plan.random = {{"l", SweepDraw::Law::normal, 1, 0.1}};
    for (const char* integrator : {"dop853", "cvode", "dopri5"}) {
        options.integrator = integrator;
        expect_same_in_lanes(gallery_text("simple_pendulum"), plan, options, 1);
    }
}

TEST(Ensemble, ALaneThatFailsLosesNoOther) {
    // starts without a solution, rates that are not finite, and members that are well
    SweepPlan plan;
    plan.over = {{"c", {}}};
    for (int i = 0; i < 40; ++i) plan.over[0].values.push_back(i % 8 == 3 ? -1 : 0.5 + 0.035 * i);
    expect_same_in_lanes(
        "system s\nparam c = 1\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint a: x^2 + y^2 = c\n"
        "force on P = log(2 - t*c)*N.y\nrun for 1.5 s",
        plan, {}, 1);
    // a mass that is none is told by reading the text; others are not read again
    plan.over = {{"m", {1, -1, 2, 0, 3}}};
    expect_same_in_lanes(gallery_text("simple_pendulum"), plan, {}, 1);
    expect_runs(gallery_text("simple_pendulum"), plan);
}

TEST(Ensemble, DrawsDependOnSeedAndPlaceAlone) {
    SweepPlan plan;
    plan.random = {{"m", SweepDraw::Law::uniform, 2, 5}, {"l", SweepDraw::Law::normal, 10, 2}};
    plan.samples = 4000;
    Result<Ensemble> a = Ensemble::make(model_text(gallery_text("simple_pendulum")), {}, plan);
    plan.seed = 2;
    Result<Ensemble> b = Ensemble::make(model_text(gallery_text("simple_pendulum")), {}, plan);
    ASSERT_TRUE(a.ok() && b.ok());
    double sum = 0, l_sum = 0, l_square = 0, product = 0;
    for (std::size_t i = 0; i < a->size(); ++i) {
        const std::vector<double> v = a->values(i);
        ASSERT_GE(v[0], 2);
        ASSERT_LE(v[0], 5);
        sum += v[0];
        l_sum += v[1];
        l_square += (v[1] - 10) * (v[1] - 10);
        product += (v[0] - 3.5) * (v[1] - 10);
        EXPECT_NE(v[0], b->values(i)[0]);
    }
    // four standard deviations of each mean
    const double n = 4000;
    EXPECT_NEAR(sum / n, 3.5, 4 * 0.87 / std::sqrt(n));
    EXPECT_NEAR(l_sum / n, 10, 4 * 2 / std::sqrt(n));
    EXPECT_NEAR(std::sqrt(l_square / n), 2, 4 * 2 / std::sqrt(2 * n));
    EXPECT_NEAR(product / n, 0, 4 * 0.87 * 2 / std::sqrt(n));
}

TEST(Ensemble, PlansThatCanNotBe) {
    const auto code = [](const SweepPlan& plan) {
        const Result<Ensemble> made = Ensemble::make(model_text(gallery_text("simple_pendulum")), {}, plan);
        EXPECT_FALSE(made.ok());
        EXPECT_EQ(made.diagnostics.error_count(), 1u);
        return made.diagnostics.all().empty() ? Code::E0001 : made.diagnostics.all().front().code;
    };
    EXPECT_EQ(code({}), Code::E0826);
    SweepPlan twice;
    twice.over = {{"l", {1}}, {"l", {2}}};
    EXPECT_EQ(code(twice), Code::E0826);
    SweepPlan unknown;
    unknown.over = {{"length", {1}}};
    EXPECT_EQ(code(unknown), Code::E0204);
    SweepPlan column;
    column.over = {{"l", {1}}};
    column.extremes = {"thetta"};
    EXPECT_EQ(code(column), Code::E0826);
    SweepPlan many;
    many.over = {{"l", std::vector<double>(10'000, 1)}, {"m", std::vector<double>(10'000, 1)}};
    EXPECT_EQ(code(many), Code::E0826);
}

}  // namespace
}  // namespace appell
