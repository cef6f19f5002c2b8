#include "sim/stretch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "sim/make_integrator.hpp"
#include "sim/march.hpp"
#include "sim/motion_jacobian.hpp"
#include "sim/reduction.hpp"

namespace appell {

using projection::k_rows_follow;

namespace {

// a solve that needs pivoting says in the name of which row, or which column of M
bool names_a_row(const EvalReport& report) {
    return report.status == EvalStatus::needs_pivoting && report.row != SparseElimination::k_none;
}

// below this, rows that were independent count as dependent: multipliers would have lost ten digits
constexpr double k_least_pivot = 1e-10;
// without projection redundant rows drift apart; only a gross contradiction stops the run then
constexpr double k_gross_inconsistency = 1e-3;
// steps after which the pace of the run is looked at
constexpr std::size_t k_stall_window = 20'000;
// steps that are on average this short against the longest one, half of the trials rejected, follow a jump and not a motion
constexpr double k_crawl = 1e-5;
// a run that would take so many times the steps it may is ended early
constexpr double k_far_beyond = 10;
// a partition whose share in the rows has come down to this is replaced while it still serves, if there is a better one
constexpr double k_aging = 0.3;
// The steps of a march; between marches somebody may ask the run to end. A march is not worth its way for fewer steps than these
// up to the next row, and is not asked for again when most have led nowhere.
constexpr std::size_t k_longest_march = 1000, k_marches_tried = 16;
constexpr double k_shortest_march = 3;
// a guard that passes so often without leaving zero stays there
constexpr std::size_t k_restless = 1000;
// changes of start values below this are round-off, not news
constexpr double k_moved = 1e-12;

// all of x, or its independent entries where the motion says which
std::unique_ptr<Integrator> make_integrator(const Motion& motion, FirstOrderSystem& rate, const SimulateOptions& options) {
    const IntegratorOptions of_steps{.rtol = options.rtol,
                                     .atol = options.atol,
                                     .first_step = options.first_step,
                                     .max_step = options.max_step,
                                     .fixed_step = info(options.integrator).fixed_step ? options.step : 0,
                                     .atol_by_entry = options.atol_by_entry};
    if (motion.reduction) return std::make_unique<ReducedIntegrator>(motion, rate, options.integrator, of_steps);
    return make_integrator(options.integrator, rate, of_steps);
}

}  // namespace

Stretch::Stretch(Journey& journey, double t, std::span<const double> x)
    : journey_(journey),
      motion_(journey.switching.motion()),
      options_(journey.options),
      sink_(journey.sink),
      progress_(journey.progress),
      rows_(journey.rows),
      t_begin_(t),
      t_stop_(journey.switching.next_instant(t, options_.t1)),
      rate_(motion_),
      owned_integrator_(make_integrator(motion_, rate_, options_)),
      integrator_(*owned_integrator_),
      project_(options_.project && !motion_.reduction),
      observe_(motion_, motion_.observe),
      follow_(motion_, motion_.follow),
      position_(motion_, motion_.position, Projector::Part::coordinates),
      velocity_(motion_, motion_.velocity, Projector::Part::speeds),
      watch_(motion_, velocity_),
      chart_(motion_),
      gap_limit_(options_.atol + options_.rtol * motion_.length),
      guards_(motion_, integrator_.dense_degree(), options_.rtol, options_.atol),
      state_(x.begin(), x.end()),
      summary_(journey.summary) {
    state_.resize(motion_.carried());
    accepted_ = row_state_ = before_event_ = state_;
    row_ = motion_.observe.output("row");
    row_values_.resize(row_.end - row_.begin);
    if (options_.through && motion_.position_rows > 0)
        passage_.emplace(motion_, rate_, position_, velocity_, Passage::Tolerances{options_.rtol, options_.atol}, journey_.way);
}

Outcome Stretch::run() {
    switched_ = false;
    const bool first = !std::exchange(journey_.begun, true);
    if (first ? start(state_) && restore() : start_again(state_)) {
        const bool arrived = loop() || (!switched_ && pass_singular_position());
        if (arrived && t_stop_ != options_.t1) pass_instant();
    }
    const bool stopped = summary_.reason == EndReason::cancelled || summary_.reason == EndReason::too_many_steps;
    if (stopped && !integrator_.at_end() && summary_.rows > 0) save();
    const IntegratorStatistics& s = integrator_.statistics();
    journey_.sizes = watch_.sizes();
    journey_.longest_step = std::max(journey_.longest_step, longest_step_);
    journey_.before.steps += s.steps;
    journey_.before.rejected += s.rejected;
    journey_.before.evaluations += s.evaluations;
    journey_.before.jacobians += s.jacobians;
    if (s.stiff_steps > 0 && summary_.stiff_steps == 0) summary_.stiff_from = s.stiff_from;
    summary_.stiff_steps += s.stiff_steps;
    return switched_ ? Outcome::switched : Outcome::ended;
}

bool Stretch::checkpoint(Checkpoint& c) {
    c("state", state_);
    c("accepted", accepted_);
    c("stall.steps", stall_steps_);
    c("stall.rejected", stall_rejected_);
    c("stall.t", stall_t_);
    c("stall.longest_step", longest_step_);
    c("share_asked", asked_share_);
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
    chart_.checkpoint(c);
    return integrator_.checkpoint(c);
}

bool Stretch::restore() {
    if (!journey_.resumable.from) return true;
    Checkpoint c = *journey_.resumable.from;
    const bool taken = checkpoint(c) && c.fits();
    // a state may come from a file that somebody else has made
    const double t = integrator_.t();
    const auto finite = [](std::span<const double> values) {
        return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    };
    const bool sound = taken && t >= std::min(options_.t0, options_.t1) && t <= std::max(options_.t0, options_.t1) &&
                       finite(state_) && finite(integrator_.x()) && rows_.fit(t);
    return sound || stop(EndReason::wrong_checkpoint);
}

void Stretch::save() {
    if (!journey_.resumable.save) return;
    Checkpoint c;
    const bool whole = t_begin_ == options_.t0 && !passage_ && motion_.guards.empty() && !motion_.step_gains && checkpoint(c);
    if (!whole && std::exchange(journey_.saved, true)) return;
    journey_.saved = true;
    journey_.resumable.save(whole ? c : Checkpoint{});
}

bool Stretch::stop(EndReason reason) {
    summary_.reason = reason;
    return false;
}

bool Stretch::start(std::vector<double>& x) {
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

bool Stretch::start_again(std::vector<double>& x) {
    if (position_.project(t_begin_, x, k_project_start).status != ProjectStatus::converged ||
        velocity_.project(t_begin_, x, k_project_start).status != ProjectStatus::converged)
        return stop(EndReason::projection_failed);
    if (!set_out(x)) return false;
    if (std::exchange(journey_.row_after_event, false)) write_row(t_begin_, x);
    return true;
}

bool Stretch::set_out(std::vector<double>& x) {
    const double t0 = t_begin_;
    velocity_rank_ = velocity_.measure(t0, x).evaluation.rank;
    if (summary_.rank == 0) summary_.rank = velocity_rank_;
    if (const RowFinding found = watch_.start(t0, x); found.loss != RowLoss::none) return lose(found);
    watch_.know(journey_.sizes);
    if (integrator_.start(t0, x, t_stop_) != StepStatus::ok)
        return stop(rate_failure(integrator_.rate_status(), EndReason::start_not_finite));
    // NOTE: the first step is sought with evaluations elsewhere; the report must be that of the start
    if (const RateStatus status = rate_.rate(t0, x, row_state_); status != RateStatus::ok)
        return stop(rate_failure(status, EndReason::start_not_finite));
    std::copy(integrator_.x().begin(), integrator_.x().end(), x.begin());
    rate_rank_ = rate_.report().rank;
    const auto note_redundancy = [&](const EvalReport& report, std::size_t rows) {
        if (motion_.repeats_rows || !report.redundant || std::exchange(summary_.redundant, true)) return;
        summary_.redundancy = {rows, report.rank, t0};
    };
    // where the rates are solved for with all rows, servo rows are among those that the rank counts
    const std::size_t solved = motion_.rate_constraints.size();
    note_redundancy(rate_.report(), solved == 0 || rate_.report().rank > solved ? motion_.velocity_rows : solved);
    note_pivot(t0, rate_.report().smallest_pivot);
    if (rate_.report().status == EvalStatus::inconsistent_rows) return contradict(rate_.report());
    const ProjectReport velocity = velocity_.measure(t0, x);
    note_redundancy(velocity.evaluation, motion_.velocity_rows);
    note_pivot(t0, velocity.evaluation.smallest_pivot);
    watch_pivots_ = std::min(rate_.report().smallest_pivot, velocity.evaluation.smallest_pivot) > 10 * k_least_pivot;
    if (rate_.report().redundant) {
        rate_.limit_rank(rate_rank_);
        if (const EvalReport seen = observe_.run(t0, x); seen.redundant) observe_.limit_rank(seen.rank);
    }
    if (velocity.evaluation.redundant) velocity_.limit_rank(velocity_rank_);
    if (const EvalReport position = position_.measure(t0, x).evaluation; position.redundant) position_.limit_rank(position.rank);
    accepted_ = x;
    chart_.start(t0, x);
    if (passage_) passage_->note(t0, x);
    remember(t0, x);
    guards_.start(t0, x, journey_.settled);
    journey_.settled.clear();
    marches_ = can_march();
    return true;
}

bool Stretch::project_start(std::vector<double>& x) {
    for (const double value : x)
        if (!std::isfinite(value)) return stop(EndReason::start_not_finite);
    // start values are brought onto the constraints whatever is done about drift later
    std::optional<Projector> start_position, start_velocity;
    if (!motion_.start_position.outputs.empty())
        start_position.emplace(motion_, motion_.start_position, Projector::Part::coordinates);
    if (!motion_.start_velocity.outputs.empty()) start_velocity.emplace(motion_, motion_.start_velocity, Projector::Part::speeds);
    Projector& position = start_position ? *start_position : position_;
    Projector& velocity = start_velocity ? *start_velocity : velocity_;
    for (Projector* projector : {&position, &velocity}) {
        const ProjectReport report = projector->project(t_begin_, x, k_project_start);
        summary_.projections += report.corrections;
        switch (report.status) {
            case ProjectStatus::converged: break;
            case ProjectStatus::not_finite: return stop(EndReason::start_not_finite);
            case ProjectStatus::singular:
                summary_.singular_column = report.evaluation.singular_column;
                summary_.unbound = true;
                if (names_a_row(report.evaluation)) {
                    // rows of positions are told apart where all rows are
                    if (projector == &position && motion_.position_rows != motion_.velocity_rows)
                        return stop(EndReason::start_has_no_solution);
                    return lose({RowLoss::dependent, report.evaluation.row});
                }
                return stop(EndReason::singular_mass);
            case ProjectStatus::inconsistent:
                summary_.contradiction = has_gradient(projector->program(), report.evaluation.inconsistent_row);
                [[fallthrough]];
            case ProjectStatus::no_solution: return stop(EndReason::start_has_no_solution);
        }
    }
    return true;
}

bool Stretch::has_gradient(const MotionProgram& program, std::size_t row) const {
    const std::span<const double> rows = program.rows();
    const auto length = [&](std::size_t i) {
        double square = 0;
        const std::size_t begin = program.row_begin(i);
        for (const double entry : rows.subspan(begin, program.row_begin(i + 1) - begin)) square += entry * entry;
        return std::sqrt(square);
    };
    double longest = 0;
    for (std::size_t i = 0; program.row_begin(i) < rows.size(); ++i) longest = std::max(longest, length(i));
    return longest > 0 && length(row) > 1e-12 * longest;
}

EndReason Stretch::rate_failure(RateStatus status, EndReason not_finite) {
    if (status == RateStatus::partition) return EndReason::singular_partition;
    return status == RateStatus::singular ? singular() : not_finite;
}

EndReason Stretch::singular() {
    const EvalReport& report = rate_.report();
    summary_.singular_column = report.singular_column;
    summary_.row = report.row;
    if (names_a_row(report)) {
        summary_.loss = RowLoss::dependent;
        summary_.constraint = constraint_of(motion_.rate_constraints, report.row);
        return EndReason::rank_loss;
    }
    switch (report.status) {
        case EvalStatus::singular_partition: return EndReason::singular_partition;
        case EvalStatus::unreachable: return EndReason::unreachable;
        case EvalStatus::no_reaction: return EndReason::no_reaction;
        case EvalStatus::several_reactions: return EndReason::several_reactions;
        default: return EndReason::singular_mass;
    }
}

bool Stretch::lose(RowLoss loss, std::size_t constraint) {
    summary_.loss = loss;
    summary_.constraint = constraint;
    return stop(EndReason::rank_loss);
}

std::size_t Stretch::constraint_of(const std::vector<std::size_t>& constraints, std::size_t row) {
    return constraints.empty() ? row : constraints[row];
}

bool Stretch::collapse(EndReason otherwise) {
    const auto failed = otherwise == EndReason::singular_partition ? RowWatch::Failed::partition : RowWatch::Failed::step;
    const RowFinding found = watch_.near(integrator_.t(), accepted_, failed);
    if (found.loss != RowLoss::none) return lose(found);
    if (nears_singular_position())
        return lose({RowLoss::dependent, velocity_.measure(integrator_.t(), accepted_).evaluation.weakest_row});
    return stop(otherwise);
}

bool Stretch::contradict(const EvalReport& report) {
    summary_.constraint = constraint_of(motion_.rate_constraints, report.inconsistent_row);
    return stop(EndReason::inconsistent_constraints);
}

bool Stretch::try_shorter() {
    const EvalReport at = velocity_.measure(integrator_.t(), integrator_.x()).evaluation;
    const RowFinding found = watch_.look(integrator_);
    if (integrator_.retreat()) return true;
    if (found.loss != RowLoss::none) return lose(found);
    if (at.rank < velocity_rank_) return lose({RowLoss::dependent, at.weakest_row});
    if (const RowFinding near = watch_.near(integrator_.t(), accepted_, RowWatch::Failed::projection); near.loss != RowLoss::none)
        return lose(near);
    if (nears_singular_position()) return lose({RowLoss::dependent, at.weakest_row});
    return stop(motion_.reduction ? EndReason::singular_partition : EndReason::projection_failed);
}

bool Stretch::leave_chart(ChartWatch::Seen seen) {
    const bool mattered = matters(integrator_.t()), shorter = integrator_.retreat();
    if (seen == ChartWatch::Seen::unclear && mattered && shorter) return true;
    return !repartition() && collapse(EndReason::edge_of_chart);
}

bool Stretch::loop() {
    while (!integrator_.at_end()) {
        if (progress_ && !progress_(integrator_.t())) return stop(EndReason::cancelled);
        if (journey_.before.steps + integrator_.statistics().steps >= options_.max_steps) return give_up();
        switch (pace()) {
            case Pace::good: break;
            case Pace::stalled: return collapse(EndReason::step_too_small);
            case Pace::too_long: return give_up();
        }
        if (marches_ && march()) {
            if (!row_at_step(integrator_.t())) return false;
            continue;
        }
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
        if (const RowFinding found = watch_.look(integrator_); found.loss != RowLoss::none || found.unseen) {
            if (!found.certain && matters(t)) {
                if (integrator_.retreat()) continue;
                if (found.unseen) return collapse(EndReason::step_too_small);
            }
            if (!found.unseen) return lose(found);
        }
        if (const ChartWatch::Seen seen = chart_.look(integrator_, state_); seen != ChartWatch::Seen::inside) {
            if (leave_chart(seen)) continue;
            return false;
        }
        if (!guards_.empty() && !pass_guards(integrator_, t)) return false;
        if (guards_.blind()) {
            if (integrator_.retreat()) continue;
            return collapse(EndReason::step_too_small);
        }
        if (!rows_inside(integrator_, t)) {
            guards_.take_back();  // and only here: of a step that failed before, nothing was seen yet
            if (try_shorter()) continue;
            return false;
        }
        if (project_ && integrator_.replace_state(state_, moved) != StepStatus::ok)
            return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
        if (moved) end_report_ = rate_.report();
        if (!still_sound()) return false;
        if (!damp(t)) return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
        rate_.freeze();
        watch_.accept(state_);
        chart_.accept();
        std::copy(state_.begin(), state_.end(), accepted_.begin());
        if (passage_) passage_->note(t, state_);
        journey_.switching.stepped(t, state_);
        reach(t, state_);
        remember(t, state_);
        if (!row_at_step(t)) return false;
        if (summary_.penetrated) return stop(EndReason::penetrated);
        if (const double share = std::min(integrator_.dependent_share(), chart_.share());
            share < std::min(k_aging, 0.3 * asked_share_)) {
            asked_share_ = share;
            if (!integrator_.at_end() && repartition()) return false;
        }
        if (journey_.resumable.due && !integrator_.at_end() && journey_.resumable.due()) save();
    }
    return true;
}

bool Stretch::can_march() const {
    const Motion& m = motion_;
    return m.neighbours != nullptr && m.neighbours->marches(m) && project_ && !options_.correct_once && !m.step_gains &&
           !passage_ && m.quaternions.empty() && m.guards.empty() && m.followed.empty() && !journey_.resumable.due &&
           !rows_.every_step() && !rate_.report().redundant && rate_.straight() && velocity_rank_ == m.velocity_rows &&
           (m.position_rows == 0 || position_.evaluation().rank == m.position_rows);
}

bool Stretch::march() {
    const IntegratorStatistics& s = integrator_.statistics();
    March march;
    if (!integrator_.lend(march) || !watch_.lend(march)) return marches_ = false;
    march.t_row = rows_.done() ? options_.t1 : rows_.next();
    const double step = march.max_step > 0 ? std::min(march.max_step, std::abs(march.h)) : std::abs(march.h);
    if (std::abs(march.t_row - march.t) < k_shortest_march * step) return false;
    march.motion = &motion_;
    march.least_pivot = watch_pivots_ ? k_least_pivot : 0;
    march.most_steps = std::min(
        {k_longest_march, options_.max_steps - journey_.before.steps - s.steps, stall_steps_ + k_stall_window - s.steps});
    march.projections = summary_.projections;
    march.smallest_pivot = summary_.smallest_pivot;
    march.smallest_pivot_at = summary_.smallest_pivot_at;
    motion_.neighbours->march(march);
    integrator_.take_back(march);
    ++marched_;
    if (march.steps == 0) {
        if (2 * ++gave_up_at_once_ > marched_ && marched_ > k_marches_tried) marches_ = false;
        return false;
    }
    watch_.take_back(march);
    longest_step_ = std::max(longest_step_, march.longest_taken);
    summary_.projections = march.projections;
    summary_.smallest_pivot = march.smallest_pivot;
    summary_.smallest_pivot_at = march.smallest_pivot_at;
    std::copy(integrator_.x().begin(), integrator_.x().end(), state_.begin());
    std::copy(state_.begin(), state_.end(), accepted_.begin());
    reach(march.t, state_);
    return true;
}

bool Stretch::pass_guards(Integrator& along, double t) {
    double from = along.t_previous();
    while (guards_.look(along, from)) {
        from = guards_.t();
        if (!pass_notes(along)) return false;
        if (!rows_inside(along, from)) return true;  // the step is taken back, and what passed is found again
        if (!along.dense(from, row_state_)) return true;
        const bool of_arc = passage_ && &along == &*passage_;
        if (project_ && !of_arc && !project(from, row_state_, nullptr)) return true;
        if (from == t) std::copy(state_.begin(), state_.end(), row_state_.begin());
        std::copy(row_state_.begin(), row_state_.end(), before_event_.begin());
        Switching::Verdict verdict = journey_.switching.passed(from, row_state_, guards_.passed(), guards_.sides());
        double since = from;
        if (verdict == Switching::Verdict::changed && stays_on_a_surface(from, since)) verdict = Switching::Verdict::endless;
        const bool goes_on = verdict == Switching::Verdict::go_on || verdict == Switching::Verdict::changed;
        if (options_.at_events && goes_on && !row_at_event(from)) return false;
        switch (verdict) {
            case Switching::Verdict::go_on: continue;
            case Switching::Verdict::changed: journey_.row_after_event = options_.at_events; return hand_over(from, row_state_);
            case Switching::Verdict::stop: end_at(from); return stop(EndReason::event);
            // what was tried there is no state of the motion: the last row is the one before
            case Switching::Verdict::endless:
            case Switching::Verdict::failed:
                std::copy(before_event_.begin(), before_event_.end(), row_state_.begin());
                summary_.chatter_from = since;
                end_at(from);
                return stop(verdict == Switching::Verdict::endless ? EndReason::chatter : EndReason::no_mode);
        }
    }
    return pass_notes(along);
}

bool Stretch::stays_on_a_surface(double t, double& since) {
    std::vector<Journey::Restless>& restless = journey_.restless;
    if (restless.size() != motion_.guards.size()) restless.assign(motion_.guards.size(), {});
    for (const std::size_t guard : guards_.passed()) {
        if (motion_.guards[guard].gap) continue;  // bounces become lower until they are none, however many there are
        Journey::Restless& r = restless[guard];
        if (!guards_.hardly_left_zero(guard)) r = {};
        if (r.passages++ == 0) r.since = t;
        if (r.passages < k_restless) continue;
        since = r.since;
        return true;
    }
    return false;
}

bool Stretch::pass_notes(Integrator& along) {
    for (const GuardNote& note : guards_.notes()) {
        if (!along.dense(note.t, row_state_)) continue;
        if (journey_.switching.noted(note, row_state_) != Switching::Verdict::failed) continue;
        (void)rows_inside(along, note.t);
        return stop(EndReason::no_value);
    }
    return true;
}

bool Stretch::pass_instant() {
    const double t = integrator_.t();
    std::copy(state_.begin(), state_.end(), before_event_.begin());
    // no guard passes here; but those on zero have the sides that they come from
    Switching::Verdict verdict = journey_.switching.passed(t, state_, {}, guards_.sides_now());
    if (verdict == Switching::Verdict::go_on) verdict = journey_.switching.instant(t, state_);
    if (options_.at_events && verdict == Switching::Verdict::changed) {
        if (row_at_ != t && !row_at_event(t)) return false;
        journey_.row_after_event = true;
    }
    switch (verdict) {
        case Switching::Verdict::stop:
            if (row_at_ != t) write_row(t, state_);
            return stop(EndReason::event);
        case Switching::Verdict::endless:
        case Switching::Verdict::failed:
            summary_.chatter_from = t;
            if (row_at_ != t) write_row(t, before_event_);
            return stop(verdict == Switching::Verdict::endless ? EndReason::chatter : EndReason::no_mode);
        case Switching::Verdict::go_on:
        case Switching::Verdict::changed: break;
    }
    return hand_over(t, std::vector<double>(state_));
}

bool Stretch::hand_over(double t, std::span<const double> x) {
    reach(t, x);
    journey_.way.forget();
    std::copy(x.begin(), x.end(), state_.begin());
    const std::span<const Settled> settled = journey_.switching.settled();
    journey_.settled.assign(settled.begin(), settled.end());
    t_switch_ = t;
    switched_ = true;
    return false;
}

void Stretch::end_at(double t) {
    reach(t, row_state_);
    write_row(t, row_state_);
}

bool Stretch::repartition() {
    const double t = integrator_.t();
    // where the rows themselves lose rank no other partition helps
    if (t == t_begin_ || nears_singular_position()) return false;
    if (journey_.switching.worn(t, accepted_) != Switching::Verdict::changed) return false;
    Passage::Way way = std::exchange(journey_.way, {});
    hand_over(t, accepted_);
    journey_.way = std::move(way);  // the motion is the same
    return true;
}

void Stretch::remember(double t, std::span<const double> x) {
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

Stretch::Pace Stretch::pace() {
    const IntegratorStatistics& s = integrator_.statistics();
    longest_step_ = std::max(longest_step_, std::abs(integrator_.t() - integrator_.t_previous()));
    if (s.steps < stall_steps_ + k_stall_window) return Pace::good;
    const double advanced = std::abs(integrator_.t() - stall_t_);
    const std::size_t rejected = s.rejected - stall_rejected_;
    stall_steps_ = s.steps;
    stall_rejected_ = s.rejected;
    stall_t_ = integrator_.t();
    // a jump that is crossed again and again: every step is tried several times, and all are short
    if (rejected >= k_stall_window && advanced < k_stall_window * k_crawl * longest_step_) return Pace::stalled;
    // It would take more steps than a run may: steps have become short, or were so from the start, or the run is just long.
    const double left = k_stall_window * std::abs(options_.t1 - integrator_.t());
    const double most = static_cast<double>(options_.max_steps);
    if (advanced < 1e-3 * k_stall_window * longest_step_ && advanced * most < left) return Pace::stalled;
    return advanced * k_far_beyond * most < left ? Pace::too_long : Pace::good;
}

bool Stretch::give_up() {
    const double done = static_cast<double>(journey_.before.steps + integrator_.statistics().steps);
    const double t = integrator_.t(), left = std::abs(options_.t1 - t);
    const double recent = static_cast<double>(integrator_.statistics().steps - stall_steps_), advanced = std::abs(t - stall_t_);
    // steps since the pace was last looked at; few of them: all steps of the run
    const bool few = recent < 100;
    const double steps = few ? done : recent, way = few ? std::abs(t - options_.t0) : advanced;
    summary_.steps_needed = way > 0 ? done + steps * (left / way) : std::numeric_limits<double>::infinity();
    return stop(EndReason::too_many_steps);
}

bool Stretch::matters(double t) const {
    if (std::abs(t - integrator_.t_previous()) > options_.rtol * std::abs(options_.t1 - options_.t0)) return true;
    for (std::size_t i = 0; i < motion_.states(); ++i) {
        const double size = std::max(std::abs(state_[i]), std::abs(accepted_[i]));
        if (std::abs(state_[i] - accepted_[i]) > options_.atol + options_.rtol * size) return true;
    }
    return false;
}

void Stretch::reach(double t, std::span<const double> x) {
    if ((options_.t1 < options_.t0 ? -1 : 1) * (t - summary_.t_end) < 0) return;
    summary_.t_end = t;
    std::copy_n(x.begin(), motion_.states(), summary_.x_end.begin());
}

bool Stretch::project(double t, std::span<double> x, bool* moved) {
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

bool Stretch::still_sound() {
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

bool Stretch::damp(double t) {
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

bool Stretch::rows_inside(Integrator& along, double t) {
    const double direction = options_.t1 < options_.t0 ? -1 : 1;
    while (!rows_.done() && direction * (t - rows_.next()) > 0) {
        const double t_row = rows_.next();
        if (!along.dense(t_row, row_state_)) return false;
        const bool of_arc = passage_ && &along == &*passage_;  // which brings its states onto the constraints where it can
        if (project_ && !of_arc && !project(t_row, row_state_, nullptr)) return false;
        if (!std::ranges::all_of(std::span(row_state_).first(motion_.states()), [](double v) { return std::isfinite(v); }))
            return false;
        write_row(t_row, row_state_);
        reach(t_row, row_state_);
        rows_.advance();
    }
    return true;
}

bool Stretch::row_at_step(double t) {
    const bool wanted = !rows_.done() && rows_.next() == t;
    if (wanted) rows_.advance();
    if (!wanted && !rows_.every_step()) return true;
    if (rows_.every_step() && summary_.rows >= options_.max_rows) return stop(EndReason::too_many_rows);
    write_row(t, state_);
    return true;
}

bool Stretch::row_at_event(double t) {
    if (summary_.rows + 2 > options_.max_rows) return stop(EndReason::too_many_rows);
    write_row(t, before_event_);
    reach(t, before_event_);
    if (rows_.due_at(t)) rows_.advance();
    return true;
}

void Stretch::note_pivot(double t, double pivot) {
    if (!(pivot < summary_.smallest_pivot)) return;
    summary_.smallest_pivot = pivot;
    summary_.smallest_pivot_at = t;
}

void Stretch::write_row(double t, std::span<const double> x) {
    const ProjectReport position = position_.measure(t, x), velocity = velocity_.measure(t, x);
    summary_.position_residual = std::max(summary_.position_residual, position.residual);
    summary_.position_scaled = std::max(summary_.position_scaled, position.scaled);
    summary_.velocity_residual = std::max(summary_.velocity_residual, velocity.residual);
    summary_.velocity_scaled = std::max(summary_.velocity_scaled, velocity.scaled);
    // a column that is not finite here is the user's column; the rate decides whether the run can go on
    (void)observe_.run(t, x);
    if (const auto gap = guards_.gap_below(t, x, -gap_limit_); gap && !summary_.penetrated) {
        summary_.penetrated = gap->guard;
        summary_.penetrated_gap = gap->value;
        summary_.penetrated_at = t;
    }
    ++summary_.rows;
    row_at_ = t;
    if (!sink_) return;
    std::ranges::copy(observe_.output(row_), row_values_.begin());
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(motion_.states()), x.end(),
              row_values_.begin() + static_cast<std::ptrdiff_t>(motion_.work_columns));
    sink_(t, row_values_);
}

}  // namespace appell
