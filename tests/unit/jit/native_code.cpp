// Native code against the interpreter, bit for bit: random expressions of every operation, many live values, solve blocks, laws
// that are repeated, and special numbers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "expr/differentiate.hpp"
#include "jit/native_code.hpp"
#include "support/random_expr.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using test::RandomExpr;
using test::RandomExprOptions;

#if defined(__x86_64__) && defined(__unix__)
constexpr bool k_made_here = true;
#else
constexpr bool k_made_here = false;
#endif

// which of two operands that are no numbers an operation hands on is nobody's promise
bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_same(const Program& program, const std::vector<double>& inputs, const std::string& what) {
    Workspace<double> native(program), reference(program);
    std::copy(inputs.begin(), inputs.end(), native.inputs().begin());
    std::copy(inputs.begin(), inputs.end(), reference.inputs().begin());
    const EvalReport found = native.run(), expected = reference.run_interpreted();
    EXPECT_EQ(found.status, expected.status) << what;
    for (std::size_t i = 0; i < native.outputs().size(); ++i)
        EXPECT_TRUE(same(native.outputs()[i], reference.outputs()[i]))
            << what << ", output " << i << ": " << native.outputs()[i] << " and " << reference.outputs()[i];
}

std::vector<double> input_values(RandomExpr& random, const std::vector<SymbolId>& symbols) {
    const std::vector<double> values = random.values();
    std::vector<double> out;
    for (const SymbolId s : symbols) out.push_back(values[s.index()]);
    return out;
}

TEST(NativeCode, RandomExpressions) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Graph g;
        RandomExpr random(g, seed,
                          {.symbols = 1 + seed % 7,
                           .parameters = seed % 3,
                           .analytic_only = false,
                           .piecewise = true,
                           .calls = seed % 10 == 0});
        std::vector<NodeId> roots;
        for (std::uint64_t i = 0; i <= seed % 9; ++i) roots.push_back(random.next(10 + seed % 90));
        // a jacobian has many values that are used again and again
        if (seed % 3 == 0)
            for (const SparseEntry& e : jacobian(g, roots, random.symbols()).entries) roots.push_back(e.value);
        Program program = lower_program(g, {random.symbols(), {}, {{"values", roots}}});
        add_native_code(program);
        EXPECT_TRUE(program.native != nullptr || !k_made_here || program.instructions.empty());
        for (int k = 0; k < 3; ++k) expect_same(program, input_values(random, random.symbols()), "seed " + std::to_string(seed));
    }
}

TEST(NativeCode, MoreLiveValuesThanRegisters) {
    Graph g;
    std::vector<SymbolId> symbols;
    std::vector<NodeId> x;
    for (int i = 0; i < 40; ++i) {
        symbols.push_back(g.add_symbol("x" + std::to_string(i), SymbolKind::other));
        x.push_back(g.symbol_node(symbols.back()));
    }
    // every product is used by sums from both ends, so that all are alive in the middle; the functions come on top
    std::vector<NodeId> products, roots;
    for (int i = 0; i < 40; ++i) products.push_back(g.mul(x[i], g.make(i % 2 ? Op::Sin : Op::Cosh, x[(i + 7) % 40])));
    NodeId up = g.constant(0), down = g.constant(0);
    for (int i = 0; i < 40; ++i) {
        up = g.add(g.mul(up, x[i]), products[i]);
        down = g.sub(products[39 - i], g.div(down, x[39 - i]));
        if (i % 13 == 0) roots.push_back(g.make(Op::Atan2, up, down));
    }
    roots.push_back(up);
    roots.push_back(down);
    Program program = lower_program(g, {symbols, {}, {{"values", roots}}});
    add_native_code(program);
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(std::sin(1.7 * i) + 1.2);
    expect_same(program, values, "forty values");
    if (k_made_here) {
        EXPECT_GT(program.native->scratch, 0u);
        // the interpreter takes a slot for each value; registers spare most stores
        EXPECT_LT(program.native->scratch, program.slots);
    }
}

TEST(NativeCode, EveryPower) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other);
    std::vector<NodeId> roots;
    for (int n = -40; n <= 40; ++n) roots.push_back(g.add(g.pow(g.symbol_node(x), n), g.symbol_node(x)));
    Program program = lower_program(g, {{x}, {}, {{"values", roots}}});
    add_native_code(program);
    for (const double value : {1.1, -0.9, 0.0, -0.0, 3e200, 1e-200}) expect_same(program, {value}, std::to_string(value));
}

TEST(NativeCode, SpecialNumbers) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other), y = g.add_symbol("y", SymbolKind::other);
    const NodeId a = g.symbol_node(x), b = g.symbol_node(y);
    std::vector<NodeId> roots{g.add(a, b), g.sub(a, b), g.mul(a, b), g.div(a, b), g.neg(a), g.pow(a, 2), g.pow(b, -3)};
    for (const Op op : {Op::Sqrt, Op::Abs, Op::Sign, Op::Exp, Op::Log, Op::Sin, Op::Acos}) roots.push_back(g.make(op, a));
    for (const Op op : {Op::Min, Op::Max, Op::Less, Op::LessEqual, Op::Atan2, Op::Pow}) roots.push_back(g.make(op, a, b));
    roots.push_back(g.make(Op::If, g.make(Op::Less, a, b), g.mul(a, a), g.neg(b)));
    Program program = lower_program(g, {{x, y}, {}, {{"values", roots}}});
    add_native_code(program);
    const double numbers[] = {0.0, -0.0, 1.0, -2.5, 5e-324, 1.7e308, inf, -inf, nan};
    for (const double first : numbers)
        for (const double second : numbers) expect_same(program, {first, second}, "special");
}

// what comes out of a solve goes on through native code
TEST(NativeCode, BeforeAndAfterSolves) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Graph g;
        RandomExpr random(g, seed, {.symbols = 4});
        const std::vector<SymbolId> inputs = random.symbols();
        ConstrainedSolve solve;
        solve.M.rows = solve.M.columns = 3;
        for (std::uint32_t i = 0; i < 3; ++i) {
            const NodeId off = g.make(Op::Sin, random.next(8));
            solve.M.entries.push_back({i, i, g.add(g.constant(4), off)});
            if (i > 0) solve.M.entries.push_back({i, i - 1, off});
            solve.f.push_back(random.next(12));
            solve.x.push_back(g.add_symbol("a" + std::to_string(i), SymbolKind::other));
        }
        solve.A.rows = 1;
        solve.A.columns = 3;
        solve.A.entries = {{0, 0, g.constant(1)}, {0, 2, g.make(Op::Cos, random.next(5))}};
        solve.b.push_back(random.next(10));
        solve.lambda.push_back(g.add_symbol("l", SymbolKind::other));
        std::vector<NodeId> roots;
        for (const SymbolId s : solve.x) {
            random.add(s);
            roots.push_back(g.symbol_node(s));
        }
        random.add(solve.lambda[0]);
        for (int i = 0; i < 4; ++i) roots.push_back(random.next(25));
        Program program = lower_program(g, {inputs, {solve}, {{"values", roots}}});
        add_native_code(program);
        expect_same(program, input_values(random, inputs), "seed " + std::to_string(seed));
    }
}

}  // namespace
}  // namespace appell
