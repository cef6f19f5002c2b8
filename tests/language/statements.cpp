// Every form of every statement is read, and the model holds what was written.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "expr/evaluate.hpp"
#include "lang/schema.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::read;
using language_test::read_ok;
using language_test::value_at;
using language_test::with;

// statements of the schema whose example stands in a model of its own; the others need names around them
TEST(LanguageStatements, EveryExampleOfTheSchemaIsRead) {
    for (const StatementInfo& row : statement_table()) {
        std::string example(row.example);
        std::string text;
        switch (row.kind) {
            case StatementKind::system: text = example + "\ncoord x\nparticle P mass 1 at O + x*N.x\n"; break;
            case StatementKind::for_:
            case StatementKind::end: text = with("size n = 3\nfor i in 1..n\n  param w[i] = i\nend"); break;
            default: text = "system s\n" + example + "\n";
        }
        SourceSet sources;
        ReadOptions options;
        const IncludeLoader loader = [](const std::string&) { return std::optional<std::string>("# nothing\n"); };
        const Result<Model> result = read_model("m", text, loader, options, sources);
        // names of the example may be missing, but its syntax is right
        for (const Diagnostic& d : result.diagnostics.all()) {
            const std::string code(info(d.code).name);
            EXPECT_FALSE(code.starts_with("E00") || code.starts_with("E01")) << row.keyword << "\n" << render(d, sources);
        }
    }
}

TEST(LanguageStatements, Scalars) {
    const Model m = read_ok(R"(system s "A title"
param m1 = 1 kg, l = 2 m, l2 = 2*l, angle = 30 deg, early = late + 1, late = 2
input F = 3 N, G
coord x = 1 m, th = 90 deg fixed, free
speed u1 = x', u2 = th', u3 = free'
start u1 = 0.3 m/s, u2 = 1 rev/s fixed, free = 4
particle P mass m1 at O + x*N.x
)");
    EXPECT_EQ(m.name, "s");
    EXPECT_EQ(m.title, "A title");
    ASSERT_EQ(m.parameters.size(), 6u);
    EXPECT_EQ(m.parameters[2].value, 4);
    EXPECT_EQ(m.parameters[2].dimension, std::nullopt);  // the factor 2 could stand for anything
    EXPECT_NEAR(m.parameters[3].value, std::numbers::pi / 6, 1e-16);
    EXPECT_EQ(m.parameters[4].name, "early");
    EXPECT_EQ(m.parameters[4].value, 3);
    EXPECT_EQ(*m.parameters[0].dimension, Dimension::of(0, 1, 0));
    EXPECT_EQ(m.inputs[0].value, 3);
    EXPECT_FALSE(m.inputs[1].value.has_value());
    ASSERT_EQ(m.coordinates.size(), 3u);
    EXPECT_NEAR(m.coordinates[1].start, std::numbers::pi / 2, 1e-15);
    EXPECT_TRUE(m.coordinates[1].fixed);
    EXPECT_FALSE(m.coordinates[0].fixed);
    EXPECT_EQ(m.coordinates[2].start, 4);
    EXPECT_EQ(m.speeds[0].start, 0.3);
    EXPECT_NEAR(m.speeds[1].start, 2 * std::numbers::pi, 1e-15);
    EXPECT_TRUE(m.speeds[1].fixed);
    EXPECT_EQ(*m.speeds[0].dimension, Dimension::of(1, 0, -1));
}

TEST(LanguageStatements, OverridesComeBeforeTheFile) {
    ReadOptions options;
    options.set = {{"m1", 5}, {"k", 7}, {"x", 2}, {"x'", 3}, {"n", 2}, {"F", 9}};
    SourceSet sources;
    const Result<Model> r = read_model("m", R"(system s
size n = 4
param m1 = 1 kg, twice = 2*m1, k
input F
coord x = 1 m
start x' = 1 m/s
for i in 1..n
  param p[i] = i
end
particle P mass m1 at O + x*N.x
)",
                                       {}, options, sources);
    ASSERT_TRUE(r.ok()) << render(r.diagnostics, sources);
    EXPECT_EQ(r->parameters[0].value, 5);
    EXPECT_EQ(r->parameters[1].value, 10);
    EXPECT_EQ(r->parameters[2].value, 7);
    EXPECT_EQ(r->parameters.size(), 5u);
    EXPECT_EQ(r->coordinates[0].start, 2);
    ASSERT_EQ(r->start_rates.size(), 1u);
    EXPECT_EQ(r->start_rates[0].value, 3);
    EXPECT_EQ(r->inputs[0].value, 9);
}

TEST(LanguageStatements, WithoutSpeedsTheRatesAreTheSpeeds) {
    const Model m = read_ok("system s\ncoord x = 0 m, y\nparticle P mass 1 at O + x*N.x\nstart y' = 2\n");
    ASSERT_EQ(m.speeds.size(), 2u);
    EXPECT_EQ(m.speeds[0].name, "x'");
    ASSERT_EQ(m.start_rates.size(), 1u);
    EXPECT_EQ(m.start_rates[0].coordinate, 1u);
}

TEST(LanguageStatements, Frames) {
    const Model m = read_ok(with(R"(
coord a, b, c, e0, e1, e2, e3
frame A from N rotate a about z
frame B from A rotate b about (1, 1, 0)
frame C from N rotate a about z, b about x, c about z
frame D from N body zxz (a, b, c)
frame E from D space xyz (a, b, c)
frame F from N quaternion (e0, e1, e2, e3)
frame G from N cosines ((cos(a), -sin(a), 0), (sin(a), cos(a), 0), (0, 0, 1))
)"));
    // Newtonian, A, B, C.1, C.2, C, D, E, F, G
    ASSERT_EQ(m.frames.size(), 10u);
    EXPECT_EQ(m.frames[3].name, "C.1");
    EXPECT_EQ(m.frames[5].name, "C");
    EXPECT_EQ(m.frames[5].parent, FrameId(4));
    const auto& turn = std::get<SimpleRotation>(m.frames[2].orientation);
    EXPECT_EQ(m.graph->constant_value(turn.axis[0]), 1);
    EXPECT_EQ(m.graph->constant_value(turn.axis[2]), 0);
    EXPECT_TRUE(std::get<RotationSequence>(m.frames[6].orientation).body_fixed);
    EXPECT_EQ(std::get<RotationSequence>(m.frames[6].orientation).axes, (std::array<int, 3>{2, 0, 2}));
    EXPECT_FALSE(std::get<RotationSequence>(m.frames[7].orientation).body_fixed);
    EXPECT_EQ(std::get<QuaternionRotation>(m.frames[8].orientation).coordinates, (std::array<std::size_t, 4>{3, 4, 5, 6}));
    // without start values a quaternion starts unturned
    EXPECT_EQ(m.coordinates[3].start, 1);
    const auto& cosines = std::get<DirectionCosines>(m.frames[9].orientation);
    EXPECT_NEAR(value_at(m, cosines.rows[3], {{"a", 0.3}}), std::sin(0.3), 1e-15);
}

TEST(LanguageStatements, PointsAndBodies) {
    const Model m = read_ok(R"(system s
newtonian W
coord x = 0 m, th
param m = 1 kg, l = 1 m, J = 2 kg*m^2
point A fixed in W
frame B from W rotate th about z
point Q at P + l*B.x
particle P mass m at A + x*W.x
point Mid at (P + Q)/2
body D frame B mass m center at Q + l*B.y inertia (J, J, J) about P in W
body B frame B mass 2*m center Q inertia (J, J, J, 0, 0.1, 0.2)
particle Q mass m
)");
    EXPECT_EQ(m.frames[0].name, "W");
    EXPECT_EQ(m.points[0].name, "A");
    std::vector<std::string> names;
    for (const Point& p : m.points) names.push_back(p.name);
    // P comes before Q, which is declared earlier and needs it
    EXPECT_EQ(names, (std::vector<std::string>{"A", "P", "Q", "Mid", "D_o"}));
    ASSERT_EQ(m.bodies.size(), 2u);
    EXPECT_EQ(m.bodies[0].name, "D");
    EXPECT_EQ(m.bodies[0].center, PointId(4));
    EXPECT_EQ(m.bodies[0].inertia_point, PointId(1));
    EXPECT_EQ(m.bodies[0].inertia_frame, Model::newtonian());
    EXPECT_EQ(m.bodies[1].inertia_frame, FrameId(1));
    EXPECT_EQ(m.graph->constant_value(m.bodies[1].inertia[5]), 0.2);
    ASSERT_EQ(m.particles.size(), 2u);
    EXPECT_EQ(m.particles[1].point, PointId(2));
}

TEST(LanguageStatements, Loads) {
    const Model m = read_ok(with(R"(
param g = 9.81 m/s^2, k = 2 N/m, c = 1 N*s/m
coord th, y = 0 m
speed u = x_', w = th', v = y'
frame B from N rotate th about z
particle Q mass 1 kg at O + y*N.y
body D frame B mass 1 kg center Q inertia (1, 1, 1)
gravity -g*N.z
force on P_ = 1 N*N.x
force on D at P_ = 2 N*N.x
force on D = 3 N*N.x
force on P_ from Q = k*(P_ - Q)
torque on B = 1 N*m*N.z
torque on D from N = -1 J*N.z
spring P_ Q stiffness k length 1 m
spring P_ O stiffness k
damper P_ Q coefficient c
load on u =
  -c*u
potential k*y^2/2
)"));
    ASSERT_EQ(m.loads.size(), 13u);
    EXPECT_EQ(std::get<ForceLoad>(m.loads[3].what).point, std::get<ForceLoad>(m.loads[5].what).point);  // Q, the mass centre
    EXPECT_TRUE(std::get<ForceLoad>(m.loads[3].what).body.valid());
    EXPECT_EQ(m.loads[1].text, "force on P_ = 1 N*N.x");
    const auto& pull = std::get<ForceLoad>(m.loads[4].what);
    const auto& push = std::get<ForceLoad>(m.loads[5].what);
    EXPECT_EQ(m.graph->vneg(pull.force), push.force);
    EXPECT_EQ(std::get<TorqueLoad>(m.loads[7].what).reaction, Model::newtonian());
    EXPECT_EQ(m.loads[11].text, "load on u = -c*u");
    EXPECT_EQ(std::get<GeneralizedLoad>(m.loads[11].what).speed, 0u);
}

TEST(LanguageStatements, Constraints) {
    const Model m = read_ok(with(R"(
coord y = 0 m, th
frame B from N rotate th about z
particle Q mass 1 kg at O + y*N.y
constraint a: x_ = 2*y
constraint two: x_ = 1 m, y = 2 m
constraint vec: vel(P_) = 0
constraint o: orthogonal(vel(P_), vel(Q)), parallel(vel(P_), N.x)
constraint roll: rolling(B, N, Q)
constraint relative: dot(vel(P_, B), B.x) = 0, dot(omega(B, N), N.z) = 0, dot(vel(B at Q), B.y) = 0
output l1 = lambda(a), l2 = lambda(two.2), l3 = lambda(vec, y), l4 = dot(lambda(vec), N.x)
)"));
    std::vector<std::string> names;
    for (const Constraint& c : m.constraints) names.push_back(c.name);
    EXPECT_EQ(names, (std::vector<std::string>{"a", "two.1", "two.2", "vec", "o.1", "o.2", "roll", "relative.1", "relative.2",
                                               "relative.3"}));
    EXPECT_EQ(m.constraints[0].text, "x_ = 2*y");
    EXPECT_EQ(m.constraints[3].multipliers.size(), 3u);
    EXPECT_EQ(m.constraints[5].multipliers.size(), 3u);
    EXPECT_EQ(m.constraints[4].multipliers.size(), 1u);
    EXPECT_EQ(m.outputs[1].value, m.graph->symbol_node(m.constraints[2].multipliers[0]));
    EXPECT_EQ(m.outputs[2].value, m.graph->symbol_node(m.constraints[3].multipliers[1]));
    // left - right, exactly as written
    EXPECT_NEAR(value_at(m, m.constraints[0].phi, {{"x_", 5}, {"y", 1.5}}), 2, 0);
}

TEST(LanguageStatements, RunAndPlots) {
    const Model m = read_ok(with(R"(
run rtol 1e-7 for 10 s, every 10 ms
    from 1 s, atol 0, formulation multipliers, integrator merson, step 1 ms, first_step 3 ms, max_step 2 ms, stabilize none
plot path(P_)
plot x_, 2*x_ vs x_'
plot x_ vs t
output E = energy(), K = kinetic(), V = potential(), a = dot(acc(P_), N.x), b = x_''
)"));
    EXPECT_EQ(m.run.duration, 10);
    EXPECT_EQ(m.run.from, 1);
    EXPECT_EQ(*m.run.every, 0.01);
    EXPECT_EQ(m.run.rtol, 1e-7);
    EXPECT_EQ(m.run.integrator, "merson");
    EXPECT_EQ(*m.run.step, 0.001);
    EXPECT_EQ(*m.run.first_step, 0.003);
    EXPECT_EQ(*m.run.max_step, 0.002);
    EXPECT_EQ(m.run.stabilize, "none");
    ASSERT_EQ(m.plots.size(), 3u);
    EXPECT_TRUE(m.plots[0].traces[0].path.valid());
    EXPECT_EQ(m.plots[1].traces[1].label, "2*x_");
    EXPECT_TRUE(m.plots[1].x.valid());
    EXPECT_EQ(m.plots[1].x_label, "x_'");
    EXPECT_FALSE(m.plots[2].x.valid());
    EXPECT_EQ(m.outputs.size(), 5u);
}

TEST(LanguageStatements, LetsAndFunctions) {
    const Model m = read_ok(with(R"(
let r = 3*s + v0
let s = 2*x_
let v = x_*N.x, v0 = 1 m
function f(x, t) = x^2*t + later(x)
function later(y) = 2*y
function g(x, t) opaque
output a = r, b = f(3, 4), c = dot(v, N.x), d = g(x_, t), e = if(x_ > 1 m and not x_ > 5 m, 1, if(x_ < 0 m or x_ >= 5 m, 2, 3))
)"));
    EXPECT_EQ(value_at(m, m.outputs[0].value, {{"x_", 2}}), 13);
    EXPECT_EQ(value_at(m, m.outputs[1].value, {}), 42);
    EXPECT_EQ(m.graph->op(m.outputs[3].value), Op::Call);
    for (const auto& [x, expected] : {std::pair{2.0, 1.0}, {7.0, 2.0}, {-1.0, 2.0}, {0.5, 3.0}})
        EXPECT_EQ(value_at(m, m.outputs[4].value, {{"x_", x}}), expected) << x;
}

TEST(LanguageStatements, StatementsGoOnOverLines) {
    const Model m = read_ok(
        "system s\nparam a = 1,\nb = 2, # a comma continues\n  c = (1 +\n2)\nparam d =\n3\ncoord x\nparticle P mass 1 at O +\n  "
        "x*N.x\n");
    ASSERT_EQ(m.parameters.size(), 4u);
    EXPECT_EQ(m.parameters[2].value, 3);
    EXPECT_EQ(m.parameters[3].value, 3);
}

TEST(LanguageStatements, TextMayUseOtherLineEndsAndLetters) {
    const Model m = read_ok(
        "\xef\xbb\xbfsystem s\r\nparam \xcf\x89_0 = 2\r\ncoord \xce\xb8 = \xcf\x89_0\r\n\r\nparticle P mass 1 at O + "
        "sin(\xce\xb8)*N.x\r\n");
    EXPECT_EQ(m.coordinates[0].name, "\xce\xb8");
    EXPECT_EQ(m.coordinates[0].start, 2);
}

// names like functions may be used where no argument list follows
TEST(LanguageStatements, MechanicalFunctionsLeaveTheirNamesFree) {
    const Model m =
        read_ok(with("param alpha = 1, omega = 2, lambda = 3\nframe B from N rotate omega*t about z\noutput a = alpha + "
                     "dot(omega(B), B.z) + lambda"));
    EXPECT_EQ(m.parameters.size(), 3u);
}

TEST(LanguageStatements, PrecedenceIsThatOfMathematics) {
    const auto value = [](const std::string& expr) {
        const Model m = read_ok(with("output a = " + expr));
        return value_at(m, m.outputs[0].value, {{"x_", 0}});
    };
    EXPECT_EQ(value("2 + 3*4"), 14);
    EXPECT_EQ(value("-2^2"), -4);
    EXPECT_EQ(value("2^3^2"), 512);
    EXPECT_EQ(value("2^-1"), 0.5);
    EXPECT_EQ(value("2^-1*4"), 2);
    EXPECT_EQ(value("8/4/2"), 1);
    EXPECT_EQ(value("8 - 4 - 2"), 2);
    EXPECT_EQ(value("2*-3"), -6);
    EXPECT_EQ(value("+2 - -3"), 5);
    EXPECT_EQ(value("(1 + 2)*3"), 9);
    EXPECT_EQ(value("min(4, 3) + max(1, 2)*sqrt(16) - abs(-1)"), 10);
    EXPECT_EQ(value("4^0.5"), 2);
    EXPECT_EQ(value(".5e1 + 1."), 6);
}

}  // namespace
