// Long runs keep their constraints to round-off and their energy balance within the tolerance, and get better as it does; runs
// into a loss of rank of the constraints themselves end there by name.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

struct Long {
    const char *model, *formulation;
    double until;
    std::map<std::string, double> set = {};
};

TEST(LongRuns, KeepConstraintsAndTheEnergyBalance) {
    for (const Long& c : {Long{"perpendicular_pucks", "multipliers", 1000}, Long{"appell_hamel_linear", "multipliers", 100},
                          Long{"appell_hamel_nonlinear", "multipliers", 100}, Long{"rolling_disk", "multipliers", 1000},
                          // through the failure of the partition that 002 eq. 22 prints, several times
                          Long{"perpendicular_chain_planar", "minimal", 100, {{"n", 5}}},
                          Long{"perpendicular_chain_planar", "nonminimal", 100, {{"n", 5}}}}) {
        double before = 0;
        for (const double rtol : {1e-7, 1e-9}) {
            RunOptions options;
            options.formulation = c.formulation;
            options.until = c.until;
            options.every = c.until / 100;
            options.rtol = options.atol = rtol;
            ReadOptions read;
            read.set = c.set;
            const TextRun r = run_text(gallery_text(c.model), options, read);
            EXPECT_EQ(r.run.summary.t_end, c.until) << c.model;
            EXPECT_LT(std::max(r.run.summary.position_scaled, r.run.summary.velocity_scaled), 1e-12) << c.model;
            const double error = r.run.energy.relative_error();
            EXPECT_LT(error, 1000 * rtol) << c.model << ", " << c.formulation;
            // a hundredth of the tolerance; ten of a hundred are left to what adds up at random
            if (before > 1e-12) {
                EXPECT_LT(error, before / 10) << c.model << ", " << c.formulation;
            }
            before = error;
        }
    }
}

TEST(TrueSingularities, EndTheRunByName) {
    const std::string pucks =
        "system pucks\ncoord x1 = 0 m, y1 = 0 m, x2 = 0 m, y2 = 1 m, x3 = 0 m, y3 = 2 m\n"
        "particle P1 mass 1 kg at O + x1*N.x + y1*N.y\nparticle P2 mass 1 kg at O + x2*N.x + y2*N.y\n"
        "particle P3 mass 1 kg at O + x3*N.x + y3*N.y\n";
    // 002 eq. 16: velocities parallel to that of the first point, which is braked to rest at t = 1 s while the others go on
    const std::string parallel =
        pucks +
        "constraint second: dot(vel(P2), cross(N.z, vel(P1))) = 0\n"
        "constraint third: dot(vel(P3), cross(N.z, vel(P1))) = 0\n"
        "start x1' = 1 m/s, x2' = 2 m/s, x3' = 3 m/s\nforce on P1 = -1 N*N.x\nrun for 3 s, every 0.1 s\n";
    // 002 ex. 6, conditions (a) and (b): a rod whose ends have equal speeds, braked until it turns no more at t = 1 s
    const std::string rod =
        "system rod\nparam l = 2 m\ncoord q1 = 0 m, q2 = 0 m, q3 = 0 rad\nframe R from N rotate q3 about z\n"
        "point M at O + q1*N.x + q2*N.y\nparticle P1 mass 1 kg at M + l/2*R.x\nparticle P2 mass 1 kg at M - l/2*R.x\n"
        "constraint alike: dot(vel(P2), vel(P2)) - dot(vel(P1), vel(P1)) = 0\nstart q3' = 1 rad/s\n"
        "force on P1 = -1 N*R.y\nforce on P2 = 1 N*R.y\nrun for 3 s, every 0.1 s\n";
    struct Case {
        std::string text;
        double t;
        const char *constraint, *linear;
    };
    for (const Case& c : {Case{parallel, 1, "depends on the others there", ""}, Case{rod, 1, "alike", "product"}}) {
        for (const double tolerance : {1e-6, 1e-9}) {
            Derivation d = derive_text(c.text);
            RunOptions options;
            options.rtol = options.atol = tolerance;
            const auto r = run(d, options);
            ASSERT_TRUE(r.has_value());
            const std::string said = render(d.diagnostics, d.sources);
            EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << said;
            EXPECT_NEAR(r->summary.t_end, c.t, 1e-3) << said;
            EXPECT_EQ(r->rows(), 10u) << said;  // t = 0 .. 0.9 s
            EXPECT_NE(said.find(c.constraint), std::string::npos) << said;
            EXPECT_NE(said.find(c.linear), std::string::npos) << said;
        }
    }
}

// A product of two linear rows, where the second vanishes along the motion of the first: whatever the steps are, and however rows
// of the table divide them.
TEST(TrueSingularities, FactorsThatMeetAreNotSteppedAcross) {
    const std::string text =
        "system crossing\nparam m = 1, a = 1, b = 0.1\ncoord x = 0.1, y = 0.2, z = 0.3\n"
        "start x' = 1 fixed, y' = 0.95, z' = 4\nparticle P mass m at O + x*N.x + y*N.y + z*N.z\n"
        "force on P = -0.3*x*N.x - 0.4*y*N.y + (0.2 - x)*N.z\n"
        "constraint c: (y' - a*x'*cos(z))*(y' + b*z') = 0\nrun for 2 s, every 0.5 s\n";
    for (const char* const formulation : {"multipliers", "minimal"}) {
        std::vector<RunOptions> ways(11);
        for (std::size_t k = 0; k < 4; ++k) ways[k].rtol = ways[k].atol = std::pow(10, -4 - 2 * static_cast<double>(k));
        ways[4].every = 0.01;
        ways[5].every = 0.001;
        ways[6].integrator = "dop853";
        for (std::size_t k = 7; k < 11; ++k) {
            ways[k].integrator = "rk4";
            ways[k].step = 0.01 * static_cast<double>(k - 6);
        }
        for (RunOptions& options : ways) {
            options.formulation = formulation;
            Derivation d = derive_text(text);
            const auto r = run(d, options);
            ASSERT_TRUE(r.has_value());
            EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << render(d.diagnostics, d.sources);
            EXPECT_NEAR(r->summary.t_end, 0.3975, 2e-3);
        }
    }
}

// B1: started against the weight the wheel stops, where the nonlinear row has no gradient and the linear ones go on
TEST(TrueSingularities, TheWheelOfAppellAndHamelStops) {
    const std::map<std::string, double> backward{{"u2", -1}, {"u3", -1}, {"u4", 5}, {"u5", 0.5}};
    ReadOptions read;
    read.set = backward;
    Derivation d = derive_text(gallery_text("appell_hamel_nonlinear"), read);
    const auto stopped = run(d, {});
    ASSERT_TRUE(stopped.has_value());
    const std::string said = render(d.diagnostics, d.sources);
    EXPECT_TRUE(d.diagnostics.has(Code::E0808)) << said;
    EXPECT_TRUE(d.diagnostics.has(Code::N0844)) << said;
    const TextRun linear = run_text(gallery_text("appell_hamel_linear"), {}, read);
    EXPECT_EQ(linear.run.summary.t_end, 10);
    // where the wheel of the linear model stops
    double stop = 0;
    for (std::size_t i = 1; i < linear.run.rows() && stop == 0; ++i)
        if (linear.at(i, "u2") >= 0) stop = linear.run.t(i);
    EXPECT_NEAR(stopped->summary.t_end, stop, 0.02) << said;
}

}  // namespace
}  // namespace appell
