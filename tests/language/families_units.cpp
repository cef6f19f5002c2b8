// Families, sums, units and their algebra.
#include <gtest/gtest.h>

#include "lang/schema.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::read;
using language_test::read_ok;
using language_test::value_at;
using language_test::with;

// it is read for its first value alone, and members that the others would have made are not missed
TEST(LanguageFamilies, AFamilyWithoutItsEndIsOneProblem) {
    const Result<Model> found = read(with("for i in 1..3\ncoord y[i] = 1 m\nparticle P[i] mass 1 kg at O + y[4-i]*N.y"));
    ASSERT_EQ(found.diagnostics.all().size(), 1u);
    EXPECT_EQ(found.diagnostics.all()[0].code, Code::E0108);
    const Result<Model> closed = read(with("for i in 1..3\ncoord y[i] = 1 m\nparticle P[i] mass 1 kg at O + y[5-i]*N.y\nend"));
    ASSERT_EQ(closed.diagnostics.all().size(), 1u);
    EXPECT_EQ(closed.diagnostics.all()[0].code, Code::E0207);
}

TEST(LanguageFamilies, MembersSumsAndConditions) {
    const Model m = read_ok(R"(system s
size n = 4
param l = 1 m
for i in 1..n
  coord x[i] = i*l, y[i]
  for j in i..n where j != 2 and j < 4
    param k[i,j] = 10*i + j
  end
end
particle P[1] mass 1 kg at O + x[1]*N.x
for i in 2..n
  particle P[i] mass i at P[i-1] + x[i]*N.x
  spring P[i] P[i-1] stiffness 2 N/m
end
output total = sum(i in 1..n: i*x[i]), empty = sum(i in 1..0: x[i]), pairs = sum(i in 1..n: sum(j in 1..i: i*j))
output reach = dot(sum(i in 1..n: P[i] - O), N.x)
)");
    std::vector<std::string> names;
    for (const Coordinate& q : m.coordinates) names.push_back(q.name);
    EXPECT_EQ(names, (std::vector<std::string>{"x[1]", "y[1]", "x[2]", "y[2]", "x[3]", "y[3]", "x[4]", "y[4]"}));
    EXPECT_EQ(m.coordinates[4].start, 3);
    std::vector<std::string> params;
    for (const Parameter& p : m.parameters) params.push_back(p.name);
    EXPECT_EQ(params, (std::vector<std::string>{"l", "k[1,1]", "k[1,3]", "k[2,3]", "k[3,3]"}));
    EXPECT_EQ(m.parameters[2].value, 13);
    EXPECT_EQ(m.particles.size(), 4u);
    EXPECT_EQ(m.loads.size(), 3u);
    EXPECT_EQ(value_at(m, m.outputs[0].value, {{"x[1]", 1}, {"x[2]", 10}, {"x[3]", 100}, {"x[4]", 1000}}), 1 + 20 + 300 + 4000);
    EXPECT_EQ(value_at(m, m.outputs[1].value, {}), 0);
    // sum over i of i*(1 + ... + i) = 1 + 6 + 18 + 40
    EXPECT_EQ(value_at(m, m.outputs[2].value, {}), 65);
}

TEST(LanguageFamilies, AChainMayBeDeclaredBackwards) {
    // each point needs the next one: resolved without recursion
    const std::string text =
        "system s\nsize n = 20000\ncoord x = 1 m\nfor i in 1..n\n  point P[i] at P[i+1] + x*N.x\nend\n"
        "point P[n+1] at O\nparticle Q mass 1 kg at P[1]\n";
    const Model m = read_ok(text);
    EXPECT_EQ(m.points.size(), 20003u);
    EXPECT_EQ(m.points[1].name, "P[20001]");
}

TEST(LanguageFamilies, LongChainsAreNotNested) {
    std::string chain = "x_";
    for (int i = 0; i < 100000; ++i) chain += " + x_";
    const Model m = read_ok(with("output a = " + chain));
    EXPECT_EQ(value_at(m, m.outputs[0].value, {{"x_", 1}}), 100001);
    std::string products = "1";
    for (int i = 0; i < 100000; ++i) products += "*1";
    const Model p = read_ok(with("output a = " + products));
    EXPECT_EQ(value_at(p, p.outputs[0].value, {}), 1);
}

TEST(LanguageUnits, EveryUnitHasItsValue) {
    for (const UnitInfo& unit : unit_table()) {
        const Model m = read_ok("system s\nparam a = 3 " + std::string(unit.name) +
                                ", anchor = 1 kg\ncoord x\nparticle P mass 1 at O + x*N.x\n");
        const double pi = 3.14159265358979323846;
        const double expected = 3 * unit.numerator / unit.denominator * (unit.pi_power == 1 ? pi : 1);
        // two roundings more for multiples of pi
        EXPECT_NEAR(m.parameters[0].value, expected, 4e-16 * expected) << unit.name;
        EXPECT_EQ(*m.parameters[0].dimension, unit.dimension) << unit.name;
    }
}

TEST(LanguageUnits, ProductsOfUnits) {
    const auto param = [](const std::string& value) { return read_ok(with("param a = " + value)).parameters[0]; };
    EXPECT_EQ(*param("9.81 m/s^2").dimension, Dimension::of(1, 0, -2));
    EXPECT_EQ(*param("2 kg*m^2/s^2").dimension, Dimension::of(2, 1, -2));
    EXPECT_EQ(*param("2 N*s/m").dimension, Dimension::of(0, 1, -1));
    EXPECT_EQ(*param("2 s^-2").dimension, Dimension::of(0, 0, -2));
    EXPECT_EQ(param("36 km/h").value, 10);
    EXPECT_EQ(param("2 mm").value, 0.002);
    EXPECT_EQ(param("1 cm^2").value, 1e-4);
    EXPECT_EQ(param("12 in").value, 0.3048);
    EXPECT_NEAR(param("60 rpm").value, 2 * 3.14159265358979323846, 1e-15);
    EXPECT_EQ(*param("(3 m)^2/(2 s)").dimension, Dimension::of(2, 0, -1));
    EXPECT_EQ(*param("sqrt(4 m^2)").dimension, Dimension::of(1, 0, 0));
    EXPECT_EQ(*param("(8 m^3)^(1/3)*(1 rad)").dimension, Dimension::of(1, 0, 0));
}

// after a number a unit word is a unit, whatever names the model has; spaces around an operator end the unit
TEST(LanguageUnits, UnitsAndNames) {
    const Model m = read_ok(
        with("param m = 3 kg, s = 2\nlet inertia_ = 2 kg*m^2\nparam a = 6 m / s, b = 6 m/s, c = 2*m\noutput o = inertia_"));
    EXPECT_EQ(m.parameters[2].value, 3);
    EXPECT_EQ(m.parameters[3].value, 6);
    EXPECT_EQ(m.parameters[4].value, 6);
    EXPECT_EQ(m.graph->constant_value(m.outputs[0].value), 2);
    EXPECT_EQ(*m.outputs[0].dimension, Dimension::of(2, 1, 0));
    // N is a newton behind a number and a frame before a dot
    EXPECT_TRUE(read(with("force on P_ = 2 N*N.x")).ok());
}

TEST(LanguageUnits, UnknownDimensionsFitEverywhere) {
    EXPECT_TRUE(read(with("param a = 2\nlet b = a + 1 m, c = a + 1 s, d = sin(a), e = 0 + 1 m, f = x_ - 0")).ok());
    EXPECT_TRUE(read(with("let b = if(x_ > 0, 1 m, x_)")).ok());
    EXPECT_TRUE(read(with("force on P_ = N.x\npoint A at O + N.x + x_*N.y")).ok());
}

// a model without units is not checked at all
TEST(LanguageUnits, AModelWithoutUnits) {
    EXPECT_TRUE(read("system s\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nforce on P = (sin(t) - x - x' + 1/sqrt(t))*N.x\nrun "
                     "for 1 s\n")
                    .ok());
    EXPECT_FALSE(read("system s\ncoord x = 1 m\nparticle P mass 1 at O + x*N.x\nforce on P = (sin(t) - x)*N.x\n").ok());
}

TEST(LanguageUnits, DimensionsOfKinematics) {
    const Model m = read_ok(with(R"(coord th = 0 rad
frame B from N rotate th about z
output v = mag(vel(P_)), w = dot(omega(B), N.z), r = x_', a = x_'', E = energy(), p = dot(P_ - O, N.x), th1 = th', cosine = dot(N.x, B.x)
)"));
    const std::vector<Dimension> expected{Dimension::of(1, 0, -1), Dimension::of(0, 0, -1), Dimension::of(1, 0, -1),
                                          Dimension::of(1, 0, -2), Dimension::of(2, 1, -2), Dimension::of(1, 0, 0),
                                          Dimension::of(0, 0, -1), Dimension::of(0, 0, 0)};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(*m.outputs[i].dimension, expected[i]) << m.outputs[i].name;
}

}  // namespace
