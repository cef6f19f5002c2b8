// `minimal` integrates independent coordinates and speeds only; all other formulations integrate everything. Here the two are
// compared: over the whole gallery, with redundant coordinates, quaternions, servo-constraints and rows on accelerations, and
// where the chosen speeds fail.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

constexpr double k_epsilon = std::numeric_limits<double>::epsilon();

RunOptions with(const std::string& formulation) {
    RunOptions options;
    options.formulation = formulation;
    return options;
}

TextRun run_minimal(const std::string& text) { return run_text(text, with("minimal")); }

using Names = std::vector<std::string>;

// P1: "the absolute value of cos theta remains less than 7.64e-17 throughout the simulation" (000 sec. 4.3). What round-off
// allows: both products, their sum and u4 itself are rounded, 2 eps of the product of the speeds at most; the cosine's own
// rounding is relative to that.
TEST(ReducedState, VelocitiesOfThePucksStayPerpendicularToRoundOff) {
    const TextRun r = run_minimal(gallery_text("perpendicular_pucks"));
    ASSERT_EQ(r.run.rows(), 1001u);
    double worst = 0;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double u1 = r.at(i, "u1"), u2 = r.at(i, "u2"), u3 = r.at(i, "u3"), u4 = r.at(i, "u4");
        worst = std::max(worst, std::abs(u1 * u3 + u2 * u4) / (std::hypot(u1, u2) * std::hypot(u3, u4)));
    }
    EXPECT_LT(worst, 2 * k_epsilon);
    EXPECT_LT(worst, 1e-15);
    EXPECT_EQ(r.run.summary.projections, 0u);
    EXPECT_EQ(r.run.independent_speeds, (Names{"u1", "u2", "u3"}));  // the choice of the paper
    EXPECT_EQ(r.run.independent_coordinates, (Names{"x1", "y1", "x2", "y2"}));
}

TEST(ReducedState, TheUsersIndependentSpeedsAreTaken) {
    const TextRun reference = run_text(gallery_text("perpendicular_pucks"));
    std::string text = gallery_text("perpendicular_pucks");
    if (const std::size_t at = text.find("\nindependent"); at != std::string::npos) text.erase(at, text.find('\n', at + 1) - at);
    for (const Names& names : {Names{"u2", "u3", "u4"}, Names{"u1", "u3", "u4"}, Names{"u1", "u2", "u4"}}) {
        const TextRun r = run_minimal(text + "\nindependent " + names[0] + ", " + names[1] + ", " + names[2] + "\n");
        EXPECT_EQ(r.run.independent_speeds, names);
        for (const char* name : {"x1", "y1", "x2", "y2", "u1", "u2", "u3", "u4"})
            EXPECT_NEAR(r.at(1000, name), reference.at(1000, name), 1e-5) << name;  // 20 steps at 1e-7 on numbers up to 50
        EXPECT_LT(r.run.summary.velocity_scaled, 2 * k_epsilon);
    }
}

// P5 written without a root has two branches, u3 = a w and u3 = -a w with the horizontal speed w: upwards w falls by g a/(1 +
// a^2) each second, downwards it grows (000 eqs. 60-69). u3 is the dependent speed on both.
TEST(ReducedState, AppellsParticleOnBothBranches) {
    const double g = 9.81, a = 0.5;
    for (const double sign : {1.0, -1.0}) {
        const TextRun r =
            run_minimal("system p\ncoord x = 0, y = 0, z = 0\nspeed u1 = x', u2 = y', u3 = z'\nstart u1 = 3, u2 = 4, u3 = " +
                        std::to_string(2.5 * sign) +
                        "\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\ngravity -9.81*N.z\n"
                        "constraint slope: u3^2 = 0.25*(u1^2 + u2^2)\nindependent u1, u2\nrun for 1.2 s, every 0.01 s, rtol "
                        "1e-10, atol 1e-10\n");
        ASSERT_EQ(r.run.rows(), 121u);
        for (std::size_t i = 0; i < r.run.rows(); ++i) {
            const double w = 5 - sign * g * a / (1 + a * a) * r.run.t(i);
            EXPECT_NEAR(r.at(i, "u1"), 0.6 * w, 1e-8);
            EXPECT_NEAR(r.at(i, "u3"), sign * a * w, 1e-8);
            const double u1 = r.at(i, "u1"), u2 = r.at(i, "u2"), u3 = r.at(i, "u3");
            EXPECT_LT(std::abs(u3 * u3 - 0.25 * (u1 * u1 + u2 * u2)), 4 * k_epsilon * u3 * u3);
        }
    }
}

// ---------------------------------------------------------------- the gallery

std::vector<std::string> gallery_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(APPELL_SOURCE_DIR) + "/gallery"))
        if (entry.path().extension() == ".appell") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

class ReducedStateOf : public ::testing::TestWithParam<std::string> {};

// The motion is the same; where the chosen speeds fail the run ends by name, with all rows up to there.
TEST_P(ReducedStateOf, MovesAsTheWholeState) {
    Derivation d = derive_text(gallery_text(GetParam()));
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const auto reduced = run(d, with("minimal"));
    if (d.diagnostics.has(Code::E0706)) return;  // functions without values: nothing runs
    ASSERT_TRUE(reduced.has_value()) << render(d.diagnostics, d.sources);
    const bool fails = reduced->summary.reason == EndReason::singular_partition;
    EXPECT_EQ(d.diagnostics.has(Code::E0817), fails);
    ASSERT_GT(reduced->rows(), 1u);
    const auto expected_rows = (reduced->summary.t_end - reduced->options.t0) / reduced->options.every;
    EXPECT_GE(static_cast<double>(reduced->rows()), std::floor(expected_rows * (1 - 1e-12)));

    Derivation e = derive_text(gallery_text(GetParam()));
    RunOptions whole_options = with("multipliers");
    const auto whole = run(e, whole_options);
    ASSERT_TRUE(whole.has_value());
    if (!fails) {
        EXPECT_EQ(name(reduced->summary.reason), name(whole->summary.reason));
    }
    // Both runs err by some hundred tolerances; at the end of a choice of speeds, by a thousand.
    const double tolerance = 2000 * std::max(reduced->options.rtol, reduced->options.atol);
    const std::size_t rows = std::min(reduced->rows(), whole->rows()), states = reduced->layout.multipliers;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < states; ++k)
            ASSERT_NEAR(reduced->at(i, k), whole->at(i, k), tolerance * (1 + std::abs(whole->at(i, k))))
                << reduced->columns[k] << " at t = " << reduced->t(i);
    // Rows that are solved have the rounding of their terms. Those that were left out follow through the dependent entries, whose
    // rounding is larger by what they have lost of their share in the rows (pursuit_surface: 16 to 70 roundings, by the instants
    // that the steps happen to end at).
    const double round_off = (GetParam() == "pursuit_surface" ? 256 : 64) * k_epsilon;
    EXPECT_LT(reduced->summary.position_scaled, round_off);
    EXPECT_LT(reduced->summary.velocity_scaled, round_off);
}

INSTANTIATE_TEST_SUITE_P(Gallery, ReducedStateOf, ::testing::ValuesIn(gallery_names()), [](const auto& at) { return at.param; });

// ---------------------------------------------------------------- position rows

const std::string k_double_pendulum_in_four =
    "system d\nparam g = 9.81\ncoord x1 = 0.28, y1 = -0.96, x2 = 0.56, y2 = -1.92\n"
    "particle P1 mass 1 at O + x1*N.x + y1*N.y\nparticle P2 mass 1 at O + x2*N.x + y2*N.y\ngravity -g*N.y\n"
    "constraint upper: x1^2 + y1^2 = 1\nconstraint lower: (x2 - x1)^2 + (y2 - y1)^2 = 1\n"
    "run for 10 s, every 0.01 s, rtol 1e-11, atol 1e-11\n";

TEST(ReducedState, DoublePendulumInFourCoordinatesKeepsItsLengths) {
    const TextRun r = run_minimal(k_double_pendulum_in_four);
    EXPECT_EQ(r.run.independent_coordinates, (Names{"x1", "x2"}));
    EXPECT_EQ(r.run.independent_speeds, (Names{"x1'", "x2'"}));
    // the same in two angles, where the lengths are constants
    const TextRun angles = run_text(
        "system d\nparam g = 9.81\ncoord a = 0.28379410920832787, b = 0.28379410920832787\n"
        "particle P1 mass 1 at O + sin(a)*N.x - cos(a)*N.y\nparticle P2 mass 1 at P1 + sin(b)*N.x - cos(b)*N.y\ngravity -g*N.y\n"
        "run for 10 s, every 0.01 s, rtol 1e-11, atol 1e-11\n");
    ASSERT_EQ(r.run.rows(), 1001u);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double x1 = r.at(i, "x1"), y1 = r.at(i, "y1"), dx = r.at(i, "x2") - x1, dy = r.at(i, "y2") - y1;
        EXPECT_LT(std::abs(std::hypot(x1, y1) - 1), 4 * k_epsilon);
        EXPECT_LT(std::abs(std::hypot(dx, dy) - 1), 8 * k_epsilon);  // differences of rounded numbers up to 2
        const double a = angles.at(i, "a"), b = angles.at(i, "b");
        EXPECT_NEAR(x1, std::sin(a), 1e-7);
        EXPECT_NEAR(dy, -std::cos(b), 1e-7);
    }
    EXPECT_LT(r.run.energy.largest_change, 1e-8);
}

// speeds that are no rates: the coordinates are chosen by the position rows, the speeds by all rows
TEST(ReducedState, SpeedsThatAreNoRates) {
    const std::string text =
        "system s\nparam m = 1\ncoord x = 0.3, y = 0.09, th = 0.4\nframe B from N rotate th about z\n"
        "point C at O + x*N.x + y*N.y\nbody B frame B mass m center C inertia (0.1, 0.1, 0.1)\n"
        "speed u1 = dot(vel(C), B.x), u2 = dot(vel(C), B.y), u3 = th'\nstart u1 = 1, u3 = 0.5\n"
        "gravity -9.81*N.y\nconstraint bowl: y = x^2\nrun for 2 s, every 0.05 s, rtol 1e-10, atol 1e-10\n";
    const TextRun r = run_minimal(text), s = run_text(text);
    EXPECT_EQ(r.run.independent_coordinates, (Names{"x", "th"}));
    EXPECT_EQ(r.run.independent_speeds.size(), 2u);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        for (const char* name : {"x", "y", "th", "u1", "u2", "u3"}) EXPECT_NEAR(r.at(i, name), s.at(i, name), 2e-7) << name;
        EXPECT_NEAR(r.at(i, "y"), r.at(i, "x") * r.at(i, "x"), k_epsilon);
    }
}

// ---------------------------------------------------------------- quaternions

// a body on an axle, turning through many revolutions under a constant torque: angle = t + t^2/(2 I)
TEST(ReducedState, AQuaternionBoundByPositionRowsTurnsOnAndOn) {
    const TextRun r = run_minimal(
        "system h\ncoord e0 = 1, e1, e2, e3\nframe B from N quaternion (e0, e1, e2, e3)\n"
        "body B frame B mass 1 center O inertia (0.6, 0.7, 0.5)\n"
        "speed w1 = dot(omega(B), B.x), w2 = dot(omega(B), B.y), w3 = dot(omega(B), B.z)\nstart w3 = 1\n"
        "torque on B = N.z + 2*N.x\nconstraint a: dot(B.z, N.x) = 0\nconstraint b: dot(B.z, N.y) = 0\n"
        "run for 10 s, every 0.01 s, rtol 1e-10, atol 1e-10\n");
    EXPECT_EQ(r.run.independent_coordinates, (Names{"e0", "e1", "e2", "e3"}));  // a quaternion is integrated whole
    EXPECT_EQ(r.run.independent_speeds, Names{"w3"});
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i), half = (t + t * t) / 2;
        EXPECT_NEAR(r.at(i, "e0"), std::cos(half), 1e-7);
        EXPECT_NEAR(r.at(i, "e3"), std::sin(half), 1e-7);
        EXPECT_NEAR(r.at(i, "w3"), 1 + 2 * t, 1e-8);
    }
    EXPECT_LT(r.run.summary.position_scaled, 4 * k_epsilon);
}

// oblique: the axle is no axis of anything, so that nothing is zero by chance
TEST(ReducedState, QuaternionsWithPositionAndVelocityRows) {
    const std::string text =
        "system q\ncoord x = 0, y = 0.3, z = 0.4, e0 = 1, e1 = 0.1, e2 = 0.05, e3\nframe B from N quaternion (e0, e1, e2, e3)\n"
        "point C at O + x*N.x + y*N.y + z*N.z\nbody B frame B mass 1 center C inertia (0.1, 0.2, 0.25)\n"
        "speed u1 = dot(vel(C), B.x), u2 = dot(vel(C), B.y), u3 = dot(vel(C), B.z),"
        " w1 = dot(omega(B), B.x), w2 = dot(omega(B), B.y), w3 = dot(omega(B), B.z)\nstart w3 = 2, w1 = 1, u1 = 0.5\n"
        "gravity -9.81*N.z\npoint P at C + 0.2*B.x\nconstraint level: dot(B.x, N.z) = 0.1\n"
        "constraint plane: dot(P - O, N.z) = 0.4\nconstraint blade: dot(vel(C), B.y) = 0.1\n"
        "run for 3 s, every 0.05 s, rtol 1e-10, atol 1e-10\n";
    const TextRun r = run_minimal(text), s = run_text(text);
    EXPECT_EQ(r.run.independent_coordinates, (Names{"x", "y", "e0", "e1", "e2", "e3"}));
    EXPECT_EQ(r.run.independent_speeds.size(), 3u);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        for (const char* name : {"x", "y", "z", "e0", "e1", "e2", "e3", "u1", "u2", "u3", "w1", "w2", "w3"})
            EXPECT_NEAR(r.at(i, name), s.at(i, name), 2e-7) << name;
        const double e0 = r.at(i, "e0"), e1 = r.at(i, "e1"), e2 = r.at(i, "e2"), e3 = r.at(i, "e3");
        EXPECT_NEAR(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3, 1, 8 * k_epsilon);
    }
    EXPECT_LT(r.run.summary.position_scaled, 8 * k_epsilon);
    EXPECT_LT(r.run.summary.velocity_scaled, 8 * k_epsilon);
}

// ---------------------------------------------------------------- rows of other kinds

TEST(ReducedState, ServoRowsCountAndRowsOnAccelerationsDoNot) {
    // a cart that an actuator drives as told, with a pendulum on it; and a second mass whose acceleration is told
    const std::string text =
        "system c\ncoord x = 0, a = 0.3, z = 0\nspeed u1 = x', u2 = a', u3 = z'\n"
        "particle C mass 2 at O + x*N.x\nframe B from N rotate a about z\nparticle P mass 1 at C - B.y\ngravity -9.81*N.y\n"
        "particle Q mass 1 at O + z*N.z\nforce on Q = 0.3*x*N.z\nactuator F: force on C along N.x\n"
        "servo s: x' = 0.5*cos(2*t) by F\nconstraint w: u3' = -z\nstart u1 = 0.5, u3 = 1\n"
        "run for 5 s, every 0.05 s, rtol 1e-10, atol 1e-10\n";
    const TextRun r = run_minimal(text), s = run_text(text);
    EXPECT_EQ(r.run.independent_speeds, (Names{"u2", "u3"}));
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i);
        EXPECT_NEAR(r.at(i, "u1"), 0.5 * std::cos(2 * t), k_epsilon);
        EXPECT_NEAR(r.at(i, "z"), std::sin(t), 1e-8);
        for (const char* name : {"a", "u2", "actuator(F)"}) EXPECT_NEAR(r.at(i, name), s.at(i, name), 1e-7) << name;
    }
    // with rows on accelerations the user's dependent speeds may be more than the velocity rows
    const TextRun given = run_minimal(text + "independent u2\n");
    EXPECT_EQ(given.run.independent_speeds, (Names{"u2", "u3"}));
}

TEST(ReducedState, RedundantRowsChangeNothing) {
    const std::string one =
        "system s\ncoord x = 1, y = 2, z = 0\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\nforce on P = (1 + x)*N.x - y*N.y + "
        "N.z\nstart x' = 1, y' = 0.5, z' = 0.5\nconstraint c: x'*y' + z' = x\n";
    const std::string plan = "run for 1 s, every 0.1 s, rtol 1e-10, atol 1e-10\n";
    const TextRun r = run_minimal(one + plan);
    const TextRun s = run_minimal(one + "constraint e: (x'*y' + z' - x)*(1 + y^2) = 0\n" + plan);
    EXPECT_EQ(r.run.independent_speeds, s.run.independent_speeds);
    for (const char* name : {"x", "y", "z", "x'", "z'"}) EXPECT_NEAR(r.at(10, name), s.at(10, name), 1e-9);
    EXPECT_LT(s.run.summary.velocity_scaled, 4 * k_epsilon);
}

// ---------------------------------------------------------------- where the choice fails

// The skate turns with theta = t; y' is solved from -x' sin + y' cos = 0, which fails at a quarter turn
TEST(ReducedState, EndsByNameWhereTheSpeedsFail) {
    // the user's own choice is kept
    Derivation d = derive_text(gallery_text("skate") + "\nindependent x', theta'\n");
    const auto r = run(d, with("minimal"));
    ASSERT_TRUE(r.has_value());
    EXPECT_TRUE(d.diagnostics.has(Code::E0817)) << render(d.diagnostics, d.sources);
    EXPECT_EQ(d.diagnostics.error_count(), 1u);
    EXPECT_EQ(r->summary.reason, EndReason::singular_partition);
    EXPECT_NEAR(r->summary.t_end, M_PI / 2, 2e-3);
    ASSERT_EQ(r->rows(), 157u);  // 0 to 1.56
    const double k = 9.81 * std::sin(M_PI / 18) / 2;
    for (std::size_t i = 0; i < r->rows(); ++i) {
        const double t = r->t(i);
        EXPECT_NEAR(r->at(i, 0), k * std::sin(t) * std::sin(t), 2e-8);
        EXPECT_NEAR(r->at(i, 1), k * (t - 0.5 * std::sin(2 * t)), 2e-8);
    }
}

// Without a choice of the user others take over before they fail: no jump, and the closed form all along.
TEST(ReducedState, GoesOnWithOtherSpeeds) {
    Derivation d = derive_text(gallery_text("skate"));
    const auto r = run(d, with("minimal"));
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->summary.reason, EndReason::finished) << render(d.diagnostics, d.sources);
    ASSERT_FALSE(r->events.empty());
    EXPECT_LT(r->events.front().t, M_PI / 2);
    EXPECT_EQ(r->events.front().what, "independent speeds y', theta'");
    const double k = 9.81 * std::sin(M_PI / 18) / 2;
    ASSERT_GT(r->t(r->rows() - 1), M_PI);
    for (std::size_t i = 0; i < r->rows(); ++i) {
        const double t = r->t(i);
        EXPECT_NEAR(r->at(i, 0), k * std::sin(t) * std::sin(t), 2e-8);
        EXPECT_NEAR(r->at(i, 1), k * (t - 0.5 * std::sin(2 * t)), 2e-8);
    }
    EXPECT_LT(r->summary.velocity_scaled, 1e-15);
}

}  // namespace
}  // namespace appell
