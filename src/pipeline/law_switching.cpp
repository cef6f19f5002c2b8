#include "pipeline/law_switching.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "expr/print.hpp"
#include "pipeline/missing_values.hpp"
#include "pipeline/smooth_laws.hpp"
#include "sim/motion_program.hpp"
#include "sim/project.hpp"

namespace appell {

namespace {

// a difference this small against what is compared is round-off
constexpr double k_round_off = 1e-13;
// and is not larger than that against the largest difference so far
constexpr double k_most_noise = 1e-9;
// what is always zero is enclosed by intervals this wide
constexpr double k_nothing = 1e-290;
// a rate this small, against the other side's or against what would change the condition within the run, is none
constexpr double k_still = 1e-12;
// conditions inside conditions: their sides are known after so many looks, or never
constexpr int k_most_looks = 20;
// instants closer than so many units in the last place of the time are one
constexpr double k_together = 32;
// a time that comes right after another, against the run
constexpr double k_right_after = 1e-12;

// a difference is held at zero where it is this small against what it is around, which is looked at so far away, so many times
constexpr double k_same = 1e-9, k_around = 1e-3;
constexpr int k_held_tries = 3;

// A condition of time alone as a function of the time that goes by from `begin` on, in the direction of the run.
class Clock final : public EnclosedFunctions {
public:
    Clock(const Motion& motion, const Program& program, std::span<const int> sides, double begin, double direction)
        : begin_(begin), direction_(direction), state_(motion.states(), 0.0), program_(motion, program), enclosure_(program) {
        for (std::size_t i = 0; i < motion.states(); ++i) enclosure_.set_constant(1 + i, 0);
        for (std::size_t i = 0; i < motion.parameters.size(); ++i) set_parameter(i, motion.parameters[i]);
        for (std::size_t i = 0; i < motion.sides; ++i) set_parameter(motion.first_side + i, sides[i]);
    }

    [[nodiscard]] std::span<const double> evaluate(double s) override {
        (void)program_.run(begin_ + direction_ * s, state_);
        at_ = program_.outputs()[0];
        return {&at_, 1};
    }
    [[nodiscard]] std::span<const MovingInterval> enclose(double from, double to) override {
        const double a = begin_ + direction_ * from, b = begin_ + direction_ * to;
        enclosure_.set(0, {Interval(std::min(a, b), std::max(a, b)), Interval(direction_)});
        enclosure_.run();
        over_ = enclosure_.outputs()[0];
        return {&over_, 1};
    }

    // What round-off makes of values that are zero, from typical ones: near a pole they say nothing of the rest.
    [[nodiscard]] double noise(double length) {
        constexpr std::array k_places{0.0, 0.11, 0.37, 0.61, 0.83};
        std::array<double, k_places.size()> values{}, rates{};
        for (std::size_t i = 0; i < k_places.size(); ++i) {
            const MovingInterval at = enclose(k_places[i] * length, k_places[i] * length)[0];
            values[i] = at.value.bounded() ? at.value.largest() : 0;
            rates[i] = at.rate.bounded() ? at.rate.largest() : 0;
        }
        std::ranges::nth_element(values, values.begin() + k_places.size() / 2);
        std::ranges::nth_element(rates, rates.begin() + k_places.size() / 2);
        const double latest = std::max(std::abs(begin_), std::abs(begin_ + direction_ * length));
        return k_nothing + k_round_off * values[k_places.size() / 2] +
               k_together * std::numeric_limits<double>::epsilon() * latest * rates[k_places.size() / 2];
    }

private:
    void set_parameter(std::size_t index, double value) {
        program_.set_parameter(index, value);
        enclosure_.set_constant(1 + state_.size() + index, value);
    }

    double begin_, direction_;
    std::vector<double> state_;
    MotionProgram program_;
    Enclosure enclosure_;
    double at_ = 0;
    MovingInterval over_;
};

// By condition, what the round-off of the time and of the state makes of its difference; 0 where that is not known.
std::vector<double> round_off_of_state(LawPrograms& programs, double t, std::span<const double> x) {
    constexpr double k_units = 8 * std::numeric_limits<double>::epsilon();
    const auto about = [](double v) {
        const double off = k_units * std::abs(v);
        return MovingInterval{Interval(v - off, v + off), Interval(0)};
    };
    std::vector<double> out(programs.conditions, 0.0);
    if (!programs.bounds) return out;
    programs.bounds->set(0, about(t));
    for (std::size_t i = 0; i < programs.motion->states(); ++i) programs.bounds->set(1 + i, about(x[i]));
    programs.bounds->run();
    for (std::size_t i = 0; i < programs.conditions; ++i)
        if (const Interval value = programs.bounds->outputs()[i].value; value.bounded()) out[i] = value.hi - value.lo;
    return out;
}

}  // namespace

LawSwitching::LawSwitching(const ConstrainedDynamics& whole, const SimulateOptions& options, Diagnostics& diagnostics)
    : g_(whole.graph()),
      conditions_(whole.graph()),
      direction_(options.t1 < options.t0 ? -1 : 1),
      duration_(std::max(std::abs(options.t1 - options.t0), 1e-300)) {
    find_law_conditions(whole, conditions_, diagnostics);
    grow();
}

void LawSwitching::grow() {
    sides_.resize(conditions_.size(), 0);
    marks_.resize(conditions_.size());
    noise_.resize(conditions_.size());
    largest_.resize(conditions_.size());
    values_.resize(conditions_.size());
    sizes_.resize(conditions_.size());
}

void LawSwitching::put(LawPrograms& programs, std::size_t condition, int side) {
    programs.set_parameter(programs.first_side + condition, side);
}

void LawSwitching::look(LawPrograms& programs, double t, std::span<const double> x) {
    for (std::size_t i = 0; i < programs.conditions; ++i) put(programs, i, sides_[i]);
    (void)programs.look->run(t, x);
    const std::span<const double> values = programs.look->output("value"), sizes = programs.look->output("size");
    std::ranges::copy(values, values_.begin());
    std::ranges::copy(sizes, sizes_.begin());
    for (std::size_t i = 0; i < programs.conditions; ++i) {
        noise_[i] = std::max(noise_[i], k_round_off * sizes_[i]);
        if (std::abs(values_[i]) > largest_[i]) largest_[i] = std::abs(values_[i]);
    }
}

double LawSwitching::rate_with(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition, int side) {
    put(programs, condition, side);
    (void)programs.look->run(t, x);
    const double rate = direction_ * programs.look->output("rate")[condition];
    rate_size_ = programs.look->output("rate size")[condition];
    put(programs, condition, sides_[condition]);
    return rate;
}

// Where a condition on its surface goes: its rate under each side, away from the surface or back to it.
LawSwitching::Lead LawSwitching::lead(LawPrograms& programs, double t, std::span<const double> x, std::size_t i) {
    const double above = rate_with(programs, t, x, i, 1), size_above = rate_size_;
    const double below = rate_with(programs, t, x, i, -1), size_below = rate_size_;
    if (!std::isfinite(above) || !std::isfinite(below)) return sides_[i] != 0 ? Lead::one_side : Lead::as_written;
    const double still = k_still * std::max({size_above, size_below, sizes_[i] / duration_});
    const bool up = above > still, down = below < -still;
    // It came to the other side against its rate: a difference that jumps, as tan does at a pole.
    const Mark& mark = marks_[i];
    if (is_on_surface(i) && mark.from != 0 && mark.from * (mark.from > 0 ? above : below) > still) {
        sides_[i] = -mark.from;
        return Lead::one_side;
    }
    if (up && down) {  // it is left in either way: in the one it was heading for, or that the law takes on the surface
        if (sides_[i] == 0) sides_[i] = rate_with(programs, t, x, i, 0) < 0 ? -1 : 1;
        return Lead::one_side;
    }
    if (up || down) {
        sides_[i] = up ? 1 : -1;
        return Lead::one_side;
    }
    if (conditions_.all()[i].jumps && above < -still && below > still) return Lead::slides;
    return rest(programs, t, x, i);
}

// Where first rates lead nowhere: what constraints hold at zero is on its surface, and of a motion that comes to rest there,
// second rates tell. A side is good where the motion under it does not leave to the other one.
LawSwitching::Lead LawSwitching::rest(LawPrograms& programs, double t, std::span<const double> x, std::size_t i) {
    if (is_held(programs, t, x, i)) {
        sides_[i] = k_on_surface;
        return Lead::one_side;
    }
    if (sides_[i] == k_on_surface) sides_[i] = 0;
    const Lead as_it_is = sides_[i] != 0 ? Lead::one_side : Lead::as_written;
    if (!programs.has_second[i]) return as_it_is;
    const Second above = second_with(programs, t, x, i, 1), below = second_with(programs, t, x, i, -1);
    if (!std::isfinite(above.rate) || !std::isfinite(below.rate)) return as_it_is;
    const double still = k_still * std::max({above.size, below.size, sizes_[i] / (duration_ * duration_)});
    const bool good_above = above.rate >= -still, good_below = below.rate <= still;
    if (good_above && good_below) {  // it goes on where it came from
        if (is_on_surface(i) && marks_[i].from != 0) sides_[i] = marks_[i].from;
        return sides_[i] != 0 ? Lead::one_side : Lead::as_written;
    }
    if (good_above || good_below) {
        sides_[i] = good_above ? 1 : -1;
        return Lead::one_side;
    }
    if (std::abs(second_with(programs, t, x, i, k_on_surface).rate) > still) return Lead::slides;
    sides_[i] = k_on_surface;
    return Lead::one_side;
}

LawSwitching::Second LawSwitching::second_with(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition,
                                               int side) {
    put(programs, condition, side);
    (void)programs.look->run(t, x);
    const Second second{programs.look->output("second")[condition], programs.look->output("second size")[condition]};
    put(programs, condition, sides_[condition]);
    return second;
}

// The constraints of the mode keep its difference at zero, or nothing changes it around: at random states near this one, brought
// onto the constraints, it is zero.
bool LawSwitching::is_held(LawPrograms& programs, double t, std::span<const double> x, std::size_t i) const {
    const Motion& motion = *programs.motion;
    Projector position(motion, motion.position, Projector::Part::coordinates);
    Projector velocity(motion, motion.velocity, Projector::Part::speeds);
    MotionProgram guards(motion, programs.guards);
    for (std::size_t k = 0; k < programs.conditions; ++k) guards.set_parameter(programs.first_side + k, sides_[k]);
    const auto value = [&](double at, std::span<const double> state) {
        (void)guards.run(at, state);
        return std::abs(guards.output("value")[i]);
    };
    std::mt19937 random(1);
    std::uniform_real_distribution<double> any(-k_around, k_around);
    for (int tries = 0; tries < k_held_tries; ++tries) {
        const double at = t + direction_ * duration_ * std::abs(any(random));
        std::vector<double> state(x.begin(), x.end());
        for (std::size_t k = 0; k < motion.states(); ++k) state[k] += (1 + std::abs(state[k])) * any(random);
        const double before = value(at, state);
        if (position.project(at, state, k_project_start).status != ProjectStatus::converged) return false;
        if (velocity.project(at, state, k_project_start).status != ProjectStatus::converged) return false;
        if (!(value(at, state) <= k_same * std::max(before, sizes_[i]))) return false;
    }
    return true;
}

// Of what has just come to be held, or was and is no more, values are round-off.
void LawSwitching::look_at_held(LawPrograms& programs, double t, std::span<const double> x) {
    const std::vector<double> round_off = round_off_of_state(programs, t, x);
    bool changed = false;
    for (std::size_t i = 0; i < programs.conditions; ++i) {
        const bool was = sides_[i] == k_on_surface;
        const double size = std::abs(values_[i]), near = std::max(k_same * largest_[i], round_off[i]);
        if (!was && !(size <= near && size > noise_[i])) continue;
        const bool is = is_held(programs, t, x, i);
        if (is == was) continue;
        sides_[i] = is ? k_on_surface : 0;
        changed = true;
    }
    if (changed) look(programs, t, x);
}

// What came to its surface at this instant is there until something moves it.
void LawSwitching::mark(double t, std::span<const Flip> flips) {
    if (std::exchange(marked_at_, t) != t) std::ranges::fill(marks_, Mark{});
    for (const Flip& flip : flips) {
        marks_[flip.condition].set = true;
        marks_[flip.condition].value = std::numeric_limits<double>::quiet_NaN();
        sides_[flip.condition] = flip.side;
    }
}

bool LawSwitching::is_on_surface(std::size_t i) const {
    // one that had no side may just have got its value, far from its surface
    if (marks_[i].from == 0 && std::abs(values_[i]) > noise_[i]) return false;
    return marks_[i].set && !(std::abs(values_[i] - marks_[i].value) > 2 * noise_[i]);
}

void LawSwitching::measure_noise(LawPrograms& programs, double t, std::span<const double> x) {
    for (std::size_t i = 0; i < programs.conditions; ++i) put(programs, i, sides_[i]);
    const std::vector<double> widths = round_off_of_state(programs, t, x);
    // a condition inside it that is left open widens it: that is no round-off
    for (std::size_t i = 0; i < programs.conditions; ++i) noise_[i] = std::min(widths[i], k_most_noise * largest_[i]);
}

// away from the surfaces values tell
void LawSwitching::take_values(LawPrograms& programs, double t, std::span<const double> x) {
    for (int looks = 0; looks < k_most_looks; ++looks) {
        bool changed = false;
        for (std::size_t i = 0; i < programs.conditions; ++i) {
            if (is_on_surface(i) || sides_[i] == k_on_surface || !(std::abs(values_[i]) > noise_[i])) continue;
            const int side = values_[i] > 0 ? 1 : -1;
            changed = changed || side != sides_[i];
            sides_[i] = side;
        }
        if (!changed) return;
        look(programs, t, x);
    }
}

bool LawSwitching::decide(LawPrograms& programs, double t, std::span<const double> x, std::span<const Flip> flips,
                          Diagnostic& why) {
    grow();
    const std::vector<int> before = sides_;
    measure_noise(programs, t, x);
    mark(t, flips);
    look(programs, t, x);
    for (const Flip& flip : flips) {
        Mark& m = marks_[flip.condition];
        m.value = values_[flip.condition];
        // Time goes one way only. Where speeds may jump with the sides, rates before the jump say nothing of what comes after it.
        m.certain =
            conditions_.all()[flip.condition].of_time || (programs.momentum && side_off_surface(before[flip.condition]) != 0);
        m.from = side_off_surface(before[flip.condition]);
    }
    look_at_held(programs, t, x);
    take_values(programs, t, x);
    bool led = false;
    for (std::size_t i = 0; i < programs.conditions; ++i) {
        const bool on_surface = is_on_surface(i) || sides_[i] == k_on_surface;
        if (on_surface ? marks_[i].certain : !(std::abs(values_[i]) <= noise_[i])) continue;
        for (std::size_t k = 0; k < programs.conditions; ++k) put(programs, k, sides_[k]);
        const int side = sides_[i];
        if (lead(programs, t, x, i) == Lead::slides) {
            why = sliding(i, t);
            return false;
        }
        put(programs, i, sides_[i]);
        led = led || side != sides_[i];
    }
    // what conditions inside others were led to shows in the values of those
    if (led) {
        look(programs, t, x);
        take_values(programs, t, x);
    }
    if (!std::exchange(begun_, true)) return true;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (sides_[i] == before[i]) continue;
        ++switches_;
        last_ = {i, t};
    }
    return true;
}

// the next switch of one condition of time alone
LawSwitching::Next LawSwitching::search(LawPrograms& programs, std::size_t k, double t, double t_end) const {
    const std::size_t condition = programs.of_time[k];
    Next out{.at = t_end, .t_end = t_end, .from = side_off_surface(sides_[condition])};
    Clock clock(*programs.motion, programs.clocks[k], sides_, t, direction_);
    CrossingSearch search(1);
    const double length = std::abs(t_end - t), eps = std::numeric_limits<double>::epsilon();
    const double noise = clock.noise(length);
    for (double horizon = length; horizon > eps * std::max(std::abs(t), length); horizon *= 0.5) {
        Crossing c{.side = out.from, .noise = noise, .band = noise, .on_zero = true, .leaves = true, .through_infinity = true};
        if (!search.run(clock, 0, horizon, std::span(&c, 1))) continue;  // too much work: not so far ahead
        if (c.lost > k_together * eps * std::max(std::abs(t), length) && !(c.at <= c.lost)) {
            out.at = t + direction_ * c.lost;  // where that begins the run looks whether it matters
        } else if (!std::isnan(c.at)) {
            out.to = out.from != 0 ? -out.from : clock.evaluate(c.at)[0] > 0 ? 1 : -1;
            out.at = t + direction_ * c.at;
        } else if (horizon < length) {
            out.at = t + direction_ * horizon;
        }
        break;
    }
    return out;
}

double LawSwitching::next_instant(LawPrograms& programs, double t, double t_end) {
    due_.clear();
    if (programs.of_time.empty() || t == t_end) return t_end;
    next_.resize(conditions_.size());
    double instant = t_end;
    for (std::size_t k = 0; k < programs.of_time.size(); ++k) {
        Next& n = next_[programs.of_time[k]];
        const bool known =
            n.t_end == t_end && n.from == side_off_surface(sides_[programs.of_time[k]]) && direction_ * (n.at - t) > 0;
        if (!known || programs.nested[k]) n = search(programs, k, t, t_end);
        if (direction_ * (n.at - instant) < 0) instant = n.at;
    }
    const double together =
        k_together * std::numeric_limits<double>::epsilon() * std::max(std::abs(instant), std::abs(instant - t));
    for (const std::size_t i : programs.of_time)
        if (next_[i].to != 0 && direction_ * (next_[i].at - instant) <= together) due_.push_back({i, next_[i].to});
    return instant;
}

bool LawSwitching::leaves_surfaces(LawPrograms& programs, double t, std::span<const double> x, Diagnostic& why) {
    look(programs, t, x);
    for (std::size_t i = 0; i < programs.conditions; ++i) {
        if (!is_on_surface(i) || !marks_[i].certain || conditions_.all()[i].of_time) continue;
        const double rate = rate_with(programs, t, x, i, sides_[i]);
        if (!(sides_[i] * rate < -k_still * std::max(rate_size_, sizes_[i] / duration_))) continue;
        why = sliding(i, t);
        return false;
    }
    return true;
}

std::optional<std::size_t> LawSwitching::without_value(LawPrograms& programs, double t, std::span<const double> x) {
    if (programs.of_time.empty()) return std::nullopt;
    const double after = t + direction_ * std::max(4 * k_together * std::numeric_limits<double>::epsilon() * std::abs(t),
                                                   k_right_after * duration_);
    for (std::size_t k = 0; k < programs.of_time.size(); ++k) {
        const std::size_t i = programs.of_time[k];
        Clock clock(*programs.motion, programs.clocks[k], sides_, after, direction_);
        if (!std::isfinite(clock.evaluate(0)[0]) && rate_depends_on_side(*programs.motion, i, after, x)) return i;
    }
    return std::nullopt;
}

std::string LawSwitching::text(std::size_t condition) const {
    const Condition& c = conditions_.all()[condition];
    return fmt::format("{} = {}", to_text(g_, c.first), to_text(g_, c.second));
}

namespace {

constexpr const char* k_instead_of_sliding = "use `friction` for dry friction; make other laws continuous, by tanh or a ramp";

}  // namespace

Diagnostic LawSwitching::sliding(std::size_t condition, double t) const {
    return {Code::E0832,
            {},
            fmt::format("the motion would slide along a discontinuity at t = {}: on both sides of {} the laws lead back to it",
                        short_number(t), text(condition)),
            "",
            "laws that let the motion cross",
            k_instead_of_sliding};
}

std::optional<Diagnostic> LawSwitching::endless(double from, double t) const {
    if (!last_ || direction_ * (last_->t - from) < 0) return std::nullopt;
    const double resolved = 1e-6 * duration_;
    const std::string when = std::abs(t - from) < resolved
                                 ? fmt::format("at t = {}", short_number(t))
                                 : fmt::format("from t = {} to t = {}", short_number(from), short_number(t));
    return Diagnostic{Code::E0832,
                      {},
                      fmt::format("laws switch again and again {}, where {}", when, text(last_->condition)),
                      "",
                      "laws that let the motion cross",
                      k_instead_of_sliding};
}

}  // namespace appell
