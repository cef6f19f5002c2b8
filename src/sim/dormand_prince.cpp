// See dormand_prince.hpp. Weights of an error: atol + rtol * max(|x before|, |x after|), root mean square over the controlled
// part of the state.
#include "sim/dormand_prince.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

namespace {

constexpr double k_safety = 0.9;
constexpr double k_most_growth = 10, k_most_shrink = 5;
// exponents of the proportional-integral controller for an error of order 5
constexpr double k_beta = 0.04;
constexpr double k_alpha = 0.2 - 0.75 * k_beta;

}  // namespace

DormandPrince::DormandPrince(FirstOrderSystem& system, const IntegratorOptions& options)
    : system_(system), controlled_(system.controlled()), options_(options) {
    for (std::vector<double>* v :
         {&x_, &x_previous_, &trial_, &k1_, &k2_, &k3_, &k4_, &k5_, &k6_, &k7_, &dense1_, &dense2_, &dense3_, &dense4_})
        v->resize(system.size());
}

bool DormandPrince::evaluate(double t, const std::vector<double>& x, std::vector<double>& xd) {
    ++statistics_.evaluations;
    rate_status_ = system_.rate(t, x, xd);
    return rate_status_ == RateStatus::ok;
}

StepStatus DormandPrince::start(double t, std::span<const double> x, double t_end) {
    std::copy(x.begin(), x.end(), x_.begin());
    std::copy(x.begin(), x.end(), x_previous_.begin());
    t_ = t_previous_ = t;
    t_end_ = t_end;
    direction_ = t_end < t ? -1 : 1;
    previous_error_ = 1e-4;
    rejected_ = false;
    dense_ready_ = false;
    if (!evaluate(t_, x_, k7_)) return StepStatus::rate_failed;
    h_ = options_.fixed_step > 0 ? direction_ * options_.fixed_step : first_step();
    rate_status_ = RateStatus::ok;
    return StepStatus::ok;
}

double DormandPrince::weighted_norm(const std::vector<double>& v) const {
    double sum = 0;
    for (std::size_t i = 0; i < controlled_; ++i) {
        const double e = v[i] / (options_.atol + options_.rtol * std::abs(x_[i]));
        sum += e * e;
    }
    return controlled_ == 0 ? 0 : std::sqrt(sum / static_cast<double>(controlled_));
}

// a step for which an Euler step and the change of the rate along it look harmless
double DormandPrince::first_step() {
    const double reach = std::abs(t_end_ - t_), bound = options_.max_step > 0 ? std::min(options_.max_step, reach) : reach;
    const double size = weighted_norm(x_), speed = weighted_norm(k7_);
    double h0 = size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed;
    h0 = std::min(h0, bound);
    double bend = 0;
    for (int attempt = 0; attempt < 8; ++attempt, h0 /= 8) {
        for (std::size_t i = 0; i < x_.size(); ++i) trial_[i] = x_[i] + direction_ * h0 * k7_[i];
        if (!evaluate(t_ + direction_ * h0, trial_, k2_)) continue;
        for (std::size_t i = 0; i < x_.size(); ++i) k3_[i] = k2_[i] - k7_[i];
        bend = weighted_norm(k3_) / h0;
        break;
    }
    const double worst = std::max(speed, bend);
    const double h1 = worst <= 1e-15 ? std::max(1e-6, h0 * 1e-3) : std::pow(0.01 / worst, 0.2);
    return direction_ * std::min({100 * h0, h1, bound});
}

double DormandPrince::least_step() const {
    // NOTE: relative to t; the share of the whole span stands in where t itself is zero
    return 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t_), 1e-6 * std::abs(t_end_ - t_));
}

// the seven stages; the new state is left in trial_ and its rate in k7_
bool DormandPrince::stages(double h, double t_new) {
    const std::size_t n = x_.size();
    const double* const x = x_.data();
    const double *const k1 = k1_.data(), *const k2 = k2_.data(), *const k3 = k3_.data(), *const k4 = k4_.data(),
                        *const k5 = k5_.data(), *const k6 = k6_.data();
    double* const y = trial_.data();
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] + h * (1.0 / 5) * k1[i];
    if (!evaluate(t_ + h * (1.0 / 5), trial_, k2_)) return false;
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] + h * (3.0 / 40 * k1[i] + 9.0 / 40 * k2[i]);
    if (!evaluate(t_ + h * (3.0 / 10), trial_, k3_)) return false;
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] + h * (44.0 / 45 * k1[i] - 56.0 / 15 * k2[i] + 32.0 / 9 * k3[i]);
    if (!evaluate(t_ + h * (4.0 / 5), trial_, k4_)) return false;
    for (std::size_t i = 0; i < n; ++i)
        y[i] = x[i] + h * (19372.0 / 6561 * k1[i] - 25360.0 / 2187 * k2[i] + 64448.0 / 6561 * k3[i] - 212.0 / 729 * k4[i]);
    if (!evaluate(t_ + h * (8.0 / 9), trial_, k5_)) return false;
    for (std::size_t i = 0; i < n; ++i)
        y[i] = x[i] + h * (9017.0 / 3168 * k1[i] - 355.0 / 33 * k2[i] + 46732.0 / 5247 * k3[i] + 49.0 / 176 * k4[i] -
                           5103.0 / 18656 * k5[i]);
    if (!evaluate(t_new, trial_, k6_)) return false;
    for (std::size_t i = 0; i < n; ++i)
        y[i] = x[i] +
               h * (35.0 / 384 * k1[i] + 500.0 / 1113 * k3[i] + 125.0 / 192 * k4[i] - 2187.0 / 6784 * k5[i] + 11.0 / 84 * k6[i]);
    return evaluate(t_new, trial_, k7_);
}

double DormandPrince::error_norm(double h) const {
    const std::size_t n = controlled_;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double difference = h * (71.0 / 57600 * k1_[i] - 71.0 / 16695 * k3_[i] + 71.0 / 1920 * k4_[i] -
                                       17253.0 / 339200 * k5_[i] + 22.0 / 525 * k6_[i] - 1.0 / 40 * k7_[i]);
        const double e = difference / (options_.atol + options_.rtol * std::max(std::abs(x_[i]), std::abs(trial_[i])));
        sum += e * e;
    }
    return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

StepStatus DormandPrince::step() {
    // the rate at x_ moves to k1_; every way out below that does not advance moves it back
    std::swap(k1_, k7_);
    RateStatus failure = RateStatus::ok;
    for (;;) {
        if (options_.max_step > 0 && std::abs(h_) > options_.max_step) h_ = direction_ * options_.max_step;
        double h = h_;
        if (!(std::abs(h) >= least_step())) {
            std::swap(k1_, k7_);
            rate_status_ = failure;
            return failure == RateStatus::ok ? StepStatus::step_too_small : StepStatus::rate_failed;
        }
        // NOTE: a step that would almost reach the end goes there, so that no sliver is left
        const double left = t_end_ - t_;
        double t_new = t_ + h;
        if (std::abs(left) <= 1.01 * std::abs(h)) {
            h = left;
            t_new = t_end_;
        }
        if (!stages(h, t_new)) {
            failure = rate_status_;
            h_ = h / 4;
            rejected_ = true;
            ++statistics_.rejected;
            continue;
        }
        if (options_.fixed_step <= 0) {
            const double error = error_norm(h);
            const double raw = std::pow(error, k_alpha);
            if (!(error <= 1)) {
                failure = RateStatus::ok;
                h_ = std::isfinite(error) ? h / std::min(k_most_shrink, raw / k_safety) : h / k_most_shrink;
                rejected_ = true;
                ++statistics_.rejected;
                continue;
            }
            double shrink = raw / std::pow(previous_error_, k_beta) / k_safety;
            shrink = std::clamp(shrink, 1 / k_most_growth, k_most_shrink);
            if (rejected_) shrink = std::max(shrink, 1.0);
            previous_error_ = std::max(error, 1e-4);
            h_ = h / shrink;
        }
        rejected_ = false;
        std::swap(x_previous_, x_);
        std::swap(x_, trial_);
        t_previous_ = t_;
        t_ = t_new;
        h_done_ = h;
        dense_ready_ = false;
        ++statistics_.steps;
        return StepStatus::ok;
    }
}

bool DormandPrince::retreat() {
    std::swap(x_, x_previous_);
    std::swap(k1_, k7_);
    t_ = t_previous_;
    h_ = h_done_ / 4;
    rejected_ = true;
    dense_ready_ = false;
    --statistics_.steps;
    ++statistics_.rejected;
    return std::abs(h_) >= least_step();
}

void DormandPrince::prepare_dense() {
    const double h = h_done_;
    for (std::size_t i = 0; i < x_.size(); ++i) {
        const double change = x_[i] - x_previous_[i], bend = h * k1_[i] - change;
        dense1_[i] = change;
        dense2_[i] = bend;
        dense3_[i] = change - h * k7_[i] - bend;
        dense4_[i] = h * (-12715105075.0 / 11282082432.0 * k1_[i] + 87487479700.0 / 32700410799.0 * k3_[i] -
                          10690763975.0 / 1880347072.0 * k4_[i] + 701980252875.0 / 199316789632.0 * k5_[i] -
                          1453857185.0 / 822651844.0 * k6_[i] + 69997945.0 / 29380423.0 * k7_[i]);
    }
    dense_ready_ = true;
}

bool DormandPrince::dense(double t, std::span<double> x) {
    if (t_ == t_previous_) {
        std::copy(x_.begin(), x_.end(), x.begin());
        return true;
    }
    if (!dense_ready_) prepare_dense();
    const double s = (t - t_previous_) / h_done_, r = 1 - s;
    for (std::size_t i = 0; i < x_.size(); ++i)
        x[i] = x_previous_[i] + s * (dense1_[i] + r * (dense2_[i] + s * (dense3_[i] + r * dense4_[i])));
    return true;
}

StepStatus DormandPrince::replace_state(std::span<const double> x, bool rate_too) {
    if (!dense_ready_ && t_ != t_previous_) prepare_dense();  // the extension belongs to the step as it was taken
    std::copy(x.begin(), x.end(), x_.begin());
    if (rate_too && !evaluate(t_, x_, k7_)) return StepStatus::rate_failed;
    return StepStatus::ok;
}

}  // namespace appell
