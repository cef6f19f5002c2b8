// The warning about the energy balance: no model of the gallery gets it from steps within the tolerances, whatever the
// integrator, and ledgers that are wrong do.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/gallery_run.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr std::array k_adaptive{"dopri5", "dop853", "cvode", "adams", "arkode", "ida"};

std::vector<std::string> gallery_names() {
    std::vector<std::string> out;
    for (const auto& file : std::filesystem::directory_iterator(std::string(APPELL_SOURCE_DIR) + "/gallery"))
        if (file.path().extension() == ".appell") out.push_back(file.path().stem().string());
    std::ranges::sort(out);
    return out;
}

// the largest difference of a work at the last row
double work_apart(const Run& a, const Run& b) {
    double apart = 0;
    for (std::size_t i = 0; i < a.columns.size(); ++i) {
        if (!a.columns[i].starts_with("work(")) continue;
        const double x = a.table[a.table.size() - a.width() + 1 + i], y = b.table[b.table.size() - b.width() + 1 + i];
        apart = std::max(apart, std::abs(x - y));
    }
    return apart;
}

// Each with one of the integrators and one of the tolerances here; all with all of them by hand (docs/decisions/021). Works have
// no say in the steps of implicit integrators; where the warning appears they must be wrong indeed.
TEST(EnergyBalance, NoFalseAlarmInTheGallery) {
    constexpr std::array tolerances{1e-5, 1e-7, 1e-9};
    std::size_t k = 0, runs = 0, warned = 0;
    for (const std::string& name : gallery_names()) {
        ++k;
        Derivation d = derive_text(gallery_text(name));
        if (!d.ok()) continue;  // with opaque functions
        RunOptions options;
        options.integrator = k_adaptive[k % k_adaptive.size()];
        options.rtol = tolerances[k % tolerances.size()];
        options.atol = 0.1 * *options.rtol;
        options.until = d.model->run.from + std::min(d.model->run.duration, 2.0);
        options.every = 0.05;
        const auto r = run(d, options);
        if (!r) continue;
        ++runs;
        if (!d.diagnostics.has(Code::W0823)) continue;
        ++warned;
        options.integrator = "dop853";
        options.rtol = options.atol = 1e-11;
        Derivation again = derive_text(gallery_text(name));
        const auto reference = run(again, options);
        ASSERT_TRUE(reference) << name;
        EXPECT_GT(work_apart(*r, *reference), 0.3 * std::abs(r->energy.largest_error)) << name << "\n"
                                                                                       << render(d.diagnostics, d.sources);
    }
    EXPECT_LE(warned, 1u);
    EXPECT_GT(runs, 80u);
}

std::string circle(const std::string& run_plan) {
    return "system circle\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\ngravity -9.81*N.y\n"
           "constraint c: x^2 + y^2 = 1\nrun for " +
           run_plan + "\n";
}

bool is_warned_of(const std::string& model, const RunOptions& options = {}) {
    return run_text(model, options).derivation.diagnostics.has(Code::W0823);
}

// constraints that drift, and their forces with them
TEST(EnergyBalance, DriftIsSeen) {
    for (const char* const integrator : {"dopri5", "dop853"}) {
        RunOptions options;
        options.integrator = integrator;
        EXPECT_TRUE(is_warned_of(circle("300, rtol 1e-5, atol 1e-5, stabilize none"), options)) << integrator;
        EXPECT_FALSE(is_warned_of(circle("30, rtol 1e-5, atol 1e-5"), options)) << integrator;
    }
}

// a stiff spring that tolerances are too loose for
TEST(EnergyBalance, LooseTolerancesAreSeen) {
    for (const char* const integrator : k_adaptive) {
        RunOptions options;
        options.integrator = integrator;
        const auto spring = [](const char* plan) {
            return fmt::format(
                "system spring\ncoord x = 0.1\nparticle P mass 1 at O + x*N.x\nforce on P = -1e4*x*N.x\nrun for 20, {}\n", plan);
        };
        EXPECT_FALSE(is_warned_of(spring("rtol 1e-8, atol 1e-9"), options)) << integrator;
        if (std::string(integrator) == "cvode" || std::string(integrator) == "ida") {  // they damp what they do not resolve
            EXPECT_TRUE(is_warned_of(spring("rtol 1e-2, atol 1e-2"), options)) << integrator;
        }
    }
}

// works are summed up with the steps of the motion: one that changes faster is wrong, and the motion is not
TEST(EnergyBalance, WorksFasterThanTheMotionAreSeen) {
    EXPECT_TRUE(
        is_warned_of("system fast\ncoord x = 1\nparticle P mass 1 at O + x*N.x\n"
                     "potential x^2 + sqrt(t)\nrun for 1\n"));
}

// a run that ends in an impact without a solution, or an event that cannot act: its last row is the one before
TEST(EnergyBalance, WhatEndedARunIsNoError) {
    for (const char* const event : {"enforce c", "set x' = 1/(y - 1)", "set y' = 30, enforce c"}) {
        Derivation d =
            derive_text(fmt::format("system ends\ncoord x = 0, y = 1\nstart x' = 1\nparticle P mass 1 at O + x*N.x + y*N.y\n"
                                    "constraint c: x = 5 initially off\nevent e: x - 0.5 => {}\nrun for 1\n",
                                    event));
        const auto r = run(d, {});
        ASSERT_TRUE(r.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_TRUE(d.diagnostics.has(Code::E0842)) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has(Code::W0823)) << render(d.diagnostics, d.sources);
        EXPECT_EQ(r->summary.reason, EndReason::no_mode);
        EXPECT_NEAR(r->t(r->rows() - 1), 0.5, 1e-6);
        EXPECT_LT(r->energy.largest_error, 1e-9) << event;
    }
}

// Rows that are written where the motion rests, once in each period: what it moves in between counts.
TEST(EnergyBalance, RestAtAllRowsIsNoError) {
    std::mt19937 random(9);
    const auto draw = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    const std::size_t count = members(30);
    for (std::size_t k = 0; k < count; ++k) {
        const double w = draw(0.2, 20), mass = draw(0.2, 5), force = draw(0.1, 50);
        Derivation d = derive_text(
            fmt::format("system push\ncoord x = 0\nparticle P mass {0:.17g} at O + x*N.x\n"
                        "force on P = {1:.17g}*sin({2:.17g}*t)*N.x\nrun for {3:.17g}, every {4:.17g}, integrator {5}\n",
                        mass, force, w, 2 * M_PI / w * (1 + k % 3), 2 * M_PI / w, k_adaptive[k % k_adaptive.size()]));
        const auto result = run(d, {});
        ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
        EXPECT_FALSE(d.diagnostics.has(Code::W0823)) << k << '\n' << render(d.diagnostics, d.sources);
    }
}

// A crate that rests, but for what the tolerances leave of it.
TEST(EnergyBalance, RestIsNoError) {
    for (const char* integrator : k_adaptive)
        for (const double push : {0.1, 1.0, 2.5}) {
            Derivation d = derive_text(
                fmt::format("system rest\ncoord x = 0 m, y = 0 m, X = 0 m, Y = 0 m\nparticle P mass 3 kg at O + x*N.x + y*N.y\n"
                            "particle Q mass 1 kg at O + X*N.x + Y*N.y\ngravity -9.81*N.y\nforce on P = -{0} N*N.x\n"
                            "force on Q = {0} N*N.x\nconstraint c: dot(pos(P), N.y) = 0\n"
                            "constraint d: dot(pos(Q) - pos(P), N.y) = 0\nnonideal c: friction on P = 0.2*reaction(c)\n"
                            "nonideal d: friction on Q from P = 0.4*reaction(d)\nrun for 1 s, integrator {1}\n",
                            push, integrator));
            const auto result = run(d, {});
            ASSERT_TRUE(result.has_value()) << render(d.diagnostics, d.sources);
            EXPECT_FALSE(d.diagnostics.has(Code::W0823)) << integrator << '\n' << render(d.diagnostics, d.sources);
        }
}

}  // namespace
}  // namespace appell
