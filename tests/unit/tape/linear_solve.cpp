// Linear blocks against a dense reference: several right sides with one matrix, every scalar type, matrices without inverse.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "tape/workspace.hpp"

namespace appell {
namespace {

using Eigen::MatrixXd;

// A X = B with every number an input: A row by row, then B column by column
struct LinearProgram {
    Graph graph;
    Program program;
};

LinearProgram build(Eigen::Index n, Eigen::Index sides) {
    LinearProgram p;
    Graph& g = p.graph;
    ProgramSpec spec;
    ConstrainedSolve solve;
    solve.kind = SolveKind::linear;
    solve.A.rows = solve.A.columns = static_cast<std::size_t>(n);
    const auto input = [&] {
        spec.inputs.push_back(g.add_symbol("input", SymbolKind::other));
        return g.symbol_node(spec.inputs.back());
    };
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j) solve.A.entries.push_back({i, j, input()});
    OutputGroup x{"x", {}};
    for (Eigen::Index i = 0; i < n * sides; ++i) {
        solve.b.push_back(input());
        solve.x.push_back(g.add_symbol("x", SymbolKind::other));
        x.values.push_back(g.symbol_node(solve.x.back()));
    }
    spec.solves.push_back(std::move(solve));
    spec.outputs = {x};
    p.program = lower_program(g, spec);
    return p;
}

template <class T>
EvalReport run(Workspace<T>& w, const MatrixXd& A, const MatrixXd& B) {
    std::size_t next = 0;
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j) w.inputs()[next++] = T(A(i, j));
    for (Eigen::Index c = 0; c < B.cols(); ++c)
        for (Eigen::Index i = 0; i < B.rows(); ++i) w.inputs()[next++] = T(B(i, c));
    return w.run();
}

MatrixXd random_matrix(std::mt19937& engine, Eigen::Index rows, Eigen::Index columns) {
    std::uniform_real_distribution<double> number(-1, 1);
    return MatrixXd::NullaryExpr(rows, columns, [&] { return number(engine); });
}

TEST(LinearBlock, SolvesEveryRightSide) {
    std::mt19937 engine(5);
    for (Eigen::Index n = 1; n <= 7; ++n)
        for (Eigen::Index sides = 1; sides <= 3; ++sides) {
            MatrixXd A = random_matrix(engine, n, n);
            A.row(0) *= 1e6;  // rows of different size: scaling must not matter
            const MatrixXd B = random_matrix(engine, n, sides), X = A.fullPivLu().solve(B);
            const LinearProgram p = build(n, sides);
            Workspace<double> w(p.program);
            ASSERT_EQ(run(w, A, B).status, EvalStatus::ok);
            Workspace<Digits50> wide(p.program);
            ASSERT_EQ(run(wide, A, B).status, EvalStatus::ok);
            for (Eigen::Index c = 0; c < sides; ++c)
                for (Eigen::Index i = 0; i < n; ++i) {
                    const auto at = static_cast<std::size_t>(c * n + i);
                    // conditions of these matrices stay below some 1e4
                    EXPECT_NEAR(w.output("x")[at], X(i, c), 1e-11 * (1 + X.norm())) << n << " " << sides;
                    Digits50 residual = -Digits50(B(i, c));
                    for (Eigen::Index j = 0; j < n; ++j)
                        residual += Digits50(A(i, j)) * wide.output("x")[static_cast<std::size_t>(c * n + j)];
                    EXPECT_LT(static_cast<double>(abs(residual)), 1e-38 * (1 + std::abs(A(i, 0)) * X.norm()));
                }
        }
}

TEST(LinearBlock, LetsComplexStepsThrough) {
    // d/ds of the solution of (A + s dA) x = b is -A^-1 dA x
    std::mt19937 engine(6);
    const MatrixXd A = random_matrix(engine, 4, 4), dA = random_matrix(engine, 4, 4), b = random_matrix(engine, 4, 1);
    const LinearProgram p = build(4, 1);
    Workspace<std::complex<double>> w(p.program);
    std::size_t next = 0;
    for (Eigen::Index i = 0; i < 4; ++i)
        for (Eigen::Index j = 0; j < 4; ++j) w.inputs()[next++] = {A(i, j), 1e-30 * dA(i, j)};
    for (Eigen::Index i = 0; i < 4; ++i) w.inputs()[next++] = b(i, 0);
    ASSERT_EQ(w.run().status, EvalStatus::ok);
    const MatrixXd x = A.fullPivLu().solve(b), change = -A.fullPivLu().solve(dA * x);
    for (Eigen::Index i = 0; i < 4; ++i) {
        EXPECT_NEAR(w.output("x")[static_cast<std::size_t>(i)].real(), x(i, 0), 1e-12 * x.norm());
        EXPECT_NEAR(w.output("x")[static_cast<std::size_t>(i)].imag() / 1e-30, change(i, 0), 1e-11 * change.norm());
    }
}

TEST(LinearBlock, NamesMatricesWithoutInverse) {
    std::mt19937 engine(7);
    const LinearProgram p = build(4, 2);
    Workspace<double> w(p.program);
    const MatrixXd B = random_matrix(engine, 4, 2);
    MatrixXd A = random_matrix(engine, 4, 4);
    A.row(3) = A.row(0) - 2 * A.row(1);
    EXPECT_EQ(run(w, A, B).status, EvalStatus::singular_partition);
    for (const double x : w.outputs()) EXPECT_TRUE(std::isnan(x));
    A.row(3).setZero();
    EXPECT_EQ(run(w, A, B).status, EvalStatus::singular_partition);
    A = random_matrix(engine, 4, 4);
    ASSERT_EQ(run(w, A, B).status, EvalStatus::ok);  // the workspace is good again
    A(1, 2) = std::numeric_limits<double>::infinity();
    EXPECT_EQ(run(w, A, B).status, EvalStatus::not_finite);
}

TEST(LinearBlock, RefusesSizesThatDisagree) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other), y = g.add_symbol("y", SymbolKind::other);
    const NodeId one = g.constant(1);
    ConstrainedSolve good;
    good.kind = SolveKind::linear;
    good.A = {1, 1, {{0, 0, one}}};
    good.b = {one, one};
    good.x = {x, y};
    EXPECT_NO_THROW((void)lower_program(g, {{}, {good}, {}}));
    ConstrainedSolve bad = good;
    bad.x.pop_back();
    EXPECT_THROW((void)lower_program(g, {{}, {bad}, {}}), Error);
    bad = good;
    bad.A.rows = 2;
    EXPECT_THROW((void)lower_program(g, {{}, {bad}, {}}), Error);
    bad = good;
    bad.f = {one};
    EXPECT_THROW((void)lower_program(g, {{}, {bad}, {}}), Error);
    bad = good;
    bad.A.entries[0].column = 1;
    EXPECT_THROW((void)lower_program(g, {{}, {bad}, {}}), Error);
}

}  // namespace
}  // namespace appell
