// Instants against closed forms: events that act once, that accumulate, that meet laws and contacts; impacts of contacts whose
// rows depend on each other.
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
    double power_of_ten(double a, double b) { return std::pow(10, uniform(a, b)); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

struct Ended {
    Derivation derivation;
    std::optional<Run> run;
    [[nodiscard]] std::size_t count(Code code) const {
        std::size_t out = 0;
        for (const Diagnostic& d : derivation.diagnostics.all()) out += d.code == code;
        return out;
    }
    // at the end
    [[nodiscard]] double state(std::size_t i) const { return run->summary.x_end[i]; }
    [[nodiscard]] std::size_t listed(const std::string& what) const {
        std::size_t out = 0;
        for (const RunEvent& e : run->events) out += e.what.find(what) != std::string::npos;
        return out;
    }
    [[nodiscard]] std::string said() const { return render(derivation.diagnostics, derivation.sources); }
};

Ended run_to_its_end(const std::string& model, const RunOptions& options = {}) {
    Ended out{derive_text(model), {}};
    EXPECT_TRUE(out.derivation.ok()) << out.said();
    out.run = run(out.derivation, options);
    EXPECT_TRUE(out.run.has_value()) << out.said() << model;
    return out;
}

RunOptions with(std::size_t k) {
    RunOptions options;
    options.integrator = k_adaptive[k % k_adaptive.size()];
    return options;
}

// what moves into a contact where the run starts
TEST(Instants, AnImpactAtTheStart) {
    Draw draw(7);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double v = draw.uniform(0.2, 3), r = draw.uniform(0, 0.95), g = draw.uniform(1, 20), end = 0.5 * r * v / g + 1e-3;
        const Ended ball = run_to_its_end(fmt::format(R"(system ball
coord y = 0
particle P mass 1 at O + y*N.y
start y' = -{}
gravity -{}*N.y
constraint floor: y >= 0 restitution {}
run for {}
)",
                                                      text(v), text(g), text(r), text(end)),
                                          with(k));
        ASSERT_EQ(ball.run->summary.reason, EndReason::finished) << k << ball.said();
        const double rest = 2 * r * v / g;
        if (end < rest) EXPECT_NEAR(ball.state(1), r * v - g * end, 1e-6) << k;
        EXPECT_EQ(ball.listed("impact on floor"), 1u) << k;
        EXPECT_LT(ball.run->energy.largest_error, 1e-6) << k;
        const double m1 = draw.uniform(0.5, 2), m2 = draw.uniform(0.5, 2);
        const Ended balls = run_to_its_end(fmt::format(R"(system balls
coord x1 = 0, x2 = 0
particle A mass {} at O + x1*N.x
particle B mass {} at O + x2*N.x
start x1' = {}
constraint c: x2 - x1 >= 0 restitution {}
run for 1
)",
                                                       text(m1), text(m2), text(v), text(r)),
                                           with(k));
        ASSERT_EQ(balls.run->summary.reason, EndReason::finished) << k << balls.said();
        EXPECT_NEAR(balls.state(2), v * (m1 - r * m2) / (m1 + m2), 1e-6) << k;
        EXPECT_NEAR(balls.state(3), v * m1 * (1 + r) / (m1 + m2), 1e-6) << k;
    }
}

// one floor written several times, with several coefficients: the ball leaves by the largest
TEST(Instants, ImpactsOnContactsThatDependOnEachOther) {
    Draw draw(8);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double g = draw.uniform(2, 20), fall = std::sqrt(2 / g);
        std::string rows;
        double largest = 0;
        for (std::size_t i = 0; i < 2 + k % 3; ++i) {
            const double r = draw.uniform(0.05, 0.9);
            largest = std::max(largest, r);
            rows += fmt::format("constraint c{}: {}*y >= 0 restitution {}\n", i, text(draw.power_of_ten(-2, 2)), text(r));
        }
        const double after = 0.7 * largest * fall;
        const Ended e = run_to_its_end(fmt::format(R"(system floors
coord y = 1
particle P mass 1 at O + y*N.y
gravity -{}*N.y
{}run for {}
)",
                                                   text(g), rows, text(fall + after)),
                                       with(k));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(1), largest * g * fall - g * after, 1e-6) << k;
    }
}

// a floor that a prescribed motion lifts a load from: the contact opens
TEST(Instants, ContactsThatContradictOpen) {
    Draw draw(9);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double a = draw.uniform(0.5, 3), m = draw.uniform(0.5, 3), v = draw.uniform(0.2, 2), at = draw.uniform(0.1, 0.5);
        const std::string load = fmt::format(
            "system lift\ncoord y = 0\nparticle P mass {} at O + y*N.y\npoint Pad at O + ({{}})*N.y\n"
            "gravity -9.81*N.y\nconstraint floor: y >= 0\n",
            text(m));
        const auto model = [&](const std::string& pad, const std::string& row) {
            return fmt::format(fmt::runtime(load), pad) + row + "run for 1\n";
        };
        const std::string rises = fmt::format("{}*t^2/2", text(a)), hits = fmt::format("{}*(t - {})", text(v), text(at));
        const std::string paddle = "constraint paddle: dot(P - Pad, N.y) >= 0\n";
        const Ended crane = run_to_its_end(model("0", fmt::format("constraint crane: y = {}\n", rises)), with(k));
        ASSERT_EQ(crane.run->summary.reason, EndReason::finished) << k << crane.said();
        EXPECT_NEAR(crane.state(0), 0.5 * a, 1e-6) << k;
        const Ended later = run_to_its_end(
            model("0", fmt::format("constraint crane: y' = if(t < {}, 0, {}*(t - {}))\n", text(at), text(a), text(at))), with(k));
        ASSERT_EQ(later.run->summary.reason, EndReason::finished) << k << later.said();
        EXPECT_NEAR(later.state(0), 0.5 * a * (1 - at) * (1 - at), 1e-6) << k;
        const Ended pushed = run_to_its_end(model(rises, paddle), with(k));
        ASSERT_EQ(pushed.run->summary.reason, EndReason::finished) << k << pushed.said();
        EXPECT_NEAR(pushed.state(0), 0.5 * a, 1e-6) << k;
        const Ended hit = run_to_its_end(model(hits, paddle), with(k));
        ASSERT_EQ(hit.run->summary.reason, EndReason::finished) << k << hit.said();
        EXPECT_NEAR(hit.state(0), v * (1 - at), 1e-6) << k;
        const Ended enforced = run_to_its_end(
            model("0",
                  fmt::format("constraint crane: y' = {} initially off\nevent go: t - {} => enforce crane\n", text(v), text(at))),
            with(k));
        ASSERT_EQ(enforced.run->summary.reason, EndReason::finished) << k << enforced.said();
        EXPECT_NEAR(enforced.state(0), v * (1 - at), 1e-6) << k;
    }
}

// a relay that switches at an even pace, for long: the limit of work, not chatter
TEST(Instants, EvenSwitchesForLongAreTheLimitOfWork) {
    for (const std::string law : {"force on P = -sign(x)*N.x\n", "force on P = -x*N.x\nevent e: x => set x' = x'\n"}) {
        const Ended e =
            run_to_its_end("system relay\ncoord x = 1\nparticle P mass 1 at O + x*N.x\n" + law + "run for 1e10, every 1e9\n");
        EXPECT_EQ(e.run->summary.reason, EndReason::too_many_steps) << e.said();
        EXPECT_GT(e.run->summary.steps_needed, 1e9);
    }
}

TEST(Instants, StepsBeginFarFromZero) {
    Draw draw(10);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double from = std::round(draw.power_of_ten(8, 10.5)), x = draw.power_of_ten(-12, 1), pulse = from + 5;
        const Ended e = run_to_its_end(fmt::format("system far\ncoord x = {}\nparticle P mass 1 at O + x*N.x\n"
                                                   "force on P = if(t > {}, 1, 0)*N.x\nrun from {} for 10\n",
                                                   text(x), text(pulse), text(from)),
                                       with(k % 2));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(0), x + 12.5, 1e-5) << k;
    }
}

}  // namespace
}  // namespace appell
