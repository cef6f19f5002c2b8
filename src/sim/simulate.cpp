// See simulate.hpp. A run is a sequence of stretches, each with one motion. Order of one turn of a stretch's loop: step, project
// its end, watch the rows of A along it, look for guards that pass through zero, write the rows inside it (a failure of any of
// these takes the step back and shortens it), put the projected state in place, look for loss of rank, write the row at the end.
#include "sim/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/number_format.hpp"
#include "sim/guard_watch.hpp"
#include "sim/make_integrator.hpp"
#include "sim/motion_jacobian.hpp"
#include "sim/motion_program.hpp"
#include "sim/motion_rate.hpp"
#include "sim/project.hpp"
#include "sim/reduction.hpp"
#include "sim/row_times.hpp"

namespace appell {

namespace {

// below this, rows that were independent count as dependent: multipliers would have lost ten digits
constexpr double k_least_pivot = 1e-10;
// without projection redundant rows drift apart; only a gross contradiction stops the run then
constexpr double k_gross_inconsistency = 1e-3;
// scaled residuals of rows that follow from the others are round-off, times what the others leave of it
constexpr double k_rows_follow = 1e-9;
// steps after which the pace of the run is looked at
constexpr std::size_t k_stall_window = 20'000;
// steps that are on average this short against the longest one, half of the trials rejected, follow a jump and not a motion
constexpr double k_crawl = 1e-5;
// a partition whose share in the rows has come down to this is replaced while it still serves, if there is a better one
constexpr double k_aging = 0.3;
// so many switches within such a part of the run lead nowhere
constexpr std::size_t k_chatter_window = 1000;
constexpr double k_chatter = 1e-9;
// changes of start values below this are round-off, not news
constexpr double k_moved = 1e-12;

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
    if (!(o.max_step >= 0)) refuse("the largest step", o.max_step, "zero (no bound) or positive");
    if (rows.count() > static_cast<double>(o.max_rows))
        refuse("the number of rows", rows.count(), "at most " + std::to_string(o.max_rows));
}

// all of x, or its independent entries where the motion says which
std::unique_ptr<Integrator> make_integrator(const Motion& motion, FirstOrderSystem& rate, const SimulateOptions& options) {
    const IntegratorOptions of_steps{options.rtol, options.atol, options.max_step,
                                     info(options.integrator).fixed_step ? options.step : 0, options.atol_by_entry};
    if (motion.reduction) return std::make_unique<ReducedIntegrator>(motion, rate, options.integrator, of_steps);
    return make_integrator(options.integrator, rate, of_steps);
}

// what goes through all stretches of a run
struct Journey {
    const SimulateOptions& options;
    const RowSink& sink;
    const Progress& progress;
    const Resumable& resumable;
    Switching& switching;
    RowTimes rows{options};
    SimulateSummary summary{};
    IntegratorStatistics before{};  // of the stretches that ended
    bool begun = false;             // the first stretch has started
    bool saved = false;             // a state of the run, to be resumed from
    bool row_after_event = false;   // a row is due where the next stretch begins
};

enum class Outcome { ended, switched };

class Stretch {
public:
    Stretch(Journey& journey, double t, std::span<const double> x)
        : journey_(journey),
          motion_(journey.switching.motion()),
          options_(journey.options),
          sink_(journey.sink),
          progress_(journey.progress),
          rows_(journey.rows),
          t_begin_(t),
          rate_(motion_),
          owned_integrator_(make_integrator(motion_, rate_, options_)),
          integrator_(*owned_integrator_),
          project_(options_.project && !motion_.reduction),
          observe_(motion_, motion_.observe),
          follow_(motion_, motion_.follow),
          position_(motion_, motion_.position, Projector::Part::coordinates),
          velocity_(motion_, motion_.velocity, Projector::Part::speeds),
          watch_(motion_, velocity_),
          guards_(motion_),
          state_(x.begin(), x.end()),
          summary_(journey.summary) {
        state_.resize(motion_.carried());
        accepted_ = row_state_ = before_event_ = state_;
        row_ = motion_.observe.output("row");
        row_values_.resize(row_.end - row_.begin);
    }

    Outcome run() {
        switched_ = false;
        const bool first = !std::exchange(journey_.begun, true);
        if (first ? start(state_) && restore() : start_again(state_)) loop();
        const bool stopped = summary_.reason == EndReason::cancelled || summary_.reason == EndReason::too_many_steps;
        if (stopped && !integrator_.at_end() && summary_.rows > 0) save();
        const IntegratorStatistics& s = integrator_.statistics();
        journey_.before.steps += s.steps;
        journey_.before.rejected += s.rejected;
        journey_.before.evaluations += s.evaluations;
        journey_.before.jacobians += s.jacobians;
        if (s.stiff_steps > 0 && summary_.stiff_steps == 0) summary_.stiff_from = s.stiff_from;
        summary_.stiff_steps += s.stiff_steps;
        return switched_ ? Outcome::switched : Outcome::ended;
    }

    // where it ended
    [[nodiscard]] double t() const { return t_switch_; }
    [[nodiscard]] const std::vector<double>& x() const { return state_; }

private:
    // what is remembered from one turn of the loop to the next; all else is found again by start()
    [[nodiscard]] bool checkpoint(Checkpoint& c) {
        c("state", state_);
        c("accepted", accepted_);
        c("stall.steps", stall_steps_);
        c("stall.rejected", stall_rejected_);
        c("stall.t", stall_t_);
        c("stall.longest_step", longest_step_);
        c("share_asked", asked_share_);
        c("damped_step", damped_step_);
        c("summary.t_end", summary_.t_end);
        c("summary.x_end", summary_.x_end);
        c("summary.rows", summary_.rows);
        c("summary.projections", summary_.projections);
        c("summary.position_residual", summary_.position_residual);
        c("summary.position_scaled", summary_.position_scaled);
        c("summary.velocity_residual", summary_.velocity_residual);
        c("summary.velocity_scaled", summary_.velocity_scaled);
        c("summary.smallest_pivot", summary_.smallest_pivot);
        c("summary.smallest_pivot_at", summary_.smallest_pivot_at);
        rows_.checkpoint(c);
        watch_.checkpoint(c);
        return integrator_.checkpoint(c);
    }
    bool restore() {
        if (!journey_.resumable.from) return true;
        Checkpoint c = *journey_.resumable.from;
        return (checkpoint(c) && c.fits()) || stop(EndReason::wrong_checkpoint);
    }
    // NOTE: what a run has switched to is no part of a checkpoint, and some integrators can not list what they remember: such a
    // run is resumed from before, at worst from its start, which is an empty checkpoint
    void save() {
        if (!journey_.resumable.save) return;
        Checkpoint c;
        const bool whole = t_begin_ == options_.t0 && motion_.guards.empty() && checkpoint(c);
        if (!whole && std::exchange(journey_.saved, true)) return;
        journey_.saved = true;
        journey_.resumable.save(whole ? c : Checkpoint{});
    }

    bool stop(EndReason reason) {
        summary_.reason = reason;
        return false;
    }

    // start values onto the constraints, the first rate, the first row
    bool start(std::vector<double>& x) {
        const std::vector<double> given = x;
        const bool projected = project_start(x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!(std::abs(x[i] - given[i]) > k_moved * std::max(1.0, std::abs(given[i])))) continue;
            const bool is_speed = i >= motion_.coordinates;
            summary_.moved.push_back({is_speed ? i - motion_.coordinates : i, is_speed, given[i], x[i]});
        }
        summary_.x_start.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(motion_.states()));
        summary_.x_end = summary_.x_start;
        summary_.t_end = t_begin_;
        if (!projected) return false;
        // rows that contradict the values held give way one for another: a held value that moved means there is no solution
        for (const std::size_t i : motion_.held)
            if (!(std::abs(x[i] - given[i]) <= k_moved * std::max(1.0, std::abs(given[i]))))
                return stop(EndReason::start_has_no_solution);
        if (!set_out(x)) return false;
        summary_.rank = std::max(velocity_rank_, rate_rank_);
        if (!journey_.resumable.from) write_row(t_begin_, x);
        return true;
    }

    // The state after a switch is on the constraints to the round-off of what made it.
    bool start_again(std::vector<double>& x) {
        if (position_.project(t_begin_, x, k_project_start).status != ProjectStatus::converged ||
            velocity_.project(t_begin_, x, k_project_start).status != ProjectStatus::converged)
            return stop(EndReason::projection_failed);
        if (!set_out(x)) return false;
        if (std::exchange(journey_.row_after_event, false)) write_row(t_begin_, x);
        return true;
    }

    // the first rate of the stretch, and the measures that its later states are compared with
    bool set_out(std::vector<double>& x) {
        const double t0 = t_begin_;
        velocity_rank_ = velocity_.measure(t0, x).evaluation.rank;
        if (summary_.rank == 0) summary_.rank = velocity_rank_;
        if (const RowFinding found = watch_.start(t0, x); found.loss != RowLoss::none) return lose(found);
        if (integrator_.start(t0, x, options_.t1) != StepStatus::ok)
            return stop(rate_failure(integrator_.rate_status(), EndReason::start_not_finite));
        // NOTE: the first step is sought with evaluations elsewhere; the report must be that of the start
        if (const RateStatus status = rate_.rate(t0, x, row_state_); status != RateStatus::ok)
            return stop(rate_failure(status, EndReason::start_not_finite));
        std::copy(integrator_.x().begin(), integrator_.x().end(), x.begin());
        rate_rank_ = rate_.report().rank;
        const bool news = !motion_.repeats_rows;
        summary_.redundant |= news && rate_.report().redundant;
        note_pivot(t0, rate_.report().smallest_pivot);
        if (rate_.report().status == EvalStatus::inconsistent_rows) return contradict(rate_.report());
        const ProjectReport velocity = velocity_.measure(t0, x);
        summary_.redundant |= news && velocity.evaluation.redundant;
        note_pivot(t0, velocity.evaluation.smallest_pivot);
        watch_pivots_ = std::min(rate_.report().smallest_pivot, velocity.evaluation.smallest_pivot) > 10 * k_least_pivot;
        if (rate_.report().redundant) rate_.limit_rank(rate_rank_);
        if (velocity.evaluation.redundant) velocity_.limit_rank(velocity_rank_);
        if (const EvalReport position = position_.measure(t0, x).evaluation; position.redundant)
            position_.limit_rank(position.rank);
        accepted_ = x;
        remember(t0, x);
        guards_.start(t0, x);
        return true;
    }

    bool project_start(std::vector<double>& x) {
        for (const double value : x)
            if (!std::isfinite(value)) return stop(EndReason::start_not_finite);
        // start values are brought onto the constraints whatever is done about drift later
        Projector position(motion_, motion_.for_start_position(), Projector::Part::coordinates);
        Projector velocity(motion_, motion_.for_start_velocity(), Projector::Part::speeds);
        for (Projector* projector : {&position, &velocity}) {
            const ProjectReport report = projector->project(t_begin_, x, k_project_start);
            summary_.projections += report.corrections;
            switch (report.status) {
                case ProjectStatus::converged: break;
                case ProjectStatus::not_finite: return stop(EndReason::start_not_finite);
                case ProjectStatus::singular:
                    summary_.singular_column = report.evaluation.singular_column;
                    summary_.unbound = true;
                    return stop(EndReason::singular_mass);
                case ProjectStatus::inconsistent:
                    summary_.contradiction = has_gradient(projector->program(), report.evaluation.inconsistent_row);
                    [[fallthrough]];
                case ProjectStatus::no_solution: return stop(EndReason::start_has_no_solution);
            }
        }
        return true;
    }

    // a row that is left over because its gradient vanishes contradicts no other
    [[nodiscard]] bool has_gradient(const MotionProgram& program, std::size_t row) const {
        const std::span<const double> rows = program.rows();
        const auto length = [&](std::size_t i) {
            double square = 0;
            for (const double entry : rows.subspan(i * motion_.speeds, motion_.speeds)) square += entry * entry;
            return std::sqrt(square);
        };
        double longest = 0;
        for (std::size_t i = 0; (i + 1) * motion_.speeds <= rows.size(); ++i) longest = std::max(longest, length(i));
        return longest > 0 && length(row) > 1e-12 * longest;
    }

    EndReason rate_failure(RateStatus status, EndReason not_finite) {
        if (status == RateStatus::partition) return EndReason::singular_partition;
        return status == RateStatus::singular ? singular() : not_finite;
    }

    EndReason singular() {
        const EvalReport& report = rate_.report();
        summary_.singular_column = report.singular_column;
        summary_.row = report.row;
        switch (report.status) {
            case EvalStatus::singular_partition: return EndReason::singular_partition;
            case EvalStatus::unreachable: return EndReason::unreachable;
            case EvalStatus::no_reaction: return EndReason::no_reaction;
            case EvalStatus::several_reactions: return EndReason::several_reactions;
            default: return EndReason::singular_mass;
        }
    }

    bool lose(RowLoss loss, std::size_t constraint) {
        summary_.loss = loss;
        summary_.constraint = constraint;
        return stop(EndReason::rank_loss);
    }
    bool lose(const RowFinding& found) { return lose(found.loss, constraint_of(motion_.velocity_constraints, found.row)); }

    static std::size_t constraint_of(const std::vector<std::size_t>& constraints, std::size_t row) {
        return constraints.empty() ? row : constraints[row];
    }

    // no step leads on: because of the constraints?
    bool collapse(EndReason otherwise) {
        const RowFinding found = watch_.near(integrator_.t(), accepted_);
        return found.loss != RowLoss::none ? lose(found) : stop(otherwise);
    }

    bool contradict(const EvalReport& report) {
        summary_.constraint = constraint_of(motion_.rate_constraints, report.inconsistent_row);
        return stop(EndReason::inconsistent_constraints);
    }

    // The last step, or a row inside it, can not be projected or completed: it may have been too bold for Newton's iteration, so
    // that a shorter one is tried. True when there is one; when not, the run ends, and what the rows of A look like along the
    // step says why.
    bool try_shorter() {
        const EvalReport at = velocity_.measure(integrator_.t(), integrator_.x()).evaluation;
        const RowFinding found = watch_.look(integrator_);
        guards_.take_back();
        if (integrator_.retreat()) return true;
        if (found.loss != RowLoss::none) return lose(found);
        if (at.rank < velocity_rank_) return lose({RowLoss::dependent, at.weakest_row});
        if (const RowFinding near = watch_.near(integrator_.t(), accepted_, true); near.loss != RowLoss::none) return lose(near);
        return stop(motion_.reduction ? EndReason::singular_partition : EndReason::projection_failed);
    }

    bool loop() {
        while (!integrator_.at_end()) {
            if (progress_ && !progress_(integrator_.t())) return stop(EndReason::cancelled);
            if (journey_.before.steps + integrator_.statistics().steps >= options_.max_steps)
                return stop(EndReason::too_many_steps);
            if (stalled()) return collapse(EndReason::step_too_small);
            switch (integrator_.step()) {
                case StepStatus::ok: break;
                case StepStatus::step_too_small: return collapse(EndReason::step_too_small);
                case StepStatus::rate_failed:
                    if (integrator_.rate_status() == RateStatus::partition && repartition()) return false;
                    return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
            }
            end_report_ = rate_.report();
            const double t = integrator_.t();
            std::copy(integrator_.x().begin(), integrator_.x().end(), state_.begin());
            bool moved = false;
            if (project_ && !project(t, state_, &moved)) {
                if (try_shorter()) continue;
                return false;
            }
            if (!project_) last_velocity_ = velocity_.measure(t, state_).evaluation;
            if (const RowFinding found = watch_.look(integrator_); found.loss != RowLoss::none) {
                if (!found.certain && matters(t) && integrator_.retreat()) continue;
                return lose(found);
            }
            if (!guards_.empty() && !pass_guards(t)) return false;
            if (!rows_inside(t)) {
                if (try_shorter()) continue;
                return false;
            }
            if (project_ && integrator_.replace_state(state_, moved) != StepStatus::ok)
                return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
            if (moved) end_report_ = rate_.report();
            if (!still_sound()) return false;
            if (!damp(t)) return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
            watch_.accept(state_);
            std::copy(state_.begin(), state_.end(), accepted_.begin());
            reach(t, state_);
            remember(t, state_);
            if (!row_at_step(t)) return false;
            if (journey_.resumable.due && !integrator_.at_end() && journey_.resumable.due()) save();
            if (const double share = integrator_.dependent_share(); share < std::min(k_aging, 0.3 * asked_share_)) {
                asked_share_ = share;
                if (!integrator_.at_end() && repartition()) return false;
            }
        }
        return true;
    }

    // What happens inside the last step, in order; false when the stretch ends there.
    bool pass_guards(double t) {
        double from = integrator_.t_previous();
        while (guards_.look(integrator_, from)) {
            from = guards_.t();
            if (!rows_inside(from)) return true;  // the step is taken back, and what passed is found again
            if (!integrator_.dense(from, row_state_)) return true;
            if (project_ && !project(from, row_state_, nullptr)) return true;
            if (from == t) std::copy(state_.begin(), state_.end(), row_state_.begin());
            std::copy(row_state_.begin(), row_state_.end(), before_event_.begin());
            const Switching::Verdict verdict = journey_.switching.passed(from, row_state_, guards_.passed());
            const bool goes_on = verdict == Switching::Verdict::go_on || verdict == Switching::Verdict::changed;
            if (options_.at_events && goes_on && !row_at_event(from)) return false;
            switch (verdict) {
                case Switching::Verdict::go_on: continue;
                case Switching::Verdict::changed:
                    journey_.row_after_event = options_.at_events;
                    return hand_over(from, row_state_);
                case Switching::Verdict::stop: end_at(from); return stop(EndReason::event);
                case Switching::Verdict::failed: end_at(from); return stop(EndReason::no_mode);
            }
        }
        return true;
    }

    bool hand_over(double t, std::span<const double> x) {
        reach(t, x);
        std::copy(x.begin(), x.end(), state_.begin());
        t_switch_ = t;
        switched_ = true;
        return false;
    }

    void end_at(double t) {
        reach(t, row_state_);
        write_row(t, row_state_);
    }

    // other independent entries, from the last accepted state; false where there are none better
    bool repartition() {
        const double t = integrator_.t();
        if (t == t_begin_ || journey_.switching.worn(t, accepted_) != Switching::Verdict::changed) return false;
        hand_over(t, accepted_);
        return true;
    }

    // parameters that remember where the motion was
    void remember(double t, std::span<const double> x) {
        if (motion_.followed.empty()) return;
        if (follow_.run(t, x).status != EvalStatus::ok) return;
        const std::span<const double> values = follow_.output("follow");
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) continue;
            for (MotionProgram* program : {&observe_, &follow_}) program->set_parameter(motion_.followed[i], values[i]);
            rate_.set_parameter(motion_.followed[i], values[i]);
            guards_.set_parameter(motion_.followed[i], values[i]);
        }
    }

    // A rate that jumps where the motion is drawn to (a corner of the constraint, say) lets every step through, each shorter than
    // the last. At such a pace the run would not end within its limit of steps: call it what it is, early.
    bool stalled() {
        const IntegratorStatistics& s = integrator_.statistics();
        longest_step_ = std::max(longest_step_, std::abs(integrator_.t() - integrator_.t_previous()));
        if (s.steps < stall_steps_ + k_stall_window) return false;
        const double advanced = std::abs(integrator_.t() - stall_t_);
        const std::size_t rejected = s.rejected - stall_rejected_;
        stall_steps_ = s.steps;
        stall_rejected_ = s.rejected;
        stall_t_ = integrator_.t();
        // a jump that is crossed again and again: every step is tried several times, and all are short
        if (rejected >= k_stall_window && advanced < k_stall_window * k_crawl * longest_step_) return true;
        return advanced * static_cast<double>(options_.max_steps) < k_stall_window * std::abs(options_.t1 - integrator_.t());
    }

    // The last step is long enough to be told from none: it moves t, or some part of the state, by more than the tolerances.
    [[nodiscard]] bool matters(double t) const {
        if (std::abs(t - integrator_.t_previous()) > options_.rtol * std::abs(options_.t1 - options_.t0)) return true;
        for (std::size_t i = 0; i < motion_.states(); ++i) {
            const double size = std::max(std::abs(state_[i]), std::abs(accepted_[i]));
            if (std::abs(state_[i] - accepted_[i]) > options_.atol + options_.rtol * size) return true;
        }
        return false;
    }

    // the run got this far: a state accepted, or a row written
    void reach(double t, std::span<const double> x) {
        if ((options_.t1 < options_.t0 ? -1 : 1) * (t - summary_.t_end) < 0) return;
        summary_.t_end = t;
        std::copy_n(x.begin(), motion_.states(), summary_.x_end.begin());
    }

    // positions, then velocities; false when either fails
    bool project(double t, std::span<double> x, bool* moved) {
        const ProjectOptions& how = options_.correct_once ? k_correct_once : k_project_step;
        const ProjectReport position = position_.project(t, x, how);
        summary_.projections += position.corrections;
        if (position.status != ProjectStatus::converged) return false;
        const ProjectReport velocity = velocity_.project(t, x, how);
        summary_.projections += velocity.corrections;
        if (moved != nullptr) {
            last_velocity_ = velocity.evaluation;
            *moved = position.moved || velocity.moved;
        }
        return velocity.status == ProjectStatus::converged;
    }

    // at an accepted state: rows still independent, and not contradicting each other?
    bool still_sound() {
        const EvalReport& rate = end_report_;
        double pivot = rate.smallest_pivot;
        bool lost = rate.rank < rate_rank_;
        std::size_t constraint = constraint_of(motion_.rate_constraints, rate.weakest_row);
        if (motion_.velocity_rows != 0) {
            const bool weaker = last_velocity_.rank < velocity_rank_ || last_velocity_.smallest_pivot < pivot;
            if (weaker && !lost) constraint = constraint_of(motion_.velocity_constraints, last_velocity_.weakest_row);
            pivot = std::min(pivot, last_velocity_.smallest_pivot);
            lost |= last_velocity_.rank < velocity_rank_;
        }
        note_pivot(integrator_.t(), pivot);
        if (lost || (watch_pivots_ && pivot < k_least_pivot)) return lose(RowLoss::dependent, constraint);
        if (rate.status == EvalStatus::inconsistent_rows &&
            (project_ || motion_.reduction || rate.inconsistency > k_gross_inconsistency))
            return contradict(end_report_);
        // rows that were redundant at the start had no part in the choice of dependent entries: do they still follow?
        if (motion_.reduction && summary_.redundant &&
            !(std::max(position_.measure(integrator_.t(), state_).scaled, velocity_.measure(integrator_.t(), state_).scaled) <
              k_rows_follow))
            return stop(EndReason::singular_partition);
        return true;
    }

    // Gains of Baumgarte's damping from the length of the steps, the longest so far: gains that followed shorter steps would grow
    // with the square of what they shorten, and shorten them further. The rate is taken anew when they change.
    bool damp(double t) {
        if (!motion_.step_gains) return true;
        const double h = std::abs(t - integrator_.t_previous());
        if (!(h > 2 * damped_step_)) return true;
        damped_step_ = h;
        const std::size_t at = *motion_.step_gains;
        const std::array<double, 3> gains = gains_of_step(h);
        for (std::size_t k = 0; k < gains.size(); ++k) {
            rate_.set_parameter(at + k, gains[k]);
            observe_.set_parameter(at + k, gains[k]);
            guards_.set_parameter(at + k, gains[k]);
        }
        return integrator_.replace_state(state_, true) == StepStatus::ok;
    }

    // rows strictly inside the last step, from the continuous extension; false when one can not be projected
    bool rows_inside(double t) {
        const double direction = options_.t1 < options_.t0 ? -1 : 1;
        while (!rows_.done() && direction * (t - rows_.next()) > 0) {
            const double t_row = rows_.next();
            if (!integrator_.dense(t_row, row_state_)) return false;
            if (project_ && !project(t_row, row_state_, nullptr)) return false;
            write_row(t_row, row_state_);
            reach(t_row, row_state_);
            rows_.advance();
        }
        return true;
    }

    bool row_at_step(double t) {
        const bool wanted = !rows_.done() && rows_.next() == t;
        if (wanted) rows_.advance();
        if (!wanted && !rows_.every_step()) return true;
        if (rows_.every_step() && summary_.rows >= options_.max_rows) return stop(EndReason::too_many_rows);
        write_row(t, state_);
        return true;
    }

    // the row before it; one that is due there is not written again
    bool row_at_event(double t) {
        if (summary_.rows + 2 > options_.max_rows) return stop(EndReason::too_many_rows);
        write_row(t, before_event_);
        reach(t, before_event_);
        if (rows_.due_at(t)) rows_.advance();
        return true;
    }

    void note_pivot(double t, double pivot) {
        if (!(pivot < summary_.smallest_pivot)) return;
        summary_.smallest_pivot = pivot;
        summary_.smallest_pivot_at = t;
    }

    void write_row(double t, std::span<const double> x) {
        const ProjectReport position = position_.measure(t, x), velocity = velocity_.measure(t, x);
        summary_.position_residual = std::max(summary_.position_residual, position.residual);
        summary_.position_scaled = std::max(summary_.position_scaled, position.scaled);
        summary_.velocity_residual = std::max(summary_.velocity_residual, velocity.residual);
        summary_.velocity_scaled = std::max(summary_.velocity_scaled, velocity.scaled);
        // a column that is not finite here is the user's column; the rate decides whether the run can go on
        (void)observe_.run(t, x);
        ++summary_.rows;
        if (!sink_) return;
        std::ranges::copy(observe_.output(row_), row_values_.begin());
        std::copy(x.begin() + static_cast<std::ptrdiff_t>(motion_.states()), x.end(),
                  row_values_.begin() + static_cast<std::ptrdiff_t>(motion_.work_columns));
        sink_(t, row_values_);
    }

    Journey& journey_;
    const Motion& motion_;
    const SimulateOptions& options_;
    const RowSink& sink_;
    const Progress& progress_;
    RowTimes& rows_;
    const double t_begin_;
    double t_switch_ = 0;
    bool switched_ = false;
    MotionRate rate_;
    std::unique_ptr<Integrator> owned_integrator_;
    Integrator& integrator_;
    const bool project_;  // states along the run; a reduced state is on the constraints by itself
    MotionProgram observe_, follow_;
    OutputRange row_;
    Projector position_, velocity_;
    RowWatch watch_;
    GuardWatch guards_;
    std::vector<double> state_;
    std::vector<double> accepted_;  // the last accepted state
    std::vector<double> row_state_, row_values_;
    std::vector<double> before_event_;
    EvalReport last_velocity_;
    EvalReport end_report_;  // of the rate at the last step's end; looking inside a step may evaluate others
    std::size_t rate_rank_ = 0, velocity_rank_ = 0;
    bool watch_pivots_ = false;
    std::size_t stall_steps_ = 0, stall_rejected_ = 0;
    double longest_step_ = 0;
    double asked_share_ = 1;  // of the dependent entries, when another partition was last asked for
    double stall_t_ = t_begin_;
    double damped_step_ = 0;  // what the gains were chosen for
    SimulateSummary& summary_;
};

// one motion all along
class Unswitched final : public Switching {
public:
    explicit Unswitched(const Motion& motion) : motion_(motion) {}
    [[nodiscard]] const Motion& motion() const override { return motion_; }
    [[nodiscard]] Verdict passed(double, std::span<double>, std::span<const std::size_t>) override { return Verdict::stop; }
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
        case EndReason::start_has_no_solution: return "start_has_no_solution";
        case EndReason::start_not_finite: return "start_not_finite";
        case EndReason::not_finite: return "not_finite";
        case EndReason::step_too_small: return "step_too_small";
        case EndReason::singular_mass: return "singular_mass";
        case EndReason::singular_partition: return "singular_partition";
        case EndReason::unreachable: return "unreachable";
        case EndReason::no_reaction: return "no_reaction";
        case EndReason::several_reactions: return "several_reactions";
        case EndReason::inconsistent_constraints: return "inconsistent_constraints";
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
    double t = options.t0, t_watched = t;
    journey.summary.t_start = journey.summary.t_end = t;
    for (std::size_t switches = 1;; ++switches) {
        Stretch stretch(journey, t, x);
        if (stretch.run() == Outcome::ended) break;
        t = stretch.t();
        x = stretch.x();
        if (switches % k_chatter_window == 0) {
            if (std::abs(t - t_watched) <= k_chatter * std::abs(options.t1 - options.t0)) {
                journey.summary.reason = EndReason::chatter;
                break;
            }
            t_watched = t;
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
