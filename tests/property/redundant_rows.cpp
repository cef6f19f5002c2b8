// Rows that follow from others change nothing but the multipliers, whatever their scales: solves of random systems against least
// norms with three hundred digits, and models of the gallery with rows planted in their text (copied, scaled, summed, multiplied
// by functions of the state) against the models as they are, in every formulation.
#include <gtest/gtest.h>

#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "expr/graph.hpp"
#include "support/gallery_run.hpp"
#include "support/many_digits.hpp"
#include "support/members.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<300>, boost::multiprecision::et_off>;

class Random {
public:
    explicit Random(std::size_t seed) : engine_(seed) {}
    double between(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine_); }
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }
    bool chance(double part) { return between(0, 1) < part; }

private:
    std::mt19937_64 engine_;
};

template <class T>
struct Matrix {
    std::size_t rows, columns;
    std::vector<T> values = std::vector<T>(rows * columns, T(0));

    T& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    const T& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

// by elimination with complete pivoting
std::vector<Wide> solved(Matrix<Wide> a, std::vector<Wide> b) {
    const std::size_t n = b.size();
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = k, column = k;
        for (std::size_t i = k; i < n; ++i)
            for (std::size_t j = k; j < n; ++j)
                if (abs(a(i, j)) > abs(a(row, column))) row = i, column = j;
        for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(row, j));
        std::swap(b[k], b[row]);
        for (std::size_t i = 0; i < n; ++i) std::swap(a(i, k), a(i, column));
        std::swap(order[k], order[column]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Wide factor = a(i, k) / a(k, k);
            for (std::size_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
            b[i] -= factor * b[k];
        }
    }
    std::vector<Wide> out(n);
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a(k, j) * b[j];
        b[k] /= a(k, k);
        out[order[k]] = b[k];
    }
    return out;
}

// With rows A = C B, B independent:  A' lambda = B' mu  where  C' lambda = mu, and the least norm is  C (C'C)^-1 mu.
std::vector<Wide> least_norm(const Matrix<Wide>& C, const std::vector<Wide>& mu) {
    const std::size_t m = C.rows, r = C.columns;
    Matrix<Wide> square{r, r};
    for (std::size_t i = 0; i < r; ++i)
        for (std::size_t j = 0; j < r; ++j)
            for (std::size_t s = 0; s < m; ++s) square(i, j) += C(s, i) * C(s, j);
    const std::vector<Wide> nu = solved(std::move(square), mu);
    std::vector<Wide> out(m, Wide(0));
    for (std::size_t s = 0; s < m; ++s)
        for (std::size_t k = 0; k < r; ++k) out[s] += C(s, k) * nu[k];
    return out;
}

// ---------------------------------------------------------------- solves

// M x - B' mu = f, B x = beta, with rows A = C B in place of B. Entries of B and of C, but for the scales of C, are small
// integers over eight and scales are powers of two, so that the rows depend on each other in doubles as well, to the last bit.
struct Planted {
    Matrix<double> M, B, C, A;
    std::vector<double> f, b, sizes;

    Planted(Random& random, bool singular_mass, double decades) : M{3 + random.below(4), 0}, B{0, 0}, C{0, 0}, A{0, 0} {
        const std::size_t n = M.rows, r = 1 + random.below(3), m = r + 1 + random.below(4);
        M = {n, n};
        const auto coarse = [&] { return std::round(random.between(-8, 8)) / 8; };
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) M(i, j) = M(j, i) = i == j ? random.between(3, 6) : random.between(-0.5, 0.5);
        if (singular_mass)  // a speed without inertia, which the first row binds
            for (std::size_t j = 0; j < n; ++j) M(0, j) = M(j, 0) = 0;
        B = {r, n};
        for (double& value : B.values) value = random.chance(0.3) ? 0 : coarse();
        for (std::size_t k = 0; k < r; ++k) B(k, k) = 1 + static_cast<double>(k);  // far enough from dependent
        C = {m, r};
        for (std::size_t s = 0; s < m; ++s) {
            if (s < r) {
                C(s, s) = 1;
            } else if (random.chance(0.4)) {  // a copy
                C(s, random.below(r)) = 1;
            } else {  // a sum
                for (std::size_t k = 0; k < r; ++k) C(s, k) = coarse();
                C(s, random.below(r)) = 1;
            }
            const double scale = std::exp2(std::round(random.between(-decades, decades) * std::log2(10.0)));
            for (std::size_t k = 0; k < r; ++k) C(s, k) *= scale;
            sizes.push_back(scale);
        }
        A = {m, n};
        for (std::size_t s = 0; s < m; ++s)
            for (std::size_t k = 0; k < r; ++k)
                for (std::size_t j = 0; j < n; ++j) A(s, j) += C(s, k) * B(k, j);
        std::vector<double> beta(r);
        for (double& value : beta) value = coarse();
        b.assign(m, 0);
        for (std::size_t s = 0; s < m; ++s)
            for (std::size_t k = 0; k < r; ++k) b[s] += C(s, k) * beta[k];
        for (std::size_t i = 0; i < n; ++i) f.push_back(random.between(-2, 2));
        right = beta;
    }

    std::vector<double> right;  // of B

    struct Reference {
        std::vector<Wide> x, lambda;
        Wide force;  // the largest along a row of B
    };
    [[nodiscard]] Reference reference() const {
        const std::size_t n = M.rows, r = B.rows;
        Matrix<Wide> K{n + r, n + r};
        std::vector<Wide> g(n + r);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) K(i, j) = M(i, j);
            for (std::size_t k = 0; k < r; ++k) {
                K(i, n + k) = -Wide(B(k, i));
                K(n + k, i) = B(k, i);
            }
            g[i] = f[i];
        }
        for (std::size_t k = 0; k < r; ++k) g[n + k] = right[k];
        const std::vector<Wide> all = solved(std::move(K), std::move(g));
        Matrix<Wide> wide{C.rows, r};
        for (std::size_t i = 0; i < C.values.size(); ++i) wide.values[i] = C.values[i];
        const std::vector<Wide> mu(all.begin() + static_cast<std::ptrdiff_t>(n), all.end());
        Reference out{{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)}, least_norm(wide, mu), Wide(0)};
        for (const Wide& value : mu) out.force = std::max(out.force, Wide(abs(value)));
        return out;
    }
};

struct Solution {
    EvalReport report;
    std::vector<Wide> x, lambda;
};

template <class T>
Solution solved_as(const Planted& p, SolveKind kind) {
    Graph g;
    ProgramSpec spec;
    ConstrainedSolve solve;
    solve.kind = kind;
    std::vector<double> numbers;
    const auto symbol = [&](double value) {
        spec.inputs.push_back(g.add_symbol("number", SymbolKind::other));
        numbers.push_back(value);
        return g.symbol_node(spec.inputs.back());
    };
    const auto n = static_cast<std::uint32_t>(p.M.rows), m = static_cast<std::uint32_t>(p.A.rows);
    solve.M = {n, n, {}};
    solve.A = {m, n, {}};
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j <= i; ++j)
            if (p.M(i, j) != 0) solve.M.entries.push_back({i, j, symbol(p.M(i, j))});
    for (std::uint32_t i = 0; i < m; ++i)
        for (std::uint32_t j = 0; j < n; ++j) solve.A.entries.push_back({i, j, symbol(p.A(i, j))});
    for (const double value : p.f) solve.f.push_back(symbol(value));
    for (const double value : p.b) solve.b.push_back(symbol(value));
    for (const double value : p.sizes) solve.b.push_back(symbol(value));
    OutputGroup x{"x", {}}, lambda{"lambda", {}};
    const auto unknown = [&](std::vector<SymbolId>& symbols, OutputGroup& group) {
        symbols.push_back(g.add_symbol(group.name, SymbolKind::other));
        group.values.push_back(g.symbol_node(symbols.back()));
    };
    for (std::size_t i = 0; i < n; ++i) unknown(solve.x, x);
    for (std::size_t i = 0; i < m; ++i) unknown(solve.lambda, lambda);
    spec.solves.push_back(std::move(solve));
    spec.outputs = {x, lambda};
    const Program program = lower_program(g, spec);
    Workspace<T> w(program);
    for (std::size_t i = 0; i < numbers.size(); ++i) w.inputs()[i] = T(numbers[i]);
    Solution out;
    out.report = w.run();
    for (const T& v : w.output("x")) out.x.emplace_back(real_part(v));
    for (const T& v : w.output("lambda")) out.lambda.emplace_back(real_part(v));
    return out;
}

// largest errors: of x against its size, of lambda against its norm, of the force of each row against the largest force
struct Errors {
    double x = 0, norm = 0, share = 0;
};
Errors errors(const Planted& p, const Planted::Reference& reference, const Solution& found) {
    Wide size(0), wrong(0), longest(0), off(0), share(0);
    for (std::size_t i = 0; i < reference.x.size(); ++i) {
        size = std::max(size, Wide(abs(reference.x[i])));
        wrong = std::max(wrong, Wide(abs(found.x[i] - reference.x[i])));
    }
    for (std::size_t s = 0; s < reference.lambda.size(); ++s) {
        const Wide error = abs(found.lambda[s] - reference.lambda[s]);
        longest = std::max(longest, Wide(abs(reference.lambda[s])));
        off = std::max(off, error);
        share = std::max(share, Wide(error * p.sizes[s]));
    }
    return {static_cast<double>(wrong / (size + 1)), static_cast<double>(off / longest),
            static_cast<double>(share / reference.force)};
}

const std::vector<SolveKind> k_kinds{SolveKind::multipliers, SolveKind::minimal, SolveKind::nonminimal, SolveKind::udwadia_kalaba,
                                     SolveKind::ukp};

TEST(PlantedRows, HaveTheLeastNormOfTheRowsAsWritten) {
    Errors worst;
    for (std::size_t seed = 0; seed < members(); ++seed) {
        Random random(seed);
        const bool singular = seed % 5 == 4;
        const Planted planted(random, singular, seed % 3 == 0 ? 12 : 8);
        const Planted::Reference reference = planted.reference();
        const SolveKind kind = singular ? k_kinds[random.below(3)] : k_kinds[seed % k_kinds.size()];
        SCOPED_TRACE(fmt::format("member {}, kind {}", seed, static_cast<int>(kind)));
        const Solution found = solved_as<double>(planted, kind);
        EXPECT_EQ(found.report.status, EvalStatus::ok);
        EXPECT_EQ(found.report.rank, planted.B.rows);
        const Errors e = errors(planted, reference, found);
        EXPECT_LT(e.x, 1e-11);
        EXPECT_LT(e.norm, 1e-10);
        EXPECT_LT(e.share, 1e-10);
        worst = {std::max(worst.x, e.x), std::max(worst.norm, e.norm), std::max(worst.share, e.share)};
    }
    RecordProperty("worst_x", fmt::format("{:.2g}", worst.x));
    RecordProperty("worst_norm", fmt::format("{:.2g}", worst.norm));
    RecordProperty("worst_share", fmt::format("{:.2g}", worst.share));
}

TEST(PlantedRows, AreSolvedAlikeInOtherNumbers) {
    for (std::size_t seed = 0; seed < members(40); ++seed) {
        Random random(seed);
        const Planted planted(random, seed % 5 == 4, 12);
        const Planted::Reference reference = planted.reference();
        SCOPED_TRACE(seed);
        const Errors wide = errors(planted, reference, solved_as<test::Digits50>(planted, SolveKind::multipliers));
        EXPECT_LT(wide.x, 1e-40);
        EXPECT_LT(wide.norm, 1e-38);
        EXPECT_LT(wide.share, 1e-38);
        const Errors complex = errors(planted, reference, solved_as<std::complex<double>>(planted, SolveKind::multipliers));
        EXPECT_LT(complex.x, 1e-11);
        EXPECT_LT(complex.norm, 1e-10);
        EXPECT_LT(complex.share, 1e-10);
    }
}

// ---------------------------------------------------------------- models

// an equation of a model as it is written there, the multiplier it has, and what a function of the state may be made of
struct Equation {
    std::string left, right, multiplier;
};
struct Host {
    std::string model;
    std::vector<Equation> equations;
    std::string pure;  // a pure number that changes along the motion
    bool sums = true;  // the equations have one dimension
};

std::vector<Host> hosts() {
    const std::string zero = "0";
    return {
        {"perpendicular_pucks", {{"dot(vel(P1), vel(P2))", zero, "perpendicular"}}, "x1/(1 m)"},
        {"appells_particle", {{"dot(vel(P), N.z)", "a*sqrt(dot(vel(P), N.x)^2 + dot(vel(P), N.y)^2)", "slope"}}, "x/(1 m)"},
        {"appell_hamel_linear", {{"dot(pos(P), N.z) + b*phi", "z0", "thread"}}, "phi"},
        {"appell_hamel_nonlinear",
         {{"-dot(vel(Wo), H.y)", zero, "edge"}, {"dot(pos(P), N.z) + b*phi", "z0", "thread"}},
         "phi",
         false},
        {"chaplygin_sleigh", {{"dot(vel(A), B.y)", zero, "blade"}}, "theta"},
        {"constant_speed", {{"mag(vel(P))", "v0", "cruise"}}, "x/(1 m)"},
        {"equal_speed_pucks", {{"(dot(vel(P2), vel(P2)) - dot(vel(P1), vel(P1)))/2", zero, "alike"}}, "x1/(1 m)"},
        {"fork_perpendicular",
         {{"dot(vel(P1), B.x)", zero, "blade_1"}, {"dot(vel(P1), vel(P2))", zero, "perpendicular"}},
         "theta",
         false},
        {"fork_two_blades", {{"dot(vel(P1), B.x)", zero, "blade_1"}, {"dot(vel(P2), B.y)", zero, "blade_2"}}, "theta"},
        {"foucault_pendulum", {{"(dot(pos(P), pos(P)) - l^2)/2", zero, "wire"}}, "x/(1 m)"},
        {"normals_through_bead", {{"dot(vel(P1), P1 - C)", zero, "first"}, {"dot(vel(P2), P2 - C)", zero, "second"}}, "x1/(1 m)"},
        {"parallel_pucks", {{"dot(vel(P2), cross(N.z, vel(P1)))", zero, "alike"}}, "x1/(1 m)"},
        {"perpendicular_triangle",
         {{"dot(vel(P1), vel(P2))", zero, "first"},
          {"dot(vel(P2), vel(P3))", zero, "second"},
          {"dot(vel(P3), vel(P1))", zero, "closure"}},
         "x1/(1 m)"},
        {"rolling_disk",
         {{"dot(vel(D at P), N.x)", zero, "rolling_contact, x"}, {"dot(vel(D at P), N.y)", zero, "rolling_contact, y"}},
         "yaw"},
        {"rolling_ball", {{"dot(vel(B at P), N.x)", zero, "rolls, x"}, {"dot(vel(B at P), N.y)", zero, "rolls, y"}}, "x/(1 m)"},
        {"chaplygin_carriage", {{"dot(vel(W at A), N.x)", zero, "roll, x"}, {"dot(vel(W at A), N.y)", zero, "roll, y"}}, "theta"},
        {"rod_blade_across", {{"dot(vel(M), R.x)", zero, "blade"}}, "q3"},
        {"skate", {{"dot(vel(S_o), B.y)", zero, "blade"}}, "theta"},
        {"slider_crank", {{"dot(pos(Q), N.y)", zero, "cylinder"}}, "t/(1 s)"},
        {"snakeboard", {{"dot(vel(P), F.y)", zero, "front_wheels"}, {"dot(vel(Q), W.y)", zero, "back_wheels"}}, "theta"},
        {"two_points_rod_across",
         {{"dot(P1 - P2, P1 - P2)", "l^2", "distance"}, {"dot(vel(B), P1 - P2)", zero, "across"}},
         "x1/(1 m)",
         false},
        {"weighted_speed",
         {{"a*dot(vel(P), N.x)^2 + b*dot(vel(P), N.y)^2 + c*dot(vel(P), N.z)^2", "C^2", "weighted"}},
         "x/(1 m)"},
    };
}

// rows planted behind the equations of a host, and their coefficients as outputs
struct Planting {
    std::string text;
    std::size_t count = 0;

    Planting(const Host& host, Random& random) : count(1 + random.below(3)) {
        const std::size_t equations = host.equations.size();
        for (std::size_t s = 0; s < count; ++s) {
            std::vector<std::string> factors(equations, "0");
            // of a sum whose parts are further apart than numbers have digits the smaller part is nothing
            const double common = std::pow(10.0, random.between(-8, 8));
            const auto factor = [&] {
                const double scale = common * std::pow(10.0, random.between(-2, 2)) * (random.chance(0.5) ? 1 : -1);
                if (random.chance(0.4)) return fmt::format("{}*(2 + sin({}))", scale, host.pure);
                return fmt::format("{}", random.chance(0.3) ? common : scale);
            };
            if (host.sums && equations > 1 && random.chance(0.5))
                for (std::string& each : factors) each = factor();
            else
                factors[random.below(equations)] = factor();
            std::string left, right;
            for (std::size_t k = 0; k < equations; ++k) {
                text += fmt::format("output c{}{} = {}\n", s, k, factors[k] == "0" ? "0*(" + host.pure + ")" : factors[k]);
                if (factors[k] == "0") continue;
                const auto times = [&](const std::string& side) { return fmt::format("({})*({})", factors[k], side); };
                left += (left.empty() ? "" : " + ") + times(host.equations[k].left);
                if (host.equations[k].right != "0") right += (right.empty() ? "" : " + ") + times(host.equations[k].right);
            }
            text += fmt::format("constraint planted{}: {} = {}\n", s, left, right.empty() ? "0" : right);
        }
    }

    [[nodiscard]] Matrix<Wide> coefficients(const Host& host, const TextRun& r, std::size_t row) const {
        const std::size_t equations = host.equations.size();
        Matrix<Wide> C{equations + count, equations};
        for (std::size_t k = 0; k < equations; ++k) {
            C(k, k) = 1;
            for (std::size_t s = 0; s < count; ++s) C(equations + s, k) = r.at(row, fmt::format("c{}{}", s, k));
        }
        return C;
    }
};

RunOptions briefly(const std::string& formulation) {
    RunOptions options;
    options.formulation = formulation;
    options.until = 0.4;
    options.every = 0.2;
    options.rtol = options.atol = 1e-10;
    return options;
}

// multipliers of the planted model in a row of its run against the least norm of those the host has; the largest error against
// the norm, and of a row's force against the largest of a row, which may be many times that of all together
std::pair<double, double> multiplier_errors(const Host& host, const Planting& planting, const TextRun& plain, const TextRun& r,
                                            std::size_t row) {
    std::vector<Wide> mu;
    Wide force(0), norm(0), off(0), share(0);
    for (const Equation& e : host.equations) {
        mu.emplace_back(plain.at(row, "lambda(" + e.multiplier + ")"));
        force = std::max(force, Wide(abs(mu.back())));
    }
    const Matrix<Wide> C = planting.coefficients(host, r, row);
    const std::vector<Wide> reference = least_norm(C, mu);
    for (std::size_t s = 0; s < reference.size(); ++s) {
        const std::string name =
            s < host.equations.size() ? host.equations[s].multiplier : fmt::format("planted{}", s - host.equations.size());
        const Wide error = abs(r.at(row, "lambda(" + name + ")") - reference[s]);
        Wide length(0);
        for (std::size_t k = 0; k < C.columns; ++k) length = std::max(length, Wide(abs(C(s, k))));
        norm = std::max(norm, Wide(abs(reference[s])));
        force = std::max(force, Wide(abs(reference[s]) * length));
        off = std::max(off, error);
        share = std::max(share, Wide(error * length));
    }
    return {static_cast<double>(off / (norm + Wide(1e-300))), static_cast<double>(share / (force + Wide(1e-6)))};
}

TEST(PlantedRows, ChangeNothingButTheMultipliersOfModels) {
    const std::vector<Host> all = hosts();
    double worst_norm = 0, worst_share = 0, worst_motion = 0;
    for (std::size_t seed = 0; seed < members(); ++seed) {
        Random random(seed);
        const Host& host = all[seed % all.size()];
        const Planting planting(host, random);
        std::vector<std::string> formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell"};
        const std::string formulation = formulations[(seed / all.size() + seed) % formulations.size()];
        SCOPED_TRACE(fmt::format("member {}: {} by {} with\n{}", seed, host.model, formulation, planting.text));
        const std::string text = gallery_text(host.model);
        const TextRun plain = run_text(text, briefly("multipliers"));
        const TextRun r = run_text(text + "\n" + planting.text, briefly(formulation));
        EXPECT_EQ(r.run.rows(), plain.run.rows());
        if (r.run.rows() == 0 || r.run.rows() != plain.run.rows()) continue;
        const std::size_t last = r.run.rows() - 1;
        for (std::size_t j = 1; j < plain.run.columns.size() && plain.run.columns[j].rfind("lambda", 0) != 0; ++j) {
            const std::string& column = plain.run.columns[j];
            const double expected = plain.at(last, column), error = std::abs(r.at(last, column) - expected);
            EXPECT_LT(error, 1e-6 * std::max(1.0, std::abs(expected))) << column;
            worst_motion = std::max(worst_motion, error / std::max(1.0, std::abs(expected)));
        }
        // the state at the start is the same but for round-off; later ones differ by the tolerance
        for (const auto& [row, bar] : {std::pair{std::size_t{0}, 1e-9}, std::pair{last, 1e-6}}) {
            const auto [norm, share] = multiplier_errors(host, planting, plain, r, row);
            EXPECT_LT(norm, bar) << "row " << row;
            EXPECT_LT(share, bar) << "row " << row;
            if (row == 0) worst_norm = std::max(worst_norm, norm), worst_share = std::max(worst_share, share);
        }
    }
    RecordProperty("worst_norm", fmt::format("{:.2g}", worst_norm));
    RecordProperty("worst_share", fmt::format("{:.2g}", worst_share));
    RecordProperty("worst_motion", fmt::format("{:.2g}", worst_motion));
}

// ---------------------------------------------------------------- scales

// A particle on a sphere and on a slope, one row on positions and one on velocities, started beside both; and a third that
// follows from the slope. Every row times a scale of its own.
std::string scaled_model(const std::array<double, 3>& scales, bool redundant) {
    std::string out =
        "system scaled\nparam l = 1 m\ncoord x = 0.61 m, y = 0.31 m, z = -0.7 m\n"
        "particle P mass 2 kg at O + x*N.x + y*N.y + z*N.z\n"
        "gravity -9.81*N.z\nstart x' = 0.5 m/s, y' = 0.4 m/s\n"
        "run for 0.5 s, every 0.25 s, rtol 1e-10, atol 1e-10\n";
    out += fmt::format("constraint sphere: ({})*(dot(pos(P), pos(P)) - l^2)/2 = 0\n", scales[0]);
    out += fmt::format("constraint slope: ({})*(dot(vel(P), N.x) - 2*dot(vel(P), N.y)) = 0\n", scales[1]);
    if (redundant) out += fmt::format("constraint again: ({})*(dot(vel(P), 3*N.x) - 6*dot(vel(P), N.y)) = 0\n", scales[2]);
    return out;
}

TEST(ScaledRows, MoveAlikeAndShareTheirForcesByTheirScales) {
    const TextRun plain = run_text(scaled_model({1, 1, 1}, false));
    const std::vector<std::string> formulations{"multipliers", "minimal",      "nonminimal", "udwadia-kalaba",
                                                "ukp",         "gibbs-appell", "voronec"};
    const std::vector<std::string> integrators{"dopri5", "dop853", "cvode", "arkode", "ida"};
    for (std::size_t seed = 0; seed < members(); ++seed) {
        Random random(seed);
        std::array<double, 3> scales{};
        for (double& scale : scales) scale = std::pow(10.0, random.between(-12, 12)) * (random.chance(0.5) ? 1 : -1);
        const bool redundant = seed % 2 == 1;
        RunOptions options;
        options.formulation = formulations[seed % formulations.size()];
        const bool any_integrator = *options.formulation == "multipliers";
        if (any_integrator) options.integrator = integrators[random.below(integrators.size())];
        options.native = random.chance(0.5);
        SCOPED_TRACE(
            fmt::format("member {} by {}: scales {} {} {}", seed, *options.formulation, scales[0], scales[1], scales[2]));
        const TextRun r = run_text(scaled_model(scales, redundant), options);
        EXPECT_EQ(r.run.rows(), plain.run.rows());
        if (r.run.rows() != plain.run.rows()) continue;
        for (const std::size_t row : {std::size_t{0}, r.run.rows() - 1}) {
            const double bar = row == 0 ? 1e-11 : 1e-6;
            for (const char* column : {"x", "y", "z", "x'", "y'", "z'"})
                EXPECT_NEAR(r.at(row, column), plain.at(row, column), bar) << "row " << row << " " << column;
            const auto force = [&](const TextRun& of, const char* name, double scale) {
                return of.at(row, fmt::format("lambda({})", name)) * scale;
            };
            const double sphere = plain.at(row, "lambda(sphere)"), slope = plain.at(row, "lambda(slope)");
            EXPECT_NEAR(force(r, "sphere", scales[0]), sphere, 10 * bar * std::max(1.0, std::abs(sphere)));
            // the least norm gives each of two rows that say the same a share like the square of its scale
            const double own = scales[1] * scales[1], other = redundant ? 9 * scales[2] * scales[2] : 0;
            EXPECT_NEAR(force(r, "slope", scales[1]), slope * own / (own + other), 10 * bar * std::max(1.0, std::abs(slope)));
            if (redundant) {
                EXPECT_NEAR(force(r, "again", 3 * scales[2]), slope * other / (own + other),
                            10 * bar * std::max(1.0, std::abs(slope)));
            }
        }
    }
}

}  // namespace
}  // namespace appell
