// The jacobian that implicit integrators get, from the expression graph, against difference quotients of the rate: every model of
// the gallery, constraints of all levels, redundant rows, laws, actuators, quaternions, and damped rows.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <random>

#include "pipeline/lower_motion.hpp"
#include "sim/motion_jacobian.hpp"
#include "support/certificate_of.hpp"

namespace appell {
namespace {

std::optional<std::vector<double>> rate_at(const Motion& motion, MotionProgram& program, const std::vector<double>& x,
                                           double t = 0.3) {
    const EvalStatus status = program.run(t, x).status;
    if (status != EvalStatus::ok && status != EvalStatus::inconsistent_rows) return std::nullopt;
    std::vector<double> out;
    for (const char* name : {"qd", "ud"}) {
        const auto part = program.output(name);
        out.insert(out.end(), part.begin(), part.end());
    }
    EXPECT_EQ(out.size(), motion.states());
    return out;
}

// largest difference of a column from its difference quotient, over the size of the matrix; none where the rate is not there
std::optional<double> largest_difference(const Motion& motion, std::vector<double> x) {
    MotionJacobian jacobian(motion);
    MotionProgram rate(motion, motion.rate);
    const std::size_t n = motion.states();
    std::vector<double> J(n * n);
    if (jacobian.evaluate(0.3, x, J, n) != RateStatus::ok) return std::nullopt;
    double worst = 0, size = 0;
    for (const double entry : J) size = std::max(size, std::abs(entry));
    for (std::size_t c = 0; c < n; ++c) {
        // central differences of two widths, without their error of second order: 1e-12 of what is differenced, and the round-off
        // of eight digits
        std::vector<double> slope(n, 0);
        const double at = x[c];
        for (const auto& [width, weight] : {std::pair(1e-3, -1.0 / 3), std::pair(5e-4, 4.0 / 3)}) {
            x[c] = at + width;
            const auto above = rate_at(motion, rate, x);
            x[c] = at - width;
            const auto below = rate_at(motion, rate, x);
            x[c] = at;
            if (!above || !below) return std::nullopt;
            for (std::size_t r = 0; r < n; ++r) slope[r] += weight * ((*above)[r] - (*below)[r]) / (2 * width);
        }
        for (std::size_t r = 0; r < n; ++r) worst = std::max(worst, std::abs(slope[r] - J[c * n + r]));
    }
    return worst / std::max(size, 1e-300);
}

// Rows that follow from others contradict them off the constraints, where the rate then takes some of them and the jacobian a
// mean of all. Along the motion they agree: how the rate changes with time, as the jacobian has it, over the size of that.
double difference_along_the_motion(const Motion& motion, const std::vector<double>& x) {
    MotionJacobian jacobian(motion);
    MotionProgram program(motion, motion.rate);
    const std::size_t n = motion.states();
    std::vector<double> J(n * n), forth = x, back = x;
    // as a run does
    const std::size_t rank = program.run(0, x).rank;
    program.limit_rank(rank);
    jacobian.limit_rank(rank);
    EXPECT_EQ(jacobian.evaluate(0, x, J, n), RateStatus::ok);
    const auto rate = rate_at(motion, program, x, 0);
    if (!rate) return 1;
    constexpr double k_width = 1e-5;
    for (std::size_t i = 0; i < n; ++i) {
        forth[i] += k_width * (*rate)[i];
        back[i] -= k_width * (*rate)[i];
    }
    const auto above = rate_at(motion, program, forth, 0), below = rate_at(motion, program, back, 0);
    if (!above || !below) return 1;
    double worst = 0, size = 1;
    for (std::size_t r = 0; r < n; ++r) {
        double slope = 0;
        for (std::size_t c = 0; c < n; ++c) slope += J[c * n + r] * (*rate)[c];
        size = std::max(size, std::abs(slope));
        worst = std::max(worst, std::abs(slope - ((*above)[r] - (*below)[r]) / (2 * k_width)));
    }
    return worst / size;
}

bool has_redundant_rows(const Motion& motion, const std::vector<double>& x) {
    MotionProgram program(motion, motion.rate);
    return program.run(0, x).redundant;
}

bool depends_on_time(const Motion& motion, const std::vector<double>& x) {
    MotionProgram program(motion, motion.rate);
    return rate_at(motion, program, x, 0) != rate_at(motion, program, x, 1e-3);
}

// states near the start, off the constraints a little, as the stages of an integrator are
std::vector<double> near(std::vector<double> x, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(-0.05, 0.05);
    for (double& v : x) v += part(random);
    return x;
}

TEST(RateJacobian, IsTheDerivativeOfTheRateInTheGallery) {
    int compared = 0, models = 0, redundant = 0;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery")) {
        const std::string name = entry.path().stem().string();
        const Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok()) << name;
        ++models;
        const auto lowered = lower_motion(*d.dynamics, {.jacobian = true});
        ASSERT_TRUE(lowered.ok()) << name;
        ASSERT_TRUE(lowered->motion.jacobian.has_value());
        const std::vector<double> start = start_of(*lowered);
        if (has_redundant_rows(lowered->motion, start)) {
            if (depends_on_time(lowered->motion, start)) continue;
            EXPECT_LT(difference_along_the_motion(lowered->motion, start), 1e-5) << name;
            ++redundant;
            continue;
        }
        for (unsigned seed = 1; seed <= 3; ++seed) {
            const auto difference = largest_difference(lowered->motion, near(start, seed));
            if (!difference) continue;
            EXPECT_LT(*difference, 1e-5) << name;
            ++compared;
        }
    }
    EXPECT_GT(models, 70);
    EXPECT_GT(redundant, 2);
    EXPECT_GT(compared, 2 * models);
}

TEST(RateJacobian, OfDampedRows) {
    for (const char* name : {"sliding_particle", "perpendicular_pucks", "appell_hamel_nonlinear"}) {
        const Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok()) << name;
        const auto plain = lower_motion(*d.dynamics, {.jacobian = true});
        const auto damped = lower_motion(*d.dynamics, {.drift = DriftControl::baumgarte, .gains = {-20, -100}, .jacobian = true});
        ASSERT_TRUE(plain.ok() && damped.ok());
        const std::vector<double> x = near(start_of(*plain), 7);
        const auto difference = largest_difference(damped->motion, x);
        ASSERT_TRUE(difference.has_value());
        EXPECT_LT(*difference, 2e-6) << name;
        // and it is another one than without damping
        const std::size_t n = x.size();
        std::vector<double> J(n * n), K(n * n);
        ASSERT_EQ(MotionJacobian(plain->motion).evaluate(0.3, x, J, n), RateStatus::ok);
        ASSERT_EQ(MotionJacobian(damped->motion).evaluate(0.3, x, K, n), RateStatus::ok);
        double apart = 0;
        for (std::size_t i = 0; i < J.size(); ++i) apart = std::max(apart, std::abs(J[i] - K[i]));
        EXPECT_GT(apart, 1) << name;
    }
}

}  // namespace
}  // namespace appell
