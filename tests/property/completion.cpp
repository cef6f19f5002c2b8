// Conditions on positions that hide in constraints on velocities, against an independent computation: the power series of all
// motions that satisfy the rows. With q = sum q_k t^k the rows are polynomial equations for the coefficients, order by order. At
// a solution the null space of their Jacobian, of high order, projected on the coefficients of lower order, has a dimension that
// grows by the number of degrees of freedom with each order: how many accelerations are free once everything that hides is kept.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
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

// degrees of freedom by the series, near the start; -1 where no series was found
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
    Eigen::JacobiSVD<Matrix> svd(slope, Eigen::ComputeFullV);
    svd.setThreshold(1e-8);
    const Matrix null = svd.matrixV().rightCols(slope.cols() - svd.rank());
    const auto dimension = [&](std::size_t up_to) {
        Eigen::JacobiSVD<Matrix> part(Matrix(null.topRows(static_cast<Eigen::Index>((up_to + 1) * s.n))));
        part.setThreshold(1e-8);
        return static_cast<int>(part.rank());
    };
    return dimension(low) - dimension(low - 1);
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
    EXPECT_GE(2 * compared, count);
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
    EXPECT_GE(2 * compared, count);
}

}  // namespace
}  // namespace appell
