// Slip in a plane that begins (mode_switching.hpp; docs/theory/modes.md, "Slip that begins in a plane").
//
// The law -b s/|s| turns a slip s towards its steady direction at a rate of about b/(m |s|), which has no bound where slip
// begins: |s| grows from zero, and only with the square of time where the force has grown to its bound. There the direction of
// the law is taken from what it is steady at, the direction of the slip acceleration. That direction is found where the slip
// begins and at instants soon after, is fitted by d + w t, and stands for the direction of the slip for as long as the slip that
// it leads to lies beside it by less than the tolerances.
#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/mode_switching.hpp"

namespace appell {

namespace {

using Vector = std::array<double, 3>;

// instants of a trial at which directions are found; a cubic through the slip accelerations there and at its beginning
constexpr std::size_t k_instants = 3;
// a trial, in parts of the run: the shortest and the longest one, and how many there are at most
constexpr double k_shortest = 1e-10, k_longest = 0.02, k_longest_of_fixed = 0.2;
constexpr int k_most_trials = 60;
// part of the tolerances with which a trial is good enough; the next one is longer by so much at least and at most
constexpr double k_good_enough = 0.2, k_least_growth = 1.1, k_most_growth = 4;

Vector sum(const Vector& v, double factor, const Vector& w) {
    return {v[0] + factor * w[0], v[1] + factor * w[1], v[2] + factor * w[2]};
}

// how far the slip lies beside the direction
double beside(const Vector& slip, const Vector& direction) {
    const Vector unit = along(direction, 1);
    const double forward = dot(slip, unit);
    return forward > 0 ? length(sum(slip, -forward, unit)) : length(slip);
}

}  // namespace

bool ModeSwitching::slides_in_plane(std::size_t i) const {
    const Friction& f = m_.frictions[i];
    if (off_[f.constraint] || !off_[f.stick]) return false;
    return std::ranges::count(whole_.rows, f.stick, &ConstraintRow::constraint) > 1;
}

// what was slid in last, for the mode that comes: a run follows it by itself
bool ModeSwitching::remember_directions(double t, std::span<const double> x) {
    if (m_.frictions.empty()) return true;
    if (!inspect(t, x)) return false;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (slides_in_plane(i) && !begins_[i] && length(at_.slip[i]) > 1e3 * system_.rest_speed)
            direction_[i] = along(at_.slip[i], 1);
    return true;
}

// the state some time after, to second order, while all directions stay
std::optional<std::vector<double>> ModeSwitching::predict(MotionProgram& rate, double t, std::span<const double> x,
                                                          double after) {
    std::vector<double> out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(states()));
    for (const double part : {0.0, 0.5}) {
        (void)rate.run(t + part * after, out);  // what has no value shows
        const std::span<const double> qd = rate.output("qd"), ud = rate.output("ud");
        const double step = part == 0 ? 0.5 * after : after;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] + step * (i < qd.size() ? qd[i] : ud[i - qd.size()]);
    }
    if (!std::ranges::all_of(out, [](double v) { return std::isfinite(v); }) || !project(t + after, out, false))
        return std::nullopt;
    return out;
}

// Leaves the directions as they are, and what was inspected at some other state.
std::optional<ModeSwitching::SlipTrial> ModeSwitching::try_slips(double t, std::span<const double> x,
                                                                 std::span<const std::size_t> slips, double duration) {
    const std::vector<Vector> before = direction_;
    for (const std::size_t i : slips) {
        begins_[i] = true;
        turning_[i] = {};
    }
    give_friction_parameters(*now_);
    MotionProgram rate(now_->lowered.motion, now_->lowered.motion.rate);
    const double h = duration / k_instants;
    std::vector<std::vector<double>> there{{x.begin(), x.begin() + static_cast<std::ptrdiff_t>(states())}};
    std::vector<std::vector<Vector>> steady;
    bool good = true;
    for (std::size_t k = 1; k <= k_instants && good; ++k) {
        const auto state = predict(rate, t, x, static_cast<double>(k) * h);
        good = state && inspect_again(t + static_cast<double>(k) * h, *state) &&
               turn_to_slip(t + static_cast<double>(k) * h, *state, slips);
        if (!good) break;
        there.push_back(*state);
        steady.push_back(direction_);
    }
    SlipTrial out;
    for (const std::size_t i : slips) {
        if (!good) break;
        const Vector turning = sum({}, 1 / (2 * h), sum(steady[2][i], -1, steady[0][i]));
        const Vector mean = sum({}, 1.0 / 3, sum(sum(steady[0][i], 1, steady[1][i]), 1, steady[2][i]));
        out.turning.push_back(turning);
        out.direction.push_back(sum(mean, -2 * h, turning));
    }
    std::vector<Vector> slip(slips.size());
    constexpr double k_weights[] = {1.0 / 8, 3.0 / 8, 3.0 / 8, 1.0 / 8};
    for (std::size_t k = 0; k <= k_instants && good; ++k) {
        for (std::size_t n = 0; n < slips.size(); ++n)
            direction_[slips[n]] = along(sum(out.direction[n], static_cast<double>(k) * h, out.turning[n]), 1);
        good = inspect_again(t + static_cast<double>(k) * h, there[k]);
        for (std::size_t n = 0; n < slips.size() && good; ++n) {
            if (k == 0) slip[n] = at_.slip[slips[n]];
            slip[n] = sum(slip[n], duration * k_weights[k], at_.slip_acceleration[slips[n]]);
        }
    }
    if (fixed_step_ > 0 && good) good = find_slow_enough(t + duration, there.back(), slips, out);
    for (std::size_t n = 0; n < slips.size() && good; ++n) {
        out.speed.push_back(length(slip[n]));
        const double allowed = atol_ + rtol_ * out.speed[n];
        out.error = std::max(out.error, beside(slip[n], direction_[slips[n]]) / allowed);
        out.too_fast = out.too_fast || (fixed_step_ > 0 && out.speed[n] < out.slow_enough[n]);
    }
    direction_ = before;
    for (const std::size_t i : slips) begins_[i] = false;
    if (!good || !std::isfinite(out.error)) return std::nullopt;
    return out;
}

// The speed from which on a fixed step is no longer than the law takes to turn the slip: the step times the acceleration that the
// law gives the slip, which is half of what changes when its direction is reversed.
bool ModeSwitching::find_slow_enough(double t, std::span<const double> x, std::span<const std::size_t> slips, SlipTrial& out) {
    const std::vector<Vector> ahead = at_.slip_acceleration;
    for (const std::size_t i : slips) {
        direction_[i] = along(direction_[i], -1);
        if (!inspect_again(t, x)) return false;
        out.slow_enough.push_back(fixed_step_ * 0.5 * length(sum(at_.slip_acceleration[i], -1, ahead[i])));
        direction_[i] = along(direction_[i], -1);
    }
    return true;
}

// The longest trial that is within the tolerances; false where none is. Fixed steps, which know no tolerances, need one that
// leads to slips that they can follow.
bool ModeSwitching::try_all_slips(double t, std::span<const double> x, const std::vector<std::size_t>& slips) {
    double duration = std::max(k_shortest * duration_, 1e3 * std::numeric_limits<double>::epsilon() * std::abs(t));
    std::optional<SlipTrial> best;
    double lasts = 0;
    for (int trial = 0; trial < k_most_trials && duration <= (fixed_step_ > 0 ? k_longest_of_fixed : k_longest) * duration_;
         ++trial) {
        std::optional<SlipTrial> next = try_slips(t, x, slips, duration);
        if (!next || (next->error > 1 && !(fixed_step_ > 0 && (!best || best->too_fast)))) break;
        best = std::move(next);
        lasts = duration;
        if (best->error > k_good_enough && !best->too_fast) break;
        duration *= best->too_fast ? k_most_growth / 2
                                   : std::clamp(0.8 * std::cbrt(1 / std::max(best->error, 1e-9)), k_least_growth, k_most_growth);
    }
    if (!best) return false;
    bool any = false;
    for (std::size_t n = 0; n < slips.size(); ++n) {
        const std::size_t i = slips[n];
        begins_[i] = best->speed[n] > system_.rest_speed;  // others may keep it at rest
        if (!begins_[i]) continue;
        any = true;
        direction_[i] = best->direction[n];
        turning_[i] = best->turning[n];
    }
    turned_at_ = t;
    if (any) onset_end_ = t + lasts;
    return true;
}

// Slips in a plane that begin here, and those that have just begun and whose forces do not jump here.
bool ModeSwitching::begin_slips(double t, std::span<const double> x) {
    if (m_.frictions.empty()) return true;
    if (!inspect(t, x)) return false;
    std::vector<std::size_t> slips, at_rest;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        const bool rests = at_.at_rest(i);
        if (slides_in_plane(i) && (rests || begins_[i])) slips.push_back(i);
        if (slides_in_plane(i) && rests) at_rest.push_back(i);
        if (begins_[i]) direction_[i] = rests ? along(sum(direction_[i], t - turned_at_, turning_[i]), 1) : along(at_.slip[i], 1);
        begins_[i] = false;
    }
    onset_end_ = std::numeric_limits<double>::infinity();
    if (slips.empty()) return true;
    if (!try_all_slips(t, x, slips) && at_rest.size() < slips.size() && !at_rest.empty()) (void)try_all_slips(t, x, at_rest);
    return inspect_again(t, x);
}

// From here on slips have their own directions. Those that have come back to rest in the meantime stop.
std::optional<std::vector<GuardMeaning>> ModeSwitching::end_slip_onset(double t, std::span<const double> x) {
    onset_end_ = std::numeric_limits<double>::infinity();
    if (!inspect(t, x)) return std::nullopt;
    std::vector<GuardMeaning> stopped;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        if (!begins_[i]) continue;
        begins_[i] = false;
        const Vector last = sum(direction_[i], t - turned_at_, turning_[i]);
        if (dot(at_.slip[i], last) <= system_.rest_speed) stopped.push_back({GuardMeaning::What::stops, i});
        direction_[i] = along(at_.slip[i], 1);
    }
    if (!inspect_again(t, x)) return std::nullopt;
    return stopped;
}

}  // namespace appell
