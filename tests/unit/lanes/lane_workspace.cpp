// Programs evaluated in lanes: every lane has what a workspace of its own has, to the last bit, whatever its neighbours' numbers
// are, in registers of every width that is here; and what needs care is left to the workspace.
#include "lanes/lane_workspace.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>

#include <array>
#include <bit>
#include <cmath>

#include "support/random_expr.hpp"
#include "tape/closed_solve.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using test::RandomExpr;

// zeros of either sign are the same number
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a == 0 && b == 0); }

// a program with a solve between random expressions, all inputs streamed but the first two and parameters, the last
struct Random {
    Graph g;
    RandomExpr random;
    Program program;
    std::vector<SymbolId> inputs;

    Random(std::uint64_t seed, bool closed) : random(g, seed, {.symbols = 6, .parameters = seed % 3}) {
        inputs = random.symbols();
        ConstrainedSolve solve;
        const std::uint32_t n = 3 + seed % 4, m = seed % 4;
        solve.M.rows = solve.M.columns = solve.A.columns = n;
        solve.A.rows = m;
        for (std::uint32_t i = 0; i < n; ++i) {
            // blocks of M, in some order
            if (i > 0 && seed % 5 != i) solve.M.entries.push_back({i, i - 1, g.make(Op::Sin, random.next(8))});
            solve.M.entries.push_back({i, i, g.add(g.constant(4), g.make(Op::Cos, random.next(8)))});
            solve.f.push_back(random.next(12));
            solve.x.push_back(g.add_symbol("a" + std::to_string(i), SymbolKind::other));
        }
        for (std::uint32_t i = 0; i < m; ++i) {
            for (std::uint32_t j = 0; j < n; ++j)
                if (j >= i || seed % 3 == 0) solve.A.entries.push_back({i, j, random.next(6)});
            solve.b.push_back(random.next(10));
            solve.lambda.push_back(g.add_symbol("l" + std::to_string(i), SymbolKind::other));
        }
        if (closed) add_closed_form(g, solve);
        std::vector<NodeId> roots;
        for (const std::vector<SymbolId>* list : {&solve.x, &solve.lambda})
            for (const SymbolId s : *list) {
                random.add(s);
                roots.push_back(g.symbol_node(s));
            }
        for (int i = 0; i < 3; ++i) roots.push_back(random.next(25));
        program = lower_program(g, {inputs, {solve}, {{"values", roots}}});
        program.stream_begin = 2;
        program.stream_end = static_cast<Slot>(inputs.size() - seed % 3);
    }
    [[nodiscard]] std::vector<double> values() {
        const std::vector<double> all = random.values();
        std::vector<double> out;
        for (const SymbolId s : inputs) out.push_back(all[s.index()]);
        return out;
    }
};

struct Caller {
    std::vector<double> inputs, outputs, rows, directions;
    Neighbours::Request request;

    Caller(const Program& program, std::vector<double> values) : inputs(std::move(values)) {
        outputs.assign(program.output_slots.size(), -1);
        rows.assign(program.solves[0].rows * program.solves[0].size, -1);
        directions = rows;
        request = {&program, inputs.data(), inputs.data() + program.stream_begin, outputs.data(), rows.data(), directions.data()};
    }
};

void expect_own_numbers(const Program& program, const Caller& c, const std::string& where) {
    Workspace<double> own(program);
    std::copy(c.inputs.begin(), c.inputs.end(), own.inputs().begin());
    const EvalReport expected = own.run_interpreted();
    EXPECT_EQ(expected.status, EvalStatus::ok) << where;
    EXPECT_EQ(c.request.report.rank, expected.rank) << where;
    EXPECT_EQ(c.request.report.weakest_row, expected.weakest_row) << where;
    EXPECT_TRUE(same(c.request.report.smallest_pivot, expected.smallest_pivot)) << where;
    EXPECT_FALSE(expected.redundant || expected.bordered) << where;
    for (std::size_t i = 0; i < c.outputs.size(); ++i)
        EXPECT_TRUE(same(c.outputs[i], own.outputs()[i])) << where << ", output " << i;
    if (!program.solves[0].closed.empty()) return;
    for (std::size_t i = 0; i < c.rows.size(); ++i) EXPECT_TRUE(same(c.rows[i], own.rows(0)[i])) << where << ", row entry " << i;
    for (std::size_t i = 0; i < c.directions.size() && program.solves[0].rows > 1; ++i)
        EXPECT_TRUE(same(c.directions[i], own.directions(0)[i])) << where << ", direction entry " << i;
}

TEST(LaneWorkspace, EachLaneHasItsOwnNumbersToTheLastBit) {
    std::size_t done = 0, left = 0;
    for (const LaneKernels* const kernels : all_lane_kernels())
        for (std::uint64_t seed = 1; seed <= 80; ++seed)
            for (const bool closed : {false, true}) {
                Random r(seed, closed);
                ASSERT_TRUE(LaneWorkspace::possible(r.program));
                LaneWorkspace lanes(r.program, *kernels, seed % 4 != 0);
                for (const std::size_t count : {k_lanes, std::size_t(1), std::size_t(5), k_lanes}) {
                    std::vector<Caller> callers;
                    for (std::size_t k = 0; k < count; ++k) callers.emplace_back(r.program, r.values());
                    std::vector<Neighbours::Request*> requests;
                    for (Caller& c : callers) {
                        c.request.inputs = c.inputs.data();
                        c.request.stream = c.inputs.data() + r.program.stream_begin;
                        requests.push_back(&c.request);
                    }
                    lanes.run(requests);
                    for (const Caller& c : callers) {
                        ++(c.request.done ? done : left);
                        if (c.request.done) expect_own_numbers(r.program, c, "seed " + std::to_string(seed));
                    }
                }
            }
    // mostly it serves
    EXPECT_GT(done, 20 * left);
}

// a method of three stages, with a node of its own and a coefficient that is zero
constexpr std::size_t k_stages = 3;
constexpr std::array<double, k_stages - 1> k_nodes{0.3, 1};
constexpr std::array<std::array<double, k_stages>, k_stages> k_rows{{{0.3}, {-0.7, 1.7}, {0.2, 0, 0.8}}};
constexpr std::array<std::array<double, k_stages>, k_stages> k_other_rows = k_rows;

struct Stepper {
    std::vector<double> inputs, x, last_stage, end, end_rate;
    std::array<std::vector<double>, k_stages> rates;
    std::array<double*, k_stages> places{};
    Neighbours::StageRequest request;

    void ask(const Program& program, double t, double h, const double* rows) {
        for (std::vector<double>* v : {&last_stage, &end, &end_rate, &rates[1], &rates[2]}) v->assign(x.size(), -1);
        for (std::size_t j = 0; j < k_stages; ++j) places[j] = rates[j].data();
        request = {&program,
                   inputs.data(),
                   {k_stages, k_nodes.data(), rows, t, h, t + h, x.data(), places.data(), last_stage.data(), end.data()},
                   end_rate.data()};
    }
};

void expect_own_stages(const Program& program, const Stepper& s, const std::string& where) {
    Workspace<double> own(program);
    std::copy(s.inputs.begin(), s.inputs.end(), own.inputs().begin());
    const StepStages& stages = s.request.stages;
    std::vector<std::vector<double>> rates{s.rates[0]};
    std::vector<double> state(s.x.size());
    const auto expect_same = [&](const std::vector<double>& found, std::span<const double> expected, const char* what) {
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same(found[i], expected[i])) << where << ", " << what << i;
    };
    EvalReport report;
    for (std::size_t stage = 1; stage <= k_stages; ++stage) {
        for (std::size_t i = 0; i < state.size(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < stage; ++j)
                if (k_rows[stage - 1][j] != 0) sum += k_rows[stage - 1][j] * stages.h * rates[j][i];
            state[i] = s.x[i] + sum;
        }
        own.inputs()[0] = stage == 1 ? stages.t + stages.h * k_nodes[0] : stages.t_end;
        std::copy_n(state.begin(), program.stream_end - program.stream_begin, own.inputs().begin() + program.stream_begin);
        report = own.run_interpreted();
        EXPECT_EQ(report.status, EvalStatus::ok) << where;
        rates.emplace_back(own.outputs().begin(), own.outputs().end());
        expect_same(stage == k_stages ? s.end_rate : s.rates[stage], own.outputs(), "rate ");
        if (stage + 1 >= k_stages) expect_same(stage == k_stages ? s.end : s.last_stage, state, "state ");
    }
    EXPECT_EQ(s.request.report.rank, report.rank) << where;
    EXPECT_EQ(s.request.report.weakest_row, report.weakest_row) << where;
    EXPECT_TRUE(same(s.request.report.smallest_pivot, report.smallest_pivot)) << where;
}

TEST(LaneWorkspace, StagesAreTheEvaluationsOneByOneToTheLastBit) {
    std::size_t done = 0, left = 0;
    for (const LaneKernels* const kernels : all_lane_kernels())
        for (std::uint64_t seed = 1; seed <= 40; ++seed)
            for (const bool closed : {false, true}) {
                Random r(seed, closed);
                LaneWorkspace lanes(r.program, *kernels, seed % 4 != 0);
                for (const std::size_t count : {k_lanes, std::size_t(1), std::size_t(5)}) {
                    std::vector<Stepper> steppers(count);
                    std::vector<Neighbours::StageRequest*> requests;
                    for (Stepper& s : steppers) {
                        s.inputs = r.values();
                        const std::vector<double> start = r.values(), rate = r.values();
                        for (std::size_t i = 0; i < r.program.output_slots.size(); ++i) {
                            s.x.push_back(start[i % start.size()]);
                            s.rates[0].push_back(rate[i % rate.size()]);
                        }
                        // one with another method: it is not taken along
                        const bool other = &s == &steppers[1 % count] && count > 1;
                        s.ask(r.program, s.inputs[0], 0.01 + 0.001 * static_cast<double>(requests.size()),
                              other ? k_other_rows.front().data() : k_rows.front().data());
                        requests.push_back(&s.request);
                    }
                    lanes.run(requests);
                    for (const Stepper& s : steppers) {
                        if (s.request.stages.rows == k_other_rows.front().data()) {
                            EXPECT_FALSE(s.request.done);
                            continue;
                        }
                        ++(s.request.done ? done : left);
                        if (s.request.done) expect_own_stages(r.program, s, "seed " + std::to_string(seed));
                    }
                }
            }
    EXPECT_GT(done, 10 * left);
}

TEST(LaneWorkspace, WhatNeedsCareIsLeftToTheCaller) {
    // M = (m, 1), rows (a, 0) and (0, b)
    Graph g;
    std::vector<SymbolId> inputs;
    const auto input = [&](const char* name) {
        inputs.push_back(g.add_symbol(name, SymbolKind::other));
        return g.symbol_node(inputs.back());
    };
    const NodeId m = input("m"), a = input("a"), b = input("b"), f = input("f");
    ConstrainedSolve solve;
    solve.M = {3, 3, {{0, 0, m}, {1, 1, g.constant(1)}, {2, 2, g.constant(1)}}};
    solve.A = {2, 3, {{0, 0, a}, {0, 1, a}, {1, 0, b}, {1, 1, g.constant(1)}}};
    solve.f = {f, f, f};
    solve.b = {g.constant(0), g.constant(1)};
    for (const char* name : {"x", "y", "z"}) solve.x.push_back(g.add_symbol(name, SymbolKind::other));
    for (const char* name : {"k", "l"}) solve.lambda.push_back(g.add_symbol(name, SymbolKind::other));
    const Program program = lower_program(g, {inputs, {solve}, {{"x", {g.symbol_node(solve.x[0]), g.symbol_node(solve.x[2])}}}});
    const double infinity = std::numeric_limits<double>::infinity();
    // a good one, no mass, mass below zero, a row of nothing, rows that depend on each other, numbers that are none, a good one
    const std::vector<std::vector<double>> values{{2, 1, 3, 1}, {0, 1, 3, 1},        {-1, 1, 3, 1},           {2, 0, 3, 1},
                                                  {2, 1, 1, 1}, {2, infinity, 3, 1}, {2, 1, 3, std::nan("")}, {3, 1, -2, 1}};
    for (const LaneKernels* const kernels : all_lane_kernels()) {
        LaneWorkspace lanes(program, *kernels, kernels->in_register != 4);
        std::vector<Caller> callers;
        callers.reserve(values.size());
        std::vector<Neighbours::Request*> requests;
        for (const std::vector<double>& v : values) {
            callers.emplace_back(program, v);
            requests.push_back(&callers.back().request);
        }
        lanes.run(requests);
        for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(callers[k].request.done, k == 0 || k == 7) << "lane " << k;
        for (const std::size_t k : {0, 7}) expect_own_numbers(program, callers[k], "lane " + std::to_string(k));
    }
}

TEST(LaneWorkspace, OpaqueFunctionsAndLargeSolvesAreNotForLanes) {
    Graph g;
    const SymbolId s = g.add_symbol("x", SymbolKind::other);
    const auto with_solve = [&](std::uint32_t size) {
        ConstrainedSolve solve;
        solve.M = solve.A = {size, size, {}};
        solve.A.rows = 0;
        for (std::uint32_t i = 0; i < size; ++i) {
            solve.M.entries.push_back({i, i, g.symbol_node(s)});
            solve.f.push_back(g.symbol_node(s));
            solve.x.push_back(g.add_symbol("a", SymbolKind::other));
        }
        return lower_program(g, {{s}, {solve}, {{"x", {g.symbol_node(solve.x[0])}}}});
    };
    EXPECT_TRUE(LaneWorkspace::possible(with_solve(15)));
    EXPECT_FALSE(LaneWorkspace::possible(with_solve(16)));
}

// the last bits of the C library, wherever the angles are
TEST(LaneKernels, SinesOfEightAnglesAreThoseOfEach) {
    for (const LaneKernels* const kernels : all_lane_kernels()) {
        if (kernels->sines_with_cosines == nullptr) continue;
        std::mt19937_64 random(7);
        LaneNumbers angle(1), sine(1), cosine(1);
        const auto compare = [&](const auto& next) {
            for (std::size_t k = 0; k < k_lanes; ++k) angle.data()[k] = next();
            kernels->sines_with_cosines(sine.data(), cosine.data(), angle.data());
            std::size_t different = 0;
            for (std::size_t k = 0; k < k_lanes; ++k) {
                const double x = angle.data()[k], s = std::sin(x), c = std::cos(x);
                const auto same = [](double a, double b) {
                    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
                };
                different += same(sine.data()[k], s) && same(cosine.data()[k], c) ? 0 : 1;
            }
            return different;
        };
        const auto within = [&](double reach) {
            std::uniform_real_distribution<double> uniform(-reach, reach);
            std::size_t different = 0;
            for (int i = 0; i < 60'000; ++i) different += compare([&] { return uniform(random); });
            return different;
        };
        for (const double reach : {1e-6, 0.1, 1.0, 10.0, 1e3, 1e5, 1e7, 1e300}) EXPECT_EQ(within(reach), 0u) << reach;
        // at the joints of the pieces, and next to the zeros of both
        std::size_t different = 0;
        for (int i = -4000; i < 4000; ++i) {
            int ulps = -4;
            different += compare([&] {
                const double at = i * (std::numbers::pi / 128);
                return at + ulps++ * 0x1p-52 * std::abs(at);
            });
        }
        EXPECT_EQ(different, 0u);
        const double odd[] = {0.0, -0.0, 1e-310, -1e-300, INFINITY, -INFINITY, NAN, 0x1p-26};
        std::size_t next = 0;
        EXPECT_EQ(compare([&] { return odd[next++]; }), 0u);
    }
}

}  // namespace
}  // namespace appell
