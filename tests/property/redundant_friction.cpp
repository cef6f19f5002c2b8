// Friction beside redundant rows. A law sees the multipliers of least norm; where it depends on forces that are unique, motion
// and determinate forces are those of the model without the redundant rows.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell", "voronec"};

// of these, those whose solves stay small with the many rows of feet that stick
constexpr std::array k_fast{"multipliers", "nonminimal", "gibbs-appell"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }
    double factor() { return (uniform(-1, 1) < 0 ? -1 : 1) * std::exp(uniform(std::log(0.01), std::log(100))); }
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

private:
    std::mt19937 random_;
};

std::string text(double x) { return fmt::format("({:.17g})", x); }

double last(const TextRun& r, const std::string& column) { return r.at(r.run.rows() - 1, column); }

struct Guide {
    std::string name, gap;  // gap = 0
};

// A body on a table, in guides that hold it upright and on a line; rows that follow from those of the guides.
struct GuidedBody {
    std::string plain, planted;              // model texts
    std::vector<std::vector<double>> parts;  // by planted row, of each guide
    std::vector<std::string> guides;
};

GuidedBody guided_body(Draw& draw, bool by_law) {
    const std::vector<Guide> guides{{"level", "roll"}, {"upright", "pitch"}, {"straight", "yaw"}, {"side", "y"}};
    GuidedBody out;
    out.plain = fmt::format(
        "system guided\nparam m = {}, mu = {}\ncoord x = 0, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0\n"
        "frame B from N body zyx (yaw, pitch, roll)\n"
        "body T frame B mass m center at O + x*N.x + y*N.y + z*N.z inertia ({}, {}, {})\npoint Q at T_o + {}*B.x + {}*B.y + "
        "{}*B.z\n"
        "gravity -9.81*N.z\nforce on T at Q = {}*N.x + {}*N.y + {}*N.z\nconstraint table: dot(pos(T_o), N.z) = 0\n",
        draw.uniform(0.5, 3), draw.uniform(0.05, 0.4), draw.uniform(0.1, 1), draw.uniform(0.1, 1), draw.uniform(0.1, 1),
        text(draw.uniform(-1, 1)), text(draw.uniform(-1, 1)), text(draw.uniform(-1, 1)), text(draw.uniform(-2, 2)),
        text(draw.uniform(-2, 2)), text(draw.uniform(-2, 2)));
    for (const Guide& guide : guides) {
        out.plain += fmt::format("constraint {}: {} = 0\n", guide.name, guide.gap);
        out.guides.push_back(guide.name);
    }
    out.plain += by_law ? "nonideal table: force on T at T_o = -mu*abs(reaction(table))*unit(vel(T_o))\n"
                        : "nonideal table: friction on T at T_o = mu*reaction(table)\n";
    out.plain += fmt::format("start x' = {}\nrun for 0.2, every 0.05, rtol 1e-10, atol 1e-12\n", draw.uniform(1, 3));
    out.planted = out.plain;
    const std::size_t count = 1 + draw.below(3);
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<double> parts(guides.size(), 0.0);
        const std::size_t how = draw.below(3);  // a copy, a multiple, a sum
        for (std::size_t n = 0; n < (how == 2 ? 2 : 1); ++n) parts[draw.below(guides.size())] += how == 0 ? 1 : draw.factor();
        std::string gap;
        const bool rates = draw.below(2) == 0;  // written on velocities
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (parts[i] != 0)
                gap += fmt::format("{}{}*{}{}", gap.empty() ? "" : " + ", text(parts[i]), guides[i].gap, rates ? "'" : "");
        out.planted += fmt::format("constraint planted{}: {} = 0\n", k, gap);
        out.parts.push_back(parts);
    }
    return out;
}

TEST(RedundantFriction, GuidesOfABodyOnATable) {
    Draw draw(1);
    for (std::size_t k = 0; k < members(); ++k) {
        const GuidedBody body = guided_body(draw, k % 2 == 0);
        RunOptions options;
        options.formulation = k_formulations[k % k_formulations.size()];
        const TextRun plain = run_text(body.plain), planted = run_text(body.planted, options);
        ASSERT_EQ(plain.run.rows(), planted.run.rows());
        EXPECT_EQ(planted.run.summary.reason, EndReason::finished);
        // two integrations, each to its tolerance
        for (const char* column : {"x", "x'", "y", "z", "yaw"})
            EXPECT_NEAR(last(planted, column), last(plain, column), 1e-8) << k << ' ' << *options.formulation << '\n'
                                                                          << body.planted;
        EXPECT_NEAR(last(planted, "lambda(table)"), last(plain, "lambda(table)"), 1e-8) << k;
        for (std::size_t i = 0; i < body.guides.size(); ++i) {
            double sum = last(planted, "lambda(" + body.guides[i] + ")"), size = 1 + std::abs(sum);
            for (std::size_t r = 0; r < body.parts.size(); ++r) {
                const double part = body.parts[r][i] * last(planted, fmt::format("lambda(planted{})", r));
                sum += part;
                size += std::abs(part);
            }
            EXPECT_NEAR(sum, last(plain, "lambda(" + body.guides[i] + ")"), 1e-8 * size) << k << ' ' << body.guides[i];
        }
        if (::testing::Test::HasFailure()) return;
    }
}

// A table on n feet around a circle of radius R, its mass centre at the height h above them.
std::string table_on_feet(std::size_t feet, double R, double h, double mu, double mass, double inertia, double turned,
                          const std::string& start, double T) {
    std::string out = fmt::format(
        "system feet\ncoord x = 0, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0\nframe B from N body zyx (yaw, pitch, roll)\n"
        "body T frame B mass {} center at O + x*N.x + y*N.y + (z + {})*N.z inertia (1, 1, {})\ngravity -9.81*N.z\n",
        text(mass), text(h), text(inertia));
    for (std::size_t i = 0; i < feet; ++i) {
        const double angle = turned + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(feet);
        out += fmt::format(
            "point F{0} at T_o + {1}*B.x + {2}*B.y - {3}*B.z\nconstraint c{0}: dot(pos(F{0}), N.z) >= 0\n"
            "nonideal c{0}: friction on T at F{0} = {4}*reaction(c{0})\n",
            i, text(R * std::cos(angle)), text(R * std::sin(angle)), text(h), text(mu));
    }
    return out + start + fmt::format("run for {}, every {}, rtol 1e-9, atol 1e-11\n", text(T), text(T / 4));
}

// It slides until v = 0: x = v0 t - mu g t^2/2. The feet carry what balances the moment of friction, linear over the plane: least
// norm. With s the place of a foot along the slip, N = m g/n + s mu m g h / sum s^2, and sum s^2 = n R^2/2.
TEST(RedundantFriction, TablesThatSlide) {
    Draw draw(2);
    for (std::size_t k = 0; k < members(6); ++k) {
        const std::size_t feet = 4;
        const double R = draw.uniform(0.5, 1), mu = draw.uniform(0.1, 0.4), m = draw.uniform(1, 5);
        const double h = draw.uniform(0.1, 0.8) * R / (2 * mu);  // it does not tip
        const double v0 = draw.uniform(0.5, 2), turned = draw.uniform(0, 3), way = draw.uniform(0, 6), g = 9.81;
        const double stop = v0 / (mu * g), T = stop * draw.uniform(0.5, 1.5);
        RunOptions options;
        options.formulation = k_fast[k % k_fast.size()];
        const TextRun r = run_text(
            table_on_feet(feet, R, h, mu, m, draw.uniform(0.1, 1), turned,
                          fmt::format("start x' = {}, y' = {}\n", text(v0 * std::cos(way)), text(v0 * std::sin(way))), T),
            options);
        const double t = std::min(T, stop), distance = v0 * t - mu * g * t * t / 2;
        EXPECT_NEAR(last(r, "x"), distance * std::cos(way), 1e-7) << k << ' ' << *options.formulation;
        EXPECT_NEAR(last(r, "y"), distance * std::sin(way), 1e-7) << k;
        EXPECT_NEAR(last(r, "yaw"), 0, 1e-7) << k;
        for (std::size_t i = 0; i < feet; ++i) {
            const double s =
                R * std::cos(turned + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(feet) - way);
            EXPECT_NEAR(r.at(0, fmt::format("lambda(c{})", i)),
                        m * g / static_cast<double>(feet) + s * mu * m * g * h / (static_cast<double>(feet) * R * R / 2), 1e-8)
                << k;
        }
        if (::testing::Test::HasFailure()) return;
    }
}

// It spins about its axis until it rests: I yaw'' = -mu m g R
TEST(RedundantFriction, TablesThatSpin) {
    Draw draw(3);
    for (std::size_t k = 0; k < members(6); ++k) {
        const std::size_t feet = 4;
        const double R = draw.uniform(0.5, 1), mu = draw.uniform(0.1, 0.4), m = draw.uniform(1, 5), I = draw.uniform(0.2, 1),
                     g = 9.81;
        const double w0 = draw.uniform(1, 4), slower = mu * m * g * R / I, stop = w0 / slower, T = stop * draw.uniform(0.5, 1.5);
        RunOptions options;
        options.formulation = k_fast[k % k_fast.size()];
        const TextRun r = run_text(table_on_feet(feet, R, draw.uniform(0.1, 0.8), mu, m, I, draw.uniform(0, 3),
                                                 fmt::format("start yaw' = {}\n", text(w0)), T),
                                   options);
        const double t = std::min(T, stop);
        EXPECT_NEAR(last(r, "yaw"), w0 * t - slower * t * t / 2, 1e-7) << k << ' ' << *options.formulation;
        EXPECT_NEAR(last(r, "x"), 0, 1e-8) << k;
        for (std::size_t i = 0; i < feet; ++i)
            EXPECT_NEAR(last(r, fmt::format("lambda(c{})", i)), m * g / static_cast<double>(feet), 1e-7) << k;
        if (::testing::Test::HasFailure()) return;
    }
}

// Two guides written one over the other carry N together, one of them rough: v' = -mu N_rough/m. As they are, 1 : w, and the
// least norm of multipliers that belong to rows 1 and s times the gap.
TEST(RedundantFriction, SharesDecideWhereTheMotionDependsOnThem) {
    Draw draw(4);
    for (std::size_t k = 0; k < members(); ++k) {
        const double m = draw.uniform(1, 3), mu = draw.uniform(0.1, 0.3), w = std::abs(draw.factor()),
                     s = std::abs(draw.factor()), g = 9.81;
        const bool stated = k % 2 == 0;
        const std::string model = fmt::format(
            "system guides\ncoord x = 0, y = 0\nparticle P mass {} at O + x*N.x + y*N.y\ngravity -{}*N.y\nparam w = {}\n"
            "constraint rough: dot(pos(P), N.y) = 0\nconstraint smooth: {}*dot(pos(P), N.y) = 0\n"
            "nonideal rough: friction on P = {}*reaction(rough)\n{}start x' = 5\nrun for 0.2, every 0.1\n",
            text(m), g, text(w), text(s), text(mu), stated ? "share rough : smooth = 1 : w\n" : "");
        RunOptions options;
        options.formulation = k_formulations[k % k_formulations.size()];
        const TextRun r = run_text(model, options);
        // rough + s smooth = m g
        const double rough = stated ? m * g / (1 + s * w) : m * g / (1 + s * s), smooth = rough * (stated ? w : s);
        EXPECT_NEAR(last(r, "lambda(rough)"), rough, 1e-9 * m * g) << k << ' ' << *options.formulation;
        EXPECT_NEAR(last(r, "lambda(smooth)"), smooth, 1e-9 * smooth + 1e-9) << k << ' ' << *options.formulation;
        EXPECT_NEAR(last(r, "x'"), 5 - 0.2 * mu * rough / m, 1e-8) << k << ' ' << *options.formulation;
        // what depends on the choice is said, unless the choice was made
        EXPECT_EQ(r.derivation.diagnostics.has(Code::W0858), !stated) << k << ' ' << s;
        if (stated) {
            EXPECT_EQ(r.run.forces.shares.size(), 1u);
        }
        if (HasFailure()) return;
    }
}

// what the note on forces that are not unique advises: a `share`, or nothing
std::string advised_share(const Derivation& d) {
    for (const Diagnostic& said : d.diagnostics.all())
        if (said.code == Code::N0859 && !said.hint.empty()) return said.hint.substr(1, said.hint.find('`', 1) - 1);
    return {};
}

// A door on two hinges, points of it that are held. Free is a pair of forces along the line between them, which is no component.
std::string door(Draw& draw) {
    const std::string p = text(draw.uniform(0.2, 0.5)), q = text(draw.uniform(0.2, 0.5)), r = text(draw.uniform(0.5, 2)),
                      a = text(draw.uniform(0.3, 1));
    return fmt::format(
        "system door\ncoord x = {0}, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0\nframe B from N body zyx (yaw, pitch, roll)\n"
        "body D frame B mass 2 center at O + x*N.x + y*N.y + z*N.z inertia (1, 1, 1)\ngravity -9.81*N.z\n"
        "point H at D_o - {0}*B.x\npoint K at H + {1}*B.x + {2}*B.y + {3}*B.z\npoint C at O + {1}*N.x + {2}*N.y + {3}*N.z\n"
        "constraint low: pos(H) = pos(O)\nconstraint high: pos(K) = pos(C)\n"
        "nonideal low: torque on D = -0.01*mag(reaction(low))*omega(B)\nrun for 0.1, every 0.1\n",
        a, p, q, r);
}

TEST(RedundantFriction, AdvisedSharesFit) {
    Draw draw(12);
    for (std::size_t k = 0; k < members(30); ++k) {
        const bool feet = k % 3 == 0, on_hinges = k % 3 == 1;
        const std::string model =
            feet        ? table_on_feet(4 + draw.below(3), 0.8, 0.3, 0.2, 2, 0.5, draw.uniform(-0.2, 0.2), "start x' = 1\n", 0.02)
            : on_hinges ? door(draw)
                        : guided_body(draw, draw.below(2) == 0).planted;
        const TextRun r = run_text(model);
        const std::string share = advised_share(r.derivation);
        if (on_hinges) {
            EXPECT_EQ(share, "") << model;
            EXPECT_TRUE(r.derivation.diagnostics.has(Code::N0859)) << render(r.derivation.diagnostics, r.derivation.sources);
        }
        if (feet) {
            EXPECT_NE(share, "") << model;
        }
        if (share.empty()) continue;
        const TextRun shared = run_text(model + share + "\n");
        EXPECT_FALSE(shared.derivation.diagnostics.has_errors())
            << share << '\n'
            << render(shared.derivation.diagnostics, shared.derivation.sources);
        EXPECT_EQ(shared.run.forces.shares.size(), 1u) << share;
        if (HasFailure()) return;
    }
}

// Above the number of rows that are examined the run says that it did not look.
TEST(RedundantFriction, ManyRowsAreNotExaminedInSilence) {
    for (const std::size_t rows : {20, 130}) {
        std::string model =
            "system many\ncoord x = 0, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\ngravity -9.81*N.y\nstart x' = 5\n";
        for (std::size_t i = 0; i < rows; ++i) model += fmt::format("constraint c{0}: {0}*dot(pos(P), N.y) = 0\n", i + 1);
        const TextRun r = run_text(model + "nonideal c1: friction on P = 0.1*reaction(c1)\nrun for 0.1, every 0.1\n");
        const Diagnostics& said = r.derivation.diagnostics;
        EXPECT_EQ(said.has(Code::N0866), rows > 120) << render(said, r.derivation.sources);
        EXPECT_EQ(said.has(Code::W0858), rows <= 120) << render(said, r.derivation.sources);
        for (const Diagnostic& d : said.all()) {
            if (d.code != Code::W0813) continue;
            EXPECT_EQ(d.hint.find("the motion is determined"), std::string::npos) << d.hint;
        }
    }
}

// the feet of a table that slides share as they are told, and the table moves as before
TEST(RedundantFriction, SharesOfFeet) {
    Draw draw(5);
    for (std::size_t k = 0; k < members(12); ++k) {
        const double mu = draw.uniform(0.1, 0.3), v0 = 3, T = 0.3, g = 9.81, w = draw.uniform(0.7, 1.4);
        const std::string plain =
            table_on_feet(4, 0.8, 0.3, mu, 2, 0.5, draw.uniform(-0.2, 0.2), fmt::format("start x' = {}\n", v0), T);
        RunOptions options;
        options.formulation = k_fast[k % k_fast.size()];
        const TextRun r = run_text(plain + fmt::format("share c0 : c1 = {} : 1\n", text(w)), options);
        EXPECT_NEAR(last(r, "x"), v0 * T - mu * g * T * T / 2, 1e-7) << k;
        EXPECT_NEAR(last(r, "lambda(c0)"), w * last(r, "lambda(c1)"), 1e-8) << k;
        EXPECT_NEAR(last(r, "lambda(c0)") + last(r, "lambda(c1)") + last(r, "lambda(c2)") + last(r, "lambda(c3)"), 2 * g, 1e-8)
            << k;
        if (HasFailure()) return;
    }
}

TEST(RedundantFriction, SharesThatCannotBe) {
    const std::string feet = table_on_feet(4, 0.8, 0.3, 0.2, 2, 0.5, 0.1, "", 0.1);
    // opposite feet have the sum of all loads by symmetry alone; all four feet have one force that is free, not three
    for (const char* share : {"share c0 = c2", "share c0 = c1 = c2 = c3", "share c0 = c1 = c2"}) {
        const Derivation d = derive_text(feet + share + "\n");
        EXPECT_TRUE(d.diagnostics.has(Code::E0856)) << share << '\n' << render(d.diagnostics, d.sources);
    }
    const Derivation d = derive_text(feet + "share c0 = c1\nshare c1 : c0 = 1 : 1\n");
    EXPECT_TRUE(d.ok()) << render(d.diagnostics, d.sources);
}

// A planar block on two feet at the slope, as its rows have it: each foot holds the way, one row follows from the other. It rests
// up to the static bounds of both together, whatever one of them alone could hold, and slides by the kinetic ones.
TEST(RedundantFriction, BlocksOnTwoFeetRestUpToBothStaticBounds) {
    Draw draw(6);
    for (std::size_t k = 0; k < members(); ++k) {
        const double m = draw.uniform(1, 20), g = 9.81, mu = draw.uniform(0.1, 0.4), mus = mu * draw.uniform(1, 2),
                     h = draw.uniform(0, 0.5) / mus / 2, part = k % 2 == 0 ? draw.uniform(0.5, 0.999) : draw.uniform(1.001, 1.3);
        const double F = part * mus * m * g, T = 0.5;
        if (F * h > 0.45 * m * g) continue;  // it would tip
        const TextRun r = run_text(
            fmt::format("system block\ncoord x = 0, y = 0, th = 0\nframe B from N rotate th about z\n"
                        "body S frame B mass {0} center at O + x*N.x + (y + {1})*N.y inertia (1, 1, 1)\n"
                        "point F1 at S_o - 0.5*B.x - {1}*B.y\npoint F2 at S_o + 0.5*B.x - {1}*B.y\ngravity -{2}*N.y\n"
                        "constraint c1: dot(pos(F1), N.y) >= 0\nconstraint c2: dot(pos(F2), N.y) >= 0\n"
                        "nonideal c1: friction on S at F1 = {3}*reaction(c1) static {4}*reaction(c1)\n"
                        "nonideal c2: friction on S at F2 = {3}*reaction(c2) static {4}*reaction(c2)\n"
                        "force on S = {5}*N.x\noutput held = dot(friction(c1) + friction(c2), N.x)\nrun for {6}, every {6}\n",
                        text(m), text(h), text(g), text(mu), text(mus), text(F), text(T)));
        const double distance = part < 1 ? 0 : (F / m - mu * g) * T * T / 2;
        EXPECT_NEAR(last(r, "x"), distance, 1e-9 * (1 + distance)) << k << ' ' << part;
        EXPECT_NEAR(last(r, "held"), part < 1 ? -F : -mu * m * g, 1e-8 * F) << k << ' ' << part;
        if (HasFailure()) return;
    }
}

// A table that is pushed at its mass centre. Its feet carry what is linear over the plane, and forces in proportion to that have
// no moment about the vertical: it rests up to mu m g.
TEST(RedundantFriction, TablesRestUpToTheSumOfTheirBounds) {
    Draw draw(7);
    for (std::size_t k = 0; k < members(6); ++k) {
        const double R = draw.uniform(0.5, 1), mu = draw.uniform(0.1, 0.4), m = draw.uniform(1, 5), g = 9.81;
        const double h = draw.uniform(0.1, 0.8) * R / (2 * mu), way = draw.uniform(0, 6), part = draw.uniform(0.8, 0.999);
        const double F = part * mu * m * g, x = F * std::cos(way), y = F * std::sin(way);
        RunOptions options;
        options.formulation = k_fast[k % k_fast.size()];
        const TextRun r =
            run_text(table_on_feet(3 + k % 3, R, h, mu, m, draw.uniform(0.1, 1), draw.uniform(0, 3),
                                   fmt::format("force on T at T_o = {}*N.x + {}*N.y\n"
                                               "output fx = dot(friction(c0) + friction(c1) + friction(c2){}, N.x)\n",
                                               text(x), text(y),
                                               k % 3 == 0   ? ""
                                               : k % 3 == 1 ? " + friction(c3)"
                                                            : " + friction(c3) + friction(c4)"),
                                   0.2),
                     options);
        for (const char* speed : {"x'", "y'", "yaw'"}) EXPECT_NEAR(last(r, speed), 0, 1e-9) << k << ' ' << part;
        EXPECT_NEAR(last(r, "fx"), -x, 1e-8 * F) << k << ' ' << part;
        if (HasFailure()) return;
    }
}

// A block in one guide on a rough table is pushed against the guide, stops, and rests. The guide carries what it can: the table's
// friction holds what is along the guide and nothing else, in whatever unit the guide is written.
TEST(RedundantFriction, GuidesCarryBeforeFriction) {
    Draw draw(8);
    for (std::size_t k = 0; k < members(); ++k) {
        const double m = draw.uniform(1, 5), mu = draw.uniform(0.2, 0.5), g = 9.81, angle = draw.uniform(0, 3),
                     v = draw.uniform(0.2, 1);
        const double along = draw.uniform(0, 0.9) * mu * m * g, aside = draw.uniform(-5, 5) * mu * m * g;
        const double slower = mu * g - along / m, stop = v / slower, c = std::cos(angle), s = std::sin(angle);
        RunOptions options;
        options.formulation = k_formulations[k % k_formulations.size()];
        const TextRun r = run_text(
            fmt::format("system guided\ncoord x = 0, y = 0, z = 0\nparticle P mass {} at O + x*N.x + y*N.y + z*N.z\n"
                        "gravity -{}*N.z\nconstraint guide: {}*({}*y - {}*x) = 0\nconstraint table: dot(pos(P), N.z) >= 0\n"
                        "nonideal table: friction on P = {}*reaction(table)\nforce on P = {}*N.x + {}*N.y\n"
                        "start x' = {}, y' = {}\n"
                        "output fx = dot(friction(table), N.x), fy = dot(friction(table), N.y)\nrun for {}, every {}\n",
                        text(m), g, text(std::abs(draw.factor())), text(c), text(s), text(mu), text(along * c - aside * s),
                        text(along * s + aside * c), text(v * c), text(v * s), text(1.5 * stop), text(1.5 * stop)),
            options);
        const double distance = v * stop / 2;
        EXPECT_NEAR(last(r, "x"), distance * c, 1e-7) << k << ' ' << *options.formulation;
        EXPECT_NEAR(last(r, "y"), distance * s, 1e-7) << k;
        EXPECT_NEAR(last(r, "fx"), -along * c, 1e-7 * m * g) << k;
        EXPECT_NEAR(last(r, "fy"), -along * s, 1e-7 * m * g) << k;
        if (HasFailure()) return;
    }
}

// Where slip begins friction is against the slip acceleration, not against what it held: they differ where the ways have
// different inertias.
TEST(RedundantFriction, SlipBeginsAgainstItsAcceleration) {
    Draw draw(9);
    for (std::size_t k = 0; k < members(); ++k) {
        const double m = draw.uniform(0.5, 3), J = draw.uniform(0.1, 10), mu = draw.uniform(0.1, 0.6), g = 9.81,
                     bound = mu * m * g;
        const double size = draw.uniform(1.01, 3) * bound, way = draw.uniform(0, 6);
        const TextRun r = run_text(
            fmt::format("system flywheel\ncoord x = 0, y = 0, z = 0\nframe W from N rotate y/(1 m) about x\n"
                        "particle P mass {} at O + x*N.x + y*N.y + z*N.z\n"
                        "body W frame W mass 1e-9 center at O inertia ({}, {}, {})\ngravity -{}*N.z\n"
                        "constraint table: dot(pos(P), N.z) = 0\nnonideal table: friction on P = {}*reaction(table)\n"
                        "force on P = {}*N.x + {}*N.y\n"
                        "output fx = dot(friction(table), N.x), fy = dot(friction(table), N.y), ax = x'', ay = y''\n"
                        "run for 0.01, every 0.01\n",
                        text(m), text(J), text(J), text(J), g, text(mu), text(size * std::cos(way)), text(size * std::sin(way))));
        const double ax = r.at(0, "ax"), ay = r.at(0, "ay"), a = std::hypot(ax, ay);
        EXPECT_NEAR(r.at(0, "fx"), -bound * ax / a, 1e-8 * bound) << k;
        EXPECT_NEAR(r.at(0, "fy"), -bound * ay / a, 1e-8 * bound) << k;
        EXPECT_NEAR(m * ax, size * std::cos(way) + r.at(0, "fx"), 1e-8 * size) << k;
        EXPECT_NEAR((m + J) * ay, size * std::sin(way) + r.at(0, "fy"), 1e-8 * size) << k;
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace appell
