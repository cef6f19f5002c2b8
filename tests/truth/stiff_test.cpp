// Stiff systems: an implicit integrator takes far fewer rates than the explicit pairs, for the same answer.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// A pendulum on a spring that is a rod for all purposes: its length comes to rest within milliseconds.
const char* const k_pendulum = R"(
system stiff_pendulum
param m = 1 kg, l = 1 m, g = 9.81 m/s^2, k = 1e7 N/m, c = 4e4 N*s/m
coord x = 0.6 m, y = -0.8 m
particle P mass m at O + x*N.x + y*N.y
gravity -g*N.y
spring O P stiffness k length l
damper O P coefficient c
run for 5 s, every 5 s, rtol 1e-6, atol 1e-8
)";

// A heavy mass on a soft spring, driven slowly; a light one follows it through a damper, ten thousand times as fast.
const char* const k_driven = R"(
system driven
param m1 = 1 kg, m2 = 1 g, k1 = 1 N/m, k2 = 100 N/m, c = 10 N*s/m, F = 1 N, w = 0.4 Hz
coord x = 1 m, z = 0 m
particle P mass m1 at O + x*N.x
particle Q mass m2 at O + (x + z)*N.x
force on P = (F*cos(w*t) - k1*x)*N.x
force on P = (k2*z + c*z')*N.x
force on Q = -(k2*z + c*z')*N.x
run for 60 s, every 60 s, rtol 1e-6, atol 1e-8
)";

struct Cost {
    std::vector<double> end;
    std::size_t evaluations, jacobians, steps;
    bool warned;
};

Cost cost_of(const char* text, const char* integrator) {
    RunOptions options;
    options.integrator = integrator;
    const TextRun r = run_text(text, options);
    Cost out{{}, r.run.summary.evaluations, r.run.summary.jacobians, r.run.summary.steps, false};
    out.end = r.run.summary.x_end;
    out.warned = r.derivation.diagnostics.has(Code::W0831);
    return out;
}

TEST(Stiff, ImplicitIntegratorsTakeFarFewerRates) {
    for (const char* text : {k_pendulum, k_driven}) {
        const Cost five = cost_of(text, "dopri5"), eight = cost_of(text, "dop853");
        EXPECT_TRUE(five.warned) << text;
        EXPECT_TRUE(eight.warned) << text;
        // many stiff steps are dear to a one-step method whose stages are solved one after the other
        const bool pendulum = text == k_pendulum;
        for (const char* name : {"cvode", "ida", pendulum ? "cvode" : "arkode"}) {
            const Cost implicit = cost_of(text, name);
            EXPECT_FALSE(implicit.warned);
            EXPECT_LT(15 * implicit.evaluations, std::min(five.evaluations, eight.evaluations)) << name << text;
            EXPECT_GT(implicit.jacobians, 0u) << name;
            // IDA's matrix has the step in it, and is made anew with every one that differs
            const bool ida = std::string_view(name) == "ida";
            EXPECT_LT((ida ? 1 : 5) * implicit.jacobians, implicit.steps) << name;
            // some two thousand steps at 1e-6 each, many of which add up
            for (std::size_t i = 0; i < implicit.end.size(); ++i) EXPECT_NEAR(implicit.end[i], five.end[i], 2e-3) << name << text;
        }
    }
}

// the same pendulum with a rod: what the spring stands for
TEST(Stiff, TheSpringIsARod) {
    RunOptions options;
    options.integrator = "cvode";
    const std::string text = k_pendulum;
    const std::string rod =
        text.substr(0, text.find("spring")) + "constraint rod: x^2 + y^2 = l^2\nrun for 5 s, every 5 s, rtol 1e-9\n";
    const TextRun spring = run_text(text, options), rigid = run_text(rod, options);
    // the spring gives by m (g + v^2/l)/k, some 1e-6 of its length, and the period with it
    EXPECT_NEAR(spring.run.summary.x_end[0], rigid.run.summary.x_end[0], 1e-3);
    EXPECT_LT(rigid.run.summary.position_scaled, 1e-12);
    EXPECT_LT(rigid.run.summary.velocity_scaled, 1e-12);
}

}  // namespace
}  // namespace appell
