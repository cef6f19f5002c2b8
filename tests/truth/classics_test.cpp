// The classics of the gallery against published numbers and against closed forms written out here. What the models claim
// themselves is tested with the rest of the gallery.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>

#include <fmt/format.h>

#include "pipeline/linearize.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

ReadOptions setting(const std::map<std::string, double>& values) {
    ReadOptions read;
    for (const auto& [name, value] : values) read.set.insert_or_assign(name, value);
    return read;
}

struct LinearCase {
    Derivation derivation;
    std::optional<Linearization> found;
};

LinearCase linear(const std::string& model, const std::map<std::string, double>& set, std::optional<SweepRequest> sweep = {}) {
    LinearCase out{derive_text(gallery_text(model), setting(set)), std::nullopt};
    out.found = linearize(out.derivation, {TrimKind::none, {}, false, std::move(sweep)});
    EXPECT_TRUE(out.found.has_value()) << render(out.derivation.diagnostics, out.derivation.sources);
    return out;
}

std::vector<std::complex<double>> eigenvalues(const LinearSystem& system) {
    std::vector<std::complex<double>> out;
    for (const Eigenvalue& e : system.spectrum.eigenvalues) out.push_back(e.value());
    return out;
}

double distance_to(const std::vector<std::complex<double>>& all, std::complex<double> one) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::complex<double>& e : all) nearest = std::min(nearest, std::abs(e - one));
    return nearest;
}

// ---------------------------------------------------------------- bicycle

// Meijaard, Papadopoulos, Ruina and Schwab, Proc. R. Soc. A 463 (2007), table 2: eigenvalues in 1/s about straight upright
// running at 0, 1, ..., 10 m/s. Of the weave pair the real and the imaginary part; at rest it is real, 3.13164324790656 and
// 5.53094371765393. The digits are those printed there, 13 and 14 behind the point.
struct PublishedSpeed {
    double weave_real, weave_imaginary, capsize, castering;
};
constexpr std::array<PublishedSpeed, 11> k_published{{
    {3.13164324790656, 0, -3.13164324790656, -5.53094371765393},
    {3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442},
    {2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735},
    {1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920},
    {0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576450},
    {-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279820},
    {-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098030},
    {-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262},
    {-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569},
    {-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858},
    {-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404},
}};

TEST(Bicycle, EigenvaluesAndCriticalSpeedsAreThePublishedOnes) {
    const LinearCase c = linear("bicycle", {{"lean'", 0}}, SweepRequest{"x'", 0, 10, 11});
    ASSERT_TRUE(c.found && c.found->sweep);
    const EigenvalueSweep& sweep = *c.found->sweep;
    ASSERT_EQ(sweep.points.size(), k_published.size());
    for (std::size_t v = 0; v < k_published.size(); ++v) {
        const PublishedSpeed& p = k_published[v];
        const std::vector<std::complex<double>>& all = sweep.points[v].eigenvalues;
        ASSERT_EQ(all.size(), 4u) << v;  // the fifth, of the way forward, is zero
        EXPECT_EQ(sweep.points[v].zeros, 1u) << v;
        const double bar = 1e-11;  // what is promised; the last digits of the table are worth 1e-13
        EXPECT_LT(distance_to(all, {p.weave_real, p.weave_imaginary}), bar) << v;
        EXPECT_LT(distance_to(all, v == 0 ? std::complex<double>(5.53094371765393)
                                          : std::complex<double>(p.weave_real, -p.weave_imaginary)),
                  bar)
            << v;
        EXPECT_LT(distance_to(all, p.capsize), bar) << v;
        EXPECT_LT(distance_to(all, p.castering), bar) << v;
    }
    // the same paper, sec. 5 with table 2: weave and capsize speed
    ASSERT_EQ(sweep.critical.size(), 2u);
    EXPECT_NEAR(sweep.critical[0].value, 4.29238253634111, 1e-11);
    EXPECT_EQ(sweep.critical[0].unstable_before, 2u);
    EXPECT_EQ(sweep.critical[0].unstable_after, 0u);
    EXPECT_NEAR(sweep.critical[1].value, 6.02426201538837, 1e-11);
    EXPECT_EQ(sweep.critical[1].unstable_after, 1u);
}

// The same paper, appendix A: M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 for lean and steer, written out from the parameters. It was
// derived there by hand for small angles; here the nonlinear equations are linearized.
TEST(Bicycle, LinearEquationsAreThoseOfTheBenchmark) {
    const double w = 1.02, c = 0.08, tilt = M_PI / 10, g = 9.81, v = 7.3;
    const double rR = 0.3, mR = 2, IRxx = 0.0603, IRyy = 0.12, xB = 0.3, zB = -0.9, mB = 85, IBxx = 9.2, IBzz = 2.8, IBxz = 2.4;
    const double xH = 0.9, zH = -0.7, mH = 4, IHxx = 0.05892, IHzz = 0.00708, IHxz = -0.00756, rF = 0.35, mF = 3, IFxx = 0.1405,
                 IFyy = 0.28;
    const double s = std::sin(tilt), k = std::cos(tilt);
    // the whole
    const double mT = mR + mB + mH + mF, xT = (xB * mB + xH * mH + w * mF) / mT;
    const double zT = (-rR * mR + zB * mB + zH * mH - rF * mF) / mT;
    const double ITxx = IRxx + IBxx + IHxx + IFxx + mR * rR * rR + mB * zB * zB + mH * zH * zH + mF * rF * rF;
    const double ITxz = IBxz + IHxz - mB * xB * zB - mH * xH * zH + mF * w * rF;
    const double ITzz = IRxx + IBzz + IHzz + IFxx + mB * xB * xB + mH * xH * xH + mF * w * w;
    // the front assembly, about the steering axis
    const double mA = mH + mF, xA = (xH * mH + w * mF) / mA, zA = (zH * mH - rF * mF) / mA;
    const double IAxx = IHxx + IFxx + mH * (zH - zA) * (zH - zA) + mF * (rF + zA) * (rF + zA);
    const double IAxz = IHxz - mH * (xH - xA) * (zH - zA) + mF * (w - xA) * (rF + zA);
    const double IAzz = IHzz + IFxx + mH * (xH - xA) * (xH - xA) + mF * (w - xA) * (w - xA);
    const double uA = (xA - w - c) * k - zA * s;
    const double IAll = mA * uA * uA + IAxx * s * s + 2 * IAxz * s * k + IAzz * k * k;
    const double IAlx = -mA * uA * zA + IAxx * s + IAxz * k, IAlz = mA * uA * xA + IAxz * s + IAzz * k;
    const double mu = c / w * k, SR = IRyy / rR, SF = IFyy / rF, ST = SR + SF, SA = mA * uA + mu * mT * xT;
    const double M[2][2] = {{ITxx, IAlx + mu * ITxz}, {IAlx + mu * ITxz, IAll + 2 * mu * IAlz + mu * mu * ITzz}};
    const double K0[2][2] = {{mT * zT, -SA}, {-SA, -SA * s}};
    const double K2[2][2] = {{0, (ST - mT * zT) / w * k}, {0, (SA + SF * s) / w * k}};
    const double C1[2][2] = {{0, mu * ST + SF * k + ITxz / w * k - mu * mT * zT},
                             {-(mu * ST + SF * k), IAlz / w * k + mu * (SA + ITzz / w * k)}};

    const LinearCase found = linear("bicycle", {{"lean'", 0}, {"x'", v}});
    ASSERT_TRUE(found.found.has_value());
    const LinearSystem& system = found.found->system;
    const auto at = [&](const std::string& name) {
        for (std::size_t i = 0; i < system.variables.size(); ++i)
            if (system.variables[i].name == name) return i;
        ADD_FAILURE() << name;
        return std::size_t{0};
    };
    const std::size_t rows[2] = {at("lean'"), at("steer'")}, columns[2] = {at("lean"), at("steer")};
    const double determinant = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            double stiffness = 0, damping = 0;
            for (int l = 0; l < 2; ++l) {
                const double inverse = (i == l ? M[1 - i][1 - i] : -M[i][l]) / determinant;
                stiffness -= inverse * (g * K0[l][j] + v * v * K2[l][j]);
                damping -= inverse * v * C1[l][j];
            }
            // a few dozen roundings of sums of about 100
            EXPECT_NEAR(system.a(rows[i], columns[j]), stiffness, 1e-11);
            EXPECT_NEAR(system.a(rows[i], rows[j]), damping, 1e-11);
        }
}

// Basu-Mandal, Chatterjee and Papadopoulos, Hands-free circular motions of a benchmark bicycle, Proc. R. Soc. A 463 (2007), table
// 1: accelerations at a state with a lean of 36 degrees, by two derivations of their own. Theirs are x backward, z up, psi = 90
// deg - lean, phi = 180 deg - pitch, and all rates against ours. State and accelerations have 13 digits.
TEST(Bicycle, AcceleratesAsPublishedFarFromUpright) {
    RunOptions short_run;
    short_run.until = 1e-3;
    const TextRun r =
        run_text(gallery_text("bicycle") +
                     "output a1 = yaw'', a2 = lean'', a3 = pitch'', a4 = steer'', a5 = rear'', a6 = front''\n"
                     "output ax = dot(acc(RC), N.x), ay = dot(acc(RC), N.y), az = dot(acc(RC), N.z)\n",
                 short_run,
                 setting({{"lean", M_PI / 2 - 0.9501292851472},
                          {"pitch", M_PI - 3.1257073014894},
                          {"steer", -0.2311385135743},
                          {"yaw'", -0.7830033527065},
                          {"lean'", -0.6068425835418},
                          {"pitch'", 0.0119185528069},
                          {"steer'", -0.4859824687093},
                          {"rear'", -8.9129896614890},
                          {"front'", -8.0133620584155},
                          {"x'", 0.3 * 8.9129896614890 - 0.3 * 0.0119185528069},  // rolling, the wheel turning with the frame
                          {"y'", 0}}));
    const double bar = 1e-10;  // a change of the state in its 13th digit, times what the accelerations make of it
    EXPECT_NEAR(r.at(0, "a1"), -0.8353281706379, bar);
    EXPECT_NEAR(r.at(0, "a2"), 7.8555281128244, bar);
    EXPECT_NEAR(r.at(0, "a3"), -0.1205543897884, bar);
    EXPECT_NEAR(r.at(0, "a4"), 4.6198904039403, bar);
    EXPECT_NEAR(r.at(0, "a5"), -1.8472554144217, bar);
    EXPECT_NEAR(r.at(0, "a6"), -2.4548072904550, bar);
    EXPECT_NEAR(r.at(0, "ax"), 0.5041626315047, bar);
    EXPECT_NEAR(r.at(0, "ay"), -0.3449706619454, bar);
    EXPECT_NEAR(r.at(0, "az"), 1.4604528332980, bar);
}

TEST(Bicycle, KeepsEnergyAndContactsAtAnyLean) {
    for (const double lean : {0.3, 0.8, 1.2, 1.4}) {
        RunOptions options;
        options.until = 1;
        const TextRun r = run_text(gallery_text("bicycle"), options, setting({{"lean", lean}, {"lean'", 0}}));
        EXPECT_EQ(r.run.summary.reason, EndReason::finished) << lean;
        EXPECT_LT(r.run.summary.position_scaled, 1e-12) << lean;
        EXPECT_LT(r.run.summary.velocity_scaled, 1e-12) << lean;
        EXPECT_LT(r.run.energy.largest_change / r.run.energy.largest, 1e-6) << lean;  // a thousand times rtol
    }
}

// figure 4 of the benchmark: 4.6 m/s and a lean rate of 0.5 rad/s. Between weave and capsize speed the disturbance dies out, the
// energy of the wobble goes into forward speed.
TEST(Bicycle, RidesItselfBetweenTheCriticalSpeeds) {
    const TextRun r = run_text(gallery_text("bicycle"));
    const std::size_t last = r.run.rows() - 1;
    EXPECT_LT(std::abs(r.at(last, "lean'")), 0.1);
    EXPECT_GT(r.at(last, "forward"), r.at(0, "forward") + 0.005);
    // no more than 1/2 I lean'^2 can give: I = 80.8 kg m^2 about the track, 94 kg
    EXPECT_LT(r.at(last, "forward"), r.at(0, "forward") + 0.5 * 80.8 * 0.5 * 0.5 / (94 * 4.6));
}

// ---------------------------------------------------------------- tops

TEST(Rattleback, ReversesOneWayOnly) {
    const TextRun against = run_text(gallery_text("rattleback"));
    double most = -5;
    for (std::size_t i = 0; i < against.run.rows(); ++i) most = std::max(most, against.at(i, "spin"));
    EXPECT_EQ(against.at(0, "spin"), -5);
    EXPECT_GT(most, 1);
    EXPECT_GT(against.at(against.run.rows() - 1, "spin"), 1);
    const TextRun along = run_text(gallery_text("rattleback"), {}, setting({{"yaw'", 5}}));
    for (std::size_t i = 0; i < along.run.rows(); ++i) EXPECT_GT(along.at(i, "spin"), 1);
}

// Without the air the equations are those of a reversible system: spun the other way, every eigenvalue is the negative one.
TEST(Rattleback, EigenvaluesOfTheTwoWaysAreOpposite) {
    const LinearCase there = linear("rattleback", {{"lean", 0}, {"sigma", 0}, {"yaw'", 5}});
    const LinearCase back = linear("rattleback", {{"lean", 0}, {"sigma", 0}, {"yaw'", -5}});
    ASSERT_TRUE(there.found && back.found);
    const auto a = eigenvalues(there.found->system), b = eigenvalues(back.found->system);
    ASSERT_EQ(a.size(), 4u);
    for (const std::complex<double>& e : a) {
        EXPECT_LT(distance_to(b, -e), 1e-13 * std::abs(e));
        EXPECT_GT(std::abs(e.real()), 0.1);  // and none is neutral: that is the rattleback
    }
}

TEST(TippeTop, TurnsOverWhenSpunFastEnough) {
    const TextRun r = run_text(gallery_text("tippe_top"));
    const std::size_t last = r.run.rows() - 1;
    EXPECT_NEAR(r.at(0, "tilt"), 0.1, 1e-12);
    EXPECT_GT(r.at(last, "tilt"), 3.1);
    EXPECT_LT(r.at(last, "w3"), -50);                           // in space it spins on in the same sense
    EXPECT_NEAR(r.at(last, "height"), 0.02 * (1 + 0.3), 1e-5);  // R (1 + a), from R (1 - a)
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        EXPECT_NEAR(r.at(i, "jellett") / r.at(0, "jellett"), 1, 1e-6);  // a thousand times rtol
        if (i > 0) {
            EXPECT_LE(r.at(i, "E"), r.at(i - 1, "E") + 1e-10);
        }
    }
}

// Rauch-Wojciechowski and Rutstam, SIGMA 10 (2014), 017: the inverted top is stable, and is reached, where Jellett's integral is
// above sqrt(m g R^3 I3 a) (1 + a)^2/sqrt(1 + a - I1/I3). Just below it the top comes to hang at an angle.
TEST(TippeTop, TurnsOverAboveThePublishedThreshold) {
    const double m = 0.02, g = 9.82, R = 0.02, a = 0.3, I3 = 0.4 * m * R * R, ratio = 131.0 / 350 / 0.4;
    const double threshold = std::sqrt(m * g * R * R * R * I3 * a) * (1 + a) * (1 + a) / std::sqrt(1 + a - ratio);
    for (const auto& [spin, over] : {std::pair{75.0, false}, {80.0, true}}) {
        RunOptions longer;
        longer.until = 30;
        const TextRun r = run_text(gallery_text("tippe_top"), longer, setting({{"w3", spin}}));
        EXPECT_EQ(r.at(0, "jellett") > threshold, over) << spin;
        EXPECT_NEAR(r.at(0, "jellett"), threshold, 0.04 * threshold) << spin;
        const double tilt = r.at(r.run.rows() - 1, "tilt");
        EXPECT_EQ(tilt > 3.1, over) << spin << " " << tilt;
        EXPECT_GT(tilt, 2) << spin;
    }
}

// near the middle axis: exp(s t) with s = w2 sqrt((I2 - I1)(I3 - I2)/(I1 I3)) = 2/sqrt(3)
TEST(FreeBody, LeavesItsMiddleAxisAtTheClosedRate) {
    const LinearCase c = linear("free_body", {{"w1", 0}, {"w3", 0}});
    ASSERT_TRUE(c.found.has_value());
    EXPECT_LT(distance_to(eigenvalues(c.found->system), 2 / std::sqrt(3.0)), 1e-14);
    EXPECT_LT(distance_to(eigenvalues(c.found->system), -2 / std::sqrt(3.0)), 1e-14);
}

// ---------------------------------------------------------------- wheels and blades

// Without the force, m v^2 + (I + m a^2) w^2 is constant, m V^2, and v' = a w^2 gives v = V tanh(a m V/(I + m a^2) (t - t0)).
TEST(ChaplyginSleigh, FollowsTheHyperbolicTangent) {
    const TextRun r = run_text(gallery_text("chaplygin_sleigh"), {}, setting({{"F", 0}}));
    const double m = 2, a = 0.4, I = 0.5 + m * a * a, v0 = r.at(0, "along"), w0 = r.at(0, "u2");
    const double V = std::sqrt(v0 * v0 + I / m * w0 * w0), rate = a * m * V / I, t0 = -std::atanh(v0 / V) / rate;
    EXPECT_LT(v0, -0.9);
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double v = V * std::tanh(rate * (r.run.t(i) - t0));
        EXPECT_NEAR(r.at(i, "along"), v, 1e-7);  // a thousand times rtol
        EXPECT_NEAR(r.at(i, "u2"), std::sqrt(std::max(0.0, m / I * (V * V - v * v))), 1e-6);
    }
    EXPECT_GT(r.at(r.run.rows() - 1, "along"), 0.9);  // turned over: the mass centre runs ahead
}

// the momentum equation of the snakeboard, integrated here by the classical method of Runge and Kutta
TEST(Snakeboard, MovesFromRestByItsGait) {
    const TextRun r = run_text(gallery_text("snakeboard"));
    const double M = 4 + 1 + 2 * 0.5, Jr = 0.12, l = 0.2, I = 0.05 + Jr + 2 * 0.005 + 2 * 0.5 * l * l;
    const auto rate = [&](double t, double v) {
        const double phi = 0.5 * std::sin(3 * t), turning = 0.5 * 3 * std::cos(3 * t), psi2 = -0.7 * 9 * std::sin(3 * t);
        const double T = std::tan(phi), c = std::cos(phi);
        return -(Jr * T * psi2 / l + I * T * turning * v / (l * l * c * c)) / (M + I * T * T / (l * l));
    };
    double v = 0;
    const double h = 0.001;  // its error is below 1e-10
    std::size_t row = 0;
    for (int i = 0; i <= 10'000; ++i) {
        const double t = i * h;
        if (i % 10 == 0) {
            ASSERT_NEAR(r.run.t(row), t, 1e-12);
            EXPECT_NEAR(r.at(row++, "along"), v, 1e-6);  // a thousand times rtol
        }
        const double k1 = rate(t, v), k2 = rate(t + h / 2, v + h / 2 * k1), k3 = rate(t + h / 2, v + h / 2 * k2);
        v += h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(t + h, v + h * k3));
    }
    EXPECT_EQ(r.at(0, "along"), 0);
    EXPECT_GT(r.at(r.run.rows() - 1, "x"), 3);
    // with the wheels straight the rotor turns the board to and fro, or would: the blades hold it
    const TextRun straight = run_text(gallery_text("snakeboard"), {}, setting({{"turn", 0}}));
    EXPECT_NEAR(straight.at(straight.run.rows() - 1, "x"), 0, 1e-12);
}

// Jean, ESAIM: COCV 1 (1996): with n trailers the dimension is n + 3, and away from singular positions each bracket gives one
// more
TEST(CarWithTrailers, HasTheKnownGrowthVector) {
    for (const int n : {1, 2, 3, 4}) {
        Derivation d = derive_text(gallery_text("car_with_trailers"), setting({{"n", n}}));
        const auto found = check(d);
        ASSERT_TRUE(found.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has_errors()) << render(d.diagnostics, d.sources);
        ASSERT_TRUE(found->diagnosis.integrability.has_value());
        std::vector<std::size_t> growth;
        for (int k = 2; k <= n + 3; ++k) growth.push_back(static_cast<std::size_t>(k));
        EXPECT_EQ(found->diagnosis.integrability->growth, growth);
        EXPECT_EQ(found->diagnosis.integrability->hidden(), 0u);
    }
}

// The centre of a ball on a turntable runs on a circle: 2/7 w for a uniform one (here W), the centre of the circle a quarter turn
// from the velocity, v/W away.
TEST(BallOnTurntable, RunsOnACircle) {
    const TextRun r = run_text(gallery_text("ball_on_turntable"));
    const double W = 2.0 / 7 * 4, vx = 0.1, vy = 0.2, x0 = 0.2 - vy / W, y0 = vx / W;
    for (std::size_t i = 0; i < r.run.rows(); ++i) {
        const double c = std::cos(W * r.run.t(i)), s = std::sin(W * r.run.t(i));
        EXPECT_NEAR(r.at(i, "x"), x0 + (c * vy + s * vx) / W, 1e-7);  // a thousand times rtol
        EXPECT_NEAR(r.at(i, "y"), y0 + (s * vy - c * vx) / W, 1e-7);
    }
}

// A frame of a quaternion is orthonormal to the digits that its norm has.
TEST(RollingBall, ClaimsOnAttitudeHaveFiftyDigits) {
    Derivation d = derive_text(gallery_text("rolling_ball"));
    const auto found = check(d);
    ASSERT_TRUE(found.has_value());
    for (const ClaimResult& claim : found->claims.claims) EXPECT_LT(claim.residual, 1e-40) << claim.label;
}

// ---------------------------------------------------------------- linkages

TEST(FourBar, RedundantRowsAreNamed) {
    Derivation d = derive_text(gallery_text("four_bar"));
    const auto found = check(d);
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(d.diagnostics.has(Code::W0813));
    const Redundancy& redundancy = found->diagnosis.redundancy;
    EXPECT_EQ(redundancy.rows, 10u);
    EXPECT_EQ(redundancy.rank, 7u);
    EXPECT_EQ(redundancy.dependent.size(), 3u);
    EXPECT_EQ(redundancy.determinate.size(), 4u);  // the forces in the plane
    // the same hinges keep the axis once more
    std::size_t plain = 0;
    for (const DependentRow& row : redundancy.dependent) plain += row.terms.size() == 1 ? 1 : 0;
    EXPECT_EQ(plain, 2u);
}

// A parallelogram that is stretched out may go on as one or fold over; a crank as long as its rod may go on or turn on the spot.
TEST(Linkages, SingularPositionsAreReported) {
    struct Case {
        std::string model, name;
        double value, angle;
    };
    for (const Case& c : {Case{"four_bar", "c", 0.3, M_PI}, Case{"slider_crank", "l", 0.1, M_PI / 2}}) {
        Derivation d = derive_text(gallery_text(c.model), setting({{c.name, c.value}}));
        const auto found = check(d);
        ASSERT_TRUE(found.has_value()) << c.model;
        ASSERT_TRUE(found->diagnosis.singular.has_value());
        // where steps happen to end must not matter: several of these runs pass a watch that asks the pivots alone
        for (const char* how : {"multipliers", "minimal", "udwadia-kalaba"})
            for (const char* integrator : {"dopri5", "dop853"})
                for (const double rtol : {1e-5, 1e-6, 5e-8, 2e-8, 1e-8, 1e-9, 1e-10}) {
                    Derivation e = derive_text(gallery_text(c.model), setting({{c.name, c.value}}));
                    RunOptions options;
                    options.formulation = how;
                    options.integrator = integrator;
                    options.rtol = rtol;
                    const auto result = run(e, options);
                    const std::string where =
                        fmt::format("{}, {}, {} {}: {}", c.model, how, integrator, rtol, render(e.diagnostics, e.sources));
                    ASSERT_TRUE(result.has_value()) << where;
                    EXPECT_EQ(result->summary.reason, EndReason::rank_loss) << where;
                    EXPECT_TRUE(e.diagnostics.has(Code::E0808)) << where;
                    // within the reach of the watch, a thousandth where steps can not be projected
                    EXPECT_NEAR(result->summary.x_end[0], c.angle, 1e-3 * c.angle) << where;
                }
    }
}

// the parallelogram with as many rows as are needed: a gradient vanishes where it is stretched out
TEST(Linkages, AStretchedParallelogramIsNoFailureOfProjection) {
    Derivation d = derive_text(R"(system parallelogram
param a = 0.3, b = 0.9, m = 1, g = 9.81
coord theta = 90 deg, psi = 90 deg, yaw = 0
start theta' = 12, psi' = 12
frame A from N rotate theta about z
frame C from N rotate psi about z
frame B from N rotate yaw about z
particle P mass m at O + a*A.x
particle Q mass m at O + b*N.x + a*C.x
point S at P + b*B.x
gravity -g*N.y
constraint loop: dot(pos(S) - pos(Q), N.x) = 0, dot(pos(S) - pos(Q), N.y) = 0
body B frame B mass m center at P + b/2*B.x inertia (0, 0.1, 0.1)
run for 3, rtol 1e-9, atol 1e-9
)");
    const auto result = run(d, {});
    ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
    EXPECT_EQ(result->summary.reason, EndReason::rank_loss) << render(d.diagnostics, d.sources);
    EXPECT_NEAR(result->summary.x_end[0], M_PI, 3e-3);
}

// Half a period of Bricard's loop from its one equation of motion, J q'^2/2 + V = const: the angles alternate, sin q2 = -sin
// q1/(1 + sin q1); the chain of rods and its potential are built here, J by differences.
TEST(Bricard, SwingsWithThePeriodOfItsOneFreedom) {
    using Point = std::array<double, 3>;
    const auto points = [](double q1) {
        const double q2 = std::asin(-std::sin(q1) / (1 + std::sin(q1))), q[5] = {q1, q2, q1, q2, q1};
        const int axis[5] = {1, 2, 0, 1, 2};
        const Point along[5] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 1, 0}};
        std::array<Point, 3> basis{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        std::array<Point, 6> out{};
        for (std::size_t i = 0; i < 5; ++i) {
            // turned about one of its vectors: the two behind it, in the cyclic order, mix
            const std::size_t u = static_cast<std::size_t>(axis[i] + 1) % 3, v = (u + 1) % 3;
            const Point e = basis[u], f = basis[v];
            for (std::size_t k = 0; k < 3; ++k) {
                basis[u][k] = std::cos(q[i]) * e[k] + std::sin(q[i]) * f[k];
                basis[v][k] = std::cos(q[i]) * f[k] - std::sin(q[i]) * e[k];
            }
            for (std::size_t k = 0; k < 3; ++k) {
                out[i + 1][k] = out[i][k];
                for (std::size_t j = 0; j < 3; ++j) out[i + 1][k] += along[i][j] * basis[j][k];
            }
        }
        return out;
    };
    const auto potential = [&](double q) {
        const auto p = points(q);
        double sum = 0;
        for (std::size_t i = 0; i < 5; ++i) sum += 9.81 * (p[i][1] + p[i + 1][1]) / 2;
        return sum;
    };
    const auto inertia = [&](double q) {
        const double h = 1e-5;
        const auto a = points(q + h), b = points(q - h);
        double sum = 0;  // a uniform rod whose ends move with v and w: m (v.v + v.w + w.w)/3
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t k = 0; k < 3; ++k) {
                const double v = (a[i][k] - b[i][k]) / (2 * h), w = (a[i + 1][k] - b[i + 1][k]) / (2 * h);
                sum += (v * v + v * w + w * w) / 3;
            }
        return sum;
    };
    EXPECT_NEAR(points(0.7)[5][2], 1, 1e-14);  // the loop is closed
    // q = pi/2 (1 - cos s) takes away the ends, where the motion rests
    double half = 0;
    const int parts = 4000;
    for (int i = 0; i < parts; ++i) {
        const double s = (i + 0.5) * M_PI / parts, q = M_PI / 2 * (1 - std::cos(s));
        half += std::sqrt(inertia(q) / (2 * (potential(0) - potential(q)))) * M_PI / 2 * std::sin(s) * M_PI / parts;
    }
    const TextRun r = run_text(gallery_text("bricard"));
    std::vector<double> turns;
    for (std::size_t i = 1; i + 1 < r.run.rows(); ++i) {
        const double a = r.at(i, "q1'"), b = r.at(i + 1, "q1'");
        if (a * b < 0) turns.push_back(r.run.t(i) + 0.01 * a / (a - b));
    }
    ASSERT_EQ(turns.size(), 4u);
    for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_NEAR(turns[i], static_cast<double>(i + 1) * half, 1e-5);
}

// ---------------------------------------------------------------- driven pendulums

TEST(KapitzaPendulum, StandsUprightWhereItIsShakenFastEnough) {
    const double a = 0.01, l = 0.2, g = 9.81, W = 300;
    const TextRun r = run_text(gallery_text("kapitza_pendulum"));
    std::vector<double> crossings;
    for (std::size_t i = 0; i + 1 < r.run.rows(); ++i) {
        EXPECT_LT(std::abs(r.at(i, "lean")), 0.2);
        const double p = r.at(i, "slow"), q = r.at(i + 1, "slow");
        if (p * q < 0) crossings.push_back(r.run.t(i) + 0.002 * p / (p - q));
    }
    ASSERT_GE(crossings.size(), 4u);
    const double half = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    // Landau and Lifshitz, sec. 30; its corrections are of the order of the square of the swing, of a/l and of g/(l W^2)
    EXPECT_NEAR(half, M_PI / std::sqrt(a * a * W * W / (2 * l * l) - g / l), 0.03 * half);
    for (const auto& [rate, falls] : {std::pair{170.0, true}, {210.0, false}}) {  // the border is sqrt(2 g l)/a = 198
        const TextRun s = run_text(gallery_text("kapitza_pendulum"), {}, setting({{"W", rate}, {"theta", M_PI - 0.01}}));
        double most = 0;
        for (std::size_t i = 0; i < s.run.rows(); ++i) most = std::max(most, std::abs(s.at(i, "lean")));
        EXPECT_EQ(most > 1, falls) << rate << " " << most;
    }
}

// The plane turns at -W sin(latitude). Let go at rest in the hall, the bob describes an ellipse with axes in the ratio W
// sin(latitude)/sqrt(g/l) = 1.4e-4, which by the pendulum's own nonlinearity turns by 3/8 sqrt(g/l) a b/l^2 = 4e-8 rad/s: 1.5e-4
// rad in an hour. As much again is the wobble of the direction as it is read off.
TEST(FoucaultPendulum, TurnsWithTheSineOfTheLatitude) {
    const TextRun r = run_text(gallery_text("foucault_pendulum"));
    const double rate = 7.292115e-5 * std::sin(48.8462 * M_PI / 180);
    for (std::size_t i = 0; i < r.run.rows(); ++i) EXPECT_NEAR(r.at(i, "plane"), -rate * r.run.t(i), 3e-4);
    EXPECT_NEAR(r.at(r.run.rows() - 1, "plane") * 180 / M_PI, -11.3, 0.05);  // degrees in an hour
}

}  // namespace
}  // namespace appell
