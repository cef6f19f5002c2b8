// smooth(EXPR): refused where a value jumps, accepted where it does not, and the same motion as with guards.
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

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

std::string particle(const std::string& law) {
    return "system smooth\nparam a = 0.4, b = 2, k = 30\ncoord x = 0, y = 0\nstart x' = 1, y' = 0.3\n"
           "particle P mass 1 at O + x*N.x + y*N.y\n" +
           law + "run for 2, rtol 1e-10, atol 1e-12\n";
}

TEST(SmoothValues, MotionIsTheSameWithoutGuards) {
    Draw draw(1);
    const std::array laws{"-k*max(0, {0} - {1})", "-k*abs({0} - {1})", "min({1}, {0})*k", "-if({0} > {1}, k*({0} - {1})^2, 0)",
                          "-max(0, min({0} - {1}, 0.1))*k"};
    const std::array places{"x", "x + 0.3*y", "x - 0.1*t", "0.5*x' + x"};
    for (std::size_t i = 0; i < members(40); ++i) {
        const std::string law =
            fmt::format(fmt::runtime(laws[i % laws.size()]), places[(i / 3) % places.size()], text(draw.uniform(0.1, 0.8)));
        const TextRun guarded = run_text(particle("force on P = (" + law + ")*N.x\n"));
        const TextRun smooth = run_text(particle("force on P = smooth(" + law + ")*N.x\n"));
        EXPECT_EQ(smooth.run.law_switches, 0u) << law;
        const std::size_t end = guarded.run.rows() - 1;
        EXPECT_NEAR(smooth.at(end, "x"), guarded.at(end, "x"), 1e-6 * (1 + std::abs(guarded.at(end, "x")))) << law;
        EXPECT_NEAR(smooth.at(end, "x'"), guarded.at(end, "x'"), 1e-6 * (1 + std::abs(guarded.at(end, "x'")))) << law;
    }
}

// branches p and p + (guard) q agree on the surface; with a constant more they do not
TEST(SmoothValues, JumpsAreFoundAndBendsAreNot) {
    Draw draw(2);
    const std::array guards{"x - a", "x^2 + y^2 - a", "sin(3*x) - 0.5*y", "x' - a*y'", "t - a", "exp(x) - 1.5", "x*y - a"};
    const std::array values{"1", "x", "y*x + 2", "k*x'", "sin(y)*k", "1e6*x", "1e-6"};
    for (std::size_t i = 0; i < members(); ++i) {
        const std::string guard = guards[i % guards.size()], p = values[(i / 2) % values.size()],
                          q = values[(i / 5) % values.size()];
        const double jump = std::pow(10, draw.uniform(-6, 3)) * (draw.uniform(-1, 1) < 0 ? -1 : 1);
        const std::string other = fmt::format("({})*{} + ({})*({})", p, text(1), guard, q);
        for (const bool jumps : {false, true}) {
            const std::string value = fmt::format("smooth(if({} > 0, {}, {}{}))", guard, p, other,
                                                  jumps ? fmt::format(" + {}*(1 + abs({}) + abs({}))", text(jump), p, q) : "");
            const Derivation derivation = derive_text(particle("force on P = " + value + "*N.x\n"));
            EXPECT_EQ(derivation.diagnostics.has(Code::E0835), jumps)
                << value << render(derivation.diagnostics, derivation.sources);
        }
    }
}

TEST(SmoothValues, OperationsThatJumpAreRefused) {
    for (const char* value : {"smooth(sign(x))", "smooth(x*sign(y))", "smooth(if(x > a, 1, 0))", "smooth(max(0, sign(x' - a)))",
                              "smooth(if(x > 0 and y > 0, x, 0))", "smooth(if(x^2 + 1 < 0, 1, 0))"}) {
        const Derivation derivation = derive_text(particle(fmt::format("force on P = {}*N.x\n", value)));
        EXPECT_TRUE(derivation.diagnostics.has(Code::E0835)) << value;
    }
    for (const char* value : {"smooth(abs(x))", "smooth(x*sign(x))", "smooth(if(x > a, x - a, 0))", "smooth(sqrt(max(0, x)))",
                              "smooth(max(x, y)*min(x, y))", "smooth(if(x > 0 and y > 0, x*y, 0))", "f(x - a)"}) {
        const Derivation derivation =
            derive_text(particle(fmt::format("function f(s) = smooth(max(0, s))\nforce on P = {}*N.x\n", value)));
        EXPECT_TRUE(derivation.ok()) << value << render(derivation.diagnostics, derivation.sources);
    }
}

// the force of a potential with a corner jumps, and so does a law that has the comparison a second time
TEST(SmoothValues, WhatJumpsAllTheSameIsWatched) {
    for (const char* law : {"potential smooth(abs(x - a))\n", "force on P = (smooth(max(0, x - a)) + if(x > a, 1, 0))*N.x\n"}) {
        const TextRun r = run_text(particle(law));
        EXPECT_TRUE(r.derivation.diagnostics.has(Code::N0838)) << law;
        EXPECT_GE(r.run.law_switches, 1u) << law;
    }
}

}  // namespace
}  // namespace appell
