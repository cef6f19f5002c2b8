// Constraint forces after a run: the members of 001 eq. 40 at a point, all forces along the axes of any frame, and the torques on
// two bodies whose angular velocities stay perpendicular (000 sec. 7).
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include <fmt/format.h>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// Painleve's rod: ideal member N0, the force of a smooth plane; nonideal: friction, and what it adds to the normal force. The sum
// is Newton's m a - m g.
TEST(ForceMembers, OfARoughSlidingRod) {
    for (const std::string law : {"rough_rod", "rough_rod_ideal"}) {
        const TextRun r = run_text(gallery_text(law) +
                                   "output ix = dot(ideal(contact, Q), N.x), iy = dot(ideal(contact, Q), N.y)\n"
                                   "output nx = dot(nonideal(contact, Q), N.x), ny = dot(nonideal(contact, Q), N.y)\n"
                                   "output rx = dot(reaction(contact, Q), N.x), ry = dot(reaction(contact, Q), N.y)\n"
                                   "output newton_x = m*dot(acc(C), N.x), newton_y = m*dot(acc(C), N.y) + m*g\n");
        double changed = 0;
        for (std::size_t i = 0; i < r.run.rows(); ++i) {
            const double theta = r.at(i, "theta"), rate = r.at(i, "u3"), lambda = r.at(i, "lambda(contact)");
            const double l = 0.5, g = 9.81, mu = 0.3, m = 1;
            const double c = std::cos(theta), N0 = m * (g - l * rate * rate * std::sin(theta)) / (1 + 3 * c * c);
            const double s = r.at(i, "u1") + l * rate * std::sin(theta) > 0 ? 1 : -1;
            const double friction = -mu * s * (law == "rough_rod" ? lambda : N0);
            // round-off of a few sums of terms as large as the weight
            const double bar = 1e-12 * m * g;
            EXPECT_NEAR(r.at(i, "ix"), 0, bar);
            EXPECT_NEAR(r.at(i, "iy"), N0, bar);
            EXPECT_NEAR(r.at(i, "nx"), friction, bar);
            EXPECT_NEAR(r.at(i, "ny"), lambda - N0, bar);
            EXPECT_NEAR(r.at(i, "rx"), 0, bar);
            EXPECT_NEAR(r.at(i, "ry"), lambda, bar);
            EXPECT_NEAR(r.at(i, "ix") + r.at(i, "nx"), r.at(i, "newton_x"), bar);
            EXPECT_NEAR(r.at(i, "iy") + r.at(i, "ny"), r.at(i, "newton_y"), bar);
            changed = std::max(changed, std::abs(lambda - N0));
        }
        EXPECT_GT(changed, 0.1);  // the law does change the multiplier here
    }
}

// where friction does no work on the row, the nonideal member is the law itself
TEST(ForceMembers, TheNonidealOneIsTheLawWhereItLeavesTheMultiplierAlone) {
    const TextRun r = run_text(
        "system incline\nparam m = 2 kg, g = 9.81 m/s^2, mu = 0.2\ncoord x = 0 m, y = 0 m\n"
        "frame B from N rotate -30 deg about z\nparticle P mass m at O + x*B.x + y*B.y\ngravity -g*N.y\nstart x' = 1 m/s\n"
        "constraint contact: dot(pos(P), B.y) = 0 m\nnonideal contact: force on P = -mu*abs(reaction(contact))*unit(vel(P))\n"
        "output along = dot(nonideal(contact, P), B.x), across = dot(nonideal(contact, P), B.y)\nrun for 1 s, every 0.1 s");
    const double normal = 2 * 9.81 * std::cos(EIGEN_PI / 6);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        EXPECT_NEAR(r.at(i, "along"), -0.2 * normal, 1e-12 * normal);
        EXPECT_NEAR(r.at(i, "across"), 0, 1e-12 * normal);
    }
}

// a torque law: a disk on an axle with a rough bearing; members of torques are read with a body
TEST(ForceMembers, OfTorques) {
    const TextRun r = run_text(
        "system gear\nparam I = 2, J = 3, T = 1.5, mu = 0.1\ncoord a = 0, b = 0\nframe A from N rotate a about z\n"
        "frame B from N rotate b about z\nbody A frame A mass 1 center O inertia (1, 1, I)\n"
        "body B frame B mass 1 center O inertia (1, 1, J)\ntorque on A = T*N.z\n"
        "constraint gear: dot(omega(A) - 2*omega(B), N.z) = 0\n"
        "nonideal gear: torque on B = -mu*abs(reaction(gear))*N.z\nstart a' = 2, b' = 1\n"
        "output ideal_A = dot(ideal(gear, A), N.z), nonideal_A = dot(nonideal(gear, A), N.z)\n"
        "output ideal_B = dot(ideal(gear, B), N.z), nonideal_B = dot(nonideal(gear, B), N.z), again = dot(reaction(gear, B), "
        "N.z)\n"
        "run for 1 s, every 0.5 s");
    // Euler: I a'' = T + lambda, J b'' = -2 lambda + law, a'' = 2 b''
    const double I = 2, J = 3, T = 1.5, mu = 0.1;
    const double ideal = -T / (1 + 4 * I / J);  // without a law
    // lambda < 0, so that the law is mu lambda: (T + lambda)/I = 2 (-2 lambda + mu lambda)/J
    const double solved = -T / I / (1 / I + (4 - 2 * mu) / J);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        EXPECT_NEAR(r.at(i, "lambda(gear)"), solved, 1e-12);
        EXPECT_NEAR(r.at(i, "ideal_A"), ideal, 1e-12);
        EXPECT_NEAR(r.at(i, "nonideal_A"), solved - ideal, 1e-12);
        EXPECT_NEAR(r.at(i, "ideal_B"), -2 * ideal, 1e-12);
        EXPECT_NEAR(r.at(i, "nonideal_B"), -2 * (solved - ideal) + mu * solved, 1e-12);
        EXPECT_NEAR(r.at(i, "again"), -2 * solved, 1e-12);
    }
}

RunOptions forces_in(const std::string& frame) {
    RunOptions options;
    options.forces = frame;
    return options;
}

// along a frame that turns with the rod of a pendulum, the rod's force is its tension and nothing else
TEST(ForceColumns, AlongARotatingFrame) {
    const std::string model =
        "system pendulum\nparam m = 2 kg, l = 0.7 m, g = 9.81 m/s^2\ncoord r = 0.7 m, theta = 40 deg\n"
        "frame B from N rotate theta - 90 deg about z\nparticle P mass m at O + r*B.x\ngravity -g*N.y\n"
        "constraint rod: mag(pos(P)) = l\nstart theta' = 1 rad/s\n"
        "output by_hand_x = dot(force(rod, P), N.x), by_hand_y = dot(force(rod, P), N.y)\nrun for 2 s, every 0.05 s\n";
    const TextRun turning = run_text(model, forces_in("B")), fixed = run_text(model, forces_in("N"));
    EXPECT_EQ(turning.run.layout.force_units, (std::vector<std::string>{"N", "N", "N"}));
    EXPECT_EQ(turning.run.layout.forces_frame, "B");
    for (std::size_t i = 0; i < turning.run.rows(); ++i) {
        const double theta = turning.at(i, "theta"), rate = turning.at(i, "theta'");
        const double tension = 2 * (0.7 * rate * rate + 9.81 * std::cos(theta));
        const double bar = 1e-11 * (1 + std::abs(tension));
        EXPECT_NEAR(turning.at(i, "force(rod, P).x"), -tension, bar);
        EXPECT_NEAR(turning.at(i, "force(rod, P).y"), 0, bar);
        EXPECT_NEAR(turning.at(i, "force(rod, P).z"), 0, bar);
        EXPECT_NEAR(fixed.at(i, "force(rod, P).x"), -tension * std::sin(theta), bar);
        EXPECT_NEAR(fixed.at(i, "force(rod, P).y"), tension * std::cos(theta), bar);
        EXPECT_EQ(fixed.at(i, "force(rod, P).x"), fixed.at(i, "by_hand_x"));
        EXPECT_EQ(fixed.at(i, "force(rod, P).y"), fixed.at(i, "by_hand_y"));
    }
}

// a rolling disk: outputs by hand, in the Newtonian frame and in the body's
TEST(ForceColumns, AreTheOutputsByHand) {
    const std::string model = gallery_text("rolling_disk");
    const Derivation d = derive_text(model);
    const std::string frame = d.model->frame(d.model->bodies.at(0).frame).name;
    for (const std::string& in : {std::string("N"), frame}) {
        std::string outputs;
        for (const char axis : {'x', 'y', 'z'})
            outputs += fmt::format("output hand_{0} = dot(force(rolling_contact, D at P), {1}.{0})\n", axis, in);
        const TextRun r = run_text(model + outputs, forces_in(in));
        for (std::size_t i = 0; i < r.run.rows(); ++i)
            for (const char axis : {'x', 'y', 'z'})
                EXPECT_EQ(r.at(i, fmt::format("force(rolling_contact, D at P).{}", axis)), r.at(i, fmt::format("hand_{}", axis)));
    }
}

// nothing that keeps a constraint is left out: members, actuators, generalized forces
TEST(ForceColumns, HaveEverythingThatActs) {
    const TextRun r = run_text(
        "system all\nparam m = 1.5, mu = 0.2\ncoord x = 1, y = 0.1, z = 0\nparticle P mass m at O + x*N.x + y*N.y + z*N.z\n"
        "constraint floor: dot(pos(P), N.y) = 0.1\nnonideal floor: force on P = -mu*abs(reaction(floor))*unit(vel(P))\n"
        "constraint bare: x' = 1\nactuator F: force on P along N.z\nservo track: z' = sin(t) by F\ngravity -9.81*N.y\n"
        "start x' = 1\nrun for 1 s, every 0.1 s\n",
        forces_in("N"));
    const auto& layout = r.run.layout;
    const std::vector<std::string> found(r.run.columns.begin() + static_cast<long>(layout.visible),
                                         r.run.columns.begin() + static_cast<long>(layout.forces_end));
    std::vector<std::string> expected;
    const auto vector = [&](const std::string& name) {
        for (const char* axis : {".x", ".y", ".z"}) expected.push_back(name + axis);
    };
    vector("force(floor, P)");
    vector("ideal(floor, P)");
    vector("nonideal(floor, P)");
    expected.insert(expected.end(), {"generalized(bare, x')", "ideal(bare, x')", "nonideal(bare, x')"});
    vector("actuator(F, P)");
    EXPECT_EQ(found, expected);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i);
        EXPECT_NEAR(r.at(i, "actuator(F, P).z") + r.at(i, "nonideal(floor, P).z"), 1.5 * std::cos(t), 1e-11);
        EXPECT_NEAR(r.at(i, "ideal(floor, P).y") + r.at(i, "nonideal(floor, P).y"), 1.5 * 9.81, 1e-11);
        // what keeps x' constant works against friction
        EXPECT_NEAR(r.at(i, "ideal(bare, x')") + r.at(i, "nonideal(bare, x')") + r.at(i, "nonideal(floor, P).x"), 0, 1e-11);
    }
}

TEST(ForceColumns, UnknownFramesAreNamed) {
    Derivation d = derive_text(gallery_text("rolling_disk"));
    EXPECT_FALSE(run(d, forces_in("Q")).has_value());
    ASSERT_TRUE(d.diagnostics.has(Code::E0202)) << render(d.diagnostics, d.sources);
    EXPECT_NE(render(d.diagnostics, d.sources).find("one of A, D, L, N"), std::string::npos) << render(d.diagnostics, d.sources);
    Derivation free = derive_text("system free\ncoord x\nparticle P mass 1 at O + x*N.x\nrun for 1 s\n");
    EXPECT_FALSE(run(free, forces_in("N")).has_value());
    EXPECT_TRUE(free.diagnostics.has(Code::E0815));
}

// 000 sec. 7: the angular velocities stay perpendicular, and the torques are lambda omega_B on A and lambda omega_A on B
TEST(PerpendicularSpins, StayPerpendicularUnderTheTorquesOfTheSource) {
    const TextRun r = run_text(gallery_text("perpendicular_spins"), forces_in("N"));
    const auto spin = [&](std::size_t i, const std::string& q, int first) {
        const Eigen::Quaterniond attitude(r.at(i, q + "0"), r.at(i, q + "1"), r.at(i, q + "2"), r.at(i, q + "3"));
        const auto w = [&](int k) { return r.at(i, "w" + std::to_string(first + k)); };
        return Eigen::Vector3d(attitude.normalized() * Eigen::Vector3d(w(0), w(1), w(2)));
    };
    const auto torque = [&](std::size_t i, const std::string& body) {
        const std::string name = "torque(perpendicular, " + body + ").";
        return Eigen::Vector3d(r.at(i, name + "x"), r.at(i, name + "y"), r.at(i, name + "z"));
    };
    double largest = 0;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const Eigen::Vector3d a = spin(i, "a", 1), b = spin(i, "b", 4);
        EXPECT_LT(std::abs(a.dot(b)), 1e-12 * a.norm() * b.norm()) << r.run.t(i);
        const double lambda = r.at(i, "lambda(perpendicular)");
        // quaternions are kept at unit norm to round-off
        EXPECT_LT((torque(i, "A") - lambda * b).norm(), 1e-12 * (1 + std::abs(lambda) * b.norm()));
        EXPECT_LT((torque(i, "B") - lambda * a).norm(), 1e-12 * (1 + std::abs(lambda) * a.norm()));
        largest = std::max(largest, std::abs(lambda));
    }
    EXPECT_GT(largest, 0.01);  // they do act
}

}  // namespace
}  // namespace appell
