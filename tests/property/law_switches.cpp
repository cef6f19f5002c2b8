// Laws that switch, by time and by state, against closed forms: random pulses of forces, torques and prescribed velocities, square
// waves, springs with gaps, supports that jump.
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

constexpr std::array k_adaptive{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double log_uniform(double a, double b) { return std::exp(uniform(std::log(a), std::log(b))); }
    double sign() { return uniform(-1, 1) < 0 ? -1 : 1; }

private:
    std::mt19937 random_;
};

// numbers with all their digits
std::string text(double x) { return fmt::format("({:.17g})", x); }

TextRun run_with(const std::string& model, const char* integrator) {
    RunOptions options;
    options.integrator = integrator;
    return run_text(model, options);
}

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

TEST(LawSwitches, ForcePulses) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(); ++k) {
        const double T = draw.log_uniform(0.1, 100), width = T * draw.log_uniform(1e-6, 1), begin = draw.uniform(-0.1, 1) * T;
        const double from = std::max(begin, 0.0), to = std::min(begin + width, T), F = draw.uniform(-3, 3), m = draw.uniform(0.5, 2);
        const double x0 = draw.uniform(-1, 1), v0 = draw.uniform(-1, 1);
        const TextRun r = run_with(fmt::format("system pulse\ncoord x = {}\nstart x' = {}\nparticle P mass {} at O + x*N.x\n"
                                               "force on P = if(t >= {} and t < {}, {}, 0)*N.x\nrun for {}, rtol 1e-9, atol 1e-11\n",
                                               text(x0), text(v0), text(m), text(begin), text(begin + width), text(F), text(T)),
                                   k_adaptive[k % k_adaptive.size()]);
        const double w = std::max(to - from, 0.0);
        const double v = v0 + F / m * w, x = x0 + v0 * T + F / m * (0.5 * w * w + w * (T - to));
        const double size = 1 + std::abs(x) + T * std::abs(v0);
        EXPECT_NEAR(last(r, "x'"), v, 1e-8 * size) << k;
        EXPECT_NEAR(last(r, "x"), x, 1e-8 * size * (1 + T)) << k;
    }
}

TEST(LawSwitches, SquareWaves) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double w = draw.log_uniform(1, 100), phase = draw.uniform(-3, 3), T = draw.uniform(1, 10), t0 = draw.uniform(-5, 5);
        const TextRun r =
            run_with(fmt::format("system wave\ncoord x = 0\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n"
                                 "force on P = if(sin({}*t + {}) > 0, 1, -0.5)*N.x\nrun from {}, for {}, rtol 1e-9, atol 1e-11\n",
                                 text(w), text(phase), text(t0), text(T)),
                     k_adaptive[k % k_adaptive.size()]);
        // the time that the sine is positive up to s: of the phase
        constexpr double pi = std::numbers::pi;
        const auto positive = [&](double s) {
            const double turns = std::floor(s / (2 * pi));
            return turns * pi + std::min(s - 2 * pi * turns, pi);
        };
        const double up = (positive(w * (t0 + T) + phase) - positive(w * t0 + phase)) / w;
        EXPECT_NEAR(last(r, "x'"), up - 0.5 * (T - up), 1e-8) << k;
        const double crossings = std::abs(std::floor((w * (t0 + T) + phase) / pi) - std::floor((w * t0 + phase) / pi));
        EXPECT_EQ(static_cast<double>(r.run.law_switches), crossings) << k;
    }
}

TEST(LawSwitches, TorquePulsesOnAPendulumAtRest) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double T = draw.uniform(1, 5), width = T * draw.log_uniform(1e-6, 0.5), begin = draw.uniform(0, 0.5) * T;
        const double M = draw.uniform(-3, 3), J = draw.uniform(0.1, 2);
        const TextRun r = run_with(
            fmt::format("system rod\ncoord a = 0\nstart a' = 0\nframe B from N rotate a about z\n"
                        "body B frame B mass 1 center O inertia (1, 1, {})\ntorque on B = {}*max(0, sign((t - {})*({} - t)))*N.z\n"
                        "run for {}, rtol 1e-9, atol 1e-11\n",
                        text(J), text(M), text(begin), text(begin + width), text(T)),
            k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "a'"), M * width / J, 1e-8) << k;
        EXPECT_NEAR(last(r, "a"), M / J * width * (T - begin - 0.5 * width), 1e-7) << k;
    }
}

// the mass is thrown to the new velocity at once, by an impulse that the ledger knows
TEST(LawSwitches, PrescribedVelocities) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double T = draw.uniform(1, 5), width = T * draw.log_uniform(1e-5, 0.5), begin = draw.uniform(0.01, 0.5) * T;
        const double v = draw.uniform(-3, 3), m = draw.uniform(0.5, 2);
        const TextRun r = run_with(fmt::format("system pushed\ncoord x = 0, y = 0\nstart y' = 1\nparticle P mass {} at O + x*N.x + "
                                               "y*N.y\nconstraint c: x' = if(t > {} and t < {}, {}, 0)\nrun for {}, rtol 1e-9, "
                                               "atol 1e-11\n",
                                               text(m), text(begin), text(begin + width), text(v), text(T)),
                                   k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x"), v * width, 1e-7) << k;
        EXPECT_NEAR(last(r, "x'"), 0, 1e-10) << k;
        EXPECT_NEAR(last(r, "y"), T, 1e-7) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-8) << k;
        EXPECT_EQ(r.run.events.size(), 2u) << k;
    }
}

// a pendulum keeps its momentum along the circle when the velocity of its support jumps
TEST(LawSwitches, SupportsThatJump) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double V = draw.uniform(-2, 2), l = draw.uniform(0.5, 2), a0 = draw.uniform(-1, 1), w0 = draw.uniform(-1, 1);
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        options.at_events = true;
        const TextRun r = run_text(fmt::format("system support\ncoord a = {}\nstart a' = {}\npoint S at O + {}*max(0, t - 1)*N.x\n"
                                               "frame B from N rotate a about z\nparticle P mass 1.5 at S - {}*B.y\n"
                                               "gravity -9.81*N.y\nrun for 2, every 0.3, rtol 1e-10, atol 1e-12\n",
                                               text(a0), text(w0), text(V), text(l)),
                                   options);
        std::size_t i = 0;
        while (i + 1 < r.run.rows() && std::abs(r.run.t(i) - 1) > 1e-12) ++i;
        ASSERT_LT(i + 1, r.run.rows());
        ASSERT_EQ(r.run.t(i + 1), r.run.t(i)) << k;
        const double a = r.at(i, "a");
        EXPECT_NEAR(r.at(i + 1, "a'"), r.at(i, "a'") - V * std::cos(a) / l, 1e-9) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-6) << k;
    }
}

// a spring that is met after a gap, and left again after half a period
TEST(LawSwitches, SpringsWithGaps) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(); ++k) {
        const double gap = draw.log_uniform(1e-3, 10), v = draw.log_uniform(0.1, 10), stiffness = draw.log_uniform(1, 1e6);
        const double w = std::sqrt(stiffness), back = gap / v + std::numbers::pi / w, T = back + draw.uniform(0.1, 1) * gap / v;
        const std::string law = k % 2 == 0 ? fmt::format("-{}*max(0, x - {})", text(stiffness), text(gap))
                                           : fmt::format("if(x > {}, -{}*(x - {}), 0)", text(gap), text(stiffness), text(gap));
        const TextRun r = run_with(fmt::format("system gap\ncoord x = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = ({})*N.x\nrun for {}, rtol 1e-10, atol 1e-12\n",
                                               text(v), law, text(T)),
                                   k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x'"), -v, 1e-7 * v) << k << ' ' << k_adaptive[k % k_adaptive.size()];
        EXPECT_NEAR(last(r, "x"), gap - v * (T - back), 1e-6 * (gap + v)) << k;
        EXPECT_EQ(r.run.law_switches, 2u) << k;
    }
}

// constant forces towards the middle, from either side: parabolas
TEST(LawSwitches, ForcesThatJumpWithTheState) {
    Draw draw(7);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double v = draw.log_uniform(0.1, 10), F = draw.log_uniform(0.1, 10);
        const double quarter = v / F;  // up to the turning point
        const TextRun r = run_with(fmt::format("system bang\ncoord x = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = -{}*sign(x)*N.x\nrun for {}, rtol 1e-10, atol 1e-12\n",
                                               text(v), text(F), text(9 * quarter)),
                                   k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x'"), 0, 1e-7 * v) << k;
        EXPECT_NEAR(last(r, "x"), 0.5 * v * v / F, 1e-6 * v * v / F) << k;
        EXPECT_EQ(r.run.law_switches, 4u) << k;
    }
}

TEST(LawSwitches, MotionAlongADiscontinuityIsNamed) {
    for (const char* start : {"2", "1", "0.3"}) {
        Derivation derivation = derive_text(fmt::format("system dry\ncoord x = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                                        "force on P = -sign(x')*N.x\nrun for 10\n",
                                                        start));
        const auto result = run(derivation, {});
        ASSERT_TRUE(result);
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0832)) << render(derivation.diagnostics, derivation.sources);
        EXPECT_NEAR(result->summary.t_end, std::stod(start), 1e-8);
        EXPECT_LT(result->summary.steps, 1000u);
    }
}

}  // namespace
}  // namespace appell
