// Constraint forces in outputs against Newton and Euler: mass times acceleration minus the applied force is the constraint
// force, whatever the constraint. Both sides are columns of one run, so that only round-off separates them.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// forces of a few newtons from a solve of a few unknowns
constexpr double k_round_off = 1e-10;

void expect_zero(const std::string& text, const std::string& column) {
    const TextRun run = run_text(text);
    double largest = 0;
    for (std::size_t i = 0; i < run.run.rows(); ++i) largest = std::max(largest, std::abs(run.at(i, column)));
    EXPECT_LT(largest, k_round_off) << text;
}

TEST(ConstraintForceTruth, PerpendicularPucksFollowTheClosedForm) {
    const TextRun run = run_text(gallery_text("perpendicular_pucks"));
    for (std::size_t i = 0; i < run.run.rows(); i += 50) {
        const double u1 = run.at(i, "u1"), u2 = run.at(i, "u2"), u3 = run.at(i, "u3"), u4 = run.at(i, "u4");
        // m1 = 1, m2 = 2, s1 = s3 = 1 (000 eq. 34)
        const double lambda = -(u1 + 2 * u3) / (u1 * u1 + u2 * u2 + 2 * (u3 * u3 + u4 * u4));
        EXPECT_NEAR(run.at(i, "C1"), std::abs(lambda) * std::hypot(u3, u4), 1e-9);
    }
}

TEST(ConstraintForceTruth, NewtonForParticles) {
    expect_zero(gallery_text("perpendicular_pucks") +
                    "\noutput newton = mag(m1*acc(P1) - s1*N.x - force(perpendicular, P1))"
                    " + mag(m2*acc(P2) - s3*N.x - force(perpendicular, P2))\n",
                "newton");
    // a pendulum in Cartesian coordinates: the rod's force, from a position-level constraint
    expect_zero(
        "system rod\nparam m = 2 kg, l = 1 m, g = 9.81 m/s^2\ncoord x = 0.6 m, y = -0.8 m\n"
        "particle P mass m at O + x*N.x + y*N.y\ngravity -g*N.y\nconstraint rod: mag(pos(P, O)) = l\n"
        "output newton = mag(m*acc(P) + m*g*N.y - force(rod, P))/m\nrun for 1 s, every 0.1 s\n",
        "newton");
}

// the force of rolling acts on the disk at the point of contact: it moves the mass centre, and its moment about it turns the disk
TEST(ConstraintForceTruth, NewtonForARollingDisk) {
    expect_zero(gallery_text("rolling_disk") +
                    "\nlet F = force(rolling_contact, D at P)\noutput newton = mag(m*cross(N.z, acc(C)) - cross(N.z, F))\n"
                    "output same = mag(F - force(rolling_contact, P))\n",
                "newton");
}

TEST(ConstraintForceTruth, ComponentsAddUp) {
    expect_zero(gallery_text("rolling_disk") +
                    "\noutput parts = mag(force(rolling_contact, P) - force(rolling_contact, P, x) - force(rolling_contact, P, y)"
                    " - force(rolling_contact, P, z))\n",
                "parts");
}

// two wheels on fixed axles coupled two to one: torque of the coupling from Euler's equation
TEST(ConstraintForceTruth, EulerForCoupledWheels) {
    const std::string text =
        "system gear\nparam I = 2, J = 3, T = 5\ncoord a, b\nframe A from N rotate a about z\nframe B from N rotate b about z\n"
        "body A frame A mass 1 center O inertia (1, 1, I)\nbody B frame B mass 1 center O inertia (1, 1, J)\n"
        "torque on A = T*N.z\nconstraint gear: dot(omega(A) - 2*omega(B), N.z) = 0\n"
        "output euler = mag(I*alpha(A) - T*N.z - torque(gear, A)) + mag(J*alpha(B) - torque(gear, B))\n"
        "output torque_B = dot(torque(gear, B), N.z)\nrun for 1 s, every 0.1 s\n";
    expect_zero(text, "euler");
    // b'' = 2 T / (4 I + J), so that the torque on B is J b''
    EXPECT_NEAR(run_text(text).at(3, "torque_B"), 3 * 2 * 5.0 / (4 * 2 + 3), k_round_off);
}

// in the plane of two moving bodies the same force acts on both, opposite to each other
TEST(ConstraintForceTruth, ActionIsReaction) {
    expect_zero(
        "system pin\ncoord x, y, a, X = 2, Y, b\nframe A from N rotate a about z\nframe B from N rotate b about z\n"
        "body A frame A mass 1 center at O + x*N.x + y*N.y inertia (1, 1, 1)\n"
        "body B frame B mass 2 center at O + X*N.x + Y*N.y inertia (1, 1, 2)\npoint P at A_o + A.x\npoint Q at B_o - B.x\n"
        "constraint pin: pos(P) = pos(Q)\nstart a' = 1, b' = -2\n"
        "output both = mag(force(pin, P) + force(pin, Q)) + mag(acc(A_o) - force(pin, P)) + mag(2*acc(B_o) - force(pin, Q))\n"
        "run for 1 s, every 0.1 s\n",
        "both");
}

}  // namespace
}  // namespace appell
