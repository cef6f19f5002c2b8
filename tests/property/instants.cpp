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

// the projection of what an event sets moves its own expression
TEST(Instants, AnEventWhoseSetIsMovedOnActsOnce) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double m1 = draw.uniform(0.5, 2), m2 = draw.uniform(0.5, 2), g = draw.uniform(1, 4), at = draw.uniform(0.2, 0.8);
        const double to = at + draw.uniform(0.1, 1), start = at + draw.uniform(0.1, 1);
        const double slows = g * m2 / (m1 + m2), after = (m1 * to + m2 * at) / (m1 + m2);
        const double first = (start - at) / slows, pause = (after - at) / slows;
        const double end = first + 3.5 * pause;
        const Ended e =
            run_to_its_end(fmt::format(R"(system own
coord x = 0, y = 0, n = 0
particle P mass 1 at O
particle A mass {} at O + x*N.x
particle B mass {} at O + y*N.y
particle C mass 1 at O + n*N.z
force on B = -{}*N.y
start x' = {}, y' = {}
constraint c: x' = y'
event e: y' - {} => set x' = {}, n = n + 1
run for {}
)",
                                       text(m1), text(m2), text(g * m2), text(start), text(start), text(at), text(to), text(end)),
                           with(k));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(2), 4, 1e-9) << k;
        EXPECT_NEAR(e.state(3), after - 0.5 * pause * slows, 1e-6) << k;
    }
}

// a ball that bounces by an event: it ends by name where the bounces accumulate, and is never below the floor
TEST(Instants, EventsThatAccumulateEndByName) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double g = draw.uniform(1, 20), h = draw.uniform(0.2, 2), r = draw.uniform(0.2, 0.8);
        const double accumulate = std::sqrt(2 * h / g) * (1 + r) / (1 - r);
        RunOptions options = with(k);
        if (k % 3 == 0) options.max_step = accumulate * draw.power_of_ten(-3, -1);
        const Ended e = run_to_its_end(fmt::format(R"(system zeno
coord y = {}, n = 0
particle P mass 1 at O + y*N.y
particle C mass 1 at O + n*N.x
gravity -{}*N.y
event bounce: y falling => set y' = -{}*y', n = n + 1
run for {}
)",
                                                   text(h), text(g), text(r), text(1.5 * accumulate)),
                                       options);
        EXPECT_EQ(e.count(Code::E0843), 1u) << k << e.said();
        // Bounces as low as the first steps of implicit integrators may err, twenty times atol, take as long as integration makes
        // of them, and so do all that follow.
        const double lowest = 2 * std::sqrt(2 * 20 * e.run->options.atol / g) / (1 - r);
        EXPECT_NEAR(e.run->summary.t_end, accumulate, 1e-5 * accumulate + lowest) << k;
        for (std::size_t row = 0; row < e.run->rows(); ++row) ASSERT_GT(e.run->at(row, 0), -1e-8) << k;
    }
}

TEST(Instants, BouncesThatDoNotShrinkGoOn) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double v = draw.power_of_ten(-3, 0), g = 10, pause = 2 * v / g;
        const Ended e = run_to_its_end(fmt::format(R"(system steady
coord y = 0, n = 0
particle P mass 1 at O + y*N.y
particle C mass 1 at O + n*N.x
gravity -{}*N.y
start y' = {}
event b: y falling => set y' = {}, n = n + 1
run for {}
)",
                                                   text(g), text(v), text(v), text(100.5 * pause)),
                                       with(k));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(1), 100, 1e-9) << k << " " << v;
    }
}

// touching zero and going back is not a passage
TEST(Instants, AReportBesideABounceIsListedOnce) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double g = draw.uniform(5, 15), r = draw.uniform(0.6, 0.9), scale = draw.power_of_ten(-3, 3);
        const double fall = std::sqrt(2 / g), end = fall * (1 + 2 * r + 2 * r * r + r * r * r);
        for (const bool contact : {false, true}) {
            const Ended e = run_to_its_end(fmt::format(R"(system reports
coord y = 1
particle P mass 1 at O + y*N.y
gravity -{}*N.y
{}
event r: {}*y => report
event lift: y rising => report
run for {}
)",
                                                       text(g),
                                                       contact ? "constraint floor: y >= 0 restitution " + text(r)
                                                               : "event b: y falling => set y' = -" + text(r) + "*y'",
                                                       text(scale), text(end)),
                                           with(k));
            ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
            EXPECT_EQ(e.listed("r"), 3u) << k;
            EXPECT_EQ(e.listed("lift"), 0u) << k;
        }
    }
}

// an event at the instant at which a law would lead back to its surface
TEST(Instants, AnEventActsWhereALawWouldSlide) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double F = draw.uniform(0.5, 2), v = draw.uniform(0.5, 2), stops = v / F, again = draw.uniform(0.5, 2);
        const std::string braked = fmt::format(R"(system brake
coord x = 0
particle P mass 1 at O + x*N.x
start x' = {}
constraint held: x' = 0 initially off
force on P = -{}*sign(x')*N.x
)",
                                               text(v), text(F));
        const Ended stop =
            run_to_its_end(braked + fmt::format("event rest: x' falling => stop\nrun for {}\n", text(3 * stops)), with(k));
        EXPECT_EQ(stop.run->summary.reason, EndReason::event) << k << stop.said();
        EXPECT_NEAR(stop.run->summary.t_end, stops, 1e-6 * stops) << k;
        const Ended held = run_to_its_end(
            braked + fmt::format("event rest: x' falling => enforce held\nrun for {}\n", text(3 * stops)), with(k));
        ASSERT_EQ(held.run->summary.reason, EndReason::finished) << k << held.said();
        EXPECT_NEAR(held.state(0), 0.5 * v * stops, 1e-6) << k;
        const double end = stops + 0.5 * again / F;
        const Ended kicked = run_to_its_end(
            braked + fmt::format("event rest: x' falling => set x' = {}\nrun for {}\n", text(again), text(end)), with(k));
        ASSERT_EQ(kicked.run->summary.reason, EndReason::finished) << k << kicked.said();
        EXPECT_NEAR(kicked.state(1), 0.5 * again, 1e-6) << k;
        const Ended reported =
            run_to_its_end(braked + fmt::format("event rest: x' falling => report\nrun for {}\n", text(3 * stops)), with(k));
        EXPECT_EQ(reported.count(Code::E0832), 1u) << k << reported.said();
        EXPECT_EQ(reported.listed("rest"), 1u) << k;
    }
}

// a cascade is found however small the numbers of its event are
TEST(Instants, CascadesDoNotDependOnTheUnitOfAnEvent) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double back = draw.uniform(0.1, 0.6), between = draw.uniform(back + 0.05, 0.95), scale = draw.power_of_ten(-30, 9);
        const Ended e = run_to_its_end(fmt::format(R"(system cascade
coord x = 0, n = 0
particle P mass 1 at O + x*N.x
particle C mass 1 at O + n*N.x
start x' = 1
event a: x - 1 rising => set x = {}
event b: {}*(x - {}) falling => set n = n + 1
run for 1.01
)",
                                                   text(back), text(scale), text(between)),
                                       with(k));
        ASSERT_EQ(e.run->summary.reason, EndReason::finished) << k << e.said();
        EXPECT_NEAR(e.state(1), 1, 1e-9) << k << " " << scale;
    }
}

TEST(Instants, OrdersThatMatterAreNamed) {
    const auto warned = [](const std::string& rows) {
        return run_to_its_end("system order\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nstart x' = 1\n" + rows +
                              "run for 2\n")
            .count(Code::W0845);
    };
    const std::string rail = "constraint rail: y = 0\n", c = "constraint c: x' = y' initially off\n";
    EXPECT_EQ(warned(rail + "event a: x - 1 rising => drop rail\nevent b: 2*x - 2 rising => enforce rail\n"), 1u);
    EXPECT_EQ(warned(c + "event a: x - 1 rising => set x' = 2\nevent b: 2*x - 2 rising => enforce c\n"), 1u);
    EXPECT_EQ(warned(c + "event b: 2*x - 2 rising => enforce c\nevent a: x - 1 rising => set x' = 2\n"), 1u);
    EXPECT_EQ(warned("event a: x - 1 rising => set x' = 1.5\nevent b: 2*x - 2 rising => set x' = 3\n"
                     "event c: 3*x - 3 rising => set x' = 1.5\n"),
              2u);
    // different things
    EXPECT_EQ(warned("event a: x - 1 rising => set x' = 1.5\nevent b: 2*x - 2 rising => set y' = 3\n"), 0u);
    EXPECT_EQ(warned(c + "event a: x - 1 rising => drop c\nevent b: 2*x - 2 rising => set y' = 3\n"), 0u);
    EXPECT_EQ(warned(c + "event a: x - 1 rising => report\nevent b: 2*x - 2 rising => enforce c\n"), 0u);
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
        if (end < rest) {
            EXPECT_NEAR(ball.state(1), r * v - g * end, 1e-6) << k;
        }
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
