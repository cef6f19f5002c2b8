// Slip in a plane that begins under a force which grows and turns, against an integration by hand in polar coordinates of the
// velocity that begins with a series.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_integrators{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};
constexpr std::array k_formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell"};

// A particle on a rough table, pushed by F along a direction that turns, and pressed down by N.
struct Pushed {
    double m, mu, f0, f1, angle, turning, n0, n1;

    [[nodiscard]] double size(double t) const { return f0 + f1 * t; }
    [[nodiscard]] double direction(double t) const { return angle + turning * t; }
    [[nodiscard]] double bound(double t) const { return mu * (n0 + n1 * t); }
    // where the force has grown to the bound
    [[nodiscard]] double slips_at() const { return std::max(0.0, (mu * n0 - f0) / (f1 - mu * n1)); }
    [[nodiscard]] std::string text(double end) const {
        return fmt::format(
            "system pushed\nparam m = {:.17g}, mu = {:.17g}\ncoord x = 0, y = 0, z = 0\n"
            "particle P mass m at O + x*N.x + y*N.y + z*N.z\n"
            "force on P = ({:.17g} + {:.17g}*t)*(cos({:.17g} + {:.17g}*t)*N.x + sin({:.17g} + {:.17g}*t)*N.y)\n"
            "force on P = -({:.17g} + {:.17g}*t)*N.z\n"
            "constraint table: dot(pos(P), N.z) = 0\nnonideal table: friction on P = mu*reaction(table)\n"
            "run for {:.17g}, every {:.17g}\n",
            m, mu, f0, f1, angle, turning, angle, turning, n0, n1, end, end / 4);
    }
};

struct State {
    double x = 0, y = 0, s = 0, p = 0;  // position, speed, direction of the velocity
};

State rate(const Pushed& by, double t, const State& at) {
    const double beside = by.direction(t) - at.p;
    return {at.s * std::cos(at.p), at.s * std::sin(at.p), (by.size(t) * std::cos(beside) - by.bound(t)) / by.m,
            by.size(t) * std::sin(beside) / (by.m * at.s)};
}

State moved(const State& a, double h, const State& r) { return {a.x + h * r.x, a.y + h * r.y, a.s + h * r.s, a.p + h * r.p}; }

// m s' = F cos - b, m s p' = F sin; where slip begins s = a e + c e^2/2, and the direction lags behind that of the force
State by_hand(const Pushed& by, double end) {
    const double t0 = by.slips_at(), e = 1e-4;
    const double a = (by.size(t0) - by.bound(t0)) / by.m, c = (by.f1 - by.mu * by.n1) / by.m;
    double t = t0 + e;
    State at{0, 0, a * e + c * e * e / 2, 0};
    // where p' is that of the force to first order, F sin(beside) = m s p'
    const double share = by.size(t0) / (by.size(t0) + by.m * a);
    const double lag = a > 0 ? (1 - share) * by.turning * e : by.m * at.s * by.turning / by.size(t);
    at.p = by.direction(t) - lag;
    at.x = (a * e * e / 2 + c * e * e * e / 6) * std::cos(at.p);
    at.y = (a * e * e / 2 + c * e * e * e / 6) * std::sin(at.p);
    while (t < end) {
        const double h = std::min({1e-4, 0.05 * by.m * at.s / by.size(t), end - t});
        const State k1 = rate(by, t, at), k2 = rate(by, t + h / 2, moved(at, h / 2, k1)),
                    k3 = rate(by, t + h / 2, moved(at, h / 2, k2)), k4 = rate(by, t + h, moved(at, h, k3));
        for (const auto& [k, part] : {std::pair(&k1, 1.0), std::pair(&k2, 2.0), std::pair(&k3, 2.0), std::pair(&k4, 1.0)})
            at = moved(at, h * part / 6, *k);
        t = h < end - t ? t + h : end;
    }
    return at;
}

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

void expect_by_hand(const Pushed& by, double end, const RunOptions& options, double tolerance) {
    const std::string text = by.text(end);
    const TextRun r = run_text(text, options);
    EXPECT_EQ(r.run.summary.reason, EndReason::finished);
    EXPECT_LT(r.run.summary.steps, 100'000u) << text;
    const State right = by_hand(by, end);
    const double size = std::hypot(right.x, right.y) + right.s * end;
    EXPECT_NEAR(last(r, "x"), right.x, tolerance * size) << text << *options.integrator;
    EXPECT_NEAR(last(r, "y"), right.y, tolerance * size) << text << *options.integrator;
    EXPECT_NEAR(last(r, "x'"), right.s * std::cos(right.p), tolerance * right.s) << text << *options.integrator;
    EXPECT_NEAR(last(r, "y'"), right.s * std::sin(right.p), tolerance * right.s) << text << *options.integrator;
}

Pushed draw_member(std::mt19937& random, bool changing_normal, bool jumps) {
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    Pushed by{};
    by.m = std::exp(uniform(std::log(0.1), std::log(10)));
    by.mu = uniform(0.1, 0.9);
    by.n0 = by.m * uniform(3, 20);
    const double bound = by.mu * by.n0;
    by.f0 = bound * (jumps ? uniform(1.02, 1.5) : uniform(0, 0.9));
    by.f1 = bound * uniform(0.5, 4);
    by.n1 = changing_normal ? by.n0 * uniform(-0.4, 0.4) : 0;
    by.angle = uniform(-std::numbers::pi, std::numbers::pi);
    by.turning = uniform(-4, 4);
    return by;
}

TEST(SlipOnset, AForceThatGrowsAndTurns) {
    std::mt19937 random(1);
    for (std::size_t k = 0; k < members(48); ++k) {
        const Pushed by = draw_member(random, k % 2 == 1, k % 4 >= 2);
        if (by.f1 - by.mu * by.n1 < 0.1 * by.f1) continue;
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        options.formulation = k_formulations[(k / k_integrators.size()) % k_formulations.size()];
        expect_by_hand(by, by.slips_at() + 0.5, options, 2e-6);
        options.rtol = 1e-10;
        options.atol = 1e-12;
        if (k % 4 == 0) expect_by_hand(by, by.slips_at() + 0.5, options, 3e-8);
        if (HasFailure()) return;
    }
}

// along a line that is none of the axes nothing turns, but for round-off
TEST(SlipOnset, AForceThatGrowsAlongALine) {
    std::mt19937 random(2);
    for (std::size_t k = 0; k < members(12); ++k) {
        Pushed by = draw_member(random, false, false);
        by.turning = 0;
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        const double t0 = by.slips_at(), after = 0.5, c = by.f1 / by.m;
        const TextRun r = run_text(by.text(t0 + after), options);
        EXPECT_NEAR(last(r, "x'"), c * after * after / 2 * std::cos(by.angle), 1e-6 * c) << *options.integrator;
        EXPECT_NEAR(last(r, "y"), c * after * after * after / 6 * std::sin(by.angle), 1e-6 * c) << *options.integrator;
        if (HasFailure()) return;
    }
}

// A table on feet around a circle of radius R, its mass centre at the height h above them.
struct Table {
    Table(std::mt19937& random, std::size_t feet, double highest) : feet(feet) {
        const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
        m = uniform(5, 30);
        mu = uniform(0.2, 0.4);
        R = uniform(0.4, 1);
        turned = uniform(-3, 3);
        h = uniform(0.1, highest);
    }
    [[nodiscard]] std::string text() const {
        std::string out = fmt::format(
            "system table\ncoord x = 0, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0\n"
            "frame B from N body zyx (yaw, pitch, roll)\n"
            "body T frame B mass {:.17g} center at O + x*N.x + y*N.y + (z + {:.17g})*N.z inertia (2, 2, 2.5)\n"
            "gravity -9.81*N.z\n",
            m, h);
        for (std::size_t i = 0; i < feet; ++i) {
            const double at = turned + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(feet);
            out += fmt::format(
                "point F{} at T_o + {:.17g}*B.x + {:.17g}*B.y - {:.17g}*B.z\n"
                "constraint c{}: dot(pos(F{}), N.z) >= 0\nnonideal c{}: friction on T at F{} = {:.17g}*reaction(c{})\n",
                i, R * std::cos(at), R * std::sin(at), h, i, i, i, i, mu, i);
        }
        return out;
    }
    [[nodiscard]] double holds() const { return mu * m * 9.81; }

    std::size_t feet;
    double m = 0, mu = 0, R = 0, turned = 0, h = 0;
};

// A table on three to five feet, whose frictions are not unique while they stick, is pushed until all of them give way.
TEST(SlipOnset, TablesOnFeet) {
    std::mt19937 random(5);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    for (std::size_t k = 0; k < members(12); ++k) {
        const Table table(random, 3 + k % 3, 0.6);
        const double m = table.m, grows = table.holds() * uniform(0.5, 2), slips = table.holds() / grows;
        std::string text = table.text();
        text += fmt::format("force on T at T_o = {:.17g}*t*N.x\nrun for {:.17g}, every 1\n", grows, slips + 0.4);
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        options.max_steps = 20'000;
        const TextRun r = run_text(text, options);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << text << *options.integrator;
        EXPECT_NEAR(last(r, "x"), grows * 0.4 * 0.4 * 0.4 / (6 * m), 1e-6) << text << *options.integrator;
        EXPECT_NEAR(last(r, "x'"), grows * 0.4 * 0.4 / (2 * m), 1e-6) << text << *options.integrator;
        EXPECT_NEAR(last(r, "yaw"), 0, 1e-7) << text << *options.integrator;
    }
}

// Pushed beside its mass centre a table turns while it gives way; how its feet share the load moves it then. Integrators that
// have nothing in common agree.
TEST(SlipOnset, TablesThatTurnWhileTheyGiveWay) {
    std::mt19937 random(6);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    for (std::size_t k = 0; k < members(5); ++k) {
        const Table table(random, 3 + k % 3, 0.3);
        std::string text = table.text() + fmt::format("point Q at T_o + {:.17g}*B.y\n", uniform(0.05, 0.4) * table.R);
        text += fmt::format("force on T at Q = {:.17g}*t*N.x\nrun for 1.3, every 1.3\n", table.holds());
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        options.max_steps = 20'000;
        RunOptions tight;
        tight.integrator = "ida";
        tight.rtol = tight.atol = 1e-10;
        const TextRun r = run_text(text, options), reference = run_text(text, tight);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << text << *options.integrator;
        ASSERT_EQ(reference.run.summary.reason, EndReason::finished) << text;
        for (const char* q : {"x", "y", "yaw", "x'", "y'", "yaw'"})
            EXPECT_NEAR(last(r, q), last(reference, q), 1e-5) << q << '\n' << text << *options.integrator;
    }
}

// the reverse: slip that comes to rest beside the force, and turns towards it
TEST(SlipOnset, ComesToRestInThePlane) {
    std::mt19937 random(4);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    for (std::size_t k = 0; k < members(24); ++k) {
        Pushed by = draw_member(random, true, false);
        by.f0 = by.mu * by.n0 * uniform(0.05, 0.4);
        by.f1 = by.mu * by.n0 * uniform(0, 0.1);
        State at{0, 0, uniform(0.3, 1), by.angle + uniform(-3, 3)};
        const std::string start = fmt::format("start x' = {:.17g}, y' = {:.17g}\n", at.s * std::cos(at.p), at.s * std::sin(at.p));
        double t = 0;
        while (at.s > 1e-7) {
            const double h = std::min(1e-4, 0.02 * by.m * at.s / (by.size(t) + by.bound(t)));
            const State k1 = rate(by, t, at), k2 = rate(by, t + h / 2, moved(at, h / 2, k1));
            const State k3 = rate(by, t + h / 2, moved(at, h / 2, k2)), k4 = rate(by, t + h, moved(at, h, k3));
            for (const auto& [r, part] : {std::pair(&k1, 1.0), std::pair(&k2, 2.0), std::pair(&k3, 2.0), std::pair(&k4, 1.0)})
                at = moved(at, h * part / 6, *r);
            t += h;
        }
        if (t > 1.5) continue;  // the normal force may have changed too much
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        const TextRun r = run_text(by.text(t * 1.05) + start, options);
        EXPECT_EQ(r.run.events.back().what, "table sticks") << by.text(t * 1.05) << start;
        EXPECT_NEAR(last(r, "x"), at.x, 1e-6) << by.text(t * 1.05) << start << *options.integrator;
        EXPECT_NEAR(last(r, "y"), at.y, 1e-6) << by.text(t * 1.05) << start << *options.integrator;
        EXPECT_NEAR(last(r, "x'"), 0, 1e-12);
    }
}

TEST(SlipOnset, FixedSteps) {
    std::mt19937 random(3);
    for (std::size_t k = 0; k < members(4); ++k) {
        const Pushed by = draw_member(random, true, false);
        RunOptions options;
        options.integrator = k % 2 == 0 ? "rk4" : "merson";
        options.step = 2e-4;
        expect_by_hand(by, by.slips_at() + 0.5, options, 1e-4);
    }
}

}  // namespace
}  // namespace appell
