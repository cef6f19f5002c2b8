// Every model of the gallery: its claims hold, its misprints fail, all formulations agree, it runs. The claims are the sources'
// equations, so that this is where the engine meets the papers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

std::vector<std::string> gallery_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery"))
        if (entry.path().extension() == ".appell") names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

class GalleryModel : public ::testing::TestWithParam<std::string> {};

TEST_P(GalleryModel, KeepsItsWord) {
    Derivation d = derive_text(gallery_text(GetParam()));
    const auto found = check(d);
    ASSERT_TRUE(found.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
    EXPECT_EQ(found->claims.claims.size(), d.model->claims.size());
    for (const ClaimResult& claim : found->claims.claims) EXPECT_EQ(claim.holds, !claim.misprint) << claim.label;
    // the states have pivots above 1e-6: eleven digits of sixteen, and far more than twenty-five of fifty
    const Certificate& c = found->certificate;
    EXPECT_TRUE(c.enough) << c.states;
    for (const FormulationAgreement& f : c.formulations)
        if (f.not_applicable.empty()) {
            // B'B of ukp squares the condition of the rows
            const double bar = f.name == "ukp" ? std::max(1e-11, 1e-15 / (c.least_pivot * c.least_pivot)) : 1e-11;
            EXPECT_LT(std::max(f.acceleration, f.force), bar) << f.name;
            EXPECT_LT(std::max(f.acceleration_wide, f.force_wide), 1e-25) << f.name;
        }
}

// opaque functions are for claims only, and stop a run by name
TEST_P(GalleryModel, Runs) {
    const std::string text = gallery_text(GetParam());
    Derivation d = derive_text(text);
    ASSERT_TRUE(d.ok());
    const auto result = run(d, {});
    if (text.find(" opaque") != std::string::npos) {
        EXPECT_TRUE(d.diagnostics.has(Code::E0706));
        return;
    }
    ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
    EXPECT_LT(result->summary.position_scaled, 1e-12);
    EXPECT_LT(result->summary.velocity_scaled, 1e-12);
    EXPECT_LT(result->summary.steps, 20'000u);  // a tenth of that is usual; redundant rows must not shorten the steps
}

INSTANTIATE_TEST_SUITE_P(All, GalleryModel, ::testing::ValuesIn(gallery_names()), [](const auto& at) { return at.param; });

// counts of 002 for N points, in space and in the plane
struct Family {
    std::string model;
    int n;
    std::size_t rank;
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.model << " " << family.n; }

class GalleryFamily : public ::testing::TestWithParam<Family> {};

TEST_P(GalleryFamily, CountsAsTheSourceDoes) {
    const auto& [model, n, rank] = GetParam();
    ReadOptions options;
    options.set["n"] = n;
    Derivation d = derive_text(gallery_text(model), options);
    const auto found = check(d);
    ASSERT_TRUE(found.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
    EXPECT_EQ(found->rank, rank);
    EXPECT_EQ(found->freedoms, found->speeds - rank);
}

std::vector<Family> families() {
    std::vector<Family> out;
    for (const int n : {2, 3, 5, 50}) {
        const auto k = static_cast<std::size_t>(n);
        out.push_back({"equal_speeds", n, k - 1});
        out.push_back({"equal_speeds_planar", n, k - 1});
        out.push_back({"parallel_velocities", n, 2 * (k - 1)});
        out.push_back({"parallel_velocities_planar", n, k - 1});
        out.push_back({"perpendicular_chain", n, k - 1});
        out.push_back({"perpendicular_chain_planar", n, k - 1});
    }
    return out;
}

INSTANTIATE_TEST_SUITE_P(Families, GalleryFamily, ::testing::ValuesIn(families()),
                         [](const auto& at) { return at.param.model + "_" + std::to_string(at.param.n); });

}  // namespace
}  // namespace appell
