// Outputs of every kind while constraints are off, open, dropped, enforced, sticking, sliding, kept by actuators or redundant:
// where a closed form is known it is met on both sides of the switch, and everything else is a number or a refusal by name.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    template <class List>
    const auto& of(const List& list) {
        return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random_)];
    }

private:
    std::mt19937 random_;
};

// The row y' = a*x' comes, goes, or never holds; the forces are constant. With it D = a and the dependent speed follows, without
// it D = 0 and no speed follows another.
TEST(OutputsInModes, NonholonomicQuantitiesFollowTheRowsThatAreOn) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(); ++k) {
        const double a = draw.uniform(-2, 2), fx = draw.uniform(-3, 3), fy = draw.uniform(-3, 3), m = draw.uniform(0.5, 2);
        const int kind = static_cast<int>(k % 4);  // never on, comes, goes, always on
        const double at = draw.uniform(0.2, 0.8);
        std::string text = fmt::format(
            "system modes\nparam a = {}, m = {}\ncoord x = 0, y = 0\nparticle P mass m at O + x*N.x + y*N.y\n"
            "force on P = {}*N.x + ({})*N.y\nconstraint c: y' = a*x'{}\nindependent x'\n",
            a, m, fx, fy, kind < 2 ? " initially off" : "");
        if (kind == 1) text += fmt::format("event e: t - {} rising => enforce c\n", at);
        if (kind == 2) text += fmt::format("event e: t - {} rising => drop c\n", at);
        text +=
            "output na = nonholonomic_active(x'), ni = nonholonomic_inertia(x'), D = matrix(D, 1, 1), d = matrix(d, 1), "
            "A1 = matrix(A1, 1, 1), T = matrix(T, 2, 2), V = matrix(V, 2), p = dot(nonholonomic_partial(vel(P), x'), N.y), "
            "pk = nonholonomic_partial(kinetic(), x')\nrun for 1, every 0.1\n";
        const TextRun r = run_text(text);
        for (std::size_t row = 0; row < r.run.rows(); ++row) {
            const double t = r.run.t(row);
            if (std::abs(t - at) < 1e-6) continue;
            const bool on = kind == 3 || (kind == 1 && t > at) || (kind == 2 && t < at);
            const double D = on ? a : 0, u = r.at(row, "x'"), v = r.at(row, "y'");
            EXPECT_NEAR(r.at(row, "na"), fx + D * fy, 1e-12 * 10) << text << t;
            EXPECT_NEAR(r.at(row, "D"), D, 1e-12) << text << t;
            EXPECT_NEAR(r.at(row, "A1"), -D, 1e-12) << text << t;
            EXPECT_NEAR(r.at(row, "d"), 0, 1e-12) << text << t;
            EXPECT_NEAR(r.at(row, "p"), D, 1e-12) << text << t;
            EXPECT_NEAR(r.at(row, "T"), D * m, 1e-12) << text << t;
            EXPECT_NEAR(r.at(row, "V"), fx + D * fy, 1e-12 * 10) << text << t;
            EXPECT_NEAR(r.at(row, "pk"), m * (u + D * v), 1e-12 * 10) << text << t;
            // what is active and what is inertia are in balance along the motions that the row allows
            if (on) {
                EXPECT_NEAR(r.at(row, "na") + r.at(row, "ni"), 0, 1e-12 * 100) << text << t;
            }
        }
    }
}

// states that constraints can be in, each with the names x, y, c, d, P, F that the outputs use
const std::vector<std::string>& states() {
    static const std::string plane =
        "param m = 1, mu = 0.5\ncoord x = 0, y = 0\nparticle P mass m at O + x*N.x + y*N.y\nforce on P = F0*N.x\n";
    static const std::string held = "gravity -9.81*N.y\n";
    static const std::vector<std::string> list{
        plane + held + "constraint c: y' = x' initially off\nconstraint d: y' = 2*x' initially off\n",
        plane + held + "constraint c: dot(pos(P), N.y) >= 0\nconstraint d: x' = 3*y' initially off\nstart y' = 3\n",
        plane + held + "constraint c: dot(pos(P), N.y) >= 0 restitution 0.5\nconstraint d: x' = y' initially off\n",
        plane + held +
            "constraint c: dot(pos(P), N.y) = 0\nnonideal c: friction on P = mu*abs(reaction(c))\nconstraint d: y' = 0\n",
        plane + held +
            "constraint c: dot(pos(P), N.y) = 0\nnonideal c: friction on P = mu*abs(reaction(c))\nstart x' = 3\n"
            "constraint d: y' = x' initially off\n",
        plane + held + "actuator F: force on P along N.x\nservo c: x = 0.1*t by F\nconstraint d: y' = x' initially off\n",
        plane + held + "constraint c: y' = x'\nconstraint d: 2*y' = 2*x'\n",
        plane + held +
            "constraint c: dot(vel(P), N.y) = 0\nconstraint d: y' = x' initially off\nevent e: t - 0.05 rising => drop c, "
            "enforce d\n",
        plane + held + "constraint c: y'' = x''\nconstraint d: x'^2 + y'^2 = 1 initially off\n",
    };
    return list;
}

const std::vector<std::string>& outputs() {
    static const std::vector<std::string> list{"matrix(M, 1, 1)",
                                               "matrix(f, 1)",
                                               "matrix(A, 1, 1)",
                                               "matrix(b, 1)",
                                               "matrix(J1, 1, 1)",
                                               "matrix(J2, 1, 1)",
                                               "matrix(D, 1, 1)",
                                               "matrix(d, 1)",
                                               "matrix(A1, 1, 1)",
                                               "matrix(A2, 1, 1)",
                                               "matrix(T, 1, 1)",
                                               "matrix(T, 2, 2)",
                                               "matrix(V, 1)",
                                               "matrix(V, 2)",
                                               "nonholonomic_active(x')",
                                               "nonholonomic_inertia(x')",
                                               "nonholonomic_active(y')",
                                               "mag(nonholonomic_partial(vel(P), x'))",
                                               "mag(nonholonomic_partial(acc(P), x''))",
                                               "nonholonomic_partial(kinetic(), x')",
                                               "active(x')",
                                               "inertia(y')",
                                               "generalized_given(x')",
                                               "generalized_ideal(x')",
                                               "generalized_nonideal(y')",
                                               "lambda(c)",
                                               "lambda(d)",
                                               "ideal(c)",
                                               "reaction(c)",
                                               "mag(force(c, P))",
                                               "mag(ideal(c, P))",
                                               "mag(reaction(c, P))",
                                               "mag(nonideal(c, P))",
                                               "mag(friction(c))",
                                               "mag(torque(c, N))",
                                               "mag(force(d, P))",
                                               "actuator(F)",
                                               "partial(kinetic(), y')",
                                               "dt(kinetic())",
                                               "dt(x')",
                                               "x''",
                                               "mag(acc(P))"};
    return list;
}

TEST(OutputsInModes, AreNumbersOrRefusedByName) {
    Draw draw(2);
    std::size_t answered = 0, refused = 0;
    const auto examine = [&](const std::string& text) {
        Derivation d = derive_text(text);
        if (!d.ok()) {
            EXPECT_TRUE(d.diagnostics.has_errors()) << text;
            ++refused;
            return;
        }
        Derivation checked = d;
        EXPECT_TRUE(check(checked, 4) || checked.diagnostics.has_errors()) << text;
        const auto result = run(d, RunOptions{});
        EXPECT_TRUE(result || d.diagnostics.has_errors()) << text;
        ++(result ? answered : refused);
    };
    const std::vector<std::string> independent{"", "independent x'\n", "independent y'\n", "independent x', y'\n"};
    const std::vector<std::string> forms{"multipliers", "minimal", "nonminimal",  "udwadia-kalaba",
                                         "ukp",         "voronec", "gibbs-appell"};
    const auto model = [&](const std::string& state, const std::string& output, const std::string& chosen,
                           const std::string& form) {
        std::string text =
            "system modes\n" + state + chosen + "output o = " + output + "\nrun for 0.1, every 0.02, formulation " + form;
        const std::size_t place = text.find("F0");
        return text.replace(place, 2, fmt::format("{:.3f}", draw.uniform(-8, 8)));
    };
    // every output in every state, with the choice that most of them need
    for (const std::string& state : states())
        for (const std::string& output : outputs()) examine(model(state, output, independent[1], forms[0]));
    for (std::size_t k = 0; k < 2 * members(); ++k)
        examine(model(draw.of(states()), draw.of(outputs()), draw.of(independent), draw.of(forms)));
    EXPECT_GT(answered, 200u);
    EXPECT_GT(refused, 20u);
}

// the run reaches a mode in which an output is refused: it ends there, and says so
TEST(OutputsInModes, AreRefusedWhereARunReachesTheMode) {
    Derivation d = derive_text(
        "system later\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nforce on P = N.x\n"
        "constraint c: y' = x' initially off\nevent e: t - 0.05 rising => enforce c\noutput o = mag(force(c, P))\nrun for 0.1\n");
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const auto result = run(d, RunOptions{});
    EXPECT_TRUE(d.diagnostics.has(Code::E0721)) << render(d.diagnostics, d.sources);
    ASSERT_TRUE(result.has_value());
    EXPECT_NEAR(result->summary.t_end, 0.05, 1e-9);
}

// rows without a value anywhere, or at the start alone: no state satisfies them, and the doctor has nothing to look at
TEST(OutputsInModes, ModelsWithoutAConsistentStateAreDiagnosed) {
    Draw draw(3);
    const std::vector<std::string> rows{"x^1e15*y' = x'",
                                        "log(-x^2 - 1)*y' = x'",
                                        "x'^2 + y'^2 = -1",
                                        "sqrt(x'^2 - 1e9) = y'",
                                        "exp(1e3*x'^2) + y'^2 = 1e-300",
                                        "(x'^2 + y'^2)*(1 + x^2) = 0",
                                        "x^1e15 = y' + x'^2",
                                        "asin(2 + x'^2) = y'",
                                        "x'^2*y'^2 + 1 = 0",
                                        "x''*(x^1e15) = y''",
                                        "exp(exp(exp(10 + x'^2))) = y'",
                                        "x'^3*1e300 = y'*1e-300",
                                        "min(x', y') = 1/x",
                                        "abs(x'^1e15) = 1e300*(y' - x')",
                                        "(x' - y')^2 + 1e-30 = 0"};
    for (std::size_t k = 0; k < members(); ++k) {
        const std::string text = fmt::format(
            "system none\ncoord x = {:.3f}, y = 0.5, z = 1\nstart x' = {:.3f}\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\n"
            "constraint c: {}\nconstraint d: {}\nrun for 0.1\n",
            draw.uniform(-2, 2), draw.uniform(-2, 2), draw.of(rows), draw.of(rows));
        Derivation d = derive_text(text);
        EXPECT_TRUE(d.ok() || d.diagnostics.has_errors()) << text;
        Derivation checked = d;
        if (d.ok()) {
            EXPECT_TRUE(check(checked, 4) || checked.diagnostics.has_errors()) << text;
        }
    }
}

}  // namespace
}  // namespace appell
