// Voronec's equations for constraints linear in the rates, worked out by hand (002 eqs. 58-59 and ex. 10, whose misprints are in
// docs/misprints.md), against what the program derives.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dynam/formulations.hpp"
#include "pipeline/lower_motion.hpp"
#include "support/gallery_run.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

// u' by a formulation at a state of t, q, u and the parameters
std::vector<double> accelerations(Derivation& d, Formulation formulation, const std::vector<double>& state) {
    const ConstrainedDynamics& dynamics = *d.dynamics;
    Graph& g = dynamics.graph();
    const std::vector<SymbolId> inputs = program_inputs(*d.model);
    std::vector<double> values(g.symbol_count(), 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].index()] = state.at(i);
    const Formulated formulated = formulate(dynamics, formulation, values);
    EXPECT_EQ(formulated.not_applicable, "");
    OutputGroup ud{"ud", {}};
    for (const Speed& s : d.model->speeds) ud.values.push_back(g.symbol_node(s.rate));
    const Program program = lower_program(g, {inputs, formulated.solves, {ud}});
    Workspace<double> w(program);
    std::copy(state.begin(), state.end(), w.inputs().begin());
    EXPECT_EQ(w.run().status, EvalStatus::ok);
    return {w.outputs().begin(), w.outputs().end()};
}

// 002 ex. 10: P1' across and P2' along the line P1 P2, with a spring and gravity. q1, q3 are the place of P1, q2, q4 that of P2.
TEST(Talamucci, Example10) {
    Derivation d = derive_text(
        "system s\nparam M1 = 1, M2 = 2, k = 3, g = 9.81\ncoord q1 = 0, q2 = 1, q3 = 0, q4 = 1\nparticle P1 mass M1 at O + "
        "q1*N.x + "
        "q3*N.y\nparticle P2 mass M2 at O + q2*N.x + q4*N.y\nspring P1 P2 stiffness k length 0\ngravity -g*N.y\n"
        "constraint across: dot(vel(P1), pos(P1) - pos(P2)) = 0\nconstraint along: (q1 - q2)*q4' = (q3 - q4)*q2'\n");
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(0.5, 1.5);
    for (int trial = 0; trial < 20; ++trial) {
        const double q1 = number(random), q2 = -number(random), q3 = number(random), q4 = -number(random);
        const double v1 = number(random), v2 = number(random), M1 = number(random), M2 = number(random), k = number(random);
        const double x = q1 - q2, y = q3 - q4, a11 = -x / y, a22 = y / x, g = 9.81;
        const std::vector<double> state{0, q1, q2, q3, q4, v1, v2, a11 * v1, a22 * v2, M1, M2, k, g};
        // the first equation as printed; the second with q1' q2' in its second term and one mass
        const double first =
            (-k * (x + a11 * y) - M1 * a11 * g - M1 * x / (y * y) * (1 + a11 * a11) * v1 * v1) / (M1 * (1 + a11 * a11));
        const double second = (k * (x + a22 * y) - M2 * a22 * g + M2 / x * (1 + a22 * a22) * v1 * v2) / (M2 * (1 + a22 * a22));
        for (const Formulation f : {Formulation::multipliers, Formulation::voronec}) {
            const std::vector<double> ud = accelerations(d, f, state);
            EXPECT_NEAR(ud[0], first, 1e-12 * (1 + std::abs(first)));
            EXPECT_NEAR(ud[1], second, 1e-12 * (1 + std::abs(second)));
        }
    }
}

// q2' = a(q, t) q1' + beta(q, t) with a = q2 sin q1 + t and beta = q1 q2^2 + q2 t; T = (m1 q1'^2 + m2 q2'^2)/2. By (55)
//     B = a_t + a_2 beta - beta_1 - a beta_2
// while (58) has the first term alone, as b_11 = 0. With T* put in, (54) reads as below.
TEST(Talamucci, LinearCoefficientsNeedTheFreePart) {
    Derivation d = derive_text(
        "system s\nparam m1 = 1, m2 = 2\ncoord q1 = 0, q2 = 1\nparticle P mass m1 at O + q1*N.x\nparticle Q mass m2 at O + "
        "q2*N.y\n"
        "force on P = (1 + q2)*N.x\nforce on Q = q1*N.y\nconstraint c: q2' = (q2*sin(q1) + t)*q1' + q1*q2^2 + q2*t\n");
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    std::mt19937 random(4);
    std::uniform_real_distribution<double> number(0.5, 1.5);
    for (int trial = 0; trial < 20; ++trial) {
        const double t = number(random), q1 = number(random), q2 = number(random), v = number(random), m1 = number(random),
                     m2 = number(random);
        const double a = q2 * std::sin(q1) + t, a_1 = q2 * std::cos(q1), a_2 = std::sin(q1), a_t = 1;
        const double beta = q1 * q2 * q2 + q2 * t, beta_1 = q2 * q2, beta_2 = 2 * q1 * q2 + t, beta_t = q2;
        const double alpha = a * v + beta, alpha_1 = a_1 * v + beta_1, alpha_2 = a_2 * v + beta_2;
        // T* = (m1 v^2 + m2 alpha^2)/2, dT*/dv = m1 v + m2 a alpha
        const double a_motion = a_1 * v + a_2 * alpha + a_t, alpha_motion = alpha_1 * v + alpha_2 * alpha + a_t * v + beta_t;
        const double motion = m2 * (a_motion * alpha + a * alpha_motion);
        const double given = 1 + q2 + a * q1;
        const auto solved_with = [&](double B) {
            return (given + m2 * alpha * (alpha_1 + alpha_2 * a) + B * m2 * alpha - motion) / (m1 + m2 * a * a);
        };
        const double right = solved_with(a_t + a_2 * beta - beta_1 - a * beta_2), printed = solved_with(a_t);
        for (const Formulation f : {Formulation::multipliers, Formulation::voronec}) {
            const double ud = accelerations(d, f, {t, q1, q2, v, alpha, m1, m2})[0];
            EXPECT_NEAR(ud, right, 1e-12 * (1 + std::abs(right)));
            EXPECT_GT(std::abs(ud - printed), 1e-3);
        }
    }
}

}  // namespace
}  // namespace appell
