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
// friction that sticks is a part of the nonideal force, as friction that slides is
TEST(ForceColumns, FrictionComesAndGoes) {
    const TextRun r = run_text(gallery_text("vibrating_incline_regimes"), with_forces());
    for (const std::string& column : r.run.columns) EXPECT_EQ(column.find("sticks"), std::string::npos) << column;
    constexpr double mu = 0.6;
    bool slid = false, stuck = false, flew = false;
    for (std::size_t row = 0; row < r.run.rows(); ++row) {
        const double friction = std::hypot(r.at(row, "nonideal(plane, P).x"), r.at(row, "nonideal(plane, P).y"));
        const double push = std::hypot(r.at(row, "force(plane, P).x"), r.at(row, "force(plane, P).y"));
        ASSERT_TRUE(std::isfinite(friction + push)) << row;
        EXPECT_EQ(r.at(row, "lambda(plane)") == 0, push == 0) << row;
        EXPECT_LE(friction, mu * push * (1 + 1e-6) + 1e-9) << row;
        flew = flew || (push == 0 && friction == 0);
        stuck = stuck || (push > 0 && friction < 0.99 * mu * push);
        slid = slid || (push > 0 && friction > (1 - 1e-9) * mu * push);
    }
    EXPECT_TRUE(slid);
    EXPECT_TRUE(stuck);
    EXPECT_TRUE(flew);
}

}  // namespace
}  // namespace appell
