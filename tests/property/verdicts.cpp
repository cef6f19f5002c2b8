// What the program says of a model is the same whichever command and whichever formulation is asked: `check` takes what `run`
// solves, a formulation that does not apply says why, and messages count what they speak of.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <regex>
#include <string>

#include <fmt/format.h>

#include "pipeline/print_equations.hpp"
#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double sign() { return uniform(-1, 1) < 0 ? -1 : 1; }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

std::string said(const Derivation& d) { return render(d.diagnostics, d.sources); }

// blocks at rest on slopes that are too steep: friction has a law there, along the way out
TEST(Verdicts, CheckTakesFrictionThatLeavesRest) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(30); ++k) {
        const double slope = draw.sign() * draw.uniform(0.2, 1), mu = draw.uniform(0, 0.9) * std::abs(std::tan(slope));
        const std::string model = fmt::format(
            "system slope\ncoord s = 0, h = 0\nframe A from N rotate {} about z\nparticle P mass {} at O + s*A.x + h*A.y\n"
            "gravity -9.81*N.y\nconstraint ground: dot(pos(P), A.y) {}\nnonideal ground: friction on P = {}*{}(ground)\n"
            "claim \"size\": mag(friction(ground)) = {}*lambda(ground)\nclaim \"down\": s'' = -9.81*(sin({}) - {}*cos({})) where "
            "s' < "
            "0\noutput a = s''\nrun for 0.1 s\n",
            text(slope), text(draw.uniform(0.5, 3)), k % 2 == 0 ? ">= 0" : "= 0", text(mu), k % 3 == 0 ? "ideal" : "reaction",
            text(mu), text(slope), text(mu), text(slope));
        Derivation d = derive_text(model);
        const auto checked = check(d, 10);
        ASSERT_TRUE(checked) << k << said(d);
        EXPECT_FALSE(d.diagnostics.has_errors()) << k << said(d);
        for (const ClaimResult& claim : checked->claims.claims) EXPECT_TRUE(claim.holds) << k << claim.label;
        const TextRun r = run_text(model);
        const double down = -9.81 * (std::sin(std::abs(slope)) - mu * std::cos(slope)) * (slope > 0 ? 1 : -1);
        EXPECT_NEAR(r.at(0, "a"), down, 1e-9) << k;
    }
}

// a rod without mass from the origin to a particle: its angle has no inertia of its own
TEST(Verdicts, FormulationsThatNeedMassSaySo) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double l = draw.uniform(0.5, 2), a = draw.uniform(-1, 1);
        const std::string model = fmt::format(
            "system massless\ncoord x = {}, y = {}, a = {}\nframe A from N rotate a about z\nparticle P mass {} at O + x*N.x + "
            "y*N.y\n"
            "gravity 9.81*N.x\nconstraint rod: P - O - {}*A.x = 0\nrun for 0.2 s\n",
            text(l * std::cos(a)), text(l * std::sin(a)), text(a), text(draw.uniform(0.5, 2)), text(l));
        for (const std::string_view formulation : formulation_names()) {
            Derivation d = derive_text(model);
            RunOptions options;
            options.formulation = std::string(formulation);
            const auto result = run(d, options);
            EXPECT_FALSE(d.diagnostics.has(Code::E0709)) << formulation << said(d);
            EXPECT_FALSE(d.diagnostics.has(Code::E0701)) << formulation << said(d);
            if (d.diagnostics.has(Code::E0820)) continue;
            EXPECT_FALSE(d.diagnostics.has_errors()) << formulation << said(d);
        }
        Derivation d = derive_text(model);
        RunOptions options;
        options.formulation = "ukp";
        (void)run(d, options);
        EXPECT_TRUE(d.diagnostics.has(Code::E0820)) << said(d);
        EXPECT_NE(said(d).find("mass matrix is singular"), std::string::npos) << said(d);
    }
}

// Blades that turn through a right angle: the equations end there, the motion does not.
TEST(Verdicts, ChartsAreNamed) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(20); ++k) {
        const double v = draw.uniform(0.5, 2), w = draw.sign() * draw.uniform(0.5, 2), a0 = draw.uniform(-0.7, 0.7);
        const std::string model = fmt::format(
            "system blade\ncoord x = 0, y = 0, a = {}\nframe B from N rotate a about z\nbody B frame B mass {} center at O + "
            "x*N.x + "
            "y*N.y inertia (1, 1, {})\nconstraint blade: dot(vel(B_o), B.y) = 0\nstart x' = {}, y' = {}, a' = {}\n"
            "independent x', a'\nrun for {}, rtol 1e-9, atol 1e-11\n",
            text(a0), text(draw.uniform(0.5, 2)), text(draw.uniform(0.5, 2)), text(v * std::cos(a0)), text(v * std::sin(a0)),
            text(w), text(4 / std::abs(w)));
        Derivation d = derive_text(model);
        RunOptions options;
        options.formulation = "chaplygin";
        const auto result = run(d, options);
        ASSERT_TRUE(result) << k << said(d);
        EXPECT_EQ(result->summary.reason, EndReason::edge_of_chart) << k;
        EXPECT_TRUE(d.diagnostics.has(Code::E0863)) << k << said(d);
        for (const Code wrong : {Code::E0805, Code::E0806, Code::E0804}) EXPECT_FALSE(d.diagnostics.has(wrong)) << k << said(d);
        EXPECT_NE(said(d).find("y' no longer follows from x', a'"), std::string::npos) << said(d);
        EXPECT_NEAR(std::cos(result->summary.x_end[2]), 0, 1e-2) << k;
    }
}

// W0813 counts the rows of the mode in which some depend on others, and those that stick are none of them
TEST(Verdicts, RedundantRowsAreCounted) {
    Draw draw(4);
    std::size_t found = 0;
    for (std::size_t k = 0; k < members(20); ++k) {
        const std::string contact =
            k % 2 == 0 ? "constraint ground: dot(pos(P), N.y) >= 0\n" : "constraint ground: dot(pos(P), N.y) = 0\n";
        Derivation d = derive_text(fmt::format(
            "system twice\ncoord x = 0, y = 0, z = 0\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\ngravity -9.81*N.y\n{}"
            "constraint rail: z = 0\nconstraint rail2: {}*z = 0\nnonideal ground: friction on P = {}*reaction(ground)\nstart x' "
            "= {}\n"
            "run for 2 s\n",
            contact, text(draw.uniform(0.5, 3)), text(draw.uniform(0.1, 0.5)), text(draw.uniform(0.2, 1))));
        (void)run(d, {});
        for (const Diagnostic& diagnostic : d.diagnostics.all()) {
            if (diagnostic.code != Code::W0813) continue;
            ++found;
            std::smatch numbers;
            ASSERT_TRUE(
                std::regex_search(diagnostic.message, numbers, std::regex("^(\\d+) constraint rows, of which (\\d+) are")));
            EXPECT_GT(std::stoul(numbers[1]), std::stoul(numbers[2])) << diagnostic.message;
            EXPECT_EQ(numbers[1], "3") << diagnostic.message;
        }
    }
    EXPECT_GT(found, 0u);
}

// the last row is the state before the instant that ends the run: nothing stands in the ledger half way
TEST(Verdicts, AnInstantThatEndsTheRunKeepsTheLedger) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(20); ++k) {
        Derivation d = derive_text(
            fmt::format("system ball\ncoord y = {}\nparticle P mass 1 at O + y*N.y\ngravity -9.81*N.y\nconstraint floor: y >= 0 "
                        "restitution {}\n"
                        "event bad: y {} => {}\nrun for 5 s\n",
                        text(draw.uniform(0.5, 2)), text(draw.uniform(0, 0.9)), k % 2 == 0 ? "falling" : "- 0.1 falling",
                        k % 3 == 0 ? "set y' = sqrt(-1 - y^2)" : "set y = -1"));
        const auto result = run(d, {});
        ASSERT_TRUE(result) << k;
        EXPECT_FALSE(d.diagnostics.has(Code::W0823)) << k << said(d);
        EXPECT_TRUE(d.diagnostics.has_errors()) << k;
    }
}

// Two cranks of one length and a bar, closed by a vector equation: the two rows depend on each other on the constraints and
// nowhere else. All formulations that apply agree, also where u' is zero and only round-off is left to compare; Chaplygin's
// structure can not be read off such rows.
TEST(Verdicts, ParallelLinksAgree) {
    std::mt19937 random(6);
    const auto draw = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    const std::size_t count = members(8);
    for (std::size_t k = 0; k < count; ++k) {
        const double crank = draw(0.1, 1), bar = draw(0.5, 2), angle = draw(0.5, 2.5), torque = k % 2 == 0 ? 0 : draw(0.5, 2);
        Derivation d = derive_text(fmt::format(
            "system linkage\ncoord a = {0}, b = {0}\nframe A from N rotate a about z\nframe B from N rotate b about z\n"
            "point D at O + {1}*N.x\npoint P at O + {2}*A.x\npoint Q at D + {2}*B.x\n"
            "body A frame A mass 1 center O inertia (0.01, 0.01, {3})\nbody B frame B mass 1 center D inertia (0.01, 0.01, {3})\n"
            "constraint bar: Q - P = {1}*N.x\ntorque on A = {4}*N.z\nstart a' = 4, b' = 4\nrun for 1\n",
            angle, bar, crank, draw(0.01, 0.1), torque));
        const auto found = check(d, 20);
        ASSERT_TRUE(found.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has(Code::E0846)) << render(d.diagnostics, d.sources);
        EXPECT_LT(found->certificate.worst, 1e-9);
        EXPECT_LT(found->certificate.worst_wide, 1e-38);
        EXPECT_NE(found->certificate.formulations.back().not_applicable, "");
    }
}

// a two-wheeled robot; the lateral rows of its wheels say the same
std::string robot(const std::string& rest) {
    return "system robot\nparam b = 0.2, r = 0.1\ncoord x = 0, y = 0, psi = 0, p1 = 0, p2 = 0\n"
           "frame B from N rotate psi about z\nframe W1 from B rotate p1 about y\nframe W2 from B rotate p2 about y\n"
           "point A at O + x*N.x + y*N.y + r*N.z\npoint C1 at A + b*B.y\npoint C2 at A - b*B.y\n"
           "body S frame B mass 2 center A inertia (0.05, 0.05, 0.05)\n"
           "body W1 frame W1 mass 0.2 center C1 inertia (5e-4, 1e-3, 5e-4)\n"
           "body W2 frame W2 mass 0.2 center C2 inertia (5e-4, 1e-3, 5e-4)\npoint K1 at C1 - r*N.z\npoint K2 at C2 - r*N.z\n"
           "constraint left: rolling(W1, N, K1)\nconstraint right: rolling(W2, N, K2)\n" +
           rest;
}

bool says(const Derivation& d, Code code, const std::string& words) {
    for (const Diagnostic& diagnostic : d.diagnostics.all())
        if (diagnostic.code == code && (diagnostic.message + "\n" + diagnostic.hint).find(words) != std::string::npos)
            return true;
    return false;
}

// equations with divisors say where they hold
TEST(Verdicts, PolesAreNamed) {
    Derivation d = derive_text(robot("start p1' = 5, p2' = 7\nrun for 1\n"));
    const auto found = check(d, 10);
    ASSERT_TRUE(found) << said(d);
    std::string sentences;
    for (const std::string& sentence : found->diagnosis.redundancy.sentences) sentences += sentence + "\n";
    EXPECT_TRUE(std::regex_search(sentences, std::regex("is redundant: .*, where (sin|cos)\\(psi\\) does not vanish")))
        << sentences;
    // five rows on six speeds, too many to be written out, of which others serve where det J2 vanishes
    Derivation door = derive_text(
        "system door\ncoord x = 0.5, y = 0, z = 0, e0 = 1, e1 = 0, e2 = 0, e3 = 0, a = 0\nframe R from N rotate a about y\n"
        "body C frame R mass 1 center at O inertia (0.5, 0.5, 0.5)\nframe B from N quaternion (e0, e1, e2, e3)\n"
        "body D frame B mass 2 center at O + x*N.x + y*N.y + z*N.z inertia (0.2, 0.1, 0.3)\npoint A1 at O + 0.4*R.z\n"
        "point A2 at O - 0.4*R.z\npoint H1 at D_o - 0.5*B.x + 0.4*B.z\npoint H2 at D_o - 0.5*B.x - 0.4*B.z\n"
        "gravity -9.81*N.y\nconstraint h1: H1 = A1\nconstraint h2: H2 = A2\n"
        "speed u1 = x', u2 = y', u3 = z', w1 = dot(omega(D), B.x), w2 = dot(omega(D), B.y), w3 = dot(omega(D), B.z), ua = a'\n"
        "start ua = 2, w3 = 1\nindependent ua, w3\nrun for 1\n");
    const std::optional<std::string> printed = print_equations(door, {"minimal"});
    ASSERT_TRUE(printed) << said(door);
    EXPECT_NE(printed->find("They hold where det J2 does not vanish. Where it vanishes, other rows than those"),
              std::string::npos)
        << *printed;
}

// messages speak of what is there
TEST(Verdicts, WordsFitTheModel) {
    // servo rows count among the rows where they count in the rank
    Derivation servo =
        derive_text(robot("actuator T1: torque on W1 from S along B.y\nactuator T2: torque on W2 from S along B.y\n"
                          "servo turn: psi' = 0.5*sin(t) by T1, T2\nservo ahead: dot(vel(A), B.x) = 0.3 by T1, T2\n"
                          "start p1' = 3, p2' = 3\nrun for 0.1\n"));
    (void)run(servo, {});
    EXPECT_TRUE(says(servo, Code::W0813, "6 constraint rows, of which 5 are independent")) << said(servo);
    const auto door = [](const std::string& weight) {
        return "system door\ncoord x = 0, y = 0\nparticle P mass 2 at O + x*N.x + y*N.y\ngravity -9.81*N.y\n"
               "constraint a: dot(pos(P), N.y) = 0\nconstraint b: dot(vel(P), N.y) = 0\n"
               "nonideal a: friction on P = 0.3*reaction(a)\nshare a : b = 1 : " +
               weight + "\nstart x' = 2\nrun for 0.5\n";
    };
    Derivation shared = derive_text(door("2"));
    (void)run(shared, {});
    EXPECT_TRUE(says(shared, Code::W0813, "as `share` states")) << said(shared);
    Derivation negative = derive_text(door("(-2)"));
    (void)run(negative, {});
    EXPECT_TRUE(says(negative, Code::E0842, "weights of `share`")) << said(negative);
    EXPECT_FALSE(says(negative, Code::E0842, "a smaller coefficient")) << said(negative);
    // rows that contradict each other leave no motion to be determined
    Derivation blade = derive_text(
        "system blade\ncoord x = 0, y = 0, th = 0\nframe B from N rotate th about z\npoint C at O + x*N.x + y*N.y\n"
        "body S frame B mass 1 center C inertia (1, 1, 1)\nconstraint blade: dot(vel(C), B.y) = 0\n"
        "constraint line: dot(vel(C), N.y) = 0\nstart x' = 1, th' = 0.5\nrun for 1\n");
    (void)run(blade, {});
    EXPECT_TRUE(blade.diagnostics.has(Code::E0807)) << said(blade);
    EXPECT_FALSE(says(blade, Code::W0813, "the motion is determined")) << said(blade);
    // told once, though the model is derived again
    Derivation whole =
        derive({"model.appell",
                "system blade\ncoord x = 0, y = 0, th = 0\nframe B from N rotate th about z\n"
                "point C at O + x*N.x + y*N.y\nbody S frame B mass 1 center C inertia (1, 1, 1)\n"
                "constraint blade: dot(vel(C), B.y) = 0\nconstraint line: vel(C) = x'*N.x\nstart x' = 1\nrun for 1\n",
                [](const std::string&) { return std::nullopt; },
                {},
                true});
    EXPECT_EQ(whole.completed.size(), 1u);
    const auto left_out =
        std::ranges::count_if(whole.diagnostics.all(), [](const Diagnostic& n) { return n.code == Code::N0711; });
    EXPECT_EQ(left_out, 1) << said(whole);
    // a definition of a speed that switches is no jump of velocities
    for (const bool definition : {true, false}) {
        Derivation d = derive_text(
            definition ? "system anew\ncoord x = 0\nspeed u = if(t > 1, 2, 1)*x'\nstart u = 1\nparticle P mass 1 at O + x*N.x\n"
                         "run for 2\n"
                       : "system pushed\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nconstraint c: x' = if(t > 1, 2, 1)\n"
                         "start x' = 1\nrun for 2\n");
        const auto result = run(d, {});
        ASSERT_TRUE(result) << said(d);
        std::string events;
        for (const RunEvent& event : result->events) events += event.what + "\n";
        EXPECT_EQ(events.find("speed u is defined anew where") != std::string::npos, definition) << events;
        EXPECT_EQ(events.find("velocities jump where") != std::string::npos, !definition) << events;
    }
}

}  // namespace
}  // namespace appell
