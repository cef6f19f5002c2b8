// Derivatives of random expressions: forward against reverse, against the complex step, against difference quotients in fifty
// digits, and along a path in time.
#include <algorithm>
#include <complex>

#include <gtest/gtest.h>

#include "expr/differentiate.hpp"
#include "expr/evaluate.hpp"
#include "support/many_digits.hpp"
#include "support/random_expressions.hpp"

namespace appell {
namespace {

using test::Digits50;
using test::RandomExpressions;

constexpr std::size_t k_symbols = 4;

std::vector<SymbolId> ids_of(const Graph& g, const std::vector<Expr>& symbols) {
    std::vector<SymbolId> ids;
    for (const Expr& s : symbols) ids.push_back(g.symbol_of(s.id));
    return ids;
}

template <class T>
T value(const Graph& g, NodeId id, const std::vector<T>& at) {
    return evaluate<T>(g, std::span(&id, 1), at).front();
}

template <class T>
std::vector<T> as(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

template <class T>
T magnitude(const T& x) {
    return x < 0 ? T(-x) : x;
}

// Both modes are the same sums in another order: fifty digits less the few lost to cancellation and to the growth of products.
TEST(derivative_property, forward_equals_reverse) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, k_symbols);
        RandomExpressions random(g, x, seed, {.piecewise = seed % 2 == 0, .opaque = seed % 3 == 0});
        std::vector<NodeId> roots;
        for (int i = 0; i < 3; ++i) roots.push_back(random.next(12).id);
        const auto variables = ids_of(g, x);
        const SparseMatrix forward = jacobian(g, roots, variables, DerivativeMode::forward);
        const SparseMatrix reverse = jacobian(g, roots, variables, DerivativeMode::reverse);
        const SparseMatrix automatic = jacobian(g, roots, variables);
        for (int trial = 0; trial < 3; ++trial) {
            const std::vector<Digits50> at = as<Digits50>(random.point(k_symbols));
            for (std::size_t row = 0; row < roots.size(); ++row)
                for (std::size_t column = 0; column < variables.size(); ++column) {
                    const auto entry = [&](const SparseMatrix& m) {
                        const NodeId id = m.find(row, column);
                        return id.valid() ? value(g, id, at) : Digits50(0);
                    };
                    const Digits50 f = entry(forward), r = entry(reverse), a = entry(automatic);
                    EXPECT_LE(magnitude<Digits50>(f - r), Digits50("1e-40") * (1 + magnitude(f)));
                    EXPECT_LE(magnitude<Digits50>(f - a), Digits50("1e-40") * (1 + magnitude(f)));
                }
        }
    }
}

// what does not depend on a column's variable is left out of its pass: the expressions are those of the whole pass
TEST(derivative_property, columns_are_derivatives_as_ids) {
    for (std::uint64_t seed = 500; seed < 540; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, k_symbols);
        std::vector<NodeId> roots{x[1].id, g.constant(2)};
        for (std::size_t i = 0; i < k_symbols; ++i) {
            RandomExpressions random(g, {x[i], x[(i + 1) % k_symbols]}, seed, {.piecewise = true, .opaque = seed % 2 == 0});
            roots.push_back(random.next(10).id);
        }
        roots.push_back(roots[3]);
        std::reverse(roots.begin(), roots.end());
        const auto variables = ids_of(g, x);
        const SparseMatrix m = jacobian(g, roots, variables, DerivativeMode::forward);
        for (std::size_t column = 0; column < variables.size(); ++column) {
            const std::vector<NodeId> expected = derivative(g, roots, variables[column]);
            for (std::size_t row = 0; row < roots.size(); ++row) {
                const NodeId found = m.find(row, column);
                EXPECT_EQ(found.valid() ? found : g.constant(0), expected[row]) << row << ", " << column;
            }
        }
    }
}

// Im f(x + ih) / h has an error of h^2: none at all for h = 1e-30. What is left is rounding, some hundreds of operations of it.
TEST(derivative_property, complex_step_of_analytic_expressions) {
    using C = std::complex<double>;
    constexpr double h = 1e-30;
    for (std::uint64_t seed = 100; seed < 140; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, k_symbols);
        RandomExpressions random(g, x, seed, {.piecewise = false, .opaque = seed % 2 == 0});
        const NodeId root = random.next(14).id;
        for (std::size_t i = 0; i < k_symbols; ++i) {
            const NodeId d = derivative(g, std::span(&root, 1), g.symbol_of(x[i].id)).front();
            const std::vector<double> at = random.point(k_symbols);
            std::vector<C> shifted(at.begin(), at.end());
            shifted[i] += C(0, h);
            const double expected = value(g, root, shifted).imag() / h;
            EXPECT_NEAR(value(g, d, at), expected, 1e-10 * (1 + std::abs(expected)));
        }
    }
}

// Right-hand quotients with h = 1e-24 have an error of h |f''| / 2, and lose 24 of 50 digits to cancellation. At random points no
// kink is within h; the left-hand quotient confirms it.
TEST(derivative_property, difference_quotients_of_piecewise_expressions) {
    const Digits50 h("1e-24");
    int compared = 0;
    for (std::uint64_t seed = 200; seed < 240; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, k_symbols);
        RandomExpressions random(g, x, seed, {.piecewise = true, .opaque = true});
        const NodeId root = random.next(14).id;
        for (std::size_t i = 0; i < k_symbols; ++i) {
            const NodeId d = derivative(g, std::span(&root, 1), g.symbol_of(x[i].id)).front();
            std::vector<Digits50> at = as<Digits50>(random.point(k_symbols));
            const Digits50 expected = value(g, d, at), middle = value(g, root, at), here = at[i];
            at[i] = here + h;
            const Digits50 right = (value(g, root, at) - middle) / h;
            at[i] = here - h;
            const Digits50 left = (middle - value(g, root, at)) / h;
            // sign and comparisons jump; a point within h of a jump would show as a huge quotient, and there is none
            const Digits50 tolerance = Digits50("1e-16") * (1 + magnitude(expected));
            EXPECT_LE(magnitude<Digits50>(right - expected), tolerance);
            EXPECT_LE(magnitude<Digits50>(left - expected), tolerance);
            ++compared;
        }
    }
    EXPECT_EQ(compared, 160);
}

// central quotients of a partial derivative give the next one; error h^2 / 6 times a third derivative below 2^3
TEST(derivative_property, opaque_partials_are_derivatives) {
    const Digits50 h("1e-15");
    const std::uint8_t lower[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 1}, {1, 3}};
    const std::vector<Digits50> at{Digits50("0.7"), Digits50("-1.3")};
    for (const auto& orders : lower)
        for (std::size_t i = 0; i < 2; ++i) {
            std::vector<std::uint8_t> base(orders, orders + 2), next = base;
            ++next[i];
            auto plus = at, minus = at;
            plus[i] += h;
            minus[i] -= h;
            const Digits50 quotient =
                (opaque_value<Digits50>("g", base, plus) - opaque_value<Digits50>("g", base, minus)) / (2 * h);
            EXPECT_LE(magnitude<Digits50>(quotient - opaque_value<Digits50>("g", next, at)), Digits50("1e-28"));
        }
}

TEST(derivative_property, mixed_partials_commute_as_ids) {
    Graph g;
    const std::vector<Expr> x = test::make_symbols(g, 3);
    const FunctionId f = g.add_opaque_function("f", {"a", "b", "c"});
    EXPECT_EQ(g.partial(g.partial(f, 0), 1), g.partial(g.partial(f, 1), 0));
    EXPECT_EQ(g.partial(g.partial(g.partial(f, 2), 0), 2), g.partial(g.partial(g.partial(f, 0), 2), 2));
    EXPECT_NE(g.partial(g.partial(f, 0), 0), g.partial(g.partial(f, 0), 1));
    EXPECT_EQ(g.function(g.partial(g.partial(f, 0), 2)).base, f);
    const NodeId arguments[] = {x[0].id, x[1].id, x[2].id};
    const NodeId call = g.call(f, arguments);
    const auto d = [&](NodeId e, int by) {
        return derivative(g, std::span(&e, 1), g.symbol_of(x[static_cast<std::size_t>(by)].id)).front();
    };
    EXPECT_EQ(d(d(call, 0), 1), d(d(call, 1), 0));
}

// second derivatives by either order agree in value for whole expressions
TEST(derivative_property, second_derivatives_commute) {
    for (std::uint64_t seed = 300; seed < 310; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, k_symbols);
        RandomExpressions random(g, x, seed, {.piecewise = false, .opaque = true});
        const NodeId root = random.next(10).id;
        const auto d = [&](NodeId e, std::size_t by) { return derivative(g, std::span(&e, 1), g.symbol_of(x[by].id)).front(); };
        const NodeId xy = d(d(root, 0), 1), yx = d(d(root, 1), 0);
        const std::vector<Digits50> at = as<Digits50>(random.point(k_symbols));
        const Digits50 a = value(g, xy, at), b = value(g, yx, at);
        EXPECT_LE(magnitude<Digits50>(a - b), Digits50("1e-38") * (1 + magnitude(a)));
    }
}

// d/dt f(q(t), u(t), t) along q = sin(t), u = t^2 + cos(2t), where u' and q' are functions of time known in closed form
TEST(derivative_property, time_derivative_along_a_path) {
    const Digits50 h("1e-15"), t0("0.83");
    for (std::uint64_t seed = 400; seed < 420; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> s = test::make_symbols(g, 5);  // t, q, u, q', u'
        TimeDerivative dt(g);
        dt.set_rate(g.symbol_of(s[0].id), g.constant(1));
        dt.set_rate(g.symbol_of(s[1].id), s[3].id);
        dt.set_rate(g.symbol_of(s[2].id), s[4].id);
        RandomExpressions random(g, {s[0], s[1], s[2]}, seed, {.piecewise = false, .opaque = true});
        const NodeId root = random.next(12).id;
        const NodeId rate = dt(root);
        const auto path = [](const Digits50& t) {
            return std::vector<Digits50>{t, sin(t), t * t + cos(2 * t), cos(t), 2 * t - 2 * sin(2 * t)};
        };
        const Digits50 quotient = (value(g, root, path(t0 + h)) - value(g, root, path(t0 - h))) / (2 * h);
        const Digits50 expected = value(g, rate, path(t0));
        // error h^2 / 6 times a third derivative, which grows with the nesting: ten digits are left for it
        EXPECT_LE(magnitude<Digits50>(quotient - expected), Digits50("1e-20") * (1 + magnitude(expected)));
    }
}

}  // namespace
}  // namespace appell
