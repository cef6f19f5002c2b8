// What a run does where laws switch (mode_switching.hpp): their sides, speeds that jump with them, and what contacts and
// frictions make of it.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "pipeline/law_jumps.hpp"
#include "pipeline/missing_values.hpp"
#include "pipeline/mode_switching.hpp"

namespace appell {

namespace {

// speeds that jump may switch laws that make them jump
constexpr int k_most_jumps = 5;

}  // namespace

bool ModeSwitching::decide_laws(double t, std::span<const double> x, const Flips& flips) {
    if (!laws_) return true;
    const bool good = laws_->decide(now_->laws, t, x, flips, failure_);
    now_->set_sides(laws_->sides());
    return good;
}

// those that depend on time alone; the others are guards
bool ModeSwitching::laws_have_values(double t, std::span<const double> x) {
    if (!laws_) return true;
    const std::optional<std::size_t> gone = laws_->without_value(now_->laws, t, x);
    if (gone) failure_ = guard_without_value(system_, {GuardMeaning::What::condition, *gone}, laws_->text(*gone), t);
    return !gone;
}

namespace {

// "speed u is defined anew": it has another value for the same motion
std::string defined_anew(const Model& m, std::span<const double> before, std::span<const double> after, double atol) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < m.speeds.size(); ++i) {
        const double u = before[m.coordinates.size() + i], v = after[m.coordinates.size() + i];
        if (std::abs(v - u) > atol + 1e-9 * std::abs(u)) names.push_back(m.speeds[i].name);
    }
    if (names.size() == 1) return fmt::format("speed {} is defined anew", names.front());
    return fmt::format("speeds {} are defined anew", fmt::join(names, ", "));
}

}  // namespace

// They switch, and where they prescribe velocities, speeds jump. What touches takes that as an impact.
bool ModeSwitching::switch_laws(Instant& now, std::span<double> x, const Flips& flips) {
    if (flips.empty()) return true;
    const std::vector<int> before(laws_->sides().begin(), laws_->sides().end());
    if (!decide_laws(now.t, x, flips)) return false;
    now.changed = true;
    const bool by_state =
        std::ranges::none_of(flips, [&](const LawSwitching::Flip& f) { return laws_->conditions().all()[f.condition].of_time; });
    std::vector<int> from = before;
    for (int rounds = 0;; ++rounds) {
        const std::vector<int> to(laws_->sides().begin(), laws_->sides().end());
        const std::vector<double> x_before(x.begin(), x.end());
        LawJump jump = carry_over(*now_, {from, now.t, by_state, atol_, laws_->backwards()}, x, failure_);
        // Closed contacts cannot keep what the laws prescribe, and need not. What moves into them then takes an impact, and both
        // changes together are the least one.
        if (jump == LawJump::impossible && failure_.code == Code::E0842 && inspect(now.t, x)) {
            bool opened = false;
            for (std::size_t i = 0; i < contacts_.size(); ++i)
                if (!off_[contacts_[i]] && at_.touches(i)) {
                    open(i);
                    opened = true;
                }
            if (opened && change_to_mode(x))
                jump = carry_over(*now_, {from, now.t, by_state, atol_, laws_->backwards()}, x, failure_);
        }
        if (jump == LawJump::impossible) return false;
        if (jump == LawJump::none) break;
        if (rounds == 0)
            now.what.push_back(
                fmt::format("{} where {}",
                            jump == LawJump::definitions ? defined_anew(m_, x_before, x, atol_) : std::string("velocities jump"),
                            laws_->text(flips.front().condition)));
        // the speeds after may lead elsewhere than to the sides they were found for
        if (!decide_laws(now.t, x, {})) return false;
        if (std::ranges::equal(to, laws_->sides())) break;
        if (rounds == k_most_jumps) {
            failure_ = laws_->sliding(flips.front().condition, now.t);
            return false;
        }
        from = to;
    }
    if (!laws_->leaves_surfaces(now_->laws, now.t, x, failure_)) return false;
    return !m_.switches() || take_up(now, x);
}

// Contacts and frictions where laws have switched: surfaces that jump away or approach at once.
bool ModeSwitching::take_up(Instant& now, std::span<double> x) {
    if (!inspect(now.t, x)) return false;
    bool hit = false;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const bool closed = !off_[contacts_[i]];
        if (closed && at_.gap[i] < -below_surface()) {
            failure_ = penetration(i, now.t, at_.gap[i]);
            return false;
        }
        if (closed && !at_.touches(i)) open(i);
        if (!at_.touches(i)) continue;
        const bool approaches = at_.gap_rate[i] < -system_.rest_speed;
        if (approaches) now.what.push_back(fmt::format("impact on {}", m_.constraints[contacts_[i]].name));
        hit = hit || approaches || (closed && at_.gap_rate[i] > system_.rest_speed);
    }
    if (hit) return impact(now.t, x, {});
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (!off_[m_.frictions[i].stick] && !at_.at_rest(i)) slide(i, along(at_.slip[i], 1));
    return true;
}

// the sides of laws and the mode of contacts and frictions, which depend on each other
bool ModeSwitching::settle_all(double t, std::span<double> x) {
    constexpr int k_most_rounds_of_laws = 10;
    for (int k = 0; k < k_most_rounds_of_laws; ++k) {
        const std::vector<int> before =
            laws_ ? std::vector<int>(laws_->sides().begin(), laws_->sides().end()) : std::vector<int>{};
        if (!settle(t, x)) return false;
        if (!laws_) return true;
        if (!decide_laws(t, x, {})) return false;
        if (std::ranges::equal(before, laws_->sides())) return true;
    }
    return true;
}

double ModeSwitching::next_instant(double t, double t_end) {
    law_instant_ = laws_ ? laws_->next_instant(now_->laws, t, t_end) : t_end;
    return onset_end_ > t ? std::min(law_instant_, onset_end_) : law_instant_;
}

Switching::Verdict ModeSwitching::instant(double t, std::span<double> x) {
    Instant now{t, off_, {x.begin(), x.end()}};
    look_at_events(t, x);
    if (t >= onset_end_) {
        const auto stopped = end_slip_onset(t, x);
        if (!stopped) return Verdict::failed;
        if (!stopped->empty()) return happen(now, x, *stopped, {});
    }
    if (!laws_ || t < law_instant_) {
        now.acted.resize(m_.events.size());
        settle_guards(now, x);
        return Verdict::go_on;
    }
    if (laws_->due().empty()) {  // the search for instants got only that far, or a condition loses its value
        now.acted.resize(m_.events.size());
        settle_guards(now, x);
        return laws_have_values(t, x) ? Verdict::go_on : Verdict::failed;
    }
    const Verdict verdict = happen(now, x, {}, Flips(laws_->due().begin(), laws_->due().end()));
    if (verdict != Verdict::go_on && verdict != Verdict::changed) return verdict;
    return laws_have_values(t, x) ? Verdict::changed : Verdict::failed;
}

}  // namespace appell
