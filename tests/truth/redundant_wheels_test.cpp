// Wheels on one axle roll with more conditions than are independent, and which of them follow from the others changes with the
// heading. `minimal` goes through all headings with the independent speeds that the user chose; all formulations agree with each
// other and, for a robot on two wheels, with its motion in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

const std::vector<std::string> k_formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell"};

class Random {
public:
    explicit Random(std::size_t seed) : engine_(seed) {}
    double between(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine_); }
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }

private:
    std::mt19937_64 engine_;
};

// A body on two wheels with the torques T1 and T2 between body and wheels; its mass centre is `ahead` of the axle.
struct Robot {
    double m, b, r, I, mw, J, Jt, T1, T2, heading, w1, w2, ahead;

    explicit Robot(Random& random)
        : m(random.between(0.5, 5)),
          b(random.between(0.1, 0.5)),
          r(random.between(0.03, 0.2)),
          I(random.between(0.01, 0.2)),
          mw(random.between(0.05, 0.5)),
          J(random.between(1e-4, 5e-3)),
          Jt(random.between(1e-4, 5e-3)),
          T1(random.between(-0.02, 0.02)),
          T2(random.between(-0.02, 0.02)),
          heading(random.between(-3.2, 3.2)),
          w1(random.between(-6, 6)),
          w2(w1 + (random.below(2) == 0 ? 1 : -1) * random.between(4, 12)),
          ahead(0) {}

    // `held`: the wheels' rates start as given, and what else moves follows
    [[nodiscard]] std::string text(const std::string& rest, bool held = true) const {
        return fmt::format(
            "system robot\nparam m = {} kg, b = {} m, r = {} m, I = {} kg*m^2, mw = {} kg, J = {} kg*m^2, Jt = {} kg*m^2\n"
            "param T1 = {} N*m, T2 = {} N*m, c = {} m\n"
            "coord x = 0 m, y = 0 m, psi = {} rad, p1 = 0 rad, p2 = 0 rad\n"
            "speed u1 = x', u2 = y', u3 = psi', w1 = p1', w2 = p2'\n"
            "frame B from N rotate psi about z\nframe W1 from B rotate p1 about y\nframe W2 from B rotate p2 about y\n"
            "point A at O + x*N.x + y*N.y + r*N.z\npoint C1 at A + b*B.y\npoint C2 at A - b*B.y\npoint G at A + c*B.x\n"
            "point K1 at C1 - r*N.z\npoint K2 at C2 - r*N.z\n"
            "body S frame B mass m center G inertia (I, I, I)\nbody W1 frame W1 mass mw center C1 inertia (Jt, J, Jt)\n"
            "body W2 frame W2 mass mw center C2 inertia (Jt, J, Jt)\n"
            "torque on W1 from S = T1*B.y\ntorque on W2 from S = T2*B.y\n"
            "start w1 = {} rad/s{}, w2 = {} rad/s{}\n{}\n",
            m, b, r, I, mw, J, Jt, T1, T2, ahead, heading, w1, held ? " fixed" : "", w2, held ? " fixed" : "", rest);
    }

    // sum and difference of the wheels' rates grow evenly while the mass centre is on the axle: the one has the inertia P of all
    // that moves ahead, the other Q of all that turns
    [[nodiscard]] double sum(double t) const {
        const double P = (m + 2 * mw) * r * r / 4 + J / 2;
        return w1 + w2 + (T1 + T2) / 2 / P * t;
    }
    [[nodiscard]] double difference(double t) const { return w2 - w1 + slope() * t; }
    [[nodiscard]] double turned(double t) const { return heading + r / (2 * b) * ((w2 - w1) * t + slope() * t * t / 2); }
    [[nodiscard]] double slope() const {
        const double Q = (I + 2 * mw * b * b + 2 * Jt) * r * r / (4 * b * b) + J / 2;
        return (T2 - T1) / 2 / Q;
    }
    // the way of the axle's middle, by Simpson's rule
    [[nodiscard]] std::pair<double, double> place(double t) const {
        constexpr int k_parts = 4000;
        double x = 0, y = 0;
        for (int i = 0; i <= k_parts; ++i) {
            const double at = t * i / k_parts, weight = i == 0 || i == k_parts ? 1 : i % 2 == 1 ? 4 : 2;
            x += weight * r / 2 * sum(at) * std::cos(turned(at));
            y += weight * r / 2 * sum(at) * std::sin(turned(at));
        }
        return {x * t / k_parts / 3, y * t / k_parts / 3};
    }
};

const std::string k_run = "run for 6 s, every 1 s, rtol 1e-10, atol 1e-10\n";
const std::string k_wheels = "constraint left: rolling(W1, N, K1)\nconstraint right: rolling(W2, N, K2)\n";
// the ways in which users write that two wheels roll, and what they call independent
const std::vector<std::string> k_variants{
    k_wheels,
    k_wheels + "independent w1, w2\n",
    k_wheels + "independent u3, w1\n",
    k_wheels + "independent u3, w2\n",
    "constraint right: rolling(W2, N, K2)\nconstraint left: rolling(W1, N, K1)\nindependent w1, w2\n",
    "constraint left: vel(W1 at K1) = 0*vel(A)\nconstraint right: vel(W2 at K2) = 0*vel(A)\nindependent w2, w1\n",
    k_wheels + "constraint across: dot(vel(A), B.y) = 0\nindependent w1, w2\n",
    k_wheels + "constraint again: rolling(W1, N, K1)\nindependent u3, w1\n",
    k_wheels + "constraint both: rolling(W1, N, K1) \nconstraint turn: 2*b*u3 = r*(w2 - w1)\nindependent w1, w2\n"};

RunOptions by(const std::string& formulation) {
    RunOptions options;
    options.formulation = formulation;
    return options;
}

TEST(RobotOnTwoWheels, FollowsItsClosedFormThroughAllHeadingsInEveryFormulation) {
    for (std::size_t seed = 0; seed < members(); ++seed) {
        Random random(seed);
        const Robot robot(random);
        const std::string& variant = k_variants[seed % k_variants.size()];
        // `minimal` on every member, the others in turns
        const std::string& formulation = seed % 2 == 0 ? "minimal" : k_formulations[random.below(k_formulations.size())];
        SCOPED_TRACE(fmt::format("member {}, {}", seed, formulation));
        const TextRun r = run_text(robot.text(variant + k_run), by(formulation));
        ASSERT_EQ(r.run.rows(), 7u);
        const double t = 6;
        const auto [x, y] = robot.place(t);
        EXPECT_NEAR(r.at(6, "psi"), robot.turned(t), 1e-7);
        EXPECT_NEAR(r.at(6, "w1") + r.at(6, "w2"), robot.sum(t), 1e-7);
        EXPECT_NEAR(r.at(6, "w2") - r.at(6, "w1"), robot.difference(t), 1e-7);
        EXPECT_NEAR(r.at(6, "x"), x, 1e-7);
        EXPECT_NEAR(r.at(6, "y"), y, 1e-7);
        if (formulation == "minimal") {
            EXPECT_LT(r.run.summary.velocity_scaled, 1e-14);  // no drift: the rows are solved, all of them
        }
    }
}

// a chassis with its mass centre off the axle, with a castor behind, a steered wheel in front, or a second axle that is steered
std::string vehicle(std::size_t kind, Random& random) {
    Robot robot(random);
    robot.ahead = random.between(-0.2, 0.2);
    const std::string& wheels = k_wheels;
    switch (kind) {
        case 0: return robot.text(wheels + "independent w1, w2\n");
        case 1:
            return robot.text(
                fmt::format(
                    "coord fork = {} rad, p3 = 0 rad\nspeed uf = fork', w3 = p3'\nparam h = 0.3 m, e = 0.05 m, rc = 0.04 m, "
                    "mc = 0.2 kg, Jc = 0.0005 kg*m^2\n",
                    random.between(-3, 3)) +
                "frame F from B rotate fork about z\nframe W3 from F rotate p3 about y\npoint H at A - h*B.x\n"
                "point C3 at H - e*F.x - (r - rc)*N.z\npoint K3 at C3 - rc*N.z\n"
                "body W3 frame W3 mass mc center C3 inertia (Jc, Jc, Jc)\n" +
                wheels + "constraint castor: rolling(W3, N, K3)\nindependent w1, w2\n");
        case 2:
            return robot.text(
                fmt::format("coord steer = {} rad, p3 = 0 rad\nspeed us = steer', w3 = p3'\nparam l = 0.6 m, mc = 0.2 kg, "
                            "Jc = 0.0005 kg*m^2\nstart us = {} rad/s fixed\n",
                            random.between(-0.5, 0.5), random.between(-0.1, 0.1)) +
                    "frame F from B rotate steer about z\nframe W3 from F rotate p3 about y\npoint C3 at A + l*B.x\n"
                    "point K3 at C3 - r*N.z\nbody W3 frame W3 mass mc center C3 inertia (Jc, Jc, Jc)\n" +
                    wheels + "constraint front: rolling(W3, N, K3)\nindependent us, w3\n",
                false);
        default:
            return robot.text(
                fmt::format(
                    "coord steer = {} rad, p3 = 0 rad, p4 = 0 rad\nspeed us = steer', w3 = p3', w4 = p4'\nparam l = 0.8 m, mc "
                    "= 0.2 kg, Jc = 0.0005 kg*m^2\nstart us = {} rad/s fixed\n",
                    random.between(-0.4, 0.4), random.between(-0.05, 0.05)) +
                    "frame F from B rotate steer about z\nframe W3 from F rotate p3 about y\nframe W4 from F rotate p4 about y\n"
                    "point D at A + l*B.x\npoint C3 at D + b*F.y\npoint C4 at D - b*F.y\npoint K3 at C3 - r*N.z\npoint K4 at C4 "
                    "- r*N.z\n"
                    "body W3 frame W3 mass mc center C3 inertia (Jc, Jc, Jc)\nbody W4 frame W4 mass mc center C4 inertia (Jc, "
                    "Jc, "
                    "Jc)\n" +
                    wheels + "constraint front_left: rolling(W3, N, K3)\nconstraint front_right: rolling(W4, N, K4)\n",
                false);
    }
}

TEST(VehiclesOnMoreWheels, MoveAlikeInAllFormulations) {
    const std::vector<std::string> columns{"x", "y", "psi", "p1", "p2", "w1", "w2"};
    for (std::size_t seed = 0; seed < members(16); ++seed) {
        Random random(1000 + seed);
        const std::string text = vehicle(seed % 4, random) + "run for 5 s, every 1 s, rtol 1e-10, atol 1e-10\n";
        const TextRun reference = run_text(text, by("multipliers"));
        for (const std::string& formulation : k_formulations) {
            if (formulation == "multipliers") continue;
            SCOPED_TRACE(fmt::format("member {}, {}", seed, formulation));
            const TextRun r = run_text(text, by(formulation));
            ASSERT_EQ(r.run.rows(), 6u);
            for (const std::string& column : columns)
                EXPECT_NEAR(r.at(5, column), reference.at(5, column), 1e-6 * std::max(1.0, std::abs(reference.at(5, column))))
                    << column;
        }
    }
}

}  // namespace
}  // namespace appell
