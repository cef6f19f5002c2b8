// Impacts of several contacts at once: named where single impacts, one after the other, would lead elsewhere, and only there.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "support/draw.hpp"
#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

std::size_t named(const std::string& model) {
    const TextRun r = run_text(model);
    EXPECT_EQ(r.run.summary.reason, EndReason::finished) << model;
    std::size_t out = 0;
    for (const Diagnostic& d : r.derivation.diagnostics.all()) out += d.code == Code::W0868;
    return out;
}

// what a foot that is hit does to the other one: 1/m - w^2/I
TEST(SimultaneousImpacts, ABlockThatFallsFlat) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double m = draw.uniform(0.5, 2), w = draw.uniform(0.1, 1), I = draw.uniform(0.05, 1) * m;
        const double lifts = 1 / m - w * w / I;
        if (std::abs(lifts) < 0.05 / m) continue;
        const std::string model = fmt::format(
            "system block\ncoord x = 0, y = 0.5, th = 0\nframe B from N rotate th about z\n"
            "body T frame B mass {} center at O + x*N.x + y*N.y inertia ({}, {}, {})\ngravity -9.81*N.y\n"
            "point L at T_o - {}*B.x - 0.1*B.y\npoint R at T_o + {}*B.x - 0.1*B.y\n"
            "constraint l: dot(pos(L), N.y) >= 0\nconstraint r: dot(pos(R), N.y) >= 0\nrun for 0.5, every 0.25\n",
            m, I, I, I, w, w);
        EXPECT_EQ(named(model), lifts > 0 ? 1u : 0u) << model;
    }
}

// A row of balls in touch, the first one moves into the next. Elastic ones hand the motion on; others end with one velocity.
TEST(SimultaneousImpacts, NewtonsCradle) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(20); ++k) {
        const bool elastic = k % 2 == 0;
        const int balls = 2 + static_cast<int>(k / 2 % 4);
        std::string model = "system cradle\n";
        for (int i = 1; i <= balls; ++i)
            model += fmt::format("coord x{} = {}\nparticle P{} mass {} at O + x{}*N.x\n", i, i, i, draw.uniform(0.5, 2), i);
        for (int i = 1; i < balls; ++i)
            model += fmt::format("constraint c{}: x{} - x{} - {} >= 0 restitution {}\n", i, i + 1, i, i == 1 ? 0.5 : 1.0,
                                 elastic ? 1 : 0);
        model += "start x1' = 1\nrun for 1, every 0.5\n";
        EXPECT_EQ(named(model), elastic && balls > 2 ? 1u : 0u) << model;
    }
}

TEST(SimultaneousImpacts, ApartAndTwiceTheSame) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(10); ++k) {
        const double e = draw.uniform(0, 1), f = draw.uniform(0, 1), h = draw.uniform(0.1, 1);
        const auto model = [&](const std::string& gap, double other) {
            return fmt::format(
                "system apart\ncoord y = {}, z = {}\nparticle P mass {} at O + y*N.y\nparticle Q mass {} at O + z*N.y\n"
                "gravity -9.81*N.y\nconstraint a: y >= 0 restitution {}\nconstraint b: {} >= 0 restitution {}\n"
                "run for {}, every 1\n",
                h, h, draw.uniform(0.5, 2), draw.uniform(0.5, 2), e, gap, other, std::sqrt(2 * h / 9.81) * 1.1);
        };
        EXPECT_EQ(named(model("z", f)), 0u);
        EXPECT_EQ(named(model("2*y", e)), 0u);
        if (std::abs(e - f) > 0.01) {
            EXPECT_EQ(named(model("2*y", f)), 1u);
        }
    }
}

}  // namespace
}  // namespace appell
