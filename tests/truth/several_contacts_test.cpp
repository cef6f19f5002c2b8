// Several contacts that change at once: against every choice of open and closed ones looked through by brute force, and a block
// on two rough feet, which sticks, slides or tips where statics says.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"

namespace appell {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// particles on a line each, and as many flat contacts as there are of them
struct Corner {
    VectorXd mass, force, restitution;
    MatrixXd A;

    Corner(int n, unsigned seed) : mass(n), force(n), restitution(n), A(n, n) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> part(-1, 1);
        for (int i = 0; i < n; ++i) {
            mass[i] = 1.25 + 0.75 * part(random);
            force[i] = part(random);
            restitution[i] = 0.4 + 0.4 * part(random);
            for (int j = 0; j < n; ++j) A(i, j) = part(random);
        }
    }
    [[nodiscard]] int size() const { return static_cast<int>(mass.size()); }

    [[nodiscard]] std::string model(const VectorXd& q, const VectorXd& v, bool pushed) const {
        std::string text = "system corner\n";
        for (int i = 0; i < size(); ++i) {
            text += fmt::format("coord q{} = {:.17g} m\nparticle P{} mass {:.17g} kg at O + q{}*N.x\nstart q{}' = {:.17g} m/s\n",
                                i, q[i], i, mass[i], i, i, v[i]);
            if (pushed) text += fmt::format("force on P{} = {:.17g} N*N.x\n", i, force[i]);
        }
        for (int k = 0; k < size(); ++k) {
            text += fmt::format("constraint c{}: 0 m", k);
            for (int i = 0; i < size(); ++i) text += fmt::format(" + ({:.17g})*q{}", A(k, i), i);
            text += fmt::format(" >= 0 m restitution {:.17g}\n", restitution[k]);
        }
        return text;
    }

    // x = x0 + M^-1 A' p with 0 <= p, 0 <= A x + c, one of the two zero for each: by looking through all choices
    [[nodiscard]] VectorXd complementary(const VectorXd& x0, const VectorXd& c) const {
        VectorXd found;
        int solutions = 0;
        for (unsigned choice = 0; choice < (1u << size()); ++choice) {
            std::vector<int> on;
            for (int k = 0; k < size(); ++k)
                if ((choice >> k & 1u) != 0) on.push_back(k);
            const auto m = static_cast<Eigen::Index>(on.size());
            MatrixXd rows(m, size());
            VectorXd right(m);
            for (Eigen::Index k = 0; k < m; ++k) {
                rows.row(k) = A.row(on[static_cast<std::size_t>(k)]);
                right[k] = -c[on[static_cast<std::size_t>(k)]] - rows.row(k).dot(x0);
            }
            const MatrixXd weighted = mass.cwiseInverse().asDiagonal() * rows.transpose();
            const VectorXd p = m == 0 ? VectorXd(0) : VectorXd((rows * weighted).fullPivLu().solve(right));
            const VectorXd x = x0 + weighted * p;
            if ((m > 0 && p.minCoeff() < -1e-12) || (A * x + c).minCoeff() < -1e-12) continue;
            found = x;
            ++solutions;
        }
        EXPECT_EQ(solutions, 1);  // A M^-1 A' is positive definite
        return found;
    }
};

TEST(SeveralContacts, AtRestAreChosenAsBruteForceChooses) {
    for (int n = 2; n <= 5; ++n)
        for (unsigned seed = 1; seed <= 15; ++seed) {
            const Corner corner(n, 100 * static_cast<unsigned>(n) + seed);
            const VectorXd zero = VectorXd::Zero(n);
            const VectorXd a = corner.complementary(corner.force.cwiseQuotient(corner.mass), zero);
            const TextRun r = run_text(corner.model(zero, zero, true) + "run for 0.5 s, every 0.5 s\n");
            for (int i = 0; i < n; ++i)
                EXPECT_NEAR(r.at(r.run.rows() - 1, fmt::format("q{}", i)), a[i] / 8, 1e-9) << n << ", " << seed;
        }
}

// all gaps close at the same instant
TEST(SeveralContacts, ImpactsAreThoseOfBruteForce) {
    for (int n = 2; n <= 5; ++n)
        for (unsigned seed = 1; seed <= 15; ++seed) {
            const Corner corner(n, 1000 * static_cast<unsigned>(n) + seed);
            if (std::abs(corner.A.determinant()) < 0.05) continue;
            VectorXd closing(n);
            for (int k = 0; k < n; ++k) closing[k] = -0.2 - 0.7 * std::abs(corner.force[k]);
            const VectorXd v = corner.A.fullPivLu().solve(closing);
            const VectorXd after = corner.complementary(v, corner.restitution.cwiseProduct(closing));
            // soon after: what flies off does not come back to another contact by then
            const TextRun r = run_text(corner.model(-v, v, false) + "run for 1.0001 s, every 1.0001 s, rtol 1e-12, atol 1e-12\n");
            for (int i = 0; i < n; ++i)
                EXPECT_NEAR(r.at(r.run.rows() - 1, fmt::format("q{}'", i)), after[i], 1e-9 * (1 + v.norm())) << n << ", " << seed;
        }
}

std::string feet(double force, double height) {
    return fmt::format(R"(
system feet
param m = 2 kg, J = 0.1 kg*m^2, b = 0.3 m, h = 0.4 m, g = 10 m/s^2, mu = 0.5
coord x = 0 m, y = 0.4 m, th = 0 rad
frame B from N rotate th about z
point C at O + x*N.x + y*N.y
body  K frame B mass m center C inertia (J, J, J)
point L at C - b*B.x - h*B.y
point R at C + b*B.x - h*B.y
point T at C + {} m*B.y
gravity -g*N.y
force on T = {} N*N.x
constraint left:  dot(pos(L), N.y) >= 0
constraint right: dot(pos(R), N.y) >= 0
nonideal left:  friction on L from O = mu*reaction(left)
nonideal right: friction on R from O = mu*reaction(right)
output normal = lambda(left) + lambda(right)
run for 0.2 s, every 0.1 s
)",
                       height, force);
}

// mu m g = 10 N holds the block, m g b = 6 N m its balance about the right foot
TEST(SeveralContacts, ABlockOnTwoRoughFeet) {
    for (const double force : {1.0, 5.0, 9.9, 10.1, 14.0}) {
        const TextRun r = run_text(feet(force, -0.4));
        const std::size_t last = r.run.rows() - 1;
        EXPECT_NEAR(r.at(last, "x"), force < 10 ? 0 : (force - 10) / 2 * 0.02, 1e-9) << force;
        EXPECT_NEAR(r.at(last, "th"), 0, 1e-12) << force;
        EXPECT_NEAR(r.at(last, "normal"), 20, 1e-9) << force;
        EXPECT_TRUE(r.run.events.empty()) << force;
    }
    // pushed 0.8 m above the floor it tips beyond 7.5 N, before it would slide
    for (const double force : {7.4, 7.6}) {
        const TextRun r = run_text(feet(force, 0.4));
        const std::size_t last = r.run.rows() - 1;
        if (force < 7.5)
            EXPECT_NEAR(r.at(last, "th"), 0, 1e-12);
        else  // about the right foot: J + m (b^2 + h^2) = 0.6 kg m^2, 0.08 N m; a little more as it leans
            EXPECT_NEAR(r.at(last, "th"), -0.08 / 0.6 * 0.02, 2e-4);
        EXPECT_NEAR(r.at(last, "x"), 0, 2e-3) << force;
    }
}

TEST(SeveralContacts, TheGallerysBlockRestsSlidesAndTips) {
    const TextRun low = run_text(gallery_text("block_on_two_feet"));
    const auto time_of = [](const TextRun& r, const std::string& what) {
        for (const RunEvent& event : r.run.events)
            if (event.what == what) return event.t;
        return -1.0;
    };
    EXPECT_NEAR(time_of(low, "left slips, right slips"), 1, 1e-9);
    EXPECT_NEAR(time_of(low, "left opens"), 2, 1e-9);
    // at rest neither foot slips before both are at their bounds
    EXPECT_EQ(time_of(low, "left is at its bound"), -1);
    ReadOptions high;
    high.set = {{"z", 0.4}};
    const TextRun tipped = run_text(gallery_text("block_on_two_feet"), {}, high);
    EXPECT_NEAR(time_of(tipped, "left opens"), 0.75, 1e-9);
}

// constraints that leave no freedom, and a start that is brought to rest by them
TEST(SeveralContacts, NothingMovesWithoutFreedom) {
    const TextRun r = run_text(
        "system still\ncoord x = 0.1 m, y = 0 m\nstart x' = 0.2 m/s\nparticle P mass 1 kg at O + x*N.x + y*N.y\n"
        "constraint a: x + y = 0\nconstraint b: x' - 2*y' = 0\nforce on P = 1 N*N.x\nrun for 1 s\n");
    EXPECT_NEAR(r.at(r.run.rows() - 1, "x"), 0.05, 1e-12);
    EXPECT_NEAR(r.at(r.run.rows() - 1, "x'"), 0, 1e-12);
}

}  // namespace
}  // namespace appell
