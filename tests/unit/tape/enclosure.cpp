// Programs in intervals: all values along random paths lie in the enclosures, and all slopes of chords in those of the rates; for
// expressions inside their domains and outside, and for solve blocks.
#include "tape/enclosure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "support/members.hpp"
#include "support/random_expr.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

// inputs that move as m + w s, s from -1 to 1, the last one a parameter that does not
struct Path {
    std::vector<double> middle, rate;

    Path(std::size_t inputs, std::mt19937_64& random) {
        std::uniform_real_distribution<double> place(-1.5, 1.5), power(-9, 0.5);
        const double size = std::pow(10, power(random));
        for (std::size_t i = 0; i < inputs; ++i) {
            middle.push_back(place(random));
            rate.push_back(i + 1 == inputs ? 0 : size * place(random));
        }
    }
    [[nodiscard]] double at(std::size_t i, double s) const { return middle[i] + rate[i] * s; }
};

// values at places along the path, by place; NaN where there is none
std::vector<std::vector<double>> sample(const Program& program, const Path& path, std::span<const double> places) {
    Workspace<double> work(program);
    std::vector<std::vector<double>> out;
    for (const double s : places) {
        for (std::size_t i = 0; i < path.middle.size(); ++i) work.inputs()[i] = path.at(i, s);
        (void)work.run();
        out.emplace_back(work.outputs().begin(), work.outputs().end());
    }
    return out;
}

// what is found of the rates: how many are bounded
std::size_t check(const Program& program, const Path& path, const std::string& what) {
    Enclosure enclosure(program);
    for (std::size_t i = 0; i < path.middle.size(); ++i) {
        const double a = path.at(i, -1), b = path.at(i, 1);
        if (path.rate[i] == 0) {
            enclosure.set_constant(i, a);
            continue;
        }
        const Interval over = Interval(std::min(a, b), std::max(a, b)) + Interval(0);
        enclosure.set(i, {over, Interval(path.rate[i]) + Interval(0)});
    }
    enclosure.run();
    std::vector<double> places;
    for (int k = -16; k <= 16; ++k) places.push_back(k / 16.0);
    const std::vector<std::vector<double>> values = sample(program, path, places);
    const auto has_values = [&](std::size_t k) {
        return std::ranges::all_of(values[k], [](double v) { return std::isfinite(v); });
    };
    std::size_t bounded = 0;
    for (std::size_t i = 0; i < enclosure.outputs().size(); ++i) {
        const MovingInterval& over = enclosure.outputs()[i];
        bounded += over.rate.bounded();
        for (std::size_t k = 0; k < places.size(); ++k) {
            // what comes of an infinity on the way has no value here
            if (!has_values(k)) continue;
            EXPECT_TRUE(over.value.contains(values[k][i]))
                << what << ": " << values[k][i] << " is not in " << over.value.lo << " to " << over.value.hi;
            if (k == 0 || !over.rate.bounded() || !has_values(k - 1)) continue;
            // round-off of the two values, over the way between them
            const double h = places[k] - places[k - 1], slope = (values[k][i] - values[k - 1][i]) / h;
            const double slack = 1e-12 * (1 + std::abs(values[k][i]) + over.value.largest()) / h;
            EXPECT_LE(slope, over.rate.hi + slack) << what;
            EXPECT_GE(slope, over.rate.lo - slack) << what;
        }
    }
    return bounded;
}

TEST(Enclosure, HoldsRandomExpressions) {
    std::size_t bounded = 0;
    for (std::uint64_t seed = 1; seed <= 4 * members(); ++seed) {
        Graph g;
        test::RandomExpr expressions(g, seed, {.symbols = 4, .parameters = 1});
        const std::array values{expressions.next(8), expressions.next(12)};
        const Program program = lower_program(g, {expressions.symbols(), {}, {{"v", {values.begin(), values.end()}}}});
        bounded += check(program, Path(4, expressions.random()), std::to_string(seed));
    }
    EXPECT_GT(bounded, 4 * members());  // most are smooth enough for a rate
}

// operations with whatever operands: values outside of domains, poles, kinks, powers whose exponent is a parameter
TEST(Enclosure, HoldsOperationsOutsideTheirDomains) {
    constexpr std::array k_unary{Op::Sqrt, Op::Exp,  Op::Log,  Op::Sin,   Op::Cos,   Op::Tan,   Op::Asin, Op::Acos, Op::Atan,
                                 Op::Sinh, Op::Cosh, Op::Tanh, Op::Asinh, Op::Acosh, Op::Atanh, Op::Abs,  Op::Sign, Op::Neg};
    constexpr std::array k_binary{Op::Add,   Op::Sub, Op::Mul, Op::Div,  Op::Pow,
                                  Op::Atan2, Op::Min, Op::Max, Op::Less, Op::LessEqual};
    for (std::uint64_t seed = 1; seed <= 20 * members(); ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
        Graph g;
        std::vector<SymbolId> symbols;
        std::vector<NodeId> pool;
        for (int i = 0; i < 3; ++i) {
            symbols.push_back(g.add_symbol("x" + std::to_string(i), i == 2 ? SymbolKind::parameter : SymbolKind::other));
            pool.push_back(g.symbol_node(symbols.back()));
        }
        const auto pick = [&] { return pool[below(pool.size())]; };
        for (int k = 0; k < 4; ++k) {
            switch (below(4)) {
                case 0: pool.push_back(g.make(k_unary[below(k_unary.size())], pick())); break;
                case 1: pool.push_back(g.pow(pick(), static_cast<int>(below(9)) - 4)); break;
                case 2: pool.push_back(g.make(Op::If, pick(), pick(), pick())); break;
                default: pool.push_back(g.make(k_binary[below(k_binary.size())], pick(), pick()));
            }
        }
        const Program program = lower_program(g, {symbols, {}, {{"v", pool}}});
        Path path(3, random);
        if (seed % 2 == 0) path.middle[2] = std::round(3 * path.middle[2]);  // whole exponents
        check(program, path, std::to_string(seed));
    }
}

// x^n over both signs, where n is a parameter
TEST(Enclosure, KnowsTheSlopeOfAWholePower) {
    Graph g;
    const std::vector<SymbolId> symbols{g.add_symbol("x", SymbolKind::other), g.add_symbol("n", SymbolKind::parameter)};
    const NodeId power = g.make(Op::Pow, g.symbol_node(symbols[0]), g.symbol_node(symbols[1]));
    const Program program = lower_program(g, {symbols, {}, {{"v", {power}}}});
    Enclosure enclosure(program);
    enclosure.set_constant(1, 3);
    enclosure.set(0, {Interval(-2, 1), Interval(1)});
    enclosure.run();
    EXPECT_NEAR(enclosure.outputs()[0].rate.hi, 12, 1e-9);
    EXPECT_NEAR(enclosure.outputs()[0].value.lo, -8, 1e-9);
}

// M x - A' lambda = f, A x = b with entries that move; narrow paths must be enclosed
TEST(Enclosure, HoldsRandomSolves) {
    std::size_t narrow = 0, known = 0;
    for (std::uint64_t seed = 1; seed <= members(); ++seed) {
        Graph g;
        test::RandomExpr expressions(g, seed, {.symbols = 4, .parameters = 1, .piecewise = false});
        const std::size_t n = 1 + seed % 4, rows = n > 1 ? seed % n : 0;
        ConstrainedSolve solve;
        solve.M.rows = solve.M.columns = solve.A.columns = n;
        solve.A.rows = rows;
        std::vector<NodeId> outputs;
        const auto entry = [&](double least) {
            const NodeId wave = g.make(Op::Sin, expressions.next(2));
            return g.add(g.constant(least), g.mul(g.constant(0.3), wave));
        };
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j <= i; ++j) solve.M.entries.push_back({i, j, entry(i == j ? 3 : 0)});
            solve.f.push_back(expressions.next(3));
            solve.x.push_back(g.add_symbol("u", SymbolKind::other));
            outputs.push_back(g.symbol_node(solve.x.back()));
        }
        for (std::uint32_t i = 0; i < rows; ++i) {
            for (std::uint32_t j = 0; j < n; ++j) solve.A.entries.push_back({i, j, entry(i == j ? 2 : 0)});
            solve.b.push_back(expressions.next(3));
            solve.lambda.push_back(g.add_symbol("lambda", SymbolKind::other));
            outputs.push_back(g.symbol_node(solve.lambda.back()));
        }
        outputs.push_back(g.make(Op::Sin, g.mul(outputs.front(), outputs.back())));
        const Program program = lower_program(g, {expressions.symbols(), {solve}, {{"v", outputs}}});
        ASSERT_TRUE(Enclosure::serves(program));
        const Path path(4, expressions.random());
        const std::size_t bounded = check(program, path, std::to_string(seed));
        double size = 0;
        for (const double rate : path.rate) size = std::max(size, std::abs(rate));
        if (size > 1e-3) continue;
        ++narrow;
        known += bounded == outputs.size();
    }
    EXPECT_GT(narrow, members() / 4);
    EXPECT_EQ(known, narrow);
}

TEST(Enclosure, LeavesASingularSolveOpen) {
    Graph g;
    const std::vector<SymbolId> symbols{g.add_symbol("a", SymbolKind::other)};
    ConstrainedSolve solve;
    solve.kind = SolveKind::linear;
    solve.A.rows = solve.A.columns = 1;
    solve.A.entries.push_back({0, 0, g.symbol_node(symbols[0])});
    solve.b.push_back(g.constant(1));
    solve.x.push_back(g.add_symbol("x", SymbolKind::other));
    const Program program = lower_program(g, {symbols, {solve}, {{"v", {g.symbol_node(solve.x[0])}}}});
    Enclosure enclosure(program);
    enclosure.set(0, {Interval(-1, 1), Interval(1)});
    enclosure.run();
    EXPECT_FALSE(enclosure.outputs()[0].value.bounded());
    enclosure.set(0, {Interval(1, 2), Interval(1)});
    enclosure.run();
    EXPECT_TRUE(enclosure.outputs()[0].value.contains(0.5));
    EXPECT_TRUE(enclosure.outputs()[0].value.contains(1));
    EXPECT_TRUE(enclosure.outputs()[0].rate.contains(-1));
}

}  // namespace
}  // namespace appell
