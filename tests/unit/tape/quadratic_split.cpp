// Quadratic rows that are products where other rows hold, against the rows themselves.
#include "tape/quadratic_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "expr/evaluate.hpp"

namespace appell {
namespace {

struct Rows {
    Graph g;
    std::vector<SymbolId> unknowns, free, angles;
    std::vector<NodeId> residuals;

    Expr unknown() { return named("y", unknowns, SymbolKind::speed); }
    Expr speed() { return named("w", free, SymbolKind::speed); }
    Expr angle() { return named("q", angles, SymbolKind::coordinate); }
    void row(Expr e) { residuals.push_back(e.id); }

    // on the factor of these values, by symbol
    std::optional<QuadraticSplit> split(std::vector<double> at = {}) {
        if (at.empty()) at.assign(g.symbol_count(), 0.7);
        return split_quadratic(g, {residuals, unknowns}, free, at);
    }

    // the unknowns satisfy all rows wherever they are on the factor, and there are two
    void expect_solved() {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> symmetric(-2, 2);
        std::vector<double> values(g.symbol_count());
        for (double& value : values) value = symmetric(random);
        std::vector<double> found;
        for (int draw = 0; draw < 40; ++draw) {
            for (const SymbolId y : unknowns) values[y.index()] = 10 * symmetric(random);
            const std::optional<QuadraticSplit> split = this->split(values);
            ASSERT_TRUE(split.has_value());
            EXPECT_GT(evaluate<double>(g, std::span(&split->slope, 1), values).front(), 0);
            const std::vector<double> solved = evaluate<double>(g, split->values, values);
            std::vector<double> solution = values;
            for (std::size_t k = 0; k < unknowns.size(); ++k) solution[unknowns[k].index()] = solved[k];
            for (const double residual : evaluate<double>(g, residuals, solution)) EXPECT_NEAR(residual, 0, 1e-12);
            // at the solution itself the slope is its own
            EXPECT_NEAR(evaluate<double>(g, std::span(&split->slope, 1), solution).front(), 1, 1e-10);
            if (std::ranges::none_of(found, [&](double other) { return std::abs(solved[0] - other) < 1e-9; }))
                found.push_back(solved[0]);
        }
        EXPECT_EQ(found.size(), 2u);
    }

private:
    Expr named(const char* name, std::vector<SymbolId>& of, SymbolKind kind) {
        of.push_back(g.add_symbol(name + std::to_string(of.size()), kind));
        return {&g, g.symbol_node(of.back())};
    }
};

TEST(QuadraticSplit, OfAWheelThatMayNotSlipSideways) {
    Rows r;
    const Expr q = r.angle(), w1 = r.speed(), w2 = r.speed(), x = r.unknown(), y = r.unknown();
    const Expr vx = x + 5.0 * w1 * sin(q), vy = y - 5.0 * w1 * cos(q);
    r.row(vx * sin(q) - vy * cos(q));
    r.row((vx * vx + vy * vy - 4.0 * w2 * w2) / 2.0);
    const std::optional<QuadraticSplit> split = r.split();
    ASSERT_TRUE(split.has_value());
    r.expect_solved();
    // what is known about the angle is used: no quotient is left but by constants
    EXPECT_TRUE(split->everywhere);
    for (const NodeId value : split->values) {
        Sweep sweep;
        for (const NodeId id : sweep.collect(r.g, std::span(&value, 1)))
            EXPECT_FALSE(r.g.op(id) == Op::Div && !r.g.constant_value(r.g.operand(id, 1)));
    }
    // nor anything that a person would not write: 2 w2 cos q - 5 w1 sin q, and the like
    Sweep sweep;
    EXPECT_LE(sweep.collect(r.g, split->values).size(), 20u);
}

TEST(QuadraticSplit, DividesByWhatDependsOnAnAngle) {
    Rows r;
    const Expr q = r.angle(), w1 = r.speed(), w2 = r.speed(), x = r.unknown(), y = r.unknown();
    r.row(cos(q) * x + y - w1);
    r.row((x - 2.0 * w2) * (x + 3.0 * w2));
    const std::optional<QuadraticSplit> split = r.split();
    ASSERT_TRUE(split.has_value());
    EXPECT_FALSE(split->everywhere);
    r.expect_solved();
}

TEST(QuadraticSplit, OfFactorsWithDifferentSlopesAndConstants) {
    Rows one;
    const Expr a = one.speed(), b = one.speed(), y = one.unknown();
    one.row((y - a - 2.0 * b + 1.0) * (3.0 * y + a));
    one.expect_solved();

    Rows three;
    const Expr w = three.speed(), x = three.unknown(), u = three.unknown(), v = three.unknown();
    three.row(x + u - w);
    three.row(v - u + 0.25 * w);
    three.row((x - 2.0 * u + w) * (2.0 * v + x + u) - (x + u - w) * x);
    three.expect_solved();
}

TEST(QuadraticSplit, OfNothingElse) {
    Rows sphere;  // no product
    {
        const Expr a = sphere.speed(), b = sphere.speed(), y = sphere.unknown();
        sphere.row(y * y - a * a - b * b);
    }
    EXPECT_FALSE(sphere.split().has_value());
    Rows affine;  // no square is left on the line
    {
        const Expr a = affine.speed(), x = affine.unknown(), y = affine.unknown();
        affine.row(x - y);
        affine.row(x * x - y * y + x - a);
    }
    EXPECT_FALSE(affine.split().has_value());
    Rows piecewise;  // a product on either side of w = 0, another one each
    {
        const Expr a = piecewise.speed(), b = piecewise.speed(), y = piecewise.unknown();
        piecewise.row(y * y - abs(a) * abs(a) - b * (a - abs(a)));
    }
    EXPECT_FALSE(piecewise.split().has_value());
}

// what the factors differ by may vanish with an angle for one speed; the other tells them apart without a loss of digits
TEST(QuadraticSplit, OfFactorsThatMeetAtAnAngle) {
    for (const double angle : {1.0, 1e-3, 1e-6, 0.0}) {
        Rows r;
        const Expr q = r.angle(), w1 = r.speed(), w2 = r.speed(), y = r.unknown();
        r.row((y - w1 - w2) * (y + (sin(q) - 1.0) * w1 + w2));
        std::vector<double> values(r.g.symbol_count(), 0.7);
        values[r.angles[0].index()] = angle;
        values[r.unknowns[0].index()] = 1.4;
        const std::optional<QuadraticSplit> split = r.split(values);
        ASSERT_TRUE(split.has_value());
        EXPECT_NEAR(evaluate<double>(r.g, split->values, values)[0], 1.4, 1e-15);
    }
    Rows alone;  // with no speed to tell them by
    const Expr q = alone.angle(), w = alone.speed(), y = alone.unknown();
    alone.row((y - w) * (y + (sin(q) - 1.0) * w));
    EXPECT_FALSE(alone.split().has_value());
}

}  // namespace
}  // namespace appell
