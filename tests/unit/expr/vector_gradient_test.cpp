// Gradients by vectors: the product rules as identities of nodes, the scalars beside the vectors, dt(v, A), and a deep chain.
#include <gtest/gtest.h>

#include "expr/vector_gradient.hpp"

namespace appell {
namespace {

struct VectorGradientTest : testing::Test {
    Graph g;
    NodeId a = vector("a"), b = vector("b"), c = vector("c");
    NodeId s = g.symbol_node(g.add_symbol("s", SymbolKind::other));

    NodeId vector(const char* name) { return g.vector_node(g.add_vector_symbol({name, 0, 0, 0})); }
    NodeId by(NodeId expression, NodeId symbol) {
        for (const auto& entry : vector_gradient(g, expression).vectors)
            if (entry.symbol == g.vector_symbol_of(symbol)) return entry.value;
        return {};
    }
};

TEST_F(VectorGradientTest, ProductsFollowTheirRules) {
    EXPECT_EQ(by(g.dot(a, b), a), b);
    EXPECT_EQ(by(g.dot(a, b), b), a);
    EXPECT_FALSE(by(g.dot(a, b), c).valid());
    EXPECT_EQ(by(g.dot(g.cross(a, b), c), a), g.cross(b, c));
    EXPECT_EQ(by(g.dot(g.cross(a, b), c), b), g.cross(c, a));
    EXPECT_EQ(by(g.dot(g.cross(a, b), c), c), g.cross(a, b));
    EXPECT_EQ(by(g.dot(a, a), a), g.vadd(a, a));
    EXPECT_EQ(by(g.dot(g.vadd(a, g.vneg(b)), c), b), g.vneg(c));
    EXPECT_EQ(by(g.dot(g.vscale(s, a), b), a), g.vscale(s, b));
    // through scalar operations: d sin(a . b)/da = cos(a . b) b
    const NodeId ab = g.dot(a, b);
    EXPECT_EQ(by(g.make(Op::Sin, ab), a), g.vscale(g.make(Op::Cos, ab), b));
    EXPECT_EQ(by(g.pow(ab, 3), a), g.vscale(g.mul(g.constant(3), g.pow(ab, 2)), b));
}

TEST_F(VectorGradientTest, ScalarsBesideVectorsAreListed) {
    const VectorGradient found = vector_gradient(g, g.dot(g.vscale(s, a), b));
    ASSERT_EQ(found.scalars.size(), 1u);
    EXPECT_EQ(found.scalars.front().symbol, g.symbol_of(s));
    EXPECT_EQ(found.scalars.front().value, g.dot(a, b));
    EXPECT_FALSE(found.derivative.valid());
    EXPECT_TRUE(vector_gradient(g, g.dot(a, b)).scalars.empty());
}

TEST_F(VectorGradientTest, OpaqueFunctionsGiveTheirPartials) {
    const FunctionId f = g.add_opaque_function("f", {"p", "r"});
    const NodeId arguments[] = {g.dot(a, b), s};
    EXPECT_EQ(by(g.call(f, arguments), a), g.vscale(g.call(g.partial(f, 0), arguments), b));
}

TEST_F(VectorGradientTest, StopsAtTimeDerivatives) {
    const NodeId rate = g.vdt(a, 0);
    const VectorGradient found = vector_gradient(g, g.dot(rate, b));
    EXPECT_EQ(found.derivative, rate);
    ASSERT_EQ(found.vectors.size(), 1u);
    EXPECT_EQ(found.vectors.front().value, rate);  // by b
}

TEST_F(VectorGradientTest, RefusesVectors) { EXPECT_THROW((void)vector_gradient(g, g.cross(a, b)), Error); }

TEST_F(VectorGradientTest, DeepChainsDoNotRecurse) {
    NodeId v = a;
    for (int i = 0; i < 100'000; ++i) v = g.cross(b, v);
    EXPECT_TRUE(by(g.dot(v, c), a).valid());
}

}  // namespace
}  // namespace appell
