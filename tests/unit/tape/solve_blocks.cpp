// Solve blocks against dense reference solutions: regular, redundant, contradicting and singular systems, in every scalar type.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "expr/graph.hpp"
#include "tape/constrained_solve.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// a system of numbers, and the program that solves it with every number as an input
struct System {
    MatrixXd M, A;
    VectorXd f, b;
};

struct SolveProgram {
    Graph graph;
    Program program;
    std::vector<std::pair<int, int>> mass, rows;  // the structural entries
};

SolveProgram build(const System& s, bool skip_zeros = true, SolveKind kind = SolveKind::multipliers) {
    SolveProgram p;
    ProgramSpec spec;
    ConstrainedSolve solve;
    solve.kind = kind;
    Graph& g = p.graph;
    const auto n = static_cast<std::size_t>(s.f.size()), m = static_cast<std::size_t>(s.b.size());
    const auto symbol = [&](const std::string& name) {
        spec.inputs.push_back(g.add_symbol(name, SymbolKind::other));
        return g.symbol_node(spec.inputs.back());
    };
    solve.M.rows = solve.M.columns = solve.A.columns = n;
    solve.A.rows = m;
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j <= i; ++j)
            if (s.M(i, j) != 0 || !skip_zeros) {
                solve.M.entries.push_back({i, j, symbol("M")});
                p.mass.emplace_back(i, j);
            }
    for (std::uint32_t i = 0; i < m; ++i)
        for (std::uint32_t j = 0; j < n; ++j)
            if (s.A(i, j) != 0 || !skip_zeros) {
                solve.A.entries.push_back({i, j, symbol("A")});
                p.rows.emplace_back(i, j);
            }
    for (std::size_t i = 0; i < n; ++i) solve.f.push_back(symbol("f"));
    for (std::size_t i = 0; i < m; ++i) solve.b.push_back(symbol("b"));
    OutputGroup x{"x", {}}, lambda{"lambda", {}};
    for (std::size_t i = 0; i < n; ++i) {
        solve.x.push_back(g.add_symbol("x", SymbolKind::other));
        x.values.push_back(g.symbol_node(solve.x.back()));
    }
    for (std::size_t i = 0; i < m; ++i) {
        solve.lambda.push_back(g.add_symbol("lambda", SymbolKind::other));
        lambda.values.push_back(g.symbol_node(solve.lambda.back()));
    }
    spec.solves.push_back(std::move(solve));
    spec.outputs = {x, lambda};
    p.program = lower_program(g, spec);
    return p;
}

template <class T>
struct Solution {
    EvalReport report;
    std::vector<T> x, lambda;
    VectorXd xd, ld;  // as doubles
};

template <class T>
Solution<T> solve(const System& s, bool skip_zeros = true, SolveKind kind = SolveKind::multipliers) {
    const SolveProgram p = build(s, skip_zeros, kind);
    Workspace<T> w(p.program);
    std::size_t i = 0;
    for (const auto& [r, c] : p.mass) w.inputs()[i++] = T(s.M(r, c));
    for (const auto& [r, c] : p.rows) w.inputs()[i++] = T(s.A(r, c));
    for (const double v : s.f) w.inputs()[i++] = T(v);
    for (const double v : s.b) w.inputs()[i++] = T(v);
    Solution<T> out;
    out.report = w.run();
    out.x.assign(w.output("x").begin(), w.output("x").end());
    out.lambda.assign(w.output("lambda").begin(), w.output("lambda").end());
    out.xd.resize(s.f.size());
    out.ld.resize(s.b.size());
    for (Eigen::Index k = 0; k < out.xd.size(); ++k)
        out.xd[k] = static_cast<double>(real_part(out.x[static_cast<std::size_t>(k)]));
    for (Eigen::Index k = 0; k < out.ld.size(); ++k)
        out.ld[k] = static_cast<double>(real_part(out.lambda[static_cast<std::size_t>(k)]));
    return out;
}

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    double number() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }
    MatrixXd matrix(Eigen::Index r, Eigen::Index c) {
        return MatrixXd::NullaryExpr(r, c, [this] { return number(); });
    }
    MatrixXd positive(Eigen::Index n) {
        const MatrixXd L = matrix(n, n);
        return L * L.transpose() + 0.5 * MatrixXd::Identity(n, n);
    }
    System system(Eigen::Index n, Eigen::Index m) { return {positive(n), matrix(m, n), matrix(n, 1), matrix(m, 1)}; }

private:
    std::mt19937 engine_;
};

// the bordered matrix, solved with complete pivoting
std::pair<VectorXd, VectorXd> reference(const System& s) {
    const Eigen::Index n = s.f.size(), m = s.b.size();
    MatrixXd B = MatrixXd::Zero(n + m, n + m);
    B.topLeftCorner(n, n) = s.M;
    B.topRightCorner(n, m) = -s.A.transpose();
    B.bottomLeftCorner(m, n) = s.A;
    VectorXd rhs(n + m);
    rhs << s.f, s.b;
    const VectorXd z = B.fullPivLu().solve(rhs);
    return {z.head(n), z.tail(m)};
}

// condition numbers of these random systems stay below some 1e4: 1e-10 leaves two digits beyond eps * condition
constexpr double k_tolerance = 1e-10;

TEST(SolveBlocks, AgreeWithTheDenseReference) {
    Random random(11);
    for (Eigen::Index n = 1; n <= 14; ++n)
        for (Eigen::Index m = 0; m <= n; ++m) {
            const System s = random.system(n, m);
            const auto [x, lambda] = reference(s);
            const double size = 1 + x.lpNorm<Eigen::Infinity>() + (m > 0 ? lambda.lpNorm<Eigen::Infinity>() : 0);
            const auto found = solve<double>(s);
            ASSERT_EQ(found.report.status, EvalStatus::ok) << n << " " << m;
            EXPECT_EQ(found.report.rank, m);
            EXPECT_FALSE(found.report.redundant || found.report.bordered);
            EXPECT_LT((found.xd - x).norm(), k_tolerance * size) << n << " " << m;
            EXPECT_LT((found.ld - lambda).norm(), k_tolerance * size) << n << " " << m;
            const auto complex = solve<std::complex<double>>(s);
            ASSERT_EQ(complex.report.status, EvalStatus::ok);
            EXPECT_LT((complex.xd - x).norm() + (complex.ld - lambda).norm(), k_tolerance * size);
            if (n % 5 == 0) {
                const auto digits = solve<Digits50>(s);
                ASSERT_EQ(digits.report.status, EvalStatus::ok);
                EXPECT_LT((digits.xd - x).norm() + (digits.ld - lambda).norm(), k_tolerance * size);
            }
        }
}

TEST(SolveBlocks, FiftyDigitsSatisfyTheEquationsToFortyFive) {
    Random random(12);
    const System s = random.system(6, 3);
    const auto found = solve<Digits50>(s);
    for (int i = 0; i < 6; ++i) {
        Digits50 residual = -Digits50(s.f[i]);
        for (int j = 0; j < 6; ++j)
            residual += Digits50(s.M(std::max(i, j), std::min(i, j))) * found.x[static_cast<std::size_t>(j)];
        for (int k = 0; k < 3; ++k) residual -= Digits50(s.A(k, i)) * found.lambda[static_cast<std::size_t>(k)];
        EXPECT_LT(abs(residual), Digits50("1e-45"));
    }
    for (int k = 0; k < 3; ++k) {
        Digits50 residual = -Digits50(s.b[k]);
        for (int j = 0; j < 6; ++j) residual += Digits50(s.A(k, j)) * found.x[static_cast<std::size_t>(j)];
        EXPECT_LT(abs(residual), Digits50("1e-45"));
    }
}

TEST(SolveBlocks, RowsHoldToRoundOffEvenWhenAlmostDependent) {
    // two rows that differ by 1e-5: the answer must still satisfy both to round-off of its own size, which the normal equations
    // (squaring the condition to 1e10) would not
    Random random(13);
    for (int trial = 0; trial < 20; ++trial) {
        System s = random.system(5, 2);
        s.A.row(1) = s.A.row(0) + 1e-5 * random.matrix(1, 5);
        const auto found = solve<double>(s);
        ASSERT_EQ(found.report.status, EvalStatus::ok);
        EXPECT_EQ(found.report.rank, 2u);
        EXPECT_LT(found.report.smallest_pivot, 1e-4);
        EXPECT_LT((s.A * found.xd - s.b).norm(), 1e-14 * (1 + found.xd.norm()));
    }
}

TEST(SolveBlocks, UncoupledBlocksAreFoundAndChangeNothing) {
    Random random(14);
    System s = random.system(9, 3);
    const MatrixXd full = s.M;
    s.M.setZero();
    const std::vector<std::vector<int>> blocks = {{0, 4, 7}, {1}, {2, 3}, {5}, {6, 8}};
    for (const auto& block : blocks)
        for (const int i : block)
            for (const int j : block) s.M(i, j) = full(i, j);
    const SolveProgram p = build(s);
    ASSERT_EQ(p.program.solves[0].mass_blocks.size(), blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i)
        EXPECT_EQ(p.program.solves[0].mass_blocks[i], std::vector<std::uint32_t>(blocks[i].begin(), blocks[i].end()));
    const auto [x, lambda] = reference(s);
    for (const bool skip : {true, false}) {
        const auto found = solve<double>(s, skip);
        EXPECT_LT((found.xd - x).norm() + (found.ld - lambda).norm(), k_tolerance * (1 + lambda.norm()));
    }
}

// Rows along a chain, the last one closing it to a ring: each works on the few columns it reaches, wherever these stand in M.
TEST(SolveBlocks, RowsOfAChainReachFewColumns) {
    Random random(21);
    const Eigen::Index links = 60, n = 2 * links;
    System s{MatrixXd::Zero(n, n), MatrixXd::Zero(links, n), random.matrix(n, 1), random.matrix(links, 1)};
    for (Eigen::Index i = 0; i < n; ++i) s.M(i, i) = 1.5 + random.number();
    const auto entry = [&](Eigen::Index row, Eigen::Index point) {  // all x first, then all y
        s.A(row, point) = random.number();
        s.A(row, links + point) = random.number();
    };
    for (Eigen::Index i = 0; i < links; ++i) {
        entry(i, i);
        if (i > 0) entry(i, i - 1);
    }
    EXPECT_EQ(RowColumns(build(s).program.solves[0]).entries, 4u * 60u - 2u);
    const auto agrees = [&] {
        const auto [x, lambda] = reference(s);
        const auto found = solve<double>(s);
        ASSERT_EQ(found.report.status, EvalStatus::ok);
        EXPECT_EQ(found.report.rank, links);
        EXPECT_LT((s.A * found.xd - s.b).norm(), k_tolerance * (1 + x.norm()));
        EXPECT_LT((found.xd - x).norm(), k_tolerance * (1 + x.norm() + lambda.norm()));
        EXPECT_LT((s.A.transpose() * (found.ld - lambda)).norm(), k_tolerance * (1 + x.norm() + lambda.norm()));
    };
    agrees();
    entry(links - 1, 0);
    agrees();
    // M couples all: every row reaches everything
    s.M = random.positive(n);
    EXPECT_EQ(RowColumns(build(s).program.solves[0]).entries, static_cast<std::size_t>(links * n));
    agrees();
}

TEST(SolveBlocks, RedundantRowsGiveTheMultipliersOfLeastNorm) {
    Random random(15);
    for (int trial = 0; trial < 40; ++trial) {
        const Eigen::Index n = 4 + trial % 5, independent = 1 + trial % 3, rows = independent + 1 + trial % 2;
        System s = random.system(n, rows);
        const MatrixXd combine = random.matrix(rows - independent, independent);
        s.A.bottomRows(rows - independent) = combine * s.A.topRows(independent);
        s.b.tail(rows - independent) = combine * s.b.head(independent);
        const VectorXd x = reference({s.M, s.A.topRows(independent), s.f, s.b.head(independent)}).first;
        const VectorXd lambda = s.A.transpose().completeOrthogonalDecomposition().solve(s.M * x - s.f);
        const double size = 1 + x.norm() + lambda.norm();
        const auto check = [&](const auto& found, double tolerance) {
            ASSERT_EQ(found.report.status, EvalStatus::ok) << trial;
            EXPECT_TRUE(found.report.redundant);
            EXPECT_EQ(found.report.rank, independent);
            EXPECT_LT((found.xd - x).norm(), tolerance * size) << trial;
            EXPECT_LT((found.ld - lambda).norm(), tolerance * size) << trial;
        };
        // the rows are combined in double precision; with many digits they are not dependent, so that case is left out
        check(solve<double>(s), 1e-9);
        check(solve<std::complex<double>>(s), 1e-9);
        for (const SolveKind kind : {SolveKind::minimal, SolveKind::nonminimal, SolveKind::udwadia_kalaba, SolveKind::ukp})
            check(solve<double>(s, true, kind), 1e-8);  // some square the condition of the rows
    }
}

TEST(SolveBlocks, RankDoesNotDependOnTheUnitsOfARow) {
    Random random(16);
    System s = random.system(5, 3);
    s.A.row(2) = s.A.row(0) - 2 * s.A.row(1);
    s.b[2] = s.b[0] - 2 * s.b[1];
    const auto before = solve<double>(s);
    s.A.row(1) *= 1e-9;
    s.b[1] *= 1e-9;
    const auto after = solve<double>(s);
    EXPECT_EQ(before.report.rank, 2u);
    EXPECT_EQ(after.report.rank, 2u);
    EXPECT_LT((before.xd - after.xd).norm(), 1e-9 * (1 + before.xd.norm()));
}

TEST(SolveBlocks, ContradictingRowsAreNamedAndTheOthersStillHold) {
    Random random(17);
    System s = random.system(4, 2);
    s.A.row(1) = 3 * s.A.row(0);
    s.b[1] = 3 * s.b[0] + 0.5;
    const auto found = solve<double>(s);
    EXPECT_EQ(found.report.status, EvalStatus::inconsistent_rows);
    EXPECT_GT(found.report.inconsistency, 1e-3);
    EXPECT_TRUE(found.xd.allFinite());
    const auto complex = solve<std::complex<double>>(s);
    EXPECT_EQ(complex.report.status, EvalStatus::inconsistent_rows);
}

TEST(SolveBlocks, ZeroRowsCountAsRedundant) {
    Random random(18);
    System s = random.system(4, 3);
    s.A.row(1).setZero();
    s.b[1] = 0;
    const auto found = solve<double>(s, false);
    const System without{s.M, (MatrixXd(2, 4) << s.A.row(0), s.A.row(2)).finished(), s.f,
                         (VectorXd(2) << s.b[0], s.b[2]).finished()};
    const auto [x, lambda] = reference(without);
    ASSERT_EQ(found.report.status, EvalStatus::ok);
    EXPECT_EQ(found.report.rank, 2u);
    EXPECT_LT((found.xd - x).norm(), k_tolerance * (1 + x.norm()));
    EXPECT_EQ(found.ld[1], 0);
    s.b[1] = 1;
    EXPECT_EQ(solve<double>(s, false).report.status, EvalStatus::inconsistent_rows);
    // no rows at all that count
    s.A.setZero();
    s.b.setZero();
    const auto free = solve<double>(s, false);
    EXPECT_EQ(free.report.status, EvalStatus::ok);
    EXPECT_EQ(free.report.rank, 0u);
    EXPECT_LT((s.M * free.xd - s.f).norm(), 1e-13 * (1 + s.f.norm()));
}

TEST(SolveBlocks, SingularMassWithARegularBorderedMatrixIsSolved) {
    Random random(19);
    for (int trial = 0; trial < 20; ++trial) {
        System s = random.system(5, 2);
        const MatrixXd half = random.matrix(5, 4);
        s.M = half * half.transpose();  // rank 4
        const auto [x, lambda] = reference(s);
        const double size = 1 + x.norm() + lambda.norm();
        const auto found = solve<double>(s);
        ASSERT_EQ(found.report.status, EvalStatus::ok);
        EXPECT_TRUE(found.report.bordered);
        // round-off of the singular direction is divided by how well the rows hold it
        EXPECT_LT((found.xd - x).norm(), 1e-8 * size);
        EXPECT_LT((found.ld - lambda).norm(), 1e-8 * size);
    }
    // a column without any inertia, held by a row; and an indefinite M
    System s{MatrixXd::Zero(2, 2), MatrixXd::Zero(1, 2), VectorXd::Ones(2), VectorXd::Ones(1)};
    s.M(0, 0) = 2;
    s.A(0, 1) = 4;
    const auto held = solve<double>(s);
    ASSERT_EQ(held.report.status, EvalStatus::ok);
    EXPECT_NEAR(held.xd[0], 0.5, 1e-15);
    EXPECT_NEAR(held.xd[1], 0.25, 1e-15);
    EXPECT_NEAR(held.ld[0], -0.25, 1e-15);
    s.M(1, 1) = -1;
    const auto indefinite = solve<double>(s);
    ASSERT_EQ(indefinite.report.status, EvalStatus::ok);
    EXPECT_NEAR(indefinite.ld[0], (-0.25 - 1) / 4, 1e-15);
}

TEST(SolveBlocks, SingularMassWithRedundantRowsIsSolved) {
    Random random(20);
    System s = random.system(5, 3);
    const MatrixXd half = random.matrix(5, 4);
    s.M = half * half.transpose();
    s.A.row(2) = s.A.row(0) + s.A.row(1);
    s.b[2] = s.b[0] + s.b[1];
    const VectorXd x = reference({s.M, s.A.topRows(2), s.f, s.b.head(2)}).first;
    const VectorXd lambda = s.A.transpose().completeOrthogonalDecomposition().solve(s.M * x - s.f);
    const auto found = solve<double>(s);
    ASSERT_EQ(found.report.status, EvalStatus::ok);
    EXPECT_TRUE(found.report.redundant && found.report.bordered);
    EXPECT_LT((found.xd - x).norm() + (found.ld - lambda).norm(), 1e-8 * (1 + x.norm() + lambda.norm()));
}

TEST(SolveBlocks, AFreeColumnWithoutInertiaIsNamed) {
    Random random(21);
    System s = random.system(5, 2);
    s.M.row(3).setZero();
    s.M.col(3).setZero();
    s.A.col(3).setZero();
    for (const bool skip : {true, false}) {
        const auto found = solve<double>(s, skip);
        EXPECT_EQ(found.report.status, EvalStatus::singular_mass);
        EXPECT_EQ(found.report.singular_column, 3u);
        EXPECT_TRUE(std::isnan(found.xd[0]));
        EXPECT_EQ(solve<std::complex<double>>(s, skip).report.status, EvalStatus::singular_mass);
    }
}

TEST(SolveBlocks, OperandsThatAreNotFiniteAreReported) {
    Random random(22);
    System s = random.system(3, 1);
    s.f[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve<double>(s).report.status, EvalStatus::not_finite);
}

// x and lambda of the first block enter the second, whose unknowns enter the outputs: stages follow each other
TEST(SolveBlocks, UnknownsFeedLaterStages) {
    Graph g;
    const auto add = [&](const char* name) { return g.add_symbol(name, SymbolKind::other); };
    const SymbolId p = add("p"), x = add("x"), y = add("y"), lambda = add("lambda"), z = add("z");
    const NodeId pn = g.symbol_node(p), xn = g.symbol_node(x), ln = g.symbol_node(lambda), zn = g.symbol_node(z);
    ProgramSpec spec;
    spec.inputs = {p};
    // p x - lambda = 1, 2 y + lambda = 0, x - y = 3   =>   x = (1 + 6) / (p + 2), y = x - 3, lambda = -2 y
    ConstrainedSolve first;
    first.M = {2, 2, {{0, 0, pn}, {1, 1, g.constant(2)}}};
    first.A = {1, 2, {{0, 0, g.constant(1)}, {0, 1, g.constant(-1)}}};
    first.f = {g.constant(1), g.constant(0)};
    first.b = {g.constant(3)};
    first.x = {x, y};
    first.lambda = {lambda};
    // (x^2 + 1) z = lambda * sin(p)
    ConstrainedSolve second;
    second.M = {1, 1, {{0, 0, g.add(g.mul(xn, xn), g.constant(1))}}};
    second.f = {g.mul(ln, g.make(Op::Sin, pn))};
    second.x = {z};
    spec.solves = {first, second};
    spec.outputs = {{"out", {g.add(zn, g.make(Op::Sin, pn)), xn, ln}}};
    const Program program = lower_program(g, spec);
    ASSERT_EQ(program.segments.size(), 3u);
    for (const bool share : {true, false}) {
        const Program lowered = lower_program(g, spec, {.share_slots = share});
        Workspace<double> w(lowered);
        for (const double value : {0.5, 1.0, 2.5}) {
            w.inputs()[0] = value;
            ASSERT_EQ(w.run_poisoned().status, EvalStatus::ok);
            const double ex = 7 / (value + 2), el = -2 * (ex - 3), ez = el * std::sin(value) / (ex * ex + 1);
            EXPECT_NEAR(w.output("out")[0], ez + std::sin(value), 1e-14);
            EXPECT_NEAR(w.output("out")[1], ex, 1e-14);
            EXPECT_NEAR(w.output("out")[2], el, 1e-14);
        }
    }
    // the complex step passes through both blocks: compare with the closed form's central difference quotient
    Workspace<std::complex<double>> c(program);
    c.inputs()[0] = {1.5, 1e-30};
    ASSERT_EQ(c.run().status, EvalStatus::ok);
    EXPECT_NEAR(c.output("out")[1].imag() / 1e-30, -7 / (3.5 * 3.5), 1e-14);

    std::swap(spec.solves[0], spec.solves[1]);
    EXPECT_THROW((void)lower_program(g, spec), Error);
}

TEST(SolveBlocks, SizesThatDisagreeAreRefused) {
    Graph g;
    const SymbolId x = g.add_symbol("x", SymbolKind::other);
    ProgramSpec spec;
    ConstrainedSolve solve;
    solve.M = {1, 1, {{0, 0, g.constant(1)}}};
    solve.x = {x};
    spec.solves = {solve};
    EXPECT_THROW((void)lower_program(g, spec), Error);
}

}  // namespace
}  // namespace appell
