#include "pipeline/event_look.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

namespace {

constexpr double k_eps = std::numeric_limits<double>::epsilon();
// so many units in the last place an entry of the state is known, and to that part of its tolerance (as guard_watch.cpp has it)
constexpr double k_units = 8 * k_eps, k_of_atol = 1e-4, k_of_tolerance = 0.1;
// what is always zero is enclosed by intervals this wide
constexpr double k_nothing = 1e-290;
// a step for differences, against the state
constexpr double k_step = 1e-7;

}  // namespace

EventLook::EventLook(const Motion& motion, const Program& events, double rtol, double atol, int direction)
    : motion_(motion),
      rtol_(rtol),
      atol_(atol),
      direction_(direction),
      values_(motion, events),
      rate_(motion, motion.rate),
      output_(events.output("value")),
      out_(output_.end - output_.begin) {
    for (std::vector<double>* v : {&round_off_, &tolerance_, &xd_, &xd_round_off_, &moved_}) v->resize(motion.states());
    if (Enclosure::serves(events)) enclosure_.emplace(events);
}

void EventLook::take_parameters() {
    for (std::size_t i = 0; i < motion_.parameters.size(); ++i) {
        values_.set_parameter(i, motion_.parameters[i]);
        rate_.set_parameter(i, motion_.parameters[i]);
        if (enclosure_) enclosure_->set_constant(1 + motion_.states() + i, motion_.parameters[i]);
    }
}

double EventLook::largest(std::span<const double> entries) const {
    double out = 0;
    for (const double e : entries) out = std::max(out, std::abs(e));
    return out;
}

std::span<const EventValue> EventLook::run(double t, std::span<const double> x) {
    take_parameters();
    x = x.first(motion_.states());
    const std::size_t n = motion_.coordinates;
    // constraints keep entries at zero no better than the largest of their kind
    const double of_q = largest(x.first(n)), of_u = largest(x.subspan(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
        tolerance_[i] = atol_ + rtol_ * std::abs(x[i]);
        round_off_[i] = std::min(k_units * (i < n ? of_q : of_u), k_of_tolerance * tolerance_[i]) + k_of_atol * atol_;
    }
    const EvalReport report = rate_.run(t, x);
    const bool moves = report.status == EvalStatus::ok;
    if (moves) {
        std::ranges::copy(rate_.output("qd"), xd_.begin());
        std::ranges::copy(rate_.output("ud"), xd_.begin() + static_cast<std::ptrdiff_t>(n));
        const std::span<const double> xd(xd_);
        const double of_qd = largest(xd.first(n)), of_ud = largest(xd.subspan(n));
        const bool rows = motion_.velocity_rows > 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            xd_round_off_[i] = i >= n ? k_units * of_ud : rows ? k_units * of_qd + k_of_atol * atol_ : k_units * std::abs(xd[i]);
    }
    (void)values_.run(t, x);
    const std::span<const double> values = values_.output(output_);
    for (std::size_t i = 0; i < out_.size(); ++i) {
        const double unknown = std::numeric_limits<double>::infinity();
        out_[i] = {values[i], unknown, unknown};
    }
    if (enclosure_) measure_by_intervals(t, x);
    const auto known = [](const EventValue& e) { return std::isfinite(e.noise) && std::isfinite(e.band); };
    if (!std::ranges::all_of(out_, known)) measure_by_differences(t, x);
    if (!moves)
        for (EventValue& e : out_) e.heads = 0;
    return out_;
}

void EventLook::set_entries(double t, double of_time, std::span<const double> x, std::span<const double> widths) {
    enclosure_->set(0, {Interval(t - of_time, t + of_time), Interval(0)});
    for (std::size_t i = 0; i < x.size(); ++i)
        enclosure_->set(1 + i, {Interval(x[i] - widths[i], x[i] + widths[i]), Interval(0)});
}

void EventLook::measure_by_intervals(double t, std::span<const double> x) {
    const auto each = [&](const auto& take) {
        enclosure_->run();
        for (std::size_t i = 0; i < out_.size(); ++i) take(out_[i], enclosure_->outputs()[output_.begin + i]);
    };
    set_entries(t, 4 * k_eps * std::abs(t), x, round_off_);
    each([](EventValue& e, const MovingInterval& m) {
        if (m.value.bounded()) e.noise = std::max(k_nothing, m.value.width());
    });
    enclosure_->set(0, {Interval(t), Interval(0)});
    for (std::size_t i = 0; i < x.size(); ++i) enclosure_->set(1 + i, {Interval(x[i]), Interval(-tolerance_[i], tolerance_[i])});
    each([](EventValue& e, const MovingInterval& m) {
        if (m.rate.bounded()) e.band = m.rate.largest();
    });
    enclosure_->set(0, {Interval(t), Interval(1)});
    for (std::size_t i = 0; i < x.size(); ++i)
        enclosure_->set(1 + i, {Interval(x[i]), Interval(xd_[i] - xd_round_off_[i], xd_[i] + xd_round_off_[i])});
    each([&](EventValue& e, const MovingInterval& m) {
        if (!m.rate.bounded()) return;
        e.speed = m.rate.largest();
        if (!m.rate.contains(0)) e.heads = m.rate.lo > 0 ? direction_ : -direction_;
    });
}

// where intervals say nothing: what cannot be enclosed, and slopes without a bound
void EventLook::measure_by_differences(double t, std::span<const double> x) {
    std::vector<bool> unknown;
    for (EventValue& e : out_) {
        unknown.push_back(!std::isfinite(e.noise) || !std::isfinite(e.band));
        if (unknown.back()) e.noise = e.band = k_nothing + k_units * (std::isfinite(e.value) ? std::abs(e.value) : 0);
    }
    const auto change = [&](std::size_t i) {
        const double d = values_.output(output_)[i] - out_[i].value;
        return std::isfinite(d) ? d : 0;
    };
    std::ranges::copy(x, moved_.begin());
    for (std::size_t k = 0; k < x.size(); ++k) {
        moved_[k] = x[k] + round_off_[k];
        (void)values_.run(t, moved_);
        for (std::size_t i = 0; i < out_.size(); ++i)
            if (unknown[i]) out_[i].noise += std::abs(change(i));
        moved_[k] = x[k] + tolerance_[k];
        (void)values_.run(t, moved_);
        for (std::size_t i = 0; i < out_.size(); ++i)
            if (unknown[i]) out_[i].band += std::abs(change(i));
        moved_[k] = x[k];
    }
    const double speed = largest(xd_), h = direction_ * k_step * std::max(largest(x), motion_.length) / std::max(speed, 1e-300);
    for (std::size_t k = 0; k < x.size(); ++k) moved_[k] = x[k] + h * xd_[k];
    (void)values_.run(t + h, moved_);
    for (std::size_t i = 0; i < out_.size(); ++i) {
        if (!unknown[i]) continue;
        out_[i].speed = std::abs(change(i) / h);
        if (std::abs(change(i)) > 2 * out_[i].noise) out_[i].heads = change(i) > 0 ? 1 : -1;
    }
}

}  // namespace appell
