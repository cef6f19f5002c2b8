// Derivatives in closed form, the conventions at kinks, the split's failures, and a chain of a million nodes through every pass.
#include <cmath>

#include <gtest/gtest.h>

#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "expr/linear_split.hpp"
#include "expr/print.hpp"
#include "expr/substitute.hpp"
#include "support/random_expressions.hpp"

namespace appell {
namespace {

struct DifferentiateTest : testing::Test {
    Graph g;
    std::vector<Expr> s = test::make_symbols(g, 3);
    Expr x = s[0], y = s[1], z = s[2];

    Expr c(double value) { return constant(g, value); }
    Expr d(Expr e, Expr by) { return {&g, derivative(g, std::span(&e.id, 1), g.symbol_of(by.id)).front()}; }
    // the derivative in reverse mode
    Expr reverse(Expr e, Expr by) {
        const SymbolId variable = g.symbol_of(by.id);
        const NodeId found = jacobian(g, std::span(&e.id, 1), std::span(&variable, 1), DerivativeMode::reverse).find(0, 0);
        return found.valid() ? Expr{&g, found} : c(0);
    }
    double at(Expr e, double x_value, double y_value = 0) {
        const std::vector<double> values{x_value, y_value, 0};
        return evaluate<double>(g, std::span(&e.id, 1), values).front();
    }
};

TEST_F(DifferentiateTest, closed_forms_as_ids) {
    EXPECT_EQ(d(pow(x, 3), x), 3 * pow(x, 2));
    EXPECT_EQ(d(sin(x), x), cos(x));
    EXPECT_EQ(d(x * y, x), y);
    EXPECT_EQ(d(exp(x), x), exp(x));
    EXPECT_EQ(d(log(x), x), c(1) / x);
    EXPECT_EQ(d(pow(x, -1), x), -pow(x, -2));
    EXPECT_EQ(d(y * y, x), c(0));
    EXPECT_EQ(d(sin(x * y), y), x * cos(x * y));
    // the constant exponent is not differentiated: its logarithm would not exist for x < 0
    EXPECT_DOUBLE_EQ(at(d(pow(x, c(3)), x), -2), 12);
}

TEST_F(DifferentiateTest, jacobian_is_sparse_and_sorted) {
    const std::vector<NodeId> roots{(x * y).id, c(4).id, (sin(z) + x).id};
    const std::vector<SymbolId> variables{g.symbol_of(x.id), g.symbol_of(y.id), g.symbol_of(z.id)};
    for (const DerivativeMode mode : {DerivativeMode::forward, DerivativeMode::reverse, DerivativeMode::automatic}) {
        const SparseMatrix m = jacobian(g, roots, variables, mode);
        ASSERT_EQ(m.entries.size(), 4u);
        EXPECT_EQ(m.find(0, 0), y.id);
        EXPECT_EQ(m.find(0, 1), x.id);
        EXPECT_FALSE(m.find(1, 0).valid());
        EXPECT_EQ(m.find(2, 0), g.constant(1));
        EXPECT_EQ(m.find(2, 2), cos(z).id);
        for (std::size_t i = 1; i < m.entries.size(); ++i)
            EXPECT_LT(std::pair(m.entries[i - 1].row, m.entries[i - 1].column), std::pair(m.entries[i].row, m.entries[i].column));
    }
}

// The conventions written in ops.def, in both modes.
TEST_F(DifferentiateTest, kinks) {
    for (const bool forward : {true, false}) {
        SCOPED_TRACE(forward ? "forward" : "reverse");
        const auto by = [&](Expr e, Expr variable) { return forward ? d(e, variable) : reverse(e, variable); };
        EXPECT_EQ(at(by(abs(x), x), 0), 0);
        EXPECT_EQ(at(by(abs(x), x), -2), -1);
        EXPECT_EQ(at(by(sign(x), x), 0), 0);
        // min and max take the first argument's derivative where both are equal
        EXPECT_EQ(at(by(min(2 * x, 3 * x), x), 0), 2);
        EXPECT_EQ(at(by(min(3 * x, 2 * x), x), 0), 3);
        EXPECT_EQ(at(by(max(2 * x, 3 * x), x), 0), 2);
        EXPECT_EQ(at(by(max(3 * x, 2 * x), x), 0), 3);
        EXPECT_EQ(at(by(min(2 * x, 3 * x), x), 1), 2);
        EXPECT_EQ(at(by(max(2 * x, 3 * x), x), 1), 3);
        EXPECT_EQ(at(by(less(x, y), x), 0, 0), 0);
        // the chosen branch, at the border the one that the comparison chooses
        EXPECT_EQ(at(by(conditional(less(x, c(0)), 5 * x, 7 * x), x), 0), 7);
        EXPECT_EQ(at(by(conditional(less_equal(x, c(0)), 5 * x, 7 * x), x), 0), 5);
    }
}

// the branch not taken has no derivative at the point: it must not spoil the one taken
TEST_F(DifferentiateTest, the_other_branch_does_not_matter) {
    const SymbolId variable = g.symbol_of(x.id);
    const Expr guarded[] = {conditional(less(c(0), x), sqrt(x), 3 * x), max(sqrt(abs(x)), c(1) + 3 * x),
                            min(-sqrt(abs(x)), 3 * x - 1.0)};
    for (const Expr& e : guarded) {
        const SparseMatrix m = jacobian(g, std::span(&e.id, 1), std::span(&variable, 1));
        EXPECT_EQ(at({&g, m.find(0, 0)}, 0), 3);
    }
}

TEST_F(DifferentiateTest, vectors_are_refused) {
    const NodeId v = g.vector_node(g.add_vector_symbol({"v", 0, 0, 0}));
    const Expr e{&g, g.dot(g.vscale(x.id, v), v)};
    EXPECT_THROW((void)d(e, x), Error);
}

TEST_F(DifferentiateTest, split_names_the_nonlinear_term) {
    const std::vector<SymbolId> variables{g.symbol_of(x.id), g.symbol_of(y.id)};
    const FunctionId f = g.add_opaque_function("f", {"a", "b"});
    const NodeId arguments[] = {z.id, (x + 1.0).id};
    const Expr call{&g, g.call(f, arguments)};
    const std::pair<Expr, Expr> cases[] = {
        {z * (x + sin(z * y)) - x, sin(z * y)},
        {(x + 1.0) * (y + 2.0) + z, (x + 1.0) * (y + 2.0)},
        {x + z / y, z / y},
        {pow(x, 2) + y, pow(x, 2)},
        {conditional(less(x, z), y, z), less(x, z)},
        {z + 2 * call, call},
        {sqrt(pow(x, 2) + pow(y, 2)), pow(x, 2)},
    };
    for (const auto& [root, term] : cases) {
        const std::vector<NodeId> roots{(x + y).id, root.id};
        const LinearSplit split = split_linear(g, roots, variables);
        ASSERT_TRUE(split.failure.has_value()) << to_text(g, root.id);
        EXPECT_EQ(split.failure->root, 1u);
        EXPECT_EQ(split.failure->term, term.id) << to_text(g, root.id) << ": " << to_text(g, split.failure->term);
    }
}

TEST_F(DifferentiateTest, split_of_closed_forms) {
    const std::vector<SymbolId> variables{g.symbol_of(x.id), g.symbol_of(y.id)};
    const std::vector<NodeId> roots{(z * (2 * x - y) + sin(z) - x).id};
    const LinearSplit split = split_linear(g, roots, variables);
    ASSERT_FALSE(split.failure);
    EXPECT_EQ(split.coefficients.find(0, 0), (2 * z - 1.0).id);
    EXPECT_EQ(split.coefficients.find(0, 1), (-z).id);
    EXPECT_EQ(split.remainders[0], sin(z).id);
}

TEST_F(DifferentiateTest, substitution_keeps_what_it_does_not_touch) {
    Substitution sub;
    sub.set(g.symbol_of(x.id), (y + 1.0).id);
    sub.set(g.symbol_of(y.id), x.id);
    EXPECT_EQ(substitute(g, sin(z).id, sub), sin(z).id);
    EXPECT_EQ(substitute(g, (x * y).id, sub), ((y + 1.0) * x).id) << "simultaneous, not one after the other";
    // rules apply to what comes out
    Substitution zero;
    zero.set(g.symbol_of(x.id), c(0).id);
    EXPECT_EQ(substitute(g, (x * y + cos(x) + pow(x + z, 2)).id, zero), (c(1) + pow(z, 2)).id);
    // vectors
    const VectorSymbolId v = g.add_vector_symbol({"v", 0, 0, 0}), w = g.add_vector_symbol({"w", 0, 0, 1});
    Substitution vectors;
    vectors.set(v, g.vneg(g.vector_node(w)));
    EXPECT_EQ(substitute(g, g.dot(g.vector_node(v), g.vector_node(w)), vectors),
              g.neg(g.dot(g.vector_node(w), g.vector_node(w))));
    EXPECT_EQ(vector_symbols_in(g, std::vector<NodeId>{g.cross(g.vector_node(v), g.vector_node(w))}),
              (std::vector<VectorSymbolId>{v, w}));
}

TEST_F(DifferentiateTest, rates_absent_mean_constant) {
    TimeDerivative dt(g);
    dt.set_rate(g.symbol_of(x.id), y.id);
    EXPECT_EQ(dt((z * sin(x)).id), (z * (cos(x) * y)).id);
    EXPECT_EQ(dt(z.id), g.constant(0));
    // a new rate forgets what was known
    dt.set_rate(g.symbol_of(x.id), z.id);
    EXPECT_EQ(dt(x.id), z.id);
}

// Depth is no limit: x <- sin(x) + y, with a million nodes below the root, through every pass.
TEST(million_node_chain, every_pass) {
    Graph g;
    const std::vector<Expr> s = test::make_symbols(g, 2);
    const Expr x = s[0], y = s[1];
    Expr deep = x;
    for (int i = 0; i < 500'000; ++i) deep = sin(deep) + y;
    const NodeId root = deep.id;
    const std::vector<double> at{0.3, 0.1};
    const double value = evaluate<double>(g, std::span(&root, 1), at).front();

    // the same recurrences by hand
    double v = 0.3, dx = 1, dy = 0;
    for (int i = 0; i < 500'000; ++i) {
        dx = std::cos(v) * dx;
        dy = std::cos(v) * dy + 1;
        v = std::sin(v) + 0.1;
    }
    EXPECT_DOUBLE_EQ(value, v);

    const std::vector<SymbolId> variables{g.symbol_of(x.id), g.symbol_of(y.id)};
    for (const DerivativeMode mode : {DerivativeMode::forward, DerivativeMode::reverse}) {
        const SparseMatrix m = jacobian(g, std::span(&root, 1), variables, mode);
        ASSERT_EQ(m.entries.size(), 2u);
        const std::vector<NodeId> entries{m.find(0, 0), m.find(0, 1)};
        const std::vector<double> d = evaluate<double>(g, entries, at);
        EXPECT_NEAR(d[0], dx, 1e-12);
        EXPECT_NEAR(d[1], dy, 1e-9 * dy);  // the sum converges to 1 / (1 - cos v): few terms matter
    }
    TimeDerivative dt(g);
    dt.set_rate(variables[1], g.constant(1));
    const NodeId rate = dt(root);
    EXPECT_NEAR(evaluate<double>(g, std::span(&rate, 1), at).front(), dy, 1e-9 * dy);

    Substitution sub;
    sub.set(variables[0], y.id);
    const NodeId moved = substitute(g, root, sub);
    EXPECT_EQ(symbols_in(g, std::span(&moved, 1)), std::vector<SymbolId>{variables[1]});

    const std::string text = to_text(g, root);
    EXPECT_LE(text.size(), 200u);
    EXPECT_NE(text.find("with z"), std::string::npos);
    EXPECT_EQ(split_linear(g, std::span(&root, 1), variables).failure->term, sin(x).id);
}

// a linear chain, x <- (x + y) / 2 + 1, splits: the coefficient of x is 2^-n
TEST(million_node_chain, linear_split) {
    Graph g;
    const std::vector<Expr> s = test::make_symbols(g, 2);
    Expr deep = s[0];
    for (int i = 0; i < 333'334; ++i) deep = (deep + s[1]) / 2 + 1.0;
    const std::vector<SymbolId> variables{g.symbol_of(s[1].id)};
    const LinearSplit split = split_linear(g, std::span(&deep.id, 1), variables);
    ASSERT_FALSE(split.failure);
    const std::vector<double> at{0.3, 0.1};
    const NodeId coefficient = split.coefficients.find(0, 0);
    // y/2 + y/4 + ... = y
    EXPECT_DOUBLE_EQ(evaluate<double>(g, std::span(&coefficient, 1), at).front(), 1.0);
    EXPECT_DOUBLE_EQ(evaluate<double>(g, std::span(&split.remainders[0], 1), at).front(), 2.0);
}

}  // namespace
}  // namespace appell
