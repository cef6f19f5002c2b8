// Formulations that take some rates as functions of the others, on motions that come to the edge of where they are: blades and
// discs whose heading turns, evenly or not, by any integrator. No run leads over the edge in silence: it ends there by name, or
// has taken another chart and is right.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "support/draw.hpp"
#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_formulations{"chaplygin", "voronec", "minimal"};
constexpr std::array k_integrators{"rk4", "merson", "dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

// A blade or a rolling disc that keeps its speed v, its heading turned by a torque: evenly, with growing speed, or to and fro.
struct Turning {
    explicit Turning(Draw& draw, std::size_t kind)
        : kind(kind % 3),
          disc(kind / 3 % 2 == 1),
          a0(draw.uniform(-0.7, 0.7)),
          v(draw.uniform(0.5, 2)),
          w(draw.sign() * draw.uniform(0.5, 3)),
          A(draw.uniform(0.3, 2)),
          J(draw.uniform(0.5, 2)),
          T(draw.uniform(2, 7) / std::abs(w)) {}

    [[nodiscard]] double heading(double t) const {
        return kind == 0 ? a0 + w * t : kind == 1 ? a0 + w * t + 0.5 * A * w * std::abs(w) * t * t : a0 + A * std::sin(w * t);
    }
    [[nodiscard]] double rate() const { return kind == 2 ? A * w : w; }
    [[nodiscard]] std::string torque() const {
        if (kind == 0) return "0";
        return kind == 1 ? text(J * A * w * std::abs(w)) : fmt::format("{}*sin({}*t)", text(-J * A * w * w), text(w));
    }
    [[nodiscard]] std::string model(bool given) const {
        constexpr double r = 0.5;
        const std::string start =
            fmt::format("start x' = {}, y' = {}, a' = {}", text(v * std::cos(a0)), text(v * std::sin(a0)), text(rate()));
        const std::string rest = fmt::format("{}torque on B = {}*N.z\nrun for {}, every {}\n",
                                             given ? "independent x', a'\n" : "", torque(), text(T), text(T / 7));
        if (!disc)
            return fmt::format(
                "system blade\ncoord x = 0, y = 0, a = {}\nframe B from N rotate a about z\n"
                "body B frame B mass 1 center at O + x*N.x + y*N.y inertia (1, 1, {})\n"
                "constraint blade: dot(vel(B_o), B.y) = 0\n{}\n{}",
                text(a0), text(J), start, rest);
        return fmt::format(
            "system disc\ncoord x = 0, y = 0, a = {0}, s = 0\nframe A from N rotate a about z\n"
            "frame B from A rotate s about y\npoint C at O + x*N.x + y*N.y\n"
            "body B frame B mass 1 center C inertia ({1}, 0.2, {1})\n"
            "constraint side: dot(vel(C), A.y) = 0\nconstraint roll: dot(vel(C), A.x) = {2}*s'\n{3}, s' = {4}\n{5}",
            text(a0), text(J), text(r), start, text(v / r), rest);
    }
    // when |cos(heading)| is first that small; none before T
    [[nodiscard]] double first_near_edge(double share) const {
        constexpr int k_samples = 200'000;
        for (int i = 0; i <= k_samples; ++i)
            if (const double t = T * i / k_samples;
                std::abs(std::cos(heading(t))) < share ||
                std::floor(heading(t) / std::numbers::pi + 0.5) != std::floor(a0 / std::numbers::pi + 0.5))
                return t;
        return 2 * T;
    }
    [[nodiscard]] std::array<double, 2> place() const {
        constexpr int k_parts = 20'000;  // Simpson's rule
        std::array<double, 2> sum{};
        for (int i = 0; i <= k_parts; ++i) {
            const double weight = i == 0 || i == k_parts ? 1 : i % 2 == 1 ? 4 : 2, a = heading(T * i / k_parts);
            sum[0] += weight * std::cos(a);
            sum[1] += weight * std::sin(a);
        }
        for (double& s : sum) s *= v * T / (3 * k_parts);
        return sum;
    }

    std::size_t kind;
    bool disc;
    double a0, v, w, A, J, T;
};

TEST(Charts, NoRunLeadsOverTheEdge) {
    Draw draw(1);
    std::size_t ended = 0;
    for (std::size_t k = 0; k < members(144); ++k) {
        const Turning turning(draw, k);
        const bool given = k % 4 != 3;
        Derivation d = derive_text(turning.model(given));
        RunOptions options;
        options.formulation = k_formulations[k / 6 % k_formulations.size()];
        options.integrator = k_integrators[k % k_integrators.size()];
        const bool fixed = k % k_integrators.size() < 2;
        // the coarse ones go over the edge in one step
        if (fixed) options.step = draw.uniform(0.002, 0.05) / std::abs(turning.w);
        const auto result = run(d, options);
        const std::string which = fmt::format("{} {} {}\n{}{}", k, *options.formulation, *options.integrator,
                                              turning.model(given), render(d.diagnostics, d.sources));
        ASSERT_TRUE(result) << which;
        const SimulateSummary& s = result->summary;
        if (s.reason == EndReason::finished) {
            // nothing to be silent about
            EXPECT_FALSE(given && turning.first_near_edge(1e-5) <= turning.T) << which;
            const std::array<double, 2> at = turning.place();
            const double tolerance = (fixed ? 1e-4 : 1e-5) * turning.v * turning.T;
            EXPECT_NEAR(s.x_end[0], at[0], tolerance) << which;
            EXPECT_NEAR(s.x_end[1], at[1], tolerance) << which;
            continue;
        }
        ++ended;
        EXPECT_TRUE(d.diagnostics.has(*options.formulation == "minimal" ? Code::E0817 : Code::E0863)) << which;
        for (const Code wrong : {Code::E0805, Code::E0806, Code::E0804, Code::E0808})
            EXPECT_FALSE(d.diagnostics.has(wrong)) << which;
        EXPECT_TRUE(given || (turning.disc && *options.formulation == "chaplygin")) << which;
        // there, and not before
        EXPECT_LT(std::abs(std::cos(turning.heading(s.t_end))), 2e-3) << which;
        EXPECT_LE(s.t_end, turning.first_near_edge(1e-6) + 1e-4 * turning.T) << which;
    }
    EXPECT_GT(ended, members(144) / 4);
}

// The row turns with time, not with the state: the partition that comes next is chosen at the time where the old one wears out.
TEST(Charts, RowsThatTurnWithTime) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(24); ++k) {
        const double w = draw.uniform(0.5, 2), v = draw.uniform(0.3, 2), g = draw.uniform(-1, 1);
        const std::string model = fmt::format(
            "system turning\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nforce on P = {}*N.x\n"
            "constraint row: sin({}*t)*x' - cos({}*t)*y' = 0\nstart x' = {}\nrun for {}, every {}, rtol 1e-10, atol 1e-12\n",
            text(g), text(w), text(w), text(v), text(7 / w), text(7 / w));
        RunOptions options;
        options.formulation = k % 2 == 0 ? "voronec" : "minimal";
        const TextRun r = run_text(model, options), right = run_text(model);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << *options.formulation << model;
        EXPECT_FALSE(r.run.events.empty()) << model;
        for (const char* q : {"x", "y", "x'", "y'"})
            EXPECT_NEAR(r.at(1, q), right.at(1, q), 1e-7) << *options.formulation << ' ' << q << '\n' << model;
    }
}

}  // namespace
}  // namespace appell
