// See explicit_runge_kutta.hpp.
#include "sim/explicit_runge_kutta.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "sim/far_from_zero.hpp"
#include "sim/march.hpp"
#include "sim/step_size.hpp"

namespace appell {

namespace {

// Bits stand in vectors, so that they never leave the registers of numbers.
struct Words {
    using Bits [[gnu::vector_size(16)]] = std::uint64_t;
    static Bits all(std::uint64_t bits) { return Bits{bits}; }
    static double all(double x) { return x; }
    static Bits bits(double x) { return Bits{std::bit_cast<std::uint64_t>(x)}; }
    static double number(Bits bits) { return std::bit_cast<double>(std::uint64_t(bits[0])); }
};

// a first step is not shorter than so many of the least ones, since it may be rejected
constexpr double k_above_least = 10;

}  // namespace

ExplicitRungeKutta::ExplicitRungeKutta(FirstOrderSystem& system, const IntegratorOptions& options, const Control& control)
    : x_(system.size()),
      x_previous_(system.size()),
      trial_(system.size()),
      rate_(system.size()),
      rate_previous_(system.size()),
      rate_trial_(system.size()),
      last_stage_(system.size()),
      system_(system),
      controlled_(system.controlled()),
      options_(options),
      control_(control),
      atol_(controlled_, options.atol),
      reached_(system.size()),
      reached_rate_(system.size()) {
    if (!options.atol_by_entry.empty()) {
        if (options.atol_by_entry.size() != controlled_)
            throw Error("as many absolute tolerances as controlled entries of the state");
        atol_ = options.atol_by_entry;
    }
    atol_.resize(controlled_);
    const auto counted = std::count_if(atol_.begin(), atol_.end(), [](double a) { return std::isfinite(a); });
    if (counted > 0) share_ = 1 / static_cast<double>(counted);
}

bool ExplicitRungeKutta::evaluate(double t, std::span<const double> x, std::span<double> xd) {
    ++statistics_.evaluations;
    rate_status_ = system_.rate(t, x, xd);
    return rate_status_ == RateStatus::ok;
}

bool ExplicitRungeKutta::evaluate_at_once(const StepStages& stages) {
    if (!system_.stages(stages)) return false;
    statistics_.evaluations += stages.count - 1;
    rate_status_ = RateStatus::ok;
    return true;
}

StepStatus ExplicitRungeKutta::start(double t, std::span<const double> x, double t_end) {
    std::copy(x.begin(), x.end(), x_.begin());
    std::copy(x.begin(), x.end(), x_previous_.begin());
    t_ = t_previous_ = t_start_ = t;
    t_end_ = t_end;
    direction_ = t_end < t ? -1 : 1;
    far_ = far_from_zero(t, t_end);
    previous_log_error_ = k_least_log_error;
    multiple_ = multiple_before_ = 0;
    rejected_ = dense_ready_ = replaced_ = false;
    at_the_bound_ = below_it_ = 0;
    if (!evaluate(t_, x_, rate_)) return StepStatus::rate_failed;
    h_ = fixed() ? direction_ * options_.fixed_step : first_step();
    rate_status_ = RateStatus::ok;
    return StepStatus::ok;
}

double ExplicitRungeKutta::weighted_norm(std::span<const double> v) const {
    double sum = 0;
    for (std::size_t i = 0; i < controlled_; ++i) {
        const double e = v[i] / (atol_[i] + options_.rtol * std::abs(x_[i]));
        sum += e * e;
    }
    return std::sqrt(sum * share_);
}

// the user's, or a step for which an Euler step and the change of the rate along it look harmless
double ExplicitRungeKutta::first_step() {
    const double reach = std::abs(t_end_ - t_), bound = options_.max_step > 0 ? std::min(options_.max_step, reach) : reach;
    if (options_.first_step > 0) return direction_ * std::min(options_.first_step, bound);
    const double size = weighted_norm(x_), speed = weighted_norm(rate_);
    double h0 = size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed;
    // far from t = 0, or at rest, less would not move t
    const double least = k_above_least * least_step();
    h0 = std::min(std::max(h0, least), bound);
    double bend = 0;
    for (int attempt = 0; attempt < 8; ++attempt, h0 /= 8) {
        for (std::size_t i = 0; i < x_.size(); ++i) trial_[i] = x_[i] + direction_ * h0 * rate_[i];
        if (!evaluate(t_ + direction_ * h0, trial_, rate_trial_)) continue;
        for (std::size_t i = 0; i < x_.size(); ++i) rate_trial_[i] -= rate_[i];
        bend = weighted_norm(rate_trial_) / h0;
        break;
    }
    const double worst = std::max(speed, bend);
    const double h1 = worst <= 1e-15 ? std::max(1e-6, h0 * 1e-3) : std::pow(0.01 / worst, 1.0 / control_.order);
    return direction_ * std::min(std::max(std::min(100 * h0, h1), least), bound);
}

double ExplicitRungeKutta::least_step() const {
    return k_least_step * std::max(std::abs(t_), k_least_of_left * std::abs(t_end_ - t_));
}

// Where a step must end at the latest. Multiples of a fixed step are products, so that they are the times of rows that are
// wanted there.
double ExplicitRungeKutta::next_stop() const {
    if (!fixed()) return t_end_;
    const double next = t_start_ + direction_ * ((multiple_ + 1) * options_.fixed_step);
    return direction_ * (t_end_ - next) < 0.01 * options_.fixed_step ? t_end_ : next;
}

StepStatus ExplicitRungeKutta::step() {
    RateStatus failure = RateStatus::ok;
    const double stop = next_stop();
    for (;;) {
        if (!fixed() && options_.max_step > 0 && std::abs(h_) > options_.max_step) h_ = direction_ * options_.max_step;
        double h = h_;
        // a stretch may be shorter than that: between two instants
        if (!(std::abs(h) >= std::min(least_step(), std::abs(stop - t_)))) {
            rate_status_ = failure;
            return failure == RateStatus::ok ? StepStatus::step_too_small : StepStatus::rate_failed;
        }
        const double left = stop - t_;
        double t_new = t_ + h;
        if (far_) h = t_new - t_;  // what t can follow
        if (std::abs(left) <= k_almost_there * std::abs(h)) {
            h = left;
            t_new = stop;
        }
        const auto reject = [&](double shorter) {
            h_ = shorter;
            rejected_ = true;
            ++statistics_.rejected;
        };
        if (!stages(h, t_new) || (control_.end_rate_in_error && !evaluate(t_new, trial_, rate_trial_))) {
            failure = rate_status_;
            reject(h / 4);
            continue;
        }
        double next = h_, log_error = k_least_log_error;
        if (!fixed()) {
            const double square = squared_error(h);
            const double log2_square = log2_about<Words>(square);
            log_error = k_half_ln2 * log2_square;
            if (!(square <= 1)) {
                failure = RateStatus::ok;
                const double raw = shrink_about<Words>(log2_square, control_.alpha);
                reject(h * (std::isfinite(square) ? std::max(1 / control_.most_shrink, raw) : 1 / control_.most_shrink));
                continue;
            }
            double growth = growth_about<Words>(log2_square, previous_log_error_, control_.alpha, control_.beta);
            growth = std::clamp(growth, 1 / control_.most_shrink, control_.most_growth);
            if (rejected_) growth = std::min(growth, 1.0);
            next = h * growth;
        }
        if (!control_.end_rate_in_error && !evaluate(t_new, trial_, rate_trial_)) {
            failure = rate_status_;
            reject(h / 4);
            continue;
        }
        previous_log_error_ = std::max(log_error, k_least_log_error);
        if (!fixed()) look_for_stiffness(h, t_new);
        rejected_ = false;
        multiple_before_ = multiple_;
        if (fixed() && t_new == stop) {
            ++multiple_;
            next = direction_ * options_.fixed_step;
        }
        h_ = next;
        x_previous_.exchange(x_);
        x_.exchange(trial_);
        rate_previous_.exchange(rate_);
        rate_.exchange(rate_trial_);
        t_previous_ = t_;
        t_ = t_new;
        h_done_ = h;
        dense_ready_ = replaced_ = false;
        ++statistics_.steps;
        return StepStatus::ok;
    }
}

// Two states at the end of the step, the last stage and the new one, and their rates: how much the rates differ for how much the
// states do estimates the fastest decay |lambda|. Where h |lambda| stays at the bound of stability it is stability that limits
// the step (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2; fifteen such steps, without six others in a row,
// as in DOPRI5). The control of steps keeps them a little inside the bound, so that the bound that is asked about is less than
// the one on the real axis, 3.3 and 6.4. Until there is a suspicion one step of eight is asked: on short states the question
// costs as much as a stage.
void ExplicitRungeKutta::look_for_stiffness(double h, double t_new) {
    if (at_the_bound_ == 0 && statistics_.steps % k_stiff_asked != 0) return;
    double rates = 0, states = 0;
    // several entries at once, then the sums in their order
    constexpr std::size_t k_at_once = 8;
    std::array<double, k_at_once> of_rates, of_states;
    const auto squares = [&, rtol = options_.rtol](std::size_t begin, auto count) {
        const double *const x = x_.data() + begin, *const trial = trial_.data() + begin, *const atol = atol_.data() + begin;
        const double *const rate = rate_trial_.data() + begin, *const last_rate = last_stage_rate().data() + begin;
        const double* const last = last_stage_.data() + begin;
        for (std::size_t i = 0; i < count; ++i) {
            const double weight = atol[i] + rtol * largest(x[i], trial[i]), inverse = 1 / (weight * weight);
            const double change_of_rate = rate[i] - last_rate[i], change = trial[i] - last[i];
            of_rates[i] = change_of_rate * change_of_rate * inverse;
            of_states[i] = change * change * inverse;
        }
    };
    for (std::size_t begin = 0; begin < controlled_; begin += k_at_once) {
        const std::size_t count = std::min(k_at_once, controlled_ - begin);
        if (count == k_at_once)
            squares(begin, std::integral_constant<std::size_t, k_at_once>());
        else
            squares(begin, count);
        for (std::size_t i = 0; i < count; ++i) {
            rates += of_rates[i];
            states += of_states[i];
        }
    }
    if (states > 0 && h * h * rates > control_.stability * control_.stability * states) {
        below_it_ = 0;
        if (++at_the_bound_ == k_stiff_enough && statistics_.stiff_steps == 0) statistics_.stiff_from = t_new;
    } else if (++below_it_ == k_stiff_others) {
        at_the_bound_ = 0;
    }
    if (at_the_bound_ >= k_stiff_enough) ++statistics_.stiff_steps;
}

bool ExplicitRungeKutta::retreat() {
    x_.exchange(x_previous_);
    rate_.exchange(rate_previous_);
    t_ = t_previous_;
    multiple_ = multiple_before_;
    h_ = h_done_ / 4;
    rejected_ = true;
    dense_ready_ = replaced_ = false;
    --statistics_.steps;
    ++statistics_.rejected;
    return std::abs(h_) >= least_step();
}

bool ExplicitRungeKutta::checkpoint(Checkpoint& c) {
    c("integrator.t_start", t_start_);
    c("integrator.t", t_);
    const auto entries = [&](std::string_view name, Entries& kept) {
        std::vector<double> values(kept.begin(), kept.end());
        c(name, values);
        std::copy_n(values.begin(), std::min(values.size(), kept.size()), kept.begin());
    };
    entries("integrator.x", x_);
    entries("integrator.rate", rate_);  // not always that of x, which may have been put right at round-off since
    c("integrator.step", h_);
    c("integrator.log_error", previous_log_error_);
    c("integrator.multiple", multiple_);
    c("integrator.multiple_before", multiple_before_);
    c("integrator.at_the_bound", at_the_bound_);
    c("integrator.below_it", below_it_);
    c("integrator.rejected", rejected_);
    c("integrator.steps_taken", statistics_.steps);
    c("integrator.steps_rejected", statistics_.rejected);
    c("integrator.evaluations", statistics_.evaluations);
    c("integrator.stiff_steps", statistics_.stiff_steps);
    c("integrator.stiff_from", statistics_.stiff_from);
    if (c.restoring()) {
        t_previous_ = t_;
        dense_ready_ = replaced_ = false;
        // a step that leads nowhere is none that was saved
        return std::isfinite(h_) && h_ * direction_ > 0;
    }
    return true;
}

bool ExplicitRungeKutta::lend_steps(March& march) {
    if (fixed() || far_) return false;
    march.x = x_.data();
    march.rate = rate_.data();
    march.t = t_;
    march.t_previous = t_previous_;
    march.t_end = t_end_;
    march.h = h_;
    march.log_error = previous_log_error_;
    march.rejected = rejected_;
    march.rtol = options_.rtol;
    march.max_step = options_.max_step;
    march.atol = atol_.data();
    march.share = share_;
    march.at_the_bound = at_the_bound_;
    march.below_it = below_it_;
    march.statistics = statistics_;
    return true;
}

void ExplicitRungeKutta::take_back(const March& march) {
    t_ = march.t;
    t_previous_ = march.t_previous;
    h_ = march.h;
    previous_log_error_ = march.log_error;
    rejected_ = march.rejected;
    at_the_bound_ = march.at_the_bound;
    below_it_ = march.below_it;
    statistics_ = march.statistics;
    rate_status_ = RateStatus::ok;
    dense_ready_ = replaced_ = false;
}

bool ExplicitRungeKutta::dense(double t, std::span<double> x) {
    if (t_ == t_previous_) {
        std::copy(x_.begin(), x_.end(), x.begin());
        return true;
    }
    if (!dense_ready_ && !prepare_dense(h_done_)) return false;
    dense_ready_ = true;
    interpolate((t - t_previous_) / h_done_, x);
    return true;
}

bool ExplicitRungeKutta::bounds(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) {
    if (t_ == t_previous_ || (!dense_ready_ && !prepare_dense(h_done_))) return false;
    dense_ready_ = true;
    bound(entries, low, high);
    return true;
}

StepStatus ExplicitRungeKutta::replace_state(std::span<const double> x, bool rate_too) {
    // the extension belongs to the step as it was taken
    if (!dense_ready_ && !replaced_) {
        std::copy(x_.begin(), x_.end(), reached_.begin());
        std::copy(rate_.begin(), rate_.end(), reached_rate_.begin());
        replaced_ = true;
    }
    std::copy(x.begin(), x.end(), x_.begin());
    if (rate_too && !evaluate(t_, x_, rate_)) return StepStatus::rate_failed;
    return StepStatus::ok;
}

// ---------------------------------------------------------------- the quartic

QuarticExtension::QuarticExtension(std::size_t size) {
    for (std::vector<double>* v : {&x0_, &change_, &bend_, &twist_, &fourth_, &at_place_, &rate_}) v->resize(size);
}

// x0 + s (change + r (bend + s twist)) + (s r)^2 fourth, where r = 1 - s
void QuarticExtension::cubic(double h, std::span<const double> x0, std::span<const double> rate0, std::span<const double> x1,
                             std::span<const double> rate1) {
    for (std::size_t i = 0; i < x0.size(); ++i) {
        x0_[i] = x0[i];
        change_[i] = x1[i] - x0[i];
        bend_[i] = h * rate0[i] - change_[i];
        twist_[i] = change_[i] - h * rate1[i] - bend_[i];
        fourth_[i] = 0;
    }
    evaluate(k_place, at_place_);
}

void QuarticExtension::quartic(double h, std::span<const double> rate_at_place) {
    constexpr double s = k_place, r = 1 - s;
    for (std::size_t i = 0; i < x0_.size(); ++i) {
        const double slope = change_[i] + (r - s) * bend_[i] + s * (2 * r - s) * twist_[i];
        fourth_[i] = (h * rate_at_place[i] - slope) / k_slope;
    }
}

void QuarticExtension::evaluate(double share, std::span<double> x) const {
    const double s = share, r = 1 - s;
    for (std::size_t i = 0; i < x0_.size(); ++i)
        x[i] = x0_[i] + s * (change_[i] + r * (bend_[i] + s * (twist_[i] + r * fourth_[i])));
}

void QuarticExtension::bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const {
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const std::size_t i = entries[k];
        bound_extension(x0_[i], std::array{change_[i], bend_[i], twist_[i], fourth_[i]}, low[k], high[k]);
    }
}

}  // namespace appell
