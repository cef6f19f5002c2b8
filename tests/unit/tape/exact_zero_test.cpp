// Zeros decided without rounding: what is proved, what is refuted, and what is left to others.
#include "tape/exact_zero_test.hpp"

#include <gtest/gtest.h>

#include <random>

#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"

namespace appell {
namespace {

class ExactZeroTest : public ::testing::Test {
protected:
    Expr symbol(const char* name) { return {&g, g.symbol_node(g.add_symbol(name, SymbolKind::parameter))}; }
    ZeroVerdict verdict(Expr e) { return exact_zero_test(g, std::span(&e.id, 1)).front(); }

    Graph g;
    Expr x = symbol("x"), y = symbol("y"), z = symbol("z");
};

TEST_F(ExactZeroTest, ProvesIdentitiesOfRationalFunctionsSinesAndCosines) {
    EXPECT_EQ(verdict((x * x - y * y) / (x - y) - (x + y)), ZeroVerdict::zero);
    EXPECT_EQ(verdict(pow(x / y, -3) - (y * y * y) / (x * x * x)), ZeroVerdict::zero);
    EXPECT_EQ(verdict(sin(x + y) - (sin(x) * cos(y) + cos(x) * sin(y))), ZeroVerdict::zero);
    EXPECT_EQ(verdict(cos(x - y) - (cos(x) * cos(y) + sin(x) * sin(y))), ZeroVerdict::zero);
    EXPECT_EQ(verdict(sin(3.0 * x) - (3.0 * sin(x) - 4.0 * pow(sin(x), 3))), ZeroVerdict::zero);
    EXPECT_EQ(verdict(sin(-2.0 * x + y) - (sin(y) * cos(2.0 * x) - cos(y) * sin(2.0 * x))), ZeroVerdict::zero);
    EXPECT_EQ(verdict(tan(x + y) * (constant(g, 1) - tan(x) * tan(y)) - (tan(x) + tan(y))), ZeroVerdict::zero);
    // an angle may be as deep as it likes
    Expr sum = x, c = cos(x), s = sin(x);
    for (int i = 0; i < 20000; ++i) {
        sum = sum + (i % 2 == 0 ? y : z);
        const Expr angle = i % 2 == 0 ? y : z, c_before = c;
        c = c * cos(angle) - s * sin(angle);
        s = s * cos(angle) + c_before * sin(angle);
    }
    EXPECT_EQ(verdict(sin(sum) - s), ZeroVerdict::zero);
}

TEST_F(ExactZeroTest, RefutesWhatIsNotZeroHoweverSmall) {
    EXPECT_EQ(verdict(x), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(1e-300 * x), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(sin(x) - x), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(sin(x) - sin(y)), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(sin(x + y) - (sin(x) * cos(y) - cos(x) * sin(y))), ZeroVerdict::not_zero);
    // the doubles nearest to these numbers: 0.1 + 0.2 is not 0.3, eight times 0.1 is 0.8
    const Expr third = constant(g, 1) / 3.0;
    EXPECT_EQ(verdict((0.1 * x + 0.2 * y) - 0.3 * (x + y)), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(0.1 * (x + y) + 0.2 * (x + z) + -0.3 * x - (0.1 * y + 0.2 * z)), ZeroVerdict::not_zero);
    EXPECT_EQ(verdict(8.0 * (0.1 * (x + y)) - (0.8 * x + 0.8 * y)), ZeroVerdict::zero);
    EXPECT_EQ(verdict(third * (3.0 * (x + y)) - (x + y)), ZeroVerdict::zero);
    EXPECT_EQ(verdict(0x1p-1074 * (x + y) - (0x1p-1074 * x + 0x1p-1074 * y)), ZeroVerdict::zero);
}

TEST_F(ExactZeroTest, LeavesOpenWhatOtherFunctionsDecide) {
    EXPECT_EQ(verdict(exp(x + y) - exp(x) * exp(y)), ZeroVerdict::open);
    EXPECT_EQ(verdict(sin(x) - 2.0 * (sin(x / 2.0) * cos(x / 2.0))), ZeroVerdict::open);
    EXPECT_EQ(verdict(abs(x) - x), ZeroVerdict::open);
    EXPECT_EQ(verdict(sin(Expr{&g, g.pi()} / 6.0) - 0.5), ZeroVerdict::open);
    EXPECT_EQ(verdict(log(-x)), ZeroVerdict::open);
    // zero whatever the root is
    EXPECT_EQ(verdict(sqrt(x) * (y + z) - (sqrt(x) * y + sqrt(x) * z)), ZeroVerdict::zero);
    // no divisor, no statement
    const Expr nothing = (x + y) * z - (x * z + y * z), also_nothing = (y + z) * (y - z) - (y * y - z * z);
    EXPECT_EQ(verdict(x / nothing), ZeroVerdict::open);
    EXPECT_EQ(verdict(also_nothing / nothing), ZeroVerdict::open);
    EXPECT_EQ(verdict(also_nothing * (x / nothing)), ZeroVerdict::open);
    EXPECT_EQ(verdict(also_nothing * sin(x / nothing)), ZeroVerdict::open);
    EXPECT_EQ(verdict(also_nothing * sqrt(x / nothing)), ZeroVerdict::open);
}

// two ways to differentiate meet in expressions of different form
TEST_F(ExactZeroTest, DerivativesForwardAndBackwardAgree) {
    std::mt19937 random(7);
    const std::vector<SymbolId> variables{g.symbol_of(x.id), g.symbol_of(y.id), g.symbol_of(z.id)};
    for (int round = 0; round < 50; ++round) {
        std::vector<Expr> pool{x, y, z, constant(g, 0.3), constant(g, 2)};
        const auto any = [&] { return pool[random() % pool.size()]; };
        for (int i = 0; i < 25; ++i) {
            const Expr a = any(), b = any();
            switch (random() % 6) {
                case 0: pool.push_back(a + b); break;
                case 1: pool.push_back(a - b); break;
                case 2: pool.push_back(a * b); break;
                case 3: pool.push_back(a / (b * b + 1.5)); break;
                case 4: pool.push_back(sin(x + 2.0 * y)); break;
                default: pool.push_back(cos(y) * a); break;
            }
        }
        const NodeId root = pool.back().id;
        const SparseMatrix forward = jacobian(g, std::span(&root, 1), variables, DerivativeMode::forward);
        const SparseMatrix backward = jacobian(g, std::span(&root, 1), variables, DerivativeMode::reverse);
        for (std::size_t k = 0; k < variables.size(); ++k) {
            const NodeId f = forward.find(0, k), b = backward.find(0, k);
            const Expr difference = Expr{&g, f.valid() ? f : g.constant(0)} - Expr{&g, b.valid() ? b : g.constant(0)};
            EXPECT_EQ(verdict(difference), ZeroVerdict::zero);
            EXPECT_EQ(verdict(difference + x), ZeroVerdict::not_zero);
        }
    }
}

// what turns with a body is the same at all angles; what is a pole here stays one, and none comes up elsewhere
TEST(IdleSymbols, AreLeftOut) {
    Graph g;
    const auto named = [&](const char* name, SymbolKind kind) { return Expr{&g, g.symbol_node(g.add_symbol(name, kind))}; };
    const Expr a = named("a", SymbolKind::coordinate), b = named("b", SymbolKind::coordinate),
               m = named("m", SymbolKind::parameter);
    const auto without = [&](const Expr& e) { return without_idle_symbols(g, e.id); };
    EXPECT_EQ(without(m * sin(a) * sin(a) + m * cos(a) * cos(a)), m.id);
    EXPECT_EQ(without(cos(a) * cos(a - b) + sin(a) * sin(a - b)), cos(b).id);
    const Expr depends = cos(a) * cos(b) + m;
    EXPECT_EQ(without(depends), depends.id);
    const Expr s = sin(a + b), pole = (m * s * s + 2.0 * s * s) / (s * s);
    const NodeId kept = without(pole);
    for (const SymbolId symbol : symbols_in(g, std::span(&pole.id, 1))) EXPECT_TRUE(depends_on(g, kept, symbol));
    const Expr piecewise = abs(a) - abs(a) + m;
    EXPECT_EQ(without(piecewise), m.id);
}

}  // namespace
}  // namespace appell
