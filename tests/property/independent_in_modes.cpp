// Independent speeds named by the user, in models that switch constraints: any choice leads to the motion of `multipliers`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/draw.hpp"
#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

// A block with a foot on a rough floor, on a slider that keeps it level or not; it slips, sticks, tips and lifts off.
std::string block(Draw& draw, bool level) {
    const std::size_t named = 1 + draw.below(7);  // some of three speeds
    std::string speeds;
    for (std::size_t i = 0; i < 3; ++i)
        if ((named >> i & 1u) != 0) speeds += fmt::format("{}{}", speeds.empty() ? "" : ", ", std::vector{"x'", "y'", "th'"}[i]);
    if (level && speeds.find("th'") != std::string::npos) speeds = "x'";
    return fmt::format(
        "system block\ncoord x = 0, y = 0.5, th = 0\nframe B from N rotate th about z\n"
        "body T frame B mass {} center at O + x*N.x + y*N.y inertia (0.1, 0.1, {})\ngravity -9.81*N.y\n"
        "point F at T_o + {}*B.x - 0.5*B.y\nconstraint floor: dot(pos(F), N.y) >= 0\n"
        "nonideal floor: friction on T at F = {}*reaction(floor)\n{}"
        "force on T at T_o = {}*N.x + {}*t*N.y\ntorque on T = -({}*th + {}*th')*N.z\n"
        "independent {}\nstart x' = {}\nrun for 0.6, every 0.1, rtol 1e-10, atol 1e-11\n",
        draw.uniform(0.5, 2), draw.uniform(0.05, 0.5), draw.uniform(-0.2, 0.2), draw.uniform(0.1, 0.6),
        level ? "constraint level: th = 0\n" : "", draw.uniform(-3, 3), draw.uniform(0, 60), draw.uniform(5, 50),
        draw.uniform(0.1, 1), speeds, draw.uniform(-1, 1));
}

TEST(IndependentInModes, AllChoicesAgree) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(40); ++k) {
        const std::string model = block(draw, k % 3 == 0);
        const TextRun right = run_text(model);
        ASSERT_EQ(right.run.summary.reason, EndReason::finished) << model;
        for (const char* formulation : {"minimal", "nonminimal"}) {
            RunOptions options;
            options.formulation = formulation;
            const TextRun r = run_text(model, options);
            ASSERT_EQ(r.run.summary.reason, EndReason::finished) << formulation << '\n' << model;
            ASSERT_EQ(r.run.events.size(), right.run.events.size()) << formulation << '\n' << model;
            for (std::size_t i = 0; i < right.run.rows(); ++i)
                for (const char* column : {"x", "y", "th", "x'", "y'", "th'"})
                    ASSERT_NEAR(r.at(i, column), right.at(i, column), 1e-7) << formulation << ' ' << column << '\n' << model;
        }
    }
}

// said where a named speed gives way to one that is not, and only there
TEST(IndependentInModes, ANoteWhereAModeCannotUseThem) {
    const auto notes = [](const std::string& independent) {
        RunOptions options;
        options.formulation = "minimal";
        const TextRun r = run_text(
            "system ball\ncoord x = 0, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\ngravity -9.81*N.y\n"
            "constraint floor: y >= 0\nindependent " +
                independent + "\nstart x' = 1\nrun for 1, every 0.5\n",
            options);
        EXPECT_NEAR(r.at(r.run.rows() - 1, "x"), 1, 1e-7);
        EXPECT_NEAR(r.at(r.run.rows() - 1, "y"), 0, 1e-7);
        std::size_t out = 0;
        for (const Diagnostic& d : r.derivation.diagnostics.all()) out += d.code == Code::N0867;
        return out;
    };
    EXPECT_EQ(notes("x'"), 0u);
    EXPECT_EQ(notes("x', y'"), 0u);
    EXPECT_EQ(notes("y'"), 1u);
}

// what is always on and binds the speeds that are named
TEST(IndependentInModes, AChoiceThatIsNeverRightIsAnError) {
    const Derivation d = derive_text(
        "system ball\ncoord x = 0, y = 1, z = 0\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\nconstraint floor: y >= 0\n"
        "constraint wall: z' = 0\nindependent z', x'\nrun for 1\n");
    EXPECT_TRUE(d.diagnostics.has(Code::E0817)) << render(d.diagnostics, d.sources);
}

}  // namespace
}  // namespace appell
