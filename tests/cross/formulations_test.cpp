// Every formulation against every other: at random consistent states of the gallery in double and with fifty digits, off the
// manifold, with redundant rows, with a singular mass matrix, and along whole runs.
#include <gtest/gtest.h>

#include "dynam/formulations.hpp"
#include "support/certificate_of.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

class CertificateOf : public ::testing::TestWithParam<std::string> {};

TEST_P(CertificateOf, AllFormulationsAgree) {
    const Certificate c = certificate_of(gallery_text(GetParam()));
    EXPECT_TRUE(c.enough) << c.states;
    ASSERT_EQ(c.formulations.size(), all_formulations().size());
    for (const FormulationAgreement& f : c.formulations) {
        if (f.name == "voronec" || f.name == "chaplygin") continue;  // tests of their own below
        EXPECT_EQ(f.not_applicable, "") << f.name;
    }
    // pivots above 1e-6 and mass ratios up to 100 leave eleven digits of sixteen, and more than forty of fifty
    EXPECT_LT(c.worst, 1e-11);
    EXPECT_LT(c.worst_wide, 1e-38);
}

INSTANTIATE_TEST_SUITE_P(Gallery, CertificateOf,
                         ::testing::Values("perpendicular_pucks", "appells_particle", "skate", "planar_body", "double_pendulum",
                                           "rolling_disk", "free_body", "sliding_particle", "simple_pendulum"),
                         [](const auto& at) { return at.param; });

TEST(Applicability, IsWhatTheStructureAllows) {
    // voronec wants as many coordinates as speeds; chaplygin linear homogeneous rows whose dependent coordinates occur nowhere
    const std::vector<std::tuple<std::string, bool, bool>> table{
        {"perpendicular_pucks", true, false},
        {"appells_particle", true, false},
        {"skate", true, true},
        {"skate_in_stream", true, false},  // the stream is a part free of the rates
        {"planar_body", true, false},
        {"rolling_disk", true, true},
        {"free_body", false, false},
        {"sliding_particle", true, true},
        {"sliding_particle_damped", false, false},  // written on accelerations
        {"chaplygin_sleigh", true, true},
        {"chaplygin_carriage", true, true},
        {"carriage_on_turntable", true, false},  // every coordinate is in the kinetic energy
        {"appell_hamel_linear", true, true},
        {"appell_hamel_nonlinear", true, false},
        {"marle_line", true, false}};  // an actuator
    for (const auto& [name, voronec, chaplygin] : table) {
        Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok());
        EXPECT_EQ(FormulatedDynamics(*d.dynamics, Formulation::voronec).not_applicable().empty(), voronec) << name;
        EXPECT_EQ(FormulatedDynamics(*d.dynamics, Formulation::chaplygin).not_applicable().empty(), chaplygin) << name;
    }
}

const std::string k_pucks =
    "system s\ncoord x = 1, y = 2, z = 0\nparticle P mass 2 at O + x*N.x + y*N.y + z*N.z\nforce on P = (1 + x)*N.x - y*N.y + "
    "N.z\nstart x' = 1, y' = 0.5, z' = 2\n";

TEST(Redundancy, ChangesNothingButTheMultipliers) {
    const std::string one = k_pucks + "constraint c: x'*y' + z' = x\n";
    const Certificate c = certificate_of(one + "constraint d: 2*x'*y' + 2*z' = 2*x\n");
    ASSERT_TRUE(c.enough);
    EXPECT_LT(c.worst, 1e-11);
    EXPECT_LT(c.worst_wide, 1e-38);
    // a multiple by a function is dependent on the manifold only
    const Certificate e = certificate_of(one + "constraint e: (x'*y' + z' - x)*(1 + y^2) = 0\n");
    ASSERT_TRUE(e.enough);
    EXPECT_LT(e.worst, 1e-10);  // rows scaled by up to 1 + y^2, about 10
    EXPECT_LT(e.worst_wide, 1e-38);
    // and the motion is that of the single row
    const TextRun r = run_text(one + "run for 1 s, every 0.1 s, rtol 1e-10, atol 1e-10\n");
    const TextRun s = run_text(one + "constraint d: 2*x'*y' + 2*z' = 2*x\nrun for 1 s, every 0.1 s, rtol 1e-10, atol 1e-10\n");
    for (const char* name : {"x", "y", "z"}) EXPECT_NEAR(r.at(10, name), s.at(10, name), 1e-9);
}

TEST(SingularMass, IsSolvedByThoseThatCan) {
    // y has no inertia of its own but is tied to x: M is singular, the bordered matrix regular
    const Certificate c = certificate_of(
        "system s\ncoord x = 1, y = 1\nparticle P mass 2 at O + x*N.x\nforce on P = (3 + y)*N.x\nconstraint c: y = x^2\nstart x' "
        "= 1\n");
    ASSERT_TRUE(c.enough);
    for (const FormulationAgreement& f : c.formulations) {
        // chaplygin: x is in the coefficients, y in the force
        const bool refuses = f.name == "udwadia-kalaba" || f.name == "ukp" || f.name == "chaplygin";
        EXPECT_EQ(!f.not_applicable.empty(), refuses) << f.name << ": " << f.not_applicable;
    }
    EXPECT_LT(c.worst, 1e-11);
}

TEST(OffTheManifold, TheFullOrderFormsStillAgree) {
    Derivation d = derive_text(gallery_text("perpendicular_pucks"));
    ASSERT_TRUE(d.ok());
    const auto inputs = program_inputs(*d.model);
    // speeds that violate the constraint: u1 u3 + u2 u4 = 1.5
    std::vector<double> state{0, 1, -2, 1, 2, 1, 1, 0.5, 1};
    for (const Parameter& p : d.model->parameters) state.push_back(p.value);
    ASSERT_EQ(state.size(), inputs.size());
    std::vector<double> values(d.dynamics->graph().symbol_count()), reference;
    for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].index()] = state[i];
    for (const FormulationInfo& row : all_formulations()) {
        const Formulated formulated = formulate(*d.dynamics, row.formulation, values);
        if (row.formulation == Formulation::chaplygin) {
            EXPECT_EQ(formulated.not_applicable, "constraint perpendicular is not linear in the rates");
            continue;
        }
        ASSERT_EQ(formulated.not_applicable, "");
        ProgramSpec spec{inputs, formulated.solves, {}};
        spec.outputs.push_back({"ud", {}});
        for (const Speed& s : d.model->speeds) spec.outputs[0].values.push_back(d.dynamics->graph().symbol_node(s.rate));
        const Program program = lower_program(d.dynamics->graph(), spec);
        Workspace<double> w(program);
        std::copy(state.begin(), state.end(), w.inputs().begin());
        ASSERT_EQ(w.run().status, EvalStatus::ok);
        const auto ud = w.output("ud");
        if (reference.empty()) reference.assign(ud.begin(), ud.end());
        for (std::size_t i = 0; i < ud.size(); ++i) EXPECT_NEAR(ud[i], reference[i], 1e-14) << row.name;
    }
}

TEST(Certificate, KnowsItsSizes) {
    const auto chain = [](int n) {
        return "system c\nsize n = " + std::to_string(n) +
               "\nfor i in 1..n\n  coord x[i] = 0.1*i\n  particle P[i] mass 1 at O + x[i]*N.x\nend\n";
    };
    EXPECT_TRUE(certificate_of(chain(24)).wide);
    const Certificate middle = certificate_of(chain(60));
    EXPECT_TRUE(middle.enough && middle.wide);
    EXPECT_EQ(middle.limit, 0u);
    EXPECT_LT(middle.wide_states, middle.states);
    EXPECT_LT(middle.worst, 1e-11);
    EXPECT_LT(middle.worst_wide, 1e-25);
    const Certificate few = certificate_of(chain(250));  // in double alone, and without what is made for a partition of the rates
    EXPECT_TRUE(few.enough);
    EXPECT_FALSE(few.wide || few.too_large);
    EXPECT_EQ(few.limit, 120u);
    EXPECT_LT(few.worst, 1e-11);
    EXPECT_TRUE(agreement(few, "voronec").beyond_limit);
    EXPECT_TRUE(certificate_of(chain(601)).too_large);
}

TEST(Runs, EveryFormulationGivesTheSamePath) {
    // `minimal` integrates fewer variables, with steps of its own: tolerances far below the bar take that out
    RunOptions options;
    options.rtol = options.atol = 1e-12;
    const TextRun reference = run_text(gallery_text("perpendicular_pucks"), options);
    for (const FormulationInfo& row : all_formulations()) {
        if (row.formulation == Formulation::chaplygin) continue;  // nonlinear
        options.formulation = std::string(row.name);
        const TextRun r = run_text(gallery_text("perpendicular_pucks"), options);
        EXPECT_EQ(r.run.formulation, row.name);
        for (const char* name : {"x1", "y2", "u3", "lambda(perpendicular)"})
            EXPECT_NEAR(r.at(1000, name), reference.at(1000, name), 1e-10) << row.name;
    }
}

}  // namespace
}  // namespace appell
