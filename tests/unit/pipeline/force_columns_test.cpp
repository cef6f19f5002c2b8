// Columns of constraint forces where constraints come and go: every mode has the same ones.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

RunOptions with_forces() {
    RunOptions options;
    options.forces = "N";
    return options;
}

TEST(ForceColumns, AContactThatIsOpenExertsNothing) {
    const TextRun r = run_text(gallery_text("bouncing_ball"), with_forces());
    for (std::size_t row = 0; row < r.run.rows(); ++row) {
        EXPECT_EQ(r.at(row, "force(floor, P).y"), r.at(row, "push")) << row;
        EXPECT_EQ(r.at(row, "force(floor, P).x"), 0);
    }
    EXPECT_EQ(r.at(10, "force(floor, P).y"), 0);                         // in flight
    EXPECT_NEAR(r.at(r.run.rows() - 1, "force(floor, P).y"), 10, 1e-9);  // at rest: m g
}

// sliding and sticking in turn: the forces of a row keep belonging to their names
TEST(ForceColumns, FrictionComesAndGoes) {
    const TextRun r = run_text(gallery_text("vibrating_incline_regimes"), with_forces());
    bool slid = false, stuck = false, flew = false;
    for (std::size_t row = 0; row < r.run.rows(); ++row) {
        const double x = r.at(row, "force(plane, P).x"), y = r.at(row, "force(plane, P).y");
        const double stick = std::hypot(r.at(row, "force(plane sticks, P).x"), r.at(row, "force(plane sticks, P).y"));
        const double law = std::hypot(r.at(row, "nonideal(plane, P).x"), r.at(row, "nonideal(plane, P).y"));
        const double push = r.at(row, "lambda(plane)");
        EXPECT_EQ(push == 0, std::hypot(x, y) == 0) << row;
        flew = flew || (push == 0 && stick == 0 && law == 0);
        stuck = stuck || (stick > 0 && law == 0);
        slid = slid || (stick == 0 && law > 0);
        ASSERT_TRUE(std::isfinite(x + y + stick + law)) << row;
    }
    EXPECT_TRUE(slid);
    EXPECT_TRUE(stuck);
    EXPECT_TRUE(flew);
}

}  // namespace
}  // namespace appell
