// The work of a derivation, counted: every construction that a rule answers made no node, so that the rules used per node say how
// often the same things are built again.
#include <gtest/gtest.h>

#include <numeric>

#include "dynam/constrained_dynamics.hpp"
#include "support/n_link_pendulum.hpp"

namespace appell {
namespace {

double rules_per_node(int links) {
    auto model = build_n_link_pendulum(links);
    const auto dynamics = derive_dynamics(std::make_shared<const Model>(std::move(*model)));
    EXPECT_TRUE(dynamics.ok());
    const auto& uses = dynamics->graph().rule_uses();
    const auto sum = std::accumulate(uses.begin(), uses.end(), std::uint64_t{0});
    EXPECT_GT(sum, 0u);
    return static_cast<double>(sum) / static_cast<double>(dynamics->graph().size());
}

// M has n^2 entries and that many nodes; what is done once per link, and not once per entry, makes the rate fall
TEST(Derivation, WorkGrowsNoFasterThanTheNodes) {
    double before = rules_per_node(5);
    for (const int n : {10, 20, 50, 100, 200}) {
        const double now = rules_per_node(n);
        EXPECT_LE(now, before) << n << " links";
        before = now;
    }
}

}  // namespace
}  // namespace appell
