// Balls thrown over random terrains, against a flight along parabolas that is looked at in tiny steps: no crest is passed
// through, and no row lies below the ground.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_integrators{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

struct Terrain {
    double height = 0, waves = 0, phase = 0, slope = 0;

    [[nodiscard]] double at(double x) const { return height * std::sin(waves * x + phase) + slope * x; }
    [[nodiscard]] double rise(double x) const { return height * waves * std::cos(waves * x + phase) + slope; }
};

struct Throw {
    double x, y, vx, vy, gravity, restitution;
};

// an impact: where, and the velocity after it
struct Hit {
    double x, vx, vy;
};

// the first time at which the gap is zero, by steps in which ball and wave move very little
std::optional<double> first_touch(const Terrain& ground, const Throw& b, double until) {
    const auto gap = [&](double t) { return b.y + t * (b.vy - 0.5 * b.gravity * t) - ground.at(b.x + b.vx * t); };
    const double step = 1e-3 / (1 + std::abs(b.vx) * ground.waves);
    for (double t = 0; t < until; t += step) {
        double low = t, high = std::min(t + step, until);
        if (gap(high) > 0) continue;
        if (t == 0 && gap(0.5 * step) < 0) return std::nullopt;  // it sets out into the ground
        for (int i = 0; i < 100; ++i) {
            const double middle = 0.5 * (low + high);
            (gap(middle) > 0 ? low : high) = middle;
        }
        return 0.5 * (low + high);
    }
    return until;
}

Hit reflected(const Terrain& ground, const Throw& b, double t) {
    const double x = b.x + b.vx * t, vx = b.vx, vy = b.vy - b.gravity * t;
    const double rise = ground.rise(x), square = 1 + rise * rise;
    const double into = (vy - rise * vx) / square;  // along (-rise, 1)
    return {x, vx + (1 + b.restitution) * into * rise, vy - (1 + b.restitution) * into};
}

TEST(Terrains, AreNeverPassedThrough) {
    std::size_t compared = 0;
    for (std::size_t k = 0; k < members(); ++k) {
        std::mt19937 random(static_cast<unsigned>(k));
        const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
        const Terrain ground{uniform(0.05, 0.6), uniform(1, 40), uniform(0, 6), uniform(-0.3, 0.3)};
        Throw ball{uniform(-1, 1), 0, uniform(-6, 6), uniform(-1, 5), uniform(2, 12), uniform(0.3, 1)};
        ball.y = ground.at(ball.x) + uniform(0.05, 1.5);
        const double duration = uniform(0.5, 2);
        const std::string text = fmt::format(
            "system ball\ncoord x = ({:.17g}), y = ({:.17g})\nstart x' = ({:.17g}), y' = ({:.17g})\nparticle P mass 1 at O + "
            "x*N.x + "
            "y*N.y\ngravity -({:.17g})*N.y\nconstraint hills: y - ({:.17g})*sin(({:.17g})*x + ({:.17g})) - ({:.17g})*x >= 0 "
            "restitution ({:.17g})\nevent over: x - 1e9 => report\nrun for ({:.17g}), every 0.01, rtol 1e-10, atol 1e-12\n",
            ball.x, ball.y, ball.vx, ball.vy, ball.gravity, ground.height, ground.waves, ground.phase, ground.slope,
            ball.restitution, duration);
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        SCOPED_TRACE(fmt::format("{}: {}", *options.integrator, text));
        const TextRun r = run_text(text, options);
        for (std::size_t i = 0; i < r.run.rows(); ++i)
            EXPECT_GE(r.at(i, "y") - ground.at(r.at(i, "x")), -1e-9) << k << " at " << r.run.t(i) << '\n' << text;
        // impact by impact, each from the run's own state after the last one: chaos of many bounces is no part of the question
        double begin = 0;
        for (std::size_t impacts = 0; impacts < 5; ++impacts) {
            const std::optional<double> t = first_touch(ground, ball, duration - begin);
            if (!t || *t >= duration - begin) break;
            const Hit hit = reflected(ground, ball, *t);
            const double into = ball.vy - ball.gravity * *t - ground.rise(hit.x) * ball.vx;
            if (std::abs(into) < 0.05) break;  // it grazes
            ASSERT_GT(r.run.events.size(), impacts) << k << ": no impact at " << begin + *t;
            const RunEvent& event = r.run.events[impacts];
            EXPECT_NEAR(event.t, begin + *t, 1e-7) << k;
            EXPECT_NEAR(event.x[2], hit.vx, 1e-5 * (1 + ground.waves)) << k;
            EXPECT_NEAR(event.x[3], hit.vy, 1e-5 * (1 + ground.waves)) << k;
            begin = event.t;
            ball = {event.x[0], event.x[1], event.x[2], event.x[3], ball.gravity, ball.restitution};
            ++compared;
        }
    }
    EXPECT_GT(compared, members());
}

// A ball that hardly loses speed bounces thousands of times, the last times as low as the tolerances, before it stays.
TEST(Terrains, NearlyElasticBallsComeToRest) {
    for (std::size_t k = 0; k < members(12); ++k) {
        std::mt19937 random(static_cast<unsigned>(k));
        const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
        const double e = 1 - std::pow(10, uniform(-2.8, -1)), height = std::pow(10, uniform(-5.7, -4.7)), g = uniform(2, 12);
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        const double fall = std::sqrt(2 * height / g), rest = fall * (1 + e) / (1 - e);
        const std::string text = fmt::format(
            "system ball\ncoord y = 1 + {:.17g}\nparticle P mass 1 at O + y*N.y\ngravity -({:.17g})*N.y\nconstraint floor: y >= "
            "1 "
            "restitution {:.17g}\nrun for {:.17g}, every {:.17g}, rtol 1e-12, atol 1e-14\n",
            height, g, e, 1.2 * rest, 0.05 * rest);
        SCOPED_TRACE(fmt::format("{}: {}", *options.integrator, text));
        const TextRun r = run_text(text, options);
        ASSERT_FALSE(r.run.events.empty());
        EXPECT_EQ(r.at(r.run.rows() - 1, "y'"), 0);
        EXPECT_NEAR(r.at(r.run.rows() - 1, "y"), 1, 1e-11);
        if (k % k_integrators.size() >= 2) continue;  // the others know a height to several times atol only
        // each bounce is e^2 as high as the one before, down to the lowest there is
        const auto bounces = [&](double lowest) { return std::log(lowest / height) / (2 * std::log(e)); };
        EXPECT_LT(static_cast<double>(r.run.event_count), 1.1 * bounces(1e-14) + 2);
        EXPECT_GT(static_cast<double>(r.run.event_count), 0.9 * bounces(3e-13) - 2);
        EXPECT_NEAR(r.run.events.front().t, fall, 1e-7 * fall);
    }
}

}  // namespace
}  // namespace appell
