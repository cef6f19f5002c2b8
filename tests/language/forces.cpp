// force(c, P) and torque(c, B): what can be written, where, and what is refused.
#include <gtest/gtest.h>

#include <set>

#include "expr/dependence.hpp"
#include "read.hpp"

namespace appell {
namespace {

using namespace language_test;

const std::string k_model = R"(
param force_scale = 1 N
coord y = 0 m, th
frame B from N rotate th about z
particle Q mass 1 kg at O + y*N.y
body B frame B mass 1 kg center P_ inertia (1 kg*m^2, 1 kg*m^2, 1 kg*m^2)
constraint a: dot(vel(P_), vel(Q)) = 0
constraint vec: vel(B at Q) = vel(Q)
constraint two: dot(vel(Q), N.y) = 0, dot(omega(B), N.z) = 0
)";

std::vector<std::string> vectors_of(const Model& m, std::size_t output) {
    std::vector<std::string> names;
    for (const VectorSymbolId id : vector_symbols_in(*m.graph, std::span(&m.outputs[output].value, 1)))
        names.push_back(m.graph->vector_symbol(id).name);
    return names;
}

TEST(LanguageForces, NameOneVectorForEachEquation) {
    const Model m = read_ok(with(k_model + R"(
output f1 = mag(force(a, P_)), f2 = mag(force(vec, B at Q)), f3 = mag(force(vec, Q, y)), f4 = mag(torque(two, B)),
       f5 = mag(torque(two.2, B)), f6 = dot(force(two.1, Q), N.x) + force_scale
plot mag(force(a, Q)) vs th
)"));
    using Names = std::vector<std::string>;
    EXPECT_EQ(vectors_of(m, 0), (Names{"force(a, P_)"}));
    EXPECT_EQ(vectors_of(m, 1), (Names{"force(vec, B at Q, x)", "force(vec, B at Q, y)", "force(vec, B at Q, z)"}));
    EXPECT_EQ(vectors_of(m, 2), (Names{"force(vec, Q, y)"}));
    EXPECT_EQ(vectors_of(m, 3), (Names{"torque(two.1, B)", "torque(two.2, B)"}));
    EXPECT_EQ(vectors_of(m, 4), (Names{"torque(two.2, B)"}));
    // forces are in newtons, torques in newton metres
    EXPECT_EQ(m.outputs[0].dimension, Dimension::of(1, 1, -2));
    EXPECT_EQ(m.outputs[3].dimension, Dimension::of(2, 1, -2));
}

TEST(LanguageForces, MultipliersHaveTheDimensionOfTheirRows) {
    const Model m = read_ok(with(
        "coord x = 0 m, y = 0 m\nparticle P mass 1 kg at O + x*N.x + y*N.y\nconstraint p: x^2 = (1 m)*y\n"
        "constraint v: dot(vel(P), vel(P)) = 4 m^2/s^2\nconstraint a: x'' = 0\nconstraint u: x' = 2*y'\nconstraint n: 2*x = 3\n"
        "output f = lambda(p), g = lambda(v), h = lambda(a), i = lambda(u), j = lambda(n)\n"));
    EXPECT_EQ(m.outputs[0].dimension, Dimension::of(0, 1, -2));  // J/m^2
    EXPECT_EQ(m.outputs[1].dimension, Dimension::of(0, 1, -1));  // W/(m^2/s^2)
    EXPECT_EQ(m.outputs[2].dimension, Dimension::of(1, 1, -2));  // W s/(m/s^2 s^2)
    EXPECT_EQ(m.outputs[3].dimension, Dimension::of(1, 1, -2));
    EXPECT_EQ(m.outputs[4].dimension, std::nullopt);  // what is computed from a bare number has none
}

TEST(LanguageForces, AreRefusedWhereTheyHaveNoMeaning) {
    const std::pair<const char*, Code> bad[] = {
        {"force on Q = force(a, P_)", Code::E0405},         {"constraint b: dot(force(a, P_), N.x) = 0", Code::E0405},
        {"output b = mag(force(a, B))", Code::E0401},       {"output b = mag(torque(a, Q))", Code::E0401},
        {"output b = mag(torque(a, B at Q))", Code::E0401}, {"output b = mag(force(Q, a))", Code::E0401},
        {"output b = mag(force(a, Q, x))", Code::E0401},    {"output b = mag(force(a))", Code::E0402},
        {"output b = mag(force(vec, Q, th))", Code::E0401}, {"output b = force(a, Q)", Code::E0401},
        {"output b = mag(force(nothing, Q))", Code::E0202}, {"output b = mag(force(a, Q)) + 1 m", Code::E0301},
        {"output b = mag(dt(force(a, Q), N))", Code::E0405}};
    for (const auto& [statement, code] : bad) {
        const Result<Model> result = read(with(k_model + statement));
        EXPECT_FALSE(result.ok()) << statement;
        EXPECT_TRUE(result.diagnostics.has(code))
            << statement << ": " << (result.diagnostics.all().empty() ? "nothing" : result.diagnostics.all().front().message);
    }
}

}  // namespace
}  // namespace appell
