// Conditions on positions that hide in constraints on velocities, against an independent computation: the power series of all
// motions that satisfy the rows. With q = sum q_k t^k the rows are polynomial equations for the coefficients, order by order. At
// a solution the null space of their Jacobian, of high order, projected on the coefficients of lower order, has a dimension that
// grows by the number of degrees of freedom with each order: how many accelerations are free once everything that hides is kept.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double apart() { return (uniform(-1, 1) < 0 ? -1 : 1) * uniform(0.4, 1.2); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

// rows  sum_j (w_j . q + c_j) q_j' = 0: the coefficients of the rates are affine in the coordinates
struct Row {
    std::vector<std::pair<std::size_t, Vector>> terms;  // coordinate, (w, c)
};

struct System {
    std::size_t n = 0;
    std::vector<Row> rows;
    Vector q0, v0;
    std::string model;
};

// the coefficient of t^k of each row, k < orders, and their derivatives by the coefficients of q up to t^orders
void expand(const System& s, const Vector& c, std::size_t orders, Vector& value, Matrix& slope) {
    const auto n = s.n;
    const auto at = [&](std::size_t k, std::size_t i) { return c(static_cast<Eigen::Index>(k * n + i)); };
    value = Vector::Zero(static_cast<Eigen::Index>(orders * s.rows.size()));
    slope = Matrix::Zero(value.size(), c.size());
    for (std::size_t r = 0; r < s.rows.size(); ++r)
        for (const auto& [j, w] : s.rows[r].terms)
            for (std::size_t k = 0; k < orders; ++k) {
                const auto row = static_cast<Eigen::Index>(k * s.rows.size() + r);
                for (std::size_t a = 0; a <= k; ++a) {  // (w . q)_a times (q')_(k - a)
                    const std::size_t b = k - a + 1;
                    double affine = a == 0 ? w(static_cast<Eigen::Index>(n)) : 0;
                    for (std::size_t i = 0; i < n; ++i) affine += w(static_cast<Eigen::Index>(i)) * at(a, i);
                    const double rate = static_cast<double>(b) * at(b, j);
                    value(row) += affine * rate;
                    for (std::size_t i = 0; i < n; ++i)
                        slope(row, static_cast<Eigen::Index>(a * n + i)) += w(static_cast<Eigen::Index>(i)) * rate;
                    slope(row, static_cast<Eigen::Index>(b * n + j)) += affine * static_cast<double>(b);
                }
            }
}

// The rank of a matrix in doubles, where its singular values leave no doubt: nothing between 1e-6 and 1e-10 of the largest.
std::optional<Eigen::Index> clear_rank(const Eigen::JacobiSVD<Matrix>& svd) {
    const Vector values = svd.singularValues() / svd.singularValues()(0);
    const auto rank = (values.array() > 1e-8).count();
    const bool clear = values(rank - 1) > 1e-6 && (rank == values.size() || values(rank) < 1e-10);
    return clear ? std::optional(rank) : std::nullopt;
}

// degrees of freedom by the series, near the start; -1 where no series was found, or ranks are in doubt
int freedoms_by_series(const System& s) {
    constexpr std::size_t orders = 7, low = 3;
    Vector c = Vector::Zero(static_cast<Eigen::Index>((orders + 1) * s.n)), value;
    Matrix slope;
    for (std::size_t i = 0; i < s.n; ++i) {
        c(static_cast<Eigen::Index>(i)) = s.q0(static_cast<Eigen::Index>(i));
        c(static_cast<Eigen::Index>(s.n + i)) = s.v0(static_cast<Eigen::Index>(i));
    }
    for (int step = 0; step < 60; ++step) {
        expand(s, c, orders, value, slope);
        if (value.norm() < 1e-13) break;
        Eigen::CompleteOrthogonalDecomposition<Matrix> solve(slope);
        solve.setThreshold(1e-9);
        c -= solve.solve(value);
    }
    expand(s, c, orders, value, slope);
    if (!(value.norm() < 1e-11)) return -1;
    const Eigen::JacobiSVD<Matrix> svd(slope, Eigen::ComputeFullV);
    const auto rank = clear_rank(svd);
    if (!rank) return -1;
    const Matrix null = svd.matrixV().rightCols(slope.cols() - *rank);
    const auto dimension = [&](std::size_t up_to) {
        return clear_rank(Eigen::JacobiSVD<Matrix>(Matrix(null.topRows(static_cast<Eigen::Index>((up_to + 1) * s.n)))));
    };
    const auto above = dimension(low), below = dimension(low - 1);
    return above && below ? static_cast<int>(*above - *below) : -1;
}

// (60) of document 002: N points, each link across the velocity of its first point and along that of its second
System chain(Draw& draw, std::size_t points) {
    System s;
    s.n = 2 * points;
    std::vector<std::pair<double, double>> p{{draw.uniform(-1, 1), draw.uniform(-1, 1)}};
    double angle = draw.uniform(0, 6);
    for (std::size_t i = 1; i < points; ++i) {
        const double length = draw.uniform(0.6, 1.5);
        p.emplace_back(p.back().first + length * std::cos(angle), p.back().second + length * std::sin(angle));
        angle += draw.uniform(-1, 1) < 0 ? -M_PI / 2 : M_PI / 2;
    }
    s.q0 = s.v0 = Vector::Zero(static_cast<Eigen::Index>(s.n));
    s.model = "system chain\n";
    for (std::size_t i = 0; i < points; ++i) {
        s.q0(static_cast<Eigen::Index>(2 * i)) = p[i].first;
        s.q0(static_cast<Eigen::Index>(2 * i + 1)) = p[i].second;
        s.model += fmt::format("coord x{0} = {1}, y{0} = {2}\nparticle P{0} mass 1 at O + x{0}*N.x + y{0}*N.y\n", i + 1,
                               text(p[i].first), text(p[i].second));
    }
    // every point moves along the link before it, the first one across its own
    for (std::size_t i = 0; i < points; ++i) {
        const auto& [ax, ay] = p[i == 0 ? 0 : i - 1];
        const auto& [bx, by] = p[i == 0 ? 1 : i];
        double vx = bx - ax, vy = by - ay;
        if (i == 0) std::swap(vx, vy), vx = -vx;
        const double speed = draw.apart();
        s.v0(static_cast<Eigen::Index>(2 * i)) = speed * vx;
        s.v0(static_cast<Eigen::Index>(2 * i + 1)) = speed * vy;
        s.model += fmt::format("start x{0}' = {1}, y{0}' = {2}\n", i + 1, text(speed * vx), text(speed * vy));
    }
    const auto difference = [&](std::size_t a, std::size_t b, double factor) {
        Vector w = Vector::Zero(static_cast<Eigen::Index>(s.n + 1));
        w(static_cast<Eigen::Index>(a)) = factor;
        w(static_cast<Eigen::Index>(b)) = -factor;
        return w;
    };
    for (std::size_t i = 0; i + 1 < points; ++i) {
        const std::size_t x = 2 * i, y = x + 1, X = x + 2, Y = x + 3;
        s.rows.push_back({{{x, difference(x, X, 1)}, {y, difference(y, Y, 1)}}});
        s.rows.push_back({{{X, difference(y, Y, 1)}, {Y, difference(x, X, -1)}}});
        s.model += fmt::format(
            "constraint across{0}: dot(vel(P{0}), P{1} - P{0}) = 0\nconstraint along{0}: parallel(vel(P{1}), P{1} - P{0})\n",
            i + 1, i + 2);
    }
    return s;
}

// k rows for k rates, with coefficients that are random affine functions, whose determinant vanishes at the start
System random_rows(Draw& draw, std::size_t k) {
    System s;
    s.n = k + 2;
    s.q0 = s.v0 = Vector::Zero(static_cast<Eigen::Index>(s.n));
    for (Eigen::Index i = 0; i < s.q0.size(); ++i) {
        s.q0(i) = draw.uniform(-1, 1);
        s.v0(i) = draw.apart();
    }
    s.model = "system rows\n";
    for (std::size_t i = 0; i < s.n; ++i)
        s.model += fmt::format("coord q{0} = {1}\nparticle P{0} mass {2} at O + q{0}*N.x\nstart q{0}' = {3}\n", i,
                               text(s.q0(static_cast<Eigen::Index>(i))), text(draw.uniform(0.5, 2)),
                               text(s.v0(static_cast<Eigen::Index>(i))));
    for (std::size_t r = 0; r < k; ++r) {
        Row row;
        double sum = 0;
        std::string equation;
        for (std::size_t j = 0; j < k; ++j) {
            Vector w = Vector::Zero(static_cast<Eigen::Index>(s.n + 1));
            for (Eigen::Index i = 0; i < w.size(); ++i) w(i) = draw.uniform(-1, 1);
            const auto value = [&] {
                return w.head(static_cast<Eigen::Index>(s.n)).dot(s.q0) + w(static_cast<Eigen::Index>(s.n));
            };
            // the velocities of the start satisfy the row
            if (j + 1 == k) w(static_cast<Eigen::Index>(s.n)) += -sum / s.v0(static_cast<Eigen::Index>(j)) - value();
            sum += value() * s.v0(static_cast<Eigen::Index>(j));
            std::string factor = text(w(static_cast<Eigen::Index>(s.n)));
            for (std::size_t i = 0; i < s.n; ++i) factor += fmt::format(" + {}*q{}", text(w(static_cast<Eigen::Index>(i))), i);
            equation += fmt::format("{}({})*q{}'", j == 0 ? "" : " + ", factor, j);
            row.terms.emplace_back(j, w);
        }
        s.rows.push_back(std::move(row));
        s.model += fmt::format("constraint c{}: {} = 0\n", r, equation);
    }
    return s;
}

Derivation completed(const std::string& model) {
    return derive({"model.appell", model, [](const std::string&) { return std::nullopt; }, {}, true});
}

// `freedoms`: by the series, -1 where Newton's method found none
void expect_completion(const System& s, int freedoms, std::size_t conditions, std::size_t k) {
    const std::string model = s.model + "run for 0.02, every 0.01, rtol 1e-9, atol 1e-11\n";
    // as it is written: named, and counted after completion
    Derivation plain = derive_text(model);
    const auto checked = check(plain, 5);
    ASSERT_TRUE(checked.has_value()) << render(plain.diagnostics, plain.sources);
    EXPECT_TRUE(plain.diagnostics.has(Code::W1008)) << k;
    EXPECT_EQ(plain.completed.size(), conditions) << k;
    if (freedoms >= 0) {
        EXPECT_EQ(static_cast<int>(checked->freedoms), freedoms) << k << '\n' << model;
    }
    Derivation contradictory = derive_text(model);
    const auto ended = run(contradictory, {});
    if (ended && ended->summary.reason != EndReason::finished) {
        EXPECT_TRUE(contradictory.diagnostics.has(Code::E0807)) << render(contradictory.diagnostics, contradictory.sources);
        EXPECT_TRUE(contradictory.diagnostics.has(Code::W1008)) << k;
    }
    // and run with it
    Derivation whole = completed(model);
    const auto run_of = run(whole, {});
    ASSERT_TRUE(run_of.has_value()) << render(whole.diagnostics, whole.sources);
    EXPECT_EQ(run_of->summary.reason, EndReason::finished) << render(whole.diagnostics, whole.sources) << model;
    EXPECT_EQ(run_of->completed.size(), conditions);
    EXPECT_FALSE(whole.diagnostics.has_errors()) << render(whole.diagnostics, whole.sources);
}

TEST(Completion, NonholonomicChains) {
    Draw draw(1);
    const std::size_t count = members(12);
    std::size_t compared = 0;
    for (std::size_t k = 0; k < count; ++k) {
        // the series of five points end too early at order 7, and doubles do not carry them further
        const std::size_t points = 3 + k % 2;
        const System s = chain(draw, points);
        const int freedoms = freedoms_by_series(s);
        compared += freedoms >= 0 ? 1 : 0;
        expect_completion(s, freedoms, points - 2, k);
        if (HasFailure()) return;
    }
    EXPECT_GE(2 * compared + 1, count);  // a single one may be in doubt
}

TEST(Completion, RandomSquaresOfRows) {
    Draw draw(2);
    const std::size_t count = members(12);
    std::size_t compared = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const System s = random_rows(draw, 2 + k % 3);
        const int freedoms = freedoms_by_series(s);
        compared += freedoms >= 0 ? 1 : 0;
        expect_completion(s, freedoms, 1, k);
        if (HasFailure()) return;
    }
    EXPECT_GE(2 * compared + 1, count);  // a single one may be in doubt
}

struct HiddenCase {
    std::string model;
    std::size_t conditions;  // that hide
};

std::vector<HiddenCase> blades(Draw& draw) {
    const auto positive = [&] { return std::abs(draw.apart()); };
    const std::string blade = fmt::format(
        "system blade\ncoord x = 0, y = 0, th = 0\nframe B from N rotate th about z\npoint C at O + x*N.x + y*N.y\n"
        "body S frame B mass {} center C inertia (1, 1, {})\nconstraint line: dot(vel(C), N.y) = 0\n"
        "torque on S = {}*N.z\nforce on S at C = {}*N.x\n",
        text(positive()), text(positive()), text(draw.apart()), text(draw.apart()));
    const std::string arrow = fmt::format(
        "system arrow\ncoord x = 0, y = 0, z = 0, th = 0, ps = 0, ro = {}\nframe B from N body zyx (th, ps, ro)\n"
        "point C at O + x*N.x + y*N.y + z*N.z\nbody S frame B mass {} center C inertia (1, 1, 1)\n"
        "constraint ay: dot(vel(C), B.y) = 0\nconstraint az: dot(vel(C), B.z) = 0\nconstraint linea: dot(vel(C), N.y) = 0\n"
        "constraint lineb: dot(vel(C), N.z) = 0\nforce on S at C = {}*N.x\n",
        draw.uniform(0, 1) < 0.5 ? "0" : text(draw.apart()), text(positive()), text(draw.apart()));
    // a blade on a conveyor, beside a line along it: the blade turns away only where it stands still on the belt
    const std::string conveyor = blade + fmt::format("constraint blade: dot(vel(C) - {}*N.x, B.y) = 0\n", text(positive()));
    return {{blade + "constraint blade: dot(vel(C), B.y) = 0\nstart x' = " + text(positive()) + "\n", 1},
            {conveyor + "start x' = " + text(-positive()) + "\n", 1},
            {arrow + "start x' = " + text(positive()) + "\n", 2}};
}

// named, and with them the model runs
TEST(Completion, BladesAndArrows) {
    Draw draw(5);
    const std::size_t count = members(6);
    for (std::size_t k = 0; k < count; ++k)
        for (const HiddenCase& c : blades(draw)) {
            const std::string model = c.model + "run for 0.1, every 0.05\n";
            Derivation whole = completed(model);
            const auto of = run(whole, {});
            ASSERT_TRUE(of.has_value()) << model << render(whole.diagnostics, whole.sources);
            EXPECT_EQ(of->summary.reason, EndReason::finished) << model << render(whole.diagnostics, whole.sources);
            EXPECT_EQ(of->completed.size(), c.conditions) << model;
            Derivation plain = derive_text(model);
            (void)check(plain, 3);
            EXPECT_TRUE(plain.diagnostics.has(Code::W1008)) << model << render(plain.diagnostics, plain.sources);
        }
}

// From rest the constraints do not say whether the condition holds: it is named as a branch, and added on request.
TEST(Completion, FromRest) {
    Draw draw(6);
    const std::size_t count = members(6);
    for (std::size_t k = 0; k < count; ++k) {
        System s = chain(draw, 3);
        std::string model = s.model;
        for (std::size_t at; (at = model.find("start ")) != std::string::npos;) model.erase(at, model.find('\n', at) + 1 - at);
        model += fmt::format("force on P1 = {0}*({1}*N.x + {2}*N.y)\nrun for 0.1, every 0.05\n", text(draw.apart()),
                             text(s.v0(0)), text(s.v0(1)));
        Derivation plain = derive_text(model);
        (void)check(plain, 3);
        EXPECT_TRUE(plain.diagnostics.has(Code::W1008)) << model << render(plain.diagnostics, plain.sources);
        EXPECT_TRUE(plain.completed.empty());
        Derivation whole = completed(model);
        const auto of = run(whole, {});
        ASSERT_TRUE(of.has_value()) << model << render(whole.diagnostics, whole.sources);
        EXPECT_EQ(of->summary.reason, EndReason::finished) << model << render(whole.diagnostics, whole.sources);
        EXPECT_EQ(of->completed.size(), 1u);
    }
}

TEST(Completion, NothingFoundIsSaid) {
    Derivation d = completed(
        "system s\ncoord x = 0, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x^2 + y^2 = 1\n"
        "start x' = 1\nrun for 0.1\n");
    EXPECT_TRUE(d.diagnostics.has(Code::N0855));
    EXPECT_TRUE(d.completed.empty());
}

}  // namespace
}  // namespace appell
