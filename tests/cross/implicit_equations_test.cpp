// The equations as they stand, which IDA integrates, over the gallery: they vanish at the rates that the run solves for, and
// their slopes are what difference quotients say.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "pipeline/lower_motion.hpp"
#include "sim/motion_rate.hpp"
#include "support/certificate_of.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

struct At {
    double t = 0.3;
    std::vector<double> x, xd, z;
    [[nodiscard]] FirstOrderSystem::Implicit place() const { return {t, x, xd, z}; }
};

double largest(const std::vector<double>& v) {
    double out = 0;
    for (const double x : v) out = std::max(out, std::abs(x));
    return out;
}

TEST(ImplicitEquations, VanishAtTheRateAndHaveItsSlopes) {
    int models = 0, with_unknowns = 0, with_works = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        const std::string name = entry.path().stem().string();
        const Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok()) << name;
        const auto lowered = lower_motion(*d.dynamics, {.for_run = true, .residual = true});
        if (!lowered.ok()) continue;              // a model of the general case has functions without values
        if (!lowered->motion.residual) continue;  // servo-constraints with more or fewer actuators than rows
        MotionRate system(lowered->motion);
        At at;
        at.x = start_of(*lowered);
        std::mt19937 random(7);
        std::uniform_real_distribution<double> part(-0.05, 0.05);
        for (double& v : at.x) v += part(random);
        at.x.resize(system.size(), 0.25);
        at.xd.resize(system.size());
        at.z.resize(system.unknowns());
        if (system.rate(at.t, at.x, at.xd) != RateStatus::ok || !system.has_residual()) continue;
        ASSERT_EQ(system.unknowns_at(at.t, at.x, at.z), RateStatus::ok) << name;
        const std::size_t n = system.size(), size = n + at.z.size();
        std::vector<double> F(size), above(size), below(size), J(size * size);
        ASSERT_EQ(system.residual(at.place(), F), RateStatus::ok) << name;
        // every term of an equation is of the size of its unknowns times their slopes
        constexpr double k_alpha = 3;
        ASSERT_EQ(system.residual_slopes(at.place(), k_alpha, J), RateStatus::ok) << name;
        const double slope = largest(J), scale = slope * (1 + largest(at.xd) + largest(at.z));
        EXPECT_LT(largest(F), 1e-12 * scale) << name;
        // with x' = alpha x, as far as a step of the integrator sees
        double worst = 0;
        for (std::size_t c = 0; c < size; ++c) {
            const At here = at;
            const double size_of = c < n ? 1 : 1 + std::abs(at.z[c - n]), width = 1e-5 * size_of;
            for (const double sign : {1.0, -1.0}) {
                at = here;
                if (c < n) {
                    at.x[c] += sign * width;
                    at.xd[c] += sign * width * k_alpha;
                } else {
                    at.z[c - n] += sign * width;
                }
                ASSERT_EQ(system.residual(at.place(), sign > 0 ? above : below), RateStatus::ok) << name;
            }
            at = here;
            for (std::size_t r = 0; r < size; ++r)
                worst = std::max(worst, std::abs((above[r] - below[r]) / (2 * width) - J[c * size + r]));
        }
        // round-off of the equations' terms over the width, and the third derivative times its square
        EXPECT_LT(worst, 1e-6 * scale) << name;
        ++models;
        with_unknowns += at.z.empty() ? 0 : 1;
        with_works += n > lowered->motion.states() ? 1 : 0;
    }
    EXPECT_GT(models, 60);
    EXPECT_GT(with_unknowns, 40);
    EXPECT_GT(with_works, 10);
}

// the same motion by IDA and by the default pair, over constraints of all kinds, redundant ones, laws and a reduced state
TEST(ImplicitEquations, IdaFindsTheSameMotion) {
    struct Case {
        const char *name, *formulation;
    };
    for (const Case& c :
         {Case{"perpendicular_pucks", "multipliers"}, Case{"perpendicular_pucks", "minimal"}, Case{"rolling_disk", "multipliers"},
          Case{"appell_hamel_nonlinear", "multipliers"}, Case{"sliding_particle", "multipliers"},
          Case{"rough_ring", "multipliers"}, Case{"bricard", "multipliers"}}) {
        RunOptions options;
        options.formulation = c.formulation;
        options.until = 0.5;
        options.rtol = options.atol = 1e-9;
        options.integrator = "dopri5";
        const TextRun reference = run_text(gallery_text(c.name), options);
        options.integrator = "ida";
        const TextRun found = run_text(gallery_text(c.name), options);
        const std::vector<double>&a = reference.run.summary.x_end, &b = found.run.summary.x_end;
        ASSERT_EQ(found.run.summary.t_end, reference.run.summary.t_end) << c.name;
        ASSERT_EQ(a.size(), b.size()) << c.name;
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(a[i]))) << c.name;
    }
}

}  // namespace
}  // namespace appell
