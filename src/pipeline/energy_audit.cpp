#include "pipeline/energy_audit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/integrators.hpp"
#include "base/number_format.hpp"

namespace appell {

EnergyAudit::EnergyAudit(const RowLayout& layout, const std::vector<std::string>& works)
    : kinetic_(layout.kinetic),
      potential_(layout.potential),
      energy_(layout.energy),
      works_(layout.works),
      speeds_(layout.speeds),
      speeds_end_(layout.multipliers) {
    for (const std::string& name : works) balance_.works.push_back({name, 0});
}

void EnergyAudit::note(std::span<double> row) {
    EnergyBalance& b = balance_;
    const double energy = row[energy_];
    if (!started_) b.start = energy;
    started_ = true;
    b.end = energy;
    b.largest_change = std::max(b.largest_change, std::abs(energy - b.start));
    for (const std::size_t column : {kinetic_, potential_, energy_}) b.largest = std::max(b.largest, std::abs(row[column]));
    double all = 0;
    for (std::size_t k = 0; k < b.works.size(); ++k) {
        b.works[k].work = row[works_ + k];
        all += b.works[k].work;
        b.largest = std::max(b.largest, std::abs(b.works[k].work));
    }
    b.error = row[works_ + b.works.size()] = energy - b.start - all;
    // NOTE: one that is not finite stays
    if (!(std::abs(b.error) <= b.largest_error)) b.largest_error = std::abs(b.error);
    for (std::size_t i = speeds_; i < speeds_end_; ++i) largest_speed_ = std::max(largest_speed_, std::abs(row[i]));
}

void EnergyAudit::judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options,
                        const SimulateSummary& summary) const {
    if (!started_ || largest_speed_ == 0) return;
    // Each step may err by the tolerances, and errors grow along the motion: a thousand times the tolerance is nothing unusual.
    // Fixed steps promise nothing; a hundredth is what a plot shows.
    const bool fixed = info(options.integrator).fixed_step;
    const double tolerance = options.rtol + options.atol / largest_speed_;
    const double allowed = fixed ? 0.01 : std::max(1000.0, static_cast<double>(summary.steps)) * tolerance;
    const double error = balance_.relative_error();
    if (error <= allowed) return;
    diagnostics.add(
        {Code::W0823, model.run.span,
         std::isfinite(error)
             ? fmt::format("the energy balance is off by {} J, {} of the largest energy or work",
                           short_number(balance_.largest_error, 3), short_number(error, 3))
             : std::string("the work of some force is not finite, so that the energy balance can not be drawn up"),
         "",
         fixed ? fmt::format("at most {} of it", short_number(allowed))
               : fmt::format("at most {} of it, from {} steps with rtol = {} and atol = {}", short_number(allowed, 3),
                             summary.steps, short_number(options.rtol), short_number(options.atol)),
         fixed
             ? fmt::format("take steps shorter than {} s and compare", short_number(options.step))
             : std::string("tighten rtol and atol and compare; with `stabilize none` constraints drift, and their forces then do "
                           "work; works that change faster than the motion need `max_step`, for they are summed up with its "
                           "steps")});
}

}  // namespace appell
