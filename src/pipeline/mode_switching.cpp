#include "pipeline/mode_switching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/modes.hpp"
#include "pipeline/missing_values.hpp"
#include "pipeline/motion_lowering.hpp"
#include "sim/project.hpp"
#include "sim/works.hpp"

namespace appell {

namespace {

// what events at one instant do to each other's expressions is followed so many times
constexpr std::size_t k_most_rounds = 100;
// choices of contacts and frictions that are looked through where one change at a time finds none
constexpr double k_most_choices = 3000;
// so many pauses of an event, each shorter than the one before, the last one this short against the run: they accumulate
constexpr std::size_t k_shrinking_pauses = 20;
constexpr double k_shortest_pause = 1e-9;
// so many times what the tolerances make of its expression, an event has hardly left zero; in such a part of the run
constexpr double k_hardly = 10, k_soon = 1e-6;

}  // namespace

ModeSwitching::ModeSwitching(const ConstrainedDynamics& whole, LowerMotionOptions options, const SimulateOptions& run,
                             Diagnostics& diagnostics)
    : whole_(whole),
      m_(*whole.model),
      g_(whole.graph()),
      system_(whole, run.rtol, run.atol, options.jacobian),
      options_(std::move(options)),
      atol_(run.atol),
      rtol_(run.rtol),
      duration_(std::abs(run.t1 - run.t0)),
      fixed_step_(info(run.integrator).fixed_step ? run.step : 0),
      direction_of_time_(run.t1 < run.t0 ? -1 : 1),
      diagnostics_(diagnostics),
      contacts_(system_.contacts),
      direction_(m_.frictions.size(), {1, 0, 0}),
      begins_(m_.frictions.size(), false),
      turning_(m_.frictions.size()),
      shares_(m_.frictions.size()),
      off_(off_at_start(m_)),
      at_(system_),
      choices_(diagnostics),
      event_sides_(m_.events.size(), 0) {
    options_.rest_speed = system_.rest_speed;
    options_.whole = &whole_;
    if (!options_.for_run) return;
    laws_.emplace(whole_, run, diagnostics);
    if (laws_->empty())
        laws_.reset();
    else
        options_.conditions = &laws_->conditions();
}

const Motion& ModeSwitching::motion() const { return now_->lowered.motion; }
const LoweredMotion& ModeSwitching::lowered() const { return now_->lowered; }
const ConstrainedDynamics& ModeSwitching::dynamics() const { return now_->dynamics; }

std::vector<std::array<double, 3>> ModeSwitching::leaves_along() const {
    std::vector<std::array<double, 3>> out(m_.frictions.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Friction& f = m_.frictions[i];
        if (!off_[f.constraint] && off_[f.stick] && at_.at_rest(i)) out[i] = direction_[i];
    }
    return out;
}

Mode* ModeSwitching::mode(std::span<const double> x) {
    auto& place = modes_[off_];
    if (!place) {
        place = make_mode(system_, off_, x, options_, diagnostics_);
        if (place) judge_independent(*place);
    }
    if (place) give_friction_parameters(*place);
    if (place && laws_) place->set_sides(laws_->sides());
    return place.get();
}

// the user's choice of speeds, where a mode cannot use it
void ModeSwitching::judge_independent(const Mode& mode) {
    const bool used = options_.formulation == Formulation::minimal || options_.formulation == Formulation::nonminimal;
    if (!used || !mode.lowered.leaves_out_named_speeds || std::exchange(choice_said_, true)) return;
    const auto names = [&](const auto& speeds) {
        std::vector<std::string> out;
        for (const std::size_t i : speeds) out.push_back(m_.speeds[i].name);
        return fmt::format("{}", fmt::join(out, ", "));
    };
    diagnostics_.add({Code::N0867, m_.independent_span,
                      fmt::format("{} cannot be independent in the mode `{}`", names(whole_.independent), describe()),
                      fmt::format("independent there: {}", names(mode.lowered.independent_in_mode)), "", ""});
}

bool ModeSwitching::fail(std::string why) {
    failure_ = {Code::E0842, {}, std::move(why), "", "a motion that is consistent with contacts, friction and events", ""};
    return false;
}

bool ModeSwitching::inspect(double t, std::span<const double> x) {
    return at_.inspect(*now_, t, x) || fail(fmt::format("the equations of motion cannot be solved at t = {}", short_number(t)));
}

bool ModeSwitching::project(double t, std::span<double> x, bool from_start) {
    const Motion& motion = now_->lowered.motion;
    Projector position(motion, from_start ? motion.for_start_position() : motion.position, Projector::Part::coordinates);
    Projector velocity(motion, from_start ? motion.for_start_velocity() : motion.velocity, Projector::Part::speeds);
    return position.project(t, x, k_project_start).status == ProjectStatus::converged &&
           velocity.project(t, x, k_project_start).status == ProjectStatus::converged;
}

void ModeSwitching::open(std::size_t contact) {
    off_[contacts_[contact]] = true;
    for (const Friction& f : m_.frictions)
        if (f.constraint == contacts_[contact]) off_[f.stick] = true;
}

void ModeSwitching::close(std::size_t contact) {
    off_[contacts_[contact]] = false;
    begin_friction(contacts_[contact]);
}

void ModeSwitching::slide(std::size_t friction, const std::array<double, 3>& direction) {
    off_[m_.frictions[friction].stick] = true;
    direction_[friction] = direction;
}

// of a constraint that is on since now: what has no slip sticks first
void ModeSwitching::begin_friction(std::size_t constraint) {
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        if (m_.frictions[i].constraint != constraint) continue;
        if (length(at_.slip[i]) > system_.rest_speed)
            slide(i, along(at_.slip[i], 1));
        else
            off_[m_.frictions[i].stick] = false;
    }
}

// a mode that can not be made leaves the one before, which the end of the run is told by
bool ModeSwitching::change_to_mode(std::span<const double> x) {
    Mode* const next = mode(x);
    if (next != nullptr) now_ = next;
    return next != nullptr;
}

// the mode of what is on, at the nearest state that satisfies it
bool ModeSwitching::enter(double t, std::span<const double> x, std::vector<double>& there) {
    if (!change_to_mode(x)) return fail("the equations of the next mode cannot be made");
    there.assign(x.begin(), x.end());
    if (!project(t, there, false))
        return fail(fmt::format("no state near the one at t = {} satisfies the constraints of the mode `{}`", short_number(t),
                                describe()));
    return inspect(t, there) && use_frictions_alike(t, there) && turn_to_slip(t, there);
}

// It would stick by a row that follows from the others. The mode in which it does has been looked at before it gave way.
bool ModeSwitching::is_held_by_others(std::size_t i) const {
    std::vector<bool> sticking = off_;
    sticking[m_.frictions[i].stick] = false;
    const auto there = modes_.find(sticking);
    return at_.at_rest(i) && there != modes_.end() && there->second && there->second->rank == now_->rank;
}

bool ModeSwitching::settle(double t, std::span<double> x) {
    deciding_ = true;
    const bool good = choose_mode(t, x);
    deciding_ = false;
    if (now_ != nullptr) give_friction_parameters(*now_);
    return good;
}

bool ModeSwitching::choose_mode(double t, std::span<double> x) {
    std::set<std::pair<std::vector<bool>, std::vector<long>>> seen;
    const auto coarsely = [](const std::vector<std::array<double, 3>>& directions) {
        std::vector<long> out;
        for (const std::array<double, 3>& d : directions)
            for (const double part : d) out.push_back(std::lround(1e6 * part));
        return out;
    };
    const std::size_t contacts = contacts_.size(), frictions = m_.frictions.size();
    std::string why =
        fmt::format("no choice of open and closed contacts, of sticking and sliding is consistent at t = {}", short_number(t));
    for (bool changed = true; changed && seen.emplace(off_, coarsely(direction_)).second;) {
        std::vector<double> there;
        if (!enter(t, x, there)) return false;
        changed = at_.contradicts && open_one_that_contradicts(t, x);
        if (changed) continue;
        for (std::size_t i = 0; i < contacts && !changed; ++i) {
            changed = at_.pulls(i, off_) || at_.is_pressed_shut(i, off_);
            if (at_.pulls(i, off_))
                open(i);
            else if (changed)
                close(i);
        }
        if (changed || give_way(t, there)) {
            changed = true;
            continue;
        }
        std::size_t i = 0;
        while (i < frictions && !at_.has_negative_bound(i, off_)) ++i;
        if (i < frictions) {
            (void)fail(fmt::format("the bound of friction of {} is {} at t = {}, and must not be negative",
                                   m_.constraints[m_.frictions[i].constraint].name,
                                   short_number(std::min(at_.bound[i], at_.static_bound[i])), short_number(t)));
            failure_.expected = "a bound that is zero or positive";
            failure_.hint =
                fmt::format("look at the sign of its coefficient{}; write abs or mag of a force that may have either sign",
                            m_.shares.empty() ? "" : " and of the weights of `share`");
            return false;
        }
        i = 0;
        while (i < frictions && !at_.slides_backward(i, off_, direction_[i])) ++i;
        if (i < frictions) {
            why = fmt::format("friction of {} neither sticks nor slides at t = {} (Painleve's paradox)",
                              m_.constraints[m_.frictions[i].constraint].name, short_number(t));
            break;
        }
        std::copy(there.begin(), there.end(), x.begin());
        return true;
    }
    return search(t, x) || fail(why);
}

// Every choice for the contacts and the frictions that are at rest, those that hold most first. One change at a time may miss
// what two at once would find: a foot that slides is pressed down, one that sticks would be lifted.
bool ModeSwitching::search(double t, std::span<double> x) {
    std::vector<double> there;
    std::vector<std::size_t> contacts, frictions;
    const std::vector<bool> before = off_;
    const std::vector<std::array<double, 3>> directions = direction_;
    for (std::size_t i = 0; i < contacts_.size(); ++i)
        if (at_.rests(i)) contacts.push_back(i);
    const auto loose = [&](std::size_t constraint) {
        return std::any_of(contacts.begin(), contacts.end(), [&](std::size_t i) { return contacts_[i] == constraint; });
    };
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (at_.at_rest(i) && (!off_[m_.frictions[i].constraint] || loose(m_.frictions[i].constraint))) frictions.push_back(i);
    if (std::pow(2, contacts.size()) * std::pow(3, frictions.size()) > k_most_choices) return false;
    // held by all, friction shows the direction it would give way in
    for (const std::size_t i : contacts) off_[contacts_[i]] = false;
    for (const std::size_t i : frictions) off_[m_.frictions[i].stick] = false;
    std::vector<std::array<double, 3>> ways = direction_;
    if (enter(t, x, there))
        for (const std::size_t i : frictions) ways[i] = along(at_.friction[i], -1);
    std::vector<unsigned> choice(contacts.size() + frictions.size(), 0);
    const auto next = [&] {
        for (std::size_t k = 0; k < choice.size(); ++k) {
            if (++choice[k] < (k < contacts.size() ? 2u : 3u)) return true;
            choice[k] = 0;
        }
        return false;
    };
    do {
        for (std::size_t k = 0; k < contacts.size(); ++k) off_[contacts_[contacts[k]]] = choice[k] != 0;
        bool twice = false;  // friction of an open contact has no choice
        for (std::size_t k = 0; k < frictions.size(); ++k) {
            const Friction& f = m_.frictions[frictions[k]];
            const unsigned how = choice[contacts.size() + k];
            twice = twice || (how != 0 && off_[f.constraint]);
            off_[f.stick] = how != 0 || off_[f.constraint];
            for (std::size_t axis = 0; axis < 3; ++axis)
                direction_[frictions[k]][axis] = (how == 2 ? -1 : 1) * ways[frictions[k]][axis];
        }
        if (twice || !enter(t, x, there)) continue;
        bool good = !at_.contradicts;
        for (std::size_t i = 0; i < contacts_.size() && good; ++i) good = !at_.pulls(i, off_) && !at_.is_pressed_shut(i, off_);
        for (std::size_t i = 0; i < m_.frictions.size() && good; ++i)
            good =
                !at_.holds_too_much(i, off_) && !at_.slides_backward(i, off_, direction_[i]) && !at_.has_negative_bound(i, off_);
        if (!good) continue;
        std::copy(there.begin(), there.end(), x.begin());
        return true;
    } while (next());
    off_ = before;
    direction_ = directions;
    return false;
}

// Rows that depend on each other and contradict themselves: a contact among them that moves away once it is open.
bool ModeSwitching::open_one_that_contradicts(double t, std::span<const double> x) {
    const std::vector<bool> before = off_;
    std::vector<double> there;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (off_[contacts_[i]] || !at_.rests(i)) continue;
        open(i);
        if (enter(t, x, there) && !at_.contradicts && at_.gap_acceleration[i] > k_force_noise * at_.gap_terms[i]) return true;
        off_ = before;
        if (!enter(t, x, there)) return false;
    }
    return false;
}

void ModeSwitching::look_at_forces(double t, std::span<const double> x) {
    const std::size_t rows = now_->dynamics.rows.size();
    if (rows < 2 || (now_->inspected && now_->rank == rows)) return;
    if (!now_->forces) {
        now_->forces.emplace(now_->dynamics, now_->lowered, options_.conditions);
    }
    choices_.look(now_->dynamics, *now_->forces, t, x);
}

void ModeSwitching::record(double t, std::string what, std::span<const double> x) {
    ++event_count_;
    RunEvent event{t, std::move(what), {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(states())}};
    // behind the first ones, the last one
    if (events_.size() <= kept_events_)
        events_.push_back(std::move(event));
    else
        events_.back() = std::move(event);
}

void ModeSwitching::keep_events(std::size_t most) {
    constexpr std::size_t k_most_numbers = 4'000'000;  // in their states, together
    kept_events_ = std::max<std::size_t>(1, std::min(most, k_most_numbers / std::max<std::size_t>(states(), 1)));
}

double ModeSwitching::energy(double t, std::span<const double> x) {
    if (!energy_) {
        const NodeId sum = g_.add(whole_.kinetic_energy, whole_.potential_energy);
        energy_program_ = lower_frozen(g_, {now_->lowered.inputs, {}, {{"energy", {sum}}}}, options_.conditions);
        energy_.emplace(motion(), energy_program_);
        energy_sides_ = now_->lowered.sides;
    }
    for (std::size_t i = 0; i < energy_sides_; ++i) energy_->set_parameter(now_->lowered.first_side + i, laws_->sides()[i]);
    (void)energy_->run(t, x);
    return energy_->output("energy").front();
}

Diagnostic ModeSwitching::penetration(std::size_t contact, double t, double gap) const {
    const Constraint& c = m_.constraints[contacts_[contact]];
    return {Code::E0834,
            c.span,
            fmt::format("contact {} is penetrated at t = {}", c.name, short_number(t)),
            fmt::format("a gap of {}", short_number(gap)),
            "a gap that is zero or positive",
            "something moves it there at once, an event or a jump in the gap itself; let it end on the allowed side"};
}

Diagnostic ModeSwitching::failure(const SimulateSummary& s) const {
    switch (s.reason) {
        case EndReason::penetrated: return penetration(now_->guards[*s.penetrated].index, s.penetrated_at, s.penetrated_gap);
        case EndReason::chatter:
            if (const auto endless = laws_ ? laws_->endless(s.chatter_from, s.t_end) : std::nullopt) return *endless;
            return {Code::E0843,
                    {},
                    fmt::format("events follow each other without end at t = {}", short_number(s.t_end)),
                    events_.empty() ? "" : fmt::format("again and again: {}", events_.back().what),
                    "time between events",
                    "look at what makes them come back at once; the rows up to there are kept"};
        default: return failure_;
    }
}

// the depth of a gap that is neither round-off nor meant to be zero
double ModeSwitching::below_surface() const { return std::max(k_touching * now_->lowered.motion.length, system_.touching); }

// An event may set anything, but no contact is open below its surface: closing it there would move what touches it.
bool ModeSwitching::keeps_contacts_open(double t) {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (!off_[contacts_[i]] || !(at_.gap[i] < -below_surface())) continue;
        failure_ = penetration(i, t, at_.gap[i]);
        return false;
    }
    return true;
}

void ModeSwitching::switch_contacts(Instant& now, std::span<const GuardMeaning> happened, std::vector<std::size_t>& closing) {
    using What = GuardMeaning::What;
    reached_.clear();
    for (const auto& [what, i] : happened) {
        switch (what) {
            case What::event:
            case What::condition: continue;
            case What::closes: closing.push_back(i); break;
            case What::opens: open(i); break;
            case What::stops:
                // a slip that turns by a right angle within a step passes, too, without coming to rest
                if (length(at_.slip[i]) > 1e3 * system_.rest_speed)
                    direction_[i] = along(at_.slip[i], 1);
                else
                    stick_at_rest(i);
                break;
            case What::slips:
                if (now_->weighs_friction)
                    reached_.push_back(i);
                else
                    slide(i, along(at_.friction[i], -1));
                break;
        }
        now.changed = true;
    }
}

// One round: laws, contacts and frictions, impacts, events in the order of the file, and the mode that follows from all of it.
bool ModeSwitching::act(Instant& now, std::span<double> x, std::span<const GuardMeaning> happened, const Flips& flips) {
    const bool changed = std::exchange(now.changed, false);
    std::vector<std::size_t> closing, events;
    for (const GuardMeaning& meaning : happened)
        if (meaning.what == GuardMeaning::What::event) events.push_back(meaning.index);
    std::ranges::sort(events);
    // laws that lead back to their surface: an event that acts there may change that
    const bool slides = !switch_laws(now, x, flips);
    if (slides && (failure_.code != Code::E0832 || events.empty())) return false;
    const Diagnostic sliding = failure_;
    if (!inspect(now.t, x)) return false;
    switch_contacts(now, happened, closing);
    if (!closing.empty()) {
        if (!keeps_contacts_open(now.t) || !impact(now.t, x, closing)) return false;
        for (const std::size_t i : closing) now.what.push_back(fmt::format("impact on {}", m_.constraints[contacts_[i]].name));
    }
    if (!act_events(now, x, events)) return false;
    if (slides && now.stop) return true;
    now.changed = now.changed || slides;
    if (now.changed && (!settle_all(now.t, x) || !keeps_contacts_open(now.t))) return false;
    if (slides && !laws_->leaves_surfaces(now_->laws, now.t, x, failure_)) {
        failure_ = sliding;
        return false;
    }
    if (events.size() == 1 && now.changed && now.acted[events[0]])
        event_sides_[events[0]] = side_after(now, events[0], events_at(now.t, x)[events[0]]);
    now.changed = now.changed || changed;
    return true;
}

// each sees what the ones before it left
bool ModeSwitching::act_events(Instant& now, std::span<double> x, const std::vector<std::size_t>& events) {
    judge_order(now.t, x, events);
    for (const std::size_t i : events) {
        const Event& event = m_.events[i];
        now.what.push_back(event.name);
        now.stop = now.stop || event.stop;
        if (event.sets.empty() && event.drops.empty() && event.enforces.empty()) continue;
        now.changed = now.acted[i] = true;
        if (!apply(event, i, now.t, x)) return false;
        // what an event does to its own expression is no passage
        event_sides_[i] = own_side(now, i, x);
    }
    return true;
}

void ModeSwitching::settle_guards(const Instant& now, std::span<const double> x) {
    settled_.clear();
    const std::span<const EventValue> values = events_at(now.t, x);
    for (std::size_t g = 0; g < now_->guards.size(); ++g) {
        const auto& [what, i] = now_->guards[g];
        if (what == GuardMeaning::What::condition) settled_.push_back({g, side_off_surface(laws_->sides()[i])});
        if (what != GuardMeaning::What::event) continue;
        // On zero its rate tells. A guard that came through zero and is sent back has touched it.
        const EventValue& v = values[i];
        const bool sent_back = v.heads * event_sides_[i] < 0 && i < now.came_through.size() && now.came_through[i];
        if (v.near_zero() && v.heads != 0 && (now.acted[i] || sent_back)) {
            event_sides_[i] = v.heads;
            settled_.push_back({g, 2 * v.heads});
        } else {
            settled_.push_back({g, now.acted[i] ? 0 : event_sides_[i]});
        }
    }
}

// An event whose pauses shrink towards nothing, as of a ball that bounces by it: what comes after the last one is not known.
bool ModeSwitching::events_accumulate(const Instant& now) {
    bool out = false;
    for (std::size_t i = 0; i < now.acted.size(); ++i) {
        if (!now.acted[i]) continue;
        const auto [place, first] = paces_.try_emplace(i, Pace{now.t, std::numeric_limits<double>::infinity(), 0});
        Pace& pace = place->second;
        if (first) continue;
        const double pause = std::abs(now.t - pace.last);
        pace.shorter = pause < pace.pause ? pace.shorter + 1 : 0;
        pace.last = now.t;
        pace.pause = pause;
        out = out || (pace.shorter >= k_shrinking_pauses && pause <= k_shortest_pause * duration_);
    }
    return out;
}

void ModeSwitching::say(const Instant& now, std::span<const GuardMeaning> happened, std::span<const double> x) {
    std::vector<std::string> what = now.what;
    for (std::size_t c = 0; c < off_.size(); ++c) {
        if (off_[c] == now.off_before[c]) continue;
        const Constraint& constraint = m_.constraints[c];
        if (constraint.unilateral)
            what.push_back(fmt::format("{} {}", constraint.name, off_[c] ? "opens" : "closes"));
        else if (constraint.stick_of && !off_[m_.frictions[*constraint.stick_of].constraint])
            what.push_back(fmt::format("{} {}", m_.constraints[m_.frictions[*constraint.stick_of].constraint].name,
                                       !off_[c]                                  ? "sticks"
                                       : is_held_by_others(*constraint.stick_of) ? "is at its bound"
                                                                                 : "slips"));
    }
    for (const auto& [kind, i] : happened)
        if (kind == GuardMeaning::What::stops && what.empty() && off_[m_.frictions[i].stick] && !slides_in_plane(i))
            what.push_back(fmt::format("{} slips the other way", m_.constraints[m_.frictions[i].constraint].name));
    if (!what.empty()) record(now.t, fmt::format("{}", fmt::join(what, ", ")), x);
}

Switching::Verdict ModeSwitching::happen(Instant& now, std::span<double> x, std::span<const GuardMeaning> happened,
                                         const Flips& flips) {
    now.acted.resize(m_.events.size());
    now.came_through.resize(m_.events.size());
    const std::span<const EventValue> values = events_at(now.t, x);
    for (std::size_t i = 0; i < values.size(); ++i) {
        now.came_through[i] = values[i].near_zero() && values[i].heads * event_sides_[i] > 0;
        now.lies.push_back(values[i].value);
    }
    const bool ledger = x.size() > states() && motion().works.back() == k_jumps;
    const double energy_before = ledger ? energy(now.t, x) : 0;
    if (!remember_directions(now.t, x)) return Verdict::failed;
    std::vector<GuardMeaning> round(happened.begin(), happened.end());
    for (std::size_t rounds = 0; rounds == 0 || !round.empty(); ++rounds) {
        if (rounds == k_most_rounds) {
            say(now, happened, x);
            return Verdict::endless;
        }
        if (!act(now, x, round, rounds == 0 ? flips : Flips{})) {
            if (failure_.code == Code::E0832) say(now, happened, x);
            return Verdict::failed;
        }
        round.clear();
        if (now.changed) look_at_events(now, x, round);
    }
    if (now.changed && ledger) add_work(motion(), x, x.size() - states() - 1, energy(now.t, x) - energy_before);
    if (now.changed && !begin_slips(now.t, x)) return Verdict::failed;
    if (now.changed) settle_guards(now, x);
    say(now, happened, x);
    if (now.stop) return Verdict::stop;
    if (events_accumulate(now)) return Verdict::endless;
    return now.changed ? Verdict::changed : Verdict::go_on;
}

// An event that has just acted passes again while its expression still moves the other way: what it did between is smaller than
// the integrator can follow.
bool ModeSwitching::comes_back_unseen(double t, std::span<const double> x, std::span<const std::size_t> guards,
                                      std::span<const int> sides) {
    if (paces_.empty()) return false;
    const std::span<const EventValue> values = events_at(t, x);
    return std::ranges::any_of(guards, [&](std::size_t g) {
        const auto& [what, i] = now_->guards[g];
        const auto pace = paces_.find(i);
        if (what != GuardMeaning::What::event || pace == paces_.end()) return false;
        const EventValue& v = values[i];
        const double pause = std::abs(t - pace->second.last);
        return v.near_zero() && v.heads * sides[g] < 0 && pause * v.speed <= k_hardly * std::max(v.noise, v.band) &&
               pause <= k_soon * duration_;
    });
}

Switching::Verdict ModeSwitching::passed(double t, std::span<double> x, std::span<const std::size_t> guards,
                                         std::span<const int> sides) {
    Instant now{t, off_, {x.begin(), x.end()}};
    std::vector<GuardMeaning> happened;
    Flips flips;
    for (const std::size_t g : guards) {
        const GuardMeaning& meaning = happened.emplace_back(now_->guards[g]);
        if (meaning.what == GuardMeaning::What::condition) flips.push_back({meaning.index, sides[g]});
    }
    for (std::size_t g = 0; g < sides.size(); ++g)
        if (now_->guards[g].what == GuardMeaning::What::event) event_sides_[now_->guards[g].index] = sides[g];
    if (comes_back_unseen(t, x, guards, sides)) return Verdict::endless;
    const Verdict verdict = happen(now, x, happened, flips);
    return verdict != Verdict::changed || laws_have_values(t, x) ? verdict : Verdict::failed;
}

Switching::Verdict ModeSwitching::noted(const GuardNote& note, std::span<const double> x) {
    using What = GuardMeaning::What;
    const GuardMeaning& guard = now_->guards[note.guard];
    const bool condition = guard.what == What::condition;
    if (note.what != GuardNote::What::has_no_value) {
        remark(note, name_of_guard(system_, guard, condition ? laws_->text(guard.index) : ""));
        return Verdict::go_on;
    }
    if (condition && !rate_depends_on_side(motion(), guard.index, note.t, x)) return Verdict::go_on;
    Diagnostic said = guard_without_value(system_, guard, condition ? laws_->text(guard.index) : "", note.t);
    if (guard.what != What::event) {
        failure_ = std::move(said);
        return Verdict::failed;
    }
    if (no_value_said_.insert(guard.index).second) diagnostics_.add(std::move(said));
    return Verdict::go_on;
}

void ModeSwitching::remark(const GuardNote& note, const std::string& guard) {
    GuardRemark& r = remarks_[guard];
    r.guard = guard;
    r.sampled = r.sampled || note.what == GuardNote::What::is_sampled;
    if (note.what == GuardNote::What::grazes && r.grazes++ == 0) r.first_graze = note.t;
}

std::vector<GuardRemark> ModeSwitching::remarks() const {
    std::vector<GuardRemark> out;
    for (const auto& [guard, remark] : remarks_) out.push_back(remark);
    return out;
}

void ModeSwitching::went_through(const PassedPosition& passed, std::span<const double> x) {
    record(passed.t, fmt::format("through a singular position of {}", m_.constraints[passed.constraint].name), x);
    // events on the arc are on the list already
    std::ranges::stable_sort(events_, {}, [&](const RunEvent& e) { return m_.run.duration < 0 ? -e.t : e.t; });
    settled_.clear();
}

Switching::Verdict ModeSwitching::worn(double t, std::span<const double> x) {
    const bool reduced = now_->lowered.motion.reduction.has_value(), charted = now_->lowered.motion.chart.has_value();
    if (!reduced && !charted) return Verdict::failed;
    // where there is no chart the run says so, and not the making of another
    Diagnostics none_there;
    LowerMotionOptions now_and_here = options_;
    now_and_here.from = t;  // rows that depend on time hold the state where it is
    std::unique_ptr<Mode> fresh =
        make_mode(system_, off_, x, now_and_here, reduced ? diagnostics_ : none_there, now_->weighs_friction);
    if (!fresh) return Verdict::failed;
    const Motion &now = now_->lowered.motion, &other = fresh->lowered.motion;
    if (reduced && (!other.reduction || other.reduction->independent == now.reduction->independent)) return Verdict::failed;
    if (charted && (!other.chart || fresh->lowered.partition == now_->lowered.partition)) return Verdict::failed;
    give_friction_parameters(*fresh);
    if (laws_) fresh->set_sides(laws_->sides());
    std::vector<std::string> names;
    for (const std::size_t i : fresh->lowered.independent_speeds) names.push_back(m_.speeds[i].name);
    if (charted)
        for (std::size_t i = 0; i < m_.coordinates.size(); ++i)
            if (!std::ranges::binary_search(fresh->lowered.partition.dependent, i)) names.push_back(m_.coordinates[i].name + "'");
    auto& place = modes_[off_];
    retired_.push_back(std::move(place));  // the run still holds on to it
    place = std::move(fresh);
    now_ = place.get();
    record(t, fmt::format("independent {} {}", charted ? "rates" : "speeds", fmt::join(names, ", ")), x);
    settled_.clear();
    return Verdict::changed;
}

std::string ModeSwitching::describe() const {
    std::vector<std::string> parts;
    for (std::size_t c = 0; c < off_.size(); ++c) {
        const Constraint& constraint = m_.constraints[c];
        if (constraint.unilateral) parts.push_back(fmt::format("{} {}", constraint.name, off_[c] ? "open" : "closed"));
    }
    for (const Friction& f : m_.frictions)
        if (!off_[f.constraint])
            parts.push_back(fmt::format("{} {}", m_.constraints[f.constraint].name,
                                        !off_[f.stick]                                                          ? "sticks"
                                        : is_held_by_others(static_cast<std::size_t>(&f - m_.frictions.data())) ? "at its bound"
                                                                                                                : "slides"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace appell
