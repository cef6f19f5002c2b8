// Claims by the thousand are judged some at a time: each gets the verdict that it has by itself.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

TEST(ManyClaims, EachIsJudgedAsItIs) {
    std::mt19937 random(11);
    const std::size_t count = 2500;
    std::set<std::size_t> wrong, conditional;
    std::string text =
        "system m\nparam k = 4\ncoord x = 1, y = 0.5\nparticle P mass 1 at O + x*N.x + y*N.y\nspring P O stiffness k\n";
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t draw = std::uniform_int_distribution<std::size_t>(0, 199)(random);
        if (draw == 0) wrong.insert(i);
        if (draw % 2 == 1) conditional.insert(i);
        const double n = static_cast<double>(i % 7) + 1;
        // (x + n)^2 = x^2 + 2 n x + n^2, or with another last term; of vectors three equations each
        const std::string last = fmt::format("{}", draw == 0 ? n * n + 1 : n * n);
        text += i % 3 == 0 ? fmt::format("misprint \"c{0}\": (x + {1})*N.x + y*N.y = x*N.x + {2}*N.x\n", i, n, n)
                           : fmt::format("claim \"c{}\": (x + {})^2 = x^2 + {}*x + {}{}\n", i, n, 2 * n, last,
                                         conditional.contains(i) ? " where x > 1" : "");
        if (i % 3 == 0) wrong.erase(i), conditional.erase(i);
    }
    Derivation d = derive_text(text + "run for 1\n");
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const auto found = check(d);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->claims.claims.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const ClaimResult& claim = found->claims.claims[i];
        EXPECT_EQ(claim.label, fmt::format("c{}", i));
        EXPECT_TRUE(claim.tested) << claim.label;
        EXPECT_EQ(claim.holds, i % 3 != 0 && !wrong.contains(i)) << claim.label << " " << claim.text;
        EXPECT_EQ(claim.states < found->claims.claims[0].states, conditional.contains(i)) << claim.label;
    }
}

}  // namespace
}  // namespace appell
