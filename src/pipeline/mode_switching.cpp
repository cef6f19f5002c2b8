#include "pipeline/mode_switching.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "dynam/constraint_forces.hpp"
#include "dynam/modes.hpp"
#include "dynam/quantities.hpp"
#include "jit/native_code.hpp"
#include "sim/motion_program.hpp"
#include "sim/project.hpp"
#include "sim/works.hpp"

namespace appell {

namespace {

// A start value this close to a contact, against the size of the model, is meant to be on it.
constexpr double k_touching = 1e-6;
// forces are known to so many digits; a contact that pulls by less, or friction above its bound by less, does not
constexpr double k_force_noise = 1e-9;
// choices of contacts and frictions that are looked through where one change at a time finds none
constexpr double k_most_choices = 3000;

double length(const std::array<double, 3>& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }
double dot(const std::array<double, 3>& v, const std::array<double, 3>& w) { return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]; }
std::array<double, 3> along(const std::array<double, 3>& v, double sign) {
    const double size = length(v);
    if (!(size > 0)) return {1, 0, 0};
    return {sign * v[0] / size, sign * v[1] / size, sign * v[2] / size};
}

}  // namespace

struct ModeSwitching::Mode {
    ConstrainedDynamics dynamics;
    LoweredMotion lowered;
    Program inspect, impact, events;
    std::vector<GuardMeaning> guards;
    std::optional<MotionProgram> inspected, impacted, evaluated;
    std::size_t rank = 0;  // of its rows, at its last inspection
};

ModeSwitching::ModeSwitching(const ConstrainedDynamics& whole, LowerMotionOptions options, double atol, Diagnostics& diagnostics)
    : whole_(whole),
      m_(*whole.model),
      g_(whole.graph()),
      options_(std::move(options)),
      atol_(atol),
      diagnostics_(diagnostics),
      off_(off_at_start(m_)) {
    options_.rest_speed = speed_noise_ = rest_speed(m_, atol_);
    gap_noise_ = 1e-3 * atol_;
    options_.whole = &whole_;
    for (std::size_t row = 0; row < whole.rows.size(); ++row)
        if (m_.constraints[whole.rows[row].constraint].unilateral) {
            contacts_.push_back(whole.rows[row].constraint);
            contact_row_.push_back(row);
        }
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        std::array<SymbolId, 3> symbols;
        for (std::size_t axis = 0; axis < 3; ++axis)
            symbols[axis] = g_.add_symbol(fmt::format("slip direction {}.{}", i + 1, "xyz"[axis]), SymbolKind::other);
        direction_symbols_.push_back(symbols);
        direction_.push_back({1, 0, 0});
    }
    for (std::vector<double>* v : {&gap_, &gap_rate_, &gap_acceleration_, &gap_terms_, &push_}) v->resize(contacts_.size());
    for (std::vector<double>* v : {&bound_, &static_bound_, &slip_terms_}) v->resize(m_.frictions.size());
    for (auto* v : {&slip_, &slip_acceleration_, &friction_}) v->resize(m_.frictions.size());
}

ModeSwitching::~ModeSwitching() = default;

const Motion& ModeSwitching::motion() const { return now_->lowered.motion; }
const LoweredMotion& ModeSwitching::lowered() const { return now_->lowered; }
const ConstrainedDynamics& ModeSwitching::dynamics() const { return now_->dynamics; }

void ModeSwitching::set_directions(Mode& mode) {
    for (std::size_t i = 0; i < direction_.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::size_t place = mode.lowered.first_direction + 3 * i + axis;
            mode.lowered.motion.parameters[place] = direction_[i][axis];
            for (std::optional<MotionProgram>* program : {&mode.inspected, &mode.impacted, &mode.evaluated})
                if (*program) (*program)->set_parameter(place, direction_[i][axis]);
        }
}

std::unique_ptr<ModeSwitching::Mode> ModeSwitching::make_mode(std::span<const double> x) {
    auto mode = std::make_unique<Mode>();
    if (m_.switches()) {
        Result<ConstrainedDynamics> dynamics = in_mode(whole_, off_, direction_symbols_);
        diagnostics_.append(dynamics.diagnostics);
        if (!dynamics.ok()) return nullptr;
        mode->dynamics = std::move(*dynamics);
    } else {
        mode->dynamics = whole_;
    }
    LowerMotionOptions options = options_;
    options.state.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.empty() ? 0 : states()));
    Result<LoweredMotion> lowered = lower_motion(mode->dynamics, options);
    diagnostics_.append(lowered.diagnostics);
    if (!lowered.ok()) return nullptr;
    mode->lowered = std::move(*lowered);
    Motion& motion = mode->lowered.motion;
    const ConstrainedDynamics& d = mode->dynamics;

    Quantities quantities(d, diagnostics_);
    const auto acceleration = [&](std::size_t row) {
        NodeId sum = g_.neg(whole_.b[row]);
        for (const SparseEntry& e : whole_.A.entries)
            if (e.row == row) sum = g_.add(sum, g_.mul(e.value, g_.symbol_node(m_.speeds[e.column].rate)));
        return sum;
    };
    // what the terms of a row's acceleration are as large as: forces over inertia
    std::vector<NodeId> diagonal(m_.speeds.size(), g_.constant(0));
    for (const SparseEntry& e : d.M.entries)
        if (e.row == e.column) diagonal[e.row] = e.value;
    const auto acceleration_terms = [&](std::size_t row) {
        NodeId sum = g_.make(Op::Abs, whole_.b[row]);
        for (const SparseEntry& e : whole_.A.entries)
            if (e.row == row)
                sum = g_.add(sum, g_.make(Op::Abs, g_.div(g_.mul(e.value, d.f[e.column]),
                                                          g_.make(Op::Max, diagonal[e.column], g_.constant(1e-300)))));
        return sum;
    };
    std::vector<NodeId> gap, gap_rate, gap_acceleration, push, slip, slip_acceleration, friction, bound, static_bound;
    std::vector<NodeId> gap_terms, slip_terms(m_.frictions.size(), g_.constant(0));
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const ConstraintRow& row = whole_.rows[contact_row_[i]];
        gap.push_back(row.position);
        gap_rate.push_back(row.velocity);
        gap_acceleration.push_back(acceleration(contact_row_[i]));
        gap_terms.push_back(acceleration_terms(contact_row_[i]));
        push.push_back(quantities.scalar(g_.symbol_node(row.multiplier), {}));
    }
    const std::vector<ConstraintForces> forces = row_forces(d);
    for (const Friction& f : m_.frictions) {
        const std::array<NodeId, 3> v = quantities.vector(f.slip, f.span);
        slip.insert(slip.end(), v.begin(), v.end());
        std::array<NodeId, 3> rate{g_.constant(0), g_.constant(0), g_.constant(0)};
        const bool scalar = !g_.is_vector(m_.constraints[f.stick].phi);
        for (std::size_t row = 0; row < whole_.rows.size(); ++row) {
            if (whole_.rows[row].constraint != f.stick) continue;
            NodeId& terms = slip_terms[static_cast<std::size_t>(&f - m_.frictions.data())];
            terms = g_.add(terms, acceleration_terms(row));
            const auto& multipliers = m_.constraints[f.stick].multipliers;
            const auto axis = std::find(multipliers.begin(), multipliers.end(), whole_.rows[row].multiplier);
            if (!scalar) rate[static_cast<std::size_t>(axis - multipliers.begin())] = acceleration(row);
            // along a given direction: slip = s e, and its rate at rest is s' e
            if (scalar)
                for (std::size_t k = 0; k < 3; ++k)
                    rate[k] =
                        g_.mul(acceleration(row),
                               g_.div(v[k], g_.make(Op::Max, g_.make(Op::Abs, whole_.rows[row].velocity), g_.constant(1e-300))));
        }
        slip_acceleration.insert(slip_acceleration.end(), rate.begin(), rate.end());
        NodeId stick = g_.vector_zero();
        for (std::size_t row = 0; row < d.rows.size(); ++row) {
            if (d.rows[row].constraint != f.stick) continue;
            for (const ForceDirection& place : forces[row].forces)
                if (place.point == f.on.point && place.body == f.on.body)
                    stick = g_.vadd(stick, g_.vscale(g_.symbol_node(d.rows[row].multiplier), place.W));
        }
        const std::array<NodeId, 3> force = quantities.vector(stick, f.span);
        friction.insert(friction.end(), force.begin(), force.end());
        bound.push_back(quantities.scalar(f.bound, f.span));
        static_bound.push_back(f.static_bound.valid() ? quantities.scalar(f.static_bound, f.span) : bound.back());
    }

    // guards
    std::vector<NodeId> guards;
    const auto guard = [&](GuardMeaning meaning, NodeId value, Guard how) {
        mode->guards.push_back(meaning);
        guards.push_back(value);
        motion.guards.push_back(how);
    };
    using What = GuardMeaning::What;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (off_[contacts_[i]])
            guard({What::closes, i}, gap[i], {Guard::Passage::falling, true, gap_noise_});
        else
            guard({What::opens, i}, push[i], {Guard::Passage::falling, true, 0});
    }
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        const Friction& f = m_.frictions[i];
        if (off_[f.constraint]) continue;
        if (off_[f.stick]) {
            NodeId forward = g_.constant(0);
            for (std::size_t axis = 0; axis < 3; ++axis)
                forward = g_.add(forward, g_.mul(slip[3 * i + axis], g_.symbol_node(direction_symbols_[i][axis])));
            guard({What::stops, i}, forward, {Guard::Passage::falling, true, speed_noise_});
        } else {
            NodeId square = g_.constant(0);
            for (std::size_t axis = 0; axis < 3; ++axis) square = g_.add(square, g_.pow(friction[3 * i + axis], 2));
            guard({What::slips, i}, g_.sub(static_bound[i], g_.make(Op::Sqrt, square)), {Guard::Passage::falling, true, 0});
        }
    }
    std::vector<NodeId> sets;
    for (std::size_t i = 0; i < m_.events.size(); ++i) {
        const Event& event = m_.events[i];
        guard({What::event, i}, quantities.scalar(event.value, event.span),
              {event.passage < 0   ? Guard::Passage::falling
               : event.passage > 0 ? Guard::Passage::rising
                                   : Guard::Passage::either,
               false, 0});
        for (const Event::Set& set : event.sets) sets.push_back(quantities.scalar(set.value, event.span));
    }
    if (diagnostics_.has_errors()) return nullptr;
    const auto program = [&](std::vector<OutputGroup> outputs) {
        std::vector<ConstrainedSolve> solves(quantities.solves());
        solves.insert(solves.end(), mode->lowered.equations.begin(), mode->lowered.equations.end());
        return lower_program(g_, {mode->lowered.inputs, std::move(solves), std::move(outputs)});
    };
    if (!guards.empty()) motion.guard = program({{"guard", guards}});
    if (options_.native) add_native_code(motion.guard);
    if (!sets.empty()) {
        mode->events = program({{"set", sets}});
        mode->evaluated.emplace(motion, mode->events);
    }
    if (contacts_.empty() && m_.frictions.empty()) return mode;
    mode->inspect = program({{"gap", gap},
                             {"gap_rate", gap_rate},
                             {"gap_acceleration", gap_acceleration},
                             {"push", push},
                             {"slip", slip},
                             {"slip_acceleration", slip_acceleration},
                             {"friction", friction},
                             {"bound", bound},
                             {"static_bound", static_bound},
                             {"gap_terms", gap_terms},
                             {"slip_terms", slip_terms}});
    mode->inspected.emplace(motion, mode->inspect);
    // the direction it slides in is remembered from step to step
    std::vector<NodeId> followed;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        if (!slides(d, i)) continue;
        NodeId square = g_.constant(0);
        for (std::size_t axis = 0; axis < 3; ++axis) square = g_.add(square, g_.pow(slip[3 * i + axis], 2));
        const NodeId size = g_.make(Op::Sqrt, square);
        // close to rest the direction is round-off: it stays
        const NodeId clear = g_.make(Op::Less, g_.constant(speed_noise_), size);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const NodeId unit = g_.div(slip[3 * i + axis], g_.make(Op::Max, size, g_.constant(1e-300)));
            followed.push_back(g_.make(Op::If, clear, unit, g_.symbol_node(direction_symbols_[i][axis])));
            motion.followed.push_back(mode->lowered.first_direction + 3 * i + axis);
        }
    }
    if (!followed.empty()) motion.follow = lower_program(g_, {mode->lowered.inputs, {}, {{"follow", followed}}});

    // the impact: all rows that are on and no law
    if (!contacts_.empty()) {
        ConstrainedSolve solve;
        solve.M = d.M;
        solve.f.assign(m_.speeds.size(), g_.constant(0));
        solve.A = {0, m_.speeds.size(), {}};
        for (std::size_t i = 0; i < m_.speeds.size(); ++i)
            solve.x.push_back(g_.add_symbol(fmt::format("jump {}", i + 1), SymbolKind::other));
        std::vector<NodeId> impulse(contacts_.size(), g_.constant(0)), jump, change, restitution;
        for (std::size_t row = 0; row < d.rows.size(); ++row) {
            const ConstraintRow& r = d.rows[row];
            const Constraint& c = m_.constraints[r.constraint];
            if (r.level == Level::acceleration || c.stick_of || r.by_actuators) continue;
            for (const SparseEntry& e : d.A.entries)
                if (e.row == row) solve.A.entries.push_back({static_cast<std::uint32_t>(solve.A.rows), e.column, e.value});
            NodeId factor = g_.constant(1);
            if (c.unilateral && c.restitution.valid()) factor = g_.add(factor, quantities.scalar(c.restitution, c.span));
            solve.b.push_back(g_.neg(g_.mul(factor, r.velocity)));
            solve.lambda.push_back(g_.add_symbol(fmt::format("impulse {}", row + 1), SymbolKind::other));
            if (const auto contact = std::find(contacts_.begin(), contacts_.end(), r.constraint); contact != contacts_.end())
                impulse[static_cast<std::size_t>(contact - contacts_.begin())] = g_.symbol_node(solve.lambda.back());
            ++solve.A.rows;
        }
        for (const SymbolId s : solve.x) jump.push_back(g_.symbol_node(s));
        for (std::size_t i = 0; i < contacts_.size(); ++i) {
            const Constraint& c = m_.constraints[contacts_[i]];
            NodeId sum = g_.constant(0);
            for (const SparseEntry& e : whole_.A.entries)
                if (e.row == contact_row_[i]) sum = g_.add(sum, g_.mul(e.value, jump[e.column]));
            change.push_back(sum);
            restitution.push_back(c.restitution.valid() ? quantities.scalar(c.restitution, c.span) : g_.constant(0));
        }
        mode->impact = lower_program(
            g_, {mode->lowered.inputs,
                 {solve},
                 {{"jump", jump}, {"impulse", impulse}, {"change", change}, {"restitution", restitution}, {"rate", gap_rate}}});
        mode->impacted.emplace(motion, mode->impact);
    }
    return mode;
}

ModeSwitching::Mode* ModeSwitching::mode(std::span<const double> x) {
    auto& place = modes_[off_];
    if (!place) place = make_mode(x);
    if (place) set_directions(*place);
    return place.get();
}

bool ModeSwitching::inspect(double t, std::span<const double> x) {
    if (!now_->inspected) return true;
    MotionProgram& program = *now_->inspected;
    const EvalReport report = program.run(t, x);
    if (report.status != EvalStatus::ok && report.status != EvalStatus::inconsistent_rows)
        return fail(fmt::format("the equations of motion can not be solved at t = {}", short_number(t)));
    now_->rank = report.rank;
    const auto take = [&](std::string_view name, std::vector<double>& to) {
        const std::span<const double> from = program.output(name);
        std::copy(from.begin(), from.end(), to.begin());
    };
    const auto take3 = [&](std::string_view name, std::vector<std::array<double, 3>>& to) {
        const std::span<const double> from = program.output(name);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = {from[3 * i], from[3 * i + 1], from[3 * i + 2]};
    };
    take("gap", gap_);
    take("gap_rate", gap_rate_);
    take("gap_acceleration", gap_acceleration_);
    take("push", push_);
    take("bound", bound_);
    take("static_bound", static_bound_);
    take("gap_terms", gap_terms_);
    take("slip_terms", slip_terms_);
    take3("slip", slip_);
    take3("slip_acceleration", slip_acceleration_);
    take3("friction", friction_);
    for (const double p : push_) largest_push_ = std::max(largest_push_, std::abs(p));
    return true;
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

bool ModeSwitching::touches(std::size_t contact) const { return std::abs(gap_[contact]) <= gap_noise_ * 1e3; }

bool ModeSwitching::rests(std::size_t contact) const { return touches(contact) && std::abs(gap_rate_[contact]) <= speed_noise_; }

void ModeSwitching::slide(std::size_t friction, const std::array<double, 3>& direction) {
    off_[m_.frictions[friction].stick] = true;
    direction_[friction] = direction;
}

// of a constraint that is on since now: what has no slip sticks first
void ModeSwitching::begin_friction(std::size_t constraint) {
    for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
        if (m_.frictions[i].constraint != constraint) continue;
        if (length(slip_[i]) > speed_noise_)
            slide(i, along(slip_[i], 1));
        else
            off_[m_.frictions[i].stick] = false;
    }
}

// the mode of what is on, at the nearest state that satisfies it
bool ModeSwitching::enter(double t, std::span<const double> x, std::vector<double>& there) {
    now_ = mode(x);
    if (now_ == nullptr) return fail("the equations of the next mode can not be made");
    there.assign(x.begin(), x.end());
    if (!project(t, there, false))
        return fail(fmt::format("no state near the one at t = {} satisfies the constraints of the mode `{}`", short_number(t),
                                describe()));
    return inspect(t, there);
}

double ModeSwitching::force_noise() const { return k_force_noise * largest_push_; }

bool ModeSwitching::pulls(std::size_t i) const { return !off_[contacts_[i]] && push_[i] < -force_noise(); }

bool ModeSwitching::is_pressed_shut(std::size_t i) const {
    return off_[contacts_[i]] && rests(i) && gap_acceleration_[i] < -k_force_noise * gap_terms_[i];
}

bool ModeSwitching::holds_too_much(std::size_t i) const {
    const Friction& f = m_.frictions[i];
    return !off_[f.constraint] && !off_[f.stick] && length(friction_[i]) > static_bound_[i] * (1 + k_force_noise) + force_noise();
}

bool ModeSwitching::slides_backward(std::size_t i) const {
    const Friction& f = m_.frictions[i];
    return !off_[f.constraint] && off_[f.stick] && length(slip_[i]) <= speed_noise_ &&
           dot(slip_acceleration_[i], direction_[i]) < -k_force_noise * slip_terms_[i];
}

// It would stick by a row that follows from the others. The mode in which it does has been looked at before it gave way.
bool ModeSwitching::is_held_by_others(std::size_t i) const {
    std::vector<bool> sticking = off_;
    sticking[m_.frictions[i].stick] = false;
    const auto there = modes_.find(sticking);
    return length(slip_[i]) <= speed_noise_ && there != modes_.end() && there->second && there->second->rank == now_->rank;
}

bool ModeSwitching::has_negative_bound(std::size_t i) const {
    return !off_[m_.frictions[i].constraint] && std::min(bound_[i], static_bound_[i]) < -force_noise();
}

bool ModeSwitching::settle(double t, std::span<double> x) {
    std::set<std::pair<std::vector<bool>, std::vector<std::array<double, 3>>>> seen;
    const std::size_t contacts = contacts_.size(), frictions = m_.frictions.size();
    std::string why =
        fmt::format("no choice of open and closed contacts, of sticking and sliding is consistent at t = {}", short_number(t));
    for (bool changed = true; changed && seen.emplace(off_, direction_).second;) {
        std::vector<double> there;
        if (!enter(t, x, there)) return false;
        changed = false;
        for (std::size_t i = 0; i < contacts && !changed; ++i) {
            changed = pulls(i) || is_pressed_shut(i);
            if (pulls(i))
                open(i);
            else if (changed)
                close(i);
        }
        for (std::size_t i = 0; i < frictions && !changed; ++i) {
            changed = holds_too_much(i);
            if (changed) slide(i, along(friction_[i], -1));
        }
        if (changed) continue;
        std::size_t i = 0;
        while (i < frictions && !has_negative_bound(i)) ++i;
        if (i < frictions)
            return fail(
                fmt::format("the bound of friction of {} is {} at t = {}, and must not be negative; write abs or mag of a "
                            "force that may have either sign",
                            m_.constraints[m_.frictions[i].constraint].name, short_number(std::min(bound_[i], static_bound_[i])),
                            short_number(t)));
        i = 0;
        while (i < frictions && !slides_backward(i)) ++i;
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
        if (rests(i)) contacts.push_back(i);
    const auto loose = [&](std::size_t constraint) {
        return std::any_of(contacts.begin(), contacts.end(), [&](std::size_t i) { return contacts_[i] == constraint; });
    };
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (length(slip_[i]) <= speed_noise_ && (!off_[m_.frictions[i].constraint] || loose(m_.frictions[i].constraint)))
            frictions.push_back(i);
    if (std::pow(2, contacts.size()) * std::pow(3, frictions.size()) > k_most_choices) return false;
    // held by all, friction shows the direction it would give way in
    for (const std::size_t i : contacts) off_[contacts_[i]] = false;
    for (const std::size_t i : frictions) off_[m_.frictions[i].stick] = false;
    std::vector<std::array<double, 3>> ways = direction_;
    if (enter(t, x, there))
        for (const std::size_t i : frictions) ways[i] = along(friction_[i], -1);
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
        bool good = true;
        for (std::size_t i = 0; i < contacts_.size() && good; ++i) good = !pulls(i) && !is_pressed_shut(i);
        for (std::size_t i = 0; i < m_.frictions.size() && good; ++i)
            good = !holds_too_much(i) && !slides_backward(i) && !has_negative_bound(i);
        if (!good) continue;
        std::copy(there.begin(), there.end(), x.begin());
        return true;
    } while (next());
    off_ = before;
    direction_ = directions;
    return false;
}

// With v the rates of the gaps of all contacts that touch, before and after, and p the impulses: 0 <= p, 0 <= v+ + e v-, and of
// each contact one of the two vanishes. Contacts are opened and closed by the first one that breaks this (Murty's rule), which
// ends at the one solution there is where the rows are independent: A M^-1 A' is then positive definite.
bool ModeSwitching::impact(double t, std::span<double> x, const std::vector<std::size_t>& closing) {
    // sticking is a matter of the time after
    for (const std::size_t i : closing) off_[contacts_[i]] = false;
    for (const Friction& f : m_.frictions) off_[f.stick] = true;
    std::vector<bool> touching(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) touching[i] = !off_[contacts_[i]] || touches(i);
    std::vector<double> after(x.begin(), x.end());
    std::set<std::vector<bool>> seen;
    for (bool changed = true; changed;) {
        if (!seen.insert(off_).second) return fail(fmt::format("the impact at t = {} has no solution", short_number(t)));
        now_ = mode(x);
        if (now_ == nullptr) return fail("the equations of the impact can not be made");
        MotionProgram& program = *now_->impacted;
        if (program.run(t, x).status != EvalStatus::ok)
            return fail(fmt::format("the impact at t = {} can not be solved", short_number(t)));
        const std::span<const double> jump = program.output("jump"), impulse = program.output("impulse"),
                                      change = program.output("change"), restitution = program.output("restitution"),
                                      rate = program.output("rate");
        double largest = 0;
        for (const double p : impulse) largest = std::max(largest, std::abs(p));
        changed = false;
        for (std::size_t i = 0; i < contacts_.size() && !changed; ++i) {
            const bool closed = !off_[contacts_[i]];
            if (closed && impulse[i] < -k_force_noise * largest)
                open(i);
            else if (!closed && touching[i] && rate[i] + change[i] + restitution[i] * rate[i] < -speed_noise_)
                off_[contacts_[i]] = false;
            else
                continue;
            changed = true;
        }
        for (std::size_t k = 0; k < jump.size(); ++k) after[m_.coordinates.size() + k] = x[m_.coordinates.size() + k] + jump[k];
    }
    // what flies off, and what bounces too low to be told from rest
    for (std::size_t i = 0; i < contacts_.size(); ++i)
        if (touching[i]) off_[contacts_[i]] = true;
    now_ = mode(after);
    if (now_ == nullptr || !inspect(t, after)) return false;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (!touching[i]) continue;
        const double v = gap_rate_[i], a = gap_acceleration_[i];
        off_[contacts_[i]] = !(v <= speed_noise_ || (a < 0 && v * v / (-2 * a) <= atol_));
    }
    std::copy(after.begin(), after.end(), x.begin());
    for (std::size_t i = 0; i < m_.constraints.size(); ++i)
        if (!off_[i] && !m_.constraints[i].stick_of) begin_friction(i);
    return true;
}

bool ModeSwitching::apply(const Event& event, std::size_t index, double t, std::span<double> x) {
    if (!event.sets.empty()) {
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
    }
    for (const std::size_t c : event.drops) {
        off_[c] = true;
        for (const Friction& f : m_.frictions)
            if (f.constraint == c) off_[f.stick] = true;
    }
    if (event.enforces.empty()) return true;
    const std::vector<double> before(x.begin(), x.end());
    for (const std::size_t c : event.enforces) off_[c] = false;
    now_ = mode(x);
    if (now_ == nullptr) return fail("the equations of the next mode can not be made");
    // a constraint on positions must hold where it is enforced: no force moves a point at once
    const Motion& motion = now_->lowered.motion;
    Projector position(motion, motion.position, Projector::Part::coordinates);
    if (motion.position_rows > 0 && position.measure(t, x).scaled > std::max(1e3 * atol_, 1e-6))
        return fail(fmt::format("event {} at t = {} enforces a constraint on positions that does not hold there", event.name,
                                short_number(t)));
    if (!project(t, x, false))
        return fail(fmt::format("no state near the one at t = {} satisfies what event {} enforces", short_number(t), event.name));
    if (!inspect(t, x)) return false;
    for (const std::size_t c : event.enforces) begin_friction(c);
    return true;
}

void ModeSwitching::record(double t, std::string what, std::span<const double> x) {
    events_.push_back({t, std::move(what), {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(states())}});
}

double ModeSwitching::energy(double t, std::span<const double> x) {
    if (!energy_) {
        const NodeId sum = g_.add(whole_.kinetic_energy, whole_.potential_energy);
        energy_program_ = lower_program(g_, {now_->lowered.inputs, {}, {{"energy", {sum}}}});
        energy_.emplace(motion(), energy_program_);
    }
    (void)energy_->run(t, x);
    return energy_->output("energy").front();
}

Switching::Verdict ModeSwitching::passed(double t, std::span<double> x, std::span<const std::size_t> guards) {
    using What = GuardMeaning::What;
    std::vector<GuardMeaning> happened;
    for (const std::size_t g : guards) happened.push_back(now_->guards[g]);
    const std::vector<bool> before = off_;
    const std::vector<double> x_before(x.begin(), x.end());
    if (!inspect(t, x)) return Verdict::failed;
    bool changed = false, stop = false;
    std::vector<std::size_t> closing, events;
    std::vector<std::string> what;
    for (const GuardMeaning& meaning : happened) {
        switch (meaning.what) {
            case What::closes: closing.push_back(meaning.index); break;
            case What::opens:
                open(meaning.index);
                changed = true;
                break;
            case What::stops: {
                const std::size_t i = meaning.index;
                changed = true;
                // a slip that turns by a right angle within a step passes, too, without coming to rest
                if (length(slip_[i]) > 1e3 * speed_noise_)
                    direction_[i] = along(slip_[i], 1);
                else
                    off_[m_.frictions[i].stick] = false;
                break;
            }
            case What::slips:
                slide(meaning.index, along(friction_[meaning.index], -1));
                changed = true;
                break;
            case What::event: events.push_back(meaning.index); break;
        }
    }
    if (!closing.empty()) {
        changed = true;
        if (!impact(t, x, closing)) return Verdict::failed;
        for (const std::size_t i : closing) what.push_back(fmt::format("impact on {}", m_.constraints[contacts_[i]].name));
    }
    for (const std::size_t i : events) {
        const Event& event = m_.events[i];
        what.push_back(event.name);
        stop = stop || event.stop;
        if (!event.sets.empty() || !event.drops.empty() || !event.enforces.empty()) {
            changed = true;
            if (!apply(event, i, t, x)) return Verdict::failed;
        }
    }
    if (changed && !settle(t, x)) return Verdict::failed;
    if (changed && x.size() > states()) add_work(motion(), x, x.size() - states() - 1, energy(t, x) - energy(t, x_before));
    // what it came to
    for (std::size_t c = 0; c < off_.size(); ++c) {
        if (off_[c] == before[c]) continue;
        const Constraint& constraint = m_.constraints[c];
        if (constraint.unilateral)
            what.push_back(fmt::format("{} {}", constraint.name, off_[c] ? "opens" : "closes"));
        else if (constraint.stick_of && !off_[m_.frictions[*constraint.stick_of].constraint])
            what.push_back(fmt::format("{} {}", m_.constraints[m_.frictions[*constraint.stick_of].constraint].name,
                                       !off_[c]                                  ? "sticks"
                                       : is_held_by_others(*constraint.stick_of) ? "is at its bound"
                                                                                 : "slips"));
    }
    for (const GuardMeaning& meaning : happened)
        if (meaning.what == What::stops && what.empty() && off_[m_.frictions[meaning.index].stick])
            what.push_back(fmt::format("{} slips the other way", m_.constraints[m_.frictions[meaning.index].constraint].name));
    if (!what.empty()) record(t, fmt::format("{}", fmt::join(what, ", ")), x);
    if (stop) return Verdict::stop;
    return changed ? Verdict::changed : Verdict::go_on;
}

Switching::Verdict ModeSwitching::worn(double t, std::span<const double> x) {
    if (!now_->lowered.motion.reduction) return Verdict::failed;
    std::unique_ptr<Mode> fresh = make_mode(x);
    if (!fresh || !fresh->lowered.motion.reduction ||
        fresh->lowered.motion.reduction->independent == now_->lowered.motion.reduction->independent)
        return Verdict::failed;
    set_directions(*fresh);
    std::vector<std::string> names;
    for (const std::size_t i : fresh->lowered.independent_speeds) names.push_back(m_.speeds[i].name);
    auto& place = modes_[off_];
    retired_.push_back(std::move(place));  // the run still holds on to it
    place = std::move(fresh);
    now_ = place.get();
    record(t, fmt::format("independent speeds {}", fmt::join(names, ", ")), x);
    return Verdict::changed;
}

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
    const double size = now_->lowered.motion.parameters[now_->lowered.first_direction - 1];
    if (contacts_.empty() && m_.frictions.empty()) return true;
    // a start that can not be had is the run's to report
    if (!project(t, x, true) || !inspect(t, x)) return true;
    bool good = true;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const Constraint& c = m_.constraints[contacts_[i]];
        if (gap_[i] < -k_touching * size) {
            good = false;
            diagnostics_.add({Code::E0841, c.span, fmt::format("contact {} is violated at the start", c.name),
                              fmt::format("a gap of {}", short_number(gap_[i])), "a gap that is zero or positive",
                              "move the start values apart"});
        }
        if (gap_[i] <= k_touching * size && gap_rate_[i] <= speed_noise_) off_[contacts_[i]] = false;
    }
    if (!good) return false;
    for (std::size_t c = 0; c < off_.size(); ++c)
        if (!off_[c] && !m_.constraints[c].stick_of) begin_friction(c);
    if (settle(t, x)) return true;
    diagnostics_.add({Code::E0842,
                      {},
                      failure_,
                      describe(),
                      "a mode that is consistent with contacts and friction",
                      "rigid bodies with dry friction may have none: a smaller coefficient has"});
    return false;
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
