// Impacts: what the velocities are after contacts closed (mode_switching.hpp).
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "pipeline/impact_problem.hpp"
#include "pipeline/mode_switching.hpp"

namespace appell {

// With v the rates of the gaps of all contacts that touch, before and after, and p the impulses: 0 <= p, 0 <= v+ + e v-, and of
// each contact one of the two vanishes.
bool ModeSwitching::impact(double t, std::span<double> x, const std::vector<std::size_t>& closing) {
    // sticking is a matter of the time after
    for (const std::size_t i : closing) off_[contacts_[i]] = false;
    for (const Friction& f : m_.frictions) off_[f.stick] = true;
    std::vector<bool> touching(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) touching[i] = !off_[contacts_[i]] || at_.touches(i);
    std::vector<double> after(x.begin(), x.end());
    if (!exchange_contacts(t, x, touching, after) && !change_least(t, x, touching, after))
        return fail(fmt::format("the impact at t = {} cannot be solved", short_number(t)));
    judge_impact(t, x, touching, after);
    // what flies off, and what bounces too low to be told from rest
    for (std::size_t i = 0; i < contacts_.size(); ++i)
        if (touching[i]) off_[contacts_[i]] = true;
    if (!change_to_mode(after)) return fail("the equations after the impact cannot be made");
    if (!inspect(t, after)) return false;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (!touching[i]) continue;
        const double v = at_.gap_rate[i], a = at_.gap_acceleration[i], lowest = std::max(system_.touching, 2 * at_.gap_error[i]);
        // One that nothing presses leaves, however slowly: closed, it would open at once. A bounce as low as what touches, or as
        // what the integrator's first steps may err by, is none: it cannot be followed.
        const bool leaves = v >= 0 && a > k_force_noise * at_.gap_terms[i];
        off_[contacts_[i]] = leaves || !(v <= system_.rest_speed || (a < 0 && v * v / (-2 * a) <= lowest));
    }
    std::copy(after.begin(), after.end(), x.begin());
    for (std::size_t i = 0; i < m_.constraints.size(); ++i)
        if (!off_[i] && !m_.constraints[i].stick_of) begin_friction(i);
    return true;
}

// Contacts are opened and closed by the first one that breaks the conditions (Murty's rule), which ends at the one solution there
// is where the rows are independent: A M^-1 A' is then positive definite.
bool ModeSwitching::exchange_contacts(double t, std::span<const double> x, const std::vector<bool>& touching,
                                      std::vector<double>& after) {
    std::set<std::vector<bool>> seen;
    for (bool changed = true; changed;) {
        if (!seen.insert(off_).second || !change_to_mode(x)) return false;
        MotionProgram& program = *now_->impacted;
        if (program.run(t, x).status != EvalStatus::ok) return false;
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
            else if (!closed && touching[i] && rate[i] + change[i] + restitution[i] * rate[i] < -system_.rest_speed)
                off_[contacts_[i]] = false;
            else
                continue;
            changed = true;
        }
        for (std::size_t k = 0; k < jump.size(); ++k) after[m_.coordinates.size() + k] = x[m_.coordinates.size() + k] + jump[k];
    }
    return true;
}

// Contacts that share an impact: whether it matters that all are taken at once.
void ModeSwitching::judge_impact(double t, std::span<const double> x, const std::vector<bool>& touching,
                                 std::span<const double> after) {
    if (impact_said_ || std::ranges::count(touching, true) < 2) return;
    auto& problem = impacts_[now_];
    if (!problem) problem = std::make_unique<ImpactProblem>(system_, *now_, options_.conditions, diagnostics_);
    const std::size_t n = m_.coordinates.size();
    std::vector<double> change;
    for (std::size_t k = n; k < states(); ++k) change.push_back(after[k] - x[k]);
    const auto other = problem->another_change(t, x, touching, change);
    if (!other) return;
    impact_said_ = true;
    std::vector<std::string> names;
    std::size_t most = 0;
    for (std::size_t i = 0; i < touching.size(); ++i)
        if (touching[i]) names.push_back(m_.constraints[contacts_[i]].name);
    for (std::size_t k = 0; k < change.size(); ++k)
        if (std::abs((*other)[k] - change[k]) > std::abs((*other)[most] - change[most])) most = k;
    double largest = 0;
    for (std::size_t k = n; k < states(); ++k) largest = std::max({largest, std::abs(x[k]), std::abs(after[k])});
    const auto shown = [&](double speed) { return short_number(std::abs(speed) > 1e-12 * largest ? speed : 0); };
    diagnostics_.add(
        {Code::W0868,
         m_.constraints[contacts_[static_cast<std::size_t>(std::ranges::find(touching, true) - touching.begin())]].span,
         fmt::format("the impact at t = {} on {} depends on the order in which they are hit", short_number(t),
                     fmt::join(names, ", ")),
         fmt::format("{} = {} with all at once, {} by one after the other", m_.speeds[most].name, shown(after[n + most]),
                     shown(x[n + most] + (*other)[most])),
         "contacts that close one after the other, or velocities that no order changes",
         "all at once is taken; small gaps would say which is hit first"});
}

// where rows depend on each other
bool ModeSwitching::change_least(double t, std::span<const double> x, const std::vector<bool>& touching,
                                 std::vector<double>& after) {
    for (std::size_t i = 0; i < contacts_.size(); ++i)
        if (touching[i]) open(i);
    if (!change_to_mode(x)) return false;
    const auto change = ImpactProblem(system_, *now_, options_.conditions, diagnostics_).solve(t, x, touching);
    if (!change) return false;
    const std::size_t n = m_.coordinates.size();
    for (std::size_t k = 0; k < change->size(); ++k) after[n + k] = x[n + k] + (*change)[k];
    return true;
}

}  // namespace appell
