// Laws that switch, by time and by state, against closed forms: random pulses of forces, torques and prescribed velocities,
// square waves, springs with gaps, supports that jump.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
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
        const double from = std::max(begin, 0.0), to = std::min(begin + width, T), F = draw.uniform(-3, 3),
                     m = draw.uniform(0.5, 2);
        const double x0 = draw.uniform(-1, 1), v0 = draw.uniform(-1, 1);
        const TextRun r =
            run_with(fmt::format("system pulse\ncoord x = {}\nstart x' = {}\nparticle P mass {} at O + x*N.x\n"
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
            fmt::format(
                "system rod\ncoord a = 0\nstart a' = 0\nframe B from N rotate a about z\n"
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
        const double T = draw.uniform(1, 5), width = T * draw.log_uniform(1e-6, 0.5), begin = draw.uniform(0.01, 0.5) * T;
        const double v = draw.uniform(-3, 3), m = draw.uniform(0.5, 2);
        const TextRun r =
            run_with(fmt::format("system pushed\ncoord x = 0, y = 0\nstart y' = 1\nparticle P mass {} at O + x*N.x + "
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
        const TextRun r =
            run_text(fmt::format("system support\ncoord a = {}\nstart a' = {}\npoint S at O + {}*max(0, t - 1)*N.x\n"
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

// the part of [0, T] where a condition holds: fine samples, and halving where they differ
template <class F>
double part_where(F holds, double T) {
    constexpr int k_samples = 50'000;
    double part = 0;
    for (int i = 0; i < k_samples; ++i) {
        double a = T * i / k_samples, b = T * (i + 1) / k_samples;
        const double whole = b - a;
        const bool first = holds(a);
        if (first == holds(b)) {
            part += first ? whole : 0;
            continue;
        }
        const double begin = a;
        for (int k = 0; k < 50; ++k) (holds(0.5 * (a + b)) == first ? a : b) = 0.5 * (a + b);
        part += first ? a - begin : begin + whole - a;
    }
    return part;
}

struct TimeCondition {
    std::string text;
    std::function<bool(double)> holds;
};

TimeCondition time_condition(Draw& draw, std::size_t kind) {
    const double a = draw.uniform(1, 40), b = draw.uniform(0.5, 9), c = draw.uniform(-0.9, 0.9), d = draw.uniform(0.1, 1);
    switch (kind % 8) {
        case 0:
            return {fmt::format("sin({}*t) + {}*cos({}*t) > {}", text(a), text(d), text(b), text(c)),
                    [=](double t) { return std::sin(a * t) + d * std::cos(b * t) > c; }};
        case 1: return {fmt::format("sin({}*t^2) > {}", text(b), text(c)), [=](double t) { return std::sin(b * t * t) > c; }};
        case 2:
            return {fmt::format("exp(-{}*t)*sin({}*t) > {}", text(d), text(a), text(0.1 * c)),
                    [=](double t) { return std::exp(-d * t) * std::sin(a * t) > 0.1 * c; }};
        case 3:
            return {fmt::format("sin(1/(t + {})) > {}", text(0.03 * d + 0.01), text(c)),
                    [=](double t) { return std::sin(1 / (t + 0.03 * d + 0.01)) > c; }};
        case 4: return {fmt::format("tan({}*t) > {}", text(b), text(c)), [=](double t) { return std::tan(b * t) > c; }};
        case 5: return {fmt::format("({0}*t - 2)^3 > 0", text(b)), [=](double t) { return b * t > 2; }};
        case 6:
            return {fmt::format("if(sin({}*t) > {}, t - {}, {} - t) > 0", text(b), text(c), text(d), text(b)),
                    [=](double t) { return (std::sin(b * t) > c ? t - d : b - t) > 0; }};
        default:
            return {fmt::format("sin({0}*t) > {1} and not (cos({2}*t) < {1} or t < {3})", text(a), text(c), text(b), text(d)),
                    [=](double t) { return std::sin(a * t) > c && !(std::cos(b * t) < c || t < d); }};
    }
}

// their instants are enclosed, however narrow the passages
TEST(LawSwitches, ConditionsOfTimeOfEveryForm) {
    Draw draw(8);
    for (std::size_t k = 0; k < members(); ++k) {
        const TimeCondition c = time_condition(draw, k);
        const double T = 3;
        const TextRun r = run_with(fmt::format("system times\ncoord x = 0\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = if({}, 1, 0)*N.x\nrun for {}, rtol 1e-9, atol 1e-11\n",
                                               c.text, text(T)),
                                   k_adaptive[k % k_adaptive.size()]);
        // samples may miss two passages between them
        EXPECT_NEAR(last(r, "x'"), part_where(c.holds, T), 2 * T / 50'000) << k << ' ' << c.text;
    }
}

// pulses about an instant, as narrow as the time resolves
TEST(LawSwitches, NarrowPulses) {
    Draw draw(9);
    for (std::size_t k = 0; k < members(); ++k) {
        const double T = draw.log_uniform(0.1, 100), half = T * draw.log_uniform(1e-10, 1e-2), at = T * draw.uniform(0.05, 0.9);
        const TextRun r =
            run_with(fmt::format("system narrow\ncoord x = 0\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n"
                                 "force on P = if(abs(t - {}) < {}, {}, 0)*N.x\nrun for {}, rtol 1e-9, atol 1e-11\n",
                                 text(at), text(half), text(1 / (2 * half)), text(T)),
                     k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x'"), 1, 1e-9 + 4e-16 * T / half) << k;
        EXPECT_NEAR(last(r, "x"), T - at, (1e-8 + 4e-16 * T / half) * T) << k;
    }
}

// many conditions, with instants that coincide but for round-off, among them those where the run begins and ends
TEST(LawSwitches, InstantsThatCoincide) {
    Draw draw(10);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double T = draw.uniform(0.5, 3), t0 = draw.uniform(-2, 2), at = t0 + draw.uniform(0.1, 0.9) * T;
        const TextRun r =
            run_with(fmt::format("system together\ncoord x = 0\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n"
                                 "force on P = (if(t > {0}, 1, 0) + if(3*t > 3*{0}, 1, 0) + if(exp(t) >= exp({0}), 1, 0) + "
                                 "if(t^3 > ({0})^3, 1, 0) + if(t > {1}, 1, 0) + if(t >= {2}, 7, 0))*N.x\n"
                                 "run from {1}, for {3}, rtol 1e-9, atol 1e-11\n",
                                 text(at), text(t0), text(t0 + T), text(T)),
                     k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x'"), 4 * (t0 + T - at) + T, 1e-9) << k;
        EXPECT_EQ(r.run.law_switches, 4u) << k;
    }
}

// harmonic motion whose stiffness, rest length, damping or gravity switches, against the pieces put together
TEST(LawSwitches, SpringsDampersAndPotentials) {
    Draw draw(11);
    for (std::size_t k = 0; k < members(60); ++k) {
        const double at = draw.uniform(0.2, 0.8), k1 = draw.uniform(1, 30), k2 = draw.uniform(1, 30), x0 = draw.uniform(0.5, 1.5);
        const double w1 = std::sqrt(k1), w2 = std::sqrt(k2);
        const std::array laws{
            fmt::format("spring P O stiffness if(t > {}, {}, {})\n", text(at), text(k2), text(k1)),
            fmt::format("potential if(t > {}, {}, {})*x^2/2\n", text(at), text(k2), text(k1)),
            fmt::format("force on P = -if(t > {}, {}, {})*x*N.x\n", text(at), text(k2), text(k1)),
            fmt::format("function s(a, b) = if(a > b, {}, {})\nforce on P = -s(t, {})*(P - O)\n", text(k2), text(k1), text(at))};
        const TextRun r = run_with("system pieces\ncoord x = " + text(x0) + "\nstart x' = 0\nparticle P mass 1 at O + x*N.x\n" +
                                       laws[k % laws.size()] + "run for 1, rtol 1e-10, atol 1e-12\n",
                                   k_adaptive[k % k_adaptive.size()]);
        const double x = x0 * std::cos(w1 * at), v = -x0 * w1 * std::sin(w1 * at), s = 1 - at;
        EXPECT_NEAR(last(r, "x"), x * std::cos(w2 * s) + v / w2 * std::sin(w2 * s), 1e-7) << k;
        EXPECT_NEAR(last(r, "x'"), v * std::cos(w2 * s) - x * w2 * std::sin(w2 * s), 1e-6) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-6) << k;
    }
}

// a family: each member meets its own wall, all at different instants
TEST(LawSwitches, FamiliesOfConditions) {
    const TextRun r = run_with(
        "system family\nsize n = 100\nfor i in 1..n\n  coord x[i] = i\n  particle P[i] mass 1 at O + x[i]*N.x\n"
        "  force on P[i] = -10*max(0, x[i] - i - 0.1)*N.x\n  start x[i]' = 0.1 + 0.01*i\nend\n"
        "run for 2, rtol 1e-9, atol 1e-11\n",
        "dopri5");
    const double w = std::sqrt(10.0);
    double switches = 0;
    for (int i = 1; i <= 100; ++i) {
        const double v = 0.1 + 0.01 * i, in = 0.1 / v, out = in + std::numbers::pi / w;
        const double expected = in > 2 ? 2 * v : out > 2 ? 0.1 + v / w * std::sin(w * (2 - in)) : 0.1 - v * (2 - out);
        EXPECT_NEAR(last(r, fmt::format("x[{}]", i)), i + expected, 1e-6) << i;
        switches += (in < 2 ? 1 : 0) + (out < 2 ? 1 : 0);
    }
    EXPECT_EQ(static_cast<double>(r.run.law_switches), switches);
}

// conditions that hold for an instant only, where the run begins
TEST(LawSwitches, ConditionsThatBeginOnTheirSurface) {
    const std::array laws{"abs(sign(t))",         "if(t == 0, 7, 1)",   "sign(x + t)",
                          "if(x + t >= 0, 1, 0)", "abs(sign(sign(x)))", "min(sign(2*sin(t)), sign(sin(t)))"};
    for (std::size_t k = 0; k < laws.size() * k_adaptive.size(); ++k) {
        const std::string law = laws[k % laws.size()];
        const TextRun r = run_with(fmt::format("system begin\ncoord x = 0\nstart x' = 0.5\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = ({})*N.x\nrun for 1, rtol 1e-9, atol 1e-11\n",
                                               law),
                                   k_adaptive[k / laws.size()]);
        EXPECT_NEAR(last(r, "x'"), 1.5, 1e-8) << law << ' ' << k_adaptive[k / laws.size()];
        EXPECT_EQ(r.run.law_switches, 0u) << law << ' ' << k_adaptive[k / laws.size()];
    }
}

// an event on zero where a law switches by time is not missed
TEST(LawSwitches, EventsAtInstantsOfLaws) {
    Draw draw(12);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double at = draw.uniform(0.2, 0.8), v = draw.uniform(0.5, 2);
        const TextRun r = run_with(fmt::format("system both\ncoord x = 0\nstart x' = {0}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = if(t > {1}, 1, 0)*N.x\nevent e: x - {0}*{1} rising => set x' = 0\n"
                                               "run for 1, rtol 1e-9, atol 1e-11\n",
                                               text(v), text(at)),
                                   k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x'"), 1 - at, 1e-7) << k;
        EXPECT_EQ(r.run.events.size(), 1u) << k;
    }
}

TEST(LawSwitches, MotionAlongADiscontinuityIsNamed) {
    for (const char* start : {"2", "1", "0.3"}) {
        Derivation derivation =
            derive_text(fmt::format("system dry\ncoord x = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                    "force on P = -sign(x')*N.x\nrun for 10\n",
                                    start));
        const auto result = run(derivation, {});
        ASSERT_TRUE(result);
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0832)) << render(derivation.diagnostics, derivation.sources);
        EXPECT_NEAR(result->summary.t_end, std::stod(start), 1e-8);
        EXPECT_LT(result->summary.steps, 1000u);
    }
}

constexpr std::array k_formulations{"multipliers", "minimal",      "nonminimal", "udwadia-kalaba",
                                    "ukp",         "gibbs-appell", "voronec",    "chaplygin"};

RunOptions any_formulation(std::size_t k) {
    RunOptions options;
    options.formulation = k_formulations[k % k_formulations.size()];
    // each formulation with each integrator
    options.integrator = k_adaptive[k / k_formulations.size() % k_adaptive.size()];
    return options;
}

// What a constraint holds at zero is zero: a law of its sign has no side there, whatever round-off leaves.
TEST(LawSwitches, SignsOfWhatConstraintsHold) {
    Draw draw(21);
    for (std::size_t k = 0; k < members(48); ++k) {
        const double r = draw.uniform(0.1, 2), J = draw.uniform(0.05, 1), F = draw.uniform(-3, 3), s = draw.uniform(1, 6);
        const double v0 = draw.uniform(-1, 1);
        // the speeds are rates, or others
        const char* speeds = k % 3 == 0 ? "speed u1 = x' + 2*phi', u2 = phi' - x'\n" : "";
        const TextRun run =
            run_text(fmt::format("system wheel\ncoord x = 0, phi = 0\nparam r = {0}\n{5}frame W from N rotate -phi about z\n"
                                 "body W frame W mass 1 center at O + x*N.x inertia ({1}, {1}, {1})\n"
                                 "start x' = {4}, phi' = {4}/{0}\nconstraint roll: x' = r*phi'\n"
                                 "force on W = {2}*N.x - {3}*sign(x' - r*phi')*N.x\nrun for 2, every 0.5\n",
                                 text(r), text(J), text(F), text(s), text(v0), speeds),
                     any_formulation(k));
        EXPECT_NEAR(last(run, "x"), 2 * v0 + 2 * F / (1 + J / (r * r)), 1e-6) << k;
        EXPECT_NEAR(last(run, "balance"), 0, 1e-6) << k;
    }
}

// Likewise of constraints that are not linear in the rates, and of those on positions: a particle of constant speed, a pendulum
TEST(LawSwitches, SignsOfWhatOtherConstraintsHold) {
    Draw draw(24);
    for (std::size_t k = 0; k < members(42); ++k) {
        RunOptions options = any_formulation(k);
        if (*options.formulation == "chaplygin") options.formulation = "voronec";
        const double c = draw.uniform(0.5, 2), a = draw.uniform(-3, 3), F = draw.uniform(0.5, 5), l = draw.uniform(0.5, 2);
        if (k % 2 == 0) {
            const TextRun run = run_text(
                fmt::format("system even\ncoord x = 0, y = 0\nparticle P mass 2 at O + x*N.x + y*N.y\n"
                            "start x' = {0}, y' = {1}\nconstraint c: x'^2 + y'^2 = {2}^2\n"
                            "force on P = -{3}*sign(x'^2 + y'^2 - {2}^2)*(N.x + 0.5*N.y)\nrun for 1, rtol 1e-9, atol 1e-11\n",
                            text(c * std::cos(a)), text(c * std::sin(a)), text(c), text(F)),
                options);
            EXPECT_NEAR(last(run, "x"), c * std::cos(a), 1e-6) << k;
            EXPECT_NEAR(last(run, "y"), c * std::sin(a), 1e-6) << k;
            continue;
        }
        // both coordinates of a circle that is run through evenly
        const TextRun run = run_text(fmt::format("system circle\ncoord x = {0}, y = {1}\nparticle P mass 2 at O + x*N.x + y*N.y\n"
                                                 "start x' = -{3}*{1}, y' = {3}*{0}\nconstraint c: x^2 + y^2 = {2}^2\n"
                                                 "force on P = -{4}*sign(x^2 + y^2 - {2}^2)*N.x - {4}*sign(x*x' + y*y')*N.y\n"
                                                 "run for 1, rtol 1e-9, atol 1e-11\n",
                                                 text(l * std::cos(a)), text(l * std::sin(a)), text(l), text(c), text(F)),
                                     options);
        EXPECT_NEAR(last(run, "x"), l * std::cos(a + c), 1e-6) << k;
        EXPECT_NEAR(last(run, "y"), l * std::sin(a + c), 1e-6) << k;
    }
}

// Rates that pass through zero: a roller on a spring, with dry friction in its bearing.
TEST(LawSwitches, SignsOfRatesInEveryFormulation) {
    Draw draw(25);
    for (std::size_t k = 0; k < members(48); ++k) {
        const double r = draw.uniform(0.2, 1), J = draw.uniform(0.05, 1), M = 1 + J / (r * r), stiffness = draw.uniform(5, 20);
        const double x0 = draw.uniform(0.8, 1.5), F = draw.uniform(0.05, 0.2), w = std::sqrt(stiffness / M);
        const TextRun run =
            run_text(fmt::format("system roller\ncoord x = {0}, phi = 0\nframe W from N rotate -phi about z\n"
                                 "body W frame W mass 1 center at O + x*N.x inertia ({1}, {1}, {1})\n"
                                 "start x' = 0, phi' = 0\nconstraint roll: x' = {2}*phi'\n"
                                 "force on W = -({3}*x + {4}*sign(x' + {2}*phi'))*N.x\nrun for {5}, rtol 1e-10, atol 1e-12\n",
                                 text(x0), text(J), text(r), text(stiffness), text(F), text(1.5 * std::numbers::pi / w)),
                     any_formulation(k));
        // half a swing about F/k, then a quarter of one to the middle of the next, which is about -F/k
        EXPECT_NEAR(last(run, "x"), -F / stiffness, 1e-6) << k;
        EXPECT_EQ(run.run.law_switches, 1u) << k;
    }
}

// What comes to rest on the surface of a law stays there, if the law of one side lets it.
TEST(LawSwitches, RestOnASurface) {
    Draw draw(22);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double F = draw.uniform(1, 1000), v = draw.uniform(0.1, 2), x0 = draw.uniform(0.1, 0.5);
        const char* stop = k % 2 == 0 ? "event e: x falling => set x' = 0\n" : "constraint stop: x >= 0\n";
        const TextRun r = run_with(fmt::format("system rest\ncoord x = {}\nparticle P mass 1 at O + x*N.x\nstart x' = -{}\n"
                                               "force on P = if(x < 0, {}, 0)*N.x\n{}run for 10\n",
                                               text(x0), text(v), text(F), stop),
                                   k_adaptive[k % k_adaptive.size()]);
        EXPECT_NEAR(last(r, "x"), 0, 1e-8) << k;
        EXPECT_NEAR(last(r, "x'"), 0, 1e-9) << k;
    }
}

// roots of magnitudes: the energy of a root spring, with every integrator
TEST(LawSwitches, RootsOfMagnitudes) {
    Draw draw(23);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double p = draw.uniform(0.2, 0.9), x0 = draw.uniform(0.5, 2);
        const TextRun r = run_with(fmt::format("system root\ncoord x = {}\nparticle P mass 1 at O + x*N.x\n"
                                               "force on P = -sign(x)*abs(x)^{}*N.x\nrun for 20\n",
                                               text(x0), text(p)),
                                   k_adaptive[k % k_adaptive.size()]);
        const double x = last(r, "x"), v = last(r, "x'");
        EXPECT_NEAR(0.5 * v * v + std::pow(std::abs(x), 1 + p) / (1 + p), std::pow(x0, 1 + p) / (1 + p), 1e-3) << k;
    }
}

// Conditions that go through infinity, by an angle that turns evenly: how long they hold in whole turns.
TEST(LawSwitches, ThroughPoles) {
    Draw draw(21);
    constexpr double pi = std::numbers::pi;
    for (std::size_t k = 0; k < members(); ++k) {
        const double c = k % 3 == 0 ? draw.uniform(-5, 5) : draw.uniform(1.1, 5), th = draw.uniform(-3, 3);
        const int turns = 1 + static_cast<int>(k % 4);
        const std::string what = k % 3 == 0 ? "tan(th)" : k % 3 == 1 ? "1/sin(th)" : "1/cos(th)";
        const TextRun r = run_with(
            fmt::format("system poles\ncoord th = {}, z = 0\nstart th' = 1\nparticle Q mass 1 at O + cos(th)*N.x + sin(th)*N.y\n"
                        "particle P mass 1 at O + z*N.z\nforce on P = if({} > {}, 1, 0)*N.z\nrun for {}, every 1, rtol 1e-9, "
                        "atol 1e-11\n",
                        text(th), what, text(c), text(2 * pi * turns)),
            k_adaptive[k % 2]);
        const double per_turn = k % 3 == 0 ? pi - 2 * std::atan(c) : 2 * std::asin(1 / c);
        EXPECT_NEAR(last(r, "z'"), turns * per_turn, 1e-7) << k << ' ' << what << " > " << c << " from " << th;
    }
}

// The same, and 0/0, where a step or a row meets the place exactly.
TEST(LawSwitches, PolesThatAreMetExactly) {
    Draw draw(22);
    for (std::size_t k = 0; k < members(36); ++k) {
        const double from = 0.25 * static_cast<double>(1 + k % 6), c = draw.uniform(1.5, 6);
        const std::string x = k % 2 == 0 ? "th" : fmt::format("(t - {})", from);
        const bool pole = k % 4 < 2;
        const TextRun r = run_with(
            fmt::format("system poles\ncoord th = -{}, z = 0\nstart th' = 1\nparticle Q mass 1 at O + th*N.x\n"
                        "particle P mass 1 at O + z*N.z\nforce on P = if({} > {}, 1, 0)*N.z\nrun for {}, every 0.25, rtol 1e-9, "
                        "atol 1e-11\n",
                        from, fmt::format(fmt::runtime(pole ? "1/{0}" : "(exp({0}) - 1)/{0}"), x), text(pole ? c : 1 + c / 12),
                        2 * from),
            k_adaptive[k / 4 % k_adaptive.size()]);
        double on = std::min(1 / c, from);
        if (!pole) {  // (e^x - 1)/x rises: by bisection
            double low = 0, high = from;
            for (int i = 0; i < 60; ++i) {
                const double middle = 0.5 * (low + high);
                (std::expm1(middle) > (1 + c / 12) * middle ? high : low) = middle;
            }
            on = from - high;
        }
        EXPECT_NEAR(last(r, "z'"), on, 1e-7) << k << ' ' << x << ' ' << c;
    }
}

}  // namespace
}  // namespace appell
