// Counts, classes, rank loss and power of the sources' systems: what each source states of its own.
#include "doctor/diagnosis.hpp"

#include "expr/print.hpp"
#include "support/examined.hpp"
#include "tape/zero_test.hpp"

namespace appell {
namespace {

struct Diagnosed {
    Examined model;
    Diagnosis diagnosis;
};
Diagnosed diagnosed(const std::string& text) {
    Diagnosed out{examined(text), {}};
    if (out.model.samples.size() > 0) out.diagnosis = diagnose(out.model.dynamics(), out.model.samples, out.model.varied);
    EXPECT_TRUE(out.diagnosis.examined);
    return out;
}

std::vector<std::size_t> nmplc(const Counts& c) { return {c.n, c.m, c.p, c.l, c.c}; }

TEST(Counts, AreTheSources) {
    using Five = std::vector<std::size_t>;
    EXPECT_EQ(nmplc(diagnosed(gallery_text("skate")).diagnosis.generic), (Five{3, 1, 2, 0, 2}));
    EXPECT_EQ(nmplc(diagnosed(gallery_text("perpendicular_pucks")).diagnosis.generic), (Five{4, 0, 4, 1, 3}));
    EXPECT_EQ(nmplc(diagnosed(gallery_text("disk_on_sphere")).diagnosis.generic), (Five{5, 2, 3, 0, 3}));
    EXPECT_EQ(nmplc(diagnosed(gallery_text("disk_on_free_sphere")).diagnosis.generic), (Five{11, 2, 9, 0, 9}));
    EXPECT_EQ(nmplc(diagnosed(gallery_text("appells_particle")).diagnosis.generic), (Five{3, 0, 3, 1, 2}));
}

TEST(Classification, HomogeneityAndTime) {
    const Diagnosed pucks = diagnosed(gallery_text("perpendicular_pucks"));
    EXPECT_EQ(pucks.diagnosis.rows[0].linearity, Linearity::nonlinear);
    EXPECT_EQ(pucks.diagnosis.rows[0].degree, 2.0);
    EXPECT_FALSE(pucks.diagnosis.rows[0].rheonomic);
    const Diagnosed cone = diagnosed(gallery_text("appells_particle"));
    EXPECT_NEAR(cone.diagnosis.rows[0].degree.value(), 1.0, 1e-15);
    const Diagnosed speed = diagnosed(on_lines({"x", "y"}, "constraint v: x'^2 + y'^2 = 1 + t\nstart x' = 1\n"));
    EXPECT_TRUE(speed.diagnosis.rows[0].rheonomic);
    EXPECT_FALSE(speed.diagnosis.rows[0].degree.has_value());
    EXPECT_EQ(speed.diagnosis.rows[0].affine_degree, 2.0);
    const Diagnosed any =
        diagnosed(on_lines({"x", "y"}, "constraint v: abs(x')^1.5 + abs(y')^1.5 = 1\nstart x' = 0.6, y' = 0.6\n"));
    EXPECT_NEAR(any.diagnosis.rows[0].affine_degree.value(), 1.5, 1e-12);
    const Diagnosed stray = diagnosed(on_lines({"x", "y"}, "constraint v: x'^2 + y' = 1\nstart x' = 0.6, y' = 0.6\n"));
    EXPECT_FALSE(stray.diagnosis.rows[0].degree.has_value());
    EXPECT_FALSE(stray.diagnosis.rows[0].affine_degree.has_value());
}

TEST(RankLoss, ClosedFormAndNearestState) {
    // the gradient of x'^2 + y'^2 = 1 vanishes at rest only, where the row does not hold: no singular state
    const Diagnosed speed = diagnosed(on_lines({"x", "y"}, "constraint v: x'^2 + y'^2 = 1\nstart x' = 1\n"));
    EXPECT_FALSE(speed.diagnosis.singular->never);
    EXPECT_FALSE(speed.diagnosis.singular->found);
    const Diagnosed skate = diagnosed(gallery_text("skate"));
    EXPECT_EQ(skate.diagnosis.singular->rank, 1u);
    EXPECT_TRUE(skate.diagnosis.singular->never);  // sine and cosine never vanish together
    EXPECT_TRUE(diagnosed(gallery_text("car_with_trailers")).diagnosis.singular->never);
    // what repeats another minor with the other sign is left out
    const Diagnosed line = diagnosed(on_lines({"x", "y"}, "constraint v: x*x' - x*y' = 0\n"));
    EXPECT_EQ(line.diagnosis.singular->vanishing.size(), 1u);
    const Diagnosed plane = diagnosed(on_lines({"x", "y"}, "constraint v: x' + 2*y' = 1\n"));
    EXPECT_TRUE(plane.diagnosis.singular->never);
    // the pucks' row loses its gradient where both rest
    const Diagnosed pucks = diagnosed(gallery_text("perpendicular_pucks"));
    ASSERT_TRUE(pucks.diagnosis.singular->found);
    for (const auto& [name, value] : pucks.diagnosis.singular->state)
        if (name.starts_with("u")) {
            EXPECT_NEAR(value, 0, 1e-4) << name;
        }
    // two rows that become dependent where the lines they follow are parallel
    const Diagnosed lines = diagnosed(on_lines({"x", "y", "z"}, "constraint a: x' + z*y' = 0\nconstraint b: x' - 2*y' = 0\n"));
    EXPECT_EQ(lines.diagnosis.singular->vanishing.size(), 1u);
    ASSERT_TRUE(lines.diagnosis.singular->found);
    for (const auto& [name, value] : lines.diagnosis.singular->state)
        if (name == "z") {
            EXPECT_NEAR(value, -2, 1e-8);
        }
}

TEST(RankLoss, AppellHamel) {
    // 003: the nonlinear row loses its gradient with the wheel at rest; the linear rows never do
    const Diagnosed nonlinear = diagnosed(gallery_text("appell_hamel_nonlinear"));
    EXPECT_TRUE(nonlinear.diagnosis.singular->found);
    EXPECT_FALSE(nonlinear.diagnosis.factors.rows.empty());
    EXPECT_EQ(nonlinear.diagnosis.linear_regular, true);
    const Diagnosed linear = diagnosed(gallery_text("appell_hamel_linear"));
    EXPECT_TRUE(linear.diagnosis.singular->never || !linear.diagnosis.singular->found);
}

TEST(Findings, AreWarnings) {
    const auto codes = [](const std::string& text) {
        Derivation d = derive_text(text);
        EXPECT_TRUE(check(d).has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
        return d.diagnostics;
    };
    EXPECT_TRUE(codes(on_lines({"x", "y"}, "constraint c: x' = 2*y'\n")).has(Code::W1004));
    EXPECT_TRUE(
        codes(on_lines({"x", "y", "z"}, "constraint c: (x' - z*y')*(x' + y') = 0\nstart x' = 1, y' = -1\n")).has(Code::W1007));
    for (const char* quiet : {"skate", "perpendicular_pucks", "rolling_disk", "double_pendulum"}) {
        const Diagnostics d = codes(gallery_text(quiet));
        EXPECT_FALSE(d.has(Code::W1004) || d.has(Code::W1007)) << quiet;
    }
}

// 002 remark 7: the rows of a chain of three points hide that its two links are perpendicular
TEST(HiddenPositions, OfTheNonholonomicChain) {
    const std::string chain =
        "system chain\ncoord x1 = 0, y1 = 0, x2 = 1, y2 = 0, x3 = 1, y3 = 1\n"
        "point P1 at O + x1*N.x + y1*N.y\nparticle P1 mass 1\npoint P2 at O + x2*N.x + y2*N.y\nparticle P2 mass 1\n"
        "point P3 at O + x3*N.x + y3*N.y\nparticle P3 mass 1\n"
        "constraint across1: dot(vel(P1), P2 - P1) = 0\nconstraint along1: parallel(vel(P2), P2 - P1)\n"
        "constraint across2: dot(vel(P2), P3 - P2) = 0\nconstraint along2: parallel(vel(P3), P3 - P2)\n"
        "start x2' = 1, y1' = 0.5, y3' = 0.3\n";
    Derivation d = derive_text(chain);
    (void)check(d);
    ASSERT_TRUE(d.diagnostics.has(Code::W1008)) << render(d.diagnostics, d.sources);
    std::string condition;
    for (const Diagnostic& diagnostic : d.diagnostics.all())
        if (diagnostic.code == Code::W1008) condition = diagnostic.found;
    // as the message says, the model with the condition added runs
    Derivation stated = derive_text(chain + "constraint hidden: " + condition + "\n");
    EXPECT_TRUE(check(stated).has_value()) << render(stated.diagnostics, stated.sources);
    EXPECT_FALSE(stated.diagnostics.has(Code::W1008));
    // and it is the perpendicularity of the links
    const ConstrainedDynamics& dynamics = *stated.dynamics;
    Graph& g = dynamics.graph();
    const auto q = [&](int i) { return g.symbol_node(stated.model->coordinates[static_cast<std::size_t>(i)].q); };
    const NodeId dot = g.add(g.mul(g.sub(q(2), q(0)), g.sub(q(4), q(2))), g.mul(g.sub(q(3), q(1)), g.sub(q(5), q(3))));
    const NodeId phi = dynamics.rows.back().position;
    EXPECT_TRUE(vanishes_identically(g, g.sub(phi, dot)) || vanishes_identically(g, g.add(phi, dot))) << condition;
    // away from it P2 must rest: no hidden condition
    ReadOptions away;
    away.set = {{"x3", 1.4}, {"x2'", 0}};
    Derivation rest = derive_text(chain, away);
    (void)check(rest);
    EXPECT_FALSE(rest.diagnostics.has(Code::W1008));
}

TEST(Power, WorklessOrNot) {
    const Diagnosed pucks = diagnosed(gallery_text("perpendicular_pucks"));
    EXPECT_TRUE(pucks.diagnosis.power.rows[0].workless);
    // a belt of given speed: x' = w, the force does lambda w
    const Diagnosed belt = diagnosed(
        "system belt\nparam w = 2, k = 3\ncoord x = 0.1, y = 0.2\n"
        "point P at O + x*N.x + y*N.y\nparticle P mass 1\nspring P O stiffness k length 0\n"
        "constraint c: x' = w\nstart x' = 2\n");
    EXPECT_FALSE(belt.diagnosis.power.rows[0].workless);
    Graph& g = belt.model.dynamics().graph();
    EXPECT_EQ(to_text(g, belt.diagnosis.power.rows[0].per_multiplier), "w");
    EXPECT_FALSE(belt.diagnosis.power.energy_conserved);
    ASSERT_EQ(belt.diagnosis.power.reasons.size(), 1u);
    EXPECT_NE(belt.diagnosis.power.reasons[0].find("constraint c"), std::string::npos);
    // the same belt with a speed that is measured against it: at rest on the belt, and carried along
    const Diagnosed carried = diagnosed(
        "system belt\nparam w = 2, k = 3\ncoord x = 0.1, y = 0.2\nspeed u = x' - w, v = y'\n"
        "point P at O + x*N.x + y*N.y\nparticle P mass 1\nspring P O stiffness k length 0\n"
        "constraint c: u = 0\n");
    EXPECT_FALSE(carried.diagnosis.power.rows[0].workless);
    EXPECT_EQ(to_text(carried.model.dynamics().graph(), carried.diagnosis.power.rows[0].per_multiplier), "w");
    // T2 - T0 + V in q' is T + V, whatever the speeds are
    for (const Conserved& c : carried.diagnosis.power.conserved) EXPECT_EQ(c.name.find("Jacobi"), std::string::npos) << c.name;
    // affine of degree two: p times the constant
    const Diagnosed speed = diagnosed(
        "system s\nparam V = 2, g = 9.81\ncoord x = 0.1, y = 0.2\n"
        "point P at O + x*N.x + y*N.y\nparticle P mass 1\ngravity -g*N.y\n"
        "constraint c: x'^2 + y'^2 = V^2\nstart x' = 2\n");
    Graph& h = speed.model.dynamics().graph();
    const NodeId V = h.symbol_node(speed.model.derivation.model->parameters[0].symbol);
    EXPECT_TRUE(vanishes_identically(h, h.sub(speed.diagnosis.power.rows[0].per_multiplier, h.mul(h.constant(2), h.pow(V, 2)))));
}

TEST(Power, EnergyAndMomenta) {
    const Diagnosed pendulum = diagnosed(gallery_text("double_pendulum"));
    EXPECT_TRUE(pendulum.diagnosis.power.energy_conserved);
    EXPECT_TRUE(pendulum.diagnosis.power.conserved.empty());
    const Diagnosed body = diagnosed(gallery_text("free_body"));
    EXPECT_TRUE(body.diagnosis.power.energy_conserved);
    // thrown: the momentum along x is constant, that along y is not
    const Diagnosed thrown = diagnosed(
        "system s\nparam m = 2, g = 9.81\ncoord x = 0, y = 0\npoint P at O + x*N.x + y*N.y\n"
        "particle P mass m\ngravity -g*N.y\nstart x' = 1\n");
    ASSERT_EQ(thrown.diagnosis.power.conserved.size(), 1u);
    EXPECT_EQ(thrown.diagnosis.power.conserved[0].name, "the momentum dT/dx'");
    const Diagnosed damped = diagnosed(gallery_text("sliding_particle_damped"));
    EXPECT_FALSE(damped.diagnosis.power.energy_conserved);
    EXPECT_FALSE(damped.diagnosis.power.reasons.empty());
    // a bead on a rod that turns at a given rate: Jacobi's integral instead of the energy
    const Diagnosed bead = diagnosed(
        "system bead\nparam m = 1, w = 2\ncoord r = 1\nframe A from N rotate w*t about z\n"
        "point P at O + r*A.x\nparticle P mass m\nstart r' = 0.1\n");
    EXPECT_FALSE(bead.diagnosis.power.energy_conserved);
    ASSERT_EQ(bead.diagnosis.power.conserved.size(), 1u);
    EXPECT_NE(bead.diagnosis.power.conserved[0].name.find("Jacobi"), std::string::npos);
}

}  // namespace
}  // namespace appell
