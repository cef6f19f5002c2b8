// All roots of random functions whose roots are known, in their order, in both directions; double roots, and pairs that are
// close.
#include "sim/crossing_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "expr/graph.hpp"
#include "support/members.hpp"
#include "tape/enclosure.hpp"
#include "tape/workspace.hpp"

namespace appell {
namespace {

// expressions of s, enclosed as programs
class Functions final : public EnclosedFunctions {
public:
    using Make = std::function<std::vector<NodeId>(Graph&, NodeId)>;
    explicit Functions(const Make& make) {
        const SymbolId s = graph_.add_symbol("s", SymbolKind::other);
        program_ = lower_program(graph_, {{s}, {}, {{"v", make(graph_, graph_.symbol_node(s))}}});
        work_.emplace(program_);
        enclosure_.emplace(program_);
    }
    [[nodiscard]] std::size_t size() const { return program_.output_slots.size(); }
    [[nodiscard]] std::span<const double> evaluate(double s) override {
        work_->inputs()[0] = s;
        (void)work_->run();
        ++evaluations;
        return work_->outputs();
    }
    [[nodiscard]] std::span<const MovingInterval> enclose(double a, double b) override {
        enclosure_->set(0, {Interval(a, b), Interval(1)});
        enclosure_->run();
        return enclosure_->outputs();
    }
    std::size_t evaluations = 0;

private:
    Graph graph_;
    Program program_;
    std::optional<Workspace<double>> work_;
    std::optional<Enclosure> enclosure_;
};

struct Found {
    std::vector<double> roots, touches;
};

// of the first function: one search after the other, each from the crossing before
Found find_all(Functions& functions, double begin, double end, double noise = 1e-14) {
    CrossingSearch search(functions.size());
    Found out;
    int side = functions.evaluate(begin)[0] > 0 ? 1 : -1;
    for (double from = begin; from < end;) {
        std::vector<Crossing> crossings(functions.size());
        crossings[0] = {.side = side, .noise = noise, .band = noise};
        EXPECT_TRUE(search.run(functions, from, end, crossings));
        if (!std::isnan(crossings[0].grazes) && !(crossings[0].grazes > crossings[0].at))
            out.touches.push_back(crossings[0].grazes);
        if (std::isnan(crossings[0].at)) break;
        out.roots.push_back(crossings[0].at);
        from = crossings[0].at;
        side = -side;
    }
    return out;
}

void expect_roots(const std::vector<double>& found, std::vector<double> expected, double tolerance, std::uint64_t seed) {
    std::ranges::sort(expected);
    ASSERT_EQ(found.size(), expected.size()) << seed;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << seed;
}

TEST(CrossingSearch, FindsTheRootsOfPolynomials) {
    for (std::uint64_t seed = 1; seed <= members(); ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> place(-1, 1), gap(-3, 0);
        std::vector<double> roots;
        const std::size_t n = 1 + seed % 8;
        for (std::size_t i = 0; i < n; ++i)  // some of them close to the one before
            roots.push_back(i % 3 == 2 ? roots.back() + std::pow(10, gap(random)) : place(random));
        Functions functions([&](Graph& g, NodeId s) {
            NodeId product = g.constant(1);
            for (const double r : roots) product = g.mul(product, g.sub(s, g.constant(r)));
            return std::vector{product};
        });
        std::vector<double> inside;
        std::ranges::copy_if(roots, std::back_inserter(inside), [](double r) { return r > -1.5 && r < 1; });
        expect_roots(find_all(functions, -1.5, 1).roots, inside, 1e-9, seed);
    }
}

TEST(CrossingSearch, FindsTheRootsOfSumsAndProductsOfWaves) {
    constexpr double pi = std::numbers::pi;
    const auto roots_of = [](double w, double phase, double from, double to) {  // of sin(w s + phase)
        std::vector<double> out;
        for (double k = std::ceil((w * from + phase) / pi); k * pi < w * to + phase; ++k) out.push_back((k * pi - phase) / w);
        return out;
    };
    for (std::uint64_t seed = 1; seed <= members(); ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> speed(1, 200), phase(0.1, 3);
        const double a = speed(random), b = speed(random), p = phase(random), q = phase(random);
        std::vector<double> expected;
        Functions functions([&](Graph& g, NodeId s) {
            const auto wave = [&](double w, double shift) { return g.add(g.mul(g.constant(w), s), g.constant(shift)); };
            if (seed % 3 == 0) {
                expected = roots_of(a, p, 0, 1);
                return std::vector{g.make(Op::Sin, wave(a, p))};
            }
            // sin u + sin v = 2 sin((u + v)/2) cos((u - v)/2)
            expected = roots_of((a + b) / 2, (p + q) / 2, 0, 1);
            const std::vector<double> more = roots_of(std::abs(a - b) / 2, (a > b ? p - q : q - p) / 2 + pi / 2, 0, 1);
            expected.insert(expected.end(), more.begin(), more.end());
            if (seed % 3 == 1) return std::vector{g.add(g.make(Op::Sin, wave(a, p)), g.make(Op::Sin, wave(b, q)))};
            const NodeId first = g.make(Op::Sin, wave((a + b) / 2, (p + q) / 2));
            return std::vector{g.mul(first, g.make(Op::Cos, wave((a - b) / 2, (p - q) / 2)))};
        });
        expect_roots(find_all(functions, 0, 1).roots, expected, 1e-9, seed);
    }
}

TEST(CrossingSearch, TellsDoubleRootsFromPairs) {
    for (std::uint64_t seed = 1; seed <= members(); ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> place(-0.9, 0.9), power(-5, -1);
        const double r = place(random), d = std::pow(10, power(random)), sign = seed % 2 == 0 ? 1 : -1;
        const auto parabola = [&](double c) {
            return Functions([&](Graph& g, NodeId s) {
                return std::vector{g.mul(g.constant(sign), g.sub(g.pow(g.sub(s, g.constant(r)), 2), g.constant(c)))};
            });
        };
        Functions touching = parabola(0), crossing = parabola(d * d), clear = parabola(-d * d);
        const Found touch = find_all(touching, -1, 1);
        EXPECT_TRUE(touch.roots.empty()) << seed;
        EXPECT_LT(touching.evaluations, 1000u);
        expect_roots(find_all(crossing, -1, 1).roots, {r - d, r + d}, 1e-9, seed);
        const Found none = find_all(clear, -1, 1);
        EXPECT_TRUE(none.roots.empty()) << seed;
    }
}

// several functions at once: the first crossing of any of them, whichever it is
TEST(CrossingSearch, FindsTheFirstOfSeveral) {
    for (std::uint64_t seed = 1; seed <= members(); ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> place(-0.9, 2);
        std::vector<double> roots;
        for (int i = 0; i < 5; ++i) roots.push_back(place(random));
        Functions functions([&](Graph& g, NodeId s) {
            std::vector<NodeId> out;
            for (const double r : roots) out.push_back(g.make(Op::Sinh, g.sub(s, g.constant(r))));
            return out;
        });
        std::vector<Crossing> crossings(5, {.side = -1, .noise = 1e-14, .band = 1e-14});
        CrossingSearch search(5);
        ASSERT_TRUE(search.run(functions, -1, 1, crossings));
        const auto first = static_cast<std::size_t>(std::ranges::min_element(roots) - roots.begin());
        if (roots[first] > 1) {
            for (const Crossing& c : crossings) EXPECT_TRUE(std::isnan(c.at)) << seed;
            continue;
        }
        EXPECT_NEAR(crossings[first].at, roots[first], 1e-12) << seed;
        for (const Crossing& c : crossings) EXPECT_FALSE(c.at < crossings[first].at) << seed;
    }
}

// on zero at the start: it has no side until it has left, and that is no crossing unless it is asked for
TEST(CrossingSearch, LeavesZeroWithoutCrossingIt) {
    Functions functions([](Graph& g, NodeId s) { return std::vector{g.mul(s, g.sub(s, g.constant(0.5)))}; });
    CrossingSearch search(1);
    std::vector<Crossing> crossings(1, {.side = 0, .noise = 1e-14, .band = 1e-14});
    ASSERT_TRUE(search.run(functions, 0, 1, crossings));
    EXPECT_NEAR(crossings[0].at, 0.5, 1e-12);
    crossings[0] = {.side = 0, .noise = 1e-14, .band = 1e-14, .leaves = true};
    ASSERT_TRUE(search.run(functions, 0, 1, crossings));
    EXPECT_NEAR(crossings[0].at, 0, 1e-12);
}

}  // namespace
}  // namespace appell
