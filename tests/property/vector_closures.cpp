// Parallelograms that a vector equation closes: two rows of rank one at every position, of which each vanishes somewhere. The
// motion is that of the same model with one row for both cranks, in every formulation.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_formulations{"multipliers", "gibbs-appell", "voronec", "udwadia-kalaba", "nonminimal", "ukp", "minimal"};

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double uniform(double a, double b) { return std::uniform_real_distribution(a, b)(random_); }

private:
    std::mt19937 random_;
};

// all but the constraint
std::string linkage(Draw& draw) {
    const double r = draw.uniform(0.2, 1), L = r * draw.uniform(1.3, 3), a0 = draw.uniform(-3, 3);
    const double w0 = draw.uniform(3, 12) * (draw.uniform(-1, 1) < 0 ? -1 : 1);
    return fmt::format(
        "system linkage\ncoord a = {0}, b = {0}\nframe G from N rotate {1} about z\nframe A from G rotate a about z\n"
        "frame B from G rotate b about z\npoint D at O + {2}*G.x\npoint P at O + {3}*A.x\npoint Q at D + {3}*B.x\n"
        "body A frame A mass 1 center O inertia (1, 1, {4})\nbody B frame B mass 1 center D inertia (1, 1, {5})\n"
        "particle Q mass {6}\ngravity -9.81*N.y\nstart a' = {7}, b' = {7}\nrun for {8}, rtol 1e-8, atol 1e-10\n",
        a0, draw.uniform(-3, 3), L, r, draw.uniform(0.01, 0.1), draw.uniform(0.01, 0.1), draw.uniform(0.1, 1), w0,
        draw.uniform(2, 6));
}

TEST(VectorClosures, OfParallelogramsMoveLikeOneRow) {
    Draw draw(11);
    for (std::size_t k = 0; k < members(70); ++k) {
        const std::string model = linkage(draw),
                          L = model.substr(model.find("O + ") + 4, model.find("*G.x") - model.find("O + ") - 4);
        const TextRun one_row = run_text(model + "constraint bar: a - b = 0\n");
        const std::string closure = k % 2 == 0 ? fmt::format("constraint bar: Q - P = {}*G.x\n", L)
                                               : fmt::format(
                                                     "constraint along: dot(Q - P, N.x) = dot({0}*G.x, N.x)\n"
                                                     "constraint across: dot(Q - P, N.y) = dot({0}*G.x, N.y)\n",
                                                     L);
        RunOptions options;
        options.formulation = k_formulations[k / 2 % k_formulations.size()];
        SCOPED_TRACE(fmt::format("member {} by {}:\n{}{}", k, *options.formulation, model, closure));
        const TextRun r = run_text(model + closure, options);
        ASSERT_EQ(r.run.summary.reason, EndReason::finished);
        ASSERT_EQ(r.run.rows(), one_row.run.rows());
        for (std::size_t row = 0; row < r.run.rows(); row += 7)
            for (const char* column : {"a", "b", "a'"})
                ASSERT_NEAR(r.at(row, column), one_row.at(row, column), 1e-4) << "row " << row << ' ' << column;
    }
}

}  // namespace
}  // namespace appell
