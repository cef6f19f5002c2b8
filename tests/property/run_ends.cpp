// Where runs begin and end: at switches, far from t = 0, backwards in time, in windows of any length.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_adaptive{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double log_uniform(double a, double b) { return std::exp(uniform(std::log(a), std::log(b))); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

RunOptions window(double from, double until, std::size_t k) {
    RunOptions options;
    options.from = from;
    options.until = until;
    options.integrator = k_adaptive[k % k_adaptive.size()];
    options.rtol = 1e-9;
    options.atol = 1e-11;
    return options;
}

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

// a force from a to b; the run begins or ends where it switches, or between, or beside
TEST(RunEnds, AtSwitchesOfTime) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(60); ++k) {
        const double a = draw.uniform(-3, 3), b = a + draw.log_uniform(1e-3, 3), F = draw.uniform(-2, 2),
                     v0 = draw.uniform(-1, 1);
        const std::array places{a - 1, a, 0.5 * (a + b), b, b + 1};
        const std::size_t from = k % 5, until = (k / 5 + from + 1) % 5;
        if (from == until) continue;
        const TextRun r = run_text(fmt::format("system pulse\ncoord x = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = if(t >= {} and t < {}, {}, 0)*N.x\nrun for 1, every 0.3\n",
                                               text(v0), text(a), text(b), text(F)),
                                   window(places[from], places[until], k));
        // in either direction: what the force adds to the speed between the two
        const auto pushed = [&](double t) { return F * (std::clamp(t, a, b) - a); };
        const auto moved = [&](double t) {
            const double in = std::clamp(t, a, b) - a, behind = std::max(t - b, 0.0);
            return F * (0.5 * in * in + (b - a) * behind);
        };
        const double t0 = places[from], t1 = places[until];
        EXPECT_NEAR(last(r, "x'"), v0 + pushed(t1) - pushed(t0), 1e-8) << k;
        EXPECT_NEAR(last(r, "x"), (v0 - pushed(t0)) * (t1 - t0) + moved(t1) - moved(t0), 1e-7) << k;
        EXPECT_EQ(r.run.t(r.run.rows() - 1), t1) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-8) << k;
    }
}

// a force that acts beyond x = 0, in a motion that begins or ends there
TEST(RunEnds, AtSwitchesOfTheState) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double v = draw.uniform(0.2, 2), F = draw.uniform(0.1, 2), T = draw.uniform(0.1, 1), x0 = k % 2 == 0 ? 0 : -v * T;
        const TextRun r = run_text(fmt::format("system edge\ncoord x = {}\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = if(x > 0, {}, 0)*N.x\nrun for 1\n",
                                               text(x0), text(v), text(F)),
                                   window(0, T, k));
        // it sets out where the force begins, or it ends there
        const double pushed = k % 2 == 0 ? T : 0;
        EXPECT_NEAR(last(r, "x'"), v + F * pushed, 1e-7) << k;
        EXPECT_NEAR(last(r, "x"), x0 + v * T + 0.5 * F * pushed * pushed, 1e-7) << k;
    }
}

// there and back again
TEST(RunEnds, BackwardsTheMotionIsUndone) {
    Draw draw(3);
    const std::array laws{
        "-{0}*x*N.x - {1}*vel(P)",                                    // it dissipates: backwards it grows
        "-{0}*x*N.x + {1}*sin(3*t)*N.x",                              // driven
        "if(x > 0.2, -{0}*(x - 0.2), 0)*N.x - {1}*x^3*N.x",           // a spring with a gap
        "-{0}*x*N.x + if(t > 0.4 and t < 0.9, {1}, -{1})*N.x",        // pulses
        "-{0}*abs(x)*x*N.x - {1}*max(0, x')*N.x - {1}*min(x, 0)*N.x"  // corners
    };
    for (std::size_t k = 0; k < members(60); ++k) {
        const double t0 = draw.uniform(-1, 1), t1 = t0 + draw.uniform(0.5, 2), x0 = draw.uniform(-1, 1), v0 = draw.uniform(-1, 1);
        const auto model = [&](double x, double v, const std::string& law) {
            return fmt::format(
                "system there\ncoord x = {}\nstart x' = {}\nparticle P mass 1 at O + x*N.x\nforce on P = {}\n"
                "event zero: x falling => report\nrun for 1\n",
                text(x), text(v), law);
        };
        const std::string law =
            fmt::format(fmt::runtime(laws[k % laws.size()]), text(draw.uniform(0.5, 3)), text(draw.uniform(0, 1)));
        const TextRun there = run_text(model(x0, v0, law), window(t0, t1, k));
        const TextRun back = run_text(model(last(there, "x"), last(there, "x'"), law), window(t1, t0, k));
        EXPECT_NEAR(last(back, "x"), x0, 1e-6) << k;
        EXPECT_NEAR(last(back, "x'"), v0, 1e-6) << k;
        EXPECT_TRUE(back.run.backwards());
        EXPECT_FALSE(there.run.backwards());
        // the same passages, last first
        ASSERT_EQ(back.run.events.size(), there.run.events.size()) << k << " " << law;
        for (std::size_t i = 0; i < back.run.events.size(); ++i)
            EXPECT_NEAR(back.run.events[i].t, there.run.events[there.run.events.size() - 1 - i].t, 1e-5) << k;
        EXPECT_LT(std::abs(last(back, "balance")), 1e-6) << k;
    }
}

TEST(RunEnds, BackwardsOnConstraints) {
    const std::string model =
        "system loop\ncoord x = {}, y = {}\nstart x' = {}, y' = {}\nparticle P mass 1 at O + x*N.x + y*N.y\n"
        "gravity -9.81*N.y\nconstraint c: x^2 + y^2 = 1\nrun for 1\n";
    for (std::size_t k = 0; k < k_adaptive.size(); ++k) {
        const TextRun there = run_text(fmt::format(fmt::runtime(model), 0.6, -0.8, 0.8, 0.6), window(0, 1, k));
        const auto end = [&](const char* column) { return text(last(there, column)); };
        const TextRun back =
            run_text(fmt::format(fmt::runtime(model), end("x"), end("y"), end("x'"), end("y'")), window(1, 0, k));
        EXPECT_NEAR(last(back, "x"), 0.6, 1e-6) << k;
        EXPECT_NEAR(last(back, "y'"), 0.6, 1e-6) << k;
    }
}

// At t = 1e9 numbers are 1.2e-7 apart: a state belongs to the time of its row, and errors of the times do not add up.
TEST(RunEnds, FarFromZero) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(48); ++k) {
        const double t0 = (k % 2 == 0 ? 1 : -1) * draw.log_uniform(1e6, 1e9), w = draw.uniform(0.5, 3), x0 = draw.uniform(-1, 1);
        const double v0 = draw.uniform(-1, 1), T = draw.uniform(0.5, 3) * (k % 3 == 0 ? -1 : 1);
        RunOptions options = window(t0, t0 + T, k);
        options.every = 1e-3 * std::abs(T) * draw.uniform(1, 100);
        const TextRun r = run_text(fmt::format("system far\ncoord x = {}\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = -{}*x*N.x\nrun for 1\n",
                                               text(x0), text(v0), text(w * w)),
                                   options);
        const double apart = std::abs(t0) * 2.3e-16, speed = std::abs(v0) + w * std::abs(x0);
        // The label of a row is off by its rounding; a step may end between two numbers. Beside that, the tolerances.
        for (std::size_t i = 0; i < r.run.rows(); ++i) {
            const double s = r.run.t(i) - t0;
            ASSERT_NEAR(r.at(i, "x"), x0 * std::cos(w * s) + v0 / w * std::sin(w * s), 2e-7 + 2 * apart * speed)
                << k << " t0 = " << t0 << " s = " << s;
        }
        EXPECT_EQ(r.run.t(r.run.rows() - 1), t0 + T) << k;
    }
}

// windows shorter than the output interval, and intervals that do not divide them
TEST(RunEnds, RowsOfAnyWindow) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(60); ++k) {
        const double t0 = draw.uniform(-5, 5), T = draw.log_uniform(1e-9, 10) * (k % 2 == 0 ? 1 : -1);
        RunOptions options = window(t0, t0 + T, k);
        options.every = std::abs(T) * draw.log_uniform(0.02, 50);
        const TextRun r = run_text(
            "system falls\ncoord x = 0\nstart x' = 1\nparticle P mass 1 at O + x*N.x\nforce on P = -3*N.x\nrun for 1\n", options);
        const double t1 = *options.until, whole = std::abs(t1 - t0) / *options.every;
        const auto rows = static_cast<std::size_t>(std::ceil(whole - 1e-9)) + 1;
        ASSERT_EQ(r.run.rows(), std::max<std::size_t>(rows, 2)) << k << " " << whole;
        EXPECT_EQ(r.run.t(0), t0);
        EXPECT_EQ(r.run.t(r.run.rows() - 1), t1);
        for (std::size_t i = 0; i < r.run.rows(); ++i) {
            const double s = r.run.t(i) - t0;
            EXPECT_NEAR(r.at(i, "x"), s - 1.5 * s * s, 1e-9 * (1 + s * s)) << k;
            if (i + 1 < r.run.rows()) {
                EXPECT_NE(r.run.t(i), r.run.t(i + 1));
            }
        }
    }
}

// Conditions whose instants numbers cannot tell apart are one instant, or none: no run hangs, and what is long enough counts.
TEST(RunEnds, InstantsCloserThanNumbers) {
    for (std::size_t k = 0; k < k_adaptive.size(); ++k)
        for (const double t0 : {0.5, 1e3}) {
            const double a = t0 + 0.25, b = std::nextafter(a, 1e9), c = a + 0.25;
            const TextRun r =
                run_text(fmt::format("system close\ncoord x = 0\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n"
                                     "force on P = (if(t > {0}, 1, 0) + if(t > {1}, 1, 0) + if(t > {2}, -2, 0))*N.x\n"
                                     "run for 1\n",
                                     text(a), text(b), text(c)),
                         window(t0, t0 + 1, k));
            EXPECT_NEAR(last(r, "x'"), 0.5, 1e-8) << k;
            EXPECT_NEAR(last(r, "x"), 0.25 * 0.25 + 0.5 * 0.5, 1e-7) << k;
        }
}

}  // namespace
}  // namespace appell
