// A run that is stopped and resumed, once or many times, is the run that was never stopped: rows, steps and plots to the last
// bit. What the state holds goes through its file each time.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "report/run_files.hpp"
#include "report/run_state.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

namespace fs = std::filesystem;

struct Kept final : RowConsumer {
    std::vector<std::vector<double>> rows;
    std::size_t visible = 0;
    void begin(const Run& run) override { visible = run.layout.visible; }
    void row(double t, std::span<const double> columns) override {
        rows.emplace_back(1, t);
        rows.back().insert(rows.back().end(), columns.begin(), columns.end());
    }
};

class Resumed : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("appell_resumed_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Checkpoint through_a_file(const Checkpoint& checkpoint) const {
        std::ofstream(folder_ / "state.json") << run_state_json({{}, "", "", "", {{"m", "text"}}, checkpoint.values()}, "1");
        Result<RunState> state = read_run_state(folder_, "1");
        EXPECT_TRUE(state.ok());
        return Checkpoint(state->numbers);
    }

    void compare(const std::string& text, RunOptions options, int stops) const {
        Derivation whole_derivation = derive_text(text);
        Kept whole;
        RunHooks hooks;
        hooks.rows = &whole;
        const auto expected = run(whole_derivation, options, hooks);
        ASSERT_TRUE(expected.has_value()) << render(whole_derivation.diagnostics, whole_derivation.sources);
        const std::size_t steps = expected->summary.steps;
        ASSERT_GT(steps, 10u);

        std::optional<Checkpoint> state;
        std::vector<std::vector<double>> before;
        for (int stop = 1; stop <= stops + 1; ++stop) {
            Derivation d = derive_text(text);
            Kept kept;
            std::optional<Checkpoint> saved;
            std::size_t given = 0, calls = 0;
            const std::size_t stop_after =
                stop > stops ? steps + 10 : std::max<std::size_t>(1, steps / static_cast<std::size_t>(stops + 1));
            RunHooks part;
            part.rows = &kept;
            part.progress = [&](double) { return ++calls <= stop_after; };
            part.resumable.save = [&](const Checkpoint& c) { saved = through_a_file(c); };
            part.resumable.from = state;
            part.written_row = [&](std::span<double> row) {
                if (given == before.size()) return false;
                std::copy_n(before[given++].begin(), row.size(), row.begin());
                return true;
            };
            const auto result = run(d, options, part);
            ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
            EXPECT_EQ(result->summary.reason, stop > stops ? EndReason::finished : EndReason::cancelled);
            EXPECT_EQ(saved.has_value(), stop <= stops);
            // an empty state, of a run with modes or conditions in laws: it begins anew
            state = saved && !saved->values().empty() ? saved : std::nullopt;
            before = kept.rows;
            if (stop <= stops) continue;
            EXPECT_EQ(kept.rows, whole.rows);
            const SimulateSummary &a = expected->summary, &b = result->summary;
            EXPECT_EQ(a.steps, b.steps);
            EXPECT_EQ(a.rejected, b.rejected);
            EXPECT_EQ(a.evaluations, b.evaluations);
            EXPECT_EQ(a.projections, b.projections);
            EXPECT_EQ(a.rows, b.rows);
            EXPECT_EQ(a.velocity_scaled, b.velocity_scaled);
            EXPECT_EQ(a.smallest_pivot, b.smallest_pivot);
            EXPECT_EQ(a.x_end, b.x_end);
            EXPECT_EQ(expected->energy.largest_error, result->energy.largest_error);
            const auto plots_a = run_plots(*whole_derivation.model, *expected), plots_b = run_plots(*d.model, *result);
            ASSERT_EQ(plots_a.size(), plots_b.size());
            for (std::size_t i = 0; i < plots_a.size(); ++i) EXPECT_EQ(plots_a[i].svg, plots_b[i].svg);
        }
    }

    fs::path folder_;
};

TEST_F(Resumed, IsTheSameRun) {
    for (const char* name : {"double_pendulum", "perpendicular_pucks", "rolling_disk", "vibrating_incline", "free_body",
                             "sliding_particle", "redundant_constraints", "marle_plane", "rough_rod"}) {
        SCOPED_TRACE(name);
        compare(gallery_text(name), {}, 1);
        compare(gallery_text(name), {}, 5);
    }
}

TEST_F(Resumed, WithAReducedState) {
    RunOptions minimal;
    minimal.formulation = "minimal";
    for (const char* name : {"perpendicular_pucks", "rolling_disk", "vibrating_incline", "carriage_on_turntable"}) {
        SCOPED_TRACE(name);
        compare(gallery_text(name), minimal, 3);
    }
}

TEST_F(Resumed, WithRowsOfAllKinds) {
    RunOptions options;
    options.every = 0;
    options.at = {0.3, 0.7, 5.5};
    compare(gallery_text("double_pendulum"), options, 4);
    options.every.reset();
    options.from = 3;
    options.until = -3;
    options.at = {2.5, -2.9};
    compare(gallery_text("double_pendulum"), options, 4);
    options.stabilize = "none";
    compare(gallery_text("rolling_disk"), options, 4);
}

TEST_F(Resumed, FromAnotherRunIsRefused) {
    std::optional<Checkpoint> saved;
    std::vector<std::vector<double>> rows;
    const auto stopped = [&](const std::string& text) {
        Derivation d = derive_text(text);
        Kept kept;
        RunHooks hooks;
        hooks.rows = &kept;
        hooks.progress = [](double t) { return t < 1; };
        hooks.resumable.save = [&](const Checkpoint& c) { saved = through_a_file(c); };
        (void)run(d, {}, hooks);
        rows = kept.rows;
    };
    const auto refused = [&](const std::string& text) {
        Derivation d = derive_text(text);
        RunHooks hooks;
        std::size_t given = 0;
        hooks.resumable.from = saved;
        hooks.written_row = [&](std::span<double> row) {
            if (given == rows.size() || rows[given].size() < row.size()) return false;
            std::copy_n(rows[given++].begin(), row.size(), row.begin());
            return true;
        };
        (void)run(d, {}, hooks);
        return d.diagnostics.has(Code::E0824);
    };
    stopped(gallery_text("double_pendulum"));
    ASSERT_TRUE(saved.has_value());
    EXPECT_FALSE(refused(gallery_text("double_pendulum")));
    EXPECT_TRUE(refused(gallery_text("skate")));
    rows[3][1] += 1e-15;  // a row that this run did not write
    rows[3][5] = 7;
    EXPECT_TRUE(refused(gallery_text("double_pendulum")));
    rows.resize(3);
    EXPECT_TRUE(refused(gallery_text("double_pendulum")));
    // numbers that do not fit
    stopped(gallery_text("double_pendulum"));
    Checkpoint::Values numbers = saved->values();
    numbers["integrator.x"].push_back(1);
    saved = Checkpoint(numbers);
    EXPECT_TRUE(refused(gallery_text("double_pendulum")));
}

TEST_F(Resumed, StateFilesThatAreNone) {
    const auto code = [&] { return read_run_state(folder_, "1").diagnostics.has(Code::E0824); };
    EXPECT_TRUE(code());
    for (const char* text : {"", "{", "{\"schema\": 1}", "[]",
                             R"({"schema":1,"appell":"1","arguments":[],"sources":[{"name":"a","text":"b"}],"numbers":{}})",
                             R"({"schema":2,"appell":"1","hash":"0","run":{}})", R"({"schema":2,"appell":"1","run":{}})"}) {
        std::ofstream(folder_ / "state.json") << text;
        EXPECT_TRUE(code()) << text;
    }
    const RunState state{{{"--set", "k=5"}}, "appell run a", "a", "", {{"a", "b"}}, {{"x", {NAN, -INFINITY, 1e-300}}, {"y", {}}}};
    std::ofstream(folder_ / "state.json") << run_state_json(state, "2");
    EXPECT_TRUE(code());  // of another version
    std::ofstream(folder_ / "state.json") << run_state_json({{}, "", "", "", {}, {}}, "1");
    EXPECT_TRUE(code());  // no model
    std::ofstream(folder_ / "state.json") << run_state_json(state, "1");
    const Result<RunState> good = read_run_state(folder_, "1");
    ASSERT_TRUE(good.ok());
    EXPECT_TRUE(std::isnan(good->numbers.at("x")[0]));
    EXPECT_EQ(good->numbers.at("x")[2], 1e-300);
    EXPECT_TRUE(good->numbers.at("y").empty());
    EXPECT_EQ(good->options, state.options);
}

}  // namespace
}  // namespace appell
