// The judgement of the energy ledger on planted rows: a mass on a spring, whose balance is off by a known part of what the steps
// may lose.
#include "pipeline/energy_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/model.hpp"

namespace appell {
namespace {

struct Planted {
    double rtol = 1e-7, atol = 1e-8, stiffness = 1, offset = 0, lost = 0;  // energy at the end
    std::size_t steps = 1000;
    IntegratorKind integrator = IntegratorKind::dopri5;
};

bool is_warned_of(const Planted& p) {
    // x, x', kinetic, potential, energy, work, balance
    RowLayout layout;
    layout.coordinates = 0;
    layout.speeds = 1;
    layout.multipliers = layout.residuals = layout.kinetic = 2;
    layout.potential = 3;
    layout.energy = 4;
    layout.works = 5;
    EnergyAudit audit(layout, {"work"});
    const auto potential = [&](double x) { return 0.5 * p.stiffness * x * x + p.offset; };
    constexpr int k_rows = 500;
    for (int i = 0; i <= k_rows; ++i) {
        const double s = static_cast<double>(i) / k_rows, w = std::sqrt(p.stiffness), x = std::cos(10 * s),
                     v = -w * std::sin(10 * s);
        double row[] = {x, v, 0.5 * v * v, potential(x), 0.5 * v * v + potential(x) - s * p.lost, 0, 0};
        audit.note(s, row);
        if (std::isfinite(p.lost)) {
            EXPECT_NEAR(row[6], -s * p.lost, 1e-12 * (p.stiffness + std::abs(p.offset)));
        }
    }
    SimulateOptions options;
    options.rtol = p.rtol;
    options.atol = p.atol;
    options.integrator = p.integrator;
    options.step = 0.01;
    SimulateSummary summary;
    summary.steps = p.steps;
    Diagnostics said;
    audit.judge(said, Model{}, options, summary,
                [&](double, std::span<const double> x) { return 0.5 * x[1] * x[1] + potential(x[0]); });
    return said.has(Code::W0823);
}

// the energy that a step may lose at the state where that is most, to first order
double slack(const Planted& p) {
    double most = 0;
    for (int i = 0; i <= 500; ++i) {
        const double w = std::sqrt(p.stiffness), x = std::abs(std::cos(i / 50.0)), v = w * std::abs(std::sin(i / 50.0));
        most = std::max(most, p.stiffness * x * (p.atol + p.rtol * x) + v * (p.atol + p.rtol * v));
    }
    return most;
}

TEST(EnergyAudit, WarnsOfMoreThanTheStepsExplainAndOnlyThen) {
    for (const double stiffness : {1.0, 1e6, 1e-4})
        for (const double rtol : {1e-4, 1e-7, 1e-10})
            for (const std::size_t steps : {20, 1000, 20'000}) {
                Planted p{.rtol = rtol, .atol = 0.1 * rtol, .stiffness = stiffness, .steps = steps};
                const double explained = 3 * slack(p) * (static_cast<double>(steps) + 100);
                if (explained > 0.04 * stiffness) continue;  // looser than anything
                p.lost = 0.7 * explained;
                EXPECT_FALSE(is_warned_of(p)) << stiffness << " " << rtol << " " << steps;
                p.lost = 1.5 * explained;
                EXPECT_TRUE(is_warned_of(p)) << stiffness << " " << rtol << " " << steps;
            }
}

// a constant in the potential changes nothing but its round-off
TEST(EnergyAudit, SeesBehindTheConstantOfAPotential) {
    Planted p{.offset = 1e6};
    p.lost = 6 * slack(p) * 1100;
    EXPECT_TRUE(is_warned_of(p));
    p.lost *= 0.2;
    EXPECT_FALSE(is_warned_of(p));
}

// of an energy of half a joule; a step may lose 0.28 times the tolerance over 0.1
TEST(EnergyAudit, LooseTolerancesExplainATenthOrOneStep) {
    EXPECT_TRUE(is_warned_of({.rtol = 0.01, .atol = 0.01, .lost = 0.2}));
    EXPECT_FALSE(is_warned_of({.rtol = 0.01, .atol = 0.01, .lost = 0.02}));
    EXPECT_TRUE(is_warned_of({.rtol = 0.1, .atol = 0.1, .lost = 0.5}));
    EXPECT_FALSE(is_warned_of({.rtol = 0.1, .atol = 0.1, .lost = 0.2}));
}

TEST(EnergyAudit, FixedStepsAreHeldToAHundredth) {
    EXPECT_TRUE(is_warned_of({.lost = 0.02, .integrator = IntegratorKind::rk4}));
    EXPECT_FALSE(is_warned_of({.lost = 0.003, .integrator = IntegratorKind::rk4}));
}

TEST(EnergyAudit, WhatIsNoNumberIsWarnedOf) { EXPECT_TRUE(is_warned_of({.lost = std::nan("")})); }

}  // namespace
}  // namespace appell
