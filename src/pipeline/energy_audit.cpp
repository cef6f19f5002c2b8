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
      works_(layout.works) {
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
    // NOTE: one that is not finite stays
    if (!(std::abs(b.error) <= b.largest_error)) b.largest_error = std::abs(b.error);
    keep(t, row);
}

// every first, second, fourth, ... row, so that there are never many
void EnergyAudit::keep(double t, std::span<const double> row) {
    if (rows_++ % stride_ != 0) return;
    if (kept_.size() == k_most_states) {
        for (std::size_t i = 1; 2 * i < kept_.size(); ++i) std::swap(kept_[i], kept_[2 * i]);
        kept_.resize(k_most_states / 2);
        stride_ *= 2;
    }
    kept_.push_back(
        {t, {row.begin() + static_cast<std::ptrdiff_t>(coordinates_), row.begin() + static_cast<std::ptrdiff_t>(speeds_end_)}});
}

// what the tolerances of the entries of a state make of its energy
double EnergyAudit::largest_slack(const SimulateOptions& options, const Energy& energy) const {
    double largest = 0;
    for (const State& state : kept_) {
        std::vector<double> x = state.x;
        const double here = energy(state.t, x);
        double slack = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double atol = options.atol_by_entry.empty() ? options.atol : options.atol_by_entry[i];
            x[i] += atol + options.rtol * std::abs(state.x[i]);
            if (const double change = std::abs(energy(state.t, x) - here); std::isfinite(change)) slack += change;
            x[i] = state.x[i];
        }
        largest = std::max(largest, slack);
    }
    return largest;
}

void EnergyAudit::judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options,
                        const SimulateSummary& summary, const Energy& energy) const {
    if (!started_ || (largest_moved_ == 0 && balance_.largest_error == 0)) return;
    const double error = balance_.largest_error;
    const bool fixed = info(options.integrator).fixed_step;
    const double steps = static_cast<double>(summary.steps) + k_more_steps;
    double allowed = k_round_off * steps * balance_.largest;
    if (std::isfinite(error)) {
        if (error <= allowed) return;
        allowed += fixed ? k_by_fixed_steps * largest_moved_
                         : std::min(k_error_of_estimates * steps * largest_slack(options, energy), k_most * largest_moved_);
        if (error <= allowed) return;
    }
    diagnostics.add(
        {Code::W0823, model.run.span,
         std::isfinite(error)
             ? fmt::format("the energy balance is off by {} J, {} of the largest energy or work",
                           short_number(balance_.largest_error, 3), short_number(balance_.relative_error(), 3))
             : std::string("the work of some force is not finite, so that the energy balance can not be drawn up"),
         "",
         fixed ? fmt::format("at most {} J", short_number(allowed, 3))
               : fmt::format("at most {} J, from {} steps with rtol = {} and atol = {}", short_number(allowed, 3), summary.steps,
                             short_number(options.rtol), short_number(options.atol)),
         fixed
             ? fmt::format("take steps shorter than {} s and compare", short_number(options.step))
             : std::string("tighten rtol and atol and compare; with `stabilize none` constraints drift, and their forces then do "
                           "work; works that change faster than the motion need `max_step`, for they are summed up with its "
                           "steps")});
}

}  // namespace appell
