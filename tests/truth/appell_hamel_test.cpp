// The Appell-Hamel mechanism (003 example 1): the linear and the nonlinear statement of its constraints have one motion, and both
// runs come with the energy histories of figure 9.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/run_files.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

constexpr const char* k_state[] = {"theta", "phi", "x", "y", "z", "u1", "u2", "u3", "u4", "u5"};

// largest difference of a coordinate or speed over all rows, relative to the largest value it has
double difference(const TextRun& a, const TextRun& b) {
    EXPECT_EQ(a.run.rows(), b.run.rows());
    double worst = 0;
    for (const char* name : k_state) {
        const std::size_t i = a.column(name), j = b.column(name);
        double largest = 0, apart = 0;
        for (std::size_t row = 0; row < a.run.rows(); ++row) {
            largest = std::max(largest, std::abs(a.run.at(row, i)));
            apart = std::max(apart, std::abs(a.run.at(row, i) - b.run.at(row, j)));
        }
        worst = std::max(worst, apart / largest);
    }
    return worst;
}

double energy_error(const TextRun& r) {
    double worst = 0;
    for (std::size_t row = 0; row < r.run.rows(); ++row) worst = std::max(worst, std::abs(r.at(row, "dE")));
    return worst;
}

// Ten seconds of a motion without chaos: the errors of some eighty steps add up to few times the tolerance, and shrink with it.
TEST(AppellHamel, LinearAndNonlinearConstraintsGiveOneMotion) {
    for (const double tolerance : {1e-9, 1e-11}) {
        RunOptions options;
        options.rtol = options.atol = tolerance;
        const TextRun linear = run_text(gallery_text("appell_hamel_linear"), options);
        const TextRun nonlinear = run_text(gallery_text("appell_hamel_nonlinear"), options);
        EXPECT_LT(difference(linear, nonlinear), 20 * tolerance) << tolerance;
        // of 361 J, a hundred of which change their kind
        EXPECT_LT(energy_error(linear), 1000 * tolerance);
        EXPECT_LT(energy_error(nonlinear), 1000 * tolerance);
    }
}

// the same without projection, as the source integrates them: its nonminimal equations for both models
TEST(AppellHamel, NonminimalEquationsWithoutStabilization) {
    RunOptions options;
    options.rtol = options.atol = 1e-9;
    options.formulation = "nonminimal";
    options.stabilize = "none";
    const TextRun linear = run_text(gallery_text("appell_hamel_linear"), options);
    const TextRun nonlinear = run_text(gallery_text("appell_hamel_nonlinear"), options);
    EXPECT_LT(difference(linear, nonlinear), 100e-9);
    for (const TextRun* r : {&linear, &nonlinear}) {
        EXPECT_GT(energy_error(*r), 0);
        EXPECT_LT(energy_error(*r), 1000e-9);
    }
}

// figure 9: dE over time is one of the plots of each model
TEST(AppellHamel, EnergyHistoriesArePlots) {
    for (const char* model : {"appell_hamel_linear", "appell_hamel_nonlinear"}) {
        const TextRun r = run_text(gallery_text(model));
        const std::vector<NamedPlot> plots = run_plots(*r.derivation.model, r.run);
        const auto found = std::find_if(plots.begin(), plots.end(), [](const NamedPlot& p) { return p.name.ends_with("_dE"); });
        ASSERT_NE(found, plots.end()) << model;
        EXPECT_NE(found->svg.find("dE [J]"), std::string::npos);
    }
}

}  // namespace
}  // namespace appell
