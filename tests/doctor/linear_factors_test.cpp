// Contrived nonlinearity is found, with its factors; genuine nonlinearity is left alone.
#include "doctor/linear_factors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "expr/print.hpp"
#include "support/doctor_look.hpp"

namespace appell {
namespace {

struct Found {
    DoctorLook look;
    LinearFactors factors;

    explicit Found(const std::string& text)
        : look(doctor_look(text)), factors(find_linear_factors(look.dynamics(), look.samples)) {}
    [[nodiscard]] const LinearRow* row(const std::string& constraint) const {
        for (const LinearRow& r : factors.rows)
            if (look.derivation.model->constraints[look.dynamics().rows[r.row].constraint].name == constraint) return &r;
        return nullptr;
    }
    [[nodiscard]] std::set<std::string> given(const LinearRow& r) const {
        std::set<std::string> out;
        for (const std::size_t i : r.given)
            out.insert(look.derivation.model->constraints[look.dynamics().rows[i].constraint].name);
        return out;
    }
};

std::string start_factor(const LinearRow& row) {
    std::string out;
    for (const LinearEquation& e : row.equations)
        if (e.at_start) out += (out.empty() ? "" : ", ") + e.text;
    return out;
}

using Names = std::set<std::string>;

// 000 secs. 4.4 and 5, 002 examples 6-8, 003 example 1: the rows that the sources call contrived, or that a statement of 002
// turns into a linear one; the factor the start is on, and the other.
struct Contrived {
    std::string model, constraint;
    Names given;
    std::string on, other;
};
void PrintTo(const Contrived& c, std::ostream* out) { *out << c.model; }

class SourcesSay : public ::testing::TestWithParam<Contrived> {};

TEST_P(SourcesSay, Contrived) {
    const Contrived& c = GetParam();
    const Found f(gallery_text(c.model));
    const LinearRow* row = f.row(c.constraint);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->truth, LinearTruth::product);
    EXPECT_EQ(f.given(*row), c.given);
    ASSERT_EQ(row->equations.size(), 2u);
    EXPECT_EQ(start_factor(*row), c.on);
    EXPECT_EQ(row->equations[row->equations[0].at_start ? 1 : 0].text, c.other);
    EXPECT_NE(row->sentence.find(c.constraint), std::string::npos);
    EXPECT_NE(row->sentence.find("the start is on " + c.on + " = 0"), std::string::npos) << row->sentence;
}

INSTANTIATE_TEST_SUITE_P(
    All, SourcesSay,
    ::testing::Values(
        Contrived{"fork_perpendicular", "perpendicular", {"blade_1"}, "q4*u3 + u2", "u2"},  // 000 sec. 4.4: u2 (u2 + q4 u3)
        Contrived{"rod_parallel", "alike", {}, "u1", "u3"},                                 // 000 sec. 5: the blade across
        Contrived{"rod_equal_speeds", "alike", {}, "u2", "u3"},                             // 002 remark 2: the blade along
        // 003 eqs. 51-57: the wheel's forward speed is a*phi' or -a*phi'
        Contrived{"appell_hamel_nonlinear",
                  "roll",
                  {"edge"},
                  "a*u2 - sin(theta)*u4 - cos(theta)*u3",
                  "a*u2 + sin(theta)*u4 + cos(theta)*u3"},
        // 002 example 6, II: midpoint along the line, or a translation
        Contrived{"two_points_rod_equal_speeds",
                  "speeds",
                  {"distance"},
                  "(x2 - x1)*y1' + (x2 - x1)*y2' + (y1 - y2)*x1' + (y1 - y2)*x2'",
                  "y1' - y2'"},
        // 002 example 6, III: constant distance, or the midpoint rests
        Contrived{"two_points_equal_speeds_along",
                  "speeds",
                  {"along"},
                  "(x1 - x2)*x1' + (x2 - x1)*x2' + (y1 - y2)*y1' + (y2 - y1)*y2'",
                  "x1' + x2'"},
        // 002 example 7, III and IV: across the line
        Contrived{"two_points_parallel_across", "directions", {"across"}, "(x1 - x2)*x2' + (y1 - y2)*y2'", "y1' + y2'"},
        Contrived{"two_points_rod_parallel", "directions", {"distance"}, "(x1 - x2)*x2' + (y1 - y2)*y2'", "y1' - y2'"},
        // 002 example 8, I and II
        Contrived{"two_points_perpendicular_across", "perpendicular", {"across"}, "(x2 - x1)*y2' + (y1 - y2)*x2'", "y1'"},
        Contrived{"two_points_perpendicular_along", "perpendicular", {"along"}, "(x1 - x2)*x1' + (y1 - y2)*y1'", "y2'"}),
    [](const auto& at) { return at.param.model; });

TEST(LinearFactors, RowsThatFollow) {
    // 002 example 6: constant distance and the midpoint along imply equal speeds; example 8: across and along imply perpendicular
    const Found three(gallery_text("two_points_three_conditions"));
    ASSERT_NE(three.row("speeds"), nullptr);
    EXPECT_EQ(three.row("speeds")->truth, LinearTruth::follows);
    EXPECT_EQ(three.given(*three.row("speeds")), (Names{"distance", "along"}));
    const Found all(gallery_text("two_points_perpendicular_across_along"));
    ASSERT_NE(all.row("perpendicular"), nullptr);
    EXPECT_EQ(all.row("perpendicular")->truth, LinearTruth::follows);
    EXPECT_EQ(all.given(*all.row("perpendicular")), (Names{"across", "along"}));
}

// every other model of the gallery has linear rows only, or genuine ones: among them P1, P2, P3, P5
TEST(LinearFactors, NoFalseAlarmInTheGallery) {
    const Names contrived{"fork_perpendicular",
                          "rod_parallel",
                          "rod_equal_speeds",
                          "appell_hamel_nonlinear",
                          "two_points_rod_equal_speeds",
                          "two_points_equal_speeds_along",
                          "two_points_parallel_across",
                          "two_points_rod_parallel",
                          "two_points_perpendicular_across",
                          "two_points_perpendicular_along",
                          "two_points_three_conditions",
                          "two_points_perpendicular_across_along",
                          "perpendicular_triangle"};
    std::size_t looked_at = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        if (entry.path().extension() != ".appell" || contrived.count(entry.path().stem())) continue;
        const Found f(gallery_text(entry.path().stem()));
        EXPECT_GT(f.look.samples.size(), 2u) << entry.path().stem();
        for (const LinearRow& r : f.factors.rows) ADD_FAILURE() << entry.path().stem() << ": " << r.sentence;
        for (const LinearTogether& t : f.factors.together) ADD_FAILURE() << entry.path().stem() << ": " << t.sentence;
        ++looked_at;
    }
    EXPECT_GT(looked_at, 50u);
}

// 002 example 4: a planar closed chain of odd length. No row alone is linear, but together they stop P2.
TEST(LinearFactors, TogetherTheyStopAPoint) {
    const Found f(gallery_text("perpendicular_triangle"));
    EXPECT_TRUE(f.factors.rows.empty());
    ASSERT_EQ(f.factors.together.size(), 1u);
    const LinearTogether& t = f.factors.together.front();
    EXPECT_EQ(t.rows,
              (std::vector<std::size_t>{0, 1}));  // two directions that are not parallel, and P2 is to be perpendicular to both
    EXPECT_TRUE(t.complete);
    Names equations;
    for (const LinearEquation& e : t.equations) equations.insert(e.text);
    EXPECT_EQ(equations, (Names{"x2'", "z2'"}));
    EXPECT_NE(t.sentence.find("constraints first and second"), std::string::npos);
}

// --- plants

// a linear form with coefficients c + s*sin(q_i), and a constant
struct Form {
    std::vector<double> c, s;
    std::vector<int> q;
    double constant = 0;

    [[nodiscard]] std::string coefficient(std::size_t i) const {
        return fmt::format("({:.4f} + {:.4f}*sin(q{}))", c[i], s[i], q[i] + 1);
    }
    [[nodiscard]] std::string text() const {
        std::string out = fmt::format("{:.4f}", constant);
        for (std::size_t i = 0; i < c.size(); ++i)
            if (c[i] != 0 || s[i] != 0) out += fmt::format(" + {}*q{}'", coefficient(i), i + 1);
        return out;
    }
};

double rounded(double x) { return std::round(x * 1e4) / 1e4; }

class Plants {
public:
    explicit Plants(unsigned seed) : random_(seed) {}

    int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
    double real(double from, double to) { return rounded(std::uniform_real_distribution<double>(from, to)(random_)); }
    double away_from_zero() { return real(0.3, 1.5) * (whole(0, 1) ? 1 : -1); }

    Form form(int n, bool with_constant, bool dense = false) {
        Form out;
        for (int i = 0; i < n; ++i) {
            const bool zero = !dense && n > 2 && whole(0, 3) == 0;
            out.c.push_back(zero ? 0 : away_from_zero());
            out.s.push_back(zero || whole(0, 1) ? 0 : real(-0.2, 0.2));
            out.q.push_back(whole(0, n - 1));
        }
        if (out.c[0] == 0) out.c[0] = away_from_zero();
        if (with_constant) out.constant = away_from_zero();
        return out;
    }
    // a*b multiplied out, so that no product of sums is left
    static std::string expanded(const Form& a, const Form& b) {
        std::string out = fmt::format("{:.4f}*{:.4f}", a.constant, b.constant);
        for (std::size_t i = 0; i < a.c.size(); ++i) {
            out +=
                fmt::format(" + ({:.4f}*{} + {:.4f}*{})*q{}'", b.constant, a.coefficient(i), a.constant, b.coefficient(i), i + 1);
            for (std::size_t j = 0; j < b.c.size(); ++j)
                out += fmt::format(" + {}*{}*q{}'*q{}'", a.coefficient(i), b.coefficient(j), i + 1, j + 1);
        }
        return out;
    }
    std::string model(int n, const std::vector<std::string>& rows) {
        std::string text = "system plant\n";
        for (int i = 1; i <= n; ++i)
            text += fmt::format("coord q{0} = {1}\nparticle P{0} mass {2} at O + q{0}*N.x\nstart q{0}' = {3}\n", i,
                                real(0.5, 1.5), real(1, 2), away_from_zero());
        for (std::size_t i = 0; i < rows.size(); ++i) text += fmt::format("constraint c{}: {} = 0\n", i + 1, rows[i]);
        return text;
    }

private:
    std::mt19937 random_;
};

// the coefficients by speed and the constant at a state
std::vector<double> values(const Form& f, const DoctorLook& look, std::size_t state) {
    const auto q = [&](int i) { return static_cast<double>(look.samples.states[state][static_cast<std::size_t>(1 + i)]); };
    std::vector<double> out;
    for (std::size_t i = 0; i < f.c.size(); ++i) out.push_back(f.c[i] + f.s[i] * std::sin(q(f.q[i])));
    out.push_back(f.constant);
    return out;
}

std::vector<double> values(NodeId expression, const DoctorLook& look, std::size_t state) {
    const Graph& g = *look.derivation.model->graph;
    const std::vector<Speed>& speeds = look.derivation.model->speeds;
    std::vector<Digits50> at = look.samples.values(g, look.samples.states[state]);
    for (const Speed& s : speeds) at[s.u.index()] = 0;
    const auto value = [&] { return static_cast<double>(evaluate<Digits50>(g, std::span(&expression, 1), at).front()); };
    const double constant = value();
    std::vector<double> out;
    for (const Speed& s : speeds) {
        at[s.u.index()] = 1;
        out.push_back(value() - constant);
        at[s.u.index()] = 0;
    }
    out.push_back(constant);
    return out;
}

// the distance of a row of length one from the span of others
double outside(const std::vector<std::vector<double>>& span, const std::vector<double>& row) {
    const auto n = static_cast<Eigen::Index>(row.size());
    Eigen::MatrixXd A(n, static_cast<Eigen::Index>(span.size()));
    for (std::size_t j = 0; j < span.size(); ++j)
        A.col(static_cast<Eigen::Index>(j)) = Eigen::Map<const Eigen::VectorXd>(span[j].data(), n).normalized();
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(row.data(), n).normalized();
    return (A * A.colPivHouseholderQr().solve(b) - b).norm();
}

TEST(LinearFactors, PlantedProductsAreFound) {
    int closed = 0;
    constexpr int k_plants = 200;
    for (unsigned seed = 1; seed <= k_plants; ++seed) {
        Plants plants(seed);
        const int linear = plants.whole(0, 2), n = linear + plants.whole(2, 3);
        const bool constants = plants.whole(0, 2) == 0;
        std::vector<Form> given;
        std::vector<std::string> rows;
        for (int i = 0; i < linear; ++i) {
            given.push_back(plants.form(n, constants));
            rows.push_back(given.back().text());
        }
        const Form a = plants.form(n, constants), b = plants.form(n, false);
        // multiples of the linear rows hide the product further
        std::string hidden = Plants::expanded(a, b);
        for (const Form& g : given) hidden += " + " + Plants::expanded(g, plants.form(n, false));
        rows.push_back(hidden);
        const Found f(plants.model(n, rows));
        ASSERT_GT(f.look.samples.size(), 2u) << seed;
        const LinearRow* row = f.row(fmt::format("c{}", linear + 1));
        ASSERT_NE(row, nullptr) << seed;
        EXPECT_EQ(row->truth, LinearTruth::product) << seed;
        EXPECT_EQ(f.factors.rows.size(), 1u);
        if (row->equations.size() != 2) continue;
        ++closed;
        int at_start = 0;
        for (const LinearEquation& e : row->equations) at_start += e.at_start;
        EXPECT_EQ(at_start, 1) << seed << row->sentence;
        for (std::size_t k = 0; k < f.look.samples.size(); ++k) {
            std::vector<std::vector<double>> with_a, with_b;
            for (const Form& g : given) {
                with_a.push_back(values(g, f.look, k));
                with_b.push_back(with_a.back());
            }
            with_a.push_back(values(a, f.look, k));
            with_b.push_back(values(b, f.look, k));
            const auto first = values(row->equations[0].expression, f.look, k);
            const auto second = values(row->equations[1].expression, f.look, k);
            const double straight = outside(with_a, first) + outside(with_b, second);
            const double crossed = outside(with_a, second) + outside(with_b, first);
            EXPECT_LT(std::min(straight, crossed), 1e-7) << seed << row->sentence;
        }
    }
    EXPECT_GT(closed, k_plants * 9 / 10);
}

TEST(LinearFactors, PlantedSquaresAreFound) {
    for (unsigned seed = 1; seed <= 120; ++seed) {
        Plants plants(seed + 1000);
        const int linear = plants.whole(0, 1), squares = plants.whole(1, 2), n = linear + squares + plants.whole(1, 2);
        std::vector<Form> given, planted;
        std::vector<std::string> rows;
        std::string sum = "0";
        for (int i = 0; i < linear; ++i) {
            given.push_back(plants.form(n, false));
            rows.push_back(given.back().text());
        }
        for (int i = 0; i < squares; ++i) {
            planted.push_back(plants.form(n, plants.whole(0, 2) == 0));
            sum += " + " + Plants::expanded(planted.back(), planted.back());
        }
        for (const Form& g : given) sum += " + " + Plants::expanded(g, plants.form(n, false));
        rows.push_back(sum);
        const Found f(plants.model(n, rows));
        const LinearRow* row = f.row(fmt::format("c{}", linear + 1));
        ASSERT_NE(row, nullptr) << seed;
        EXPECT_EQ(row->truth, squares == 1 ? LinearTruth::square : LinearTruth::squares) << seed;
        EXPECT_EQ(row->equations.size(), static_cast<std::size_t>(squares)) << seed;
    }
}

TEST(LinearFactors, PlantedFactorsOfAnythingAreFound) {
    for (unsigned seed = 1; seed <= 120; ++seed) {
        Plants plants(seed + 2000);
        const int linear = plants.whole(0, 2), n = linear + plants.whole(2, 3);
        std::vector<Form> given;
        std::vector<std::string> rows;
        for (int i = 0; i < linear; ++i) {
            given.push_back(plants.form(n, false));
            rows.push_back(given.back().text());
        }
        const Form a = plants.form(n, plants.whole(0, 1) == 1), b = plants.form(n, false);
        // never zero, so that every consistent state is on the factor
        const std::string other = plants.whole(0, 1) ? "exp((" + b.text() + ")/4)" : "(1 + (" + b.text() + ")^4)";
        std::string hidden = fmt::format("{:.4f}*{}", a.constant, other);
        for (std::size_t i = 0; i < a.c.size(); ++i) hidden += fmt::format(" + {}*q{}'*{}", a.coefficient(i), i + 1, other);
        for (const Form& g : given) hidden += fmt::format(" + ({})*sin({})", g.text(), plants.form(n, false).text());
        rows.push_back(hidden);
        const Found f(plants.model(n, rows));
        ASSERT_GT(f.look.samples.size(), 2u) << seed;
        const LinearRow* row = f.row(fmt::format("c{}", linear + 1));
        ASSERT_NE(row, nullptr) << seed;
        EXPECT_EQ(row->truth, LinearTruth::factor) << seed;
        ASSERT_EQ(row->equations.size(), 1u) << seed;
        EXPECT_TRUE(row->equations[0].at_start);
        if (!row->equations[0].expression.valid()) continue;
        for (std::size_t k = 0; k < f.look.samples.size(); ++k) {
            std::vector<std::vector<double>> span{values(a, f.look, k)};
            for (const Form& g : given) span.push_back(values(g, f.look, k));
            EXPECT_LT(outside(span, values(row->equations[0].expression, f.look, k)), 1e-7) << seed << row->sentence;
        }
    }
}

TEST(LinearFactors, RowsThatAreAffineGivenTheOthers) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Plants plants(seed + 3000);
        const int n = plants.whole(3, 4);
        const Form given = plants.form(n, true), other = plants.form(n, false);
        const bool follows = plants.whole(0, 1);
        const std::string hidden = Plants::expanded(given, plants.form(n, false)) + (follows ? "" : " + " + other.text());
        const Found f(plants.model(n, {given.text(), hidden}));
        const LinearRow* row = f.row("c2");
        ASSERT_NE(row, nullptr) << seed;
        EXPECT_EQ(row->truth, follows ? LinearTruth::follows : LinearTruth::affine) << seed;
        EXPECT_EQ(f.given(*row), Names{"c1"});
        for (const LinearEquation& e : row->equations)
            for (std::size_t k = 0; k < f.look.samples.size() && e.expression.valid(); ++k)
                EXPECT_LT(outside({values(given, f.look, k), values(other, f.look, k)}, values(e.expression, f.look, k)), 1e-7)
                    << seed << row->sentence;
    }
}

// Quadrics of full rank in at least two free speeds and a constant, and rows that are no quadrics. The linear rows have no
// constants, so that an ellipsoid about zero meets them, and no zeros, so that they do not stop a speed.
TEST(LinearFactors, GenuineRowsGiveNoFalseAlarm) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        Plants plants(seed + 4000);
        const int linear = plants.whole(0, 2), n = linear + plants.whole(2, 3);
        std::vector<std::string> rows;
        for (int i = 0; i < linear; ++i) rows.push_back(plants.form(n, false, true).text());
        std::string genuine = "-1";
        switch (plants.whole(0, 2)) {
            case 0:
                for (int i = 1; i <= n; ++i) {
                    genuine += fmt::format(" + {}*q{}'^2", plants.real(0.5, 1.5), i);
                    for (int j = 1; j < i; ++j)
                        genuine += fmt::format(" + {}*sin(q{})*q{}'*q{}'", plants.real(-0.2, 0.2), j, i, j);
                }
                break;
            case 1:
                genuine +=
                    " + exp((" + plants.form(n, false, true).text() + ")/2) + (" + plants.form(n, false, true).text() + ")^2/4";
                break;
            default: genuine += " + (" + plants.form(n, false, true).text() + ")^3 + " + plants.form(n, false, true).text();
        }
        // a second genuine row with other coefficients, where there is room for both
        if (n - linear > 2) {
            std::string second = "-1.3";
            for (int i = 1; i <= n; ++i) second += fmt::format(" + {}*q{}'^2", plants.real(0.5, 1.5), i);
            if (plants.whole(0, 1)) rows.push_back(second);
        }
        rows.push_back(genuine);
        const Found f(plants.model(n, rows));
        for (const LinearRow& r : f.factors.rows) ADD_FAILURE() << seed << ": " << r.sentence << "\n" << genuine;
        for (const LinearTogether& t : f.factors.together) ADD_FAILURE() << seed << ": " << t.sentence;
    }
}

// Two cones that together are one linear row and one cone: neither is linear alone.
TEST(LinearFactors, PairsThatAreLinearTogether) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        Plants plants(seed + 5000);
        const int n = 4;
        const Form a = plants.form(n, false);
        std::string sphere = "-2";
        for (int i = 1; i <= n; ++i) sphere += fmt::format(" + {}*q{}'^2", plants.real(0.5, 1.5), i);
        const Found f(plants.model(n, {sphere + " + " + a.text(), sphere + " - 2*(" + a.text() + ")"}));
        EXPECT_TRUE(f.factors.rows.empty()) << seed;
        ASSERT_EQ(f.factors.together.size(), 1u) << seed;
        EXPECT_FALSE(f.factors.together[0].complete);
        for (const LinearEquation& e : f.factors.together[0].equations)
            for (std::size_t k = 0; k < f.look.samples.size(); ++k)
                EXPECT_LT(outside({values(a, f.look, k)}, values(e.expression, f.look, k)), 1e-7) << seed;
    }
}

}  // namespace
}  // namespace appell
