// The mode that a run begins in (mode_switching.hpp).
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "pipeline/missing_values.hpp"
#include "pipeline/mode_switching.hpp"

namespace appell {

bool ModeSwitching::begin() {
    const double t = options_.from;
    for (const Event& event : m_.events) {
        std::vector<std::size_t>& places = set_places_.emplace_back();
        for (const Event::Set& set : event.sets) {
            const auto speed = whole_.speed_of(set.symbol);
            std::size_t place = speed ? m_.coordinates.size() + *speed : 0;
            for (std::size_t i = 0; i < m_.coordinates.size(); ++i)
                if (m_.coordinates[i].q == set.symbol) place = i;
            const bool coordinate = place < m_.coordinates.size() && m_.coordinates[place].q == set.symbol;
            if (!speed && !coordinate)
                diagnostics_.add(
                    {Code::E0611, event.span,
                     fmt::format("event {} sets {}, which is no speed of this model", event.name, g_.symbol(set.symbol).name),
                     event.text, "a coordinate or a speed", "set the speeds that are declared"});
            places.push_back(place);
        }
    }
    if (diagnostics_.has_errors()) return false;
    now_ = mode({});
    if (now_ == nullptr) return false;
    std::vector<double> x = now_->lowered.x0;
    const double size = now_->lowered.motion.length;
    if (!laws_ && contacts_.empty() && m_.frictions.empty()) return true;
    // where no start is found, the run reports it
    if (!project(t, x, true)) return true;
    if (!decide_laws(t, x, {}) || !laws_have_values(t, x)) {
        diagnostics_.add(failure_);
        return false;
    }
    if (contacts_.empty() && m_.frictions.empty()) {
        settle_guards({t, off_, {}, {}, std::vector<bool>(m_.events.size())}, x);
        return true;
    }
    const bool inspected = inspect(t, x);
    bool good = true;
    // gaps need no solve
    const std::span<const double> gaps = now_->inspected->output("gap");
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        if (std::isfinite(gaps[i])) continue;
        good = false;
        diagnostics_.add(guard_without_value(system_, {GuardMeaning::What::closes, i}, "", t));
    }
    if (!inspected || !good) return good;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const Constraint& c = m_.constraints[contacts_[i]];
        if (at_.gap[i] < -k_touching * size) {
            good = false;
            diagnostics_.add({Code::E0841, c.span, fmt::format("contact {} is violated at the start", c.name),
                              fmt::format("a gap of {}", short_number(at_.gap[i])), "a gap that is zero or positive",
                              "move the start values apart"});
        }
        // what moves into a contact takes an impact as soon as the motion begins
        const bool hits = at_.gap_rate[i] < -system_.rest_speed && at_.gap[i] >= -system_.touching;
        if (at_.gap[i] <= k_touching * size && at_.gap_rate[i] <= system_.rest_speed && !hits) off_[contacts_[i]] = false;
    }
    if (!good) return false;
    for (std::size_t c = 0; c < off_.size(); ++c)
        if (!off_[c] && !m_.constraints[c].stick_of) begin_friction(c);
    if (settle_all(t, x)) {
        if (!begin_slips(t, x)) {
            diagnostics_.add(failure_);
            return false;
        }
        settle_guards({t, off_, {}, {}, std::vector<bool>(m_.events.size())}, x);
        return true;
    }
    if (failure_.code == Code::E0832) {
        diagnostics_.add(failure_);
        return false;
    }
    diagnostics_.add(
        {Code::E0842,
         {},
         failure_.message,
         describe(),
         failure_.hint.empty() ? "a mode that is consistent with contacts and friction" : failure_.expected,
         failure_.hint.empty() ? "rigid bodies with dry friction may have none: a smaller coefficient has" : failure_.hint});
    return false;
}

}  // namespace appell
