// Linkages that pass singular positions on purpose: parallelograms and chains of them through their flat positions, slider-cranks
// with equal arms, four-bars at a change point, products of surfaces. Told by name without `--through`; with it, on the branch
// that keeps the velocities, against closed forms, energy and the way back.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell", "voronec"};
constexpr std::array k_integrators{"dopri5", "dop853", "adams", "dopri5", "arkode", "dopri5", "cvode"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double sign() { return uniform(-1, 1) < 0 ? -1 : 1; }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

// Two cranks of one length on a base that is turned anywhere, and the bar between them.
struct Parallelogram {
    explicit Parallelogram(Draw& draw)
        : r(draw.uniform(0.2, 1)),
          L(r * draw.uniform(1.3, 3)),
          base(draw.uniform(-3, 3)),
          g(draw.uniform(0, 10)),
          a0(draw.uniform(-3, 3)),
          w0(draw.sign() * draw.uniform(1, 3)) {
        for (double& mass : m) mass = draw.uniform(0.2, 2);
        for (double& part : c) part = draw.uniform(0, 1);
        // no run begins in a flat position
        if (std::abs(std::sin(a0)) < 0.01) a0 += 0.05;
        // fast enough never to come to rest
        w0 *= std::sqrt(1 + 4 * g * moment() / inertia());
    }
    // of the cranks about their pivots and of what the bar adds to them
    [[nodiscard]] double inertia() const { return m[0] * r * r * c[0] + m[1] * r * r * c[1] + m[2] * r * r; }
    [[nodiscard]] double moment() const { return r * (m[0] * c[0] + m[1] * c[1] + m[2]); }
    [[nodiscard]] double period() const { return 6.3 / std::abs(w0); }
    // angles are those from the base, gravity is that of N
    [[nodiscard]] double rate(double a) const {
        return std::sqrt(w0 * w0 - 2 * g * moment() / inertia() * (std::sin(a + base) - std::sin(a0 + base)));
    }

    // `loop`: how the bar closes
    [[nodiscard]] std::string model(int loop, double T) const {
        std::string out = fmt::format(
            "system linkage\ncoord a = {0}, b = {0}{1}\nframe G from N rotate {2} about z\nframe A from G rotate a about z\n"
            "frame B from G rotate b about z\npoint D at O + {3}*G.x\npoint P at O + {4}*A.x\npoint Q at D + {4}*B.x\n"
            "point A_o at O + {5}*A.x\npoint B_o at D + {6}*B.x\n"
            "body A frame A mass {7} center A_o inertia (0, {8}, {8})\nbody B frame B mass {9} center B_o inertia (0, {10}, "
            "{10})\n"
            "gravity -{11}*N.y\nstart a' = {12}, b' = {12}\nrun for {13}, rtol 1e-9, atol 1e-11\n",
            text(a0), loop == 2 ? "" : ", e = 0", text(base), text(L), text(r), text(r * c[0]), text(r * c[1]), text(m[0]),
            text(m[0] * r * r * (c[0] - c[0] * c[0])), text(m[1]), text(m[1] * r * r * (c[1] - c[1] * c[1])), text(g), text(w0),
            text(T));
        if (loop == 2)  // half of the bar's mass at either end
            return out + fmt::format("particle P mass {0}\nparticle Q mass {0}\nconstraint bar: dot(Q - P, Q - P) = {1}^2\n",
                                     text(0.5 * m[2]), text(L));
        out += fmt::format(
            "frame E from G rotate e about z\npoint R at P + {0}*E.x\npoint E_o at P + {1}*E.x\n"
            "body E frame E mass {2} center E_o inertia (0, {3}, {3})\n",
            text(L), text(0.5 * L), text(m[2]), text(m[2] * L * L / 12));
        if (loop == 0) return out + "constraint bar: R - Q = 0\n";
        return out + "constraint bar: dot(R - Q, G.x) = 0, dot(R - Q, G.y) = 0\n";
    }

    double r, L, base, g, a0, w0;
    std::array<double, 3> m{}, c{};
};

TextRun through(const std::string& model, std::size_t k) {
    RunOptions options;
    options.through = true;
    options.formulation = k_formulations[k % k_formulations.size()];
    options.integrator = k_integrators[k % k_integrators.size()];
    return run_text(model, options);
}

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

TEST(SingularPositions, ParallelogramsPassTheirFlatPositions) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(); ++k) {
        const Parallelogram p(draw);
        const double T = p.period() * draw.uniform(0.8, 2);
        const TextRun r = through(p.model(static_cast<int>(k % 3), T), k);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << k << p.model(static_cast<int>(k % 3), T);
        // one body of the same inertia turns alike
        const TextRun pendulum =
            run_text(fmt::format("system pendulum\ncoord a = {}\nspeed w = a'\nstart w = {}\nload on w = -{}*cos(a + {})\nframe "
                                 "A from N rotate a about "
                                 "z\nbody A frame A mass 1 center O inertia (1, 1, {})\nevent flat: sin(a) => report\nrun for "
                                 "{}, rtol 1e-11, atol 1e-13\n",
                                 text(p.a0), text(p.w0), text(p.g * p.moment()), text(p.base), text(p.inertia()), text(T)));
        const double passed =
            std::abs(std::floor(last(r, "a") / 3.14159265358979323846) - std::floor(p.a0 / 3.14159265358979323846));
        ASSERT_EQ(static_cast<double>(r.run.summary.passed.size()), passed) << k;
        ASSERT_EQ(r.run.summary.passed.size(), pendulum.run.events.size()) << k;
        for (std::size_t i = 0; i < pendulum.run.events.size(); ++i)
            EXPECT_NEAR(r.run.summary.passed[i].t, pendulum.run.events[i].t, 2e-6 * T) << k;
        EXPECT_EQ(r.derivation.diagnostics.has(Code::N0865), passed > 0);
        EXPECT_NEAR(last(r, "a"), last(pendulum, "a"), 1e-5) << k;
        for (std::size_t row = 0; row < r.run.rows(); row += 7) {
            // both cranks turn equally, and the bar does not: the other branch is not taken
            EXPECT_NEAR(r.at(row, "b"), r.at(row, "a"), 1e-7) << k;
            EXPECT_NEAR(std::abs(r.at(row, "a'")), p.rate(r.at(row, "a")), 1e-5 * std::abs(p.w0)) << k << ' ' << row;
        }
        for (const PassedPosition& passed_one : r.run.summary.passed)
            EXPECT_EQ(r.derivation.model->constraints[passed_one.constraint].name.substr(0, 3), "bar");
    }
}

TEST(SingularPositions, AreNamedWithoutThrough) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(60); ++k) {
        const Parallelogram p(draw);
        Derivation derivation = derive_text(p.model(static_cast<int>(k % 3), 2 * p.period()));
        RunOptions options;
        options.formulation = k_formulations[k % k_formulations.size()];
        options.integrator = k_integrators[(k / 3) % k_integrators.size()];
        const auto result = run(derivation, options);
        ASSERT_TRUE(result) << k;
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0808))
            << k << ' ' << render(derivation.diagnostics, derivation.sources) << p.model(static_cast<int>(k % 3), 2 * p.period());
        EXPECT_EQ(result->summary.reason, EndReason::rank_loss) << k;
        // and where it is: no earlier, no later, and with nothing made up before it
        const double to_flat = std::abs(std::sin(result->summary.x_end[0]));
        EXPECT_LT(to_flat, 1e-3) << k << ' ' << options.formulation.value() << ' ' << options.integrator.value();
        EXPECT_LT(std::abs(result->summary.x_end[0] - p.a0), 3.1416 + 1e-3) << k;
        EXPECT_NEAR(std::abs(result->summary.x_end[derivation.model->coordinates.size()]), p.rate(result->summary.x_end[0]),
                    1e-4 * std::abs(p.w0))
            << k << ' ' << options.formulation.value() << ' ' << options.integrator.value();
    }
}

// Without any force both cranks turn evenly: steps are as long as an integrator likes, half a turn and more. The first flat
// position is named all the same.
TEST(SingularPositions, LongStepsHideNone) {
    Draw draw(31);
    for (std::size_t k = 0; k < members(); ++k) {
        const double a = draw.uniform(0.2, 2.9), w = draw.uniform(1.2, 6), flat = (std::numbers::pi - a) / w;
        Derivation d = derive_text(fmt::format(
            "system free\nparam r = 0.3, L = 1\ncoord a = {0}, b = {0}\nframe A from N rotate a about z\n"
            "frame B from N rotate b about z\npoint D at O + L*N.x\npoint P at O + r*A.x\npoint Q at D + r*B.x\n"
            "body A frame A mass 1 center O inertia (0.01, 0.01, 0.02)\nbody B frame B mass 1 center D inertia (0.01, 0.01, "
            "0.02)\n"
            "particle Q mass 0.5\nconstraint bar: dot(Q - P, Q - P) = L^2\nstart a' = {1}, b' = {1}\nrun for 3, every 3\n",
            text(a), text(w)));
        RunOptions options;
        options.integrator = k_integrators[k % k_integrators.size()];
        const auto r = run(d, options);
        ASSERT_TRUE(r.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << a << ' ' << w << ' ' << *options.integrator;
        // steps next to it are shortened until a gradient within a thousandth of the coordinates, of up to 2 pi, is another one
        EXPECT_NEAR(w * r->summary.t_end, w * flat, 7e-3) << a << ' ' << w << ' ' << *options.integrator;
    }
}

// Cranks that turn evenly, or by a constant torque on one of them.
struct DrivenParallelogram {
    DrivenParallelogram(Draw& draw, bool driven)
        : a0(draw.sign() * draw.uniform(0.05, 3)),
          w(draw.sign() * draw.uniform(1, 5)),
          r(draw.uniform(0.2, 0.6)),
          m(draw.uniform(0.2, 1)) {
        for (double& inertia : I) inertia = draw.uniform(0.02, 0.5);
        if (driven) gain = std::copysign(draw.uniform(0.1, 1), w) * std::abs(w);
    }
    // `loop`: how the bar closes
    [[nodiscard]] std::string model(int loop, double T) const {
        return fmt::format(
            "system driven\nparam r = {0}, L = 1\ncoord a = {1}, b = {1}{10}\nframe A from N rotate a about z\n"
            "frame B from N rotate b about z\npoint D at O + L*N.x\npoint P at O + r*A.x\npoint Q at D + r*B.x\n"
            "body A frame A mass 1 center O inertia (0, {2}, {2})\nbody B frame B mass 1 center D inertia (0, {3}, {3})\n"
            "{4}constraint bar: {5} = 0\ntorque on A = {6}*N.z\nstart a' = {7}, b' = {7}\n"
            "run for {8}, every {9}, rtol 1e-10, atol 1e-12\n",
            text(r), text(a0), text(I[0]), text(I[1]),
            loop == 0 ? fmt::format("particle Q mass {}\n", text(m))
                      : fmt::format("frame E from N rotate e about z\npoint R at P + L*E.x\npoint E_o at P + 0.5*L*E.x\n"
                                    "body E frame E mass {} center E_o inertia (0, 0.1, 0.1)\n",
                                    text(m)),
            loop == 0 ? "dot(Q - P, Q - P) - L^2" : "R - Q", text(gain * (I[0] + I[1] + m * r * r)), text(w), text(T),
            text(T / 3), loop == 0 ? "" : ", e = 0");
    }
    [[nodiscard]] double angle(double t) const { return a0 + w * t + 0.5 * gain * t * t; }
    // when it is; both terms have one sign
    [[nodiscard]] double at(double angle) const {
        const double way = angle - a0;
        return gain == 0 ? way / w : 2 * way / (w + std::copysign(std::sqrt(w * w + 2 * gain * way), w));
    }
    // the flat positions up to T, in their order
    [[nodiscard]] std::vector<double> flats(double T) const {
        std::vector<double> out;
        const double turn = w > 0 ? 1 : -1;
        for (double n = turn > 0 ? std::ceil(a0 / std::numbers::pi) : std::floor(a0 / std::numbers::pi);; n += turn) {
            const double t = at(n * std::numbers::pi);
            if (t > T) return out;
            out.push_back(t);
        }
    }

    double a0, w, r, m, gain = 0;
    std::array<double, 2> I{};
};

// every passage is listed, at its time
TEST(SingularPositions, PassagesAreCountedAndTimed) {
    constexpr std::array k_four{"dopri5", "dop853", "adams", "cvode"};
    Draw draw(32);
    for (std::size_t k = 0; k < members(); ++k) {
        const DrivenParallelogram p(draw, k % 3 == 2);
        double T = draw.uniform(0.5, 12) / std::abs(p.w);
        const std::string model = p.model(static_cast<int>(k % 2), T);
        RunOptions options;
        options.through = true;
        options.integrator = k_four[k / 2 % k_four.size()];
        const TextRun run = run_text(model, options);
        const std::vector<double> flats = p.flats(T);
        const std::string which = fmt::format("{} {}\n{}", k, *options.integrator, model);
        ASSERT_EQ(run.run.summary.reason, EndReason::finished) << which;
        ASSERT_EQ(run.run.summary.passed.size(), flats.size()) << which;
        for (std::size_t i = 0; i < flats.size(); ++i) EXPECT_NEAR(run.run.summary.passed[i].t, flats[i], 1e-7 * T) << which;
        EXPECT_NEAR(last(run, "a"), p.angle(T), 1e-6) << which;
        EXPECT_NEAR(last(run, "b"), p.angle(T), 1e-6) << which;
    }
}

// a run may end in a singular position, or right beside it
TEST(SingularPositions, RunsEndThere) {
    constexpr std::array k_four{"dopri5", "dop853", "adams", "cvode"};
    constexpr std::array k_beside{0.0, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3};
    Draw draw(33);
    for (std::size_t k = 0; k < members(56); ++k) {
        const DrivenParallelogram p(draw, k % 3 == 2);
        const std::vector<double> flats = p.flats(8 / std::abs(p.w));
        const double T = flats[k % flats.size()] + k_beside[k % k_beside.size()];
        RunOptions options;
        options.through = true;
        options.integrator = k_four[k % k_four.size()];
        const std::string model = p.model(static_cast<int>(k / 4 % 2), T);
        const TextRun run = run_text(model, options);
        const std::string which = fmt::format("{} {}\n{}", k, *options.integrator, model);
        ASSERT_EQ(run.run.summary.reason, EndReason::finished) << which;
        EXPECT_EQ(run.run.summary.t_end, T) << which;
        EXPECT_NEAR(last(run, "a"), p.angle(T), 1e-6) << which;
        EXPECT_NEAR(last(run, "a'"), p.w + p.gain * T, 1e-6 * std::abs(p.w)) << which;
        const std::size_t passed = run.run.summary.passed.size(), before = k % flats.size();
        EXPECT_TRUE(passed == before || passed == before + 1) << which;
    }
}

// it leads through, and not out: that is said where a run begins there, and the option is not recommended where it is on
TEST(SingularPositions, HintsKnowTheOption) {
    const std::string flat =
        "system flat\ncoord a = 0, b = 0\nframe A from N rotate a about z\nframe B from N rotate b about z\n"
        "point P at O + 0.3*A.x\npoint Q at O + N.x + 0.3*B.x\nparticle P mass 1\nparticle Q mass 1\n"
        "constraint bar: dot(Q - P, Q - P) = 1\nstart a' = 1, b' = 1\nrun for 1\n";
    // two branches touch where a parabola meets its tangent
    const std::string touching =
        "system touching\ncoord x = -1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\n"
        "constraint c: y*(y - x^2) = 0\nstart x' = 1, y' = 0\nrun for 3\n";
    for (const bool through : {false, true}) {
        RunOptions options;
        options.through = through;
        Derivation begins = derive_text(flat), meets = derive_text(touching);
        (void)appell::run(begins, options);
        (void)appell::run(meets, options);
        const std::string of_start = render(begins.diagnostics, begins.sources),
                          of_end = render(meets.diagnostics, meets.sources);
        EXPECT_NE(of_start.find("but not out of it"), std::string::npos) << of_start;
        EXPECT_TRUE(meets.diagnostics.has(Code::E0808)) << of_end;
        EXPECT_EQ(meets.diagnostics.has(Code::E0862), through) << of_end;
        EXPECT_EQ(of_end.find("run --through") == std::string::npos, through) << of_end;
    }
}

// Several cranks in a row, each carried along by a bar to the one before, at an angle of its own or at none.
TEST(SingularPositions, ChainsOfParallelograms) {
    Draw draw(3);
    std::size_t stopped = 0;
    for (std::size_t k = 0; k < members(50); ++k) {
        const std::size_t n = 3 + k % 3;
        const double r = draw.uniform(0.2, 1), w = draw.sign() * draw.uniform(1, 3), a0 = draw.uniform(-3, 3), L = 3 * r;
        const double base = draw.uniform(-3, 3), T = draw.uniform(0.5, 1.2) * 6.3 / std::abs(w);
        std::string model =
            fmt::format("system chain\nframe G from N rotate {} about z\nrun for {}, rtol 1e-9, atol 1e-11, max_step {}\n",
                        text(base), text(T), text(0.1 / std::abs(w)));
        for (std::size_t i = 0; i < n; ++i) {
            model += fmt::format(
                "coord a{0} = {1}\nstart a{0}' = {2}\nframe A{0} from G rotate a{0} about z\npoint O{0} at O + {3}*G.x\n"
                "body A{0} frame A{0} mass 1 center O{0} inertia (1, 1, {4})\n",
                i, text(a0), text(w), text(static_cast<double>(i) * L), text(draw.uniform(0.2, 2)));
            if (i == 0) continue;
            const double turn = k % 2 == 0 ? 0 : draw.uniform(-3, 3);
            model += fmt::format(
                "point P{0} at O{1} + {2}*A{1}.x + {3}*A{1}.y\npoint Q{0} at O{0} + {2}*A{0}.x + {3}*A{0}.y\n"
                "constraint bar{0}: dot(Q{0} - P{0}, Q{0} - P{0}) = {4}^2\n",
                i, i - 1, text(r * std::cos(turn)), text(r * std::sin(turn)), text(L));
        }
        RunOptions options;
        options.through = true;
        options.formulation = k_formulations[k % k_formulations.size()];
        options.integrator = k_integrators[k % k_integrators.size()];
        Derivation derivation = derive_text(model);
        auto result = appell::run(derivation, options);
        ASSERT_TRUE(result) << k;
        const TextRun run{std::move(derivation), std::move(*result)};
        if (run.run.summary.reason != EndReason::finished) {
            // bars at angles of their own may be flat so shortly after each other that no arc has room between them
            EXPECT_TRUE(k % 2 == 1 && run.derivation.diagnostics.has(Code::E0862)) << k << model;
            ++stopped;
            continue;
        }
        EXPECT_GT(run.run.summary.passed.size(), 0u) << k;
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(last(run, fmt::format("a{}", i)), a0 + w * T, 1e-5) << k;
            EXPECT_NEAR(last(run, fmt::format("a{}'", i)), w, 1e-5) << k;
        }
    }
    EXPECT_LE(stopped, members(50) / 10);
}

// crank and rod of one length: where the slider passes the pivot the rod may stay there and turn with the crank
TEST(SingularPositions, SliderCranksWithEqualArms) {
    Draw draw(4);
    std::size_t passed = 0;
    for (std::size_t k = 0; k < members(50); ++k) {
        const double l = draw.uniform(0.3, 2), M = draw.uniform(0.2, 2), m = draw.uniform(0.2, 2), a0 = draw.uniform(-1.2, 1.2);
        const double w0 = draw.sign() * draw.uniform(1, 4), T = draw.uniform(3, 8) / std::abs(w0);
        const std::string model = fmt::format(
            "system slider\ncoord a = {0}, b = -{0}, x = {1}\nframe A from N rotate a about z\nframe B from N rotate b about z\n"
            "point P at O + {2}*A.x\npoint Q at O + x*N.x\nparticle Q mass {3}\npoint B_o at P + {4}*B.x\n"
            "body A frame A mass 1 center O inertia (1, 1, {5})\nbody B frame B mass {5} center B_o inertia (0, {6}, {6})\n"
            "constraint pin: P + {2}*B.x - Q = 0\nstart a' = {7}, b' = -{7}, x' = {8}\nrun for {9}, rtol 1e-9, atol 1e-11\n",
            text(a0), text(2 * l * std::cos(a0)), text(l), text(M), text(0.5 * l), text(m), text(m * l * l / 12), text(w0),
            text(-2 * l * std::sin(a0) * w0), text(T));
        const TextRun r = through(model, k);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << k;
        EXPECT_EQ(r.run.summary.passed.size() > 0, std::abs(last(r, "a")) > 1.5707963267948966) << k;
        passed += r.run.summary.passed.size();
        for (std::size_t row = 0; row < r.run.rows(); row += 7) {
            const double a = r.at(row, "a"), da = r.at(row, "a'");
            EXPECT_NEAR(r.at(row, "b"), -a, 1e-7) << k;
            EXPECT_NEAR(r.at(row, "x"), 2 * l * std::cos(a), 1e-7 * (1 + l)) << k;
            // T = (m J + rod + slider) a'^2/2 is kept: with the rod's centre at (3/2 cos a, 1/2 sin a) l
            const auto inertia = [&](double at) {
                const double s = std::sin(at), c = std::cos(at);
                return m + m * l * l / 12 + m * l * l * (2.25 * s * s + 0.25 * c * c) + 4 * M * l * l * s * s;
            };
            EXPECT_NEAR(da * da * inertia(a), w0 * w0 * inertia(a0), 1e-6 * w0 * w0 * inertia(a0)) << k;
        }
    }
    EXPECT_GT(passed, members(50) / 2);
}

// two long sides equal the two others together: the flat position is a change point; the way back leads to where it began
TEST(SingularPositions, FourBarsThroughTheirChangePoints) {
    Draw draw(5);
    std::size_t passed = 0;
    for (std::size_t k = 0; k < members(12); ++k) {
        const double crank = draw.uniform(0.3, 0.6), base = draw.uniform(1.2, 2), rod = draw.uniform(0.8, 1.1),
                     rocker = crank + base - rod;
        // closed at this angle of the crank
        const double a0 = draw.uniform(0.7, 2.5), px = crank * std::cos(a0), py = crank * std::sin(a0);
        const double d = std::hypot(base - px, py), along = (d * d + rod * rod - rocker * rocker) / (2 * d);
        const double up = std::sqrt(rod * rod - along * along), ux = (base - px) / d, uy = -py / d;
        const double qx = px + along * ux - up * uy, qy = py + along * uy + up * ux;
        const double e0 = std::atan2(qy - py, qx - px), b0 = std::atan2(qy, qx - base);
        const double w = draw.uniform(2, 4);
        const auto model = [&](double a, double e, double b, double da, double de, double db, double T) {
            return fmt::format(
                "system fourbar\ncoord a = {}, e = {}, b = {}\nframe A from N rotate a about z\nframe E from N rotate e about z\n"
                "frame B from N rotate b about z\npoint P at O + {}*A.x\npoint D at O + {}*N.x\npoint Q at P + {}*E.x\n"
                "body A frame A mass 1 center O inertia (1, 1, 2)\nbody B frame B mass 1 center D inertia (1, 1, 0.3)\n"
                "particle Q mass 0.1\nconstraint pin: Q - D - {}*B.x = 0\nstart a' = {}, e' = {}, b' = {}\n"
                "run for {}, rtol 1e-10, atol 1e-12\n",
                text(a), text(e), text(b), text(crank), text(base), text(rod), text(rocker), text(da), text(de), text(db),
                text(T));
        };
        const double T = 1.4 * (3.14159265358979323846 - a0) / w;
        const TextRun there = through(model(a0, e0, b0, w, 0, 0, T), k);
        ASSERT_EQ(there.run.summary.reason, EndReason::finished) << k;
        passed += there.run.summary.passed.size();
        const TextRun back = through(model(last(there, "a"), last(there, "e"), last(there, "b"), -last(there, "a'"),
                                           -last(there, "e'"), -last(there, "b'"), T),
                                     k + 1);
        for (const char* angle : {"a", "e", "b"}) EXPECT_NEAR(last(back, angle), there.at(0, angle), 1e-5) << k << angle;
        for (const char* rate : {"a'", "e'", "b'"}) EXPECT_NEAR(last(back, rate), -there.at(0, rate), 1e-4) << k << rate;
        EXPECT_EQ(back.run.summary.passed.size(), there.run.summary.passed.size()) << k;
        EXPECT_NEAR(last(there, "energy"), there.at(0, "energy"), 1e-6 * there.at(0, "energy")) << k;
    }
    EXPECT_GE(passed, members(12));
}

// the lines x*y = 0 cross; a motion along one goes straight on
TEST(SingularPositions, LinesThatCross) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double turn = draw.uniform(0.3, 1.2), v = draw.uniform(0.5, 3), x0 = -draw.uniform(0.5, 2);
        const TextRun r =
            through(fmt::format("system lines\ncoord x = {}, y = 0\nstart x' = {}\nparticle P mass 1 at O + x*N.x + y*N.y\n"
                                "constraint c: y*(cos({})*y - sin({})*x) = 0\nrun for {}, rtol 1e-9, atol 1e-11\n",
                                text(x0), text(v), text(turn), text(turn), text(2 * -x0 / v)),
                    k);
        ASSERT_EQ(r.run.summary.passed.size(), 1u) << k;
        EXPECT_NEAR(r.run.summary.passed[0].t, -x0 / v, 1e-6) << k;
        EXPECT_NEAR(last(r, "x"), -x0, 1e-7) << k;
        EXPECT_NEAR(last(r, "y"), 0, 1e-9) << k;
    }
}

// a cusp ends the motion; parabolas that touch leave it open
TEST(SingularPositions, NoSmoothWayThrough) {
    for (const char* row : {"y^2 = x^3", "y*(y - x^2) = 0"}) {
        Derivation derivation =
            derive_text(fmt::format("system none\ncoord x = {}, y = {}\nstart x' = -1\nparticle P mass 1 at O + x*N.x + "
                                    "y*N.y\nconstraint c: {}\nrun for 3 s\n",
                                    "1", row[1] == '^' ? "1" : "0", row));
        RunOptions options;
        options.through = true;
        const auto result = run(derivation, options);
        ASSERT_TRUE(result);
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0862)) << row << render(derivation.diagnostics, derivation.sources);
        EXPECT_TRUE(result->summary.passed.empty()) << row;
    }
}

// events and rows on the way through
TEST(SingularPositions, EventsAndRowsOnTheArc) {
    Draw draw(7);
    for (std::size_t k = 0; k < members(20); ++k) {
        const Parallelogram p(draw);
        RunOptions options;
        options.through = true;
        const double T = 1.2 * p.period();
        const TextRun r = run_text(
            p.model(static_cast<int>(k % 3), T) + "event flat: sin(a) => report\nevent turned: sin(a + 0.01) => report\n",
            options);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << k;
        std::size_t flat = 0, turned = 0, through_one = 0;
        double before = -1;
        for (const RunEvent& e : r.run.events) {
            flat += e.what == "flat";
            turned += e.what == "turned";
            through_one += e.what.substr(0, 7) == "through";
            EXPECT_GE(e.t, before - 1e-9);
            before = e.t;
        }
        EXPECT_EQ(flat, r.run.summary.passed.size()) << k;
        EXPECT_EQ(through_one, r.run.summary.passed.size()) << k;
        const double first = (p.a0 + 0.01) / 3.14159265358979323846, end = (last(r, "a") + 0.01) / 3.14159265358979323846;
        EXPECT_EQ(static_cast<double>(turned), std::abs(std::floor(first) - std::floor(end))) << k;
        EXPECT_EQ(r.run.rows(), 501u) << k;
        for (std::size_t row = 1; row < r.run.rows(); ++row) EXPECT_GT(r.run.t(row), r.run.t(row - 1));
    }
}

}  // namespace
}  // namespace appell
