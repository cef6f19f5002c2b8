// Integrability against what is known: textbook forms, growth vectors of the literature, and planted integrals.
#include "doctor/integrability.hpp"

#include <fmt/format.h>

#include <random>

#include "expr/print.hpp"
#include "support/examined.hpp"
#include "tape/zero_test.hpp"

namespace appell {
namespace {

using Sizes = std::vector<std::size_t>;

struct Found {
    Examined model;
    Integrability result;
};
Found found(const std::string& text) {
    Found out{examined(text), {}};
    if (!out.model.derivation.ok() || out.model.samples.size() == 0) return out;
    const auto result = integrability(out.model.dynamics(), out.model.samples, out.model.varied);
    EXPECT_TRUE(result.has_value()) << text;
    if (result) out.result = *result;
    return out;
}

// the gradient of the integral found is a multiple of the one expected
void expect_integral(Found& f, const std::string& expected) {
    ASSERT_EQ(f.result.found.size(), 1u);
    Graph& g = f.model.dynamics().graph();
    // the expected function, through a model that has it as an output
    const Model& m = *f.model.derivation.model;
    NodeId wanted;
    for (const Output& o : m.outputs)
        if (o.name == expected) wanted = f.model.dynamics().kinematics->resolve(o.value);
    std::vector<SymbolId> variables;
    for (const Coordinate& c : m.coordinates) variables.push_back(c.q);
    variables.push_back(m.time);
    const NodeId both[] = {f.result.found.front(), wanted};
    const SparseMatrix J = jacobian(g, both, variables);
    std::vector<NodeId> entries(2 * variables.size(), g.constant(0));
    for (const SparseEntry& e : J.entries) entries[e.row * variables.size() + e.column] = e.value;
    EXPECT_EQ(generic_rank(g, entries, variables.size()), 1u) << to_text(g, f.result.found.front());
}

TEST(Integrability, KnifeEdgeIsNonholonomic) {
    Found f = found(gallery_text("skate"));
    EXPECT_EQ(f.result.growth, (Sizes{2, 3}));
    EXPECT_EQ(f.result.hidden(), 0u);
    EXPECT_FALSE(f.result.holonomic.front());
    EXPECT_FALSE(f.result.exact.front());
    EXPECT_FALSE(f.result.alone.front());
}

// By hand: the fields are d/dlean, X = d/dyaw and Y = d/dspin + r (cos(yaw) d/dx + sin(yaw) d/dy); [X, Y] is across the heading,
// [X, [X, Y]] along it, and brackets with d/dlean vanish.
TEST(Integrability, RollingDiskGrowsByOneTwice) {
    Found f = found(gallery_text("rolling_disk"));
    EXPECT_EQ(f.result.growth, (Sizes{3, 4, 5}));
    EXPECT_EQ(f.result.hidden(), 0u);
    EXPECT_EQ(f.result.independent, 2u);
}

TEST(Integrability, HeisenbergFormIsNonholonomic) {
    Found f = found(on_lines({"x", "y", "z"}, "constraint c: z' = x*y' - y*x'\n"));
    EXPECT_EQ(f.result.growth, (Sizes{2, 3}));
    EXPECT_FALSE(f.result.alone.front());
}

TEST(Integrability, ExactFormHasItsPotential) {
    Found f = found(on_lines({"x", "y", "z"}, "constraint c: z' = y*x' + x*y'\noutput F = z - x*y\n"));
    EXPECT_EQ(f.result.growth, (Sizes{2}));
    EXPECT_EQ(f.result.hidden(), 1u);
    EXPECT_TRUE(f.result.exact.front());
    EXPECT_TRUE(f.result.holonomic.front());
    expect_integral(f, "F");
}

TEST(Integrability, FormThatNeedsAnIntegratingFactor) {
    // the mixed partial derivatives differ, 1 and -1; Frobenius finds that x/y stays constant
    Found f = found(on_lines({"x", "y", "z"}, "constraint c: y*x' - x*y' = 0\noutput F = x/y\n"));
    EXPECT_EQ(f.result.growth, (Sizes{2}));
    EXPECT_FALSE(f.result.exact.front());
    EXPECT_TRUE(f.result.alone.front());
    EXPECT_EQ(f.result.hidden(), 1u);
    expect_integral(f, "F");
}

TEST(Integrability, ParametersAndAnglesInIntegrals) {
    Found f = found(
        "system wheel\nparam R = 0.3 m, k = 2\ncoord x = 1 m, theta = 0.4, phi = 0.2\n"
        "point P at O + x*N.x\nparticle P mass 1\npoint Q at O + R*theta*N.y\nparticle Q mass 1\n"
        "point S at O + R*phi*N.z\nparticle S mass 1\n"
        "constraint c: x' = R*cos(theta)*theta' + k*R*phi'\noutput F = x - R*sin(theta) - k*R*phi\n");
    EXPECT_EQ(f.result.hidden(), 1u);
    expect_integral(f, "F");
}

TEST(Integrability, TwoRowsIntegrableOnlyTogether) {
    // dz = y dx alone is the contact form; with dy = 0 it leaves z - y x
    Found f = found(on_lines({"x", "y", "z"}, "constraint a: z' = y*x'\nconstraint b: y' = 0\n"));
    EXPECT_EQ(f.result.growth, (Sizes{1}));
    EXPECT_EQ(f.result.hidden(), 2u);
    EXPECT_FALSE(f.result.alone[0]);
    EXPECT_TRUE(f.result.alone[1]);
    EXPECT_TRUE(f.result.holonomic[0]);
    EXPECT_EQ(f.result.found.size(), 2u);
    // neither row alone is integrable here: dz - y dx + w dy and dw - ... share a plane that is
    Found g =
        found(on_lines({"x", "y", "z", "w"},
                       "constraint a: z' = y*x' + w*y'\nconstraint b: (1 + x^2)*w' + y*z' = y^2*x' + y*w*y'\noutput w0 = w\n"));
    EXPECT_FALSE(g.result.alone[0]);
    EXPECT_FALSE(g.result.alone[1]);
    EXPECT_EQ(g.result.hidden(), 1u);  // (1 + x^2) dw + y (dz - y dx - w dy): w stays constant
    EXPECT_FALSE(g.result.holonomic[0]);
    expect_integral(g, "w0");
}

TEST(Integrability, NonholonomicIntegratorInFiveDimensions) {
    // x1' = u1, x2' = u2, x3' = x1 u2 - x2 u1, x4' = x1^2 u2, x5' = x2^2 u1: brackets of order two give one, of order three two
    Found f = found(on_lines({"a", "b", "c", "d", "e"},
                             "constraint r1: c' = a*b' - b*a'\nconstraint r2: d' = a^2*b'\nconstraint r3: e' = b^2*a'\n"));
    EXPECT_EQ(f.result.growth, (Sizes{2, 3, 5}));
    EXPECT_EQ(f.result.hidden(), 0u);
}

// growth of a car with n trailers away from singular configurations: 2, 3, 4, ..., n + 3, one at a time
TEST(Integrability, CarWithTrailersGrowsByOne) {
    for (int n = 0; n <= 3; ++n) {
        std::string text = "system car\ncoord x = 0.1, y = 0.2\n";
        for (int i = 0; i <= n; ++i) text += fmt::format("coord th{} = {}\n", i, 0.3 + 0.25 * i);
        text += "point P at O + x*N.x + y*N.y\nparticle P mass 1\n";  // of the last trailer's axle
        for (int i = 0; i <= n; ++i)
            text += fmt::format(
                "frame B{0} from N rotate th{0} about z\n"
                "body B{0} frame B{0} mass 1 center at P + {1}*B{0}.x inertia (1, 1, 1)\n",
                i, 0.1 * (i + 1));
        // axle i + 1 is one length ahead of axle i
        std::string at = "vel(P)";
        for (int i = 0; i <= n; ++i) {
            text += fmt::format("constraint c{0}: dot({1}, B{0}.y) = 0\n", i, at);
            at += fmt::format(" + cross(omega(B{0}), B{0}.x)", i);
        }
        text += "start x' = 0.3, y' = 0.1\n";
        Found f = found(text);
        Sizes expected;
        for (std::size_t k = 2; k <= static_cast<std::size_t>(n) + 3; ++k) expected.push_back(k);
        EXPECT_EQ(f.result.growth, expected) << n << " trailers";
        EXPECT_EQ(f.result.hidden(), 0u);
    }
}

TEST(Integrability, RheonomicRows) {
    Found exact = found(on_lines({"x", "y"}, "constraint c: x' + t*y' + y = 0\noutput F = x + t*y\n"));
    EXPECT_TRUE(exact.result.time);
    EXPECT_EQ(exact.result.hidden(), 1u);
    EXPECT_TRUE(exact.result.exact.front());
    expect_integral(exact, "F");
    Found open = found(on_lines({"x", "y"}, "constraint c: x' + t*y' = 0\n"));
    EXPECT_EQ(open.result.growth, (Sizes{2, 3}));
    EXPECT_EQ(open.result.hidden(), 0u);
}

TEST(Integrability, PositionRowsTakePart) {
    // on the circle the blade's row leaves one velocity: what it keeps besides the circle hides behind both
    Found f = found(on_lines({"x", "y", "z"}, "constraint circle: x^2 + y^2 = 0.34\nconstraint c: z' = x*y' - y*x'\n"));
    EXPECT_EQ(f.result.stated, 1u);
    EXPECT_EQ(f.result.growth, (Sizes{1}));
    EXPECT_EQ(f.result.hidden(), 1u);  // z minus twice the area swept: no polynomial
    EXPECT_TRUE(f.result.holonomic[1]);
}

// brackets that vanish leave round-off, which is not a direction
TEST(Integrability, PositionRowsAloneAreInvolutive) {
    for (const char* row : {"(x - z)^2 + (y - w)^2 = 0.32", "sin(x)*y + exp(z)*w^2 = 1.2", "x*y*z*w = 0.3"}) {
        Found f = found(on_lines({"x", "y", "z", "w"}, "constraint c: " + std::string(row) + "\n"));
        EXPECT_EQ(f.result.growth, (Sizes{3})) << row;
        EXPECT_EQ(f.result.stated, 1u);
        EXPECT_EQ(f.result.hidden(), 0u);
    }
    for (const char* model : {"two_points_rod_equal_speeds", "sliding_particle"}) {
        Found f = found(gallery_text(model));
        EXPECT_EQ(f.result.growth.size(), 1u) << model;
        EXPECT_EQ(f.result.hidden(), 0u) << model;
    }
}

// What is true for the model's parameters is what counts, though it is no identity in them.
TEST(Integrability, HoldsForTheParametersOfTheModel) {
    Found f = found(on_lines({"x", "y", "z"}, "param a = 1, b = 1\nconstraint c: z' = a*y*x' + b*x*y'\noutput F = z - x*y\n"));
    EXPECT_EQ(f.result.hidden(), 1u);
    expect_integral(f, "F");
    Found zero = found(on_lines({"x", "y", "z"}, "param w = 0\nconstraint c: z' = w*y*x'\noutput F = z\n"));
    EXPECT_EQ(zero.result.hidden(), 1u);
    Found decimal = found(on_lines({"x", "y"}, "constraint c: x' = 0.1*y'\noutput F = x - 0.1*y\n"));
    expect_integral(decimal, "F");
}

// pieces of abs, max and if are linear, the row is not
TEST(Integrability, PiecewiseRowsAreNotAffine) {
    for (const char* row : {"abs(x') = y'", "max(x', 2*x') = y'", "if(x' > 0, x', 3*x') = y'"}) {
        const Examined e = examined(on_lines({"x", "y"}, "constraint c: " + std::string(row) + "\nstart x' = 1, y' = 1\n"));
        EXPECT_FALSE(integrability(e.dynamics(), e.samples, e.varied).has_value()) << row;
    }
}

TEST(Integrability, QuaternionsCountOnTheirSphere) {
    Found f = found(gallery_text("disk_on_sphere"));
    EXPECT_EQ(f.result.hidden(), 0u);
}

// Random rows; in every other one an integral is planted: its differential, times a factor, plus multiples of the other row.
TEST(Integrability, PlantedIntegralsAreFoundAndNoOthers) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> number(-3, 3), pick(0, 3);
    const std::vector<std::string> q{"x", "y", "z", "w", "v"};
    const auto coefficient = [&] {
        int c = 0;
        while (c == 0) c = number(random);
        return c;
    };
    const auto factor = [&] {
        const int a = pick(random), b = pick(random);
        return fmt::format("({} + {}*{} + {}*{}*{})", coefficient(), coefficient(), q[static_cast<std::size_t>(a)], coefficient(),
                           q[static_cast<std::size_t>(b)], q[4]);
    };
    int planted = 0, plain = 0;
    for (int trial = 0; trial < 120; ++trial) {
        // F = a x y + b z^2 + c sin(w) + v, dF
        const std::string differential =
            fmt::format("({0}*(y*x' + x*y') + {1}*2*z*z' + {2}*cos(w)*w' + v')", coefficient(), coefficient(), coefficient());
        std::string other = "(";
        for (std::size_t i = 0; i < q.size(); ++i) other += fmt::format("{}{}*{}'", i ? " + " : "", factor(), q[i]);
        other += ")";
        const bool plant = trial % 2 == 0;
        std::string second = plant ? fmt::format("{}*{} + {}*{}", factor(), differential, factor(), other) : "(";
        if (!plant) {
            for (std::size_t i = 0; i < q.size(); ++i) second += fmt::format("{}{}*{}'", i ? " + " : "", factor(), q[i]);
            second += ")";
        }
        Found f = found(on_lines(q, fmt::format("constraint a: {} = 0\nconstraint b: {} = 0\n", other, second)));
        if (f.model.samples.size() == 0) continue;
        EXPECT_EQ(f.result.hidden(), plant ? 1u : 0u) << other << "\n" << second;
        (plant ? planted : plain) += 1;
        if (trial < 6 && plant) {
            EXPECT_EQ(f.result.found.size(), 1u) << second;
        }
    }
    EXPECT_GT(planted, 55);
    EXPECT_GT(plain, 55);
}

}  // namespace
}  // namespace appell
