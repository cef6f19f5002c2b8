// What events do at an instant: the values they set, the constraints they drop and enforce, their order, and which of them are
// moved to the other side of zero by what happens there.
#include <algorithm>
#include <cmath>

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
    if (!change_to_mode(x)) return fail("the equations of the next mode can not be made");
    // a constraint on positions must hold where it is enforced: no force moves a point at once
    const Motion& motion = now_->lowered.motion;
    Projector position(motion, motion.position, Projector::Part::coordinates);
    if (motion.position_rows > 0 && position.measure(t, x).scaled > std::max(1e3 * atol_, 1e-6))
        return fail(fmt::format("event {} at t = {} enforces a constraint on positions that does not hold there", event.name,
                                short_number(t)));
    // contacts take what is enforced as an impact where they can not keep it
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

// Events at one instant act in the order of the file. Where the reverse order sets something else, the model says too little.
void ModeSwitching::judge_order(double t, std::span<const double> x, std::span<const std::size_t> events) {
    if (events.size() < 2) return;
    std::vector<double> forward(x.begin(), x.end()), backward = forward;
    bool good = true;
    for (std::size_t k = 0; k < events.size(); ++k) {
        const std::size_t last = events[events.size() - 1 - k];
        good = good && set_values(m_.events[events[k]], events[k], t, forward) && set_values(m_.events[last], last, t, backward);
    }
    std::size_t i = 0;
    while (i < states() && std::abs(forward[i] - backward[i]) <= atol_ + 1e-9 * std::abs(forward[i])) ++i;
    if (!good || i == states() || !order_said_.emplace(events.front(), events.back()).second) return;
    const Event &first = m_.events[events.front()], &last = m_.events[events.back()];
    const std::string name = i < m_.coordinates.size() ? m_.coordinates[i].name : m_.speeds[i - m_.coordinates.size()].name;
    diagnostics_.add({Code::W0845, last.span,
                      fmt::format("events {} and {} happen at once, at t = {}, and {} depends on which acts first", first.name,
                                  last.name, short_number(t), name),
                      fmt::format("{} = {} in the order of the file, {} in the reverse order", name, short_number(forward[i]),
                                  short_number(backward[i])),
                      "one value, or events that do not happen at once",
                      "the order of the file is taken; make one event of the two, or let one test the other's condition"});
}

void ModeSwitching::look_at_events(double t, std::span<const double> x, std::vector<GuardMeaning>* moved) {
    if (!now_->evaluated) return;
    (void)now_->evaluated->run(t, x);
    const std::span<const double> values = now_->evaluated->output("value");
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(std::abs(values[i]) > atol_)) continue;
        const int before = event_sides_[i], side = values[i] > 0 ? 1 : -1;
        event_sides_[i] = side;
        if (moved == nullptr || before * side >= 0) continue;
        const Guard::Passage passage = passage_of(m_.events[i]);
        if (passage == Guard::Passage::either || passage == (side > 0 ? Guard::Passage::rising : Guard::Passage::falling))
            moved->push_back({GuardMeaning::What::event, i});
    }
}

}  // namespace appell
