// Speeds that jump where laws switch: whatever prescribes a velocity acts by an impulse, and the velocities of all masses change
// as little as the constraints allow, in the metric of mass. Against that computed here, from the masses and the rows alone.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_integrators{"dopri5", "dop853", "cvode", "adams", "arkode", "ida", "rk4", "merson"};
constexpr std::array k_formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell", "voronec"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

private:
    std::mt19937 random_;
};

// numbers with all their digits
std::string text(double x) { return fmt::format("({:.17g})", x); }

TextRun run_with(const std::string& model, std::size_t k, bool all_formulations = true) {
    RunOptions options;
    options.integrator = k_integrators[k % k_integrators.size()];
    if (k % k_integrators.size() >= 6) options.step = 0.037;
    if (all_formulations) options.formulation = k_formulations[k % k_formulations.size()];
    return run_text(model, options);
}

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

// free particles in a plane whose velocities satisfy linear rows, with sums that jump
TEST(LawJumps, ParticlesThatRowsBind) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(); ++k) {
        const auto n = static_cast<Eigen::Index>(1 + draw.below(4));
        const auto rows =
            static_cast<Eigen::Index>(1 + draw.below(static_cast<std::size_t>(std::min<Eigen::Index>(3, 2 * n - 1))));
        const double at = draw.uniform(0.1, 0.9);
        Eigen::MatrixXd A(rows, 2 * n);
        Eigen::VectorXd mass(2 * n), before(rows), after(rows), u(2 * n);
        for (Eigen::Index i = 0; i < n; ++i) mass[2 * i] = mass[2 * i + 1] = draw.uniform(0.3, 3);
        for (Eigen::Index r = 0; r < rows; ++r) {
            for (Eigen::Index i = 0; i < 2 * n; ++i) A(r, i) = draw.uniform(-1, 1);
            before[r] = draw.uniform(-1, 1);
            after[r] = r == 0 ? draw.uniform(-2, 2) : before[r];
        }
        // start speeds on the rows
        for (Eigen::Index i = 0; i < 2 * n; ++i) u[i] = draw.uniform(-1, 1);
        const Eigen::MatrixXd W = mass.cwiseInverse().asDiagonal() * A.transpose();
        u += W * (A * W).lu().solve(before - A * u);
        std::string model = "system rows\n";
        for (Eigen::Index i = 0; i < n; ++i)
            model += fmt::format(
                "coord x{0} = 0, y{0} = 0\nstart x{0}' = {1}, y{0}' = {2}\n"
                "particle P{0} mass {3} at O + x{0}*N.x + y{0}*N.y\n",
                i, text(u[2 * i]), text(u[2 * i + 1]), text(mass[2 * i]));
        for (Eigen::Index r = 0; r < rows; ++r) {
            std::string sum;
            for (Eigen::Index i = 0; i < n; ++i)
                sum += fmt::format("{}{}*x{}' + {}*y{}'", i > 0 ? " + " : "", text(A(r, 2 * i)), i, text(A(r, 2 * i + 1)), i);
            model += fmt::format("constraint c{}: {} = if(t > {}, {}, {})\n", r, sum, text(at), text(after[r]), text(before[r]));
        }
        model += "run for 1, every 0.5, rtol 1e-9, atol 1e-11\n";
        const TextRun r = run_with(model, k);
        const Eigen::VectorXd expected = u + W * (A * W).lu().solve(after - A * u);
        for (Eigen::Index i = 0; i < n; ++i) {
            EXPECT_NEAR(last(r, fmt::format("x{}'", i)), expected[2 * i], 1e-9 * (1 + expected.norm())) << k;
            EXPECT_NEAR(last(r, fmt::format("y{}'", i)), expected[2 * i + 1], 1e-9 * (1 + expected.norm())) << k;
        }
        const double work = 0.5 * (mass.array() * (expected.array().square() - u.array().square())).sum();
        EXPECT_NEAR(last(r, "energy") - r.at(0, "energy"), work, 1e-8 * (1 + std::abs(work))) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-8 * (1 + std::abs(work))) << k;
        EXPECT_EQ(r.run.events.size(), 1u) << k;
    }
}

// a row that is not linear in the velocities: the nearest point of an ellipse, by its distance
TEST(LawJumps, RowsThatAreNotLinear) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double m = draw.uniform(0.3, 3), c = draw.uniform(0.3, 3), angle = draw.uniform(0.2, 1.3), s = draw.uniform(1.1, 2);
        const double v0 = std::cos(angle), w0 = std::sin(angle) / std::sqrt(c);  // v^2 + c w^2 = 1
        const TextRun r = run_with(
            fmt::format("system ellipse\ncoord x = 0, y = 0\nstart x' = {}, y' = {}\nparticle P mass {} at O + x*N.x + y*N.y\n"
                        "constraint c: x'^2 + {}*y'^2 = if(t > 0.5, {}, 1)\nrun for 0.6, rtol 1e-9, atol 1e-11\n",
                        text(v0), text(w0), text(m), text(c), text(s * s)),
            k);
        double best = 0, distance = 1e300;
        const auto off = [&](double a) { return std::hypot(s * std::cos(a) - v0, s * std::sin(a) / std::sqrt(c) - w0); };
        for (double step = 0.01, from = 0, to = 1.6; step > 1e-9; from = best - step, to = best + step, step *= 0.1)
            for (double a = from; a <= to; a += step)
                if (off(a) < distance) {
                    distance = off(a);
                    best = a;
                }
        EXPECT_NEAR(last(r, "x'"), s * std::cos(best), 1e-6) << k;
        EXPECT_NEAR(last(r, "y'"), s * std::sin(best) / std::sqrt(c), 1e-6) << k;
    }
}

// a rod on a hinge that begins to move: its momentum about the hinge stays
TEST(LawJumps, RodOnAMovingHinge) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double J = draw.uniform(0.1, 2), m = draw.uniform(0.3, 3), l = draw.uniform(0.3, 2), a = draw.uniform(-3, 3),
                     w = draw.uniform(-1, 1), V = draw.uniform(-2, 2), at = draw.uniform(0.1, 0.9);
        const TextRun r = run_with(
            fmt::format("system rod\ncoord a = {}\nstart a' = {}\npoint S at O + {}*max(0, t - {})*N.x\nframe B from N rotate a "
                        "about z\npoint C at S + {}*B.x\nbody B frame B mass {} center C inertia (1, 1, {})\nrun for {}, rtol "
                        "1e-10, atol 1e-12\n",
                        text(a - w * at), text(w), text(V), text(at), text(l), text(m), text(J), text(at + 1e-9)),
            k);
        EXPECT_NEAR(last(r, "a'"), w + m * l * V * std::sin(a) / (J + m * l * l), 1e-7 * (1 + std::abs(V / l))) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-8 * (1 + V * V * m)) << k;
    }
}

// a guide with a corner: what goes against the new direction is lost
TEST(LawJumps, GuidesWithCorners) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double s1 = draw.uniform(-1, 1), s2 = draw.uniform(-1, 1), v = draw.uniform(0.5, 2), stretch = draw.uniform(0.3, 3);
        // (q, s1 q) before the corner, stretch (q, s2 q) after it
        const TextRun r =
            run_with(fmt::format("system guide\ncoord q = -1\nstart q' = {}\nparticle P mass 2 at O + if(q > 0, {}*q, q)*N.x + "
                                 "if(q > 0, {}*q, {}*q)*N.y\nrun for {}, rtol 1e-9, atol 1e-11\n",
                                 text(v), text(stretch), text(stretch * s2), text(s1), text(1.5 / v)),
                     k, false);
        const double expected = v * (1 + s1 * s2) / (stretch * (1 + s2 * s2));
        EXPECT_NEAR(last(r, "q'"), expected, 1e-8 * (1 + expected)) << k;
        EXPECT_NEAR(last(r, "q"), expected * 0.5 / v, 1e-7 * (1 + expected / v)) << k;
        EXPECT_LT(std::abs(last(r, "balance")), 1e-8 * v * v) << k;
    }
}

// velocities do not change where only the speeds' definitions do
TEST(LawJumps, DefinitionsOfSpeeds) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double v = draw.uniform(0.5, 2), factor = draw.uniform(0.3, 3), shift = draw.uniform(-1, 1);
        const bool of_time = k % 2 == 0;
        const TextRun r = run_with(
            fmt::format("system speeds\ncoord x = 0\nspeed u = x'*if({0} > 1, {1}, 1) + if({0} > 1, {2}, 0)\nstart u = {3}\n"
                        "particle P mass 2 at O + x*N.x\nrun for {4}, rtol 1e-9, atol 1e-11\n",
                        of_time ? "t" : "x", text(factor), text(shift), text(v), text(of_time ? 2 : 2 / v)),
            k, false);
        EXPECT_NEAR(last(r, "u"), factor * v + shift, 1e-9) << k;
        EXPECT_NEAR(last(r, "x"), of_time ? 2 * v : 2, 1e-8) << k;
    }
}

// the impulse of a servo-constraint is along its actuator
TEST(LawJumps, ServoConstraintsPushByTheirActuators) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double c = draw.uniform(0.3, 2), s = draw.uniform(-2, 2), v = draw.uniform(-2, 2);
        const TextRun r =
            run_with(fmt::format("system servo\ncoord x = 0, y = 0\nstart y' = 1\nparticle P mass 2 at O + x*N.x + "
                                 "y*N.y\nactuator F: force on P along {}*N.x + {}*N.y\nservo s: x' = if(t > 0.5, {}, 0) "
                                 "by F\nrun for 1, rtol 1e-9, atol 1e-11\n",
                                 text(c), text(s), text(v)),
                     k, false);
        EXPECT_NEAR(last(r, "x'"), v, 1e-8) << k;
        EXPECT_NEAR(last(r, "y'"), 1 + v * s / c, 1e-8 * (1 + std::abs(v * s / c))) << k;
    }
}

// a floor that begins to rise throws what rests on it; one that begins to sink lets it go
TEST(LawJumps, FloorsThatBeginToMove) {
    Draw draw(7);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double e = draw.uniform(0, 0.9), V = draw.uniform(0.2, 2) * (k % 2 == 0 ? 1 : -1), g = 9.81;
        const double flight = 0.5 * 2 * std::abs(V) * (V > 0 ? e : 1) / g;  // half of the way back to the floor
        const TextRun r = run_with(fmt::format("system floor\ncoord y = 0\nparticle P mass 2 at O + y*N.y\ngravity -9.81*N.y\n"
                                               "constraint c: y - {}*max(0, t - 0.5) >= 0 restitution {}\nrun for {}, rtol 1e-9, "
                                               "atol 1e-11\n",
                                               text(V), text(e), text(0.5 + flight)),
                                   k, false);
        const double up = V > 0 ? (1 + e) * V : 0;
        EXPECT_NEAR(last(r, "y'"), up - g * flight, 1e-7) << k;
        EXPECT_NEAR(last(r, "y"), up * flight - 0.5 * g * flight * flight, 1e-7) << k;
        EXPECT_GE(r.run.events.size(), 1u) << k;
    }
}

TEST(LawJumps, PositionsThatJumpAreNamed) {
    Draw draw(8);
    for (std::size_t k = 0; k < members(50); ++k) {
        const double jump = std::pow(10, draw.uniform(-7, 1)), at = draw.uniform(0.1, 0.9);
        const std::array laws{
            fmt::format("constraint c: x = if(t > {}, {}, 0)\n", text(at), text(jump)),
            fmt::format("particle Q mass 1 at O + x*N.x + if(t > {}, {}, 0)*N.z\n", text(at), text(jump)),
            fmt::format("constraint c: y - if(t > {}, {}, 0) >= 0\ngravity -9.81*N.y\n", text(at), text(10 * jump))};
        Derivation derivation = derive_text("system jump\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\n" +
                                            laws[k % 3] + "run for 1\n");
        const auto result = run(derivation, {});
        ASSERT_TRUE(result) << render(derivation.diagnostics, derivation.sources);
        EXPECT_TRUE(derivation.diagnostics.has(k % 3 == 2 ? Code::E0834 : Code::E0833))
            << laws[k % 3] << render(derivation.diagnostics, derivation.sources);
        EXPECT_NEAR(result->summary.t_end, at, 1e-12) << k;
    }
}

// The same motion of a support, written by `if` and by functions whose derivatives jump.
TEST(LawJumps, JumpsOfDerivatives) {
    Draw draw(11);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double w = draw.uniform(0.5, 3);
        const std::string rest =
            "frame B from N rotate th about z\nparticle P mass 1 at S - B.y\ngravity -9.81*N.y\n"
            "run for 2.5, every 0.5, rtol 1e-9, atol 1e-11\n";
        const std::string triangle = k % 2 == 0 ? "asin(sin({0}*t))" : "acos(cos({0}*t))";
        const std::string by_if = k % 2 == 0 ? "if(cos({0}*t) > 0, 1, -1)" : "if(sin({0}*t) > 0, 1, -1)";
        const TextRun given =
            run_with("system a\ncoord th = 0.3\npoint S at O + " + fmt::format(fmt::runtime(triangle), text(w)) + "*N.x\n" + rest,
                     k, false);
        // its velocity, of a heavy point that carries the support
        const TextRun same = run_with("system b\ncoord th = 0.3\ncoord s = " + text(0) + "\npoint S at O + s*N.x\n" +
                                          "constraint drive: s' = " + text(w) + "*" + fmt::format(fmt::runtime(by_if), text(w)) +
                                          "\n" + "start s' = " + text(w) + "\n" + rest,
                                      k, false);
        EXPECT_NEAR(last(given, "th"), last(same, "th"), 1e-5) << k;
        EXPECT_NEAR(last(given, "th'"), last(same, "th'"), 1e-5) << k;
    }
}

// x/abs(x) is a sign: speeds jump where x is zero, without a number that is none
TEST(LawJumps, QuotientsByMagnitudes) {
    Draw draw(12);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double a = draw.uniform(0.2, 1.8), c = draw.uniform(-2, 2);
        const char* quotient = k % 3 == 0   ? "{1}*(t - {0})/abs(t - {0})"
                               : k % 3 == 1 ? "{1}*abs(t - {0})/(t - {0})"
                                            : "-{1}*(t - {0})/abs({0} - t)*(-1)";
        const TextRun r = run_with(fmt::format(fmt::runtime("system q\ncoord x = 0\nparticle P mass 1 at O + x*N.x\n"
                                                            "constraint c: x' = 1 + " +
                                                            std::string(quotient) + "\nrun for 2\n"),
                                               text(a), text(c)),
                                   k, false);
        EXPECT_NEAR(last(r, "x"), 2 + c * (2 - 2 * a), 1e-7) << k;
        EXPECT_NEAR(last(r, "x'"), 1 + c, 1e-9) << k;
    }
}

// the branch cut of atan2 is a jump like any other
TEST(LawJumps, BranchCuts) {
    Draw draw(13);
    for (std::size_t k = 0; k < members(8); ++k) {
        const std::string angle = fmt::format("atan2(sin({0}*t), cos({0}*t))", text(draw.uniform(1, 3)));
        const std::string model = k % 2 == 0 ? "coord x = 0\nparticle P mass 1 at O + x*N.x\nconstraint c: x = " + angle + "\n"
                                             : "coord x = 0\npoint S at O + " + angle + "*N.x\nparticle P mass 1 at S + x*N.y\n";
        Derivation derivation = derive_text("system cut\n" + model + "run for 4\n");
        RunOptions options;
        options.formulation = k_formulations[k % k_formulations.size()];
        (void)run(derivation, options);
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0833)) << k << render(derivation.diagnostics, derivation.sources);
    }
}

// atan of a quotient jumps where the denominator passes zero: of a force it is followed, of a velocity it is an impulse, and a
// position cannot
TEST(LawJumps, AnglesOfSlopes) {
    Draw draw(15);
    for (std::size_t k = 0; k < members(24); ++k) {
        const double w = draw.uniform(1, 3), a = draw.uniform(-1, 1), T = draw.uniform(2, 5), pi = std::acos(-1.0);
        const bool adaptive = k / 3 % k_integrators.size() < 6;
        const std::string angle = fmt::format("atan(tan({}*t + {}))", text(w), text(a));
        // a sawtooth of w t + a about multiples of pi, and its integral from zero
        const auto saw = [&](double t) { return w * t + a - pi * std::round((w * t + a) / pi); };
        const auto sum = [&](double t) { return (saw(t) * saw(t) - a * a) / (2 * w); };
        if (k % 3 == 0) {
            const TextRun r = run_with("system f\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nforce on P = " + angle +
                                           "*N.x\nrun for " + text(T) + ", rtol 1e-10, atol 1e-12\n",
                                       k / 3, false);
            EXPECT_NEAR(last(r, "x'"), sum(T), adaptive ? 1e-8 : 1e-2) << k;
        } else if (k % 3 == 1) {
            const TextRun r =
                run_with("system v\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x' = " + angle +
                             "\nrun for " + text(T) + ", rtol 1e-10, atol 1e-12\n",
                         k / 3, false);
            EXPECT_NEAR(last(r, "x'"), saw(T), 1e-9) << k;
            EXPECT_NEAR(last(r, "x"), sum(T), adaptive ? 1e-8 : 1e-2) << k;
            EXPECT_LT(std::abs(last(r, "balance")), 1e-7) << k;
        } else {
            Derivation derivation = derive_text("system p\ncoord y = 0\npoint S at O + " + angle +
                                                "*N.x\nparticle P mass 1 at S + y*N.y\nrun for 4\n");
            RunOptions options;
            options.integrator = k_integrators[k / 3 % 6];
            (void)run(derivation, options);
            EXPECT_TRUE(derivation.diagnostics.has(Code::E0833)) << k << render(derivation.diagnostics, derivation.sources);
        }
    }
}

// tanh of a quotient comes to one end and goes on from the other
TEST(LawJumps, SaturationThroughAPole) {
    Draw draw(16);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double v = draw.uniform(0.5, 2), at = draw.uniform(0.5, 1.5);
        const TextRun r =
            run_with(fmt::format("system s\ncoord x = {}, z = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n"
                                 "particle Q mass 1 at O + z*N.z\nforce on Q = tanh(1/x)*N.z\nrun for {}, rtol 1e-10, "
                                 "atol 1e-12\n",
                                 text(-v * at), text(v), text(2 * at)),
                     k % 6, false);
        EXPECT_NEAR(last(r, "z'"), 0, 1e-8) << k;  // an odd function of the time from the pole
    }
}

// Where the constraints change with the state, speeds before a jump cannot be found from those after it.
TEST(LawJumps, BackwardsThroughACorner) {
    Draw draw(14);
    for (std::size_t k = 0; k < members(8); ++k) {
        const double slope = draw.uniform(0.2, 2), v = draw.uniform(0.3, 1);
        Derivation derivation = derive_text(fmt::format(
            "system corner\ncoord x = 1.2, y = {1}\nparticle P mass 1 at O + x*N.x + y*N.y\nstart x' = {2}, y' = {3}\n"
            "constraint c: y' = if(x > 1, {0}, 0)*x'\nrun for 2\n",
            text(slope), text(0.2 * slope), text(v), text(slope * v)));
        RunOptions options;
        options.until = -2;
        (void)run(derivation, options);
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0847)) << k << render(derivation.diagnostics, derivation.sources);
    }
}

}  // namespace
}  // namespace appell
