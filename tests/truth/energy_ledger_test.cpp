// The energy ledger: works against closed forms and against a second model of the same system, what has an entry and what has
// none, the balance over tolerances, and that the bookkeeping does not touch the motion.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/lower_motion.hpp"
#include "sim/simulate.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

RunOptions tight() {
    RunOptions options;
    options.rtol = 1e-11;
    options.atol = 1e-12;
    return options;
}

std::vector<std::string> entries(const TextRun& r) {
    std::vector<std::string> names;
    for (const EnergyBalance::Entry& e : r.run.energy.works) names.push_back(e.name);
    return names;
}

using Names = std::vector<std::string>;

constexpr const char* k_particle = "coord x = 1, y = 0\nparticle P mass 2 at O + x*N.x + y*N.y\n";

void expect_works(const TextRun& r, const std::string& entry, const std::function<double(double)>& work, double tolerance) {
    for (std::size_t i = 0; i < r.run.rows(); ++i)
        EXPECT_NEAR(r.at(i, "work(" + entry + ")"), work(r.run.t(i)), tolerance) << entry << " at " << r.run.t(i);
}

void expect_balance(const TextRun& r, double relative) {
    EXPECT_LE(r.run.energy.relative_error(), relative);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        double all = r.at(i, "energy") - r.at(0, "energy");
        for (const EnergyBalance::Entry& e : r.run.energy.works) all -= r.at(i, "work(" + e.name + ")");
        EXPECT_NEAR(r.at(i, "balance"), all, 1e-12 * (1 + r.run.energy.largest));
    }
}

TEST(EnergyLedger, ConservativeSystemsHaveNoEntries) {
    for (const char* name : {"simple_pendulum", "double_pendulum", "rolling_disk", "skate"}) {
        const TextRun r = run_text(gallery_text(name));
        EXPECT_TRUE(r.run.energy.works.empty()) << name;
    }
}

TEST(EnergyLedger, LoadsThatHaveNoPotential) {
    // m v' = -c v
    const TextRun damped = run_text(
        std::string("system s\nparam c = 3\n") + k_particle + "damper P O coefficient c\nstart x' = 4\nrun for 1 s", tight());
    EXPECT_EQ(entries(damped), Names{"damper P O"});
    expect_works(
        damped, "damper P O", [](double t) { return -16 * (1 - std::exp(-3 * t)); }, 1e-9);
    expect_balance(damped, 1e-9);

    // two statements that begin alike, and one with a reaction on another point
    const TextRun forced = run_text(std::string("system s\n") + k_particle +
                                        "coord z = 0\nparticle Q mass 1 at O + z*N.x\nspeed u1 = x', u2 = y', u3 = z'\nforce on "
                                        "P = 2*N.x\nforce on P = 4*t*N.x\n"
                                        "force on Q from P = 3*N.y\nload on u1 = 1\nrun for 1 s",
                                    tight());
    EXPECT_EQ(entries(forced), (Names{"force on P", "force on P (2)", "force on Q from P", "load on u1"}));
    // x'' = (3 + 4 t)/2, y'' = -3/2
    const auto by = [](double t) { return 1.5 * t * t / 2 + t * t * t / 3; };
    expect_works(
        forced, "force on P", [&](double t) { return 2 * by(t); }, 1e-9);
    expect_works(
        forced, "load on u1", [&](double t) { return by(t); }, 1e-9);
    expect_works(
        forced, "force on Q from P", [](double t) { return 9.0 / 4 * t * t; }, 1e-9);
    expect_balance(forced, 1e-9);
}

TEST(EnergyLedger, MembersOfAFamilyAreOneEntry) {
    const TextRun r = run_text(
        "system s\nfor i in 1..3\n  coord x[i] = i\n  particle P[i] mass 1 at O + x[i]*N.x\n  force on P[i] = i*N.x\nend\nrun "
        "for 1 s",
        tight());
    EXPECT_EQ(entries(r), Names{"force on P[i]"});
    expect_works(
        r, "force on P[i]", [](double t) { return 14 * t * t / 2; }, 1e-9);
}

TEST(EnergyLedger, GravityAndPotentialsThatChangeWithTime) {
    const TextRun falling = run_text(std::string("system s\n") + k_particle + "gravity -(9 + 2*t)*N.y\nrun for 1 s", tight());
    EXPECT_EQ(entries(falling), Names{"gravity"});
    expect_works(
        falling, "gravity", [](double t) { return std::pow(9 * t + t * t, 2); }, 1e-8);

    // held in place: stiffness and natural length alone change the energy
    const std::string held = std::string("system s\n") + k_particle + "constraint a: x = 1\nconstraint b: y = 0\n";
    const TextRun spring = run_text(held + "spring P O stiffness 3 + t length 0.5*t\nrun for 1 s", tight());
    EXPECT_EQ(entries(spring), Names{"spring P O"});
    expect_works(
        spring, "spring P O", [](double t) { return (3 + t) * std::pow(1 - t / 2, 2) / 2 - 1.5; }, 1e-10);
    const TextRun potential = run_text(held + "potential x^2*t^3\nrun for 1 s", tight());
    expect_works(
        potential, "potential", [](double t) { return t * t * t; }, 1e-10);

    const TextRun moving = run_text(std::string("system s\n") + k_particle +
                                        "spring P O stiffness 3 + sin(t)\npotential x*y*cos(2*t)\nstart y' = 1\nrun for 5 s",
                                    tight());
    EXPECT_EQ(entries(moving), (Names{"spring P O", "potential"}));
    expect_balance(moving, 1e-9);
}

// r = cosh(w t): the wire gives m w^2 (r^2 - 1)
TEST(EnergyLedger, BeadOnATurningWire) {
    const std::string bead =
        "system bead\nparam m = 2, w = 1.5\ncoord r = 1\nframe A from N rotate w*t about z\n"
        "particle P mass m at O + r*A.x\n";
    const auto work = [](double t) { return 2 * 2.25 * std::pow(std::sinh(1.5 * t), 2); };
    const TextRun wire = run_text(bead + "run for 2 s", tight());
    EXPECT_EQ(entries(wire), Names{"prescribed motion"});
    expect_works(wire, "prescribed motion", work, 1e-7);
    expect_balance(wire, 1e-9);
    // gravity and springs are no work of the wire, what it does against them is
    const TextRun loaded =
        run_text(bead + "gravity -3*N.y\nspring P O stiffness 4 length 0.5\nforce on P = -vel(P)\nrun for 2 s", tight());
    EXPECT_EQ(entries(loaded), (Names{"force on P", "prescribed motion"}));
    expect_balance(loaded, 1e-9);
}

// The pivot is driven, once by the kinematics, once by rows: the rows' work is that of the guide.
TEST(EnergyLedger, PendulumWithADrivenPivot) {
    const char* forces = "gravity -9.81*N.y\nforce on P = -0.3*vel(P)\nrun for 3 s, every 0.1 s";
    const TextRun guided = run_text(
        std::string("system s\ncoord a = 0.4\npoint A at O + 0.3*sin(5*t)*N.x + 0.1*t^2*N.y\nframe B from N rotate a about z\n"
                    "particle P mass 2 at A - 1.2*B.y\n") +
            forces,
        tight());
    EXPECT_EQ(entries(guided), (Names{"force on P", "prescribed motion"}));
    expect_balance(guided, 1e-9);
    const TextRun rows = run_text(
        std::string("system s\ncoord a = 0.4, x = 0, y = 0\npoint A at O + x*N.x + y*N.y\nframe B from N rotate a about z\n"
                    "particle P mass 2 at A - 1.2*B.y\nconstraint c: pos(A) = 0.3*sin(5*t)*N.x + 0.1*t^2*N.y\nstart x' = 1.5\n") +
            forces,
        tight());
    EXPECT_EQ(entries(rows), (Names{"force on P", "c"}));
    expect_balance(rows, 1e-9);
    ASSERT_EQ(rows.run.rows(), guided.run.rows());
    for (std::size_t i = 0; i < rows.run.rows(); ++i) {
        EXPECT_NEAR(rows.at(i, "work(c)"), guided.at(i, "work(prescribed motion)"), 1e-7) << i;
        EXPECT_NEAR(rows.at(i, "work(force on P)"), guided.at(i, "work(force on P)"), 1e-8) << i;
    }
}

// bodies: a rod on a turntable that speeds up, turned by a motor between the two, with a constraint on velocities
TEST(EnergyLedger, BodiesOnATurntable) {
    const TextRun r = run_text(
        "system s\nparam J = 0.4\ncoord a = 0.3, b = 0.5\nframe T from N rotate t + t^2/3 about z\n"
        "frame A from T rotate a about x\nframe B from A rotate b about y\npoint C at O + 0.4*T.x + 0.2*A.z\n"
        "body D frame B mass 1.5 center C inertia (0.2, J, 0.3)\nbody E frame A mass 1 center O inertia (0.1, 0.2, 0.25)\n"
        "torque on D from E = 0.3*A.y - 0.2*omega(D)\ngravity -9.81*N.y\nstart a' = 0.7, b' = 2\n"
        "constraint c: dot(omega(D), B.y) = 2 + dot(omega(D), N.x)\nrun for 2 s",
        tight());
    EXPECT_EQ(entries(r), (Names{"torque on D from E", "c", "prescribed motion"}));
    EXPECT_GT(std::abs(r.run.energy.works[2].work), 0.1);
    expect_balance(r, 1e-9);
}

// speeds that are measured against a wind: nothing is driven
TEST(EnergyLedger, ChoiceOfSpeedsChangesNoEntry) {
    const std::string loads =
        "force on P = -0.5*vel(P) + t*N.x\nload on u = 2\npotential x^2*y\nconstraint c: x' + y' = 1 + t\nstart x' = 0.4, y' = "
        "0.6\nrun for 2 s";
    const TextRun plain = run_text(std::string("system s\n") + k_particle + "speed u = x', v = y'\n" + loads, tight());
    const TextRun wind = run_text(std::string("system s\n") + k_particle + "speed u = x' - 3*t*x, v = y' + x\n" + loads, tight());
    for (const char* entry : {"force on P", "load on u", "c"})
        for (std::size_t i = 0; i < plain.run.rows(); i += 50)
            EXPECT_NEAR(plain.at(i, std::string("work(") + entry + ")"), wind.at(i, std::string("work(") + entry + ")"), 1e-8)
                << entry;
    EXPECT_EQ(entries(plain), (Names{"force on P", "load on u", "c"}));
    EXPECT_NEAR(wind.at(wind.run.rows() - 1, "work(prescribed motion)"), 0, 1e-8);
    expect_balance(wind, 1e-9);
}

TEST(EnergyLedger, ActuatorsAndLaws) {
    const TextRun servo =
        run_text(std::string("system s\n") + k_particle +
                     "actuator F: force on P along N.x\nservo track: x = 1 + sin(t) by F\nstart x' = 1\nrun for 3 s",
                 tight());
    EXPECT_EQ(entries(servo), Names{"actuator F"});
    expect_works(
        servo, "actuator F", [](double t) { return std::pow(std::cos(t), 2) - 1; }, 1e-9);

    const TextRun ring = run_text(gallery_text("rough_ring"));
    EXPECT_EQ(entries(ring), Names{"nonideal ring"});
    for (std::size_t i = 0; i < ring.run.rows(); ++i)
        EXPECT_NEAR(ring.at(i, "work(nonideal ring)"), ring.at(i, "energy") - ring.at(0, "energy"),
                    1e-6 * ring.run.energy.largest);
    const TextRun incline = run_text(gallery_text("vibrating_incline"));
    EXPECT_EQ(entries(incline), (Names{"plane", "nonideal plane"}));
    expect_balance(incline, 1000e-9);
}

// rows that scale with the velocities do no work; those that do not, do
TEST(EnergyLedger, RowsThatWork) {
    EXPECT_EQ(entries(run_text(gallery_text("prescribed_speed"))), Names{"pace"});
    EXPECT_EQ(entries(run_text(gallery_text("appell_hamel_nonlinear"))), Names{});
    EXPECT_EQ(entries(run_text(gallery_text("appells_particle"))), Names{});
    // a branch that random states do not see does work all the same
    const TextRun r =
        run_text(std::string("system s\n") + k_particle +
                 "constraint c: y' = min(x' + 5, 0)*2\nstart x' = -6, y' = -2\nforce on P = -3*vel(P)\nrun for 0.3 s");
    EXPECT_EQ(entries(r), (Names{"force on P", "c"}));
    expect_balance(r, 1e-5);
}

// the error is what the tolerance makes it
TEST(EnergyLedger, BalanceFollowsTheTolerance) {
    struct Case {
        const char *name, *formulation;
    };
    for (const Case& c : {Case{"perpendicular_pucks", "multipliers"},
                          {"perpendicular_pucks", "minimal"},
                          {"appell_hamel_nonlinear", "multipliers"},
                          {"rolling_disk", "multipliers"},
                          {"rolling_disk", "minimal"},
                          {"rough_ring", "multipliers"},
                          {"vibrating_incline", "multipliers"},
                          {"vibrating_incline", "minimal"},
                          {"prescribed_speed", "multipliers"},
                          {"carriage_on_turntable", "multipliers"},
                          {"carriage_on_turntable", "minimal"}}) {
        double previous = 0;
        for (const double tolerance : {1e-10, 1e-8, 1e-6}) {
            RunOptions options;
            options.rtol = options.atol = tolerance;
            options.formulation = c.formulation;
            const TextRun r = run_text(gallery_text(c.name), options);
            const double error = r.run.energy.relative_error();
            EXPECT_LE(error, 1000 * tolerance) << c.name << ' ' << c.formulation;
            EXPECT_GT(error, previous) << c.name << ' ' << c.formulation;
            EXPECT_FALSE(r.derivation.diagnostics.has(Code::W0823)) << c.name;
            previous = error;
        }
    }
}

// A law of zero has no work of its own, but the mode where the contact sticks has forces of friction: an entry in every mode.
TEST(EnergyLedger, FrictionOfZeroHasItsEntry) {
    for (const char* friction : {"0", "0/(2 + x^2)", "tanh(0*x)"}) {
        const TextRun r = run_text(
            std::string("system s\nparam k = 8\n") + k_particle +
                "spring P O stiffness k length 0\nconstraint table: dot(pos(P), N.y) = 0\nnonideal table: friction on P = " +
                friction + "\nrun for 3 s",
            tight());
        ASSERT_EQ(r.run.summary.reason, EndReason::finished) << friction;
        EXPECT_EQ(entries(r), (Names{"nonideal table", "impacts and events"})) << friction;
        expect_works(
            r, "nonideal table", [](double) { return 0.0; }, 1e-12);
        for (std::size_t i = 0; i < r.run.rows(); ++i) EXPECT_NEAR(r.at(i, "x"), std::cos(2 * r.run.t(i)), 1e-9) << friction;
    }
}

TEST(EnergyLedger, BookkeepingDoesNotTouchTheMotion) {
    for (const char* name : {"perpendicular_pucks", "vibrating_incline", "prescribed_speed", "carriage_on_turntable"})
        for (const Formulation formulation : {Formulation::multipliers, Formulation::minimal}) {
            const Derivation d = derive_text(gallery_text(name));
            ASSERT_TRUE(d.ok());
            LowerMotionOptions lower{formulation, d.model->run.from};
            lower.for_run = true;
            Result<LoweredMotion> with = lower_motion(*d.dynamics, lower);
            ASSERT_TRUE(with.ok());
            ASSERT_FALSE(with->motion.works.empty());
            SimulateOptions options;
            options.t0 = d.model->run.from;
            options.t1 = options.t0 + 2;
            options.every = 0.05;
            const auto rows = [&](const LoweredMotion& lowered) {
                std::vector<double> out;
                const SimulateSummary s =
                    simulate(lowered.motion, lowered.x0, options, [&](double t, std::span<const double> row) {
                        out.push_back(t);
                        for (std::size_t i = 0; i < row.size(); ++i)
                            if (i < lowered.layout.works || i >= lowered.layout.outputs) out.push_back(row[i]);
                    });
                out.push_back(static_cast<double>(s.steps));
                out.push_back(static_cast<double>(s.evaluations));
                return out;
            };
            lower.works = false;
            Result<LoweredMotion> without = lower_motion(*d.dynamics, lower);
            ASSERT_TRUE(without.ok());
            ASSERT_TRUE(without->motion.works.empty());
            EXPECT_EQ(rows(*with), rows(*without)) << name;
        }
}

}  // namespace
}  // namespace appell
