// Facts about the expression graph: identity, order, exact constants, limits, reproducibility.
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "expr/dependence.hpp"
#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "support/random_expressions.hpp"

namespace appell {
namespace {

struct GraphTest : testing::Test {
    Graph g;
    std::vector<Expr> s = test::make_symbols(g, 3);
    Expr x = s[0], y = s[1], z = s[2];

    Expr c(double value) { return constant(g, value); }
};

TEST_F(GraphTest, commutative_operations_have_one_node) {
    EXPECT_EQ(x + y, y + x);
    EXPECT_EQ(x * y, y * x);
    EXPECT_EQ((x + y) * z, z * (y + x));
    EXPECT_NE(x - y, y - x);
    const NodeId v = g.vector_node(g.add_vector_symbol({"v", 0, 0, 0})), w = g.vector_node(g.add_vector_symbol({"w", 0, 0, 1}));
    EXPECT_EQ(g.dot(v, w), g.dot(w, v));
    EXPECT_EQ(g.vadd(v, w), g.vadd(w, v));
    EXPECT_NE(g.cross(v, w), g.cross(w, v));
}

TEST_F(GraphTest, equal_expressions_are_equal_ids) {
    const Expr first = sin(x + y) * pow(z, 3);
    const std::size_t before = g.size();
    EXPECT_EQ(pow(z, 3) * sin(y + x), first);
    EXPECT_EQ(g.size(), before) << "asking again makes no node";
}

TEST_F(GraphTest, operands_are_older_than_their_node) {
    test::RandomExpressions random(g, s, 7, {.piecewise = true, .opaque = true});
    const NodeId root = random.next(60).id;
    (void)derivative(g, std::span(&root, 1), g.symbol_of(x.id));
    for (std::size_t i = 0; i < g.size(); ++i)
        for (int k = 0; k < g.arity(NodeId(i)); ++k) EXPECT_LT(g.operand(NodeId(i), k).index(), i);
}

TEST_F(GraphTest, constants_fold_only_when_exact) {
    EXPECT_EQ(c(0.5) + c(0.25), c(0.75));
    EXPECT_EQ(c(3) * c(0.125), c(0.375));
    EXPECT_EQ(c(3) / c(8), c(0.375));
    EXPECT_EQ(pow(c(10), 3), c(1000));
    EXPECT_EQ(sqrt(c(2.25)), c(1.5));
    // each of these would round
    EXPECT_EQ(g.op((c(0.1) + c(0.2)).id), Op::Add);
    EXPECT_EQ(g.op((c(0.1) * c(3)).id), Op::Mul);
    EXPECT_EQ(g.op((c(1) / c(3)).id), Op::Div);
    EXPECT_EQ(g.op(sqrt(c(2)).id), Op::Sqrt);
    EXPECT_EQ(g.op((c(1e308) + c(1e308)).id), Op::Add) << "overflow";
    EXPECT_EQ(g.op(sin(c(1)).id), Op::Sin);
    // 1 - 0.9 is exact in double (Sterbenz), so it folds to the double that it is
    EXPECT_EQ(c(1) - c(0.9), c(1 - 0.9));
}

// the error of a product below 2^-1022 is not a double, so it can not be seen by subtraction
TEST_F(GraphTest, tiny_products_are_not_taken_for_exact) {
    const double tiny = 0x1.0000001p-530;  // its square needs 57 bits and is subnormal
    EXPECT_EQ(g.op(pow(c(tiny), 2).id), Op::PowInt);
    EXPECT_EQ(g.op((c(tiny) * c(0x1.0000003p-530)).id), Op::Mul);
    EXPECT_EQ(g.op((c(0x1.8p-1073) / c(3)).id), Op::Div);
}

TEST_F(GraphTest, zero_has_one_node_and_nan_none) {
    EXPECT_EQ(c(0.0), c(-0.0));
    EXPECT_FALSE(std::signbit(*g.constant_value(c(-0.0).id)));
    EXPECT_EQ(-c(0.0), c(0.0));
    EXPECT_THROW((void)g.constant(std::numeric_limits<double>::quiet_NaN()), Error);
    // nothing folds to a NaN
    EXPECT_EQ(g.op((c(0) / c(0)).id), Op::Div);
    const Expr infinity = c(std::numeric_limits<double>::infinity());
    EXPECT_EQ(g.op((infinity + -infinity).id), Op::Add);
    // division by the constant zero is kept, to be diagnosed where it is evaluated
    EXPECT_EQ(g.op((x / c(0)).id), Op::Div);
}

TEST_F(GraphTest, node_limit_stops_growth) {
    Graph small(10);
    Expr e{&small, small.symbol_node(small.add_symbol("x", SymbolKind::other))};
    EXPECT_THROW(for (int i = 0; i < 100; ++i) e = sin(e), NodeLimitReached);
    EXPECT_EQ(small.size(), 10u);
    // what exists is still found
    EXPECT_EQ(small.symbol_node(SymbolId(0)).index(), 0u);
}

TEST_F(GraphTest, graphs_do_not_mix) {
    Graph other;
    const Expr foreign{&other, other.symbol_node(other.add_symbol("x", SymbolKind::other))};
    EXPECT_THROW((void)(x + foreign), Error);
    EXPECT_THROW((void)conditional(x, y, foreign), Error);
}

TEST_F(GraphTest, calls_check_their_arguments) {
    const FunctionId f = g.add_opaque_function("f", {"a", "b"});
    const NodeId one[] = {x.id};
    EXPECT_THROW((void)g.call(f, one), Error);
    const NodeId two[] = {x.id, y.id};
    const NodeId call = g.call(f, two);
    EXPECT_EQ(g.call_arguments(call), (std::vector<NodeId>{x.id, y.id}));
    EXPECT_EQ(opaque_functions_in(g, std::span(&call, 1)), std::vector<FunctionId>{f});
    const NodeId d = derivative(g, std::span(&call, 1), g.symbol_of(x.id)).front();
    EXPECT_EQ(opaque_functions_in(g, std::span(&d, 1)), std::vector<FunctionId>{f}) << "partials count as their base";
}

TEST_F(GraphTest, given_functions_are_expanded) {
    const SymbolId a = g.add_symbol("a", SymbolKind::argument);
    const Expr formal{&g, g.symbol_node(a)};
    const FunctionId f = g.add_given_function("square_plus_one", {a}, (formal * formal + 1.0).id);
    const NodeId arguments[] = {(x + y).id};
    EXPECT_EQ(g.call(f, arguments), (pow(x + y, 2) + 1.0).id);
    // a formal of one call may be an argument of the next
    const NodeId nested[] = {g.call(f, arguments)};
    EXPECT_EQ(g.call(f, nested), (pow(pow(x + y, 2) + 1.0, 2) + 1.0).id);
}

TEST_F(GraphTest, balanced_sum) {
    std::vector<NodeId> terms;
    for (int i = 0; i < 37; ++i) terms.push_back((static_cast<double>(i + 1) * x).id);
    EXPECT_EQ(g.sum(terms), (703.0 * x).id) << "1 + 2 + ... + 37 = 37 * 38 / 2";
    EXPECT_EQ(g.sum({}), g.constant(0));
}

std::string dump(const Graph& g) {
    std::string bytes;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const Node& n = g.node(NodeId(i));
        bytes += std::to_string(static_cast<int>(n.op)) + ' ' + std::to_string(n.a) + ' ' + std::to_string(n.b) + ' ' +
                 std::to_string(n.c) + '\n';
    }
    return bytes;
}

TEST(graph_determinism, two_builds_give_the_same_bytes) {
    const auto build = [] {
        Graph g;
        const std::vector<Expr> s = test::make_symbols(g, 4);
        test::RandomExpressions random(g, s, 99, {.piecewise = true, .opaque = true});
        std::vector<NodeId> roots;
        for (int i = 0; i < 5; ++i) roots.push_back(random.next(30).id);
        std::vector<SymbolId> variables;
        for (const Expr& e : s) variables.push_back(g.symbol_of(e.id));
        (void)jacobian(g, roots, variables, DerivativeMode::reverse);
        (void)jacobian(g, roots, variables, DerivativeMode::forward);
        return dump(g);
    };
    const std::string first = build();
    EXPECT_GT(first.size(), 1000u);
    EXPECT_EQ(first, build());
}

TEST(evaluate_directly, a_symbol_without_a_value_is_an_error) {
    Graph g;
    const std::vector<Expr> s = test::make_symbols(g, 2);
    const NodeId root = (s[0] + s[1]).id;
    const std::vector<double> one{1.0};
    EXPECT_THROW((void)evaluate<double>(g, std::span(&root, 1), one), Error);
    EXPECT_THROW((void)apply_op<double>(Op::Symbol, 0, 0, 0), Error);
}

}  // namespace
}  // namespace appell
