// Nonideal laws and actuators against closed forms: block on a rough incline, Painleve's rod by both laws, bead on a rough ring,
// servo-constraints with one actuator and with more than needed.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

// mu m g cos a against m g sin a; the normal force does not depend on friction here, so that both laws agree
TEST(RoughIncline, SlidesWithTheClosedForm) {
    for (const std::string law : {"ideal", "reaction"}) {
        const TextRun r = run_text(
            "system incline\nparam m = 2 kg, g = 9.81 m/s^2, mu = 0.2\ncoord x = 0 m, y = 0 m\n"
            "frame B from N rotate -30 deg about z\nparticle P mass m at O + x*B.x + y*B.y\ngravity -g*N.y\n"
            "start x' = 1 m/s\nconstraint contact: y = 0 m\n"
            "nonideal contact: force on P = -mu*abs(" +
            law + "(contact))*unit(vel(P))\nrun for 1 s, every 0.1 s, rtol 1e-10, atol 1e-10");
        const double a = std::numbers::pi / 6, g = 9.81;
        const double acceleration = g * (std::sin(a) - 0.2 * std::cos(a));
        for (std::size_t i = 0; i < r.run.rows(); ++i) {
            const double t = r.run.t(i);
            EXPECT_NEAR(r.at(i, "x"), t + acceleration * t * t / 2, 1e-8);
            EXPECT_NEAR(r.at(i, "lambda(contact)"), 2 * g * std::cos(a), 1e-9);
        }
    }
}

struct Rod {
    double normal;
    EndReason reason;
};
// leaning backward or forward while its end slides to the right; a law of |N|
Rod rough_rod(double mu, double theta, const std::string& law) {
    Derivation d =
        derive_text("system rod\nparam mu = " + std::to_string(mu) + ", theta0 = " + std::to_string(theta) +
                    "\ncoord x = 0, y = sin(theta0), theta = theta0\nframe B from N rotate theta about z\n"
                    "point C at O + x*N.x + y*N.y\npoint Q at C - B.x\nbody R frame B mass 1 center C inertia (0, 1/3, 1/3)\n"
                    "gravity -9.81*N.y\nstart x' = 3 fixed, theta' = 0 fixed\nconstraint contact: dot(pos(Q), N.y) = 0\n"
                    "nonideal contact: force on Q = -mu*abs(" +
                    law + "(contact))*sign(dot(vel(Q), N.x))*N.x\nrun for 0.001 s, every 0.001 s");
    const auto result = run(d, {});
    if (!result || result->rows() == 0) return {NAN, result ? result->summary.reason : EndReason::start_not_finite};
    return {result->at(0, result->layout.multipliers), result->summary.reason};
}

// N = N0 - e |N| for the reaction, N = N0 (1 - e) for the ideal force, e = 3 mu sin cos / (1 + 3 cos^2)
TEST(RoughRod, TheTwoLawsDifferAsTheyShould) {
    for (const double theta : {1.0, 2.0, 1.2})
        for (const double mu : {0.1, 0.5}) {
            const double c = std::cos(theta), s = std::sin(theta);
            const double N0 = 9.81 / (1 + 3 * c * c), e = 3 * mu * s * c / (1 + 3 * c * c);
            EXPECT_NEAR(rough_rod(mu, theta, "reaction").normal, N0 / (1 + e), 1e-5);
            EXPECT_NEAR(rough_rod(mu, theta, "ideal").normal, N0 * (1 - e), 1e-5);
        }
}

TEST(RoughRod, PainlevesParadoxIsNamed) {
    const double theta = std::numbers::pi - std::atan(2.0);  // where the critical mu is least, 4/3
    EXPECT_EQ(rough_rod(1.2, theta, "reaction").reason, EndReason::finished);
    EXPECT_EQ(rough_rod(1.4, theta, "reaction").reason, EndReason::no_reaction);
    EXPECT_EQ(rough_rod(1.4, theta, "ideal").reason, EndReason::finished);
}

// the pull upward is stronger than the weight: N0 < 0, and |N| = N0/(1 + e) has two roots beyond the critical mu
TEST(RoughRod, SeveralForcesAreNamedToo) {
    Derivation d = derive_text(
        "system rod\ncoord x = 0, y = 2/sqrt(5), theta = pi - atan(2)\nframe B from N rotate theta about z\n"
        "point C at O + x*N.x + y*N.y\npoint Q at C - B.x\nbody R frame B mass 1 center C inertia (0, 1/3, 1/3)\n"
        "gravity 9.81*N.y\nstart x' = 3 fixed, theta' = 0 fixed\nconstraint contact: dot(pos(Q), N.y) = 0\n"
        "nonideal contact: force on Q = -2*abs(reaction(contact))*sign(dot(vel(Q), N.x))*N.x\nrun for 0.1 s");
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->summary.reason, EndReason::several_reactions);
    EXPECT_TRUE(d.diagnostics.has(Code::E0819));
}

// A bead on a rough ring without gravity: v' = -mu v^2/r, so that v = v0/(1 + mu v0 t/r) (001 example b with g = 0). The row is
// x^2 + y^2 = r^2, whose force on P is 2 lambda (x, y): the law takes the force, not the multiplier.
TEST(RoughRing, SlowsAsItsClosedForm) {
    const TextRun r = run_text(
        "system ring\nparam r = 2 m, mu = 0.3, m = 1.5 kg\ncoord x = 2 m, y = 0 m\nparticle P mass m at O + x*N.x + y*N.y\n"
        "start y' = 3 m/s\nconstraint ring: dot(P - O, P - O) = r^2\n"
        "nonideal ring: force on P = -mu*mag(reaction(ring, P))*unit(vel(P))\n"
        "output v = mag(vel(P)), normal = mag(force(ring, P))\nrun for 4 s, every 0.5 s, rtol 1e-11, atol 1e-12");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double v = 3 / (1 + 0.3 * 3 * r.run.t(i) / 2);
        EXPECT_NEAR(r.at(i, "v"), v, 1e-9);
        EXPECT_NEAR(r.at(i, "normal"), 1.5 * v * v / 2, 1e-8);
    }
}

// a cart with a pendulum: the pendulum's angle is to follow a law, by a force on the cart
TEST(Servo, TheActuatorDoesWhatTheMomentumSays) {
    const TextRun r = run_text(
        "system cart\nparam M = 2, m = 1, l = 0.7, g = 9.81\ncoord x = 0, a = 0.2\nparticle C mass M at O + x*N.x\n"
        "particle P mass m at O + (x + l*sin(a))*N.x - l*cos(a)*N.y\ngravity -g*N.y\n"
        "actuator F: force on C along N.x\nservo law: a'' = -3*a' - 2*a by F\n"
        "output momentum = M*dot(acc(C), N.x) + m*dot(acc(P), N.x)\nrun for 2 s, every 0.1 s, rtol 1e-11, atol 1e-12");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i);
        EXPECT_NEAR(r.at(i, "a"), 0.4 * std::exp(-t) - 0.2 * std::exp(-2 * t), 1e-9);
        EXPECT_NEAR(r.at(i, "actuator(F)"), r.at(i, "momentum"), 1e-10);
    }
}

// two actuators on one objective: the least sum of squares; 3 F + 4 G = m a, so that (F, G) is along (3, 4)
TEST(Servo, ActuatorsShareWithLeastSquares) {
    const TextRun r = run_text(
        "system two\nparam m = 2\ncoord x = 0\nparticle P mass m at O + x*N.x\nactuator F: force on P along 3*N.x\n"
        "actuator G: force on P along 4*N.x\nservo track: x = sin(t) by F, G\nstart x' = 1\nrun for 1 s, every 0.25 s");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double need = -2 * std::sin(r.run.t(i));
        EXPECT_NEAR(r.at(i, "actuator(F)"), 3 * need / 25, 1e-9);
        EXPECT_NEAR(r.at(i, "actuator(G)"), 4 * need / 25, 1e-9);
    }
}

// beside an ideal row, and with friction on its reaction: a bead pushed along a rough rod that turns about a vertical axis at a
// given rate; N = 2 m w r', friction mu N against r' > 0, and the actuator keeps r = r0 + v t
TEST(Servo, WithAnIdealRowAndFriction) {
    const TextRun r = run_text(
        "system bead\nparam m = 1.5, w = 2, mu = 0.4, v = 0.5\ncoord x = 1, y = 0\nframe B from N rotate w*t about z\n"
        "particle P mass m at O + x*N.x + y*N.y\nconstraint rod: dot(P - O, B.y) = 0\n"
        "nonideal rod: force on P = -mu*abs(reaction(rod))*B.x\nactuator F: force on P along B.x\n"
        "servo out: dot(P - O, B.x) = 1 + v*t by F\nstart x' = 0.5, y' = 2\nrun for 1 s, every 0.25 s, rtol 1e-10, atol 1e-11");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double N = 2 * 1.5 * 2 * 0.5, radius = 1 + 0.5 * r.run.t(i);
        EXPECT_NEAR(r.at(i, "lambda(rod)"), N, 1e-8);
        EXPECT_NEAR(r.at(i, "actuator(F)"), -1.5 * 4 * radius + 0.4 * N, 1e-8);
    }
}

// every formulation sees laws and actuators as given forces and must reproduce their multipliers
TEST(Certificate, HoldsWithLawsAndActuators) {
    Derivation d = derive_text(
        "system bead\nparam m = 1.5, w = 2, mu = 0.4, v = 0.5\ncoord x = 1, y = 0.1, z = 0\nframe B from N rotate w*t about z\n"
        "particle P mass m at O + x*N.x + y*N.y + z*N.z\nconstraint rod: dot(vel(P), B.y) = x*w\n"
        "nonideal rod: force on P = -mu*abs(reaction(rod))*unit(vel(P))\nactuator F: force on P along B.x + N.z\n"
        "servo out: z' = x by F\nstart x' = 0.5, y' = 2\nrun for 1 s");
    const auto found = check(d);
    ASSERT_TRUE(found.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_TRUE(found->certificate.enough);
    EXPECT_EQ(found->rank, 2u);
    for (const FormulationAgreement& f : found->certificate.formulations)
        if (f.not_applicable.empty()) {
            EXPECT_LT(std::max(f.acceleration, f.force), 1e-11) << f.name;
            EXPECT_LT(std::max(f.acceleration_wide, f.force_wide), 1e-38) << f.name;
        }
}

// a row on accelerations is a row like any other: x'' = -4 x is an oscillator whose force keeps it
TEST(AccelerationLevel, IsIntegratedAndItsForceFound) {
    const TextRun r = run_text(
        "system level\nparam m = 2\ncoord x = 1, y = 0\nparticle P mass m at O + x*N.x + y*N.y\nforce on P = 3*N.x + N.y\n"
        "constraint law: dot(acc(P), N.x) = -4*x\noutput f = dot(force(law, P), N.x)\n"
        "run for 2 s, every 0.1 s, rtol 1e-11, atol 1e-12");
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double t = r.run.t(i);
        EXPECT_NEAR(r.at(i, "x"), std::cos(2 * t), 1e-9);
        EXPECT_NEAR(r.at(i, "y"), t * t / 4, 1e-9);
        EXPECT_NEAR(r.at(i, "f"), -8 * std::cos(2 * t) - 3, 1e-8);
    }
}

}  // namespace
}  // namespace appell
