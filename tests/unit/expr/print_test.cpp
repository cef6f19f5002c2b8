// How expressions look: small cases, and the equations of the double pendulum and of two pucks as a paper would print them.
#include <cmath>

#include <gtest/gtest.h>

#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "expr/print.hpp"
#include "support/text_evaluator.hpp"

namespace appell {
namespace {

struct PrintTest : testing::Test {
    Graph g;
    Expr symbol(const char* name, SymbolKind kind) { return {&g, g.symbol_node(g.add_symbol(name, kind))}; }
    Expr a = symbol("a", SymbolKind::parameter), b = symbol("b", SymbolKind::parameter), m = symbol("m", SymbolKind::parameter);
    Expr x = symbol("x", SymbolKind::coordinate), y = symbol("y", SymbolKind::coordinate);
    Expr q1 = symbol("q1", SymbolKind::coordinate), q2 = symbol("q2", SymbolKind::coordinate);
    Expr u1 = symbol("u1", SymbolKind::speed), u2 = symbol("u2", SymbolKind::speed);

    Expr c(double value) { return constant(g, value); }
    std::string text(Expr e) { return to_text(g, e.id); }
    std::string latex(Expr e) { return to_latex(g, e.id); }
    std::string plain(Expr e) { return print(g, std::span(&e.id, 1), {.tidy = false}).expressions.front(); }
};

TEST_F(PrintTest, terms_are_collected_and_ordered) {
    EXPECT_EQ(text(x * y + y * x), "2*x*y");
    EXPECT_EQ(text(u1 + x + a), "a + x + u1");
    EXPECT_EQ(text(x * u1 * a), "a*x*u1");
    EXPECT_EQ(text(x + pow(x, 3) + pow(x, 2)), "x^3 + x^2 + x");
    EXPECT_EQ(text(x * y - y * x), "0");
    EXPECT_EQ(text(a * m * x + b * m * x), "m*(a + b)*x");
    EXPECT_EQ(text(a * x + b * x), "a*x + b*x") << "no gain, no change";
    EXPECT_EQ(text(x - 1.0), "x - 1");
    EXPECT_EQ(text(c(1) - x), "1 - x");
}

TEST_F(PrintTest, signs) {
    EXPECT_EQ(text(-(a - b)), "b - a");
    EXPECT_EQ(text(m * (b - a)), "m*(b - a)");
    EXPECT_EQ(text(-(a + b)), "-a - b");
    EXPECT_EQ(text(-(a + b) * m), "-m*(a + b)");
    EXPECT_EQ(text(x - (a - b)), "b - a + x");
    EXPECT_EQ(text(sin(q2 - q1)), "-sin(q1 - q2)");
    EXPECT_EQ(text(cos(q2 - q1)), "cos(q1 - q2)");
    EXPECT_EQ(text(m * (c(1) - cos(x))), "m*(1 - cos(x))");
}

TEST_F(PrintTest, quotients) {
    EXPECT_EQ(text(a * b / m), "a*b/m");
    EXPECT_EQ(text(a / (b * m)), "a/(b*m)");
    EXPECT_EQ(text(a / b / m), "a/(b*m)");
    EXPECT_EQ(text(a * x / (a * y)), "x/y");
    EXPECT_EQ(text((a + b) * x / (a + b)), "x");
    EXPECT_EQ(text((a * x + b * x) / x), "a + b");
    EXPECT_EQ(text((x + y) / (x - y)), "(x + y)/(x - y)");
    EXPECT_EQ(text(c(1) / x), "1/x");
    EXPECT_EQ(text(pow(x, -2) * a), "a/x^2");
    EXPECT_EQ(text(x / c(0)), "x/0");
}

TEST_F(PrintTest, numbers) {
    EXPECT_EQ(text(0.5 * x), "x/2");
    EXPECT_EQ(text(1.5 * (m * x)), "3*m*x/2");
    EXPECT_EQ(text(x / 3), "x/3");
    EXPECT_EQ(text(c(1) / c(3) + c(1) / c(6)), "1/2");
    EXPECT_EQ(text(0.3333333333333333 * x), "x/3");
    EXPECT_EQ(text(9.81 * m), "9.81*m");
    EXPECT_EQ(text(0.1 * (3 * x)), "0.3*x");
    EXPECT_EQ(text(c(M_PI) * x), "pi*x");
    EXPECT_EQ(text(c(3 * M_PI / 4)), "3*pi/4");
    EXPECT_EQ(text(Expr{&g, g.pi()} / 2 + x), "pi/2 + x");
    EXPECT_EQ(text(c(1e-7) * x), "1e-07*x");
    EXPECT_EQ(text(c(0)), "0");
    EXPECT_EQ(text(c(-2)), "-2");
    EXPECT_EQ(latex(c(1.5e-7) * x), "1.5 \\cdot 10^{-7} x");
}

TEST_F(PrintTest, trigonometry) {
    EXPECT_EQ(text(a * pow(sin(x), 2) + b + a * pow(cos(x), 2)), "a + b");
    EXPECT_EQ(text(a * (m * pow(sin(x), 2)) + u1 + a * pow(cos(x), 2) * m), "a*m + u1");
    EXPECT_EQ(text(cos(q1) * cos(q2) + sin(q1) * sin(q2)), "cos(q1 - q2)");
    EXPECT_EQ(text(cos(q1) * cos(q2) - sin(q1) * sin(q2)), "cos(q1 + q2)");
    EXPECT_EQ(text(sin(q1) * cos(q2) - cos(q1) * sin(q2)), "sin(q1 - q2)");
    EXPECT_EQ(text(sin(q1) * cos(q2) + cos(q1) * sin(q2)), "sin(q1 + q2)");
    EXPECT_EQ(text(sin(q1) * sin(q2) - cos(q1) * cos(q2)), "-cos(q1 + q2)");
    EXPECT_EQ(text(a * (sin(q1) * u1) * cos(q2) - cos(q1) * (a * sin(q2)) * u1 + b), "b + a*sin(q1 - q2)*u1");
    EXPECT_EQ(text(b - b * pow(sin(x), 2)), "b*cos(x)^2");
    EXPECT_EQ(text(pow(cos(x), 2) - pow(sin(x), 2)), "cos(2*x)");
    // nothing to do
    EXPECT_EQ(text(a * pow(sin(x), 2) + b * pow(cos(x), 2)), "a*sin(x)^2 + b*cos(x)^2");
    // angles that are sums
    EXPECT_EQ(text(cos(q1 + q2) * cos(q2) + sin(q1 + q2) * sin(q2)), "cos(q1)");
}

TEST_F(PrintTest, functions_and_conditions) {
    EXPECT_EQ(text(sqrt(x) * sqrt(x) * sqrt(x)), "x*sqrt(x)");
    EXPECT_EQ(text(pow(a, x + 1.0)), "a^(1 + x)");
    EXPECT_EQ(text(pow(x + y, 2) * a), "a*(x + y)^2");
    EXPECT_EQ(text(conditional(less(x, y), a, -a)), "if(x < y, a, -a)");
    EXPECT_EQ(text(less_equal(x, y) * a), "a*if(x <= y, 1, 0)");
    EXPECT_EQ(text(conditional(x, a, b)), "if(0 < abs(x), a, b)");
    EXPECT_EQ(text(atan2(y, x) + min(a, b)), "min(a, b) + atan2(y, x)");
    EXPECT_EQ(latex(conditional(less(x, y), a, b)),
              "\\begin{cases} a & \\text{if } x < y \\\\ b & \\text{otherwise} \\end{cases}");
    EXPECT_EQ(latex(pow(sin(x), 2)), "\\sin^2(x)");
    EXPECT_EQ(latex(sqrt(x / y)), "\\sqrt{\\frac{x}{y}}");
    EXPECT_EQ(latex(abs(x)), "\\left|x\\right|");
}

TEST_F(PrintTest, opaque_functions_and_their_partials) {
    const FunctionId f = g.add_opaque_function("g", {"x", "t"});
    const FunctionId h = g.add_opaque_function("h1", {"theta", "phi"});
    const NodeId arguments[] = {x.id, (2 * y).id};
    EXPECT_EQ(to_text(g, g.call(f, arguments)), "g(x, 2*y)");
    EXPECT_EQ(to_text(g, g.call(g.partial(f, 0), arguments)), "g_x(x, 2*y)");
    EXPECT_EQ(to_text(g, g.call(g.partial(g.partial(f, 1), 0), arguments)), "g_xt(x, 2*y)");
    EXPECT_EQ(to_text(g, g.call(g.partial(g.partial(h, 1), 0), arguments)), "h1_theta_phi(x, 2*y)");
    EXPECT_EQ(to_latex(g, g.call(g.partial(f, 0), arguments)), "g_{x}(x, 2 y)");
    EXPECT_EQ(to_latex(g, g.call(g.partial(h, 0), arguments)), "{h_1}_{\\theta}(x, 2 y)");
}

TEST_F(PrintTest, vectors) {
    const auto vector = [&](const char* name, std::uint8_t kind) {
        return g.vector_node(g.add_vector_symbol({name, kind, 0, 0}));
    };
    const NodeId nx = vector("N.x", 0), ny = vector("N.y", 0), v = vector("vel(P1)", 2), w = vector("omega(B)", 4);
    EXPECT_EQ(to_text(g, g.vadd(g.vscale(u1.id, ny), g.vscale(x.id, nx))), "x*N.x + u1*N.y");
    EXPECT_EQ(to_text(g, g.vadd(g.vscale((x - y).id, nx), g.vneg(ny))), "(x - y)*N.x - N.y");
    EXPECT_EQ(to_text(g, g.dot(v, g.cross(w, nx))), "dot(vel(P1), cross(omega(B), N.x))");
    EXPECT_EQ(to_text(g, g.vdt(v, 0)), "dt(vel(P1), N)");
    EXPECT_EQ(to_text(g, g.vector_zero()), "0");
    EXPECT_EQ(to_latex(g, g.vscale((x / 2).id, nx)), "\\frac{x}{2} \\hat{\\mathbf{n}}_x");
    EXPECT_EQ(to_latex(g, g.dot(v, g.cross(w, nx))),
              "\\mathbf{v}^{P_1} \\cdot (\\boldsymbol{\\omega}^{B} \\times \\hat{\\mathbf{n}}_x)");
    EXPECT_EQ(to_latex(g, g.mul(m.id, g.dot(v, w))), "m (\\mathbf{v}^{P_1} \\cdot \\boldsymbol{\\omega}^{B})");
}

TEST(print_names, latex) {
    const std::pair<const char*, const char*> cases[] = {
        {"q", "q"},
        {"q'", "\\dot{q}"},
        {"q1''", "\\ddot{q}_1"},
        {"theta", "\\theta"},
        {"theta12'", "\\dot{\\theta}_{12}"},
        {"u1", "u_1"},
        {"x_cart", "x_{\\mathrm{cart}}"},
        {"x[3]", "x_3"},
        {"x_3", "x_{\\mathit{3}}"},
        {"x[10]'", "\\dot{x}_{10}"},
        {"P[1,2]", "P_{1,2}"},
        {"lambda(c)", "\\lambda_{\\mathrm{c}}"},
        {"lambda(rolling, x)", "\\lambda_{\\mathrm{rolling},\\mathrm{x}}"},
        {"mass", "\\mathrm{mass}"},
        {"m_1_a", "m_{\\mathit{1},\\mathrm{a}}"},
        {"", ""},
        {"_", "\\_"},
        {"x_", "x"},
    };
    for (const auto& [name, expected] : cases) EXPECT_EQ(latex_name(name), expected) << name;
    EXPECT_EQ(latex_vector_name("N.x"), "\\hat{\\mathbf{n}}_x");
    EXPECT_EQ(latex_vector_name("B2.z"), "\\hat{\\mathbf{b}}_{2,z}");
    EXPECT_EQ(latex_vector_name("pos(P)"), "\\mathbf{r}^{P}");
    EXPECT_EQ(latex_vector_name("vel(B at P1)"), "\\mathbf{v}^{B\\,\\text{at}\\,P_1}");
}

// Lagrange's equations of the double pendulum, from its velocities: M, and f = dT/dq - dp/dq u - dV/dq
TEST(print_equations, double_pendulum) {
    Graph g;
    const auto symbol = [&](const char* name, SymbolKind kind) { return Expr{&g, g.symbol_node(g.add_symbol(name, kind))}; };
    const Expr m1 = symbol("m1", SymbolKind::parameter), m2 = symbol("m2", SymbolKind::parameter);
    const Expr l1 = symbol("l1", SymbolKind::parameter), l2 = symbol("l2", SymbolKind::parameter),
               gravity = symbol("g", SymbolKind::parameter);
    const Expr q1 = symbol("q1", SymbolKind::coordinate), q2 = symbol("q2", SymbolKind::coordinate);
    const Expr u1 = symbol("u1", SymbolKind::speed), u2 = symbol("u2", SymbolKind::speed);
    const Expr vx1 = l1 * cos(q1) * u1, vy1 = l1 * sin(q1) * u1, vx2 = vx1 + l2 * cos(q2) * u2, vy2 = vy1 + l2 * sin(q2) * u2;
    const Expr kinetic = 0.5 * (m1 * (vx1 * vx1 + vy1 * vy1) + m2 * (vx2 * vx2 + vy2 * vy2));
    const Expr potential = -(m1 * gravity * l1 * cos(q1)) - m2 * gravity * (l1 * cos(q1) + l2 * cos(q2));
    const auto d = [&](Expr e, Expr by) { return Expr{&g, derivative(g, std::span(&e.id, 1), g.symbol_of(by.id)).front()}; };
    const Expr p1 = d(kinetic, u1), p2 = d(kinetic, u2);
    const auto force = [&](Expr p, Expr q) { return d(kinetic, q) - d(p, q1) * u1 - d(p, q2) * u2 - d(potential, q); };
    EXPECT_EQ(to_text(g, d(p1, u1).id), "l1^2*(m1 + m2)");
    EXPECT_EQ(to_text(g, d(p1, u2).id), "m2*l1*l2*cos(q1 - q2)");
    EXPECT_EQ(to_text(g, d(p2, u2).id), "m2*l2^2");
    EXPECT_EQ(to_text(g, force(p1, q1).id), "-l1*(g*(m1 + m2)*sin(q1) + m2*l2*sin(q1 - q2)*u2^2)");
    EXPECT_EQ(to_text(g, force(p2, q2).id), "m2*l2*(l1*sin(q1 - q2)*u1^2 - g*sin(q2))");
    EXPECT_EQ(to_latex(g, d(p1, u2).id), "m_2 l_1 l_2 \\cos(q_1 - q_2)");
}

TEST(print_equations, pucks) {
    Graph g;
    const auto symbol = [&](const char* name, SymbolKind kind) { return Expr{&g, g.symbol_node(g.add_symbol(name, kind))}; };
    const Expr m1 = symbol("m1", SymbolKind::parameter), m2 = symbol("m2", SymbolKind::parameter);
    const Expr s1 = symbol("s1", SymbolKind::parameter), s3 = symbol("s3", SymbolKind::parameter);
    std::vector<Expr> u;
    for (const char* name : {"u1", "u2", "u3", "u4"}) u.push_back(symbol(name, SymbolKind::speed));
    const Expr rate = symbol("u1'", SymbolKind::speed_rate), lambda = symbol("lambda", SymbolKind::multiplier);
    EXPECT_EQ(to_text(g, (rate * m1).id) + " = " + to_text(g, (u[2] * lambda + s1).id), "m1*u1' = s1 + lambda*u3");
    EXPECT_EQ(to_latex(g, (rate * m1).id) + " = " + to_latex(g, (u[2] * lambda + s1).id), "m_1 \\dot{u}_1 = s_1 + \\lambda u_3");
    const Expr multiplier =
        -(m1 * s3 * u[0] + m2 * s1 * u[2]) / (m1 * (pow(u[0], 2) + pow(u[1], 2)) + m2 * (pow(u[2], 2) + pow(u[3], 2)));
    EXPECT_EQ(to_text(g, multiplier.id), "-(m1*s3*u1 + m2*s1*u3)/(m1*(u1^2 + u2^2) + m2*(u3^2 + u4^2))");
}

TEST_F(PrintTest, words_do_not_run_into_each_other_in_latex) {
    const Expr yaw = symbol("yaw'", SymbolKind::speed), spin = symbol("spin'", SymbolKind::speed);
    EXPECT_EQ(latex(yaw * spin), "\\dot{\\mathrm{yaw}} \\, \\dot{\\mathrm{spin}}");
    EXPECT_EQ(latex(a * spin), "a \\, \\dot{\\mathrm{spin}}");
    EXPECT_EQ(latex(a * sin(yaw) * x), "a x \\sin(\\dot{\\mathrm{yaw}})");  // nothing to part here
}

TEST_F(PrintTest, plain_printing_keeps_the_structure) {
    EXPECT_EQ(plain(a - (b - x)), "a - (b - x)");
    EXPECT_EQ(plain(a / (b * x)), "a/(b*x)");
    EXPECT_EQ(plain(pow(a + b, 2)), "(a + b)^2");
    EXPECT_EQ(plain(-(a * b)), "-a*b");
    EXPECT_EQ(plain(pow(x, -2)), "x^(-2)");
    EXPECT_EQ(plain(pow(c(-2), x)), "(-2)^x");
}

// 2^60 occurrences of x when written out: the names keep it short, and the value is the one of the expression
TEST_F(PrintTest, sharing_does_not_blow_up) {
    Expr e = x;
    for (int i = 0; i < 60; ++i) e = sin(e) * y + e;
    for (const bool tidy : {false, true}) {
        const Printed printed = print(g, std::span(&e.id, 1), {.tidy = tidy});
        EXPECT_FALSE(printed.definitions.empty());
        std::size_t total = printed.expressions[0].size();
        for (const auto& [name, text] : printed.definitions) {
            EXPECT_LE(text.size(), 200u) << name;
            total += text.size();
        }
        EXPECT_LT(total, 6000u);
        const std::vector<double> at(9, 0.3);
        const double found = test::values_of<double>(printed, {{"x", 0.3}, {"y", 0.3}}).front();
        EXPECT_NEAR(found, evaluate<double>(g, std::span(&e.id, 1), at).front(), 1e-12);
    }
}

TEST_F(PrintTest, short_roots_need_no_names_and_long_ones_share_them) {
    const Expr shared = sin(a * x + b * y + m * q1) * (x + y + q1 + q2);
    Expr one = shared, two = shared;
    for (int i = 1; i < 12; ++i) {
        one = one + pow(x, i) * exp(shared * y);
        two = two - pow(y, i) * log(shared + x);
    }
    const std::vector<NodeId> roots{(a * x).id, one.id, two.id};
    const Printed printed = print(g, roots);
    EXPECT_EQ(printed.expressions[0], "a*x");
    ASSERT_FALSE(printed.definitions.empty());
    EXPECT_EQ(printed.definitions[0].first, "z1");
    for (const std::size_t root : {1u, 2u}) EXPECT_NE(printed.expressions[root].find("z1"), std::string::npos);
    // each definition uses earlier names only
    for (std::size_t i = 0; i < printed.definitions.size(); ++i)
        for (std::size_t k = i; k < printed.definitions.size(); ++k)
            EXPECT_EQ((printed.definitions[i].second + " ").find(printed.definitions[k].first + " "), std::string::npos);
}

TEST_F(PrintTest, intermediates_avoid_the_names_of_symbols) {
    const Expr z1 = symbol("z1", SymbolKind::coordinate);
    Expr e = z1;
    for (int i = 0; i < 30; ++i) e = sin(e) * y + e;
    const Printed printed = print(g, std::span(&e.id, 1));
    ASSERT_FALSE(printed.definitions.empty());
    EXPECT_EQ(printed.definitions[0].first, "zz1");
}

TEST_F(PrintTest, messages_are_short) {
    Expr e = x;
    for (int i = 0; i < 100; ++i) e = sin(e) * y + e;
    const std::string message = text(e);
    EXPECT_LE(message.size(), 200u);
    EXPECT_TRUE(message.ends_with("..."));
    EXPECT_NE(message.find(" with z"), std::string::npos);
}

}  // namespace
}  // namespace appell
