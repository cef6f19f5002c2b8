// 002 examples 6 to 8: which conditions on two points of a plane imply which, and where they do not.
#include "doctor/implication.hpp"

#include "support/examined.hpp"

namespace appell {
namespace {

const std::string k_two_points =
    "system two_points\n"
    "coord x1 = 1, y1 = 0.2, x2 = -1, y2 = -0.1\n"
    "point P1 at O + x1*N.x + y1*N.y\nparticle P1 mass 1\n"
    "point P2 at O + x2*N.x + y2*N.y\nparticle P2 mass 2\n"
    "point B at (P1 + P2)/2\n"
    "condition distance: dot(P1 - P2, P1 - P2) = 4.09\n"
    "condition speeds: dot(vel(P1), vel(P1)) = dot(vel(P2), vel(P2))\n"
    "condition along: parallel(vel(B), P1 - P2)\n"
    "condition velocities_parallel: parallel(vel(P1), vel(P2))\n"
    "condition across: dot(vel(B), P1 - P2) = 0\n"
    "condition both_across: dot(vel(P1), P1 - P2) = 0, dot(vel(P2), P1 - P2) = 0\n"
    "condition perpendicular: dot(vel(P1), vel(P2)) = 0\n"
    "condition first_across: dot(vel(P1), P1 - P2) = 0\n"
    "condition second_along: parallel(vel(P2), P1 - P2)\n"
    "condition same: vel(P1) = vel(P2)\n"
    "condition middle_rests: vel(B) = 0\n"
    "condition first_rests: vel(P1) = 0\n"
    "condition second_rests: vel(P2) = 0\n"
    "condition meet: P1 = P2\n"
    "start x1' = 0.3, y1' = 1, x2' = 0.7, y2' = -0.4\n";

ImplicationFinding verdict(const std::string& imply) {
    const Examined e = examined(k_two_points + imply + "\n");
    const std::vector<ImplicationFinding> found = test_implications(e.dynamics(), e.samples);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? ImplicationFinding{} : found.front();
}

void expect_holds(const std::string& imply) {
    const ImplicationFinding f = verdict(imply);
    EXPECT_EQ(f.verdict, Verdict::holds) << imply << ": " << (f.exceptional.empty() ? "" : f.exceptional.front());
    EXPECT_GT(f.states, 50u) << imply;
}

// the exception is found without being told, and covers all when it is
void expect_except(const std::string& imply, const std::string& condition, const std::string& found_as) {
    const ImplicationFinding alone = verdict(imply);
    EXPECT_EQ(alone.verdict, Verdict::holds_except) << imply;
    EXPECT_FALSE(alone.as_stated);
    EXPECT_EQ(alone.exceptional, std::vector<std::string>{found_as}) << imply;
    const ImplicationFinding told = verdict(imply + " except " + condition);
    EXPECT_EQ(told.verdict, Verdict::holds_except) << imply;
    EXPECT_TRUE(told.as_stated) << imply;
}

TEST(Implication, Example6) {
    expect_holds("imply distance, along => speeds");
    expect_except("imply distance, speeds => along", "same", "vel(P1) = vel(P2)");
    expect_except("imply speeds, along => distance", "middle_rests", "vel(B) = 0");
}

TEST(Implication, Example7) {
    expect_holds("imply distance, across => velocities_parallel, both_across");
    expect_except("imply velocities_parallel, across => both_across", "middle_rests", "vel(B) = 0");
    expect_except("imply distance, velocities_parallel => both_across", "same", "vel(P1) = vel(P2)");
    // statement I assumes that the points are apart
    expect_except("imply both_across => distance, velocities_parallel, across", "meet", "P1 and P2 meet");
}

TEST(Implication, Example8) {
    expect_except("imply perpendicular, first_across => second_along", "first_rests", "vel(P1) = 0");
    expect_except("imply perpendicular, second_along => first_across", "second_rests", "vel(P2) = 0");
    expect_except("imply first_across, second_along => perpendicular", "meet", "P1 and P2 meet");
}

TEST(Implication, WhatDoesNotFollowFails) {
    for (const char* imply : {"imply distance => speeds", "imply perpendicular => first_across", "imply speeds => along",
                              "imply distance, perpendicular => along"}) {
        const ImplicationFinding f = verdict(imply);
        EXPECT_EQ(f.verdict, Verdict::fails) << imply;
        EXPECT_EQ(f.example.size(), 8u);
    }
    // an exception that is none of the real ones does not cover them
    EXPECT_FALSE(verdict("imply distance, speeds => along except first_rests").as_stated);
}

TEST(Implication, ScalesTimeAndConstants) {
    EXPECT_EQ(verdict("condition tiny: 1e-9*(dot(vel(P1), vel(P1)) - dot(vel(P2), vel(P2))) = 0\nimply distance, along => tiny")
                  .verdict,
              Verdict::holds);
    EXPECT_EQ(verdict("condition tiny: 1e-9*(x1' - y1') = 0\nimply distance => tiny").verdict, Verdict::fails);
    EXPECT_EQ(verdict("condition never: x1 - x1 = 1\nimply distance => never").verdict, Verdict::fails);
    EXPECT_EQ(verdict("condition late: x1' = t*y1'\ncondition still: x1' = 0\nimply late => still").verdict, Verdict::fails);
}

TEST(Implication, CheckSaysSo) {
    Derivation d = derive_text(k_two_points + "imply distance, speeds => along\n");
    ASSERT_TRUE(check(d).has_value());
    EXPECT_TRUE(d.diagnostics.has(Code::E1005));
    Derivation good =
        derive_text(k_two_points + "imply distance, speeds => along except same\nimply distance, along => speeds\n");
    ASSERT_TRUE(check(good).has_value());
    EXPECT_FALSE(good.diagnostics.has_errors()) << render(good.diagnostics, good.sources);
    Derivation never = derive_text(k_two_points + "condition no: dot(vel(P1), vel(P1)) = -1\nimply no => speeds\n");
    ASSERT_TRUE(check(never).has_value());
    EXPECT_TRUE(never.diagnostics.has(Code::W1006));
    Derivation vacuous = derive_text(k_two_points + "imply speeds => along except speeds\n");
    const auto checked = check(vacuous);
    ASSERT_TRUE(checked.has_value());
    EXPECT_TRUE(vacuous.diagnostics.has(Code::W1006));
}

// states are positions and velocities: what speaks of accelerations is not tested, and says so
TEST(Implication, AccelerationsAreNotTested) {
    for (const char* text : {"condition a: x1'' = 0\nimply a => speeds\n", "condition a: x1'' = 0\nimply speeds => a\n",
                             "condition a: dot(acc(P1), vel(P1)) = 0\nimply speeds => along except a\n"}) {
        Derivation d = derive_text(k_two_points + text);
        const auto checked = check(d);
        ASSERT_TRUE(checked.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_TRUE(d.diagnostics.has(Code::W1006)) << text;
        EXPECT_EQ(checked->diagnosis.implications.front().why, "accelerations stand in it") << text;
    }
}

TEST(Implication, ExceptionsThatFollowFromThePremisesLeaveNothing) {
    EXPECT_EQ(verdict("imply speeds => along except speeds").verdict, Verdict::vacuous);
}

}  // namespace
}  // namespace appell
