// Systems of many points: everything that is made for a run, counted, grows like the number of points.
#include <numeric>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"
#include "tape/sparse_elimination.hpp"

namespace appell {
namespace {

struct Counts {
    std::size_t nodes = 0, instructions = 0, entries = 0, operations = 0;
    std::uint64_t rules = 0;  // uses of them: constructions that made no node, such as sums of zeros
};

Counts counts(const std::string& constraint, std::size_t n) {
    const std::string text = fmt::format(
        "system growth\nsize n = {}\nfor i in 1..n\n  param M[i] = 1 + 0.5*cos(i)\n  coord x[i] = 2*i, y[i] = 0, z[i] = 0\n"
        "  start x[i]' = 1.5*cos(0.3*i), y[i]' = 1.5*sin(0.3*i)*cos(i), z[i]' = 1.5*sin(0.3*i)*sin(i)\n"
        "  particle P[i] mass M[i] at O + x[i]*N.x + y[i]*N.y + z[i]*N.z\n  force on P[i] = cos(i)*N.x\nend\n"
        "for i in 1..n-1\n  constraint c[i]: {}\nend\nrun for 1 s\n",
        n, constraint);
    const Derivation d = derive({"growth.appell", text, [](const std::string&) { return std::nullopt; }, {}});
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const Result<LoweredMotion> lowered = lower_motion(*d.dynamics, {.for_run = true});
    EXPECT_TRUE(lowered.ok()) << render(lowered.diagnostics, d.sources);
    if (!lowered.ok()) return {};
    const auto& uses = d.dynamics->graph().rule_uses();
    Counts out{lowered->nodes, lowered->instructions, 0, 0, std::accumulate(uses.begin(), uses.end(), std::uint64_t{0})};
    for (const Program* program : {&lowered->motion.rate, &lowered->motion.velocity, &lowered->motion.observe}) {
        EXPECT_TRUE(program->solves.back().sparse) << n;
        out.entries += program->solves.back().sparse->entry_column.size();
        out.operations += program->solves.back().sparse->operations();
    }
    return out;
}

class Growth : public testing::TestWithParam<const char*> {};

TEST_P(Growth, IsThatOfThePoints) {
    const Counts some = counts(GetParam(), 100), more = counts(GetParam(), 400);
    // four times as many points: what does not grow with them may only lower the ratio
    EXPECT_LE(static_cast<double>(more.nodes), 4.05 * static_cast<double>(some.nodes));
    EXPECT_LE(static_cast<double>(more.instructions), 4.05 * static_cast<double>(some.instructions));
    EXPECT_LE(static_cast<double>(more.entries), 4.05 * static_cast<double>(some.entries));
    EXPECT_LE(static_cast<double>(more.operations), 4.05 * static_cast<double>(some.operations));
    EXPECT_LE(static_cast<double>(more.rules), 4.05 * static_cast<double>(some.rules));
}

// definitions that stand in each other: nodes made, and uses of rules, for each
std::pair<double, double> work_of_nested(const std::string& definition, const std::string& use, int n) {
    std::string text = "system nested\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nfunction f0(s) = s\nlet a0 = x\n";
    for (int i = 1; i <= n; ++i) text += fmt::format(fmt::runtime(definition + "\n"), i, i - 1);
    text += fmt::format(fmt::runtime("force on P = " + use + "*N.x\n"), n);
    const Derivation d = derive({"nested.appell", text, [](const std::string&) { return std::nullopt; }, {}});
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    if (!d.ok()) return {};
    const auto& uses = d.dynamics->graph().rule_uses();
    return {static_cast<double>(d.dynamics->graph().size()),
            static_cast<double>(std::accumulate(uses.begin(), uses.end(), std::uint64_t{0}))};
}

TEST(NestedDefinitions, GrowLikeTheirNumber) {
    for (const auto& [definition, use] : {std::pair{"function f{0}(s) = 0.5*sin(f{1}(s)) + s", "f{}(x)"},
                                          {"function f{0}(s) = 0.5*sin(f{1}(s + 0.1)) + s", "f{}(x)"},
                                          {"function f{0}(s) = f{1}(s) + cos(f{1}(s))", "f{}(x)"},
                                          {"let a{0} = 0.5*sin(a{1}) + x", "a{}"}}) {
        const auto some = work_of_nested(definition, use, 1000), more = work_of_nested(definition, use, 4000);
        EXPECT_GT(some.first, 1000) << definition;
        EXPECT_LE(more.first, 4.05 * some.first) << definition;
        EXPECT_LE(more.second, 4.05 * some.second + 100) << definition;
    }
    // a hundred thousand
    EXPECT_LE(work_of_nested("function f{0}(s) = 0.5*sin(f{1}(s)) + s", "f{}(x)", 100'000).first, 1e6);
    EXPECT_LE(work_of_nested("let a{0} = 0.5*sin(a{1}) + x", "a{}", 100'000).first, 1e6);
}

INSTANTIATE_TEST_SUITE_P(Families, Growth,
                         testing::Values("dot(vel(P[i]), vel(P[i])) = dot(vel(P[i+1]), vel(P[i+1]))",
                                         "dot(vel(P[1]), vel(P[1])) = dot(vel(P[i+1]), vel(P[i+1]))",
                                         "dot(vel(P[i]), vel(P[i+1])) = dot(vel(P[i]), vel(P[i]))",
                                         "max(x[i]', 0)^2 + y[i]'^2 = x[i+1]'^2 + y[i+1]'^2 + z[i+1]'^2",
                                         "if(x[i]' > 0, x[i]'^2, y[i]'^2) + z[i]'^2 = x[i+1]'^2 + y[i+1]'^2",
                                         "parallel(vel(P[i]), vel(P[i+1]))", "parallel(vel(P[1]), vel(P[i+1]))"));

}  // namespace
}  // namespace appell
