// Trees of many bodies: what is derived and what is computed for a run, counted, grows like the number of bodies.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "pipeline/lower_motion.hpp"
#include "pipeline/pipeline.hpp"

namespace appell {
namespace {

struct Counts {
    std::size_t nodes = 0, instructions = 0;
};

Counts counts(const std::string& text) {
    const Derivation d = derive({"trees.appell", text, [](const std::string&) { return std::nullopt; }, {}});
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const Result<LoweredMotion> lowered = lower_motion(*d.dynamics, {.for_run = true});
    EXPECT_TRUE(lowered.ok()) << render(lowered.diagnostics, d.sources);
    if (!lowered.ok()) return {};
    EXPECT_FALSE(d.dynamics->inertia->is_assembled()) << "the mass matrix of a tree is not needed";
    return {lowered->nodes, lowered->instructions};
}

struct Tree {
    const char* name;
    const char* body;       // of index i
    std::size_t per_body;   // instructions, as they were when this was written and a little more
    const char* rows = "";  // {0} and {1}: where the end is when all angles are 0.1
};

void PrintTo(const Tree& tree, std::ostream* out) { *out << tree.name; }

// hinges by relative angles, in a plane and with axes that are turned from body to body; particles by absolute angles
const Tree k_trees[] = {
    {"planar",
     "  frame B[i] from B[i-1] rotate q[i] about y\n  point C[i] at J[i-1] - 0.5*B[i].z\n  point J[i] at J[i-1] - B[i].z\n"
     "  body B[i] frame B[i] mass m[i] center C[i] inertia (0.09, 0.09, 0.02)\n",
     115},
    {"spatial",
     "  frame A[i] from B[i-1] rotate 0.4 about z\n  frame B[i] from A[i] rotate q[i] about y\n"
     "  point C[i] at J[i-1] - 0.5*B[i].z\n  point J[i] at J[i-1] - B[i].z\n"
     "  body B[i] frame B[i] mass m[i] center C[i] inertia (0.09, 0.09, 0.02)\n",
     470},
    {"particles", "  frame B[i] from N rotate q[i] about y\n  particle J[i] mass m[i] at J[i-1] - B[i].z\n", 85},
    {"loop",
     "  frame B[i] from B[i-1] rotate q[i] about y\n  point C[i] at J[i-1] - 0.5*B[i].z\n  point J[i] at J[i-1] - B[i].z\n"
     "  body B[i] frame B[i] mass m[i] center C[i] inertia (0.09, 0.09, 0.02)\n",
     220, "constraint x: dot(pos(J[n]), N.x) = {0}\nconstraint z: dot(pos(J[n]), N.z) = {1}\n"},
    {"skate",
     "  frame A[i] from B[i-1] rotate 0.4 about z\n  frame B[i] from A[i] rotate q[i] about y\n"
     "  point C[i] at J[i-1] - 0.5*B[i].z\n  point J[i] at J[i-1] - B[i].z\n"
     "  body B[i] frame B[i] mass m[i] center C[i] inertia (0.09, 0.09, 0.02)\n",
     545, "constraint s: dot(vel(J[n]), B[n].x) = 0\n"},
};

class Trees : public testing::TestWithParam<Tree> {};

TEST_P(Trees, CostTheSameForEachBody) {
    const auto of = [](int n) {
        double x = 0, z = 0;
        for (int i = 1; i <= n; ++i) {
            x -= std::sin(0.1 * i);
            z -= std::cos(0.1 * i);
        }
        const std::string rows = fmt::format(fmt::runtime(GetParam().rows), x, z);
        return counts(
            fmt::format("system trees\nsize n = {}\nparam g = 9.81\nframe B[0] from N rotate 0 about y\npoint J[0] at O\n"
                        "for i in 1..n\n  param m[i] = 1\n  coord q[i] = 0.1\n  start q[i]' = 0.2\nend\n"
                        "for i in 1..n\n{}end\n{}gravity -g*N.z\nrun for 1 s\n",
                        n, GetParam().body, rows));
    };
    const Counts some = of(32), more = of(64), most = of(128);
    EXPECT_EQ(most.instructions - more.instructions, 2 * (more.instructions - some.instructions));
    EXPECT_LE((most.instructions - more.instructions) / 64, GetParam().per_body);
    EXPECT_LE(most.nodes - more.nodes, 2 * (more.nodes - some.nodes) + 64);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Trees, testing::ValuesIn(k_trees), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace appell
