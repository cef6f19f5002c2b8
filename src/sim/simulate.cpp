// See simulate.hpp. A run is a sequence of stretches, each with one motion (stretch.hpp).
#include "sim/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/number_format.hpp"
#include "sim/stretch.hpp"

namespace appell {

namespace {

// So many switches within such a part of the run lead nowhere, and nor do they at a pace that takes so many times the steps of
// the limit.
constexpr std::size_t k_chatter_window = 1000;
constexpr double k_chatter = 1e-9, k_far_beyond = 10;
// they come ever closer where so many once took this many times as long, and go on evenly where they took hardly longer
constexpr double k_closer = 1000, k_even = 2;

void check(const Motion& motion, std::span<const double> x0, const SimulateOptions& o, const RowTimes& rows) {
    const auto refuse = [](const std::string& what, double value, const std::string& rule) {
        throw Error(what + " is " + round_trip(value) + ", but must be " + rule);
    };
    if (x0.size() != motion.states())
        refuse("the number of start values", static_cast<double>(x0.size()), std::to_string(motion.states()));
    if (!std::isfinite(o.t0)) refuse("the start time", o.t0, "finite");
    if (!std::isfinite(o.t1)) refuse("the end time", o.t1, "finite");
    if (!(o.every >= 0)) refuse("the interval of rows", o.every, "zero or positive");
    for (const double t : o.at)
        if (!std::isfinite(t)) refuse("the time of a row", t, "finite");
    if (!(o.rtol >= 0) || !std::isfinite(o.rtol)) refuse("rtol", o.rtol, "zero or positive");
    if (!(o.atol > 0) || !std::isfinite(o.atol)) refuse("atol", o.atol, "positive");
    if (info(o.integrator).fixed_step && !(o.step > 0 && std::isfinite(o.step))) refuse("the fixed step", o.step, "positive");
    if (!o.atol_by_entry.empty() && o.atol_by_entry.size() != x0.size())
        refuse("the number of absolute tolerances", static_cast<double>(o.atol_by_entry.size()), std::to_string(x0.size()));
    for (const double atol : o.atol_by_entry)
        if (!(atol > 0)) refuse("an absolute tolerance", atol, "positive");
    if (!(o.first_step >= 0) || !std::isfinite(o.first_step)) refuse("the first step", o.first_step, "zero (chosen) or positive");
    if (!(o.max_step >= 0)) refuse("the largest step", o.max_step, "zero (no bound) or positive");
    if (rows.count() > static_cast<double>(o.max_rows))
        refuse("the number of rows", rows.count(), "at most " + std::to_string(o.max_rows));
}

// one motion all along
class Unswitched final : public Switching {
public:
    explicit Unswitched(const Motion& motion) : motion_(motion) {}
    [[nodiscard]] const Motion& motion() const override { return motion_; }
    [[nodiscard]] Verdict passed(double, std::span<double>, std::span<const std::size_t>, std::span<const int>) override {
        return Verdict::stop;
    }
    [[nodiscard]] Verdict worn(double, std::span<const double>) override { return Verdict::failed; }

private:
    const Motion& motion_;
};

}  // namespace

std::string_view name(EndReason reason) {
    switch (reason) {
        case EndReason::finished: return "finished";
        case EndReason::event: return "event";
        case EndReason::no_mode: return "no_mode";
        case EndReason::chatter: return "chatter";
        case EndReason::no_value: return "no_value";
        case EndReason::start_has_no_solution: return "start_has_no_solution";
        case EndReason::start_not_finite: return "start_not_finite";
        case EndReason::not_finite: return "not_finite";
        case EndReason::step_too_small: return "step_too_small";
        case EndReason::singular_mass: return "singular_mass";
        case EndReason::singular_partition: return "singular_partition";
        case EndReason::edge_of_chart: return "edge_of_chart";
        case EndReason::unreachable: return "unreachable";
        case EndReason::no_reaction: return "no_reaction";
        case EndReason::several_reactions: return "several_reactions";
        case EndReason::inconsistent_constraints: return "inconsistent_constraints";
        case EndReason::penetrated: return "penetrated";
        case EndReason::rank_loss: return "rank_loss";
        case EndReason::projection_failed: return "projection_failed";
        case EndReason::too_many_steps: return "too_many_steps";
        case EndReason::too_many_rows: return "too_many_rows";
        case EndReason::cancelled: return "cancelled";
        case EndReason::wrong_checkpoint: return "wrong_checkpoint";
    }
    return "unknown";
}

SimulateSummary simulate(Switching& switching, std::span<const double> x0, const SimulateOptions& options, const RowSink& sink,
                         const Progress& progress, const Resumable& resumable) {
    Journey journey{options, sink, progress, resumable, switching};
    check(switching.motion(), x0, options, journey.rows);
    std::vector<double> x(x0.begin(), x0.end());
    double t = options.t0, t_watched = t, longest_window = 0;
    std::size_t steps_watched = 0;
    journey.summary.t_start = journey.summary.t_end = t;
    journey.summary.through = options.through;
    for (const Settled& s : switching.settled())
        if (s.side != 0) journey.settled.push_back(s);
    for (std::size_t switches = 1;; ++switches) {
        Stretch stretch(journey, t, x);
        if (stretch.run() == Outcome::ended) break;
        t = stretch.t();
        x = stretch.x();
        if (switches % k_chatter_window == 0) {
            const double advanced = std::abs(t - t_watched), steps = static_cast<double>(journey.before.steps - steps_watched);
            const double left = std::abs(options.t1 - t);
            const bool too_long = advanced * k_far_beyond * static_cast<double>(options.max_steps) < steps * left;
            if (advanced <= k_chatter * std::abs(options.t1 - options.t0) || (too_long && advanced * k_closer < longest_window)) {
                journey.summary.reason = EndReason::chatter;
                journey.summary.chatter_from = t_watched;
                break;
            }
            if (too_long && advanced * k_even > longest_window) {
                journey.summary.reason = EndReason::too_many_steps;
                journey.summary.steps_needed = static_cast<double>(journey.before.steps) + steps * (left / advanced);
                break;
            }
            longest_window = std::max(longest_window, advanced);
            t_watched = t;
            steps_watched = journey.before.steps;
        }
    }
    SimulateSummary& summary = journey.summary;
    summary.steps = journey.before.steps;
    summary.rejected = journey.before.rejected;
    summary.evaluations = journey.before.evaluations;
    summary.jacobians = journey.before.jacobians;
    return std::move(summary);
}

SimulateSummary simulate(const Motion& motion, std::span<const double> x0, const SimulateOptions& options, const RowSink& sink,
                         const Progress& progress, const Resumable& resumable) {
    Unswitched unswitched(motion);
    return simulate(unswitched, x0, options, sink, progress, resumable);
}

}  // namespace appell
