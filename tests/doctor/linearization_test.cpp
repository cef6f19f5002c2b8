// Linear equations about equilibria and steady motions, against closed forms and against the derivative of the reduced rate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "expr/print.hpp"
#include "pipeline/linearize.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

struct Case {
    Derivation derivation;
    std::optional<Linearization> found;

    [[nodiscard]] const LinearSystem& system() const { return found->system; }
    [[nodiscard]] std::size_t at(const std::string& name) const {
        for (std::size_t i = 0; i < system().variables.size(); ++i)
            if (system().variables[i].name == name) return i;
        ADD_FAILURE() << "no variable " << name;
        return 0;
    }
    [[nodiscard]] double a(const std::string& row, const std::string& column) const { return system().a(at(row), at(column)); }
    [[nodiscard]] double b(const std::string& row, std::size_t column = 0) const { return system().b(at(row), column); }
    [[nodiscard]] double value(const std::string& name) const {
        const Model& m = *derivation.model;
        for (std::size_t i = 0; i < m.coordinates.size(); ++i)
            if (m.coordinates[i].name == name) return static_cast<double>(system().point[1 + i]);
        for (std::size_t j = 0; j < m.speeds.size(); ++j)
            if (m.speeds[j].name == name) return static_cast<double>(system().point[1 + m.coordinates.size() + j]);
        ADD_FAILURE() << "no value " << name;
        return 0;
    }
    [[nodiscard]] std::vector<std::string> ignorable() const {
        std::vector<std::string> out;
        for (const Ignorable& i : system().ignorable) out.push_back(i.variation.name);
        return out;
    }
    // the entry of A as text; empty where it is a number only
    [[nodiscard]] NodeId symbol(const std::string& row, const std::string& column) const {
        const std::size_t n = system().variables.size();
        return found->symbols.A.empty() ? NodeId() : found->symbols.A[at(row) * n + at(column)];
    }
};

Case linear(const std::string& text, const LinearizeRequest& request = {}, std::map<std::string, double> set = {}) {
    ReadOptions read;
    for (const auto& [name, value] : set) read.set.insert_or_assign(name, value);
    Case out{derive_text(text, read), std::nullopt};
    out.found = linearize(out.derivation, request);
    return out;
}

Case good(const std::string& text, const LinearizeRequest& request = {}, std::map<std::string, double> set = {}) {
    Case out = linear(text, request, std::move(set));
    EXPECT_TRUE(out.found.has_value()) << render(out.derivation.diagnostics, out.derivation.sources);
    return out;
}

LinearizeRequest trim(TrimKind kind, std::vector<std::string> hold = {}) { return {kind, std::move(hold), false, std::nullopt}; }
LinearizeRequest sweep(const std::string& name, double from, double to, std::size_t count, TrimKind kind = TrimKind::none) {
    return {kind, {}, false, SweepRequest{name, from, to, count}};
}

// numbers of fifty digits rounded to double, times a few
constexpr double k_round = 1e-14;

// ---------------------------------------------------------------- closed forms

const std::string k_oscillator =
    "system oscillator\nparam m = 2, k = 8, c = 1.5\ninput F = 0\ncoord x = 0\nparticle P mass m at O + x*N.x\n"
    "force on P = (F - k*x - c*x')*N.x\n";

TEST(Linearization, SpringMassDamper) {
    const Case c = good(k_oscillator);
    EXPECT_EQ(c.system().kind, TrimKind::equilibrium);
    EXPECT_TRUE(c.system().moved.empty());
    EXPECT_EQ(c.a("x", "x"), 0);
    EXPECT_EQ(c.a("x", "x'"), 1);
    EXPECT_NEAR(c.a("x'", "x"), -4, k_round);
    EXPECT_NEAR(c.a("x'", "x'"), -0.75, k_round);
    EXPECT_NEAR(c.b("x"), 0, 0);
    EXPECT_NEAR(c.b("x'"), 0.5, k_round);
    ASSERT_EQ(c.system().spectrum.eigenvalues.size(), 2u);
    const auto s = c.system().spectrum.eigenvalues[0].value();
    EXPECT_NEAR(s.real(), -0.375, k_round);
    EXPECT_NEAR(s.imag(), std::sqrt(4 - 0.375 * 0.375), k_round);
    // x' = s x in the mode
    const auto& mode = c.system().spectrum.modes[0];
    EXPECT_LT(std::abs(mode[c.at("x'")] - s * mode[c.at("x")]), 1e-12);
}

// abs, and the root of a sum of squares, have no derivative at zero; their products with the velocity have, and it is zero
TEST(Linearization, QuadraticDragAtRest) {
    const std::string about =
        "system drag\nparam m = 2, k = 8, c = 1.5\ncoord x = 0, y = 0\nparticle P mass m at O + x*N.x + y*N.y\n";
    for (const char* law :
         {"force on P = -k*x*N.x - k*y*N.y - c*mag(vel(P))*vel(P)\n", "force on P = (-k*x - c*abs(x')*x')*N.x - k*y*N.y\n"}) {
        const Case c = good(about + law);
        EXPECT_NEAR(c.a("x'", "x"), -4, k_round) << law;
        EXPECT_NEAR(c.a("x'", "x'"), 0, k_round) << law;
        EXPECT_NEAR(c.a("y'", "y"), -4, k_round) << law;
        for (const auto& value : c.system().spectrum.eigenvalues) {
            EXPECT_NEAR(value.value().real(), 0, k_round) << law;
            EXPECT_NEAR(std::abs(value.value().imag()), 2, k_round) << law;
        }
    }
}

TEST(Linearization, AnEquilibriumIsFoundAndWhatMovedIsTold) {
    const Case c = good(k_oscillator, trim(TrimKind::equilibrium), {{"x", 0.3}, {"F", 4}});
    EXPECT_NEAR(c.value("x"), 0.5, k_round);
    ASSERT_EQ(c.system().moved.size(), 1u);
    EXPECT_EQ(c.system().moved[0].name, "x");
    EXPECT_EQ(c.system().moved[0].from, 0.3);
    EXPECT_NEAR(c.system().moved[0].to, 0.5, k_round);
}

// the angle, or two Cartesian coordinates and a rod: the same frequency, and stiff where upside down
TEST(Linearization, PendulumByAngleAndByConstraint) {
    const double w2 = 9.81 / 1.3;
    const std::string cartesian =
        "system rod\nparam m = 0.7, l = 1.3, g = 9.81\ncoord x = 0, y = -1.3\nparticle P mass m at O + x*N.x + y*N.y\n"
        "gravity -g*N.y\nconstraint rod: dot(P - O, P - O) = l^2\n";
    for (const double end : {-1.0, 1.0}) {
        const Case c = good(cartesian, {}, {{"y", end * 1.3}});
        ASSERT_EQ(c.system().variables.size(), 2u);
        EXPECT_EQ(c.system().variables[0].name, "x");
        EXPECT_NEAR(c.a("x'", "x"), end * w2, 1e-13);
        EXPECT_EQ(c.system().spectrum.unstable(), end > 0 ? 1u : 0u);
    }
    const Case angle = good(gallery_text("simple_pendulum"), {}, {{"theta", 0}, {"l", 1.3}});
    EXPECT_NEAR(angle.a("theta'", "theta"), -w2, 1e-13);
    // from the start of the gallery, 30 degrees, down to the lowest point
    const Case found = good(gallery_text("simple_pendulum"), trim(TrimKind::equilibrium));
    EXPECT_NEAR(found.value("theta"), 0, k_round);
}

// A mass on a rod that goes round: w^2 = g/(l cos(theta)), and deviations swing with w sqrt(1 + 3 cos(theta)^2), by the conserved
// angular momentum: theta'' = p^2 cos/sin^3 - g/l sin, linearized.
TEST(Linearization, SphericalPendulumAboutAConicalMotion) {
    const std::string text =
        "system conical\nparam m = 1, l = 1.3, g = 9.81\ncoord theta = 0.6, phi = 0.2\nframe A from N rotate phi about z\n"
        "frame B from A rotate theta about y\nparticle P mass m at O - l*B.z\ngravity -g*N.z\nstart phi' = 3\n";
    const Case c = good(text, trim(TrimKind::steady, {"theta"}));
    const double w = std::sqrt(9.81 / (1.3 * std::cos(0.6)));
    EXPECT_NEAR(c.value("theta"), 0.6, k_round);
    EXPECT_NEAR(c.value("phi'"), w, k_round * w);
    EXPECT_EQ(c.ignorable(), std::vector<std::string>{"phi"});
    EXPECT_NEAR(c.system().ignorable[0].rate, w, k_round * w);
    EXPECT_EQ(c.system().spectrum.zeros, 1u);  // conical motions are a family
    ASSERT_EQ(c.system().spectrum.eigenvalues.size(), 2u);
    EXPECT_NEAR(c.system().spectrum.eigenvalues[0].value().imag(), w * std::sqrt(1 + 3 * std::pow(std::cos(0.6), 2)), 1e-13);
    EXPECT_EQ(c.system().spectrum.sign(c.system().spectrum.eigenvalues[0]), 0);
    // the angle from the speed
    const Case other = good(text, trim(TrimKind::steady, {"phi'"}), {{"phi'", 4}});
    EXPECT_NEAR(std::cos(other.value("theta")), 9.81 / (1.3 * 16), k_round);
    EXPECT_EQ(other.value("phi'"), 4);
}

// I: transverse, J: axial, both central
const std::string k_disk =
    "system disk\nparam m = 1.7, r = 0.4, g = 9.81, I = 0.09, J = 0.15\ncoord x = 0, y = 0, yaw = 0, lean = 0, spin = 0\n"
    "frame A from N rotate yaw about z\nframe L from A rotate lean about x\nframe D from L rotate spin about y\n"
    "point P at O + x*N.x + y*N.y\npoint C at P + r*L.z\nbody D frame D mass m center C inertia (I, J, I)\ngravity -g*N.z\n"
    "constraint rolling_contact: rolling(D, N, P)\nstart spin' = 5, x' = 2\n";

// Straight rolling with spin W. By hand, once with angular momentum about the point of contact: its part along the path changes
// by (I + m r^2) lean'' and, since the axial part (J + m r^2) W turns with the yaw, by -(J + m r^2) W yaw'; weight gives m g r
// lean. About the vertical through C only I yaw' and the component of J W, with no moment: I yaw'' = -J W lean' up to the sense
// of positive yaw. Hence (I + m r^2) lean'' = (m g r - (J + m r^2) J W^2/I) lean. Twice, with the signs of this model, as A
// below. The critical spin is W^2 = I m g r/(J (J + m r^2)): v^2 = g r/3 for a uniform disk, g r/4 for a hoop, as is known.
double critical_spin(double m, double r, double g, double I, double J) {
    return std::sqrt(I * m * g * r / (J * (J + m * r * r)));
}

TEST(Linearization, RollingDiskUpright) {
    EXPECT_NEAR(std::pow(0.4 * critical_spin(1.7, 0.4, 9.81, 1.7 * 0.16 / 4, 1.7 * 0.16 / 2), 2), 9.81 * 0.4 / 3, 1e-14);
    EXPECT_NEAR(std::pow(0.4 * critical_spin(1.7, 0.4, 9.81, 1.7 * 0.16 / 2, 1.7 * 0.16), 2), 9.81 * 0.4 / 4, 1e-14);
    const Case c = good(k_disk);
    const double m = 1.7, r = 0.4, g = 9.81, I = 0.09, J = 0.15, W = 5;
    EXPECT_EQ(c.system().kind, TrimKind::steady);
    EXPECT_EQ(c.ignorable(), (std::vector<std::string>{"x", "y", "yaw", "spin"}));
    ASSERT_EQ(c.system().variables.size(), 4u);
    const double up = c.a("lean'", "yaw'"), turn = c.a("yaw'", "lean'");
    EXPECT_NEAR(c.a("lean'", "lean"), m * g * r / (I + m * r * r), 1e-13);
    EXPECT_NEAR(std::abs(up), (J + m * r * r) * W / (I + m * r * r), 1e-13);
    EXPECT_NEAR(std::abs(turn), J * W / I, 1e-13);
    EXPECT_LT(up * turn, 0);
    EXPECT_EQ(c.a("spin'", "lean"), 0);
    EXPECT_EQ(c.system().spectrum.zeros, 2u);  // turning and rolling faster: a family of steady motions
    const double square = (m * g * r - (J + m * r * r) * J * W * W / I) / (I + m * r * r);
    ASSERT_EQ(c.system().spectrum.eigenvalues.size(), 2u);
    EXPECT_NEAR(c.system().spectrum.eigenvalues[0].value().imag(), std::sqrt(-square), 1e-13);
    EXPECT_EQ(c.system().spectrum.unstable(), 0u);
}

TEST(Linearization, RollingDiskBecomesStableAboveItsCriticalSpin) {
    const double expected = critical_spin(1.7, 0.4, 9.81, 0.09, 0.15);
    const Case c = good(k_disk, sweep("spin'", 1, 6, 11));
    ASSERT_EQ(c.found->sweep->critical.size(), 1u);
    const CriticalValue& critical = c.found->sweep->critical[0];
    EXPECT_NEAR(critical.value, expected, 1e-10 * expected);
    EXPECT_LE(critical.width, 1e-10 * expected);
    EXPECT_EQ(critical.unstable_before, 1u);
    EXPECT_EQ(critical.unstable_after, 0u);
    EXPECT_EQ(critical.frequency, 0);
    for (const SweepPoint& p : c.found->sweep->points) {
        EXPECT_TRUE(p.found);
        EXPECT_EQ(p.zeros, 2u);
        EXPECT_EQ(p.unstable, p.value < expected ? 1u : 0u);
    }
    // a mass that changes nothing but the factor: v^2 = g r/3 of a uniform disk, from the gallery
    const Case disk = good(gallery_text("rolling_disk"), sweep("spin'", 1, 10, 7), {{"lean", 0}});
    ASSERT_EQ(disk.found->sweep->critical.size(), 1u);
    EXPECT_NEAR(disk.found->sweep->critical[0].value, std::sqrt(9.81 / (3 * 0.5)), 1e-10 * 2.6);
    // downwards the same is below and above
    const Case down = good(k_disk, sweep("spin'", 6, 1, 11));
    ASSERT_EQ(down.found->sweep->critical.size(), 1u);
    EXPECT_NEAR(down.found->sweep->critical[0].value, expected, 1e-10 * expected);
    EXPECT_EQ(down.found->sweep->critical[0].unstable_before, 1u);
    EXPECT_EQ(down.found->sweep->critical[0].unstable_after, 0u);
}

// Steady turning: the speeds x', y' of the point of contact turn with the yaw, but they follow from the others, which are
// constant.
TEST(Linearization, RollingDiskInACircle) {
    const Case c = good(k_disk, trim(TrimKind::steady, {"lean", "spin'"}), {{"lean", 0.2}, {"yaw'", 1}});
    EXPECT_NEAR(c.value("lean"), 0.2, k_round);
    EXPECT_EQ(c.ignorable(), (std::vector<std::string>{"x", "y", "yaw", "spin"}));
    EXPECT_GT(std::abs(c.value("yaw'")), 0.1);
    EXPECT_EQ(c.system().spectrum.zeros, 2u);
}

// A top on its tip, with a quaternion: upright and spinning it is stable from W = 2 sqrt(I m g l)/J on, I about the tip; two
// pairs of eigenvalues meet on the imaginary axis there. In axes that turn with the body they are shifted by W along it: at the
// critical spin from J W/(2 I) to J W/(2 I) - W.
TEST(Linearization, SleepingTopOnAQuaternion) {
    const std::string text =
        "system top\nparam m = 0.5, l = 0.1, g = 9.81, Ic = 0.003, J = 0.002\ncoord e0 = 1, e1, e2, e3\n"
        "frame B from N quaternion (e0, e1, e2, e3)\npoint C at O + l*B.z\nbody B frame B mass m center C inertia (Ic, Ic, J)\n"
        "gravity -g*N.z\nspeed w1 = dot(omega(B), B.x), w2 = dot(omega(B), B.y), w3 = dot(omega(B), B.z)\nstart w3 = 100\n";
    const double I = 0.003 + 0.5 * 0.01, expected = 2 * std::sqrt(I * 0.5 * 9.81 * 0.1) / 0.002;
    const Case c = good(text, sweep("w3", 20, 120, 6));
    EXPECT_EQ(c.system().kind, TrimKind::steady);
    EXPECT_EQ(c.system().spectrum.unstable(), 0u);
    ASSERT_EQ(c.found->sweep->critical.size(), 1u);
    const CriticalValue& critical = c.found->sweep->critical[0];
    EXPECT_NEAR(critical.value, expected, 1e-10 * expected);
    EXPECT_NEAR(critical.frequency, std::abs(0.002 * expected / (2 * I) - expected), 1e-5 * expected);
    EXPECT_EQ(critical.unstable_before, 2u);
    EXPECT_EQ(critical.unstable_after, 0u);
}

// About the axis of middle inertia: s^2 = w^2 (I3 - I2)(I2 - I1)/(I1 I3); the attitude is ignorable.
TEST(Linearization, FreeBodyAboutItsMiddleAxis) {
    const Case c = good(gallery_text("free_body"), {}, {{"w1", 0}, {"w3", 0}});
    EXPECT_EQ(c.ignorable(), (std::vector<std::string>{"turn(B, x)", "turn(B, y)", "turn(B, z)"}));
    EXPECT_EQ(c.system().spectrum.zeros, 1u);
    ASSERT_EQ(c.system().spectrum.eigenvalues.size(), 2u);
    EXPECT_NEAR(c.system().spectrum.eigenvalues[0].value().real(), 2 * std::sqrt(1.0 / 3), k_round * 4);
    // from a start near that axis the search goes to it, not to rest, where Newton's iteration on the homogeneous u' would lead
    const Case found = good(gallery_text("free_body"), trim(TrimKind::steady));
    EXPECT_EQ(found.value("w1"), 0);
    EXPECT_EQ(found.value("w3"), 0);
    EXPECT_NEAR(found.value("w2"), 2, 1e-3);
    EXPECT_NEAR(found.system().spectrum.eigenvalues[0].value().real(), found.value("w2") * std::sqrt(1.0 / 3), k_round * 4);
}

// A bead on a hoop that turns with W: the lowest point is left at W^2 = g/R.
TEST(Linearization, BeadOnATurningHoop) {
    const std::string text =
        "system hoop\nparam m = 1, R = 0.8, g = 9.81, W = 1\ncoord theta = 0, phi = 0\nframe A from N rotate phi about z\n"
        "frame B from A rotate theta about y\nparticle P mass m at O - R*B.z\ngravity -g*N.z\nconstraint drive: phi' = W\n"
        "start phi' = 1\n";
    const Case c = good(text, sweep("W", 0.5, 6, 12));
    EXPECT_EQ(c.system().dependent.front().name, "phi'");
    ASSERT_EQ(c.found->sweep->critical.size(), 1u);
    EXPECT_NEAR(c.found->sweep->critical[0].value, std::sqrt(9.81 / 0.8), 1e-10 * 3.5);
    // beyond, the other branch: cos(theta) = g/(R W^2)
    const Case off = good(text, trim(TrimKind::steady), {{"W", 5}, {"theta", 0.9}});
    EXPECT_NEAR(std::cos(off.value("theta")), 9.81 / (0.8 * 25), k_round);
    EXPECT_EQ(off.system().spectrum.unstable(), 0u);
}

TEST(Linearization, DampingThatChangesSignIsAPairThatCrosses) {
    const Case c = good(k_oscillator, sweep("c", -1, 2.2, 5));
    ASSERT_EQ(c.found->sweep->critical.size(), 1u);
    EXPECT_NEAR(c.found->sweep->critical[0].value, 0, 1e-15);
    EXPECT_NEAR(c.found->sweep->critical[0].frequency, 2, 1e-12);
    EXPECT_EQ(c.found->sweep->critical[0].unstable_before, 2u);
}

// Two masses on a spring move on together: neither place is ignorable, yet the motion looks the same at all times.
TEST(Linearization, ADriftOfCoupledCoordinatesIsSteady) {
    const std::string text =
        "system pair\nparam k = 3\ncoord x = 0, y = 2\nparticle P mass 1 at O + x*N.x\nparticle Q mass 2 at O + y*N.x\n"
        "force on P = k*(y - x - 2)*N.x\nforce on Q = -k*(y - x - 2)*N.x\nstart x' = 1, y' = 1\n";
    const Case c = good(text);
    EXPECT_EQ(c.system().kind, TrimKind::steady);
    EXPECT_TRUE(c.ignorable().empty());
    EXPECT_EQ(c.system().spectrum.zeros, 2u);  // a Jordan block
    ASSERT_EQ(c.system().spectrum.eigenvalues.size(), 2u);
    EXPECT_NEAR(c.system().spectrum.eigenvalues[0].value().imag(), std::sqrt(3 * 1.5), k_round * 4);
}

// Marle's rod on its servomechanism. Closed: s^2 + 2 c s + k, a double root here, and a free drift. Open, with the force at the
// lower end as input, by hand: m x'' + m l theta'' = F, m l x'' + 4/3 m l^2 theta'' = m g l theta.
TEST(Linearization, ServoClosedAndOpen) {
    const Case closed = good(gallery_text("marle_line"), trim(TrimKind::equilibrium));
    EXPECT_NEAR(closed.value("theta"), 0, k_round);
    EXPECT_NEAR(closed.a("theta'", "theta"), -4, k_round);
    EXPECT_NEAR(closed.a("theta'", "theta'"), -4, k_round);
    ASSERT_EQ(closed.system().spectrum.eigenvalues.size(), 2u);
    for (const Eigenvalue& e : closed.system().spectrum.eigenvalues) EXPECT_LT(std::abs(e.value() - -2.0), 1e-20 + k_round);
    LinearizeRequest request = trim(TrimKind::equilibrium);
    request.open = true;
    const Case open = good(gallery_text("marle_line"), request);
    const double g = 9.81, l = 0.5, m = 1;
    EXPECT_EQ(open.system().inputs.size(), 1u);
    EXPECT_NEAR(open.a("theta'", "theta"), 3 * g / l, 1e-12);
    EXPECT_NEAR(open.a("x'", "theta"), -3 * g, 1e-12);
    EXPECT_NEAR(open.b("theta'"), -3 / (m * l), 1e-13);
    EXPECT_NEAR(open.b("x'"), 4 / m, 1e-13);
}

// ---------------------------------------------------------------- entries as expressions

TEST(Linearization, EntriesAreExpressionsOfTheParametersAndTheState) {
    const auto text = [](const Case& c, const std::string& row, const std::string& column) {
        const NodeId node = c.symbol(row, column);
        return node.valid() ? to_text(c.derivation.dynamics->graph(), node) : std::string();
    };
    const Case pendulum = good(gallery_text("simple_pendulum"), trim(TrimKind::equilibrium));
    EXPECT_EQ(text(pendulum, "theta'", "theta"), "-g/l");
    // the dependent speeds and the multipliers are solved for on the way
    const Case disk = good(gallery_text("rolling_disk"), {}, {{"lean", 0}});
    EXPECT_EQ(text(disk, "lean'", "lean"), "4*g/(5*r)");
    EXPECT_EQ(text(disk, "lean'", "yaw'"), "6*spin'/5");
    EXPECT_EQ(text(disk, "yaw'", "lean'"), "-2*spin'");
    // the restoring force of a rod is its multiplier's: lambda = m g/(2 y), y = -l
    const Case rod = good(
        "system rod\nparam m = 0.7, l = 1.3, g = 9.81\ncoord x = 0, y = -1.3\nparticle P mass m at O + x*N.x + y*N.y\n"
        "gravity -g*N.y\nconstraint rod: dot(P - O, P - O) = l^2\n");
    EXPECT_EQ(text(rod, "x'", "x"), "g/y");
    // speeds that the mass matrix couples have numbers only
    const Case two = good(gallery_text("double_pendulum"), trim(TrimKind::equilibrium));
    EXPECT_EQ(text(two, two.system().variables[2].name, two.system().variables[0].name), "");
    EXPECT_NE(two.system().a(2, 0), 0);
}

// ---------------------------------------------------------------- A is the derivative of the reduced rate

// Central differences at h and h/2 and Richardson's extrapolation miss by h^4 = 1e-32 of the fifth derivatives; what is left of
// fifty digits after the division by h is 1e-40. Bounds of 1e-22 leave ten digits to the size of the derivatives.
class Derivative : public ::testing::TestWithParam<std::string> {};

TEST_P(Derivative, IsWhatDifferencesOnTheConstraintsSay) {
    Derivation d = derive_text(gallery_text(GetParam()));
    ASSERT_TRUE(d.ok());
    const auto start = start_point(d);
    ASSERT_TRUE(start.has_value()) << render(d.diagnostics, d.sources);
    Linearizer linearizer(*d.dynamics);
    const Result<LinearSystem> found = linearizer.at(*start, {TrimKind::instant, {}});
    ASSERT_TRUE(found.ok()) << render(found.diagnostics, d.sources);
    const LinearSystem& system = *found;
    const std::size_t n = system.variables.size();
    ASSERT_GT(n, 0u);
    Digits50 size(1);
    for (const Digits50& entry : system.A) size = std::max(size, Digits50(abs(entry)));
    for (std::size_t j = 0; j < n; ++j) {
        const auto slope = [&](const Digits50& h) {
            const auto above = linearizer.reduced_rate(system, j, h), below = linearizer.reduced_rate(system, j, -h);
            std::vector<Digits50> out;
            for (std::size_t i = 0; i < n; ++i) out.push_back((above[i] - below[i]) / (2 * h));
            return out;
        };
        const Digits50 h("1e-8");
        const auto coarse = slope(h), fine = slope(h / 2);
        for (std::size_t i = 0; i < n; ++i) {
            const Digits50 derivative = (4 * fine[i] - coarse[i]) / 3;
            EXPECT_LT(static_cast<double>(Digits50(abs(Digits50(derivative - system.A[i * n + j])) / size)), 1e-22)
                << system.variables[i].rate_name << " by " << system.variables[j].name;
        }
    }
}

// open trees, position rows, linear and nonlinear nonholonomic rows, rows on accelerations, redundant ones, quaternions, time,
// laws
INSTANTIATE_TEST_SUITE_P(Gallery, Derivative,
                         ::testing::Values("double_pendulum", "sliding_particle", "rolling_disk", "chaplygin_sleigh",
                                           "perpendicular_pucks", "equal_speed_pucks", "appell_hamel_nonlinear",
                                           "nonholonomic_pendulum", "constant_speed_space", "disk_on_sphere", "marle_line",
                                           "redundant_constraints", "free_body", "rheonomic_speed", "rough_ring", "rough_rod"),
                         [](const auto& at) { return at.param; });

// a quaternion with position rows: a rod's two ends on two lines
TEST(Linearization, QuaternionBoundByPositionRows) {
    const std::string text =
        "system bar\nparam m = 2, l = 0.5, g = 9.81\ncoord x = 0.1, y = 0.2, z = 0.3, e0 = 0.9, e1 = 0.1, e2 = 0.3, e3 = 0.2\n"
        "frame B from N quaternion (e0, e1, e2, e3)\npoint C at O + x*N.x + y*N.y + z*N.z\npoint Q at C + l*B.x\n"
        "body B frame B mass m center C inertia (0.01, 0.2, 0.3)\ngravity -g*N.z\n"
        "speed w1 = dot(omega(B), B.x), w2 = dot(omega(B), B.y), w3 = dot(omega(B), B.z), u1 = x', u2 = y', u3 = z'\n"
        "constraint a: x = 0.1\nconstraint b: y = 0.2\nconstraint c: z = 0.3\nconstraint d: dot(Q - O, N.y) = 0.25\n"
        "start w1 = 0.3, w2 = 0.4\n";
    Derivation d = derive_text(text);
    ASSERT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
    const auto start = start_point(d);
    ASSERT_TRUE(start.has_value()) << render(d.diagnostics, d.sources);
    Linearizer linearizer(*d.dynamics);
    const Result<LinearSystem> found = linearizer.at(*start, {TrimKind::instant, {}});
    ASSERT_TRUE(found.ok()) << render(found.diagnostics, d.sources);
    const std::size_t n = found->variables.size();
    EXPECT_EQ(n + found->ignorable.size(), 4u);  // two turns, two speeds
    for (std::size_t j = 0; j < n; ++j) {
        const Digits50 h("1e-12");
        const auto above = linearizer.reduced_rate(*found, j, h), below = linearizer.reduced_rate(*found, j, -h);
        for (std::size_t i = 0; i < n; ++i) {
            const Digits50 derivative = (above[i] - below[i]) / (2 * h);
            EXPECT_LT(std::abs(static_cast<double>(Digits50(derivative - found->A[i * n + j]))), 1e-19)
                << found->variables[i].rate_name << " by " << found->variables[j].name;
        }
    }
}

// ---------------------------------------------------------------- what can not be done is told by name

std::string particle(const std::string& rest) {
    return "system bad\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\n" + rest + "\n";
}

void expect_code(Code code, const std::string& text, const LinearizeRequest& request, const std::string& said) {
    const Case c = linear(text, request);
    EXPECT_FALSE(c.found.has_value());
    EXPECT_EQ(c.derivation.diagnostics.error_count(), 1u) << render(c.derivation.diagnostics, c.derivation.sources);
    EXPECT_TRUE(c.derivation.diagnostics.has(code)) << render(c.derivation.diagnostics, c.derivation.sources);
    EXPECT_NE(render(c.derivation.diagnostics, c.derivation.sources).find(said), std::string::npos)
        << render(c.derivation.diagnostics, c.derivation.sources);
}

TEST(LinearizationRefuses, AStartThatIsNone) {
    expect_code(Code::E1101, particle("force on P = -3*x*N.x"), {}, "x'' = -3");
    expect_code(Code::E1101, particle("force on P = -3*x*N.x\nstart y' = 1"), {}, "no steady motion");
}

TEST(LinearizationRefuses, WhereThereIsNoTrim) {
    expect_code(Code::E1102, particle("gravity -9.81*N.y"), trim(TrimKind::equilibrium), "y'' = -9.81");
    expect_code(Code::E1102, particle("force on P = -x*N.x\nconstraint c: y' = 2\nstart y' = 2"), trim(TrimKind::equilibrium),
                "constraint c keeps the system moving");
    // held away from the only equilibrium
    expect_code(Code::E1102, particle("force on P = -3*x*N.x"), trim(TrimKind::equilibrium, {"x"}), "hold less");
}

TEST(LinearizationRefuses, AMotionWhoseEquationsChange) {
    expect_code(Code::E1103, particle("force on P = -(3 + x)*y*N.y\nstart x' = 1"), {}, "x is not constant");
}

TEST(LinearizationRefuses, Jumps) {
    expect_code(Code::E1104, particle("force on P = -(3*(x - 1) + abs(x - 1))*N.x"), {}, "abs(");
    expect_code(Code::E1104, particle("force on P = -sign(x')*N.x"), {}, "sign(x')");
    expect_code(Code::E1104, particle("force on P = -max(x - 1, 0)*N.x"), {}, "max(");
}

TEST(LinearizationRefuses, ConstraintsThatSayNothingAtRest) {
    // the rows are singular at rest already when the start is put onto them, unless something moves
    expect_code(Code::E1105,
                "system bad\ncoord x = 0, y = 0, z = 0\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\n"
                "force on P = -(x*N.x + y*N.y + z*N.z) - vel(P)\nconstraint c: x'*y' + z'^3 = 0\nstart x' = 1\n",
                trim(TrimKind::equilibrium), "constraint c has no gradient there");
    // two actuators for one row: the split between them is a choice of the program, not of the equations
    expect_code(Code::E1105,
                particle("actuator F: force on P along N.x\nactuator G: force on P along N.x + N.y\nservo s: x' = 0 by F, G"), {},
                "more actuators than servo-constraints");
}

TEST(LinearizationRefuses, NamesThatAreNot) {
    expect_code(Code::E1106, particle("force on P = -x*N.x - y*N.y"), trim(TrimKind::equilibrium, {"xx"}), "--hold xx");
    expect_code(Code::E1106, particle("force on P = -x*N.x - y*N.y"), sweep("mass", 1, 2, 3), "--sweep mass");
}

TEST(Linearization, TimeIsHeldWithAWord) {
    const Case c = good("system parametric\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nforce on P = -(2 + cos(t))*x*N.x\n");
    EXPECT_TRUE(c.derivation.diagnostics.has(Code::N1107));
    EXPECT_NEAR(c.a("x'", "x"), -3, k_round);
}

TEST(Linearization, GapsOfASweepAreTold) {
    // sin(x) = a has no solution beyond one
    const Case c = good("system gap\nparam a = 0\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nforce on P = (a - sin(x))*N.x\n",
                        sweep("a", 0, 1.5, 4, TrimKind::equilibrium));
    EXPECT_TRUE(c.derivation.diagnostics.has(Code::W1108));
    EXPECT_TRUE(c.found->sweep->points[1].found);
    EXPECT_FALSE(c.found->sweep->points[3].found);
}

}  // namespace
}  // namespace appell
