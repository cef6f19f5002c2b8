#include "pipeline/energy_audit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/integrators.hpp"
#include "base/number_format.hpp"

namespace appell {

namespace {

// states at which it is looked what the tolerances make of the energy
constexpr std::size_t k_most_states = 32;
// Steps that are granted beside those taken: setting out, at the start and behind each switch, is less sure than going on. And
// the estimates by which steps are chosen are not sure: they may err by that factor.
constexpr double k_more_steps = 100, k_error_of_estimates = 3;
// of the energy, by step
constexpr double k_round_off = 1e-15;
// Of what moved: fixed steps promise nothing, and a hundredth is what a plot shows; where tolerances are so loose that they
// explain anything, a tenth is too much all the same.
constexpr double k_by_fixed_steps = 0.01, k_most = 0.1;

}  // namespace

EnergyAudit::EnergyAudit(const RowLayout& layout, const std::vector<std::string>& works)
    : coordinates_(layout.coordinates),
      speeds_end_(layout.multipliers),
      kinetic_(layout.kinetic),
      potential_(layout.potential),
      energy_(layout.energy),
      works_(layout.works),
      speeds_begin_(layout.speeds - layout.coordinates),
      rows_(layout.multipliers - layout.coordinates),
      steps_(layout.multipliers - layout.coordinates + works.size()) {
    for (const std::string& name : works) balance_.works.push_back({name, 0});
}

void EnergyAudit::note(double t, std::span<double> row) {
    EnergyBalance& b = balance_;
    const double energy = row[energy_];
    if (!started_) {
        b.start = energy;
        potential_start_ = row[potential_];
    }
    started_ = true;
    b.end = energy;
    b.largest_change = std::max(b.largest_change, std::abs(energy - b.start));
    for (const std::size_t column : {kinetic_, potential_, energy_}) b.largest = std::max(b.largest, std::abs(row[column]));
    largest_moved_ = std::max({largest_moved_, std::abs(row[kinetic_]), std::abs(row[potential_] - potential_start_)});
    double all = 0;
    for (std::size_t k = 0; k < b.works.size(); ++k) {
        b.works[k].work = row[works_ + k];
        all += b.works[k].work;
        b.largest = std::max(b.largest, std::abs(b.works[k].work));
        largest_moved_ = std::max(largest_moved_, std::abs(b.works[k].work));
    }
    b.error = row[works_ + b.works.size()] = energy - b.start - all;
    if (energy_without_value_.empty() && !std::isfinite(energy))
        energy_without_value_ = !std::isfinite(row[kinetic_])     ? "the kinetic energy"
                                : !std::isfinite(row[potential_]) ? "the potential energy"
                                                                  : "the total energy";
    // NOTE: one that is not finite stays
    if (!(std::abs(b.error) <= b.largest_error)) b.largest_error = std::abs(b.error);
    rows_.keep(t, row.subspan(coordinates_, speeds_end_ - coordinates_));
}

EnergyAudit::Sample::Sample(std::size_t entries) : states_(k_most_states, State{0, std::vector<double>(entries)}) {}

void EnergyAudit::Sample::keep(double t, std::span<const double> x) {
    if (seen_++ % stride_ != 0) return;
    if (count_ == k_most_states) {
        for (std::size_t i = 1; 2 * i < count_; ++i) std::swap(states_[i], states_[2 * i]);
        count_ = k_most_states / 2;
        stride_ *= 2;
    }
    State& state = states_[count_++];
    state.t = t;
    std::copy_n(x.begin(), std::min(x.size(), state.x.size()), state.x.begin());
}

void EnergyAudit::step(double t, std::span<const double> x) { steps_.keep(t, x); }

// What the tolerances of the entries of a state make of its energy, and of the works of a step: forces do work on velocities that
// are not known better than that, also where all is at rest.
double EnergyAudit::slack(const State& state, std::size_t entries, const Judged& of) {
    const SimulateOptions& options = of.options;
    std::vector<double> x(state.x.begin(), state.x.begin() + static_cast<std::ptrdiff_t>(entries)), powers;
    const double here = of.energy(state.t, x);
    if (of.powers) {
        const std::span<const double> now = of.powers(state.t, x);
        powers.assign(now.begin(), now.end());
    }
    double sum = 0;
    const auto add = [&](double change) {
        if (std::isfinite(change)) sum += std::abs(change);
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double atol = options.atol_by_entry.empty() ? options.atol : options.atol_by_entry[i];
        x[i] += atol + options.rtol * std::abs(state.x[i]);
        add(of.energy(state.t, x) - here);
        if (of.powers) {
            const std::span<const double> moved = of.powers(state.t, x);
            for (std::size_t k = 0; k < powers.size(); ++k) add(of.step * (moved[k] - powers[k]));
        }
        x[i] = state.x[i];
    }
    return sum;
}

double EnergyAudit::largest_slack(const Judged& of) const {
    double largest = 0;
    for (const Sample* sample : {&rows_, &steps_})
        for (const State& state : sample->states()) largest = std::max(largest, slack(state, speeds_end_ - coordinates_, of));
    return largest;
}

// the largest energies and works at rows and at steps between them; of the potential energy what it changed
EnergyAudit::Sizes EnergyAudit::sizes(const Energy& energy) const {
    Sizes out{largest_moved_, balance_.largest};
    const std::size_t states = speeds_end_ - coordinates_;
    for (const State& state : steps_.states()) {
        std::vector<double> x(state.x.begin(), state.x.begin() + static_cast<std::ptrdiff_t>(states));
        const double all = energy(state.t, x);
        std::fill(x.begin() + static_cast<std::ptrdiff_t>(std::min(speeds_begin_, states)), x.end(), 0.0);
        const double at_rest = energy(state.t, x);
        const auto take = [](double& largest, double value) {
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        };
        for (const double moved : {all - at_rest, at_rest - potential_start_}) take(out.moved, moved);
        for (const double any : {all, at_rest}) take(out.any, any);
        for (std::size_t i = states; i < state.x.size(); ++i) take(out.moved, state.x[i]), take(out.any, state.x[i]);
    }
    return out;
}

// what made the balance no number, first of all an energy: works beside it may be finite
std::string EnergyAudit::not_finite() const {
    if (!energy_without_value_.empty()) return energy_without_value_;
    for (const EnergyBalance::Entry& entry : balance_.works)
        if (!std::isfinite(entry.work)) return fmt::format("the work of {}", entry.name);
    return "the work of some force";
}

void EnergyAudit::judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options,
                        const SimulateSummary& summary, const Energy& energy, const Powers& powers) const {
    if (!started_ || (largest_moved_ == 0 && balance_.largest_error == 0)) return;
    const double error = balance_.largest_error;
    const bool fixed = info(options.integrator).fixed_step;
    const double steps = static_cast<double>(summary.steps) + k_more_steps;
    if (std::isfinite(error) && error <= k_round_off * steps * balance_.largest) return;
    const Sizes size = sizes(energy);
    double allowed = k_round_off * steps * size.any;
    if (std::isfinite(error)) {
        if (error <= allowed) return;
        if (fixed) {
            allowed += k_by_fixed_steps * size.moved;
        } else {
            const double all_steps = k_error_of_estimates * steps * largest_slack({options, energy, {}, 0});
            // a motion smaller than the tolerances may err by as much as one step does
            const double step = std::abs(summary.t_end - summary.t_start) / std::max(static_cast<double>(summary.steps), 1.0);
            allowed += std::max(std::min(all_steps, k_most * size.moved), largest_slack({options, energy, powers, step}));
        }
        if (error <= allowed) return;
    }
    diagnostics.add(
        {Code::W0823, model.run.span,
         std::isfinite(error) ? fmt::format("the energy balance is off by {} J, {} of the largest energy or work",
                                            short_number(balance_.largest_error, 3), short_number(balance_.relative_error(), 3))
                              : fmt::format("{} is not finite: the energy balance cannot be computed", not_finite()),
         "",
         !std::isfinite(error) ? std::string("finite energies and works")
         : fixed               ? fmt::format("at most {} J", short_number(allowed, 3))
                               : fmt::format("at most {} J, from {} steps with rtol = {} and atol = {}", short_number(allowed, 3),
                                             summary.steps, short_number(options.rtol), short_number(options.atol)),
         !std::isfinite(error) ? std::string("take other units, or smaller start values and parameters")
         : fixed
             ? fmt::format("take steps shorter than {} s and compare", short_number(options.step))
             : std::string("tighten rtol and atol and compare; with `stabilize none` constraints drift, and their forces then do "
                           "work; works that change faster than the motion need `max_step`, for they are summed up with its "
                           "steps")});
}

}  // namespace appell
