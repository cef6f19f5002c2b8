// Eliminations written out, against the pivoted solve: where they serve they agree, and where they must not serve they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tape/closed_solve.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

struct Small {
    Graph g;
    ConstrainedSolve solve;
    std::vector<SymbolId> inputs;

    NodeId input() {
        inputs.push_back(g.add_symbol("i" + std::to_string(inputs.size()), SymbolKind::other));
        return g.symbol_node(inputs.back());
    }
    // all entries are inputs: the lower triangle of M, A, f, b
    Small(std::size_t n, std::size_t m) {
        solve.M.rows = solve.M.columns = n;
        solve.A.rows = m;
        solve.A.columns = n;
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t j = 0; j <= i; ++j) solve.M.entries.push_back({i, j, input()});
        for (std::uint32_t i = 0; i < m; ++i)
            for (std::uint32_t j = 0; j < n; ++j) solve.A.entries.push_back({i, j, input()});
        for (std::size_t i = 0; i < n; ++i) solve.f.push_back(input());
        for (std::size_t i = 0; i < m; ++i) solve.b.push_back(input());
        for (std::size_t i = 0; i < n; ++i) solve.x.push_back(g.add_symbol("x" + std::to_string(i), SymbolKind::other));
        for (std::size_t i = 0; i < m; ++i) solve.lambda.push_back(g.add_symbol("l" + std::to_string(i), SymbolKind::other));
    }
    [[nodiscard]] Program program() {
        std::vector<NodeId> out;
        for (const SymbolId s : solve.x) out.push_back(g.symbol_node(s));
        for (const SymbolId s : solve.lambda) out.push_back(g.symbol_node(s));
        return lower_program(g, {inputs, {solve}, {{"unknowns", out}}});
    }
};

struct Solved {
    EvalReport report;
    std::vector<double> unknowns;
};
Solved solved(const Program& program, const std::vector<double>& inputs) {
    Workspace<double> w(program);
    std::copy(inputs.begin(), inputs.end(), w.inputs().begin());
    Solved out{w.run(), {}};
    out.unknowns.assign(w.outputs().begin(), w.outputs().end());
    return out;
}

TEST(ClosedSolve, AgreesWithThePivotedSolve) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> symmetric(-1, 1);
    std::size_t served = 0, tried = 0;
    for (std::size_t n = 1; n <= 6; ++n)
        for (std::size_t m = 0; m <= std::min<std::size_t>(n, 3); ++m) {
            Small small(n, m);
            const Program pivoted = small.program();
            add_closed_form(small.g, small.solve);
            if (small.solve.closed.empty()) continue;
            const Program closed = small.program();
            for (int k = 0; k < 50; ++k) {
                // B B' + 1, so that M is positive definite
                std::vector<std::vector<double>> B(n, std::vector<double>(n));
                for (auto& row : B)
                    for (double& entry : row) entry = symmetric(random);
                std::vector<double> inputs;
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j <= i; ++j) {
                        double sum = i == j ? 1 : 0;
                        for (std::size_t r = 0; r < n; ++r) sum += B[i][r] * B[j][r];
                        inputs.push_back(sum);
                    }
                while (inputs.size() < small.inputs.size()) inputs.push_back(symmetric(random));
                const Solved a = solved(pivoted, inputs), b = solved(closed, inputs);
                EXPECT_EQ(a.report.status, b.report.status);
                EXPECT_EQ(a.report.rank, b.report.rank);
                double size = 1, difference = 0;
                for (std::size_t i = 0; i < a.unknowns.size(); ++i) {
                    size = std::max(size, std::abs(a.unknowns[i]));
                    difference = std::max(difference, std::abs(a.unknowns[i] - b.unknowns[i]));
                }
                // where it serves, less than three digits are lost: a share of 1/100 of each row, 1/1000 of each mass
                EXPECT_LT(difference, 1e-12 * size) << n << " x " << m;
                ++tried;
                served += b.unknowns != a.unknowns || n == 1;
            }
        }
    // it is there to be used: on most of the random systems another road led to other last bits
    EXPECT_GT(served, tried / 3);
}

// the two kinds with given independent unknowns, against the dense solves of their sources
TEST(ClosedSolve, MinimalAndNonminimalAgreeWithTheirSources) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> symmetric(-1, 1);
    std::size_t served = 0, tried = 0;
    double worst = 0, worst_of_source = 0;
    for (const SolveKind kind : {SolveKind::minimal, SolveKind::nonminimal})
        for (std::size_t n = 2; n <= 6; ++n)
            for (std::size_t m = 1; m < n; ++m) {
                Small small(n, m);
                small.solve.kind = kind;
                // every other unknown is dependent first, so that columns are not in order
                std::vector<bool> dependent(n);
                std::size_t count = 0;
                for (std::size_t j = 0; j < n && count < m; j += 2, ++count) dependent[j] = true;
                for (std::size_t j = 1; j < n && count < m; j += 2, ++count) dependent[j] = true;
                for (std::uint32_t j = 0; j < n; ++j)
                    if (!dependent[j]) small.solve.independent.push_back(j);
                const Program source = small.program();
                add_closed_form(small.g, small.solve);
                EXPECT_EQ(small.solve.closed.empty(), m > 3) << n << " x " << m;  // full rows couple all columns
                if (small.solve.closed.empty()) continue;
                const Program closed = small.program();
                for (int k = 0; k < 50; ++k) {
                    std::vector<std::vector<double>> B(n, std::vector<double>(n));
                    for (auto& row : B)
                        for (double& entry : row) entry = symmetric(random);
                    std::vector<double> inputs;
                    for (std::size_t i = 0; i < n; ++i)
                        for (std::size_t j = 0; j <= i; ++j) {
                            double sum = i == j ? 1 : 0;
                            for (std::size_t r = 0; r < n; ++r) sum += B[i][r] * B[j][r];
                            inputs.push_back(sum);
                        }
                    while (inputs.size() < small.inputs.size()) inputs.push_back(symmetric(random));
                    const Solved a = solved(source, inputs), b = solved(closed, inputs);
                    EXPECT_EQ(a.report.status, b.report.status);
                    EXPECT_EQ(a.report.rank, b.report.rank);
                    Workspace<Digits50> exact(source);
                    std::copy(inputs.begin(), inputs.end(), exact.inputs().begin());
                    (void)exact.run();
                    double size = 1, error = 0, of_source = 0;
                    for (std::size_t i = 0; i < a.unknowns.size(); ++i) {
                        const auto truth = static_cast<double>(exact.outputs()[i]);
                        size = std::max(size, std::abs(truth));
                        error = std::max(error, std::abs(b.unknowns[i] - truth));
                        of_source = std::max(of_source, std::abs(a.unknowns[i] - truth));
                    }
                    worst = std::max(worst, error / size);
                    worst_of_source = std::max(worst_of_source, of_source / size);
                    ++tried;
                    served += b.unknowns != a.unknowns;
                }
            }
    EXPECT_GT(served, tried / 2);
    // by the guards three digits are lost in the rows, two in the masses, and sums of ten may lose one; the sources lose some,
    // too
    EXPECT_LT(worst, 1e-10);
    EXPECT_LT(worst, 10 * worst_of_source);
}

TEST(ClosedSolve, ASingularPartitionIsLeftToItsSource) {
    Small small(3, 1);
    small.solve.kind = SolveKind::minimal;
    small.solve.independent = {0, 1};
    add_closed_form(small.g, small.solve);
    ASSERT_FALSE(small.solve.closed.empty());
    const Program closed = small.program();
    const auto status = [&](double share) { return solved(closed, {2, 0, 2, 0, 0, 2, 1, 1, share, 1, 2, 3, 0.5}).report.status; };
    EXPECT_EQ(status(1), EvalStatus::ok);
    EXPECT_EQ(status(1e-6), EvalStatus::ok);  // by the dense solve
    EXPECT_EQ(status(0), EvalStatus::singular_partition);
}

TEST(ClosedSolve, LeavesWhatNeedsCareToThePivotedSolve) {
    Small small(2, 2);
    add_closed_form(small.g, small.solve);
    ASSERT_FALSE(small.solve.closed.empty());
    const Program closed = small.program();
    // M (lower triangle), A by rows, f, b
    const auto report = [&](std::vector<double> inputs) { return solved(closed, inputs).report; };
    // rows that depend on each other, and agree
    const EvalReport dependent = report({1, 0, 1, 1, 1, 2, 2, 0, 0, 3, 6});
    EXPECT_TRUE(dependent.redundant);
    EXPECT_EQ(dependent.rank, 1u);
    // and do not
    EXPECT_EQ(report({1, 0, 1, 1, 1, 2, 2, 0, 0, 3, 7}).status, EvalStatus::inconsistent_rows);
    // nearly
    EXPECT_LT(report({1, 0, 1, 1, 1, 1, 1 + 1e-6, 0, 0, 3, 3}).smallest_pivot, 1e-5);
    // a mass without inertia that the rows hold
    const EvalReport massless = report({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 2});
    EXPECT_EQ(massless.status, EvalStatus::ok);
    EXPECT_TRUE(massless.bordered);
    // what is not a number
    EXPECT_EQ(report({1, 0, 1, 1, 0, 0, 1, std::nan(""), 0, 1, 2}).status, EvalStatus::not_finite);
    // and, a row without entries
    EXPECT_EQ(report({1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0}).rank, 1u);
}

TEST(ClosedSolve, DiagonalMassesAndOneRowTakeFewOperations) {
    // two particles in a plane with one row: the solve of perpendicular_pucks
    Graph g;
    ConstrainedSolve s;
    std::vector<SymbolId> inputs;
    const auto input = [&] {
        inputs.push_back(g.add_symbol("i" + std::to_string(inputs.size()), SymbolKind::other));
        return g.symbol_node(inputs.back());
    };
    s.M.rows = s.M.columns = s.A.columns = 4;
    s.A.rows = 1;
    const NodeId m1 = input(), m2 = input();
    for (std::uint32_t i = 0; i < 4; ++i) {
        s.M.entries.push_back({i, i, i < 2 ? m1 : m2});
        s.A.entries.push_back({0, i, input()});
        s.f.push_back(input());
        s.x.push_back(g.add_symbol("x" + std::to_string(i), SymbolKind::other));
    }
    s.b.push_back(input());
    s.lambda.push_back(g.add_symbol("l", SymbolKind::other));
    add_closed_form(g, s);
    ASSERT_FALSE(s.closed.empty());
    std::vector<NodeId> out;
    for (const SymbolId x : s.x) out.push_back(g.symbol_node(x));
    // 1/d 2, y/d 4, S 4 + 3, f/d 4, y f/d 4 + 3, b - 1, 1/S and lambda 2, x 3 * 4
    const Program program = lower_program(g, {inputs, {s}, {{"x", out}}});
    EXPECT_LE(program.instructions.size(), 39u);
    EXPECT_EQ(std::count_if(program.instructions.begin(), program.instructions.end(),
                            [](const Instruction& i) { return i.op == Op::Div; }),
              3);
}

}  // namespace
}  // namespace appell
