// Redundant and contradictory rows are found, with the combination, and what they leave of the constraint forces.
#include "doctor/redundancy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "expr/print.hpp"
#include "support/doctor_look.hpp"

namespace appell {
namespace {

using Names = std::set<std::string>;

struct Found {
    DoctorLook look;
    Redundancy redundancy;

    explicit Found(const std::string& text, ReadOptions options = {})
        : look(doctor_look(text, std::move(options))), redundancy(find_redundancy(look.dynamics(), look.samples)) {}
    [[nodiscard]] std::string sentences() const { return fmt::format("{}", fmt::join(redundancy.sentences, "\n")); }
    [[nodiscard]] bool says(const std::string& sentence) const {
        return std::find(redundancy.sentences.begin(), redundancy.sentences.end(), sentence) != redundancy.sentences.end();
    }
    [[nodiscard]] Names names(const std::vector<std::size_t>& rows) const {
        Names out;
        for (const std::size_t i : rows) out.insert(look.dynamics().rows[i].name);
        return out;
    }
    [[nodiscard]] bool determinate(const std::string& place) const {
        for (const DeterminateForce& f : redundancy.forces)
            if (f.place == place) return f.determinate;
        ADD_FAILURE() << "no force on " << place;
        return false;
    }
};

ReadOptions size(int n) {
    ReadOptions out;
    out.set["n"] = n;
    return out;
}

TEST(Redundancy, FiveRowsOfRankTwo) {  // U4, 001 secs. 2 and 3
    const Found f(gallery_text("redundant_constraints"));
    EXPECT_EQ(f.redundancy.rank, 2u);
    EXPECT_EQ(f.redundancy.rank_at_start, 2u);
    EXPECT_TRUE(f.says("row double is redundant: double = 2*path")) << f.sentences();
    EXPECT_TRUE(f.says("row both is redundant: both = path + lift"));
    EXPECT_TRUE(f.says("row tilted is redundant: tilted = z*path - y*lift"));
    EXPECT_EQ(f.redundancy.indeterminate.size(), 5u);
    EXPECT_TRUE(f.determinate("P"));  // A' lambda is the force itself here
    EXPECT_TRUE(f.redundancy.contradictory.empty());
}

TEST(Redundancy, PursuitOnASurface) {  // T5, 002 example 9: the surface follows from the direction
    const Found f(gallery_text("pursuit_surface"));
    EXPECT_EQ(f.redundancy.rows, 4u);
    EXPECT_EQ(f.redundancy.rank, 2u);
    EXPECT_EQ(f.names(f.redundancy.indeterminate), (Names{"surface", "pursue, x", "pursue, y", "pursue, z"}));
    EXPECT_TRUE(f.determinate("P"));
    // without the third component, which is no news: one row is redundant, and it takes the surface to see it
    ASSERT_EQ(f.redundancy.dependent.size(), 2u);
    for (const DependentRow& row : f.redundancy.dependent) {
        Names used;
        for (const RowTerm& t : row.terms) used.insert(f.look.dynamics().rows[t.row].name);
        EXPECT_EQ(used, (Names{"surface", "pursue, x"})) << row.sentence;
    }
}

// T1, 002 example 4
TEST(Redundancy, ClosedPlanarChainOfEvenLength) {
    for (const int n : {4, 6}) {
        const Found f(gallery_text("perpendicular_chain_planar_closed"), size(n));
        EXPECT_EQ(f.redundancy.rank, static_cast<std::size_t>(n - 1));
        ASSERT_EQ(f.redundancy.dependent.size(), 1u);
        EXPECT_EQ(f.look.dynamics().rows[f.redundancy.dependent[0].row].name, "closure");
        EXPECT_EQ(f.redundancy.indeterminate.size(), static_cast<std::size_t>(n));
        for (int i = 1; i <= n; ++i) EXPECT_TRUE(f.determinate(fmt::format("P[{}]", i)));  // one speed each
        EXPECT_TRUE(f.redundancy.rests.empty());
    }
    const Found f(gallery_text("perpendicular_chain_planar_closed"), size(4));
    EXPECT_TRUE(
        f.says("row closure is redundant: closure = x[4]'/x[2]'*perpendicular[1] - "
               "x[1]'*x[4]'/(x[2]'*x[3]')*perpendicular[2] + x[1]'/x[3]'*perpendicular[3]"))
        << f.sentences();
}

TEST(Redundancy, ClosedPlanarChainOfOddLength) {
    for (const int n : {3, 5}) {
        const Found f(gallery_text("perpendicular_chain_planar_closed"), size(n));
        EXPECT_TRUE(f.redundancy.dependent.empty());
        EXPECT_EQ(f.redundancy.rests, std::vector<std::string>{fmt::format("P[{}]", n)});  // the start gives it no velocity
        EXPECT_EQ(f.redundancy.one_rests.size(), static_cast<std::size_t>(n)) << f.sentences();
    }
    const Found f(gallery_text("perpendicular_triangle"));
    EXPECT_EQ(f.redundancy.rests, std::vector<std::string>{"P2"});
    EXPECT_TRUE(f.says("in every solution found of these rows a velocity vanishes: that of P1, P2 or P3")) << f.sentences();
    // an open chain, and a closed one in space, move
    for (const char* model : {"perpendicular_chain_planar", "perpendicular_chain_closed"})
        EXPECT_TRUE(Found(gallery_text(model)).redundancy.sentences.empty()) << model;
}

// the counts that the models state: redundant where count(rank) is below the rows, nothing else
TEST(Redundancy, GalleryHasTheRankOfItsStart) {
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        if (entry.path().extension() != ".appell") continue;
        const Found f(gallery_text(entry.path().stem()));
        const Redundancy& r = f.redundancy;
        EXPECT_TRUE(r.contradictory.empty()) << entry.path().stem() << f.sentences();
        if (r.rows == 0) continue;
        EXPECT_EQ(r.rank, r.rank_at_start) << entry.path().stem() << f.sentences();
        EXPECT_EQ(r.rank + r.dependent.size(), r.rows) << entry.path().stem();
        EXPECT_EQ(r.indeterminate.empty(), r.dependent.empty()) << entry.path().stem();
    }
}

TEST(Redundancy, WhatStaysDeterminate) {
    // Two rows hold the same point along x, one another point: only the sum of the first two is unique. The force on P is that
    // sum, but between A and B of a rod it is not known which end is held along the rod.
    const Found f(R"(system s
param l = 1
coord x = 0, y = 0, q = 0.3, w = 1
frame R from N rotate q about z
point A at O + x*N.x + y*N.y
point B at A + l*R.x
particle PA mass 1 at A
particle PB mass 2 at B
particle P mass 1 at O + w*N.z
start y' = 1, w' = 1
constraint hold_a: dot(vel(PA), R.x) = 0
constraint hold_b: dot(vel(PB), R.x) = 0
constraint lift: dot(vel(P), N.z) = 1
)");
    EXPECT_EQ(f.redundancy.rank, 2u);
    EXPECT_EQ(f.names(f.redundancy.indeterminate), (Names{"hold_a", "hold_b"}));
    EXPECT_EQ(f.names(f.redundancy.determinate), (Names{"lift"}));
    EXPECT_FALSE(f.determinate("PA"));
    EXPECT_FALSE(f.determinate("PB"));
    EXPECT_TRUE(f.determinate("P"));
    EXPECT_TRUE(f.says("row hold_b is redundant: hold_b = hold_a")) << f.sentences();
}

TEST(Redundancy, Contradictions) {
    const std::string particle = "system s\ncoord x = 1, y = 2\nparticle P mass 1 at O + x*N.x + y*N.y\n";
    {
        const Found f(particle + "constraint a: x' = 1\nconstraint b: 2*x' = 3\n");
        ASSERT_EQ(f.redundancy.contradictory.size(), 1u);
        EXPECT_EQ(f.redundancy.contradictory[0].kind, Contradiction::velocity);
        EXPECT_TRUE(f.says("rows a and b contradict each other: together they say -1 = 0")) << f.sentences();
        EXPECT_TRUE(f.redundancy.dependent.empty());
    }
    {
        const Found f(particle + "constraint a: x = 1\nconstraint b: x = 3\n");
        ASSERT_EQ(f.redundancy.contradictory.size(), 1u);
        EXPECT_EQ(f.redundancy.contradictory[0].kind, Contradiction::position) << f.sentences();
    }
    {
        const Found f(particle + "constraint a: x = 1\nconstraint b: x^2 + y' = 3*y'\nconstraint c: x' = 1\n");
        ASSERT_EQ(f.redundancy.contradictory.size(), 1u);
        EXPECT_EQ(f.redundancy.contradictory[0].kind, Contradiction::velocity) << f.sentences();
    }
    {
        // the same condition twice, in other words
        const Found f(particle + "constraint a: x = 1\nconstraint b: x^2 = 1\n");
        EXPECT_TRUE(f.redundancy.contradictory.empty()) << f.sentences();
        EXPECT_EQ(f.redundancy.rank, 1u);
    }
    {
        const Found f(particle + "start x' = 1\nconstraint a: x' = 1\nconstraint b: x' = x\n");
        ASSERT_EQ(f.redundancy.contradictory.size(), 1u);
        EXPECT_EQ(f.redundancy.contradictory[0].kind, Contradiction::except);
        EXPECT_TRUE(f.says("rows a and b agree only where 1 - x = 0: a condition on positions is hidden in them"))
            << f.sentences();
    }
}

TEST(Redundancy, FewerAtTheStart) {
    Found f(
        "system s\ncoord x = 0.5, y = 2, z = 0\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\nstart z' = 1\n"
        "constraint a: x' = 0\nconstraint b: x' + x*y' = 0\n");
    EXPECT_EQ(f.redundancy.rank, 2u);
    EXPECT_EQ(f.redundancy.rank_at_start, 2u);
    // the same samples, seen from a start where b says what a does
    f.look.samples.start[1] = 0;
    const Redundancy r = find_redundancy(f.look.dynamics(), f.look.samples);
    EXPECT_EQ(r.rank_at_start, 1u);
    EXPECT_EQ(r.dependent_at_start_only, std::vector<std::size_t>{1});
    EXPECT_EQ(r.sentences.back(), "at the start 1 of 2 rows are independent, elsewhere 2: there b depends on the others");
}

// --- plants

class Plants {
public:
    explicit Plants(unsigned seed) : random_(seed) {}
    int whole(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
    double real(double from, double to) {
        return std::round(std::uniform_real_distribution<double>(from, to)(random_) * 1e3) / 1e3;
    }
    double away_from_zero() { return real(0.3, 1.5) * (whole(0, 1) ? 1 : -1); }

    // affine, or with a quadratic part
    std::string row(int n, bool linear) {
        std::string out = fmt::format("{}", linear ? 0.0 : -0.5);
        for (int i = 1; i <= n; ++i) {
            out += fmt::format(" + ({} + {}*sin(q{}))*q{}'", away_from_zero(), real(-0.2, 0.2), whole(1, n), i);
            if (!linear) out += fmt::format(" + {}*q{}'*q{}'", real(0.2, 1), i, i);
        }
        return out;
    }
    std::string model(int n, const std::vector<std::string>& rows) {
        std::string text = "system plant\n";
        for (int i = 1; i <= n; ++i)
            text += fmt::format("coord q{0} = {1}\nparticle P{0} mass {2} at O + q{0}*N.x\nstart q{0}' = {3}\n", i,
                                real(0.5, 1.5), real(1, 2), real(-0.5, 0.5));
        for (std::size_t i = 0; i < rows.size(); ++i) text += fmt::format("constraint c{}: {} = 0\n", i + 1, rows[i]);
        return text;
    }

private:
    std::mt19937 random_;
};

TEST(Redundancy, PlantedRowsAreFoundAndNoOthers) {
    int used = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        Plants plants(seed);
        const int n = plants.whole(3, 6), m = plants.whole(1, std::min(3, n - 2));
        std::vector<std::string> rows;
        for (int i = 0; i < m; ++i) rows.push_back(plants.row(n, i == 0 || plants.whole(0, 1)));
        const bool planted = plants.whole(0, 2) != 0;
        std::map<std::size_t, std::pair<double, int>> coefficients;  // row: c, times q_k unless k is 0
        if (planted) {
            std::string sum = "0";
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (plants.whole(0, 2) == 0 && !coefficients.empty()) continue;
                coefficients[i] = {plants.away_from_zero(), plants.whole(0, 1) ? plants.whole(1, n) : 0};
                const auto [c, k] = coefficients[i];
                sum += fmt::format(" + {}{}*({})", c, k ? fmt::format("*q{}", k) : "", rows[i]);
            }
            rows.push_back(sum);
        }
        const Found f(plants.model(n, rows));
        if (f.look.samples.size() < 3) continue;  // the random rows have no common solution near the start
        ++used;
        EXPECT_TRUE(f.redundancy.contradictory.empty()) << seed << f.sentences();
        EXPECT_EQ(f.redundancy.rank, static_cast<std::size_t>(m)) << seed;
        ASSERT_EQ(f.redundancy.dependent.size(), planted ? 1u : 0u) << seed << f.sentences();
        if (!planted) {
            EXPECT_TRUE(f.redundancy.sentences.empty()) << seed << f.sentences();
            continue;
        }
        const DependentRow& row = f.redundancy.dependent[0];
        EXPECT_EQ(row.row, static_cast<std::size_t>(m)) << seed;
        ASSERT_EQ(row.terms.size(), coefficients.size()) << seed << row.sentence;
        EXPECT_EQ(f.redundancy.indeterminate.size(), coefficients.size() + 1);
        for (const RowTerm& t : row.terms) {
            const auto [c, k] = coefficients.at(t.row);
            const double q = k ? static_cast<double>(f.look.samples.states[0][static_cast<std::size_t>(k)]) : 1;
            EXPECT_NEAR(t.at_first, c * q, 1e-12) << seed;
            ASSERT_TRUE(t.coefficient.valid()) << seed << row.sentence;
            for (std::size_t s = 0; s < f.look.samples.size(); ++s) {
                const Digits50 real = k ? f.look.samples.states[s][static_cast<std::size_t>(k)] : Digits50(1);
                const Digits50 printed =
                    f.look.samples.evaluate(*f.look.derivation.model->graph, std::span(&t.coefficient, 1), s)[0];
                EXPECT_NEAR(static_cast<double>(printed), static_cast<double>(real) * c, 1e-12) << seed;
            }
        }
    }
    EXPECT_GT(used, 200);
}

}  // namespace
}  // namespace appell
