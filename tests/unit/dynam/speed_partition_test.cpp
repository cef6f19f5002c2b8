// Which speeds depend on which, and the dependent rates in closed form.
#include "dynam/speed_partition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "dynam/elimination.hpp"
#include "expr/dependence.hpp"
#include "pipeline/print_equations.hpp"
#include "support/gallery_run.hpp"
#include "support/random_state.hpp"

namespace appell {
namespace {

using Speeds = std::vector<std::uint32_t>;

// a particle system of n coordinates with the given rows, evaluated at u_i = 1 + i/10 unless given otherwise
struct Rows {
    explicit Rows(int n, const std::string& constraints, const std::map<std::string, double>& given = {}) {
        std::string text = "system s\n";
        for (int i = 1; i <= n; ++i)
            text += "coord q" + std::to_string(i) + " = 1\nparticle P" + std::to_string(i) + " mass " + std::to_string(i) +
                    " at O + q" + std::to_string(i) + "*N.x\n";
        derivation = derive_text(text + constraints);
        EXPECT_TRUE(derivation.ok()) << render(derivation.diagnostics, derivation.sources);
        const Graph& g = *derivation.model->graph;
        for (std::size_t i = 0; i < g.symbol_count(); ++i) {
            const auto found = given.find(g.symbol(SymbolId(i)).name);
            values.push_back(found != given.end() ? found->second : 1.0);
        }
        if (given.empty())
            for (int i = 0; i < n; ++i) values[derivation.model->speeds[static_cast<std::size_t>(i)].u.index()] = 1 + 0.1 * i;
    }
    [[nodiscard]] SpeedPartition choose(std::span<const std::uint32_t> dependent = {}) const {
        return choose_speed_partition(*derivation.dynamics, values, dependent);
    }
    Derivation derivation;
    std::vector<double> values;
};

TEST(SpeedPartition, LargestDeterminantAndTheLaterOfEquals) {
    // A = (q1', q2', q3') up to a factor
    const std::string circle = "constraint c: q1'^2 + q2'^2 + q3'^2 = 3\n";
    EXPECT_EQ(Rows(3, circle, {{"q1'", 3}, {"q2'", 2}, {"q3'", 1}}).choose().dependent, Speeds{0});
    EXPECT_EQ(Rows(3, circle, {{"q1'", 3}, {"q2'", 2}, {"q3'", -3}}).choose().dependent, Speeds{2});
    const SpeedPartition p = Rows(3, circle, {{"q1'", 0}, {"q2'", -4}, {"q3'", 3}}).choose();
    EXPECT_EQ(p.dependent, Speeds{1});
    EXPECT_EQ(p.independent, (Speeds{0, 2}));
    EXPECT_NEAR(p.determinant, 0.8, 1e-15);  // 4/5
    EXPECT_FALSE(p.steady);
}

TEST(SpeedPartition, ADeterminantThatCanNotVanishWins) {
    // |A| is (6, 4, 1): the last column is the smallest, but the same in every state
    const SpeedPartition p = Rows(3, "constraint c: q1'^2 + q2'^2 + q3' = 1\n", {{"q1'", 3}, {"q2'", 2}}).choose();
    EXPECT_EQ(p.dependent, Speeds{2});
    EXPECT_TRUE(p.steady);
    // unless it is badly conditioned where the motion starts
    EXPECT_EQ(Rows(3, "constraint c: q1'^2 + q2'^2 + q3' = 1\n", {{"q1'", 3000}, {"q2'", 2}}).choose().dependent, Speeds{0});
    // a determinant of two rows: the products cancel, [1, q1'; 0, 1] in the columns q2, q3
    const SpeedPartition two = Rows(3, "constraint c: q2' + q1'*q3' = 1\nconstraint d: q3' + q1'^2 = 2\n").choose();
    EXPECT_EQ(two.dependent, (Speeds{1, 2}));
    EXPECT_TRUE(two.steady);
}

TEST(SpeedPartition, RedundantRowsAreSetAside) {
    const SpeedPartition p =
        Rows(3, "constraint c: q1'*q2' = 1\nconstraint d: 3*q1'*q2' = 3\nconstraint e: q2'*q3' = 1\n").choose();
    EXPECT_EQ(p.rows.size(), 2u);
    ASSERT_EQ(p.redundant.size(), 1u);
    EXPECT_LT(p.redundant.front(), 2u);  // one of the first two
    EXPECT_EQ(p.dependent.size(), 2u);
    EXPECT_EQ(p.independent.size(), 1u);
    // a row without gradient at this state binds nothing
    const SpeedPartition rest = Rows(2, "constraint c: q1'*q2' = 0\n", {{"q1'", 0}, {"q2'", 0}}).choose();
    EXPECT_TRUE(rest.rows.empty());
    EXPECT_EQ(rest.independent, (Speeds{0, 1}));
}

TEST(SpeedPartition, TakesWhatIsGiven) {
    const Rows rows(3, "constraint c: q1'^2 + q2'^2 + q3'^2 = 3\n", {{"q1'", 3}, {"q2'", 0}, {"q3'", 1}});
    const Speeds last{2}, none{1};
    EXPECT_EQ(rows.choose(last).dependent, last);
    EXPECT_TRUE(rows.choose(none).rows.empty());  // its column vanishes here
}

TEST(SpeedPartition, ManyRowsByPivots) {
    // five rows in eight speeds: the columns chosen must be regular
    std::string text;
    for (int i = 1; i <= 5; ++i)
        text += "constraint c" + std::to_string(i) + ": q" + std::to_string(i) + "'*q" + std::to_string(i + 1) + "' + q" +
                std::to_string(i + 3) + "'^2 = " + std::to_string(i) + "\n";
    const Rows rows(8, text);
    const SpeedPartition p = rows.choose();
    EXPECT_EQ(p.rows.size(), 5u);
    EXPECT_EQ(p.dependent.size(), 5u);
    EXPECT_GT(p.determinant, 1e-3);
}

// D and d at a state: J2 D = -J1 and J2 d = b
void expect_solves(const ConstrainedDynamics& d, const Elimination& e, std::span<const double> values) {
    const auto number = [&](NodeId n) { return evaluate<double>(d.graph(), std::span(&n, 1), values).front(); };
    const std::size_t m = e.J2.rows, p = e.J1.columns;
    for (std::uint32_t r = 0; r < m; ++r) {
        double size = 1, right = 0;
        for (std::uint32_t k = 0; k < m; ++k)
            if (const NodeId j = e.J2.find(r, k); j.valid()) {
                right += number(j) * number(e.d[k]);
                size += std::abs(number(j) * number(e.d[k]));
            }
        EXPECT_NEAR(right, number(e.b[r]), 1e-13 * size);
        for (std::uint32_t c = 0; c < p; ++c) {
            double left = 0;
            const NodeId j1 = e.J1.find(r, c);
            if (j1.valid()) left = number(j1);
            for (std::uint32_t k = 0; k < m; ++k) {
                const NodeId j = e.J2.find(r, k), x = e.D.find(k, c);
                if (j.valid() && x.valid()) {
                    left += number(j) * number(x);
                    size += std::abs(number(j) * number(x));
                }
            }
            EXPECT_NEAR(left, 0, 1e-13 * size);
        }
    }
}

TEST(Elimination, SolvesTheRows) {
    for (const char* constraints :
         {"constraint c: q1'*q2' + q3'^2 = q1\n",
          "constraint c: q1'*q2' + q4'^2 = q1*q2\nconstraint d: q2'*q3' + sin(q1)*q4' = t\n",
          "constraint c: q1'*q2' + q4'^2 = q1\nconstraint d: q2'*q3' + q1'^2 = t\nconstraint e: q3'*q4'*q1' + q2' = q2^2\n",
          // four rows, but only pairs of them couple
          "constraint c: q1'*q2' + q5'^2 = q1\nconstraint d: q1'^2 + q2' = t\nconstraint e: q3'*q4' + q5' = 1\nconstraint f: "
          "q3'^2 + "
          "q4' = q5\n"}) {
        const Rows rows(5, constraints);
        const Elimination e = eliminate_dependent(*rows.derivation.dynamics, rows.choose());
        EXPECT_EQ(e.refused, "") << constraints;
        expect_solves(*rows.derivation.dynamics, e, rows.values);
    }
}

TEST(Elimination, RefusesLargeBlocks) {
    std::string text;
    for (int i = 1; i <= 4; ++i) {
        text += "constraint c" + std::to_string(i) + ":";
        for (int j = 1; j <= 5; ++j)
            text += (j > 1 ? " + " : " ") + std::string("q") + std::to_string(j) + "'^" + std::to_string(i + 1);
        text += " = " + std::to_string(i) + "\n";
    }
    const Rows rows(5, text);
    const Elimination e = eliminate_dependent(*rows.derivation.dynamics, rows.choose());
    EXPECT_EQ(e.refused, "4 rows couple in one block, and inverses beyond 3 x 3 are not written out");
}

// ---------------------------------------------------------------- rows that follow from others

// two wheels on one axle: four rows of rank three, and which of them follow from the others depends on the heading
const std::string k_axle =
    "system axle\nparam b = 0.3 m, r = 0.1 m, m = 2 kg, I = 0.1 kg*m^2, J = 0.01 kg*m^2\n"
    "coord x = 0 m, y = 0 m, psi = 0.3 rad, p1 = 0 rad, p2 = 0 rad\n"
    "speed u1 = x', u2 = y', u3 = psi', w1 = p1', w2 = p2'\nframe B from N rotate psi about z\n"
    "frame W1 from B rotate p1 about y\nframe W2 from B rotate p2 about y\npoint A at O + x*N.x + y*N.y + r*N.z\n"
    "point C1 at A + b*B.y\npoint C2 at A - b*B.y\nbody W1 frame W1 mass m center C1 inertia (I, J, I)\n"
    "body W2 frame W2 mass m center C2 inertia (I, J, I)\n"
    "point K1 at C1 - r*N.z\npoint K2 at C2 - r*N.z\n"
    "constraint left: rolling(W1, N, K1)\nconstraint right: rolling(W2, N, K2)\nindependent w1, w2\n"
    "start w1 = 1 rad/s, w2 = 2 rad/s\nrun for 1 s\n";

TEST(Elimination, TakesAllRowsWhereTheyTakeTurns) {
    Derivation d = derive_text(k_axle);
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const Graph& g = *d.model->graph;
    for (const double heading : {0.3, 0.0, std::acos(-1.0) / 2, 2.0}) {
        std::vector<double> values = generic_values(g);
        for (const Parameter& p : d.model->parameters) values[p.symbol.index()] = p.value;
        values[d.model->coordinates[2].q.index()] = heading;
        const Speeds dependent{0, 1, 2};
        const SpeedPartition p = choose_speed_partition(*d.dynamics, values, dependent);
        EXPECT_TRUE(p.takes_turns);
        EXPECT_FALSE(p.steady);
        const Elimination e = eliminate_dependent(*d.dynamics, p);
        EXPECT_EQ(e.refused, "");
        ASSERT_TRUE(e.combined);
        // nothing that they are divided by knows the heading
        for (const SymbolId s : symbols_in(g, e.determinants)) EXPECT_EQ(g.symbol(s).kind, SymbolKind::parameter);
        // x' = r (w1 + w2)/2 cos(psi), psi' = r (w2 - w1)/(2 b)
        const auto number = [&](NodeId n) { return n.valid() ? evaluate<double>(g, std::span(&n, 1), values).front() : 0; };
        for (std::uint32_t k = 0; k < 2; ++k) {
            EXPECT_NEAR(number(e.D.find(0, k)), 0.05 * std::cos(heading), 1e-15);
            EXPECT_NEAR(number(e.D.find(1, k)), 0.05 * std::sin(heading), 1e-15);
            EXPECT_NEAR(number(e.D.find(2, k)), (k == 0 ? -1 : 1) * 0.1 / 0.6, 1e-15);
        }
    }
    for (const char* format : {"text", "latex", "markdown", "json"})
        for (const char* formulation : {"minimal", "nonminimal", "gibbs-appell"}) {
            PrintRequest request;
            request.format = format;
            request.formulation = formulation;
            const auto printed = print_equations(d, request);
            ASSERT_TRUE(printed);
            EXPECT_NE(printed->find("all of them are taken together"), std::string::npos) << format;
            EXPECT_EQ(printed->find("/cos(psi)"), std::string::npos) << *printed;
            EXPECT_EQ(printed->find("/sin(psi)"), std::string::npos) << *printed;
        }
}

// copies and sums follow from the others in every state: these are enough
TEST(SpeedPartition, CopiesTakeNoTurns) {
    const SpeedPartition copy =
        Rows(3, "constraint c: q1'*q2' = 1\nconstraint d: 3*q1'*q2' = 3\nconstraint e: q2'*q3' = 1\n").choose();
    EXPECT_FALSE(copy.takes_turns);
    const SpeedPartition sum =
        Rows(3, "constraint c: q1'*q2' = 1\nconstraint e: q2'*q3' = 1\nconstraint s: 2*q1'*q2' - 1e6*q2'*q3' = 2 - 1e6\n")
            .choose();
    EXPECT_FALSE(sum.takes_turns);
    // a sum whose coefficients change with the state may serve where the others do not
    const SpeedPartition turns =
        Rows(3, "constraint c: q1'*q2' = 1\nconstraint e: q2'*q3' = 1\nconstraint s: q1*q1'*q2' + q2*q2'*q3' = q1 + q2\n")
            .choose();
    EXPECT_TRUE(turns.takes_turns);
}

// rows and columns together: of [q1', 0; 1, 1; ...] the second and third rows have a determinant that no state changes
TEST(SpeedPartition, OtherRowsMayHaveASteadyDeterminant) {
    const SpeedPartition p =
        Rows(2, "constraint c: sin(q1)*q1' = 0\nconstraint d: cos(q2)*q1' = 0\nconstraint e: q1' = 0\n").choose();
    EXPECT_TRUE(p.steady);
    EXPECT_FALSE(p.takes_turns);
    EXPECT_EQ(p.rows, Speeds{2});
}

}  // namespace
}  // namespace appell
