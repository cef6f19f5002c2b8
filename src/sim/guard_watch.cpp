#include "sim/guard_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
// round-off of a guard against the largest value it had
constexpr double k_round_off = 1e-13;
// passages closer than this part of a step are one instant
constexpr double k_together = 1e-12;
constexpr int k_bisections = 200;  // more than halvings of any double; the loop ends by its own test
constexpr int k_sections = 40;     // of an interval around an extremum

}  // namespace

GuardWatch::GuardWatch(const Motion& motion) : guards_(motion.guards), program_(motion, motion.guard) {
    if (guards_.empty()) return;
    output_ = motion.guard.output("guard");
    if (output_.end - output_.begin != guards_.size()) throw Error("the guard program does not have the guards of the motion");
    sign_.resize(guards_.size());
    sign_now_.resize(guards_.size());
    sign_before_.resize(guards_.size());
    largest_.resize(guards_.size());
    found_.resize(guards_.size());
    values_.resize(guards_.size());
    passed_.reserve(guards_.size());
    state_.resize(motion.carried());
    times_.resize(k_parts + 1);
    samples_.assign(k_parts + 1, std::vector<double>(guards_.size()));
}

double GuardWatch::noise(std::size_t guard) const { return std::max(guards_[guard].noise, k_round_off * largest_[guard]); }

int GuardWatch::sign_of(std::size_t guard, double value) const {
    if (value > noise(guard)) return 1;
    return value < -noise(guard) ? -1 : 0;
}

bool GuardWatch::counts(std::size_t guard, int from, int to) const {
    switch (guards_[guard].passage) {
        case Guard::Passage::falling: return from > 0 && to < 0;
        case Guard::Passage::rising: return from < 0 && to > 0;
        case Guard::Passage::either: return from * to < 0;
    }
    return false;
}

bool GuardWatch::sample(Integrator& integrator, double t, std::span<double> values) {
    if (!integrator.dense(t, state_)) return false;
    const EvalReport report = program_.run(t, state_);
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows) return false;
    const std::span<const double> out = program_.output(output_);
    std::copy(out.begin(), out.end(), values.begin());
    return true;
}

void GuardWatch::start(double t, std::span<const double> x) {
    if (empty()) return;
    const EvalReport report = program_.run(t, x);
    const bool known = report.status == EvalStatus::ok || report.status == EvalStatus::inconsistent_rows;
    const std::span<const double> out = program_.output(output_);
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        const double value = known && std::isfinite(out[i]) ? out[i] : 0;
        largest_[i] = std::max(largest_[i], std::abs(value));
        sign_[i] = guards_[i].armed ? 1 : sign_of(i, value);
    }
}

void GuardWatch::note(std::size_t guard, double t) {
    if (!(std::abs(found_[guard] - times_.front()) <= std::abs(t - times_.front()))) found_[guard] = t;
}

// the root between a, where the guard has not passed yet, and b, where it has
void GuardWatch::consider(Integrator& integrator, std::size_t guard, double a, double fa, double b) {
    const double before = fa;
    for (int i = 0; i < k_bisections; ++i) {
        const double middle = a + 0.5 * (b - a);
        if (middle == a || middle == b) break;
        if (!sample(integrator, middle, values_)) break;
        const double f = values_[guard];
        // a value of round-off at the start says nothing about its side; then any that is clearly on the other one ends it
        const bool over = before != 0 ? f * before <= 0 : f * sign_now_[guard] < 0;
        (over ? b : a) = middle;
    }
    note(guard, b);
}

// two roots between samples of one sign: the extremum, where there is one between, lies on the other side
void GuardWatch::look_for_pair(Integrator& integrator, std::size_t guard, std::size_t part) {
    const std::size_t middle = std::clamp<std::size_t>(part, 1, k_parts - 1);
    const double h = times_[1] - times_[0];
    const double f0 = samples_[middle - 1][guard], f1 = samples_[middle][guard], f2 = samples_[middle + 1][guard];
    const double slope = (f2 - f0) / 2, bend = f2 - 2 * f1 + f0;
    const double sign = sign_now_[guard];
    if (!(bend * sign > 0)) return;  // no extremum towards zero
    const double vertex = static_cast<double>(middle) - slope / bend;
    if (!(vertex >= static_cast<double>(part) && vertex <= static_cast<double>(part) + 1)) return;
    const double depth = sign * (f1 - 0.5 * slope * slope / bend);
    if (!(depth < 0.3 * std::min(std::abs(samples_[part][guard]), std::abs(samples_[part + 1][guard])))) return;
    // golden section for the least of sign * guard
    constexpr double k_golden = 0.6180339887498949;
    double a = times_.front() + h * static_cast<double>(part), b = times_.front() + h * static_cast<double>(part + 1);
    const double start = a;
    double c = b - k_golden * (b - a), d = a + k_golden * (b - a);
    const auto at = [&](double t) { return sample(integrator, t, values_) ? sign * values_[guard] : k_nan; };
    double fc = at(c), fd = at(d);
    for (int i = 0; i < k_sections; ++i) {
        const bool left = fc < fd;
        const double least = left ? fc : fd;
        if (!std::isfinite(least)) return;
        if (least < -noise(guard)) {
            consider(integrator, guard, start, samples_[part][guard], left ? c : d);
            return;
        }
        if (left) {
            b = d;
            d = c;
            fd = fc;
            c = b - k_golden * (b - a);
            fc = at(c);
        } else {
            a = c;
            c = d;
            fc = fd;
            d = a + k_golden * (b - a);
            fd = at(d);
        }
    }
}

bool GuardWatch::look(Integrator& integrator, double from) {
    passed_.clear();
    if (empty()) return false;
    const double to = integrator.t();
    if (from == integrator.t_previous()) sign_before_ = sign_;
    for (std::size_t k = 0; k <= k_parts; ++k) {
        times_[k] = k == k_parts ? to : from + (to - from) * static_cast<double>(k) / static_cast<double>(k_parts);
        // a place where guards have no value hides nothing: what is on its other side is seen at the next one
        if (!sample(integrator, times_[k], samples_[k])) std::fill(samples_[k].begin(), samples_[k].end(), k_nan);
    }
    std::fill(found_.begin(), found_.end(), k_nan);
    sign_now_ = sign_;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        for (std::size_t k = 0; k <= k_parts; ++k)
            if (std::isfinite(samples_[k][i])) largest_[i] = std::max(largest_[i], std::abs(samples_[k][i]));
        std::size_t last = 0;  // sample before this one that had a value
        for (std::size_t k = 1; k <= k_parts; ++k) {
            const double value = samples_[k][i];
            if (!std::isfinite(value)) continue;
            const int sign = sign_of(i, value);
            if (sign == sign_now_[i] && sign != 0 && counts(i, sign, -sign)) look_for_pair(integrator, i, k - 1);
            if (sign != 0 && sign != sign_now_[i]) {
                if (counts(i, sign_now_[i], sign)) {
                    const double before = samples_[last][i];
                    const bool clear = before * sign_now_[i] > 0;
                    consider(integrator, i, times_[last], clear ? before : 0.0, times_[k]);
                }
                sign_now_[i] = sign;
            }
            if (!std::isnan(found_[i])) break;
            last = k;
        }
    }
    double first = k_nan;
    for (const double t : found_)
        if (!std::isnan(t) && !(std::abs(first - from) <= std::abs(t - from))) first = t;
    if (std::isnan(first)) {
        sign_ = sign_now_;
        return false;
    }
    t_ = first;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        // signs at the passage: those of the samples before it, and for what passes the other side
        int sign = sign_[i];
        for (std::size_t k = 1; k <= k_parts && std::abs(times_[k] - from) <= std::abs(first - from); ++k)
            if (const int there = std::isfinite(samples_[k][i]) ? sign_of(i, samples_[k][i]) : 0; there != 0) sign = there;
        if (!std::isnan(found_[i]) && std::abs(found_[i] - first) <= k_together * std::abs(to - from)) {
            passed_.push_back(i);
            sign = sign == 0 ? 0 : -sign;
        }
        sign_[i] = sign;
    }
    return true;
}

}  // namespace appell
