#include "sim/step_polynomials.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Dense>

namespace appell {

StepPolynomials::StepPolynomials(std::size_t entries, std::size_t degree)
    : nodes_(degree + 1),
      fit_(nodes_.size() * nodes_.size()),
      values_(entries * nodes_.size()),
      coefficients_(values_.size()),
      miss_(entries),
      shifted_(nodes_.size()) {
    const std::size_t n = nodes_.size();
    Eigen::MatrixXd powers(n, n);
    for (std::size_t k = 0; k < n; ++k) {
        nodes_[k] = k == 0       ? -1.0
                    : k == n - 1 ? 1.0
                                 : -std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(n - 1));
        double power = 1;
        for (std::size_t i = 0; i < n; ++i, power *= nodes_[k])
            powers(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i)) = power;
    }
    const Eigen::MatrixXd inverse = powers.inverse();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) fit_[i * n + k] = inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
}

void StepPolynomials::fit() {
    // coefficients of a fit of up to twelve nodes have lost less than two digits
    constexpr double k_round_off = 100 * std::numeric_limits<double>::epsilon();
    const std::size_t n = nodes_.size();
    for (std::size_t entry = 0; entry < miss_.size(); ++entry) {
        const double* const values = &values_[entry * n];
        double* const coefficients = &coefficients_[entry * n];
        double spread = 0;  // the last value is the reference: a polynomial that hardly changes keeps its digits
        for (std::size_t k = 0; k < n; ++k) spread = std::max(spread, std::abs(values[k] - values[n - 1]));
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += fit_[i * n + k] * (values[k] - values[n - 1]);
            coefficients[i] = sum;
        }
        coefficients[0] += values[n - 1];
        miss_[entry] = k_round_off * spread + std::numeric_limits<double>::epsilon() * std::abs(values[n - 1]);
    }
}

double StepPolynomials::value(std::size_t entry, double s) const {
    const std::size_t n = nodes_.size();
    const double* const c = &coefficients_[entry * n];
    double sum = c[n - 1];
    for (std::size_t i = n - 1; i-- > 0;) sum = sum * s + c[i];
    return sum;
}

// About the middle m of a to b the polynomial is  sum c_k (s - m)^k  with |s - m| <= r: even powers are in [0, r^k].
MovingInterval StepPolynomials::enclose(std::size_t entry, double a, double b) {
    const std::size_t n = nodes_.size();
    std::copy_n(&coefficients_[entry * n], n, shifted_.begin());
    const double m = 0.5 * (a + b), r = std::max(b - m, m - a);
    for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t k = n - 1; k-- > i;) shifted_[k] += m * shifted_[k + 1];
    const auto power = [&](std::size_t k, double r_to_k) {
        return k == 0 ? Interval(1) : k % 2 == 0 ? Interval(0, r_to_k) : Interval(-r_to_k, r_to_k);
    };
    MovingInterval out{Interval(shifted_[0] - miss_[entry], shifted_[0] + miss_[entry]), Interval(0)};
    double r_to_k = 1;
    for (std::size_t k = 1; k < n; ++k) {
        // NOTE: a slope that is missed by little moves values by no more than the miss above, so that it is not widened
        out.rate = out.rate + Interval(static_cast<double>(k) * shifted_[k]) * power(k - 1, r_to_k);
        r_to_k *= r;
        out.value = out.value + Interval(shifted_[k]) * power(k, r_to_k);
    }
    return out;
}

}  // namespace appell
