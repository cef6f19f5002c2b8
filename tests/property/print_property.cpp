// What is printed means what was to be printed: the text of random expressions, read back by an independent reader, has their
// value, tidied or not, with and without intermediates.
#include <gtest/gtest.h>

#include "expr/differentiate.hpp"
#include "expr/print.hpp"
#include "support/many_digits.hpp"
#include "support/random_expressions.hpp"
#include "support/text_evaluator.hpp"

namespace appell {
namespace {

using test::Digits50;

// Tidying may round a merged decimal coefficient to the nearest short decimal (0.1 * 3 is printed 0.3): 1e-16 of a term. The rest
// is exact in fifty digits. Terms of the sums below are not larger than a thousand times the result.
const Digits50 k_tolerance("1e-12");

void expect_text_has_the_value(const Graph& g, const std::vector<NodeId>& roots, const std::vector<double>& at,
                               const PrintOptions& options) {
    std::map<std::string, Digits50> names;
    std::vector<Digits50> values;
    for (std::size_t i = 0; i < at.size(); ++i) {
        values.emplace_back(at[i]);
        names[g.symbol(SymbolId(i)).name] = values.back();
    }
    const std::vector<Digits50> expected = evaluate<Digits50>(g, roots, values);
    const Printed printed = print(g, roots, options);
    const std::vector<Digits50> found = test::values_of<Digits50>(printed, names);
    for (std::size_t i = 0; i < roots.size(); ++i)
        EXPECT_LE(abs(Digits50(found[i] - expected[i])), k_tolerance * (1 + abs(expected[i])))
            << printed.expressions[i] << "\n  means " << found[i] << "\n  not   " << expected[i];
}

TEST(print_property, text_has_the_value_of_the_expression) {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 4, seed % 2 == 0 ? SymbolKind::coordinate : SymbolKind::parameter);
        test::RandomExpressions random(g, x, seed, {.piecewise = seed % 3 == 0, .opaque = seed % 4 == 0});
        std::vector<NodeId> roots;
        for (int i = 0; i < 4; ++i) roots.push_back(random.next(3 + 4 * i).id);
        roots.push_back(derivative(g, std::span(&roots[1], 1), g.symbol_of(x[0].id)).front());
        const std::vector<double> at = random.point(4);
        for (const bool tidy : {false, true})
            for (const std::size_t length : {30u, 160u, 2000u}) {
                SCOPED_TRACE(testing::Message() << (tidy ? "tidy, " : "plain, ") << length);
                expect_text_has_the_value(g, roots, at, {.max_length = length, .tidy = tidy});
            }
    }
}

// polynomials and trigonometric sums, where the clean-up has most to do
TEST(print_property, clean_up_keeps_the_value) {
    for (std::uint64_t seed = 1000; seed < 1300; ++seed) {
        SCOPED_TRACE(seed);
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 3);
        std::vector<Expr> pool = x;
        for (const Expr& e : x) {
            pool.push_back(sin(e));
            pool.push_back(cos(e));
        }
        test::RandomExpressions random(g, x, seed);
        for (int i = 0; i < 25; ++i) {
            const Expr a = pool[random.pick(pool.size())], b = pool[random.pick(pool.size())];
            switch (random.pick(9)) {
                case 0:
                case 1: pool.push_back(a + b); break;
                case 2:
                case 3: pool.push_back(a - b); break;
                case 4: pool.push_back(a * b); break;
                case 5: pool.push_back(a * pool[3 + random.pick(6)] + b * pool[3 + random.pick(6)]); break;
                case 6:
                    pool.push_back(pool[3 + random.pick(6)] * pool[3 + random.pick(6)] -
                                   pool[3 + random.pick(6)] * pool[3 + random.pick(6)]);
                    break;
                case 7: pool.push_back(pow(a, 2)); break;
                default: pool.push_back(0.1 * (3 * a) - b / 3); break;
            }
        }
        std::vector<NodeId> roots;
        for (std::size_t i = pool.size() - 5; i < pool.size(); ++i) roots.push_back(pool[i].id);
        expect_text_has_the_value(g, roots, random.point(3), {});
        expect_text_has_the_value(g, roots, random.point(3), {.max_length = 60});
    }
}

// the same names in both notations, and the same bytes every time
TEST(print_property, notations_agree_on_intermediates) {
    for (std::uint64_t seed = 2000; seed < 2020; ++seed) {
        Graph g;
        const std::vector<Expr> x = test::make_symbols(g, 4);
        test::RandomExpressions random(g, x, seed, {.piecewise = true, .opaque = true});
        const std::vector<NodeId> roots{random.next(20).id, random.next(30).id};
        for (const bool tidy : {false, true}) {
            const PrintOptions text{.max_length = 60, .tidy = tidy};
            const PrintOptions latex{.notation = Notation::latex, .max_length = 60, .tidy = tidy};
            const Printed a = print(g, roots, text), b = print(g, roots, latex), again = print(g, roots, text);
            EXPECT_EQ(a.definitions.size(), b.definitions.size());
            EXPECT_EQ(a.definitions, again.definitions);
            EXPECT_EQ(a.expressions, again.expressions);
        }
    }
}

}  // namespace
}  // namespace appell
