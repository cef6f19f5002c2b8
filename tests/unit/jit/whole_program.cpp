// Small programs in one piece of native code: the numbers are the interpreter's to the last bit, where the piece says that it has
// them, and it says so only where pivots are good and everything is finite.
#include <gtest/gtest.h>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "expr/differentiate.hpp"
#include "jit/lane_code.hpp"
#include "jit/native_code.hpp"
#include "support/random_expr.hpp"
#include "tape/closed_solve.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using test::RandomExpr;

#if defined(__x86_64__) && defined(__unix__)
constexpr bool k_made_here = true;
#else
constexpr bool k_made_here = false;
#endif

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// a program with a solve of some kind between random expressions; the second input on are streamed, but for parameters, the last
struct Random {
    std::size_t parameters;
    Graph g;
    RandomExpr random;
    Program program;
    std::vector<SymbolId> inputs;

    Random(std::uint64_t seed, SolveKind kind, bool lambda_is_read)
        : parameters(seed % 4), random(g, seed, {.symbols = 6, .parameters = parameters}) {
        inputs = random.symbols();
        ConstrainedSolve solve;
        solve.kind = kind;
        const std::uint32_t n = 3 + seed % 3, m = 1 + seed % 2;
        solve.M.rows = solve.M.columns = solve.A.columns = n;
        solve.A.rows = m;
        for (std::uint32_t i = 0; i < n; ++i) {
            const NodeId off = g.make(Op::Sin, random.next(8));
            if (i > 0) solve.M.entries.push_back({i, i - 1, off});
            solve.M.entries.push_back({i, i, g.add(g.constant(4), g.make(Op::Cos, random.next(8)))});
            solve.f.push_back(random.next(12));
            solve.x.push_back(g.add_symbol("a" + std::to_string(i), SymbolKind::other));
            if (i >= m) solve.independent.push_back(i);
        }
        for (std::uint32_t i = 0; i < m; ++i) {
            for (std::uint32_t j = 0; j < n; ++j)
                if (j >= i || seed % 3 == 0) solve.A.entries.push_back({i, j, random.next(6)});
            solve.b.push_back(random.next(10));
            solve.lambda.push_back(g.add_symbol("l" + std::to_string(i), SymbolKind::other));
        }
        add_closed_form(g, solve);
        std::vector<NodeId> roots;
        for (const SymbolId s : solve.x) {
            random.add(s);
            roots.push_back(g.symbol_node(s));
        }
        if (lambda_is_read) roots.push_back(g.symbol_node(solve.lambda[0]));
        for (const SymbolId s : inputs) roots.push_back(g.symbol_node(s));
        // at times more than there are registers; and some twice, side by side and apart
        for (std::uint64_t i = 0; i < (seed % 5 == 0 ? 24 : 3); ++i) roots.push_back(random.next(25));
        for (std::size_t i = 0; i < seed % 4; ++i) roots.insert(roots.begin() + static_cast<std::ptrdiff_t>(3 * i), roots[i]);
        std::shuffle(roots.begin(), roots.end(), random.random());
        program = lower_program(g, {inputs, {solve}, {{"values", roots}}});
        program.stream_begin = 1;
        program.stream_end = static_cast<Slot>(inputs.size() - parameters);
        add_native_code(program);
        has_closed_form = !solve.closed.empty();
    }
    [[nodiscard]] std::vector<double> values() {
        const std::vector<double> all = random.values();
        std::vector<double> out;
        for (const SymbolId s : inputs) out.push_back(all[s.index()]);
        return out;
    }
    bool has_closed_form = false;
};

TEST(WholeProgram, IsTheInterpretersToTheLastBit) {
    std::size_t served = 0, refused = 0, steady = 0;
    for (const SolveKind kind : {SolveKind::multipliers, SolveKind::minimal, SolveKind::nonminimal})
        for (std::uint64_t seed = 1; seed <= 120; ++seed) {
            Random r(seed, kind, seed % 2 == 0);
            ASSERT_TRUE(r.has_closed_form);
            if (!k_made_here) continue;
            ASSERT_NE(r.program.native->whole, nullptr);
            steady += r.program.steady_segments;
            Workspace<double> whole(r.program), reference(r.program);
            std::vector<double> inputs;
            for (int k = 0; k < 6; ++k) {
                // parameters stay, every other time
                const std::vector<double> before = std::exchange(inputs, r.values());
                const auto own = inputs.end() - static_cast<std::ptrdiff_t>(r.parameters);
                const bool stays = k % 2 == 1;
                if (stays) std::copy(before.end() - static_cast<std::ptrdiff_t>(r.parameters), before.end(), own);
                std::copy(inputs.begin(), inputs.end(), reference.inputs().begin());
                const EvalReport expected = reference.run_interpreted();
                // streamed inputs come from elsewhere: what is in their slots must not be read
                const std::span<double> given = stays ? whole.moving_inputs() : whole.inputs();
                std::fill(given.begin(), given.end() - static_cast<std::ptrdiff_t>(r.parameters), std::nan(""));
                std::copy(own, inputs.end(), given.end() - static_cast<std::ptrdiff_t>(r.parameters));
                given[0] = inputs[0];
                std::vector<double> out(reference.outputs().size(), -1);
                if (!whole.run_whole(inputs.data() + 1, out.data())) {
                    ++refused;
                    // then run() takes the other way, and is the interpreter's again
                    std::copy(inputs.begin(), inputs.end(), given.begin());
                    EXPECT_EQ(whole.run().status, expected.status);
                    for (std::size_t i = 0; i < out.size(); ++i)
                        EXPECT_TRUE(same(whole.outputs()[i], reference.outputs()[i]) || std::isnan(reference.outputs()[i]));
                    continue;
                }
                ++served;
                EXPECT_EQ(expected.status, EvalStatus::ok);
                for (std::size_t i = 0; i < out.size(); ++i)
                    EXPECT_TRUE(same(out[i], reference.outputs()[i])) << "seed " << seed << ", output " << i;
                const EvalReport report = whole.whole_report();
                EXPECT_EQ(report.rank, expected.rank);
                EXPECT_TRUE(same(report.smallest_pivot, expected.smallest_pivot));
                EXPECT_EQ(report.weakest_row, expected.weakest_row);
            }
        }
    if (!k_made_here) return;
    // both happen, and mostly it serves
    EXPECT_GT(served, 900u);
    EXPECT_GT(refused, 30u);
    EXPECT_GT(steady, 200u);
}

#if defined(__x86_64__) && defined(__unix__)

// Numbers with a page on either side that nobody may touch, and as near to it as can be: to the first one, or to the second.
class Fenced {
public:
    Fenced(std::size_t doubles, bool at_the_end, std::size_t alignment = sizeof(double)) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), bytes = doubles * sizeof(double);
        const std::size_t inside = (bytes + page - 1) / page * page;
        size_ = inside + 2 * page;
        memory_ = static_cast<char*>(::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (inside > 0) ::mprotect(memory_ + page, inside, PROT_READ | PROT_WRITE);
        char* const begin = memory_ + page + (at_the_end ? (inside - bytes) / alignment * alignment : 0);
        numbers_ = reinterpret_cast<double*>(begin);
    }
    ~Fenced() { ::munmap(memory_, size_); }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;
    [[nodiscard]] double* data() const { return numbers_; }

private:
    char* memory_;
    std::size_t size_;
    double* numbers_;
};

// A model decides what is in a program, and must not decide what memory its code touches: a read or a write beside the slots, the
// scratch memory, the stream or the outputs ends this test by a signal.
TEST(WholeProgram, TouchesNothingButItsMemory) {
    for (const SolveKind kind : {SolveKind::multipliers, SolveKind::minimal})
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            Random r(seed, kind, seed % 2 == 0);
            const Program& p = r.program;
            const std::size_t streamed = p.stream_end - p.stream_begin, outputs = p.output_slots.size();
            const std::vector<double> inputs = r.values();
            for (const bool at_the_end : {false, true}) {
                const Fenced slots(p.slots, at_the_end), scratch(p.native->scratch, at_the_end);
                const Fenced stream(streamed, at_the_end), out(outputs, at_the_end);
                std::copy(inputs.begin(), inputs.end(), slots.data());
                std::copy_n(inputs.begin() + p.stream_begin, streamed, stream.data());
                for (const auto& [slot, value] : p.constants) slots.data()[slot] = value;
                for (const NativeCode::Function segment : p.native->segments) segment(slots.data(), scratch.data());
                (void)p.native->whole(slots.data(), scratch.data(), stream.data(), out.data());
            }
            for (const bool eight : {false, true}) {
                if (!(eight ? __builtin_cpu_supports("avx512f") : __builtin_cpu_supports("avx2"))) continue;
                const std::shared_ptr<const LaneCode> code = make_lane_code(p, eight);
                for (const bool at_the_end : {false, true}) {
                    const auto of = [&](std::size_t numbers) { return std::make_unique<Fenced>(8 * numbers, at_the_end, 64); };
                    const auto slots = of(p.slots), scratch = of(code->scratch), stream = of(streamed), out = of(outputs);
                    for (std::size_t i = 0; i < inputs.size(); ++i) std::fill_n(slots->data() + 8 * i, 8, inputs[i]);
                    for (std::size_t i = 0; i < streamed; ++i) std::fill_n(stream->data() + 8 * i, 8, inputs[p.stream_begin + i]);
                    for (const LaneCode::Function function : code->functions)
                        for (std::size_t k = 0; k < 8; k += code->step)
                            function(slots->data() + k, scratch->data() + k, stream->data() + k, out->data() + k);
                }
            }
        }
}

// what /proc/self/maps says of the memory around an address, as in r-xp
std::string rights_at(const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        char* end = nullptr;
        const std::uintptr_t begin = std::strtoull(line.c_str(), &end, 16), behind = std::strtoull(end + 1, &end, 16);
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (begin <= at && at < behind) return std::string(end + 1, 4);
    }
    return {};
}

TEST(WholeProgram, IsNeverWritableAndExecutableAtOnce) {
    const Random r(1, SolveKind::multipliers, true);
    if (!std::ifstream("/proc/self/maps")) GTEST_SKIP() << "no way to ask";
    EXPECT_EQ(rights_at(r.program.native->memory.get()), "r-xp");
    EXPECT_EQ(rights_at(reinterpret_cast<const void*>(r.program.native->whole)), "r-xp");
    if (!__builtin_cpu_supports("avx2")) return;
    EXPECT_EQ(rights_at(make_lane_code(r.program, false)->memory.get()), "r-xp");
}

#endif

// a pivot that vanishes, a result that overflows, and numbers that are none
void expect_refusals(SymbolKind mass_is) {
    Graph g;
    std::vector<SymbolId> inputs;
    const auto input = [&](const char* name, SymbolKind kind = SymbolKind::other) {
        inputs.push_back(g.add_symbol(name, kind));
        return g.symbol_node(inputs.back());
    };
    const NodeId m = input("m", mass_is), a = input("a"), f = input("f");
    ConstrainedSolve solve;
    solve.M = {2, 2, {{0, 0, m}, {1, 1, g.add(m, g.constant(1))}}};
    solve.A = {1, 2, {{0, 0, a}, {0, 1, g.mul(a, a)}}};
    solve.f = {f, g.mul(f, f)};
    solve.b = {g.constant(0)};
    solve.x = {g.add_symbol("x", SymbolKind::other), g.add_symbol("y", SymbolKind::other)};
    solve.lambda = {g.add_symbol("l", SymbolKind::other)};
    add_closed_form(g, solve);
    Program program = lower_program(g, {inputs, {solve}, {{"x", {g.symbol_node(solve.x[0])}}}});
    program.stream_begin = 1;
    program.stream_end = 3;
    add_native_code(program);
    ASSERT_NE(program.native->whole, nullptr);
    Workspace<double> w(program);
    const auto served = [&](double mass, double row, double force) {
        const double stream[] = {row, force};
        double out = 0;
        w.inputs()[0] = mass;
        return w.run_whole(stream, &out);
    };
    EXPECT_TRUE(served(1, 1, 1));
    EXPECT_FALSE(served(0, 1, 1));      // no mass
    EXPECT_FALSE(served(-1, 1, 1));     // less than none
    EXPECT_FALSE(served(1, 0, 1));      // no row
    EXPECT_FALSE(served(1, 1, 1e200));  // the square of the force is no number any more
    EXPECT_FALSE(served(1, std::nan(""), 1));
    EXPECT_FALSE(served(std::nan(""), 1, 1));
    EXPECT_FALSE(served(std::numeric_limits<double>::infinity(), 1, 1));
    // rows whose rank was limited are the solver's
    w.limit_rank(1);
    EXPECT_FALSE(served(1, 1, 1));
}

TEST(WholeProgram, RefusesWhatNeedsCare) {
    if (!k_made_here) GTEST_SKIP() << "no native code here";
    expect_refusals(SymbolKind::other);
    expect_refusals(SymbolKind::parameter);  // whose pivots are looked at once
}

// What is looked at in the end is in its own slot; an unknown is in that of its closed form, so that a pivot that is one is left
// to the way over the segments: here x = f/2 is the mass of y.
TEST(WholeProgram, IsNotMadeWhereAPivotIsAnUnknown) {
    Graph g;
    const SymbolId f = g.add_symbol("f", SymbolKind::other);
    const auto solve = [&](const char* name, NodeId mass, NodeId force) {
        ConstrainedSolve out;
        out.M = {1, 1, {{0, 0, mass}}};
        out.A.columns = 1;
        out.f = {force};
        out.x = {g.add_symbol(name, SymbolKind::other)};
        add_closed_form(g, out);
        return out;
    };
    const ConstrainedSolve first = solve("x", g.constant(2), g.symbol_node(f));
    const ConstrainedSolve second = solve("y", g.symbol_node(first.x[0]), g.constant(3));
    Program program = lower_program(g, {{f}, {first, second}, {{"y", {g.symbol_node(second.x[0])}}}});
    program.stream_end = 1;
    add_native_code(program);
    Workspace<double> w(program);
    for (const double force : {2.0, -2.0, 0.0, 4.0}) {
        w.inputs()[0] = force;
        const EvalReport native = w.run();
        const double y = w.outputs()[0];
        EXPECT_EQ(native.status, w.run_interpreted().status) << force;
        EXPECT_TRUE(same(y, w.outputs()[0]) || std::isnan(y)) << force;
    }
}

// who evaluates again and again asks again when a parameter has changed
TEST(WholeProgram, IsAskedForAgainWhenAParameterHasChanged) {
    if (!k_made_here) GTEST_SKIP() << "no native code here";
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other), p = g.add_symbol("p", SymbolKind::parameter);
    const NodeId root = g.make(Op::Sqrt, g.symbol_node(p));
    ProgramSpec spec{{x, p}, {}, {{"y", {g.mul(root, g.symbol_node(x)), root}}}};
    spec.at_least = {{g.symbol_node(p), g.constant(1)}, {root, g.pow(g.symbol_node(x), 2)}};
    Program program = lower_program(g, spec);
    program.stream_end = 1;
    add_native_code(program);
    Workspace<double> w(program);
    double out[2] = {};
    const auto serves = [&](double at) { return w.native()(&at, out); };
    w.set_input(1, 9);
    EXPECT_TRUE(serves(1));
    EXPECT_EQ(out[0], 3);
    EXPECT_EQ(out[1], 3);
    w.set_input(0, 100);  // not where it is read
    EXPECT_TRUE(serves(1.5));
    EXPECT_EQ(out[0], 4.5);
    w.set_input(1, 4);
    EXPECT_TRUE(serves(1));
    EXPECT_EQ(out[0], 2);
    EXPECT_FALSE(serves(1.5));  // its square is above the root
    w.set_input(1, 0.25);
    EXPECT_FALSE(serves(0.1));  // p below one
}

// conditions: at least, not above; what is not a number fulfils none
TEST(WholeProgram, LooksAtConditions) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other), y = g.add_symbol("y", SymbolKind::other);
    const NodeId a = g.symbol_node(x), b = g.symbol_node(y);
    ProgramSpec spec{{x, y}, {}, {{"sum", {g.add(a, b)}}}};
    spec.at_least = {{g.mul(a, a), g.mul(g.constant(2), b)}, {g.add(a, g.constant(3)), g.constant(0)}};
    Program program = lower_program(g, spec);
    program.stream_end = 2;
    add_native_code(program);
    Workspace<double> w(program);
    const double nan = std::nan("");
    const auto holds = [&](double first, double second) {
        w.inputs()[0] = first;
        w.inputs()[1] = second;
        const EvalReport native = w.run();
        const double sum = w.outputs()[0];
        const EvalReport interpreted = w.run_interpreted();
        EXPECT_EQ(native.status, interpreted.status) << first << " " << second;
        EXPECT_TRUE(same(sum, w.outputs()[0]) || (std::isnan(sum) && std::isnan(w.outputs()[0])));
        const double stream[] = {first, second};
        double out = 0;
        EXPECT_EQ(w.run_whole(stream, &out), k_made_here && native.status == EvalStatus::ok) << first << " " << second;
        EXPECT_TRUE(native.status == EvalStatus::ok || native.status == EvalStatus::singular_partition);
        return native.status == EvalStatus::ok;
    };
    EXPECT_TRUE(holds(2, 1));
    EXPECT_TRUE(holds(2, 2));  // just so
    EXPECT_FALSE(holds(2, 2.5));
    EXPECT_TRUE(holds(-3, 1));
    EXPECT_FALSE(holds(-4, 1));
    EXPECT_FALSE(holds(nan, 1));
    EXPECT_FALSE(holds(1, nan));
}

// Sine and cosine of one angle are taken together. That both are what each is alone is no promise of the C library, so that it is
// looked at: over small, large and special angles.
TEST(WholeProgram, SinesAndCosinesTogether) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other);
    const NodeId s = g.make(Op::Sin, g.symbol_node(x)), c = g.make(Op::Cos, g.symbol_node(x));
    Program program = lower_program(g, {{x}, {}, {{"values", {s, c, g.mul(s, c)}}}});
    program.stream_end = 1;
    add_native_code(program);
    Workspace<double> w(program);
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-30, 30), mantissa(-1, 1);
    for (int k = 0; k < 1'000'000; ++k) {
        const double angle = mantissa(random) * (k % 2 == 0 ? 10 : std::exp2(exponent(random)));
        w.inputs()[0] = angle;
        (void)w.run();
        ASSERT_TRUE(same(w.outputs()[0], std::sin(angle)) && same(w.outputs()[1], std::cos(angle))) << angle;
    }
}

}  // namespace
}  // namespace appell
