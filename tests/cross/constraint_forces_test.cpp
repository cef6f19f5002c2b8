// Constraint forces read off the constraints against the rows of A, which come from the resolved scalars by differentiation:
// sum W . v_r + sum tau . omega_r + generalized_r = A_sr (000 eq. 15) for every row and speed at random states. Then what the
// forces must do: no power at homogeneous constraints, the same power after reduction to a point, the text that a user reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dynam/constraint_forces.hpp"
#include "pipeline/print_equations.hpp"
#include "report/equations.hpp"
#include "report/force_lines.hpp"
#include "support/gallery_run.hpp"
#include "support/random_state.hpp"

namespace appell {
namespace {

// sum W . v_r + sum tau . omega_r + generalized_r, by speed
std::vector<NodeId> projected(const ConstrainedDynamics& d, const ConstraintForces& forces) {
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    std::vector<NodeId> out(d.model->speeds.size(), g.constant(0));
    const auto project = [&](NodeId vector, std::span<const PartialVelocity> partials) {
        const MixedVector v = kin.resolve_vector(vector);
        for (const PartialVelocity& p : partials) out[p.speed] = g.add(out[p.speed], kin.frames().dot(v, MixedVector{{p.v}}));
    };
    for (const ForceDirection& f : forces.forces)
        if (f.body.valid())
            project(f.W, kin.material_partials(f.body, f.point));
        else
            project(f.W, kin.partial_velocities(f.point));
    for (const TorqueDirection& t : forces.torques) project(t.tau, kin.partial_omegas(t.body));
    for (const GeneralizedDirection& q : forces.generalized) out[q.speed] = g.add(out[q.speed], q.value);
    return out;
}

// 1e-11: sums of a few dozen products of numbers near one
constexpr double k_round_off = 1e-11;

void expect_rows_of_A(const ConstrainedDynamics& d, const std::string& name) {
    Graph& g = d.graph();
    const std::vector<ConstraintForces> rows = row_forces(d);
    ASSERT_EQ(rows.size(), d.rows.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::vector<NodeId> found = projected(d, rows[i]);
        for (unsigned seed = 1; seed <= 4; ++seed) {
            const auto s = random_state(*d.model, seed);
            for (std::size_t r = 0; r < found.size(); ++r) {
                const NodeId entry = d.A.find(i, r);
                const double A = entry.valid() ? s(g, entry) : 0;
                if (std::isnan(A)) continue;  // a root or power of a negative number at this state
                EXPECT_NEAR(s(g, found[r]), A, k_round_off * (1 + std::abs(A)))
                    << name << ", row " << d.rows[i].name << ", speed " << d.model->speeds[r].name;
            }
        }
    }
}

Derivation derived(const std::string& text) {
    Derivation out = derive_text(text);
    EXPECT_TRUE(out.ok()) << text << render(out.diagnostics, out.sources);
    return out;
}

std::string pucks(const std::string& rest) {
    return "system pucks\nparam m1 = 1, m2 = 2, a = 0.7\ncoord x1 = 1, y1 = -2, x2 = 1, y2 = 2\n"
           "particle P1 mass m1 at O + x1*N.x + y1*N.y\nparticle P2 mass m2 at O + x2*N.x + y2*N.y\n" +
           rest + "\n";
}

// two free bodies A and B with points P and Q off their centres, speeds that are not rates, and a particle R
std::string bodies(const std::string& rest) {
    return "system bodies\nparam m = 1, l = 0.6\ncoord x, y, z, a1, a2 = 0.4, a3, X, Y = 1, Z, b1, b2 = 0.3, b3, r = 1\n"
           "frame A from N body zxz (a1, a2, a3)\nframe B from N body xyz (b1, b2, b3)\n"
           "body A frame A mass m center at O + x*N.x + y*N.y + z*N.z inertia (1, 2, 2.5)\n"
           "body B frame B mass 2*m center at O + X*N.x + Y*N.y + Z*N.z inertia (1, 1.5, 2, 0.1, 0.2, 0.3)\n"
           "point P at A_o + l*A.x + 0.2*A.z\npoint Q at B_o - l*B.y\nparticle R mass m at O + r*N.z\n"
           "speed w1 = dot(omega(A), A.x), w2 = dot(omega(A), A.y), w3 = dot(omega(A), A.z)\n"
           "speed v1 = dot(vel(A_o), A.x), v2 = dot(vel(A_o), A.y), v3 = dot(vel(A_o), A.z)\n"
           "speed s1 = b1', s2 = b2', s3 = b3' + 2*b1', s4 = X', s5 = Y', s6 = Z' + X', s7 = r'\n" +
           rest + "\n";
}

struct Case {
    std::string text;
    ForceForm form = ForceForm::vectors;
};

std::vector<Case> hand_made() {
    using enum ForceForm;
    std::vector<Case> out;
    for (const char* c : {"dot(vel(P1), vel(P2)) = 0", "orthogonal(vel(P1), vel(P2))", "parallel(vel(P1), vel(P2))",
                          "mag(vel(P1)) = mag(vel(P2))", "dot(vel(P1), vel(P1)) = a^2*dot(vel(P2), vel(P2))",
                          "dot(vel(P1), unit(pos(P2) - pos(P1))) = sin(t)*x1", "cross(pos(P1) - pos(P2), vel(P2)) = 0",
                          "mag(pos(P1, P2)) = a", "dot(pos(P1), pos(P2)) = 1", "pos(P1) = 2*pos(P2)"})
        out.push_back({pucks(std::string("constraint c: ") + c)});
    for (const char* c : {"dot(vel(P1), N.x) = a*x2'", "dot(vel(P1), vel(P2)) + y1*y2' = 0", "dot(pos(P1), N.x) = y2^2",
                          "dot(pos(P1) - pos(P2), cos(y1)*N.x + sin(y1)*N.y) = 0", "dot(y1'*vel(P1), vel(P2)) = 1"})
        out.push_back({pucks(std::string("constraint c: ") + c), partly_generalized});
    for (const char* c :
         {"x1'*x2' + y1'*y2' = 0", "x1^2 + y1^2 = 5", "dot(dt(pos(P1) - O, N), N.x) = x2'", "dot(x1'*N.x, N.x) = y1"})
        out.push_back({pucks(std::string("constraint c: ") + c), generalized_only});
    for (const char* c : {"dot(omega(A), omega(B)) = 0", "dot(omega(A, B), A.y) = 0", "rolling(A, N, P)", "rolling(A, B, Q)",
                          "vel(P, B) = 0", "dot(vel(R, A), A.x) = 0", "dot(cross(omega(A), omega(B)), vel(P)) = 0.1",
                          "mag(omega(A)) = 2*mag(vel(B at R))", "dot(A.x, B.y) = 0", "dot(pos(P, Q), B.z) = 0", "pos(P) = pos(Q)",
                          "dot(cross(A.x, B.y), pos(R)) = 0.1", "dot(pos(P, R), pos(P, R)) = 1 + t", "mag(pos(P, Q) + A.z) = 1",
                          "atan2(dot(A.x, N.x), dot(B.x, N.y)) = 0.2", "dot(vel(P) - vel(A at P), N.x) + dot(vel(Q), A.z) = 0"})
        out.push_back({bodies(std::string("constraint c: ") + c)});
    for (const char* c : {"dot(vel(P), N.x) = l*w1", "dot(omega(B), B.x) = a2'", "exp(dot(pos(Q), N.y)) = a1*x"})
        out.push_back({bodies(std::string("constraint c: ") + c), partly_generalized});
    return out;
}

TEST(ConstraintForces, GiveTheRowsOfAForTheGallery) {
    int models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        if (entry.path().extension() != ".appell") continue;
        const Derivation d = derived(gallery_text(entry.path().stem().string()));
        ASSERT_TRUE(d.ok());
        expect_rows_of_A(*d.dynamics, entry.path().stem().string());
        ++models;
    }
    EXPECT_GE(models, 9);
}

TEST(ConstraintForces, GiveTheRowsOfAForEveryWayToWriteAConstraint) {
    for (const Case& c : hand_made()) {
        const Derivation d = derived(c.text);
        ASSERT_TRUE(d.ok());
        expect_rows_of_A(*d.dynamics, d.model->constraints.front().text);
        for (const ConstraintForces& f : constraint_forces(*d.dynamics)) {
            EXPECT_EQ(f.form, c.form) << d.model->constraints.front().text;
            EXPECT_EQ(f.why.empty(), c.form == ForceForm::vectors);
            EXPECT_EQ(f.generalized.empty(), c.form == ForceForm::vectors);
            EXPECT_EQ(f.forces.empty() && f.torques.empty(), c.form == ForceForm::generalized_only);
        }
    }
}

TEST(ConstraintForces, GiveTheRowsOfAForQuaternionsAndCosines) {
    Derivation d = derived(
        "system free\ncoord x, y, z, e0 = 1, e1, e2, e3\nframe B from N quaternion (e0, e1, e2, e3)\n"
        "body B frame B mass 1 center at O + x*N.x + y*N.y + z*N.z inertia (1, 2, 3)\npoint P at B_o + 0.3*B.x\n"
        "constraint c: dot(B.x, N.y) = 0.1\nconstraint d: dot(vel(P), B.y) = 0");
    ASSERT_TRUE(d.ok());
    expect_rows_of_A(*d.dynamics, "quaternion");
}

// Euler: for phi homogeneous of degree k in the velocities, sum W . v + sum tau . omega = k phi, which is zero on the constraint
TEST(ConstraintForces, DoNoWorkAtHomogeneousConstraints) {
    struct Homogeneous {
        std::string text;
        double degree;
    };
    const Homogeneous cases[] = {{pucks("constraint c: dot(vel(P1), vel(P2)) = 0"), 2},
                                 {pucks("constraint c: parallel(vel(P1), vel(P2))"), 2},
                                 {pucks("constraint c: mag(vel(P1)) = mag(vel(P2))"), 1},
                                 {bodies("constraint c: dot(omega(A), omega(B)) = 0"), 2},
                                 {bodies("constraint c: rolling(A, B, Q)"), 1},
                                 {bodies("constraint c: dot(cross(omega(A), omega(B)), vel(P)) = 0"), 3}};
    for (const auto& [text, degree] : cases) {
        const Derivation derivation = derived(text);
        const ConstrainedDynamics& d = *derivation.dynamics;
        const std::vector<ConstraintForces> rows = row_forces(d);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::vector<NodeId> by_speed = projected(d, rows[i]);
            for (unsigned seed = 1; seed <= 4; ++seed) {
                const auto s = random_state(*d.model, seed);
                double power = 0;  // scleronomic: v = sum v_r u_r
                for (std::size_t r = 0; r < by_speed.size(); ++r)
                    power += s(d.graph(), by_speed[r]) * s.values[d.model->speeds[r].u.index()];
                EXPECT_NEAR(power, degree * s(d.graph(), d.rows[i].velocity), k_round_off) << d.rows[i].name << text;
            }
        }
    }
}

// a wrench has the same power wherever it is reduced to
TEST(ConstraintForces, ReductionKeepsThePower) {
    const Derivation derivation =
        derived(bodies("constraint c: dot(vel(A at R), vel(P)) + dot(omega(A), N.x) + dot(vel(A at Q), N.z) + dot(vel(B at P), "
                       "omega(B)) = 0.2\nconstraint d: "
                       "vel(P) = vel(Q)"));
    const ConstrainedDynamics& d = *derivation.dynamics;
    Graph& g = d.graph();
    Kinematics& kin = *d.kinematics;
    const FrameId A = d.model->bodies.front().frame;
    const auto material = [&](PointId p) { return MixedVector{{kin.material_velocity(A, p)}}; };
    for (const ConstraintForces& row : row_forces(d)) {
        // forces on A directly; P is fixed in A, Q is not
        NodeId expected = g.constant(0);
        for (const ForceDirection& f : row.forces)
            if (f.body == A || (!f.body.valid() && d.model->point(f.point).name == "P"))
                expected = g.add(expected, kin.frames().dot(kin.resolve_vector(f.W), material(f.point)));
        for (const TorqueDirection& t : row.torques)
            if (t.body == A)
                expected = g.add(expected, kin.frames().dot(kin.resolve_vector(t.tau), MixedVector{{kin.omega(t.body)}}));
        for (std::size_t p = 0; p < d.model->points.size(); ++p) {
            const Wrench w = reduce(d, row, A, PointId(p));
            const NodeId found = g.add(kin.frames().dot(kin.resolve_vector(w.force), material(w.point)),
                                       kin.frames().dot(kin.resolve_vector(w.torque), MixedVector{{kin.omega(A)}}));
            const auto s = random_state(*d.model, 7);
            EXPECT_NEAR(s(g, found), s(g, expected), k_round_off) << d.model->points[p].name;
        }
    }
}

TEST(ConstraintForces, ReadAsTheUserWroteThem) {
    const auto text = [](const std::string& model) { return constraint_forces_text(*derived(model).dynamics); };
    EXPECT_EQ(text(gallery_text("perpendicular_pucks")),
              "  on P1: lambda(perpendicular)*vel(P2)\n  on P2: lambda(perpendicular)*vel(P1)\n");
    EXPECT_EQ(text(gallery_text("rolling_disk")),
              "  on D at P: lambda(rolling_contact, x)*N.x + lambda(rolling_contact, y)*N.y\n");
    EXPECT_EQ(text(bodies("constraint c: dot(omega(A), omega(B)) = 0")),
              "  torque on A: lambda(c)*omega(B)\n  torque on B: lambda(c)*omega(A)\n");
    // the reaction acts on the frame in which the velocity is taken
    EXPECT_EQ(text(bodies("constraint c: dot(vel(R, A), A.x) = 0")), "  on R: lambda(c)*A.x\n  on A at R: -lambda(c)*A.x\n");
    // nothing acts on the ground
    EXPECT_EQ(text(bodies("constraint c: dot(vel(P) - vel(N at P), N.x) = 0")), "  on P: lambda(c)*N.x\n");
    const std::string bare = text(pucks("constraint c: x1'*x2' + y1'*y2' = 0"));
    EXPECT_NE(bare.find("  generalized, on speed x1': lambda(c)*x2'\n"), std::string::npos) << bare;
    EXPECT_NE(bare.find("c has generalized forces only: it is written in coordinates and speeds"), std::string::npos) << bare;
    const std::string partly = text(pucks("constraint c: dot(vel(P1), N.x) = a*x2'"));
    EXPECT_EQ(partly,
              "  on P1: lambda(c)*N.x\n  generalized, on speed x2': -a*lambda(c)\n"
              "  c has a generalized part: it also contains x2' outside vectors, and no point or body can be named for that "
              "part\n");
}

// laws and actuators in the user's own terms; `derive` has the same lines
TEST(ConstraintForces, ListLawsAndActuators) {
    const std::string model =
        "system s\nparam m = 1.5, mu = 0.4, k = 2\ncoord x = 1, y = 0.1, a = 0, b = 0\n"
        "speed vx = x', vy = y', wa = a', wb = b'\nframe A from N rotate a about z\nframe B from N rotate b about z\nparticle P "
        "mass m at O + x*N.x + y*N.y\n"
        "body A frame A mass 1 center O inertia (1, 1, 1)\nbody B frame B mass 1 center O inertia (1, 1, 2)\n"
        "constraint floor: dot(pos(P), N.y) = 0.1\nnonideal floor: force on P = -mu*reaction(floor)*unit(vel(P))\n"
        "actuator F: force on P along A.x\nactuator T: torque on A from B along N.z\nactuator U: load on wb\n"
        "servo track: x' = 1 by F\nservo turn: a' - b' = t by T, U\nstart x' = 1\nrun for 1 s\n";
    Derivation d = derived(model);
    const std::string text = constraint_forces_text(*d.dynamics);
    const std::string lines[] = {"  on P: lambda(floor)*N.y\n",
                                 "  law, on P: -mu*lambda(floor)*vel(P)/sqrt(dot(vel(P), vel(P)))\n",
                                 "  ideal, on P: ideal(floor)*N.y\n",
                                 "  nonideal, on P: ",
                                 "  actuator F, on P: actuator(F)*A.x\n",
                                 "  actuator T, torque on A: actuator(T)*N.z\n",
                                 "  actuator T, torque on B: -actuator(T)*N.z\n",
                                 "  actuator U, generalized, on speed wb: actuator(U)\n"};
    for (const std::string& line : lines) EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    for (const char* formulation : {"multipliers", "minimal"}) {
        const std::string printed = print_equations(d, {formulation, "text"}).value();
        for (const std::string& line : lines) EXPECT_NE(printed.find(line), std::string::npos) << line << "\n" << printed;
        // once
        EXPECT_EQ(printed.find("\nConstraint forces\n"), printed.rfind("\nConstraint forces\n"));
    }
    const auto json = nlohmann::json::parse(constraint_forces_json(*d.dynamics));
    ASSERT_EQ(json["constraints"].size(), 1u);
    EXPECT_EQ(json["constraints"][0]["ideal"]["forces"][0]["value"], "ideal(floor)*N.y");
    EXPECT_EQ(json["constraints"][0]["law"]["forces"][0]["point"], "P");
    ASSERT_EQ(json["actuators"].size(), 3u);
    EXPECT_EQ(json["actuators"][1]["keeps"], nlohmann::json({"turn"}));
    EXPECT_EQ(json["actuators"][1]["torques"][1]["value"], "-actuator(T)*N.z");
    EXPECT_EQ(json["actuators"][2]["generalized"][0]["speed"], "wb");
}

TEST(ConstraintForces, StandInTheEquations) {
    const Derivation d = derived(gallery_text("perpendicular_pucks"));
    const auto printed = [&](EquationFormat format) {
        EquationOptions options;
        options.format = format;
        return equations(*d.dynamics, options);
    };
    EXPECT_NE(printed(EquationFormat::text).find("\nConstraint forces\n  on P1: lambda(perpendicular)*vel(P2)\n"),
              std::string::npos);
    const std::string latex = printed(EquationFormat::latex);
    EXPECT_NE(latex.find("\\text{on }P_1 &:\\; \\lambda_{\\mathrm{perpendicular}} \\mathbf{v}^{P_2}"), std::string::npos)
        << latex;
    const std::string json = printed(EquationFormat::json);
    EXPECT_NE(json.find("\"value\": \"lambda(perpendicular)*vel(P2)\""), std::string::npos) << json;
}

}  // namespace
}  // namespace appell
