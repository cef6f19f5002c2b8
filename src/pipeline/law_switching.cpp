#include "pipeline/law_switching.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "expr/print.hpp"
#include "pipeline/motion_lowering.hpp"
#include "sim/motion_program.hpp"

namespace appell {

namespace {

// a difference this small against what is compared is round-off
constexpr double k_round_off = 1e-13;
// a rate this small, against the other side's or against what would change the condition within the run, is none
constexpr double k_still = 1e-12;
// conditions inside conditions: their sides are known after so many looks, or never
constexpr int k_most_looks = 20;
// instants closer than so many units in the last place of the time are one
constexpr double k_together = 16;

// Conditions of time alone as functions of the time that goes by from `begin` on, in the direction of the run.
class Clock final : public EnclosedFunctions {
public:
    Clock(const Motion& motion, const LawPrograms& programs, std::span<const int> sides, double begin, double direction)
        : begin_(begin),
          direction_(direction),
          state_(motion.states(), 0.0),
          program_(motion, programs.clock),
          enclosure_(programs.clock),
          at_(programs.of_time.size()),
          over_(programs.of_time.size()) {
        for (std::size_t i = 0; i < motion.states(); ++i) enclosure_.set_constant(1 + i, 0);
        for (std::size_t i = 0; i < motion.parameters.size(); ++i) set_parameter(i, motion.parameters[i]);
        for (std::size_t i = 0; i < motion.sides; ++i) set_parameter(motion.first_side + i, sides[i]);
    }

    [[nodiscard]] std::span<const double> evaluate(double s) override {
        (void)program_.run(begin_ + direction_ * s, state_);
        std::ranges::copy(program_.outputs(), at_.begin());
        return at_;
    }
    [[nodiscard]] std::span<const MovingInterval> enclose(double from, double to) override {
        const double a = begin_ + direction_ * from, b = begin_ + direction_ * to;
        enclosure_.set(0, {Interval(std::min(a, b), std::max(a, b)), Interval(direction_)});
        enclosure_.run();
        std::ranges::copy(enclosure_.outputs(), over_.begin());
        return over_;
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
    std::vector<double> at_;
    std::vector<MovingInterval> over_;
};

}  // namespace

LawSwitching::LawSwitching(const ConstrainedDynamics& whole, const SimulateOptions& options)
    : whole_(whole),
      g_(whole.graph()),
      conditions_(whole.graph()),
      direction_(options.t1 < options.t0 ? -1 : 1),
      duration_(std::max(std::abs(options.t1 - options.t0), 1e-300)) {
    conditions_.find(motion_expressions(whole));
    grow();
}

void LawSwitching::grow() {
    sides_.resize(conditions_.size(), 0);
    on_surface_.resize(conditions_.size());
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
}

double LawSwitching::rate_with(LawPrograms& programs, double t, std::span<const double> x, std::size_t condition, int side) {
    put(programs, condition, side);
    (void)programs.look->run(t, x);
    const double rate = direction_ * programs.look->output("rate")[condition];
    put(programs, condition, sides_[condition]);
    return rate;
}

// Where a condition on its surface goes: its rate under each side, away from the surface or back to it.
LawSwitching::Lead LawSwitching::lead(LawPrograms& programs, double t, std::span<const double> x, std::size_t i) {
    const double above = rate_with(programs, t, x, i, 1), below = rate_with(programs, t, x, i, -1);
    if (!std::isfinite(above) || !std::isfinite(below)) return sides_[i] != 0 ? Lead::one_side : Lead::as_written;
    const double still = k_still * std::max({std::abs(above), std::abs(below), sizes_[i] / duration_});
    const bool up = above > still, down = below < -still;
    if (up && down) {  // it is left in either way: in the one it was heading for, or that the law takes on the surface
        if (sides_[i] == 0) sides_[i] = rate_with(programs, t, x, i, 0) < 0 ? -1 : 1;
        return Lead::one_side;
    }
    if (up || down) {
        sides_[i] = up ? 1 : -1;
        return Lead::one_side;
    }
    if (conditions_.all()[i].jumps && above < -still && below > still) return Lead::slides;
    // it stays, as far as rates tell
    return sides_[i] != 0 ? Lead::one_side : Lead::as_written;
}

bool LawSwitching::decide(LawPrograms& programs, double t, std::span<const double> x, std::span<const Flip> flips,
                          Diagnostic& why) {
    grow();
    const std::vector<int> before = sides_;
    on_surface_.assign(conditions_.size(), false);
    for (const Flip& flip : flips) {
        on_surface_[flip.condition] = true;
        sides_[flip.condition] = flip.side;
    }
    // away from the surfaces values tell
    for (int looks = 0; looks < k_most_looks; ++looks) {
        look(programs, t, x);
        bool changed = false;
        for (std::size_t i = 0; i < programs.conditions; ++i) {
            if (on_surface_[i] || !(std::abs(values_[i]) > k_round_off * sizes_[i])) continue;
            const int side = values_[i] > 0 ? 1 : -1;
            changed = changed || side != sides_[i];
            sides_[i] = side;
        }
        if (!changed) break;
    }
    for (std::size_t i = 0; i < programs.conditions; ++i) {
        if (!on_surface_[i] && std::abs(values_[i]) > k_round_off * sizes_[i]) continue;
        for (std::size_t k = 0; k < programs.conditions; ++k) put(programs, k, sides_[k]);
        if (lead(programs, t, x, i) == Lead::slides) {
            why = sliding(i, t);
            return false;
        }
        put(programs, i, sides_[i]);
    }
    if (!std::exchange(begun_, true)) return true;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (sides_[i] == before[i]) continue;
        ++switches_;
        last_ = {i, t};
    }
    return true;
}

double LawSwitching::next_instant(LawPrograms& programs, double t, double t_end) {
    due_.clear();
    if (programs.of_time.empty() || t == t_end) return t_end;
    Clock clock(*programs.motion, programs, sides_, t, direction_);
    CrossingSearch search(programs.of_time.size());
    std::vector<Crossing> crossings(programs.of_time.size());
    const double length = std::abs(t_end - t), eps = std::numeric_limits<double>::epsilon();
    const MovingInterval* const now = clock.enclose(0, 0).data();
    std::vector<double> noise(crossings.size());
    for (std::size_t k = 0; k < noise.size(); ++k) {
        const double rate = now[k].rate.bounded() ? now[k].rate.largest() : 0;
        noise[k] = k_round_off * sizes_[programs.of_time[k]] + 8 * eps * std::max(std::abs(t), std::abs(t_end)) * rate;
    }
    for (double horizon = length; horizon > eps * std::max(std::abs(t), length); horizon *= 0.5) {
        for (std::size_t k = 0; k < crossings.size(); ++k)
            crossings[k] = {.side = sides_[programs.of_time[k]], .noise = noise[k], .band = noise[k], .leaves = true};
        if (!search.run(clock, 0, horizon, crossings)) continue;  // too much work: not so far ahead
        double first = horizon;
        for (const Crossing& c : crossings)
            if (!std::isnan(c.at)) first = std::min(first, c.at);
        const double instant = horizon == length && first == horizon ? t_end : t + direction_ * first;
        for (std::size_t k = 0; k < crossings.size(); ++k) {
            if (!(crossings[k].at <= first + k_together * eps * std::max(std::abs(instant), first))) continue;
            const int side = sides_[programs.of_time[k]];
            due_.push_back({programs.of_time[k], side != 0 ? -side : clock.evaluate(crossings[k].at)[k] > 0 ? 1 : -1});
        }
        return instant;
    }
    return t_end;
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

std::optional<Diagnostic> LawSwitching::endless(double t) const {
    if (!last_ || last_->t != t) return std::nullopt;
    return Diagnostic{Code::E0832,
                      {},
                      fmt::format("laws switch again and again at t = {}, where {}", short_number(t), text(last_->condition)),
                      "",
                      "laws that let the motion cross",
                      k_instead_of_sliding};
}

}  // namespace appell
