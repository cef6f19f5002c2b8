// Contacts, friction and events against closed forms: instants of impacts, of slipping and sticking, of lift-off, of user events.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

std::vector<double> times_of(const Run& run, const std::string& what) {
    std::vector<double> out;
    for (const RunEvent& event : run.events)
        if (event.what.find(what) != std::string::npos) out.push_back(event.t);
    return out;
}

std::string with_tolerances(const std::string& text, const std::string& tolerances) {
    return text + "\nrun " + tolerances + "\n";
}

TEST(Switching, ABouncingBallMeetsItsSeries) {
    const TextRun r = run_text(gallery_text("bouncing_ball"));
    const std::vector<double> impacts = times_of(r.run, "impact on floor");
    // bounces of height h e^(2k) down to the tolerance 1e-12 m: e^(2k) > 2e-13, k = 21
    ASSERT_GE(impacts.size(), 20u);
    ASSERT_LE(impacts.size(), 24u);
    double t = 1;
    for (std::size_t k = 0; k < impacts.size(); ++k) {
        EXPECT_NEAR(impacts[k], t, 1e-11) << k;
        t += 2 * std::pow(0.5, k + 1);
    }
    // the accumulation point is 3 s; the last bounce left out is 2 (2 h e^2k / g)^(1/2) / (1 - e) long
    EXPECT_NEAR(impacts.back(), 3, 1e-5);
    const std::size_t last = r.run.rows() - 1;
    EXPECT_NEAR(r.at(last, "x"), 5, 1e-9);
    EXPECT_NEAR(r.at(last, "y"), 0, 1e-12);
    EXPECT_NEAR(r.at(last, "y'"), 0, 1e-12);
    EXPECT_NEAR(r.at(last, "push"), 10, 1e-9);
    for (std::size_t i = 0; i < r.run.rows(); ++i) ASSERT_GE(r.at(i, "y"), -1e-12) << i;
    // tops between the impacts
    const std::vector<double> tops = times_of(r.run, "top");
    ASSERT_GE(tops.size(), 3u);
    EXPECT_NEAR(tops[0], 1.5, 1e-11);
    EXPECT_NEAR(tops[1], 2.25, 1e-11);
}

// a lift-off that begins with a gap that grows by its third power is within what their first steps err by
TEST(Switching, EveryIntegratorPassesTheRegimesOfTheIncline) {
    std::vector<double> instants;
    for (const char* integrator : {"dop853", "cvode", "adams", "arkode", "ida"}) {
        RunOptions options;
        options.integrator = integrator;
        const TextRun r = run_text(gallery_text("vibrating_incline_regimes"), options);
        const std::vector<double> found = times_of(r.run, "impact on plane");
        if (instants.empty()) instants = found;
        ASSERT_EQ(found.size(), instants.size()) << integrator;
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], instants[i], 1e-5) << integrator;
    }
}

TEST(Switching, RowsAtEventsShowBothSidesOfAJump) {
    RunOptions options;
    options.until = 1.9;
    options.every = 0.4;
    options.at_events = true;
    const TextRun r = run_text(gallery_text("bouncing_ball"), options);
    // the impact twice, the top, which changes nothing, once
    const std::vector<double> expected{0, 0.4, 0.8, 1, 1, 1.2, 1.5, 1.6, 1.9};
    ASSERT_EQ(r.run.rows(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(r.run.t(i), expected[i], 1e-11) << i;
    EXPECT_NEAR(r.at(3, "y'"), -10, 1e-9);
    EXPECT_NEAR(r.at(4, "y'"), 5, 1e-9);
    EXPECT_NEAR(r.at(6, "y'"), 0, 1e-9);
    // the same rows without those at events
    options.at_events = false;
    const TextRun without = run_text(gallery_text("bouncing_ball"), options);
    ASSERT_EQ(without.run.rows(), 6u);
    EXPECT_EQ(without.at(4, "y"), r.at(7, "y"));
}

TEST(Switching, AnElasticBallKeepsItsEnergy) {
    RunOptions options;
    options.until = 20;
    ReadOptions read;
    read.set = {{"e", 1.0}};
    const TextRun r = run_text(gallery_text("bouncing_ball"), options, read);
    ASSERT_EQ(times_of(r.run, "impact").size(), 10u);  // at 1, 3, 5, ... 19 s
    for (std::size_t i = 0; i < r.run.rows(); ++i) ASSERT_NEAR(r.at(i, "E"), 50.5, 1e-8) << i;
}

TEST(Switching, ABlockSlipsWhereTheTableIsTooQuick) {
    const TextRun r = run_text(gallery_text("block_on_vibrating_table"));
    EXPECT_EQ(r.run.start_mode, "floor closed, floor sticks");
    const std::vector<double> slips = times_of(r.run, "slips"), sticks = times_of(r.run, "sticks");
    ASSERT_GE(slips.size(), 3u);
    ASSERT_GE(sticks.size(), 3u);
    const double first = std::asin(3 / 4.9) / 7;
    EXPECT_NEAR(slips[0], first, 1e-9);
    // it sticks again where the speeds meet: 0.7 cos(7 t) = v0 - 3 (t - t0), friction ahead of it turned against the block
    const double v0 = 0.7 * std::cos(7 * first);
    const auto slip = [&](double t) { return v0 - 3 * (t - first) - 0.7 * std::cos(7 * t); };
    EXPECT_NEAR(slip(sticks[0]), 0, 1e-8);
    EXPECT_GT(std::abs(slip(0.5 * (first + sticks[0]))), 0.01);
    for (std::size_t i = 0; i < r.run.rows(); ++i) ASSERT_LE(std::abs(r.at(i, "F")), 3 * (1 + 1e-9)) << i;
}

TEST(Switching, ABlockOnASlowTableNeverSlips) {
    ReadOptions read;
    read.set = {{"w", 5.0}};
    const TextRun r = run_text(gallery_text("block_on_vibrating_table"), {}, read);
    EXPECT_TRUE(r.run.events.empty());
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        ASSERT_NEAR(r.at(i, "slip"), 0, 1e-12) << i;
        // what holds it is its own acceleration
        ASSERT_NEAR(r.at(i, "F"), -2.5 * std::sin(5 * r.run.t(i)), 1e-9) << i;
    }
}

TEST(Switching, ABeadOnARoughRingComesToRestAndStays) {
    const TextRun r = run_text(gallery_text("rough_ring_to_rest"));
    const std::vector<double> sticks = times_of(r.run, "sticks");
    ASSERT_FALSE(sticks.empty());
    const std::size_t last = r.run.rows() - 1;
    EXPECT_LE(std::abs(std::tan(r.at(last, "angle"))), 0.1 * (1 + 1e-9));
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        if (r.run.t(i) <= sticks.back()) continue;
        ASSERT_NEAR(r.at(i, "v"), 0, 1e-12);
        ASSERT_NEAR(r.at(i, "angle"), r.at(last, "angle"), 1e-12);
        // friction carries the tangential weight
        ASSERT_NEAR(r.at(i, "F"), 0.1 * 9.81 * std::abs(std::sin(r.at(i, "angle"))), 1e-10);
    }
    // energy never grows
    for (std::size_t i = 1; i < r.run.rows(); ++i) ASSERT_LE(r.at(i, "E"), r.at(i - 1, "E") + 1e-9) << i;
}

TEST(Switching, ABlockLiftsOffWhereThePlaneFallsAway) {
    const TextRun r = run_text(
        "system lift\nparam m = 1 kg, g = 10 m/s^2, a = 0.05 m, w = 20 rad/s\ncoord y = 0 m\nstart y' = 1 m/s\n"
        "particle P mass m at O + y*N.y\ngravity -g*N.y\nconstraint plane: dot(pos(P), N.y) >= a*sin(w*t)\n"
        "run for 0.4 s, every 0.01 s, rtol 1e-11, atol 1e-13");
    const std::vector<double> opens = times_of(r.run, "opens"), impacts = times_of(r.run, "impact");
    ASSERT_FALSE(opens.empty());
    ASSERT_FALSE(impacts.empty());
    const double lift = std::asin(0.5) / 20;  // g = a w^2 sin(w t)
    EXPECT_NEAR(opens[0], lift, 1e-11);
    // free flight from there to the plane
    const double y0 = 0.05 * std::sin(20 * lift), v0 = std::cos(20 * lift), s = impacts[0] - lift;
    EXPECT_NEAR(y0 + v0 * s - 5 * s * s, 0.05 * std::sin(20 * impacts[0]), 1e-11);
}

TEST(Switching, AnInclineInAllItsRegimes) {
    const TextRun r = run_text(gallery_text("vibrating_incline_regimes"));
    for (const char* what : {"sticks", "plane opens", "impact on plane"}) EXPECT_FALSE(times_of(r.run, what).empty()) << what;
    std::size_t slides = 0, sticks = 0;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        ASSERT_GE(r.at(i, "gap"), -1e-10) << i;
        // friction within its bound; no force while the gap is open
        ASSERT_LE(r.at(i, "F"), 0.6 * r.at(i, "normal") + 1e-9) << i;
        if (r.at(i, "gap") > 1e-6) {
            ASSERT_EQ(r.at(i, "normal"), 0) << i;
        }
        if (r.at(i, "normal") > 0) ++(r.at(i, "F") > 0.999999 * 0.6 * r.at(i, "normal") ? slides : sticks);
    }
    EXPECT_GT(slides, 100u);
    EXPECT_GT(sticks, 50u);
}

// With mu = tan(alpha) the speed and its downhill part have a constant sum: v' = g sin(alpha) (cos(phi) - 1), (v cos(phi))' =
// g sin(alpha) (1 - cos(phi)), phi between the velocity and the line of fall.
TEST(Switching, FrictionInTwoDirectionsFollowsItsIntegral) {
    const std::string model =
        "system incline\nparam g = 9.81 m/s^2, alpha = 20 deg, mu = tan(alpha)\ncoord x = 0 m, y = 0 m, z = 0 m\n"
        "start x' = 0 m/s, y' = 1 m/s\nframe A from N rotate alpha about y\nparticle P mass 1 kg at O + x*A.x + y*A.y + z*A.z\n"
        "gravity -g*N.z\nconstraint plane: dot(pos(P), A.z) >= 0\nnonideal plane: friction on P = mu*reaction(plane)\n"
        "output v = mag(vel(P)), F = mag(friction(plane))\n";
    const TextRun r = run_text(model + "run for 3 s, every 0.05 s, rtol 1e-10, atol 1e-12");
    for (std::size_t i = 0; i < r.run.rows(); ++i) ASSERT_NEAR(r.at(i, "v") + r.at(i, "x'"), 1, 1e-8) << i;
    EXPECT_NEAR(r.at(r.run.rows() - 1, "v"), 0.5, 1e-2);

    // with more friction it comes to rest on the incline and is held by the weight's part along it
    ReadOptions read;
    read.set = {{"mu", 0.6}};
    const TextRun held = run_text(model + "run for 3 s, every 0.05 s, rtol 1e-9, atol 1e-11", {}, read);
    ASSERT_EQ(times_of(held.run, "sticks").size(), 1u);
    const std::size_t last = held.run.rows() - 1;
    EXPECT_NEAR(held.at(last, "v"), 0, 1e-12);
    EXPECT_NEAR(held.at(last, "F"), 9.81 * std::sin(20 * M_PI / 180), 1e-9);
}

// the bead of a pendulum passes its lowest point after a quarter of its period, a complete elliptic integral
const std::string k_pendulum =
    "system pendulum\nparam g = 9.81 m/s^2, l = 1 m\ncoord theta = 1\nframe B from N rotate theta about z\n"
    "particle P mass 1 kg at O - l*B.y\ngravity -g*N.y\n";

TEST(Events, InstantsAreThoseOfTheClosedForm) {
    const TextRun r =
        run_text(with_tolerances(k_pendulum + "event bottom: theta => report", "for 10 s, every 0.1 s, rtol 1e-13, atol 1e-14"));
    const std::vector<double> bottom = times_of(r.run, "bottom");
    const double quarter = std::comp_ellint_1(std::sin(0.5)) / std::sqrt(9.81);
    ASSERT_EQ(bottom.size(), static_cast<std::size_t>(std::floor((10 / quarter + 1) / 2)));
    for (std::size_t k = 0; k < bottom.size(); ++k) EXPECT_NEAR(bottom[k], (2 * k + 1) * quarter, 1e-12 * (1 + 2 * k)) << k;
}

TEST(Events, DirectionsAreTold) {
    const TextRun r = run_text(with_tolerances(
        k_pendulum + "event up: theta rising => report\nevent down: theta falling => report\nevent both: theta => report",
        "for 10 s, every 0.1 s"));
    const std::size_t up = times_of(r.run, "up").size(), down = times_of(r.run, "down").size();
    EXPECT_EQ(up + down, times_of(r.run, "both").size());
    EXPECT_EQ(down, (up + down + 1) / 2);  // down comes first
    // both of an instant are told together
    EXPECT_EQ(r.run.events.front().what, "down, both");
}

// A height that a projectile exceeds for a moment only, far shorter than a step.
TEST(Events, ClosePairsAreNotMissed) {
    for (const double below : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
        const TextRun r = run_text(
            "system throw\ncoord y = 0 m\nstart y' = 10 m/s\nparticle P mass 1 kg at O + y*N.y\ngravity -10 m/s^2*N.y\n"
            "param level = " +
            std::to_string(5) + " m - " + std::to_string(below * 1e10) +
            "e-10 m\nevent pass: y - level => report\nrun for 2 s, every 0.5 s, rtol 1e-9, atol 1e-11");
        const std::vector<double> passes = times_of(r.run, "pass");
        ASSERT_EQ(passes.size(), 2u) << below;
        EXPECT_NEAR(passes[1] - passes[0], 2 * std::sqrt(below / 5), 1e-3 * 2 * std::sqrt(below / 5)) << below;
    }
}

// x = t touches 1 and goes on; the guard touches zero and goes back
TEST(Events, TouchesAreCounted) {
    const TextRun r = run_text(
        "system touch\ncoord x = 0\nstart x' = 1\nparticle P mass 1 at O + x*N.x\nevent e: (x - 1)^2 => report\nrun for 3");
    EXPECT_TRUE(r.run.events.empty());
    ASSERT_EQ(r.run.guard_remarks.size(), 1u);
    EXPECT_EQ(r.run.guard_remarks[0].guard, "event e");
    EXPECT_EQ(r.run.guard_remarks[0].grazes, 1u);
    EXPECT_NEAR(r.run.guard_remarks[0].first_graze, 1, 1e-4);
    EXPECT_FALSE(r.run.guard_remarks[0].sampled);
}

// the multiplier is 10 all the time, and is solved together with the law that depends on it: sin(50 t) = 0 for t in (0, 3)
TEST(Events, SampledGuardsAreNamed) {
    const TextRun r = run_text(
        "system wire\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\ngravity -10*N.y\nstart x' = 1\n"
        "constraint c: y = 0\nnonideal c: force on P = -0.1*abs(reaction(c))*N.x\n"
        "event e: lambda(c) - 10 - sin(50*t) => report\nrun for 3");
    EXPECT_EQ(r.run.event_count, 47u);
    ASSERT_EQ(r.run.guard_remarks.size(), 1u);
    EXPECT_EQ(r.run.guard_remarks[0].guard, "event e");
    EXPECT_TRUE(r.run.guard_remarks[0].sampled);
}

TEST(Events, ManyAtOnce) {
    const TextRun r = run_text(
        "system many\nsize n = 40\ncoord x = -1 m\nstart x' = 1 m/s\nparticle P mass 1 kg at O + x*N.x\n"
        "for i in 1..n\n  event e[i]: i*x => report\nend\nrun for 2 s, every 0.5 s");
    ASSERT_EQ(r.run.events.size(), 1u);
    EXPECT_NEAR(r.run.events[0].t, 1, 1e-12);
    EXPECT_NE(r.run.events[0].what.find("e[40]"), std::string::npos);
}

TEST(Events, StopSetDropAndEnforce) {
    // halves its speed at the lowest point
    const TextRun set = run_text(with_tolerances(k_pendulum + "event brake: theta falling => set theta' = theta'/2",
                                                 "for 1 s, every 0.01 s, rtol 1e-11, atol 1e-13"));
    ASSERT_EQ(set.run.events.size(), 1u);
    const double speed = 2 * std::sqrt(9.81) * std::sin(0.5);
    EXPECT_NEAR(set.run.events[0].x[1], -speed / 2, 1e-9);

    const TextRun stop = run_text(with_tolerances(k_pendulum + "event done: theta => stop", "for 10 s, every 0.01 s"));
    EXPECT_EQ(stop.run.summary.reason, EndReason::event);
    EXPECT_NEAR(stop.run.summary.t_end, std::comp_ellint_1(std::sin(0.5)) / std::sqrt(9.81), 1e-7);
    // the row of the instant is the last one
    EXPECT_EQ(stop.run.t(stop.run.rows() - 1), stop.run.summary.t_end);

    // a string is cut at the lowest point: the mass flies on with sqrt(2 g l)
    const TextRun cut = run_text(
        "system cut\nparam g = 9.81 m/s^2\ncoord x = 1 m, y = 0 m\nparticle P mass 1 kg at O + x*N.x + y*N.y\ngravity -g*N.y\n"
        "constraint string: (dot(pos(P), pos(P)) - 1 m^2)/2 = 0\nevent cut: x falling => drop string\n"
        "constraint wall: x = -1 m initially off\nevent hit: x + 1 m falling => enforce wall\n"
        "run for 1 s, every 0.01 s, rtol 1e-11, atol 1e-13");
    ASSERT_EQ(cut.run.events.size(), 2u);
    const double v = std::sqrt(2 * 9.81), t = cut.run.events[0].t;
    EXPECT_NEAR(cut.run.events[0].x[2], -v, 1e-9);
    EXPECT_NEAR(cut.run.events[1].t - t, 1 / v, 1e-9);
    const std::size_t last = cut.run.rows() - 1;
    EXPECT_NEAR(cut.at(last, "x"), -1, 1e-9);
    EXPECT_NEAR(cut.at(last, "x'"), 0, 1e-12);
    EXPECT_NEAR(cut.at(last, "y'"), -9.81 * (1 - t), 1e-8);
    EXPECT_EQ(cut.at(last, "lambda(string)"), 0);
}

}  // namespace
}  // namespace appell
