// What events do at an instant: the values they set, the constraints they drop and enforce, their order, and which of them are
// moved to the other side of zero by what happens there.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "pipeline/mode_switching.hpp"
#include "sim/project.hpp"

namespace appell {

bool ModeSwitching::set_values(const Event& event, std::size_t index, double t, std::span<double> x) {
    if (event.sets.empty()) return true;
    MotionProgram& program = *now_->evaluated;
    (void)program.run(t, x);
    std::size_t first = 0;
    for (std::size_t i = 0; i < index; ++i) first += m_.events[i].sets.size();
    const std::span<const double> values = program.output("set");
    for (std::size_t k = 0; k < event.sets.size(); ++k) {
        const double value = values[first + k];
        if (!std::isfinite(value)) return fail(fmt::format("event {} sets a value that is not finite", event.name));
        x[set_places_[index][k]] = value;
    }
    return true;
}

bool ModeSwitching::apply(const Event& event, std::size_t index, double t, std::span<double> x) {
    if (!set_values(event, index, t, x)) return false;
    for (const std::size_t c : event.drops) {
        off_[c] = true;
        for (const Friction& f : m_.frictions)
            if (f.constraint == c) off_[f.stick] = true;
    }
    if (event.enforces.empty()) return true;
    const std::vector<double> before(x.begin(), x.end());
    for (const std::size_t c : event.enforces) off_[c] = false;
    if (!change_to_mode(x)) return fail("the equations of the next mode cannot be made");
    // a constraint on positions must hold where it is enforced: no force moves a point at once
    const Motion& motion = now_->lowered.motion;
    Projector position(motion, motion.position, Projector::Part::coordinates);
    if (motion.position_rows > 0 && position.measure(t, x).scaled > std::max(1e3 * atol_, 1e-6))
        return fail(fmt::format("event {} at t = {} enforces a constraint on positions that does not hold there", event.name,
                                short_number(t)));
    // contacts take what is enforced as an impact where they cannot keep it
    if (!project(t, x, false)) {
        std::copy(before.begin(), before.end(), x.begin());
        if (contacts_.empty() || !inspect(t, x) || !impact(t, x, {}) || !project(t, x, false))
            return fail(
                fmt::format("no state near the one at t = {} satisfies what event {} enforces", short_number(t), event.name));
    }
    if (!inspect(t, x)) return false;
    for (const std::size_t c : event.enforces) begin_friction(c);
    return true;
}

// Events at one instant act in the order of the file. Where the reverse order leads elsewhere, the model says too little.
void ModeSwitching::judge_order(double t, std::span<const double> x, std::span<const std::size_t> events) {
    for (std::size_t k = 0; k < events.size(); ++k)
        for (std::size_t l = k + 1; l < events.size(); ++l)
            if (!order_said_.contains({events[k], events[l]})) judge_order(t, x, events[k], events[l]);
}

std::optional<ModeSwitching::Outcome> ModeSwitching::outcome_of(double t, std::span<const double> x, std::size_t first,
                                                                std::size_t second) {
    const std::vector<bool> off = off_;
    const std::vector<std::array<double, 3>> directions = direction_;
    Mode* const mode = now_;
    const Diagnostic failure = failure_;
    Outcome out{{x.begin(), x.end()}, {}};
    const bool good = apply(m_.events[first], first, t, out.x) && apply(m_.events[second], second, t, out.x) &&
                      change_to_mode(out.x) && project(t, out.x, false);
    out.off = std::exchange(off_, off);
    direction_ = directions;
    now_ = mode;
    give_friction_parameters(*now_);
    failure_ = failure;
    (void)inspect(t, x);
    if (!good) return std::nullopt;
    return out;
}

void ModeSwitching::judge_order(double t, std::span<const double> x, std::size_t first, std::size_t second) {
    const auto does_nothing = [](const Event& e) { return e.sets.empty() && e.drops.empty() && e.enforces.empty(); };
    const Event &a = m_.events[first], &b = m_.events[second];
    if (does_nothing(a) || does_nothing(b)) return;
    const std::optional<Outcome> forward = outcome_of(t, x, first, second), backward = outcome_of(t, x, second, first);
    if (!forward) return;  // the run ends with that
    std::string what, found;
    if (!backward) {
        what = "whether the motion goes on";
        found = "the reverse order leads to no state that satisfies the constraints";
    } else {
        for (std::size_t i = 0; i < states() && what.empty(); ++i) {
            const double one = forward->x[i], other = backward->x[i];
            if (std::abs(one - other) <= 2 * atol_ + std::max(rtol_, 1e-9) * std::abs(one)) continue;
            what = i < m_.coordinates.size() ? m_.coordinates[i].name : m_.speeds[i - m_.coordinates.size()].name;
            found = fmt::format("{} = {} in the order of the file, {} in the reverse order", what, short_number(one),
                                short_number(other));
        }
        // whether friction sticks follows from the rest
        for (std::size_t c = 0; c < off_.size() && what.empty(); ++c) {
            if (m_.constraints[c].stick_of || forward->off[c] == backward->off[c]) continue;
            what = fmt::format("constraint {}", m_.constraints[c].name);
            found = fmt::format("{} is {} in the order of the file, {} in the reverse order", m_.constraints[c].name,
                                forward->off[c] ? "dropped" : "enforced", backward->off[c] ? "dropped" : "enforced");
        }
    }
    if (what.empty()) return;
    order_said_.emplace(first, second);
    diagnostics_.add({Code::W0845, b.span,
                      fmt::format("events {} and {} happen at once, at t = {}, and {} depends on which acts first", a.name,
                                  b.name, short_number(t), what),
                      found, "one value, or events that do not happen at once",
                      "the order of the file is taken; make one event of the two, or let one test the other's condition"});
}

std::span<const EventValue> ModeSwitching::events_at(double t, std::span<const double> x) {
    if (!now_->evaluated) return {};
    auto look = looks_.find(now_);
    if (look == looks_.end())
        look = looks_.try_emplace(now_, now_->lowered.motion, now_->events, rtol_, atol_, direction_of_time_).first;
    return look->second.run(t, x);
}

// Other events act after it, so that the state is not settled yet: it is on a copy.
int ModeSwitching::own_side(const Instant& now, std::size_t event, std::span<const double> x) {
    std::vector<double> there(x.begin(), x.end());
    Mode* const mode = now_;
    if (!change_to_mode(x) || !project(now.t, there, false)) there.assign(x.begin(), x.end());
    const EventValue value = events_at(now.t, there)[event];
    now_ = mode;
    return side_after(now, event, value);
}

// A passage is known as well as the inside of a step only: one that has passed may lie on the side it came from, until something
// moves it.
int ModeSwitching::side_after(const Instant& now, std::size_t event, const EventValue& value) const {
    const int side = value.side();
    const double lay = now.lies[event];
    const bool stays = std::abs(value.value - lay) <= value.noise || (side * lay > 0 && value.near_zero());
    return side == 0 || stays ? event_sides_[event] : side;
}

void ModeSwitching::look_at_events(double t, std::span<const double> x) {
    const std::span<const EventValue> values = events_at(t, x);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (const int side = values[i].side(); side != 0) event_sides_[i] = side;
}

void ModeSwitching::look_at_events(Instant& now, std::span<const double> x, std::vector<GuardMeaning>& moved) {
    const std::span<const EventValue> values = events_at(now.t, x);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const int before = event_sides_[i], side = side_after(now, i, values[i]);
        now.lies[i] = values[i].value;
        event_sides_[i] = side;
        if (before * side >= 0) continue;
        const Guard::Passage passage = passage_of(m_.events[i]);
        if (passage == Guard::Passage::either || passage == (side > 0 ? Guard::Passage::rising : Guard::Passage::falling))
            moved.push_back({GuardMeaning::What::event, i});
    }
}

}  // namespace appell
