// The dependent entries of a reduced state, where few rows give them: so many instructions before those of the rate, for the
// corrections of all levels, without the iteration outside it.
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/lower_motion.hpp"
#include "sim/motion_rate.hpp"
#include "sim/reduction.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

struct Work {
    const char* model;
    std::size_t instructions;        // at most, beside those of the rate
    std::size_t stage_instructions;  // at most, all in all
};

class WrittenRateOf : public testing::TestWithParam<Work> {};

TEST_P(WrittenRateOf, AreOneShortProgram) {
    Derivation derivation = derive_text(gallery_text(GetParam().model));
    ASSERT_TRUE(derivation.ok());
    LowerMotionOptions options;
    options.for_run = true;
    options.formulation = Formulation::minimal;
    Result<LoweredMotion> lowered = lower_motion(*derivation.dynamics, options);
    ASSERT_TRUE(lowered.ok());
    const Motion& motion = lowered->motion;
    ASSERT_TRUE(motion.reduction && motion.reduction->written);
    const WrittenRate& written = *motion.reduction->written;
    EXPECT_LE(written.program.instructions.size(), motion.rate.instructions.size() + GetParam().instructions);

    // from the start, whose independent entries are moved a little, they alone find the dependent ones
    std::vector<double> x = lowered->x0;
    x.resize(motion.carried());
    MotionRate rate(motion);
    WrittenSolution solution(motion, written, rate);
    ASSERT_TRUE(solution.start(0, x, 1e-3, 1e-3));
    solution.set_guess(0, x, std::vector<double>(x.size(), 0.0));
    std::vector<double> y;
    for (const std::size_t entry : motion.reduction->independent) y.push_back(x[entry] + 1e-3);
    y.resize(y.size() + motion.works.size());
    ASSERT_TRUE(solution.solve(0, y));
    solution.take_state(x);

    // a stage of a step is a shorter program still, with the same numbers
    EXPECT_LE(written.stage.instructions.size(), GetParam().stage_instructions);
    if (const NativeEvaluation native = solution.native(); native.function != nullptr) {
        std::vector<double> of_rate(y.size()), of_stage(y.size());
        solution.take_rate(of_rate);
        native.slots[0] = 0;
        ASSERT_TRUE(native(y.data(), of_stage.data()));
        EXPECT_EQ(of_rate, of_stage);
        // and it refuses what the rate does: a state that is far from the guess, on the other side of where rows vanish
        std::vector<double> far = y;
        for (double& entry : far) entry = -20 * entry;
        EXPECT_EQ(native(far.data(), of_stage.data()), solution.solve(0, far));
    } else {
        EXPECT_FALSE(written.stage.native);
    }
    for (std::size_t k = 0; k < motion.reduction->independent.size(); ++k) EXPECT_EQ(x[motion.reduction->independent[k]], y[k]);
    for (const DependentRows* rows : {&motion.reduction->position, &motion.reduction->velocity}) {
        if (rows->count == 0) continue;
        MotionProgram program(motion, rows->program);
        ASSERT_EQ(program.run(0, x).status, EvalStatus::ok);
        for (const double scaled : program.output("scaled")) EXPECT_LT(std::abs(scaled), 1e-15);
    }
}

INSTANTIATE_TEST_SUITE_P(Gallery, WrittenRateOf,
                         testing::Values(Work{"perpendicular_pucks", 25, 95}, Work{"appell_hamel_nonlinear", 80, 110}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace appell
