// A stretch of a run: one motion, from where it begins to where the run ends or another motion takes over. Order of one turn of
// its loop: step, project its end, watch the rows of A along it, look for guards that pass through zero, write the rows inside it
// (a failure of any of these takes the step back and shortens it), put the projected state in place, look for loss of rank, write
// the row at the end.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/chart_watch.hpp"
#include "sim/guard_watch.hpp"
#include "sim/integrator.hpp"
#include "sim/motion_program.hpp"
#include "sim/motion_rate.hpp"
#include "sim/passage.hpp"
#include "sim/project.hpp"
#include "sim/row_times.hpp"
#include "sim/row_watch.hpp"
#include "sim/simulate.hpp"

namespace appell {

// what goes through all stretches of a run
struct Journey {
    const SimulateOptions& options;
    const RowSink& sink;
    const Progress& progress;
    const Resumable& resumable;
    Switching& switching;
    RowTimes rows{options};
    SimulateSummary summary{};
    IntegratorStatistics before{};   // of the stretches that ended
    bool begun = false;              // the first stretch has started
    bool saved = false;              // a state of the run, to be resumed from
    bool row_after_event = false;    // a row is due where the next stretch begins
    std::vector<Settled> settled{};  // what is known of guards there
    // By guard of the motion: passages in a row without ever having left zero clearly, and when they began.
    struct Restless {
        std::size_t passages = 0;
        double since = 0;
    };
    std::vector<Restless> restless{};
    Passage::Way way{};       // of a run that goes through singular positions
    RowWatch::Sizes sizes{};  // so far
    double longest_step = 0;  // likewise
};

enum class Outcome { ended, switched };

class Stretch {
public:
    Stretch(Journey& journey, double t, std::span<const double> x);

    Outcome run();

    // where it ended
    [[nodiscard]] double t() const { return t_switch_; }
    [[nodiscard]] const std::vector<double>& x() const { return state_; }

private:
    // what is remembered from one turn of the loop to the next; all else is found again by start()
    [[nodiscard]] bool checkpoint(Checkpoint& c);
    bool restore();
    // NOTE: what a run has switched to is no part of a checkpoint, nor are gains that changed between rows, and some integrators
    // can not list what they remember: such a run is resumed from before, at worst from its start, which is an empty checkpoint
    void save();

    bool stop(EndReason reason);

    // start values onto the constraints, the first rate, the first row
    bool start(std::vector<double>& x);

    // The state after a switch is on the constraints to the round-off of what made it.
    bool start_again(std::vector<double>& x);

    // the first rate of the stretch, and the measures that its later states are compared with
    bool set_out(std::vector<double>& x);

    bool project_start(std::vector<double>& x);

    // a row that is left over because its gradient vanishes contradicts no other
    [[nodiscard]] bool has_gradient(const MotionProgram& program, std::size_t row) const;

    EndReason rate_failure(RateStatus status, EndReason not_finite);

    EndReason singular();

    bool lose(RowLoss loss, std::size_t constraint);
    bool lose(const RowFinding& found) { return lose(found.loss, constraint_of(motion_.velocity_constraints, found.row)); }

    static std::size_t constraint_of(const std::vector<std::size_t>& constraints, std::size_t row);

    // no step leads on: because of the constraints?
    bool collapse(EndReason otherwise);

    // The constraints on positions will have lost rank within a step from here, as far as they have fallen so far.
    [[nodiscard]] bool nears_singular_position();

    // After the loop ended there: across a singular position, to where another stretch goes on. False where the run ends.
    bool pass_singular_position();

    bool contradict(const EvalReport& report);

    // The last step, or a row inside it, can not be projected or completed: it may have been too bold for Newton's iteration, so
    // that a shorter one is tried. True when there is one; when not, the run ends, and what the rows of A look like along the
    // step says why.
    bool try_shorter();

    // The last step does not keep inside the chart of the equations. True where a shorter one is to be tried; when not, another
    // chart takes over, or the run ends.
    bool leave_chart(ChartWatch::Seen seen);

    bool loop();

    // Ordinary steps, together with other runs (march.hpp); whether there was any. Only where a run is of the plain kind: the
    // state is all of x, corrected down to round-off, and nothing else happens along its steps than rows of its table.
    [[nodiscard]] bool can_march() const;
    bool march();

    // What happens inside the last step, in order; false when the stretch ends there.
    bool pass_guards(Integrator& along, double t);
    // A guard passes again and again, and never leaves zero by more than the tolerances make of it: the motion would stay there.
    // `since`: when that began.
    bool stays_on_a_surface(double t, double& since);
    bool pass_notes(Integrator& along);

    // a law switches by time where the stretch ends; false when the run ends there
    bool pass_instant();

    bool hand_over(double t, std::span<const double> x);

    void end_at(double t);

    // other independent entries, from the last accepted state; false where there are none better
    bool repartition();

    // parameters that remember where the motion was
    void remember(double t, std::span<const double> x);

    // A rate that jumps where the motion is drawn to (a corner of the constraint, say) lets every step through, each shorter than
    // the last. At such a pace the run would not end within its limit of steps, and nor would one that is too long by far: both
    // are called what they are, early.
    enum class Pace { good, stalled, too_long };
    Pace pace();

    // the limit of steps is reached, or will be: how many it would take
    bool give_up();

    // The last step is long enough to be told from none: it moves t, or some part of the state, by more than the tolerances.
    [[nodiscard]] bool matters(double t) const;

    // the run got this far: a state accepted, or a row written
    void reach(double t, std::span<const double> x);

    // positions, then velocities; false when either fails
    bool project(double t, std::span<double> x, bool* moved);

    // at an accepted state: rows still independent, and not contradicting each other?
    bool still_sound();

    // Gains of Baumgarte's damping from the length of the steps, the longest so far: gains that followed shorter steps would grow
    // with the square of what they shorten, and shorten them further. The rate is taken anew when they change.
    bool damp(double t);

    // rows strictly inside the last step, from the continuous extension; false when one can not be projected
    bool rows_inside(Integrator& along, double t);

    bool row_at_step(double t);

    // the row before it; one that is due there is not written again
    bool row_at_event(double t);

    void note_pivot(double t, double pivot);

    void write_row(double t, std::span<const double> x);

    Journey& journey_;
    const Motion& motion_;
    const SimulateOptions& options_;
    const RowSink& sink_;
    const Progress& progress_;
    RowTimes& rows_;
    const double t_begin_;
    const double t_stop_;  // the end of the run, or an instant at which a law switches by time
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
    ChartWatch chart_;
    std::optional<Passage> passage_;  // where the run goes through singular positions
    const double gap_limit_;          // an open contact is penetrated beyond that
    GuardWatch guards_;
    std::vector<double> state_;
    std::vector<double> accepted_;  // the last accepted state
    std::vector<double> row_state_, row_values_;
    std::vector<double> before_event_;
    EvalReport last_velocity_;
    EvalReport end_report_;  // of the rate at the last step's end; looking inside a step may evaluate others
    std::size_t rate_rank_ = 0, velocity_rank_ = 0;
    bool watch_pivots_ = false;
    bool marches_ = false;
    std::size_t marched_ = 0, gave_up_at_once_ = 0;  // marches, and those without a step
    std::size_t stall_steps_ = 0, stall_rejected_ = 0;
    double longest_step_ = 0;
    double asked_share_ = 1;  // of the dependent entries, when another partition was last asked for
    double stall_t_ = t_begin_;
    double damped_step_ = 0;                                    // what the gains were chosen for
    double row_at_ = std::numeric_limits<double>::quiet_NaN();  // the last row
    SimulateSummary& summary_;
};

}  // namespace appell
