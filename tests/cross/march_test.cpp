// Runs that march (sim/march.hpp) against the loop of Stretch alone: every row and every number of the summary to the last bit,
// over the gallery, for all widths of registers, and for runs that meet whatever is not ordinary along their way.
#include "lanes/lane_march.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "lanes/crew.hpp"
#include "pipeline/lower_motion.hpp"
#include "sim/simulate.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

// marches a run without others, in one lane of eight
class Lonely final : public Neighbours {
public:
    Lonely(const Motion& motion, const LaneKernels& kernels) : march_(motion, kernels) {}
    [[nodiscard]] bool serves(const Program&) const override { return false; }
    [[nodiscard]] bool serves_stages(const Program&) const override { return false; }
    void evaluate(Request& request) override { request.done = false; }
    void evaluate(StageRequest& request) override { request.done = false; }
    [[nodiscard]] bool marches(const Motion& motion) const override { return march_.is_for(motion); }
    void march(March& march) override {
        if (!march_.seat(march)) return;
        std::array<March*, k_lanes> left;
        EXPECT_EQ(march_.go(left), 1u);
        EXPECT_EQ(left[0], &march);
        steps += march.steps;
    }
    std::size_t steps = 0;

private:
    LaneMarch march_;
};

struct Told {
    SimulateSummary summary;
    std::vector<double> rows;
};

Told told(Motion& motion, const std::vector<double>& x0, const SimulateOptions& options, Neighbours* neighbours) {
    Told out;
    motion.neighbours = neighbours;
    out.summary = simulate(motion, x0, options, [&](double t, std::span<const double> row) {
        out.rows.push_back(t);
        out.rows.insert(out.rows.end(), row.begin(), row.end());
    });
    motion.neighbours = nullptr;
    return out;
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        different += std::bit_cast<std::uint64_t>(a[i]) == std::bit_cast<std::uint64_t>(b[i]) || (a[i] == 0 && b[i] == 0) ||
                             (std::isnan(a[i]) && std::isnan(b[i]))
                         ? 0
                         : 1;
    EXPECT_EQ(different, 0u) << what;
}

void expect_same(const Told& a, const Told& b, const std::string& what) {
    const SimulateSummary &s = a.summary, &r = b.summary;
    EXPECT_EQ(name(s.reason), name(r.reason)) << what;
    EXPECT_EQ(s.steps, r.steps) << what;
    EXPECT_EQ(s.rejected, r.rejected) << what;
    EXPECT_EQ(s.evaluations, r.evaluations) << what;
    EXPECT_EQ(s.projections, r.projections) << what;
    EXPECT_EQ(s.stiff_steps, r.stiff_steps) << what;
    EXPECT_EQ(s.rank, r.rank) << what;
    EXPECT_EQ(s.loss, r.loss) << what;
    expect_same_bits({s.t_end, s.stiff_from, s.position_residual, s.velocity_residual, s.smallest_pivot, s.smallest_pivot_at},
                     {r.t_end, r.stiff_from, r.position_residual, r.velocity_residual, r.smallest_pivot, r.smallest_pivot_at},
                     what);
    expect_same_bits(s.x_end, r.x_end, what);
    expect_same_bits(a.rows, b.rows, what);
}

struct Lowered {
    Derivation derivation;
    Run plan;
    LoweredMotion lowered;
};

std::optional<Lowered> lowered(const std::string& text) {
    Lowered out{derive_text(text), {}, {}};
    if (!out.derivation.ok()) return std::nullopt;
    out.plan = planned_run(*out.derivation.model, {});
    Result<LoweredMotion> found =
        lower_motion(*out.derivation.dynamics, {.from = out.plan.options.t0,
                                                .for_run = true,
                                                .drift = out.plan.drift,
                                                .gains = out.plan.gains,
                                                .step = out.plan.options.step,
                                                .whole = out.derivation.whole ? &*out.derivation.whole : nullptr});
    if (!found.ok()) return std::nullopt;
    out.lowered = std::move(*found);
    return out;
}

// how many steps were taken in lanes; what the run alone tells
std::size_t compare(const std::string& text, const std::string& what, const SimulateOptions& options,
                    SimulateSummary* summary = nullptr) {
    std::optional<Lowered> model = lowered(text);
    if (!model || !LaneMarch::possible(model->lowered.motion)) return 0;
    Motion& motion = model->lowered.motion;
    const Told alone = told(motion, model->lowered.x0, options, nullptr);
    if (summary != nullptr) *summary = alone.summary;
    std::size_t steps = 0;
    for (const LaneKernels* const kernels : all_lane_kernels()) {
        Lonely lonely(motion, *kernels);
        expect_same(alone, told(motion, model->lowered.x0, options, &lonely),
                    what + ", " + std::to_string(kernels->in_register) + " in a register");
        EXPECT_TRUE(steps == 0 || steps == lonely.steps) << what;
        steps = lonely.steps;
    }
    return steps;
}

#if defined(__x86_64__) && defined(__unix__)

TEST(March, EveryGalleryModelRunsAsItDoesAlone) {
    std::size_t models = 0, steps = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        if (entry.path().extension() != ".appell") continue;
        const std::string name = entry.path().stem();
        const Derivation derivation = derive_text(gallery_text(name));
        if (!derivation.ok() || derivation.model->switches()) continue;
        SimulateOptions options = planned_run(*derivation.model, {}).options;
        if (options.integrator != IntegratorKind::dopri5) continue;
        options.max_steps = 300;
        options.every = std::abs(options.t1 - options.t0) / 7;
        const std::size_t marched = compare(gallery_text(name), name, options);
        models += marched > 0 ? 1 : 0;
        steps += marched;
    }
    // most of the gallery, most of their steps
    EXPECT_GT(models, 40u);
    EXPECT_GT(steps, 40u * 100);
}

TEST(March, StepsOfEveryKind) {
    const std::string particle = "system s\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\n";
    const std::string ring = "constraint ring: x^2 + y^2 = 1\nstart y' = 1\n";
    SimulateOptions options;
    options.t1 = 20;
    options.every = 5;
    options.rtol = options.atol = 1e-9;
    // ordinary ones, forwards and backwards
    EXPECT_GT(compare(particle + ring + "gravity -9.81*N.y\nrun for 20 s", "ring", options), 100u);
    options.t1 = -20;
    EXPECT_GT(compare(particle + ring + "gravity -9.81*N.y\nrun for 20 s", "ring, backwards", options), 100u);
    options.t1 = 20;
    // shortened again and again
    SimulateSummary alone;
    EXPECT_GT(compare(particle + "spring P O stiffness 1 + 1000*sin(t)^40\nrun for 20 s", "kicks", options, &alone), 100u);
    EXPECT_GT(alone.rejected, 10u);
    options.max_step = 0.01;
    EXPECT_GT(compare(particle + ring + "run for 20 s", "bound", options), 100u);
    options.max_step = 0;
    // kept short by stability
    options.rtol = options.atol = 1e-4;
    EXPECT_GT(compare(particle + "start x' = 1\nspring P O stiffness 1\nforce on P = -1000*vel(P)\nrun for 20 s", "stiff",
                      options, &alone),
              100u);
    EXPECT_GT(alone.stiff_steps, 100u);
    // comes to rest, and to where the rows vanish, and to where the rate has no value
    options.rtol = options.atol = 1e-7;
    compare(particle + ring + "force on P = -vel(P)\nrun for 20 s", "rest", options);
    compare(particle + "constraint c: x'*y' = 0\nstart x' = -1\nforce on P = 0.1*N.x\nrun for 20 s", "vanishing", options,
            &alone);
    EXPECT_EQ(alone.reason, EndReason::rank_loss);
    compare(particle + ring + "force on P = log(3 - t)*N.y\nrun for 20 s", "without a value", options, &alone);
    EXPECT_EQ(alone.reason, EndReason::not_finite);
    // rows close to each other are written without a march
    options.every = 0.001;
    EXPECT_EQ(compare(particle + ring + "run for 20 s", "close rows", options), 0u);
}

TEST(March, ManyMarchTogether) {
    std::optional<Lowered> model = lowered(gallery_text("appell_hamel_linear"));
    ASSERT_TRUE(model.has_value());
    SimulateOptions options = model->plan.options;
    options.every = 3;
    constexpr std::size_t k_runs = 40;
    std::vector<Motion> motions(k_runs, model->lowered.motion);
    std::vector<std::vector<double>> starts(k_runs, model->lowered.x0);
    std::vector<Told> alone, together(k_runs);
    for (std::size_t i = 0; i < k_runs; ++i) {
        for (double& x : starts[i]) x *= 1 + 0.01 * static_cast<double>(i);
        alone.push_back(told(motions[i], starts[i], options, nullptr));
    }
    Crew crew(model->lowered.motion);
    std::size_t next = 0;
    crew.run(k_runs, [&] {
        for (std::size_t i = next++; i < k_runs; i = next++) together[i] = told(motions[i], starts[i], options, &crew);
    });
    for (std::size_t i = 0; i < k_runs; ++i) expect_same(alone[i], together[i], "run " + std::to_string(i));
}

#endif

}  // namespace
}  // namespace appell
