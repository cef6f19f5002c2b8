// See simulate.hpp. Order of one turn of the loop: step, project its end, watch the rows of A along it, write the rows inside it
// (a failure of any of these takes the step back and shortens it), put the projected state in place, look for loss of rank, write
// the row at the end.
#include "sim/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/number_format.hpp"
#include "sim/make_integrator.hpp"
#include "sim/motion_jacobian.hpp"
#include "sim/motion_program.hpp"
#include "sim/project.hpp"
#include "sim/reduction.hpp"

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
// changes of start values below this are round-off, not news
constexpr double k_moved = 1e-12;

// x' = (q', u') from the rate program; the last report stays for the loop to look at
class MotionRate final : public FirstOrderSystem {
public:
    explicit MotionRate(const Motion& motion)
        : coordinates_(motion.coordinates), size_(motion.states()), program_(motion, motion.rate) {
        qd_ = motion.rate.output("qd");
        ud_ = motion.rate.output("ud");
        if (qd_.end - qd_.begin != motion.coordinates || ud_.end - ud_.begin != motion.speeds)
            throw Error("the outputs of the rate program do not have the sizes of the motion");
        if (motion.jacobian) jacobian_.emplace(motion);
    }

    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] RateStatus rate(double t, std::span<const double> x, std::span<double> xd) override {
        report_ = program_.run(t, x);
        if (report_.status == EvalStatus::not_finite) return RateStatus::not_finite;
        if (report_.status != EvalStatus::ok && report_.status != EvalStatus::inconsistent_rows) return RateStatus::singular;
        const std::span<const double> qd = program_.output(qd_), ud = program_.output(ud_);
        std::copy(qd.begin(), qd.end(), xd.begin());
        std::copy(ud.begin(), ud.end(), xd.begin() + static_cast<std::ptrdiff_t>(coordinates_));
        return RateStatus::ok;
    }
    [[nodiscard]] bool has_jacobian() const override { return jacobian_.has_value(); }
    [[nodiscard]] RateStatus jacobian(double t, std::span<const double> x, std::span<double> J) override {
        return jacobian_->evaluate(t, x, J, size_);
    }
    [[nodiscard]] const EvalReport& report() const { return report_; }
    void limit_rank(std::size_t rank) {
        program_.limit_rank(rank);
        if (jacobian_) jacobian_->limit_rank(rank);
    }
    void set_parameter(std::size_t index, double value) {
        program_.set_parameter(index, value);
        if (jacobian_) jacobian_->set_parameter(index, value);
    }

private:
    std::size_t coordinates_, size_;
    MotionProgram program_;
    OutputRange qd_, ud_;
    EvalReport report_;
    std::optional<MotionJacobian> jacobian_;
};

// the times of rows: products, never sums, and the end itself
class RowTimes {
public:
    explicit RowTimes(const SimulateOptions& options)
        : t0_(options.t0), t1_(options.t1), every_(options.every), direction_(options.t1 < options.t0 ? -1 : 1) {
        if (every_ > 0) {
            const double whole = std::abs(t1_ - t0_) / every_;
            // a last product that misses the end by round-off is the end
            last_ = std::ceil(whole - 1e-9 * std::max(1.0, whole * 1e-3));
        }
    }
    [[nodiscard]] bool fixed() const { return every_ > 0; }
    [[nodiscard]] double count() const { return last_ + 1; }
    [[nodiscard]] double next() const { return index_ >= last_ ? t1_ : t0_ + direction_ * (index_ * every_); }
    void advance() { ++index_; }
    [[nodiscard]] bool done() const { return index_ > last_; }

private:
    double t0_, t1_, every_, direction_;
    double last_ = 0;   // index of the row at t1
    double index_ = 1;  // the row at t0 is written first of all
};

void check(const Motion& motion, std::span<const double> x0, const SimulateOptions& o, const RowTimes& rows) {
    const auto refuse = [](const std::string& what, double value, const std::string& rule) {
        throw Error(what + " is " + round_trip(value) + ", but must be " + rule);
    };
    if (x0.size() != motion.states())
        refuse("the number of start values", static_cast<double>(x0.size()), std::to_string(motion.states()));
    if (!std::isfinite(o.t0)) refuse("the start time", o.t0, "finite");
    if (!std::isfinite(o.t1)) refuse("the end time", o.t1, "finite");
    if (!(o.every >= 0) || !std::isfinite(o.every)) refuse("the interval of rows", o.every, "zero or positive");
    if (!(o.rtol >= 0) || !std::isfinite(o.rtol)) refuse("rtol", o.rtol, "zero or positive");
    if (!(o.atol > 0) || !std::isfinite(o.atol)) refuse("atol", o.atol, "positive");
    if (info(o.integrator).fixed_step && !(o.step > 0 && std::isfinite(o.step))) refuse("the fixed step", o.step, "positive");
    if (!o.atol_by_entry.empty() && o.atol_by_entry.size() != x0.size())
        refuse("the number of absolute tolerances", static_cast<double>(o.atol_by_entry.size()), std::to_string(x0.size()));
    for (const double atol : o.atol_by_entry)
        if (!(atol > 0)) refuse("an absolute tolerance", atol, "positive");
    if (!(o.max_step >= 0)) refuse("the largest step", o.max_step, "zero (no bound) or positive");
    if (rows.fixed() && rows.count() > static_cast<double>(o.max_rows))
        refuse("the number of rows", rows.count(), "at most " + std::to_string(o.max_rows));
}

// all of x, or its independent entries where the motion says which
std::unique_ptr<Integrator> make_integrator(const Motion& motion, FirstOrderSystem& rate, const SimulateOptions& options) {
    const IntegratorOptions of_steps{options.rtol, options.atol, options.max_step,
                                     info(options.integrator).fixed_step ? options.step : 0, options.atol_by_entry};
    if (motion.reduction) return std::make_unique<ReducedIntegrator>(motion, rate, options.integrator, of_steps);
    return make_integrator(options.integrator, rate, of_steps);
}

class Run {
public:
    Run(const Motion& motion, std::span<const double> x0, const SimulateOptions& options, const RowSink& sink,
        const Progress& progress)
        : motion_(motion),
          options_(options),
          sink_(sink),
          progress_(progress),
          rows_(options),
          rate_(motion),
          owned_integrator_(make_integrator(motion, rate_, options)),
          integrator_(*owned_integrator_),
          project_(options.project && !motion.reduction),
          observe_(motion, motion.observe),
          position_(motion, motion.position, Projector::Part::coordinates),
          velocity_(motion, motion.velocity, Projector::Part::speeds),
          watch_(motion, velocity_),
          state_(x0.begin(), x0.end()) {
        check(motion, x0, options, rows_);
        row_ = motion.observe.output("row");
        summary_.x_start.resize(x0.size());
        summary_.x_end.resize(x0.size());
    }

    SimulateSummary run() {
        summary_.t_end = options_.t0;
        if (start(state_)) loop();
        const IntegratorStatistics& s = integrator_.statistics();
        summary_.steps = s.steps;
        summary_.rejected = s.rejected;
        summary_.evaluations = s.evaluations;
        summary_.jacobians = s.jacobians;
        summary_.stiff_steps = s.stiff_steps;
        summary_.stiff_from = s.stiff_from;
        return std::move(summary_);
    }

private:
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
        summary_.x_start = summary_.x_end = x;
        if (!projected) return false;
        // rows that contradict the values held give way one for another: a held value that moved means there is no solution
        for (const std::size_t i : motion_.held)
            if (!(std::abs(x[i] - given[i]) <= k_moved * std::max(1.0, std::abs(given[i]))))
                return stop(EndReason::start_has_no_solution);
        const double t0 = options_.t0;
        summary_.rank = velocity_rank_ = velocity_.measure(t0, x).evaluation.rank;
        if (const RowFinding found = watch_.start(t0, x); found.loss != RowLoss::none) return lose(found);
        if (integrator_.start(t0, x, options_.t1) != StepStatus::ok)
            return stop(rate_failure(integrator_.rate_status(), EndReason::start_not_finite));
        // NOTE: the first step is sought with evaluations elsewhere; the report must be that of the start
        if (const RateStatus status = rate_.rate(t0, x, row_state_); status != RateStatus::ok)
            return stop(rate_failure(status, EndReason::start_not_finite));
        std::copy(integrator_.x().begin(), integrator_.x().end(), x.begin());
        rate_rank_ = rate_.report().rank;
        summary_.redundant |= rate_.report().redundant;
        note_pivot(t0, rate_.report().smallest_pivot);
        if (rate_.report().status == EvalStatus::inconsistent_rows) return contradict(rate_.report());
        const ProjectReport velocity = velocity_.measure(t0, x);
        summary_.rank = std::max(velocity_rank_, rate_rank_);
        summary_.redundant |= velocity.evaluation.redundant;
        note_pivot(t0, velocity.evaluation.smallest_pivot);
        watch_pivots_ = summary_.smallest_pivot > 10 * k_least_pivot;
        if (rate_.report().redundant) rate_.limit_rank(rate_rank_);
        if (velocity.evaluation.redundant) velocity_.limit_rank(velocity_rank_);
        if (const EvalReport position = position_.measure(t0, x).evaluation; position.redundant)
            position_.limit_rank(position.rank);
        accepted_ = x;
        write_row(t0, x);
        return true;
    }

    bool project_start(std::vector<double>& x) {
        for (const double value : x)
            if (!std::isfinite(value)) return stop(EndReason::start_not_finite);
        // start values are brought onto the constraints whatever is done about drift later
        Projector position(motion_, motion_.for_start_position(), Projector::Part::coordinates);
        Projector velocity(motion_, motion_.for_start_velocity(), Projector::Part::speeds);
        for (Projector* projector : {&position, &velocity}) {
            const ProjectReport report = projector->project(options_.t0, x, k_project_start);
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
        if (integrator_.retreat()) return true;
        if (found.loss != RowLoss::none) return lose(found);
        if (at.rank < velocity_rank_) return lose({RowLoss::dependent, at.weakest_row});
        return stop(motion_.reduction ? EndReason::singular_partition : EndReason::projection_failed);
    }

    bool loop() {
        while (!integrator_.at_end()) {
            if (progress_ && !progress_(integrator_.t())) return stop(EndReason::cancelled);
            if (integrator_.statistics().steps >= options_.max_steps) return stop(EndReason::too_many_steps);
            if (stalled()) return collapse(EndReason::step_too_small);
            switch (integrator_.step()) {
                case StepStatus::ok: break;
                case StepStatus::step_too_small: return collapse(EndReason::step_too_small);
                case StepStatus::rate_failed: return collapse(rate_failure(integrator_.rate_status(), EndReason::not_finite));
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
            if (!row_at_step(t)) return false;
        }
        return true;
    }

    // A rate that jumps where the motion is drawn to (a corner of the constraint, say) lets every step through, each shorter than
    // the last. At such a pace the run would not end within its limit of steps: call it what it is, early.
    bool stalled() {
        const std::size_t steps = integrator_.statistics().steps;
        if (steps < stall_steps_ + k_stall_window) return false;
        const double advanced = std::abs(integrator_.t() - stall_t_);
        stall_steps_ = steps;
        stall_t_ = integrator_.t();
        return advanced * static_cast<double>(options_.max_steps) < k_stall_window * std::abs(options_.t1 - integrator_.t());
    }

    // The last step is long enough to be told from none: it moves t, or some part of the state, by more than the tolerances.
    [[nodiscard]] bool matters(double t) const {
        if (std::abs(t - integrator_.t_previous()) > options_.rtol * std::abs(options_.t1 - options_.t0)) return true;
        for (std::size_t i = 0; i < state_.size(); ++i) {
            const double size = std::max(std::abs(state_[i]), std::abs(accepted_[i]));
            if (std::abs(state_[i] - accepted_[i]) > options_.atol + options_.rtol * size) return true;
        }
        return false;
    }

    // the run got this far: a state accepted, or a row written
    void reach(double t, std::span<const double> x) {
        if ((options_.t1 < options_.t0 ? -1 : 1) * (t - summary_.t_end) < 0) return;
        summary_.t_end = t;
        std::copy(x.begin(), x.end(), summary_.x_end.begin());
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
        }
        return integrator_.replace_state(state_, true) == StepStatus::ok;
    }

    // rows strictly inside the last step, from the continuous extension; false when one can not be projected
    bool rows_inside(double t) {
        if (!rows_.fixed()) return true;
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
        if (rows_.fixed()) {
            if (rows_.done() || rows_.next() != t) return true;
            rows_.advance();
        } else if (summary_.rows >= options_.max_rows) {
            return stop(EndReason::too_many_rows);
        }
        write_row(t, state_);
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
        if (sink_) sink_(t, observe_.output(row_));
    }

    const Motion& motion_;
    const SimulateOptions options_;
    const RowSink& sink_;
    const Progress& progress_;
    RowTimes rows_;
    MotionRate rate_;
    std::unique_ptr<Integrator> owned_integrator_;
    Integrator& integrator_;
    const bool project_;  // states along the run; a reduced state is on the constraints by itself
    MotionProgram observe_;
    OutputRange row_;
    Projector position_, velocity_;
    RowWatch watch_;
    std::vector<double> state_;
    std::vector<double> accepted_ = state_;  // the last accepted state
    std::vector<double> row_state_ = std::vector<double>(state_.size());
    EvalReport last_velocity_;
    EvalReport end_report_;  // of the rate at the last step's end; looking inside a step may evaluate others
    std::size_t rate_rank_ = 0, velocity_rank_ = 0;
    bool watch_pivots_ = false;
    std::size_t stall_steps_ = 0;
    double stall_t_ = options_.t0;
    double damped_step_ = 0;  // what the gains were chosen for
    SimulateSummary summary_;
};

}  // namespace

std::string_view name(EndReason reason) {
    switch (reason) {
        case EndReason::finished: return "finished";
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
    }
    return "unknown";
}

SimulateSummary simulate(const Motion& motion, std::span<const double> x0, const SimulateOptions& options, const RowSink& sink,
                         const Progress& progress) {
    return Run(motion, x0, options, sink, progress).run();
}

}  // namespace appell
