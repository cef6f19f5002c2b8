// First-order systems with closed forms, for integrators.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sim/integrator.hpp"

namespace appell::test {

using Values = std::vector<double>;

struct Problem : FirstOrderSystem {
    const char* label;
    std::function<void(double, std::span<const double>, std::span<double>)> right_side;
    std::function<Values(double)> solution;
    double t1 = 2;

    Problem(const char* name, decltype(right_side) g, decltype(solution) s, double end)
        : label(name), right_side(std::move(g)), solution(std::move(s)), t1(end) {}
    [[nodiscard]] std::size_t size() const override { return solution(0).size(); }
    [[nodiscard]] RateStatus rate(double t, std::span<const double> x, std::span<double> xd) override {
        right_side(t, x, xd);
        for (const double v : xd)
            if (!std::isfinite(v)) return RateStatus::not_finite;
        return RateStatus::ok;
    }
};

inline std::vector<Problem> problems() {
    std::vector<Problem> all;
    // time enters: exp(-t^2)
    all.emplace_back(
        "bell", [](double t, auto x, auto xd) { xd[0] = -2 * t * x[0]; }, [](double t) { return Values{std::exp(-t * t)}; }, 2);
    all.emplace_back(
        "oscillator",
        [](double, auto x, auto xd) {
            xd[0] = x[1];
            xd[1] = -x[0];
        },
        [](double t) {
            return Values{std::cos(t), -std::sin(t)};
        },
        6);
    // nonlinear: 1 / (1 + 9 e^-t)
    all.emplace_back(
        "logistic", [](double, auto x, auto xd) { xd[0] = x[0] * (1 - x[0]); },
        [](double t) { return Values{1 / (1 + 9 * std::exp(-t))}; }, 5);
    return all;
}

inline double distance(const Values& x, const Values& y) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
    return worst;
}

}  // namespace appell::test
