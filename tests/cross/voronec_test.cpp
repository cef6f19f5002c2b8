// Voronec's equations against the others: constraints nonlinear in the rates, rheonomic, redundant, holonomic, in speeds that are
// no rates; every partition of the rates gives the same motion. States and their partitions are those of the certificate.
#include <gtest/gtest.h>

#include <cmath>

#include "dynam/formulations.hpp"
#include "dynam/voronec.hpp"
#include "support/certificate_of.hpp"
#include "support/sample_models.hpp"
#include "tape/evaluate_wide.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

struct NamedModel {
    std::string name, text;
};
void PrintTo(const NamedModel& model, std::ostream* out) { *out << model.name; }

const std::string k_three_points =
    "param m1 = 1, m2 = 2, m3 = 0.5\ncoord x1 = 0.1, y1 = 0.4, z1 = 0, x2 = 1, y2 = 0.3, z2 = 0.2, x3 = -1, y3 = 0.7, z3 = 0.5\n"
    "particle P1 mass m1 at O + x1*N.x + y1*N.y + z1*N.z\nparticle P2 mass m2 at O + x2*N.x + y2*N.y + z2*N.z\n"
    "particle P3 mass m3 at O + x3*N.x + y3*N.y + z3*N.z\ngravity -9.81*N.z\nforce on P2 = -x2*N.x + sin(t)*N.y\n"
    "start x1' = 1, y1' = 0.4, z1' = 0.3, x2' = -0.5, y2' = 1, z2' = 0.2, x3' = 0.3, y3' = 0.1, z3' = 1\n";

const std::vector<NamedModel>& models() {
    static const std::vector<NamedModel> list{
        // 002 ex. 1 and 11, with friction that depends on the velocity
        {"prescribed_speed",
         "system s\nparam a = 1, b = 2, c = 0.5, C = 3, k = 0.2\ncoord x = 0.2, y = 0.5, z = 1\nparticle P mass 2 at O + x*N.x + "
         "y*N.y + z*N.z\ngravity -9.81*N.z\nforce on P = -k*mag(vel(P))*vel(P)\nconstraint swift: a*x'^2 + b*y'^2 + c*z'^2 = (C "
         "+ "
         "sin(t))^2\nstart x' = 1, y' = 1, z' = 2\n"},
        // 002 ex. 15: the restricted energy is a constant, and the equations still hold
        {"constant_restricted_energy",
         "system s\nparam C = 2\ncoord x = 0.2, y = 0.5, z = 1\nparticle P mass 3 at O + x*N.x + y*N.y + z*N.z\ngravity "
         "-9.81*N.z\nconstraint swift: dot(vel(P), vel(P)) = C^2\nstart x' = 1, y' = 1, z' = 1\n"},
        // affine rows with every kind of term: coefficients of q and t, parts free of the rates (002 eq. 32 with beta)
        {"affine_rheonomic",
         "system s\nparam p = 0.3\ncoord x = 0.2, y = 0.5, z = 1, w = 0.4\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\n"
         "particle Q mass 1 at P + w*N.x + x*w*N.y\ngravity -9.81*N.z\nconstraint a: y' = z^2*x' + p*sin(x + t)*w' + y*t\n"
         "constraint b: z' = (t + y)*x' + cos(x*y) + w*w'\nstart x' = 1, w' = 0.5\n"},
        {"three_points_two_nonlinear_rows",
         "system s\n" + k_three_points +
             "constraint perpendicular: dot(vel(P1), vel(P2)) = 0.1*sin(t)\nconstraint equal: mag(vel(P2)) = (1 + "
             "x1^2)*mag(vel(P3))\n"},
        {"three_points_four_rows",
         "system s\n" + k_three_points +
             "constraint distance: dot(pos(P1, P2), pos(P1, P2)) = (1.2 + 0.1*sin(t))^2\nconstraint midpoint: dot(vel(P1) + "
             "vel(P2), pos(P1, P2)) = 0\nconstraint cubic: x3'^3 + y3'^3 = z3'*x1' + t\nconstraint pursuit: y3'*(x1 - x3) = "
             "x3'*(y1 - y3 + t)\n"},
        // speeds that are no rates, with K and k of q and t, a moving base and a position row
        {"mixed_speeds",
         "system s\nparam l = 0.8, w = 0.5\ncoord x = 0.1, y = 0.3, a = 0.4, b = 0.2\nframe R from N rotate w*t about z\nframe A "
         "from R rotate a about z\nframe B from A rotate b about x\npoint C at O + x*R.x + y*R.y\n"
         "body B frame B mass 2 center C inertia (0.3, 0.4, 0.5)\nparticle Q mass 1 at C + l*B.y\n"
         "speed u1 = dot(vel(C), A.x), u2 = dot(vel(C), A.y), u3 = 2*a' + 0.3*b' + x*t, u4 = b' - 0.5*a' + sin(y)\n"
         "gravity -9.81*N.z\nforce on Q = 0.3*A.x\nconstraint skew: u1*u2 = 0.2 + u3*u4*x\nconstraint height: dot(pos(Q), N.z) = "
         "0.2 + 0.05*cos(t)\nstart u1 = 1, u2 = 0.5, u3 = 0.3\n"},
        // 000 sec. 7 with Euler angles: angular velocities stay perpendicular
        {"perpendicular_angular_velocities",
         "system s\ncoord a1 = 0.1, a2 = 0.6, a3 = 0.2, b1 = 0.3, b2 = 0.5, b3 = -0.4\nframe A from N body xyz (a1, a2, "
         "a3)\nframe "
         "B from N body zxy (b1, b2, b3)\nbody A frame A mass 1 center O inertia (1, 2, 2.5)\nbody B frame B mass 1 center O "
         "inertia (1.5, 1, 2)\ntorque on A = 0.3*N.x\nconstraint c: dot(omega(A), omega(B)) = 0\nstart a1' = 1, a2' = 0.5, b1' = "
         "0.4, b3' = 1\n"},
        // nothing is left to choose: as many rows as rates
        {"no_independent_rate",
         "system s\ncoord x = 0.1, y = 0.3\nparticle P mass 2 at O + x*N.x + y*N.y\nforce on P = N.x + x*N.y\nconstraint a: x' + "
         "y'^3 = sin(t) + 2\nconstraint b: y' = x*y + x'\nstart x' = 1, y' = 1\n"},
        {"redundant_rows",
         "system s\ncoord x = 0.1, y = 0.3, z = 0.2\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\nforce on P = N.x + "
         "x*N.y\nconstraint a: x'*y' + z' = x\nconstraint b: 2*x'*y' + 2*z' = 2*x\nconstraint c: (x'*y' + z' - x)*(1 + y^2) = "
         "0\nstart x' = 1, y' = 1\n"},
    };
    return list;
}

class VoronecOn : public ::testing::TestWithParam<NamedModel> {};

TEST_P(VoronecOn, AgreesWithTheOthers) {
    const Certificate c = certificate_of(GetParam().text);
    ASSERT_TRUE(c.enough) << c.states << " of " << c.tried;
    const FormulationAgreement f = agreement(c, "voronec");
    ASSERT_EQ(f.not_applicable, "");
    // rows conditioned up to 1e6 and partitions up to 10 leave eleven digits of sixteen; mistakes are not small
    EXPECT_LT(f.acceleration, 1e-11);
    EXPECT_LT(f.force, 1e-11);
    ASSERT_TRUE(c.wide);
    EXPECT_LT(f.acceleration_wide, 1e-38);
    EXPECT_LT(f.force_wide, 1e-38);
}

INSTANTIATE_TEST_SUITE_P(HandMade, VoronecOn, ::testing::ValuesIn(models()), [](const auto& at) { return at.param.name; });

// a tree with every kind of frame and load, a rheonomic base and speeds that mix, free of constraints: Lagrange's equations
TEST(VoronecOnTheSampleTree, AgreesWithTheOthers) {
    const auto tree = sample_tree(SampleSpeeds::mixed);
    const auto dynamics = derive_dynamics(tree);
    ASSERT_TRUE(dynamics.ok());
    const FormulationAgreement f = agreement(certificate_of(*dynamics), "voronec");
    EXPECT_EQ(f.not_applicable, "");
    EXPECT_LT(f.acceleration, 1e-11);
    EXPECT_LT(f.acceleration_wide, 1e-38);
}

// u' and A' lambda of some solves at a state
template <class T>
std::vector<T> motion_at(const ConstrainedDynamics& d, const std::vector<ConstrainedSolve>& solves,
                         const std::vector<SymbolId>& inputs, const std::vector<T>& state) {
    Graph& g = d.graph();
    OutputGroup out{"out", {}};
    for (const Speed& s : d.model->speeds) out.values.push_back(g.symbol_node(s.rate));
    std::vector<NodeId> force(d.model->speeds.size(), g.constant(0));
    for (const SparseEntry& e : d.A.entries)
        force[e.column] = g.add(force[e.column], g.mul(e.value, g.symbol_node(d.rows[e.row].multiplier)));
    out.values.insert(out.values.end(), force.begin(), force.end());
    const Program program = lower_program(g, {inputs, solves, {out}});
    Workspace<T> w(program);
    std::copy(state.begin(), state.end(), w.inputs().begin());
    EXPECT_EQ(w.run().status, EvalStatus::ok);
    return {w.outputs().begin(), w.outputs().end()};
}

// 002 prop. 2: another choice of independent rates is another form of the same equations
TEST(VoronecPartitions, AllGiveTheSameMotion) {
    for (const NamedModel& model : models()) {
        Derivation d = derive_text(model.text);
        ASSERT_TRUE(d.ok());
        const ConstrainedDynamics& dynamics = *d.dynamics;
        const auto lowered = lower_motion(dynamics, {});
        ASSERT_TRUE(lowered.ok());
        CertificateOptions options;
        options.states = 1;
        const std::vector<Digits50> state = random_consistent_states(dynamics, *lowered, start_of(*lowered), options).exact.at(0);
        std::vector<SymbolId> inputs = program_inputs(*d.model);
        inputs.push_back(lowered->length_symbol);
        std::vector<double> values(dynamics.graph().symbol_count(), 0);
        for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].index()] = static_cast<double>(state[i]);

        const FormulatedDynamics voronec(dynamics, Formulation::voronec);
        const std::size_t n = d.model->coordinates.size(), k = voronec.choose(values).partition.dependent.size();
        const auto reference =
            motion_at<Digits50>(dynamics, FormulatedDynamics(dynamics, Formulation::minimal).solves(), inputs, state);
        double size = 0;
        for (const Digits50& x : reference) size = std::max(size, std::abs(static_cast<double>(x)));
        std::size_t compared = 0;
        std::vector<bool> chosen(n, false);
        std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(k), true);
        do {
            std::vector<std::size_t> dependent;
            for (std::size_t j = 0; j < n; ++j)
                if (chosen[j]) dependent.push_back(j);
            const PartitionChoice choice = voronec.choose(values, dependent);
            if (!choice.not_applicable.empty() || voronec.conditioning(values, choice.partition) < 1e-3) continue;
            EXPECT_EQ(choice.partition.dependent, dependent);
            const auto here = motion_at<Digits50>(dynamics, voronec.solves(choice.partition), inputs, state);
            // fifty digits less three times three of the partition and six of the rows
            for (std::size_t i = 0; i < here.size(); ++i)
                EXPECT_NEAR(static_cast<double>(here[i] - reference[i]), 0, 1e-33 * size) << model.name;
            if (++compared == 30) break;
        } while (std::prev_permutation(chosen.begin(), chosen.end()));
        EXPECT_GE(compared, k == n ? 1u : 2u) << model.name;
    }
}

TEST(VoronecPartitions, AreRefusedWhereTheyFail) {
    Derivation d = derive_text(gallery_text("skate"));
    const FormulatedDynamics voronec(*d.dynamics, Formulation::voronec);
    std::vector<double> values(d.dynamics->graph().symbol_count(), 1);
    const auto choose = [&](std::vector<std::size_t> dependent) { return voronec.choose(values, dependent); };
    EXPECT_EQ(choose({0}).not_applicable, "");
    EXPECT_EQ(choose({0}).partition.dependent, std::vector<std::size_t>{0});
    // theta' is not in the blade's condition
    EXPECT_EQ(choose({2}).not_applicable, "the constraints do not determine theta' at this state");
    EXPECT_EQ(choose({0, 1}).not_applicable,
              "the constraints determine 1 of the rates at this state, and 2 are to depend (x', y')");
    // blade along x: y' = 0 is all it says
    values[d.model->coordinates[2].q.index()] = 0;
    EXPECT_EQ(choose({0}).not_applicable, "the constraints do not determine x' at this state");
    EXPECT_EQ(choose({}).partition.dependent, std::vector<std::size_t>{1});
    Derivation free = derive_text(gallery_text("double_pendulum"));
    const std::vector<std::size_t> first{0};
    EXPECT_EQ(FormulatedDynamics(*free.dynamics, Formulation::voronec).choose(values, first).not_applicable,
              "without constraints no rate depends on the others");
}

// The closed forms of the printed page: (54) put together from the printed T*, alpha and B equals the printed left side, and the
// printed equations hold with the accelerations that `multipliers` finds.
TEST(ExplicitVoronec, SaysWhatIsSolved) {
    std::size_t written = 0;
    std::vector<NamedModel> all = models();
    for (const char* name :
         {"skate", "rolling_disk", "chaplygin_sleigh", "perpendicular_pucks", "double_pendulum", "pursuit_space",
          "two_points_across_along", "skate_in_stream", "carriage_on_turntable", "planar_body"})
        all.push_back({name, gallery_text(name)});
    for (const NamedModel& model : all) {
        const Derivation d = derive_text(model.text);
        ASSERT_TRUE(d.ok()) << model.name;
        const ConstrainedDynamics& dynamics = *d.dynamics;
        Graph& g = dynamics.graph();
        const RateForm form = derive_rate_form(dynamics);
        const auto lowered = lower_motion(dynamics, {});
        ASSERT_TRUE(lowered.ok());
        CertificateOptions options;
        options.states = 3;
        const auto states = random_consistent_states(dynamics, *lowered, start_of(*lowered), options).exact;
        ASSERT_EQ(states.size(), 3u) << model.name;
        std::vector<SymbolId> inputs = program_inputs(*d.model);
        inputs.push_back(lowered->length_symbol);
        for (const std::vector<Digits50>& state : states) {
            std::vector<double> rough(g.symbol_count(), 0);
            for (std::size_t i = 0; i < inputs.size(); ++i) rough[inputs[i].index()] = static_cast<double>(state[i]);
            const Partition partition = choose_partition(form, rough, {}, {}).partition;
            const ExplicitVoronec e = explicit_voronec(form, partition);
            if (!e.refused.empty()) continue;
            ++written;
            // numbers of q' and q''
            std::vector<Digits50> values(g.symbol_count(), Digits50(0));
            for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].index()] = state[i];
            const auto ud =
                motion_at<Digits50>(dynamics, FormulatedDynamics(dynamics, Formulation::multipliers).solves(), inputs, state);
            for (std::size_t i = 0; i < d.model->speeds.size(); ++i) values[d.model->speeds[i].rate.index()] = ud[i];
            std::vector<NodeId> accelerations;
            for (const NodeId rate : dynamics.kinematics->coordinate_rates())
                accelerations.push_back(dynamics.kinematics->rate(rate));
            const auto qd = evaluate<Digits50>(g, dynamics.kinematics->coordinate_rates(), values);
            const auto qdd = evaluate<Digits50>(g, accelerations, values);
            for (std::size_t j = 0; j < form.q.size(); ++j) {
                values[form.v[j].index()] = qd[j];
                values[d.model->coordinates[j].rate2.index()] = qdd[j];
            }
            TimeDerivative along(g);
            along.set_rate(d.model->time, g.constant(1));
            for (std::size_t j = 0; j < form.q.size(); ++j) {
                along.set_rate(form.q[j], g.symbol_node(form.v[j]));
                along.set_rate(form.v[j], g.symbol_node(d.model->coordinates[j].rate2));
            }
            const auto slope = [&](NodeId of, SymbolId by) { return derivative(g, std::span(&of, 1), by).front(); };
            std::size_t r = 0;
            for (std::size_t j = 0; j < form.q.size(); ++j) {
                if (std::find(partition.dependent.begin(), partition.dependent.end(), j) != partition.dependent.end()) continue;
                NodeId put_together = g.sub(along(slope(e.T_star, form.v[j])), slope(e.T_star, form.q[j]));
                for (std::size_t nu = 0; nu < e.alpha.size(); ++nu) {
                    const std::size_t place = partition.dependent[nu];
                    put_together = g.sub(put_together, g.mul(slope(e.T_star, form.q[place]), slope(e.alpha[nu], form.v[j])));
                    put_together = g.sub(put_together, g.mul(e.B[r][nu], form.momentum[place]));
                }
                const std::vector<NodeId> sides{e.left[r], e.right[r], put_together};
                const auto numbers = evaluate<Digits50>(g, sides, values);
                // terms that cancel may be 1e6 times what is left
                const double size = 1e-35 * (1 + std::abs(static_cast<double>(numbers[1])));
                EXPECT_NEAR(static_cast<double>(Digits50(numbers[0] - numbers[1])), 0, size) << model.name << ", equation " << r;
                EXPECT_NEAR(static_cast<double>(Digits50(numbers[0] - numbers[2])), 0, size) << model.name << ", equation " << r;
                ++r;
            }
            for (std::size_t nu = 0; nu < e.alpha.size(); ++nu) {
                const auto alpha = evaluate<Digits50>(g, std::span(&e.alpha[nu], 1), values).front();
                EXPECT_NEAR(static_cast<double>(Digits50(alpha - qd[partition.dependent[nu]])), 0, 1e-35) << model.name;
            }
        }
    }
    EXPECT_GT(written, 30u);
}

// the choice does not depend on the units that coordinates are measured in: x in kilometres, y in millimetres
TEST(VoronecPartitions, AreChosenWithoutUnits) {
    const auto dependent = [](double x_unit, double y_unit) {
        const std::string text = "system s\nparam a = " + std::to_string(x_unit) + ", b = " + std::to_string(y_unit) +
                                 "\ncoord x = 1, y = 1\nparticle P mass 1 at O + a*x*N.x + b*y*N.y\nconstraint c: 2*a*x' + "
                                 "b*y' = 1\n";
        Derivation d = derive_text(text);
        EXPECT_TRUE(d.ok());
        std::vector<double> values(d.dynamics->graph().symbol_count(), 1);
        for (const Parameter& p : d.model->parameters) values[p.symbol.index()] = p.value;
        return FormulatedDynamics(*d.dynamics, Formulation::voronec).choose(values).partition.dependent;
    };
    EXPECT_EQ(dependent(1, 1), std::vector<std::size_t>{0});
    EXPECT_EQ(dependent(1e-3, 1e3), std::vector<std::size_t>{0});
    EXPECT_EQ(dependent(1e3, 1e-3), std::vector<std::size_t>{0});
}

TEST(VoronecRuns, FollowTheOthersThroughASingularPartition) {
    // the blade turns by more than a full turn, so that each of x' and y' ceases to be determined by the other several times
    RunOptions options;
    options.formulation = "voronec";
    const TextRun skate = run_text(gallery_text("skate"), options);
    const double c = 9.81 * std::sin(M_PI / 18) / 2;  // closed form in gallery/skate.appell
    for (const std::size_t row : {100u, 157u, 471u, 1000u}) {
        const double t = 0.01 * static_cast<double>(row);
        EXPECT_NEAR(skate.at(row, "x"), c * std::pow(std::sin(t), 2), 1e-8);
        EXPECT_NEAR(skate.at(row, "y"), c * (t - std::sin(2 * t) / 2), 1e-8);
    }
}

// a speed that is a rate may be named as independent; then the others depend
TEST(VoronecPartitions, FollowTheUsersChoice) {
    const std::string text =
        "system s\ncoord x = 1, y = 2, z = 0\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\nforce on P = N.x\nconstraint c: "
        "5*x' + x'*y' + z' = 9\nstart x' = 1, y' = 1, z' = 3\n";
    const auto dependent = [](const std::string& model) {
        const Derivation d = derive_text(model);
        EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
        const std::vector<double> values(d.dynamics->graph().symbol_count(), 1);
        return FormulatedDynamics(*d.dynamics, Formulation::voronec).choose(values).partition.dependent;
    };
    EXPECT_EQ(dependent(text), std::vector<std::size_t>{0});
    EXPECT_EQ(dependent(text + "independent x', y'\n"), std::vector<std::size_t>{2});
    EXPECT_EQ(dependent(text + "speed a = z', b = x', c2 = y'\nindependent a, b\n"), std::vector<std::size_t>{1});
    // no rates: the choice is one of other quantities
    EXPECT_EQ(dependent(text + "speed a = x' + z', b = x', c2 = y'\nindependent a, b\n"), std::vector<std::size_t>{0});
    const FormulationAgreement f = agreement(certificate_of(text + "independent x', y'\n"), "voronec");
    EXPECT_EQ(f.not_applicable, "");
    EXPECT_LT(f.acceleration, 1e-11);
    EXPECT_LT(f.acceleration_wide, 1e-38);
}

// laws and actuators are given forces once they are known; rows on accelerations have no phi of the rates
TEST(VoronecWithOtherForces, AgreesOrSaysWhyNot) {
    const std::string particle =
        "system s\nparam m = 2, mu = 0.2\ncoord x = 0.1, y = 0.3, z = 0.2\nparticle P mass m at O + x*N.x + y*N.y + z*N.z\n"
        "gravity -9.81*N.z\nstart x' = 1, y' = 0.5\n";
    for (const std::string& rest :
         {std::string("constraint c: z = 0.1*x*y\nnonideal c: force on P = -mu*abs(ideal(c))*vel(P)\n"),
          std::string("constraint c: z' = 0.1*x*x'*y'\nnonideal c: force on P = -mu*abs(reaction(c))*vel(P)\n"),
          std::string(
              "constraint c: z' = x'*y'\nactuator F: force on P along N.x + x*N.y\nservo v: x' = 1 + 0.1*sin(t) by F\n")}) {
        const Certificate c = certificate_of(particle + rest);
        ASSERT_TRUE(c.enough) << rest;
        const FormulationAgreement f = agreement(c, "voronec");
        EXPECT_EQ(f.not_applicable, "") << rest;
        EXPECT_LT(f.acceleration, 1e-11) << rest;
        EXPECT_LT(f.force, 1e-11) << rest;
        EXPECT_LT(f.acceleration_wide, 1e-38) << rest;
        EXPECT_LT(f.force_wide, 1e-38) << rest;
    }
    EXPECT_EQ(agreement(certificate_of(particle + "constraint c: x'' = 2*y'' + x\n"), "voronec").not_applicable,
              "constraint c is on accelerations; the equations need constraints on rates");
}

TEST(VoronecRuns, AreRefusedWithTheReason) {
    Derivation d = derive_text(gallery_text("free_body"));
    RunOptions options;
    options.formulation = "voronec";
    EXPECT_FALSE(run(d, options).has_value());
    ASSERT_TRUE(d.diagnostics.has(Code::E0820));
    EXPECT_NE(render(d.diagnostics, d.sources).find("4 coordinates and 3 speeds"), std::string::npos);
}

}  // namespace
}  // namespace appell
