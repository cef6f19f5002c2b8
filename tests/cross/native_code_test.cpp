// Runs by native code and by the interpreter are the same runs: every row, to the last bit.
#include <gtest/gtest.h>

#include <bit>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

class NativeRun : public testing::TestWithParam<const char*> {};

TEST_P(NativeRun, HasTheRowsOfTheInterpreter) {
    RunOptions options;
    const TextRun native = run_text(gallery_text(GetParam()), options);
    options.native = false;
    const TextRun interpreted = run_text(gallery_text(GetParam()), options);
    EXPECT_EQ(native.run.summary.steps, interpreted.run.summary.steps);
    ASSERT_EQ(native.run.table.size(), interpreted.run.table.size());
    for (std::size_t i = 0; i < native.run.table.size(); ++i) {
        const double a = native.run.table[i], b = interpreted.run.table[i];
        ASSERT_TRUE(std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b)))
            << "entry " << i % native.run.width() << " of row " << i / native.run.width() << ": " << a << " and " << b;
    }
}

INSTANTIATE_TEST_SUITE_P(Gallery, NativeRun,
                         testing::Values("perpendicular_pucks", "rolling_disk", "appell_hamel_nonlinear", "double_pendulum",
                                         "free_body", "bouncing_ball", "rough_rod", "sliding_particle_minimal",
                                         "redundant_constraints", "block_on_vibrating_table", "marle_line"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace appell
