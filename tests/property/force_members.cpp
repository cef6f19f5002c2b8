// The members of constraint forces beside dry friction: ideal(c, P) + nonideal(c, P) is the whole force, sticking and sliding, in
// outputs, claims and columns of forces; the friction lies in the nonideal member, the ideal one is what the force were without
// it, and all sums are M u' - f.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

struct Rough {
    std::string model, friction, place;  // the place of the force
    std::vector<std::string> speeds;
};

// a block on a slope, a rod that stands on a floor, a disk on a slope: at rest or not, rough enough to stick or not
Rough rough(Draw& draw, std::size_t k) {
    const double mu = draw.uniform(0.05, 1), slope = draw.uniform(-0.5, 0.5), v = k % 3 == 0 ? 0 : draw.uniform(-0.5, 0.5);
    const std::string law = k % 2 == 0 ? "reaction(c)" : "ideal(c)";
    const std::string frame = fmt::format("system rough\nframe A from N rotate {} about z\ngravity -9.81*N.y\n", text(slope));
    Rough out;
    switch (k % 4) {
        case 0:
        case 1:  // pulled at an angle, so that friction does not press; through a spring in the second
            out.model = frame +
                        fmt::format(
                            "coord s = 0, h = 0\nparticle P mass {} at O + s*A.x + h*A.y\nforce on P = {}*sin(3*t)*A.x + "
                            "{}*A.y\nstart s' = {}\n",
                            text(draw.uniform(0.5, 2)), text(draw.uniform(-8, 8)), text(draw.uniform(-3, 3)), text(v)) +
                        (k % 4 == 1 ? "point W at O + 0.3*A.x + 0.2*A.y\nspring P W stiffness 20\n" : "") +
                        "constraint c: dot(pos(P), A.y) = 0\n";
            out.friction = "nonideal c: friction on P = " + text(mu) + "*abs(" + law + ")\n";
            out.place = "P";
            out.speeds = {"s'", "h'"};
            break;
        case 2: {  // friction presses on the rod: the two laws differ
            const double lean = draw.uniform(0.9, 1.9);
            out.model = frame + fmt::format(
                                    "coord s = 0, h = {}, b = {}\nframe B from A rotate b about z\npoint C at O + s*A.x + h*A.y\n"
                                    "body B frame B mass 1 center C inertia (0, 1/3, 1/3)\npoint P at C - B.x\n"
                                    "constraint c: dot(pos(P), A.y) = 0\nstart s' = {}\n",
                                    text(std::sin(lean)), text(lean), text(v));
            out.friction = "nonideal c: friction on P = " + text(0.5 * mu) + "*abs(" + law + ")\n";
            out.place = "P";
            out.speeds = {"s'", "h'", "b'"};
            break;
        }
        default:  // a disk that rolls while its friction sticks
            out.model = frame + fmt::format(
                                    "coord s = 0, h = 0.4, b = 0\nframe B from A rotate b about z\npoint C at O + s*A.x + h*A.y\n"
                                    "body B frame B mass 1 center C inertia (0.04, 0.04, 0.08)\npoint K at C - 0.4*A.y\n"
                                    "constraint c: dot(pos(K), A.y) = 0\nstart s' = {}, b' = {}\n",
                                    text(v), text(k % 8 < 4 ? -v / 0.4 : 0));
            out.friction = "nonideal c: friction on B at K from N along A.x = " + text(mu) + "*abs(" + law + ")\n";
            out.place = "K";
            out.speeds = {"s'", "h'", "b'"};
    }
    return out;
}

TEST(ForceMembers, AddUpWhileFrictionSticksAndSlides) {
    Draw draw(1);
    std::size_t sticking = 0, sliding = 0;
    for (std::size_t k = 0; k < members(); ++k) {
        const Rough rod = rough(draw, k);
        std::string outputs;
        for (const char axis : {'x', 'y'})
            outputs += fmt::format(
                "output friction{0} = dot(friction(c), A.{0}), force{0} = dot(force(c, {1}), A.{0}), "
                "ideal{0} = dot(ideal(c, {1}), A.{0})\n",
                axis, rod.place);
        std::size_t i = 0;
        for (const std::string& u : rod.speeds)
            outputs += fmt::format(
                "output sum{0} = generalized_ideal({1}) + generalized_nonideal({1}), left{0} = active({1}) + "
                "inertia({1}), gi{0} = generalized_ideal({1})\n",
                i++, u);
        outputs += "output multiplier = reaction(c), without = ideal(c)\nrun for 0.5 s, every 0.05 s, rtol 1e-9, atol 1e-11\n";
        if (rod.place == "P")
            outputs += fmt::format(
                "output nox = dot(nonideal(c, P), A.x), noy = dot(nonideal(c, P), A.y)\nclaim \"whole\": force(c, P) + "
                "friction(c) = ideal(c, P) + nonideal(c, P)\n");
        RunOptions options;
        options.forces = "A";
        options.native = false;  // short runs
        Derivation derivation = derive_text(rod.model + rod.friction + outputs);
        const auto result = run(derivation, options);
        if (!result || derivation.diagnostics.has(Code::E0842) || derivation.diagnostics.has(Code::E0819))
            continue;  // Painleve's rods
        ASSERT_FALSE(derivation.diagnostics.has_errors()) << k << render(derivation.diagnostics, derivation.sources) << rod.model;
        const TextRun r{std::move(derivation), std::move(*result)};
        RunOptions smoothly;
        smoothly.native = false;
        double largest = 1;
        for (std::size_t row = 0; row < r.run.rows(); ++row) largest = std::max(largest, std::abs(r.at(row, "forcey")));
        const double tolerance = 1e-9 * largest;
        for (std::size_t row = 0; row < r.run.rows(); ++row) {
            for (std::size_t j = 0; j < rod.speeds.size(); ++j)
                EXPECT_NEAR(r.at(row, fmt::format("sum{}", j)), -r.at(row, fmt::format("left{}", j)), tolerance)
                    << k << ' ' << row;
            if (rod.place != "P") continue;
            // on the particle and the rod's foot all that acts, acts there: along the slope it is the friction
            for (const char axis : {'x', 'y'}) {
                const double whole = r.at(row, fmt::format("force{}", axis)) + r.at(row, fmt::format("friction{}", axis));
                EXPECT_NEAR(r.at(row, fmt::format("ideal{}", axis)) + r.at(row, fmt::format("no{}", axis)), whole, tolerance)
                    << k;
                EXPECT_NEAR(r.at(row, fmt::format("ideal(c, P).{}", axis)) + r.at(row, fmt::format("nonideal(c, P).{}", axis)),
                            whole, tolerance)
                    << k;
            }
            EXPECT_NEAR(r.at(row, "nox"), r.at(row, "frictionx"), tolerance) << k;
            EXPECT_NEAR(r.at(row, "idealx"), 0, tolerance) << k;
            EXPECT_NEAR(r.at(row, "sum0"), r.at(row, "frictionx"), tolerance) << k;
            EXPECT_NEAR(r.at(row, "gi0"), 0, tolerance) << k;
        }
        const std::string& mode = r.run.start_mode;
        ++(mode.find("sticks") != std::string::npos ? sticking : sliding);
        // without the friction the force at this start is the ideal one
        const TextRun smooth = run_text(rod.model + "run for 1e-6 s, every 1 s\n", smoothly);
        EXPECT_NEAR(smooth.at(0, "lambda(c)"), r.at(0, "without"), tolerance) << k << mode;
    }
    EXPECT_GT(sticking, members() / 10);
    EXPECT_GT(sliding, members() / 10);
}

TEST(ForceMembers, ClaimsKnowTheSame) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(12); ++k) {
        const Rough rod = rough(draw, 4 * k + k % 2);  // the block
        std::string claims =
            "claim \"whole\": force(c, P) + friction(c) = ideal(c, P) + nonideal(c, P)\n"
            "claim \"friction\": dot(nonideal(c, P), A.x) = dot(friction(c), A.x)\n"
            "misprint \"all ideal\": dot(ideal(c, P), A.x) = dot(friction(c), A.x)\n";
        for (const std::string& u : rod.speeds)
            claims += fmt::format(
                "claim \"{0}\": generalized_ideal({0}) + generalized_nonideal({0}) = -active({0}) - inertia({0})\n", u);
        Derivation derivation = derive_text(rod.model + rod.friction + claims + "run for 1 s\n");
        const auto checked = check(derivation, 20);
        ASSERT_TRUE(checked) << k << render(derivation.diagnostics, derivation.sources);
        for (const ClaimResult& claim : checked->claims.claims) EXPECT_EQ(claim.holds, !claim.misprint) << k << claim.label;
    }
}

// A particle on a wire along a direction of the axes, kept by a vector equation: the component along the wire is zero in every
// state and left out. Laws that name the whole reaction know that; the friction has a closed form.
TEST(ForceMembers, ComponentsThatAreLeftOutExertNoForce) {
    Draw draw(3);
    const std::size_t count = members(30);
    for (std::size_t k = 0; k < count; ++k) {
        const double mass = draw.uniform(0.5, 2), mu = draw.uniform(0.01, 0.3), push = draw.uniform(8, 9), v = draw.uniform(1, 2);
        const double across = draw.uniform(-4, 4);
        const std::array<std::string, 3> axes{"x", "y", "z"};
        const std::string &s = axes[k % 3], &other = axes[(k + 1) % 3], &third = axes[(k + 2) % 3];
        const std::string force = k % 2 == 0 ? "reaction" : "ideal";
        const std::string law = k % 4 < 2 ? fmt::format("friction on P along N.{} = {}*mag({}(c))", s, text(mu), force)
                                          : fmt::format("force on P = -{}*mag({}(c))*N.{}", text(mu), force, s);
        Derivation d = derive_text(
            fmt::format("system wire\ncoord x = 0, y = 0, z = 0\nparticle P mass {} at O + x*N.x + y*N.y + z*N.z\n"
                        "gravity -9.81*N.{}\nforce on P = {}*N.{} + {}*N.{}\nconstraint c: pos(P) = {}*N.{}\nnonideal c: {}\n"
                        "start {}' = {}\nrun for 0.5, rtol 1e-10, atol 1e-12\n",
                        text(mass), third, text(push), s, text(across), other, s, s, law, s, text(v)));
        const auto result = run(d, {});
        ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
        const double acceleration = (push - mu * std::hypot(across, 9.81 * mass)) / mass;
        const auto along = std::ranges::find(result->columns, s) - result->columns.begin();
        EXPECT_NEAR(result->at(result->rows() - 1, static_cast<std::size_t>(along)), v * 0.5 + acceleration * 0.125, 1e-9) << k;
        if (HasFailure()) return;
    }
}

// A box on two edges of its own, one of them rough. The law acts on the body, the constraint on the point: one place.
TEST(ForceMembers, ABodyAtItsPointIsThatPoint) {
    Draw draw(4);
    const std::size_t count = members(20);
    for (std::size_t k = 0; k < count; ++k) {
        const bool slides = k % 2 == 0;
        const double half = draw.uniform(0.2, 0.6), high = draw.uniform(0.1, 0.4), mu = draw.uniform(0.2, 0.5);
        const std::string place = k % 4 < 2 ? "F1" : "B at F1";
        Derivation d = derive_text(
            fmt::format("system box\ncoord x = 0, z = {1}, b = 0\nframe B from N rotate b about y\npoint C at O + x*N.x + z*N.z\n"
                        "body B frame B mass 2 center C inertia (0.1, 0.1, 0.1)\npoint F1 at C - {0}*B.x - {1}*B.z\n"
                        "point F2 at C + {0}*B.x - {1}*B.z\ngravity -9.81*N.z\nforce on B at C = {2}*N.x\n"
                        "constraint c1: dot(pos(F1), N.z) = 0\nconstraint c2: dot(pos(F2), N.z) = 0\n"
                        "nonideal c1: friction on B at F1 = {3}*reaction(c1)\nstart x' = {4}\n"
                        "output along = dot(nonideal(c1, {5}), N.x), up = dot(ideal(c1, {5}) + nonideal(c1, {5}), N.z)\n"
                        "output rubs = dot(friction(c1), N.x), carries = lambda(c1)\n"
                        "claim \"whole\": force(c1, {5}) + friction(c1) = ideal(c1, {5}) + nonideal(c1, {5})\n"
                        "run for 0.1, every 0.02\n",
                        text(half), text(high), slides ? 3 : 0.5, text(mu), slides ? 1 : 0, place));
        const auto result = run(d, {});
        ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
        const auto column = [&](const std::string& name) {
            return static_cast<std::size_t>(std::ranges::find(result->columns, name) - result->columns.begin());
        };
        ASSERT_LT(column("along"), result->columns.size());
        for (std::size_t row = 0; row < result->rows(); ++row) {
            const auto at = [&](const std::string& name) { return result->at(row, column(name)); };
            EXPECT_NEAR(at("along"), at("rubs"), 1e-9) << k;
            EXPECT_NEAR(at("up"), at("carries"), 1e-9) << k;
            EXPECT_GT(std::abs(at("rubs")), 0.1) << k;
        }
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace appell
