// The sparse solve against the dense one with fifty digits, over random patterns: regular, nearly dependent, dependent,
// contradicting and singular systems, alone and with the pivoted solve behind it.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "expr/graph.hpp"
#include "support/members.hpp"
#include "tape/sparse_solve.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

struct Entry {
    std::uint32_t row, column;
    double value;
};

struct System {
    std::size_t n = 0, m = 0;
    std::vector<Entry> M, A;  // M: lower triangle
    std::vector<double> f, b;
};

// every number is an input, in the order M, A, f, b
struct Solvable {
    explicit Solvable(const System& s) : system(s) {
        ProgramSpec spec;
        ConstrainedSolve solve;
        const auto symbol = [&](double value) {
            spec.inputs.push_back(graph.add_symbol("number", SymbolKind::other));
            numbers.push_back(value);
            return graph.symbol_node(spec.inputs.back());
        };
        solve.M = {s.n, s.n, {}};
        solve.A = {s.m, s.n, {}};
        for (const Entry& e : s.M) solve.M.entries.push_back({e.row, e.column, symbol(e.value)});
        for (const Entry& e : s.A) solve.A.entries.push_back({e.row, e.column, symbol(e.value)});
        for (const double value : s.f) solve.f.push_back(symbol(value));
        for (const double value : s.b) solve.b.push_back(symbol(value));
        OutputGroup x{"x", {}}, lambda{"lambda", {}};
        for (std::size_t i = 0; i < s.n; ++i) {
            solve.x.push_back(graph.add_symbol("x", SymbolKind::other));
            x.values.push_back(graph.symbol_node(solve.x.back()));
        }
        for (std::size_t i = 0; i < s.m; ++i) {
            solve.lambda.push_back(graph.add_symbol("lambda", SymbolKind::other));
            lambda.values.push_back(graph.symbol_node(solve.lambda.back()));
        }
        spec.solves.push_back(std::move(solve));
        spec.outputs = {x, lambda};
        program = lower_program(graph, spec);
    }

    System system;
    Graph graph;
    std::vector<double> numbers;
    Program program;
};

template <class T>
struct Solution {
    EvalReport report;
    std::vector<double> x, lambda;
};

template <class T>
Solution<T> solved(const Solvable& s) {
    Workspace<T> w(s.program);
    for (std::size_t i = 0; i < s.numbers.size(); ++i) w.inputs()[i] = T(s.numbers[i]);
    Solution<T> out;
    out.report = w.run();
    for (const T& v : w.output("x")) out.x.push_back(static_cast<double>(v));
    for (const T& v : w.output("lambda")) out.lambda.push_back(static_cast<double>(v));
    return out;
}

// the sparse solve as it is where there is no other
struct Alone {
    explicit Alone(const Solvable& s, std::size_t most_rank = static_cast<std::size_t>(-1)) {
        const SolveBlock& block = s.program.solves[0];
        std::vector<double> slots(s.program.slots, 0.0);
        std::copy(s.numbers.begin(), s.numbers.end(), slots.begin());
        SparseSolver solver(block);
        solver.limit_rank(most_rank);
        EXPECT_TRUE(solver.solve(slots.data(), report, SparseSolver::Pivoted::absent));
        for (const Slot slot : block.x) x.push_back(slots[slot]);
        for (const Slot slot : block.lambda) lambda.push_back(slots[slot]);
        null_parts = solver.null_parts();
    }

    SolveReport report;
    std::vector<double> x, lambda;
    std::size_t null_parts = 0;
};

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
        size = std::max(size, std::abs(b[i]));
    }
    return most / (size + 1e-30);
}

enum class Shape { chain, closed, star, tree, scattered };

// points of three columns each; a row reaches two points
System points(Shape shape, std::size_t count, bool coupled, std::mt19937& random) {
    std::uniform_real_distribution<double> number(-1, 1);
    System s;
    s.n = 3 * count;
    for (std::uint32_t p = 0; p < count; ++p)
        for (std::uint32_t k = 0; k < 3; ++k) {
            for (std::uint32_t j = 0; j < k; ++j)
                if (coupled) s.M.push_back({3 * p + k, 3 * p + j, 0.2 * number(random)});
            s.M.push_back({3 * p + k, 3 * p + k, 1.5 + number(random)});
        }
    const auto row = [&](std::size_t a, std::size_t b) {
        const auto r = static_cast<std::uint32_t>(s.m++);
        for (const std::size_t p : {std::min(a, b), std::max(a, b)})
            for (std::uint32_t k = 0; k < 3; ++k) s.A.push_back({r, static_cast<std::uint32_t>(3 * p + k), number(random)});
    };
    for (std::size_t i = 1; i < count; ++i)
        row(i, shape == Shape::star ? 0 : shape == Shape::tree ? (i - 1) / 2 : shape == Shape::scattered ? random() % i : i - 1);
    if (shape == Shape::closed) row(0, count - 1);
    for (std::size_t i = 0; i < s.n; ++i) s.f.push_back(number(random));
    for (std::size_t i = 0; i < s.m; ++i) s.b.push_back(number(random));
    return s;
}

constexpr Shape k_shapes[] = {Shape::chain, Shape::closed, Shape::star, Shape::tree, Shape::scattered};

TEST(SparseSolve, AgreesWithFiftyDigits) {
    std::mt19937 random(1);
    for (const Shape shape : k_shapes)
        for (const std::size_t count : {12u, 30u})
            for (const bool coupled : {false, true}) {
                const Solvable s(points(shape, count, coupled, random));
                ASSERT_TRUE(s.program.solves[0].sparse) << static_cast<int>(shape) << ", " << count;
                const auto sparse = solved<double>(s);
                const auto dense = solved<Digits50>(s);
                EXPECT_EQ(sparse.report.status, EvalStatus::ok);
                EXPECT_EQ(sparse.report.rank, s.system.m);
                // digits lost: the condition of A M^-1 A' at worst, the inverse square of the smallest pivot
                const double lost = 1 / (sparse.report.smallest_pivot * sparse.report.smallest_pivot);
                EXPECT_LT(difference(sparse.x, dense.x), 1e-13 * std::min(lost, 1e4)) << static_cast<int>(shape);
                EXPECT_LT(difference(sparse.lambda, dense.lambda), 1e-13 * lost) << static_cast<int>(shape);
            }
}

// one row comes close to the one before: what the pivoted solve is for
TEST(SparseSolve, NearRankLossGoesToThePivotedSolve) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> number(-1, 1);
    for (const double distance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8}) {
        System s = points(Shape::chain, 20, false, random);
        for (std::size_t k = 0; k < 6; ++k) {  // row 8 reaches points 7 and 8, row 7 points 6 and 7: make it reach these
            s.A[8 * 6 + k].column = s.A[7 * 6 + k].column;
            s.A[8 * 6 + k].value = s.A[7 * 6 + k].value + distance * number(random);
        }
        const Solvable p(s);
        const auto sparse = solved<double>(p);
        const auto dense = solved<Digits50>(p);
        ASSERT_TRUE(p.program.solves[0].sparse);
        EXPECT_EQ(sparse.report.status, EvalStatus::ok) << distance;
        EXPECT_EQ(sparse.report.rank, s.m);
        EXPECT_LT(difference(sparse.x, dense.x), 1e-13 / distance) << distance;
        EXPECT_LT(difference(sparse.lambda, dense.lambda), 1e-13 / distance / std::min(1.0, 100 * distance)) << distance;
    }
}

// a system too large for the pivoted solve
System large(std::mt19937& random) { return points(Shape::chain, 700, false, random); }

double residual(const System& s, const std::vector<double>& x) {
    std::vector<double> r(s.m), size(s.m);
    for (std::size_t i = 0; i < s.m; ++i) r[i] = -s.b[i], size[i] = std::abs(s.b[i]);
    for (const Entry& e : s.A) {
        r[e.row] += e.value * x[e.column];
        size[e.row] += std::abs(e.value * x[e.column]);
    }
    double most = 0;
    for (std::size_t i = 0; i < s.m; ++i) most = std::max(most, std::abs(r[i]) / size[i]);
    return most;
}

TEST(SparseSolve, AloneItSolvesOrSaysWhichRow) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    for (const double distance : {1.0, 1e-2, 1e-4, 1e-5, 1e-7, 1e-9, 1e-12}) {
        System s = large(random);
        for (std::size_t k = 0; k < 6; ++k) {
            s.A[300 * 6 + k].column = s.A[299 * 6 + k].column;
            s.A[300 * 6 + k].value = s.A[299 * 6 + k].value + distance * number(random);
        }
        const Solvable p(s);
        const auto sparse = solved<double>(p);
        if (sparse.report.status == EvalStatus::ok) {
            EXPECT_GT(distance, 1e-6);
            EXPECT_LT(residual(s, sparse.x), 1e-10) << distance;
        } else if (sparse.report.status == EvalStatus::inconsistent_rows) {
            EXPECT_EQ(sparse.report.inconsistent_row, 300u) << distance;
        } else {
            EXPECT_EQ(sparse.report.status, EvalStatus::needs_pivoting) << distance;
            EXPECT_EQ(sparse.report.row, 300u) << distance;
        }
        if (distance > 1e-4) {
            EXPECT_EQ(sparse.report.status, EvalStatus::ok) << distance;
        }
        if (distance < 1e-6) {
            EXPECT_NE(sparse.report.status, EvalStatus::ok) << distance;
        }
    }
    System s = large(random);
    s.M[777].value = -1;
    const auto singular = solved<double>(Solvable(s));
    EXPECT_EQ(singular.report.status, EvalStatus::needs_pivoting);
    EXPECT_EQ(singular.report.singular_column, 777u);
}

// Each point's velocity parallel to the first one's, or to its neighbour's: three rows of rank two by point. `off` is by how much
// velocities are not. `exact`: rows depend on each other to the last bit.
System parallel(std::size_t count, std::mt19937& random, bool neighbours = false, double off = 0, bool exact = false) {
    std::uniform_real_distribution<double> number(-1, 1);
    System s;
    s.n = 3 * count;
    std::vector<std::array<double, 3>> v(count);
    const std::array<double, 3> along = exact ? std::array{0.75, -0.5, 0.25} : std::array{0.8, -0.5, 0.3};
    std::vector<double> x(s.n);
    for (std::size_t p = 0; p < count; ++p) {
        const double some = 1 + 0.5 * number(random), size = exact ? std::round(8 * some) / 8 : some;
        for (std::size_t k = 0; k < 3; ++k) {
            v[p][k] = size * along[k] + (off > 0 ? off * number(random) : 0);
            s.M.push_back({static_cast<std::uint32_t>(3 * p + k), static_cast<std::uint32_t>(3 * p + k), 1.5 + number(random)});
            s.f.push_back(number(random));
            x[3 * p + k] = number(random);
        }
    }
    for (std::size_t p = 1; p < count; ++p)
        for (std::size_t k = 0; k < 3; ++k) {
            // (vo x vp)_k by vp and by vo, as a row; b makes some x consistent
            const std::size_t i = (k + 1) % 3, j = (k + 2) % 3, o = neighbours ? p - 1 : 0;
            const auto r = static_cast<std::uint32_t>(s.m++);
            double b = 0;
            const auto put = [&](std::size_t column, double value) {
                s.A.push_back({r, static_cast<std::uint32_t>(column), value});
                b += value * x[column];
            };
            put(3 * o + i, v[p][j]);
            put(3 * o + j, -v[p][i]);
            put(3 * p + i, -v[o][j]);
            put(3 * p + j, v[o][i]);
            s.b.push_back(b);
        }
    return s;
}

TEST(SparseSolve, DependentRowsAreLeftOutAndTheirMultipliersAreOfLeastNorm) {
    std::mt19937 random(4);
    for (const std::size_t count : {6u, 20u}) {
        const System s = parallel(count, random);
        const Solvable p(s);
        ASSERT_TRUE(p.program.solves[0].sparse) << count;
        const auto dense = solved<Digits50>(p);
        const Alone sparse(p);
        EXPECT_EQ(dense.report.rank, 2 * (count - 1));
        EXPECT_EQ(sparse.report.rank, dense.report.rank);
        EXPECT_TRUE(sparse.report.redundant);
        EXPECT_EQ(sparse.report.status, EvalStatus::ok);
        EXPECT_LT(difference(sparse.x, dense.x), 1e-11);
        EXPECT_LT(difference(sparse.lambda, dense.lambda), 1e-11);
    }
    System s = parallel(20, random);
    s.b[4] += 0.1;
    const Alone contradicting{Solvable(s)};
    EXPECT_EQ(contradicting.report.status, EvalStatus::inconsistent_rows);
    EXPECT_EQ(contradicting.report.inconsistent_row / 3, 1u);
}

// The same with every row times a scale of its own: motion and rank stay, and the least norm is that of the rows as written. The
// scales are powers of two, so that what depends on what is not rounded.
TEST(SparseSolve, ScalesMeanNothingButToTheLeastNorm) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> decades(-8, 8);
    for (std::size_t member = 0; member < members(40); ++member) {
        System s = parallel(6 + member % 10, random, member % 2 == 1, 0, true);
        std::vector<double> scale(s.m);
        for (double& factor : scale) factor = std::exp2(std::round(decades(random) * std::log2(10.0)));
        for (Entry& e : s.A) e.value *= scale[e.row];
        for (std::size_t r = 0; r < s.m; ++r) s.b[r] *= scale[r];
        SCOPED_TRACE(member);
        const Solvable p(s);
        ASSERT_TRUE(p.program.solves[0].sparse);
        const auto dense = solved<Digits50>(p);
        const Alone sparse(p);
        EXPECT_EQ(sparse.report.status, EvalStatus::ok);
        EXPECT_EQ(sparse.report.rank, dense.report.rank);
        EXPECT_LT(difference(sparse.x, dense.x), 1e-10);
        EXPECT_LT(difference(sparse.lambda, dense.lambda), 1e-9);
        std::vector<double> force(s.m), expected(s.m);
        for (std::size_t r = 0; r < s.m; ++r) {
            force[r] = sparse.lambda[r] * scale[r];
            expected[r] = dense.lambda[r] * scale[r];
        }
        EXPECT_LT(difference(force, expected), 1e-9);
    }
}

// M x - A' lambda against f, relative to the size of what is added up
double imbalance(const System& s, const std::vector<double>& x, const std::vector<double>& lambda) {
    std::vector<double> r(s.n), size(s.n);
    for (std::size_t i = 0; i < s.n; ++i) r[i] = -s.f[i], size[i] = std::abs(s.f[i]);
    const auto add = [&](std::size_t i, double value) { r[i] += value, size[i] += std::abs(value); };
    for (const Entry& e : s.M) {
        add(e.row, e.value * x[e.column]);
        if (e.row != e.column) add(e.column, e.value * x[e.row]);
    }
    for (const Entry& e : s.A) add(e.column, -e.value * lambda[e.row]);
    double most = 0;
    for (std::size_t i = 0; i < s.n; ++i) most = std::max(most, std::abs(r[i]) / size[i]);
    return most;
}

// On the constraints a dependence is of three rows; off them it reaches all before, in traces.
TEST(SparseSolve, DependentRowsOfAChainCostWhatItsLengthDoes) {
    std::mt19937 random(8);
    for (const double off : {0.0, 1e-9, 1e-7}) {
        std::size_t parts[2];
        for (const std::size_t k : {0u, 1u}) {
            const std::size_t count = k == 0 ? 300 : 1200;
            const System s = parallel(count, random, true, off);
            const Alone sparse(Solvable(s), 2 * (count - 1));
            EXPECT_EQ(sparse.report.status, EvalStatus::ok) << off;
            EXPECT_EQ(sparse.report.rank, 2 * (count - 1)) << off;
            EXPECT_LT(imbalance(s, sparse.x, sparse.lambda), 1e-12) << off;
            EXPECT_LT(residual(s, sparse.x), 1e-10 + 100 * off) << off;
            parts[k] = sparse.null_parts;
            // least norm: nothing along the velocity, in which the three rows of a pair say the same
            double along = 0, size = 0;
            for (std::size_t r = 0; r < s.m; r += 3) {
                along =
                    std::max(along, std::abs(0.8 * sparse.lambda[r] - 0.5 * sparse.lambda[r + 1] + 0.3 * sparse.lambda[r + 2]));
                size =
                    std::max({size, std::abs(sparse.lambda[r]), std::abs(sparse.lambda[r + 1]), std::abs(sparse.lambda[r + 2])});
            }
            EXPECT_LT(along, 1e-5 * size) << off;
        }
        EXPECT_GT(parts[0], 0u);
        EXPECT_LT(parts[1], 6 * parts[0]) << off;
    }
    const System s = parallel(12, random, true);
    const Solvable p(s);
    const auto dense = solved<Digits50>(p);
    const Alone sparse(p);
    EXPECT_LT(difference(sparse.x, dense.x), 1e-11);
    EXPECT_LT(difference(sparse.lambda, dense.lambda), 1e-11);
}

// A row that is close to another one is not left out where there is a pivoted solve that can tell them apart.
TEST(SparseSolve, RowsThatMayNotDependOnOthersGoToThePivotedSolve) {
    std::mt19937 random(9);
    std::uniform_real_distribution<double> number(-1, 1);
    for (const double distance : {3e-6, 1e-6, 1e-8}) {
        System s = points(Shape::chain, 90, false, random);
        for (std::size_t k = 0; k < 6; ++k) {
            s.A[40 * 6 + k].column = s.A[39 * 6 + k].column;
            s.A[40 * 6 + k].value = s.A[39 * 6 + k].value + distance * number(random);
        }
        const Solvable p(s);
        ASSERT_TRUE(p.program.solves[0].sparse);
        ASSERT_GT(p.program.solves[0].sparse->pivoted_entries(), SparseElimination::k_pivoted_decides);
        const auto found = solved<double>(p);
        const auto dense = solved<Digits50>(p);
        EXPECT_EQ(found.report.status, EvalStatus::ok) << distance;
        EXPECT_EQ(found.report.rank, s.m) << distance;
        EXPECT_LT(difference(found.x, dense.x), 1e-13 / distance) << distance;
    }
}

// rows that list their columns in another order, too many rows on everything, and a column without inertia
TEST(SparseSolve, ThePlanIsMadeWhereThereIsOne) {
    std::mt19937 random(7);
    System s = parallel(40, random);
    for (std::size_t r = 0; r < s.m; ++r)
        if (r % 3 == 1) std::swap(s.A[4 * r + 2], s.A[4 * r + 3]);
    const Solvable late(s);
    ASSERT_TRUE(late.program.solves[0].sparse);
    EXPECT_LT(late.program.solves[0].sparse->operations(), 30 * s.m);
    System full = points(Shape::chain, 12, false, random);
    full.A.clear();
    for (std::uint32_t r = 0; r < full.m; ++r)
        for (std::uint32_t c = 0; c < full.n; ++c) full.A.push_back({r, c, 1.0 + r * c % 7});
    EXPECT_FALSE(Solvable(full).program.solves[0].sparse);
    System massless = points(Shape::chain, 12, false, random);
    massless.M.erase(massless.M.begin() + 4);
    EXPECT_FALSE(Solvable(massless).program.solves[0].sparse);
}

TEST(SparseSolve, LimitedRankLeavesOutTheRowsThatHaveLeastOfTheirOwn) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> number(-1, 1);
    System s = parallel(20, random);
    for (Entry& e : s.A) e.value *= 1 + 1e-7 * number(random);  // a little off the constraints
    const Solvable p(s);
    const Alone sparse(p, 38);
    EXPECT_EQ(sparse.report.rank, 38u);
    std::mt19937 again(5);
    const auto exact = solved<Digits50>(Solvable(parallel(20, again)));
    EXPECT_LT(difference(sparse.x, exact.x), 1e-4);
}

// the sign of a determinant
TEST(SparseSolve, OrientationOfRowsIsThatOfTheDenseDeterminant) {
    std::mt19937 random(6);
    std::uniform_real_distribution<double> number(-1, 1);
    int turned = 0, told = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const Shape shape = k_shapes[trial % 5];
        const System s = points(shape, 12, trial % 2 == 0, random);
        const Solvable p(s);
        SparseSolver solver(p.program.solves[0]);
        std::vector<double> slots(p.program.slots, 0.0);
        std::copy(p.numbers.begin(), p.numbers.end(), slots.begin());
        SolveReport report;
        (void)solver.solve(slots.data(), report, SparseSolver::Pivoted::absent);
        const std::span<const double> now = solver.rows(slots.data());
        const std::vector<double> a(now.begin(), now.end());
        std::vector<double> b(a);
        const double change = trial % 4 == 0 ? 0.1 : 2;
        for (double& value : b) value += change * number(random);
        // lengths in the metric of M, of a diagonal M
        if (trial % 2 != 0)
            for (std::size_t r = 0; r < s.m; ++r) {
                double square = 0, expected = 0;
                for (std::size_t k = solver.row_begin()[r]; k < solver.row_begin()[r + 1]; ++k) square += a[k] * a[k];
                for (const Entry& e : s.A)
                    if (e.row == r) expected += e.value * e.value / s.M[e.column].value;
                EXPECT_NEAR(square, expected, 1e-12 * expected);
            }
        const SparseElimination& plan = *p.program.solves[0].sparse;
        Eigen::MatrixXd dense_a = Eigen::MatrixXd::Zero(static_cast<int>(s.m), static_cast<int>(s.n)), dense_b = dense_a;
        for (std::size_t r = 0; r < s.m; ++r)
            for (std::size_t k = plan.first_part[r]; k < plan.first_part[r + 1]; ++k) {
                const auto column = static_cast<int>(plan.unknown[plan.parts[k].column]);
                dense_a(static_cast<int>(r), column) = a[k];
                dense_b(static_cast<int>(r), column) = b[k];
            }
        const Eigen::MatrixXd product = dense_a * dense_b.transpose();
        const double determinant = product.fullPivLu().determinant();
        EXPECT_EQ(solver.turned_over(a, b), determinant < 0) << trial;
        (determinant < 0 ? turned : told) += 1;
    }
    EXPECT_GT(turned, 20);
    EXPECT_GT(told, 20);
}

}  // namespace
}  // namespace appell
