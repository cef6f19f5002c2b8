// Cases in which a plausible program goes wrong without a word; each with its closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// two bodies that share a frame: a force on the first moves the first
TEST(BodiesOfOneFrame, KeepTheirMaterialPoints) {
    const TextRun r = run_text(
        "system two\ncoord x = 0 m, y = 1 m\ncoord a = 0\nframe F from N rotate a about z\n"
        "body A1 frame F mass 1 kg center at O + x*N.x inertia (1, 1, 1)\nbody A2 frame F mass 2 kg center at O + y*N.x inertia "
        "(1, 1, 1)\n"
        "force on A1 = (1 N)*N.x\nrun for 2 s, every 1 s\n");
    EXPECT_NEAR(r.at(2, "x"), 2, 1e-9);
    EXPECT_NEAR(r.at(2, "y"), 1, 1e-12);
}

// a body that does not turn is not the ground: a force at one of its points moves it, and rolling on it is rolling on it
TEST(BodyInTheNewtonianFrame, IsNotTheGround) {
    const TextRun r = run_text(
        "system slider\ncoord x = 0 m\nbody A frame N mass 2 kg center at O + x*N.x inertia (1, 1, 1)\npoint P at A_o + (1 "
        "m)*N.y\n"
        "force on A at P = (4 N)*N.x\nrun for 1 s, every 1 s\n");
    EXPECT_NEAR(r.at(1, "x"), 1, 1e-9);
    // a disk on a belt that moves at 1 m/s: without other forces the disk rolls so that its contact moves with the belt
    const TextRun belt = run_text(
        "system belt\nparam r = 0.5 m\ncoord s = 0 m, x = 0 m, phi = 0\nframe D from N rotate phi about z\n"
        "body plate frame N mass 1 kg center at O + s*N.x inertia (1, 1, 1)\nbody D frame D mass 1 kg center at O + x*N.x + "
        "r*N.y inertia (1, 1, 0.125)\n"
        "point K at D_o - r*N.y\nconstraint roll: rolling(D, plate, K)\nstart s' = 1 m/s fixed, x' = 0 m/s fixed\nrun for 1 s, "
        "every 1 s\n");
    EXPECT_NEAR(belt.at(0, "phi'") * 0.5, 1, 1e-12);  // x' + r phi' = s'
}

TEST(StartRates, LeaveTheSpinOfAQuaternionBodyAlone) {
    const TextRun r = run_text(
        "system spin\ncoord x = 0 m, e0 = 1, e1, e2, e3\nframe B from N quaternion (e0, e1, e2, e3)\npoint C at O + x*N.x\n"
        "body B frame B mass 1 kg center C inertia (1, 2, 3)\nspeed u = x', w1 = dot(omega(B), B.x), w2 = dot(omega(B), B.y), w3 "
        "= dot(omega(B), B.z)\n"
        "start x' = 1 m/s, w1 = 2 rad/s\nrun for 1 s, every 1 s\n");
    EXPECT_NEAR(r.at(0, "w1"), 2, 1e-15);
    EXPECT_NEAR(r.at(0, "u"), 1, 1e-15);
}

TEST(StartTime, IsUsedInTheDefinitionsOfSpeeds) {
    RunOptions later;
    later.from = 0.7;
    later.until = 1;
    const TextRun r = run_text(
        "system s\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nspeed u = x' + 3*sin(2*t)\nstart x' = 0\noutput v = x'\nrun for "
        "1 s, every 0.1 s\n",
        later);
    EXPECT_NEAR(r.at(0, "v"), 0, 1e-14);
    EXPECT_NEAR(r.at(0, "u"), 3 * std::sin(1.4), 1e-14);
}

TEST(StabilizeNone, StillStartsOnTheConstraints) {
    RunOptions none;
    none.stabilize = "none";
    const TextRun r = run_text(
        "system s\ncoord x = 1.2, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x^2 + y^2 = 1\ngravity "
        "-9.81*N.y\nrun for 1 s, every 0.1 s\n",
        none);
    EXPECT_NEAR(r.at(0, "x"), 1, 1e-12);
}

TEST(GravityInAPrescribedFrame, HasNoPotential) {
    const TextRun r = run_text(
        "system g\ncoord a = 0.3\nframe B from N rotate a about z\nframe G from N rotate 2*t/(1 s) about z\n"
        "particle P mass 1 kg at O + (1 m)*B.x\ngravity -(9.81 m/s^2)*G.y\nrun for 1 s, every 0.1 s\n");
    for (std::size_t i = 0; i < r.run.rows(); ++i) EXPECT_EQ(r.at(i, "potential"), 0);
}

TEST(Friction, ThatChattersEndsInTime) {
    Derivation d = derive_text(
        "system fric\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nforce on P = -sign(x')*N.x\nstart x' = 1\nrun for 5\n");
    const auto r = run(d, {});
    ASSERT_TRUE(r.has_value());
    EXPECT_TRUE(d.diagnostics.has(Code::E0832)) << render(d.diagnostics, d.sources);
    EXPECT_NEAR(r->summary.t_end, 1, 1e-8);  // it sticks at t = 1
    EXPECT_LT(r->summary.steps, 1000u);
}

TEST(FixedStartValues, AreNotMoved) {
    Derivation d = derive_text(
        "system s\ncoord x = 0.6 fixed, y = -0.7 fixed\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint rod: mag(P - O) = "
        "1\nrun for 1\n");
    EXPECT_FALSE(run(d, {}).has_value() && !d.diagnostics.has_errors());
    EXPECT_TRUE(d.diagnostics.has(Code::E0802)) << render(d.diagnostics, d.sources);
    const TextRun r = run_text(
        "system s\ncoord x = 0.6 fixed, y = -0.7\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint rod: mag(P - O) = 1\nrun "
        "for 1\n");
    EXPECT_EQ(r.at(0, "x"), 0.6);
    EXPECT_NEAR(r.at(0, "y"), -0.8, 1e-12);
}

TEST(FarFromTheOrigin, APositionRowStillHolds) {
    // a 1 m rod between two particles at 100 m/s: after a minute the coordinates are 6000 times the rod
    const TextRun r = run_text(
        "system far\ncoord x1 = 0 m, y1 = 0 m, x2 = 1 m, y2 = 0 m\nparticle P mass 1 kg at O + x1*N.x + y1*N.y\nparticle Q mass "
        "1 kg at O + x2*N.x + y2*N.y\n"
        "constraint rod: (x1 - x2)^2 + (y1 - y2)^2 = 1 m^2\nstart x1' = 100 m/s, x2' = 100 m/s, y2' = 1 m/s\nrun for 60 s, every "
        "1 s\n");
    EXPECT_EQ(r.run.summary.reason, EndReason::finished);
    EXPECT_NEAR(r.at(60, "x1") + r.at(60, "x2"), 1 + 2 * 6000, 1e-4);
}

TEST(AngleRows, AreNotScaledByLengths) {
    const TextRun r = run_text(
        "system gear\ncoord a = 0, b = 0\nframe A from N rotate a about z\nframe B from N rotate b about z\nbody A frame A mass "
        "1 kg center O inertia (1, 1, 1e-6)\n"
        "body B frame B mass 1 kg center O inertia (1, 1, 3e-6)\nconstraint mesh: 0.1*a + 0.3*b = 0\ntorque on A = 1e-4*N.z\nrun "
        "for 20 s, every 1 s\n");
    EXPECT_EQ(r.run.summary.reason, EndReason::finished);
    EXPECT_NEAR(0.1 * r.at(20, "a") + 0.3 * r.at(20, "b"), 0, 1e-9);
}

}  // namespace
}  // namespace appell
