// Quantities of the dynamics in outputs: what an output is does not depend on those that were asked for before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "dynam/quantities.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

constexpr std::size_t k_small = 2500;  // bytes of a model

TEST(NamedQuantities, OutputsAreTheSameAloneAndAfterOthers) {
    std::mt19937 random(3);
    std::size_t compared = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(APPELL_SOURCE_DIR) + "/gallery")) {
        const std::string text = gallery_text(entry.path().stem().string());
        if (entry.path().extension() != ".appell" || text.size() > k_small) continue;
        const Derivation derivation = derive_text(text);
        if (!derivation.ok()) continue;
        const ConstrainedDynamics& d = *derivation.dynamics;
        std::vector<NodeId> written;
        for (const Output& output : d.model->outputs)
            if (!d.graph().is_vector(output.value)) written.push_back(output.value);
        for (const Claim& claim : d.model->claims)
            for (const Claim::Equation& e : claim.equations)
                if (!claim.matrix && !d.graph().is_vector(e.left)) written.insert(written.end(), {e.left, e.right});
        std::shuffle(written.begin(), written.end(), random);
        Diagnostics diagnostics;
        Quantities shared(d, diagnostics);
        for (const NodeId one : written) {
            const NodeId together = shared.scalar(one, {});
            Quantities alone(d, diagnostics);
            const NodeId own = alone.scalar(one, {});
            // unknowns of a solve have names of their own each time
            if (!alone.solves().empty()) continue;
            EXPECT_EQ(together, own) << text.substr(0, 80);
            ++compared;
        }
    }
    EXPECT_GT(compared, 50u);
}

}  // namespace
}  // namespace appell
