// Laws along whose discontinuities a motion would slide, or at which it switches without end: recognised within a thousand
// switches and named. And laws that only look like that: they are followed.
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
    double sign() { return uniform(-1, 1) < 0 ? -1 : 1; }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

struct Ended {
    Derivation derivation;
    std::optional<Run> run;
    [[nodiscard]] const Diagnostic* sliding() const {
        for (const Diagnostic& d : derivation.diagnostics.all())
            if (d.code == Code::E0832) return &d;
        return nullptr;
    }
    [[nodiscard]] std::string said() const { return render(derivation.diagnostics, derivation.sources); }
};

Ended run_to_its_end(const std::string& model, std::size_t k) {
    Ended out{derive_text(model), {}};
    EXPECT_TRUE(out.derivation.ok()) << out.said();
    RunOptions options;
    options.integrator = k_adaptive[k % k_adaptive.size()];
    out.run = run(out.derivation, options);
    return out;
}

std::string particle(double x, double v) {
    return fmt::format("system slides\ncoord x = {}\nstart x' = {}\nparticle P mass 1 at O + x*N.x\n", text(x), text(v));
}

// dry friction written by hand: it comes to rest at a time that is known
TEST(Chatter, FrictionBySignIsNamed) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double F = draw.uniform(0.2, 3), v = draw.uniform(0.3, 3) * draw.sign(), push = draw.uniform(-0.9, 0.9) * F;
        const std::array laws{"-{0}*sign(x')", "if(x' > 0, -{0}, {0})", "-{0}*(if(x' > 0, 1, 0) - if(x' < 0, 1, 0))"};
        const std::string law = fmt::format(fmt::runtime(laws[k % laws.size()]), text(F));
        const Ended e =
            run_to_its_end(particle(0, v) + fmt::format("force on P = ({} + {})*N.x\nrun for 1000\n", law, text(push)), k);
        const Diagnostic* said = e.sliding();
        ASSERT_NE(said, nullptr) << k << e.said();
        EXPECT_NE(said->hint.find("friction"), std::string::npos);
        ASSERT_TRUE(e.run.has_value());
        EXPECT_NEAR(e.run->summary.t_end, v / (F * (v > 0 ? 1 : -1) - push), 1e-4 * e.run->summary.t_end) << k;
        EXPECT_LT(e.run->law_switches, 1000u);
    }
}

// sliding along surfaces of positions and speeds together: x + c x' = 0 is slid along where |x'| c < F
TEST(Chatter, SurfacesOfPositionsAndSpeeds) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double F = draw.uniform(0.5, 2), c = draw.uniform(0.3, 2), x = draw.uniform(0.2, 1) * F * c * c;
        const Ended e = run_to_its_end(
            particle(x, 0) + fmt::format("force on P = -{}*sign(x + {}*x')*N.x\nrun for 1000\n", text(F), text(c)), k);
        ASSERT_NE(e.sliding(), nullptr) << k << e.said();
        EXPECT_NE(e.sliding()->message.find("x + "), std::string::npos) << e.sliding()->message;
        EXPECT_LT(e.run->law_switches, 4000u) << k;
        EXPECT_LT(e.run->summary.steps, 100'000u) << k;
    }
}

// two at once, and intervals that shrink to a point (the twisting controller): x'' = -a sign x - b sign x'
TEST(Chatter, AccumulationsAreNamed) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(24); ++k) {
        const double b = draw.uniform(0.3, 1), a = b + draw.uniform(0.5, 2), x = draw.uniform(0.5, 2);
        const Ended e = run_to_its_end(
            particle(x, 0) + fmt::format("force on P = (-{}*sign(x) - {}*sign(x'))*N.x\nrun for 1000\n", text(a), text(b)), k);
        ASSERT_NE(e.sliding(), nullptr) << k << e.said();
        // the swings become shorter by the root of (a - b)/(a + b) each
        const double q = std::sqrt((a - b) / (a + b)), first = std::sqrt(2 * x / (a - b)),
                     half = std::sqrt(2 * x * (a - b)) / (a + b);
        const double T = (first + half) / (1 - q);
        EXPECT_NEAR(e.run->summary.t_end, T, 0.05) << k;  // a thousand passages, as short as the tolerances make them
        EXPECT_LT(e.run->summary.steps, 200'000u) << k;
    }
}

// a plain crossing is no chatter, however often it happens
TEST(Chatter, CrossingsAreFollowed) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(40); ++k) {
        const double a = draw.uniform(0.5, 2), x = draw.uniform(0.1, 2);
        // x'' = -a sign(x): a parabola to each side, of period 4 sqrt(2 x/a)
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        options.rtol = 1e-9;
        options.atol = 1e-11;
        const double quarter = std::sqrt(2 * x / a), T = 40 * quarter;
        const TextRun r =
            run_text(particle(x, 0) + fmt::format("force on P = -{}*sign(x)*N.x\nrun for {}\n", text(a), text(T)), options);
        EXPECT_NEAR(r.at(r.run.rows() - 1, "x"), x, 1e-5 * (1 + x)) << k;
        EXPECT_EQ(r.run.law_switches, 20u) << k;
    }
}

// damped by a sign that never holds it: it swings through x' = 0 while the spring is stronger
TEST(Chatter, SwingsAgainstASignAreFollowedToTheirEnd) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double F = draw.uniform(0.05, 0.2), x = draw.uniform(1, 3);
        const Ended e =
            run_to_its_end(particle(x, 0) + fmt::format("force on P = (-x - {}*sign(x'))*N.x\nrun for 1000\n", text(F)), k);
        // each half swing of pi loses 2 F of amplitude; it stops at a turn within F of the middle
        double amplitude = x;
        int halves = 0;
        while (amplitude > F) {
            amplitude = std::abs(amplitude - 2 * F);
            ++halves;
            if (amplitude <= F) break;
        }
        ASSERT_NE(e.sliding(), nullptr) << k << e.said();
        EXPECT_NEAR(e.run->summary.t_end, halves * 3.14159265358979, 1e-3) << k << " x = " << x << " F = " << F;
    }
}

// A run that is just too long says how many steps it takes, and what lets it end.
TEST(Chatter, LongRunsSayWhatTheyTake) {
    for (const char* const integrator : k_adaptive) {
        Derivation d = derive_text(
            "system spring\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nforce on P = -x*N.x\nrun for 1e12, every 1e11\n");
        RunOptions options;
        options.integrator = integrator;
        const auto r = run(d, options);
        ASSERT_TRUE(r.has_value());
        EXPECT_EQ(r->summary.reason, EndReason::too_many_steps) << integrator << render(d.diagnostics, d.sources);
        EXPECT_TRUE(d.diagnostics.has(Code::E0810));
        const double pace = static_cast<double>(r->summary.steps) / r->summary.t_end;
        EXPECT_NEAR(r->summary.steps_needed, 1e12 * pace, 0.2e12 * pace) << integrator;
        EXPECT_LT(r->summary.steps, 100'000u);
    }
    // with the limit that was named it ends
    const auto spring = [](std::size_t most) {
        Derivation d = derive_text(
            "system spring\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nforce on P = -x*N.x\nrun for 1000, every 100\n");
        RunOptions options;
        options.max_steps = most;
        return run(d, options)->summary;
    };
    const SimulateSummary stopped = spring(500);
    EXPECT_EQ(stopped.reason, EndReason::too_many_steps);
    EXPECT_EQ(spring(static_cast<std::size_t>(1.1 * stopped.steps_needed)).reason, EndReason::finished);
}

}  // namespace
}  // namespace appell
