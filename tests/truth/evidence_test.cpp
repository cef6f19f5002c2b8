// Kane's levels of evidence (000 eqs. 1-3, 7, 8): whatever constraint forces a user wants in the equations, the printed equations
// hold with the multipliers of the numeric solve, determine rates and multipliers, and mention no other multiplier.
#include <gtest/gtest.h>

#include <set>

#include "support/appell_hamel.hpp"
#include "support/printed_reader.hpp"

namespace appell {
namespace {

const std::string k_pendulum_cart =
    "system pendulum_cart\nparam m = 2, M = 3, l = 0.8, g = 9.81, mu = 0.1\ncoord s = 0.1, x = 0.5, y = -0.624499799839839\n"
    "particle C mass M at O + s*N.x\nparticle P mass m at O + (s + x)*N.x + y*N.y\ngravity -g*N.y\n"
    "constraint rod: mag(pos(P, C)) = l\nconstraint drive: dot(vel(C), N.x) = 0.3*cos(t)\n"
    "nonideal drive: force on P = -mu*abs(ideal(drive))*vel(P)\nstart s' = 0.3\nrun for 1 s\n";

struct Case {
    std::string model, evidence;
    std::set<std::string> shown, hidden;  // multipliers
};

const std::string& text_of(const std::string& model) { return model == "three_levels" ? k_appell_hamel : k_pendulum_cart; }

std::vector<Case> cases() {
    return {{"three_levels", "none", {}, {"lambda(c1)", "lambda(c2)", "lambda(c3)"}},  // eq. 3
            {"three_levels", "motion", {"lambda(c1)", "lambda(c2)"}, {"lambda(c3)"}},  // eq. 2
            {"three_levels", "all", {"lambda(c1)", "lambda(c2)", "lambda(c3)"}, {}},   // eq. 1
            {"three_levels", "c1", {"lambda(c1)"}, {"lambda(c2)", "lambda(c3)"}},      // eqs. 4-7: c2 is linear
            {"three_levels", "c3,c2", {"lambda(c2)", "lambda(c3)"}, {"lambda(c1)"}},
            {"pendulum_cart", "rod", {"lambda(rod)"}, {"lambda(drive)"}},
            {"pendulum_cart", "drive", {"lambda(drive)"}, {"lambda(rod)"}}};
}

class Evidence : public ::testing::TestWithParam<std::tuple<Case, std::string>> {};

TEST_P(Evidence, PrintedEquationsHoldAndDetermineTheForces) {
    const auto& [c, formulation] = GetParam();
    const PrintedModel p = print_model(text_of(c.model), formulation, c.evidence);
    const ConstrainedDynamics& d = *p.derivation.dynamics;
    const std::set<std::string> system{"Dependent rates", "The same, ordered by the rates", "The same, written out",
                                       "Constraints whose forces are in evidence"};
    std::vector<std::pair<std::string, std::string>> equations;
    std::string all;
    for (const Json& section : p.json["sections"]) {
        const std::string title = section["title"];
        if (title.starts_with("Constraint forces") || title == "Nonideal forces" || title == "Members of the force") continue;
        for (const Json& block : section["blocks"]) {
            if (block["kind"] != "equations") continue;
            for (const Json& e : block["equations"]) {
                all += e["left"]["text"].get<std::string>() + " = " + e["right"]["text"].get<std::string>() + "\n";
                if (system.contains(title)) equations.emplace_back(e["left"]["text"], e["right"]["text"]);
            }
        }
    }
    for (const Json& z : p.json["intermediates"]) all += z["value"].get<std::string>() + "\n";
    for (const std::string& lambda : c.hidden) EXPECT_EQ(all.find(lambda), std::string::npos) << lambda << "\n" << all;
    for (const std::string& lambda : c.shown) EXPECT_NE(all.find(lambda), std::string::npos) << lambda << "\n" << all;

    std::vector<std::string> unknowns;
    for (const Speed& s : d.model->speeds) unknowns.push_back(d.graph().symbol(s.rate).name);
    unknowns.insert(unknowns.end(), c.shown.begin(), c.shown.end());
    ASSERT_EQ(equations.size(), unknowns.size());
    for (const std::vector<double>& inputs : p.states) {
        Reader reader(d, inputs, p.json);
        const auto residuals = [&] {
            Eigen::VectorXd out(static_cast<int>(equations.size()));
            for (std::size_t i = 0; i < equations.size(); ++i)
                out[static_cast<int>(i)] = reader.number(equations[i].first) - reader.number(equations[i].second);
            return out;
        };
        Eigen::VectorXd solved(static_cast<int>(unknowns.size()));
        for (std::size_t i = 0; i < unknowns.size(); ++i) solved[static_cast<int>(i)] = reader.get(unknowns[i]);
        // sums of terms as large as g and the coriolis terms of a system 5 m wide, in double
        EXPECT_LT(residuals().norm(), 1e-9 * (100 + solved.norm())) << residuals().transpose();
        for (const std::string& name : unknowns) reader.set(name, 0);
        const Eigen::VectorXd at_zero = residuals();
        Eigen::MatrixXd matrix(at_zero.size(), solved.size());
        for (std::size_t j = 0; j < unknowns.size(); ++j) {
            reader.set(unknowns[j], 1);
            matrix.col(static_cast<int>(j)) = residuals() - at_zero;
            reader.set(unknowns[j], 0);
        }
        const Eigen::VectorXd found = matrix.fullPivLu().solve(-at_zero);
        EXPECT_LT((found - solved).norm(), 1e-7 * (1 + solved.norm())) << found.transpose() << "\n" << solved.transpose();
    }
}

INSTANTIATE_TEST_SUITE_P(All, Evidence,
                         ::testing::Combine(::testing::ValuesIn(cases()), ::testing::Values("minimal", "nonminimal")),
                         [](const auto& at) {
                             std::string name =
                                 std::get<0>(at.param).model + "_" + std::get<0>(at.param).evidence + "_" + std::get<1>(at.param);
                             std::replace(name.begin(), name.end(), ',', '_');
                             return name;
                         });

// the statement does what the option does, and `minimal` is the default then
TEST(EvidenceStatement, IsTheDefaultChoice) {
    Derivation stated = derive_text(k_appell_hamel + "evidence c2, c3\n"), asked = derive_text(k_appell_hamel);
    const std::string by_statement = print_equations(stated, {}).value();
    EXPECT_EQ(by_statement, print_equations(asked, {"minimal", "text", "c2,c3"}).value());
    EXPECT_NE(by_statement.find("In evidence: the forces of c2, c3. Eliminated: those of c1."), std::string::npos)
        << by_statement;
    // and the option replaces the statement
    EXPECT_EQ(print_equations(stated, {"minimal", "text", "none"}).value(), print_equations(asked, {"minimal", "text"}).value());
    EXPECT_EQ(Json::parse(print_equations(stated, {"", "json"}).value())["evidence"], Json({"c2", "c3"}));
}

// a formulation that can not follow the model's choice says so; one asked for by name is refused
TEST(EvidenceStatement, IsNeverIgnored) {
    for (const char* formulation : {"udwadia-kalaba", "ukp", "gibbs-appell", "voronec"}) {
        Derivation d = derive_text(k_appell_hamel + "evidence c2\n");
        EXPECT_NE(print_equations(d, {formulation, "text"}).value().find("the model wants those of c2 in evidence"),
                  std::string::npos)
            << formulation;
        EXPECT_FALSE(print_equations(d, {formulation, "text", "c1"}).has_value());
        EXPECT_EQ(d.diagnostics.all().back().code, Code::E0821);
    }
    Derivation d = derive_text(k_appell_hamel + "evidence c2\n");
    EXPECT_NE(print_equations(d, {"multipliers", "text"}).value().find("All of them are, those of c1, c3 as well"),
              std::string::npos);
    EXPECT_TRUE(print_equations(d, {"multipliers", "text", "all"}).has_value());
    EXPECT_FALSE(print_equations(d, {"multipliers", "text", "c1"}).has_value());
    Derivation unknown = derive_text(k_appell_hamel);
    EXPECT_FALSE(print_equations(unknown, {"minimal", "text", "c7"}).has_value());
    EXPECT_EQ(unknown.diagnostics.all().back().code, Code::E0202);
}

// the model's independent speeds stay independent, as far as the rows that are eliminated need dependent ones
TEST(EvidenceStatement, KeepsTheModelsIndependentSpeeds) {
    Derivation d = derive_text(k_appell_hamel + "independent u1, u2\nevidence c2\n");
    const std::string text = print_equations(d, {}).value();
    const std::size_t at = text.find("; dependent: ");
    ASSERT_NE(at, std::string::npos) << text;
    const std::string dependent = text.substr(at, text.find('.', at) - at);
    EXPECT_EQ(dependent.find("u1"), std::string::npos) << dependent;
    EXPECT_EQ(dependent.find("u2"), std::string::npos) << dependent;
}

}  // namespace
}  // namespace appell
