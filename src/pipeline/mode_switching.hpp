// The modes of a motion during a run: contacts that open and close, friction that sticks and slides, constraints that events drop
// and enforce, and the partition of `minimal`, chosen anew where it wears out. Each mode is lowered when it is first needed.
//
// At an instant a mode is consistent when no closed contact pulls, no open one is pressed shut, no friction that sticks needs
// more force than its bound, and no friction slides against the direction its law was taken for. After an event modes are changed
// one element at a time until that is so (settle): without friction this finds the one that there is (Murty's rule). With
// friction it may come back to a mode; then all choices are looked through (search), and where none is consistent there is none:
// Painleve's paradox, or a direction of slip in the plane that no force at rest shows.
//
// An impact closes a gap: u+ - u- = M^-1 A' p over all rows that are on, with the rate of each closed gap reversed times its
// coefficient of restitution (Newton), and without impulses of friction. Contacts that would have to pull are left open. A bounce
// lower than the tolerance of the run is no bounce: the contact stays closed, which ends the endless series of a bouncing ball.
//
// What an instant is, and what is seen by what, is docs/theory/instants.md.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "pipeline/contact_state.hpp"
#include "pipeline/event_look.hpp"
#include "pipeline/friction_shares.hpp"
#include "pipeline/impact_problem.hpp"
#include "pipeline/law_switching.hpp"
#include "pipeline/mode.hpp"
#include "pipeline/undetermined_forces.hpp"
#include "report/run_record.hpp"
#include "sim/motion_program.hpp"
#include "sim/simulate.hpp"

namespace appell {

class ModeSwitching final : public Switching {
public:
    // `whole`: with the rows of all constraints
    ModeSwitching(const ConstrainedDynamics& whole, LowerMotionOptions options, const SimulateOptions& run,
                  Diagnostics& diagnostics);

    // The mode of the start values; false with the reason among the diagnostics.
    [[nodiscard]] bool begin();

    [[nodiscard]] const Motion& motion() const override;
    [[nodiscard]] Verdict passed(double t, std::span<double> x, std::span<const std::size_t> guards,
                                 std::span<const int> sides) override;
    [[nodiscard]] Verdict noted(const GuardNote& note, std::span<const double> x) override;
    [[nodiscard]] double next_instant(double t, double t_end) override;
    [[nodiscard]] Verdict instant(double t, std::span<double> x) override;
    [[nodiscard]] std::span<const Settled> settled() const override { return settled_; }
    void went_through(const PassedPosition& passed, std::span<const double> x) override;
    [[nodiscard]] Verdict worn(double t, std::span<const double> x) override;
    void stepped(double t, std::span<const double> x) override {
        if (at_steps_) at_steps_(t, x);
    }

    [[nodiscard]] const LoweredMotion& lowered() const;         // of the current mode
    [[nodiscard]] const ConstrainedDynamics& dynamics() const;  // likewise
    [[nodiscard]] const std::vector<bool>& off() const { return off_; }
    // by friction that leaves rest where it was looked at last: the direction; zero for the others
    [[nodiscard]] std::vector<std::array<double, 3>> leaves_along() const;
    // what happened: the first ones, as many as are to be kept, and the last one; and how many in all
    [[nodiscard]] const std::vector<RunEvent>& events() const { return events_; }
    // whether forces are unique at a row of the run; what was found
    void look_at_forces(double t, std::span<const double> x);
    [[nodiscard]] const ForcesChosen& forces_chosen() const { return choices_.chosen(); }
    [[nodiscard]] std::size_t event_count() const { return event_count_; }
    void keep_events(std::size_t most);
    // called with the state after each accepted step
    void at_steps(std::function<void(double t, std::span<const double> x)> look) { at_steps_ = std::move(look); }
    // how often conditions in laws switched
    // by guard, in the order of their names
    [[nodiscard]] std::vector<GuardRemark> remarks() const;
    [[nodiscard]] std::size_t law_switches() const { return laws_ ? laws_->switches() : 0; }
    // why a run ended that something switched in
    [[nodiscard]] Diagnostic failure(const SimulateSummary& summary) const;
    // kinetic and potential, at a state
    double energy(double t, std::span<const double> x);
    // "floor closed, floor sticks"; empty when nothing is switched
    [[nodiscard]] std::string describe() const;

private:
    void remark(const GuardNote& note, const std::string& guard);
    Mode* mode(std::span<const double> x);  // of what is on; made when it is first needed
    void judge_independent(const Mode& mode);
    bool change_to_mode(std::span<const double> x);
    bool inspect(double t, std::span<const double> x);
    bool project(double t, std::span<double> x, bool from_start);
    bool enter(double t, std::span<const double> x, std::vector<double>& there);
    bool settle(double t, std::span<double> x);
    bool choose_mode(double t, std::span<double> x);
    bool search(double t, std::span<double> x);
    bool impact(double t, std::span<double> x, const std::vector<std::size_t>& closing);
    // by one contact after the other; false where that finds none
    bool exchange_contacts(double t, std::span<const double> x, const std::vector<bool>& touching, std::vector<double>& after);
    bool change_least(double t, std::span<const double> x, const std::vector<bool>& touching, std::vector<double>& after);
    void judge_impact(double t, std::span<const double> x, const std::vector<bool>& touching, std::span<const double> after);
    bool open_one_that_contradicts(double t, std::span<const double> x);
    void begin_friction(std::size_t constraint);
    void open(std::size_t contact);
    void close(std::size_t contact);
    [[nodiscard]] bool is_held_by_others(std::size_t friction) const;  // at its bound, but something else keeps it from sliding
    void slide(std::size_t friction, const std::array<double, 3>& direction);
    // friction that sticks
    [[nodiscard]] std::vector<std::size_t> holding() const;
    [[nodiscard]] bool reached_bound(std::size_t friction) const;
    void stick_at_rest(std::size_t first);
    void give_friction_parameters(Mode& mode) const;
    bool inspect_again(double t, std::span<const double> x);
    bool use_frictions_alike(double t, std::span<const double> x);
    bool others_hold(double t, std::span<const double> x);
    bool frictions_hold(double t, std::span<const double> x, bool at_bound);
    bool give_way(double t, std::span<const double> x);
    bool turn_to_slip(double t, std::span<const double> x);
    bool turn_to_slip(double t, std::span<const double> x, std::span<const std::size_t> starting);
    // slip that begins in a plane (slip_onset.cpp)
    struct SlipTrial {
        std::vector<std::array<double, 3>> direction, turning;  // by slip
        std::vector<double> speed;                              // likewise, at its end
        double error = 0;                                       // of the slips, in parts of what the tolerances allow
        std::vector<double> slow_enough{};                      // for fixed steps: by slip, the speed that they need at its end
        bool too_fast = false;                                  // one of the slips is slower than that
    };
    [[nodiscard]] bool slides_in_plane(std::size_t friction) const;
    std::optional<std::vector<double>> predict(MotionProgram& rate, double t, std::span<const double> x, double after);
    std::optional<SlipTrial> try_slips(double t, std::span<const double> x, std::span<const std::size_t> slips, double duration);
    bool find_slow_enough(double t, std::span<const double> x, std::span<const std::size_t> slips, SlipTrial& out);
    bool try_all_slips(double t, std::span<const double> x, const std::vector<std::size_t>& slips);
    bool begin_slips(double t, std::span<const double> x);
    std::optional<std::vector<GuardMeaning>> end_slip_onset(double t, std::span<const double> x);
    bool remember_directions(double t, std::span<const double> x);

    // what happens at one instant
    struct Instant {
        double t;
        std::vector<bool> off_before;
        std::vector<double> x_before;
        std::vector<std::string> what{};
        std::vector<bool> acted{};         // by event
        std::vector<bool> came_through{};  // by event: its expression came through zero at this instant, before anything acted
        std::vector<double> lies{};        // by event: its value before what acts next
        bool changed = false, stop = false;
    };
    using Flips = std::vector<LawSwitching::Flip>;
    Verdict happen(Instant& now, std::span<double> x, std::span<const GuardMeaning> happened, const Flips& flips);
    bool act(Instant& now, std::span<double> x, std::span<const GuardMeaning> happened, const Flips& flips);
    bool act_events(Instant& now, std::span<double> x, const std::vector<std::size_t>& events);
    bool decide_laws(double t, std::span<const double> x, const Flips& flips);
    bool laws_have_values(double t, std::span<const double> x);
    bool switch_laws(Instant& now, std::span<double> x, const Flips& flips);
    bool take_up(Instant& now, std::span<double> x);
    bool settle_all(double t, std::span<double> x);
    void switch_contacts(Instant& now, std::span<const GuardMeaning> happened, std::vector<std::size_t>& closing);
    bool apply(const Event& event, std::size_t index, double t, std::span<double> x);
    bool set_values(const Event& event, std::size_t index, double t, std::span<double> x);
    void judge_order(double t, std::span<const double> x, std::span<const std::size_t> events);
    void judge_order(double t, std::span<const double> x, std::size_t first, std::size_t second);
    // what two events at an instant lead to, one after the other; none where they lead nowhere
    struct Outcome {
        std::vector<double> x;
        std::vector<bool> off;
    };
    std::optional<Outcome> outcome_of(double t, std::span<const double> x, std::size_t first, std::size_t second);
    bool keeps_contacts_open(double t);
    [[nodiscard]] double below_surface() const;
    [[nodiscard]] Diagnostic penetration(std::size_t contact, double t, double gap) const;
    // of the current mode
    [[nodiscard]] std::span<const EventValue> events_at(double t, std::span<const double> x);
    // what an event has made of its own expression, by itself
    [[nodiscard]] int own_side(const Instant& now, std::size_t event, std::span<const double> x);
    [[nodiscard]] int side_after(const Instant& now, std::size_t event, const EventValue& value) const;
    // which side of zero the events' expressions are on; and those that what acted moved to the other one
    void look_at_events(double t, std::span<const double> x);
    void look_at_events(Instant& now, std::span<const double> x, std::vector<GuardMeaning>& moved);
    void settle_guards(const Instant& now, std::span<const double> x);
    bool events_accumulate(const Instant& now);
    bool comes_back_unseen(double t, std::span<const double> x, std::span<const std::size_t> guards, std::span<const int> sides);
    void say(const Instant& now, std::span<const GuardMeaning> happened, std::span<const double> x);
    [[nodiscard]] std::size_t states() const { return m_.coordinates.size() + m_.speeds.size(); }
    void record(double t, std::string what, std::span<const double> x);
    bool fail(std::string why);

    std::function<void(double, std::span<const double>)> at_steps_;
    const ConstrainedDynamics& whole_;
    const Model& m_;
    Graph& g_;
    SwitchedSystem system_;
    LowerMotionOptions options_;
    double atol_, rtol_, duration_;
    double fixed_step_;  // 0: steps follow the tolerances
    int direction_of_time_;
    std::optional<LawSwitching> laws_;  // where there are conditions in them
    Diagnostics& diagnostics_;
    const std::vector<std::size_t>& contacts_;      // constraints
    std::vector<std::array<double, 3>> direction_;  // by friction: it slides in, or slid in last
    // By friction: whether its slip has only begun, with the direction above at the time turned_at_, and how that turns; until
    // when that may stand for the direction of the slip.
    std::vector<bool> begins_;
    std::vector<std::array<double, 3>> turning_;
    bool deciding_ = false;  // which contacts are closed and which frictions stick, at an instant
    double turned_at_ = 0, onset_end_ = std::numeric_limits<double>::infinity();
    double law_instant_ = 0;                            // the next one
    FrictionShares shares_;                             // of those that stick
    std::vector<std::size_t> reached_;                  // frictions that have just come to their bounds
    std::vector<std::vector<std::size_t>> set_places_;  // by event and set, in x
    std::vector<bool> off_;                             // by constraint
    std::map<std::vector<bool>, std::unique_ptr<Mode>> modes_;
    std::vector<std::unique_ptr<Mode>> retired_;
    Mode* now_ = nullptr;
    ContactState at_;  // of the last inspection
    Program energy_program_;
    std::optional<MotionProgram> energy_;
    std::size_t energy_sides_ = 0;  // conditions that it takes the sides of
    ForceChoices choices_;
    std::vector<RunEvent> events_;
    std::size_t event_count_ = 0, kept_events_ = 10'000;
    std::vector<int> event_sides_;  // by event, of its expression; 0: not known
    std::map<const Mode*, EventLook> looks_;
    struct Pace {  // of one event
        double last = 0, pause = 0;
        std::size_t shorter = 0;  // pauses, each shorter than the one before
    };
    std::map<std::size_t, Pace> paces_;
    std::vector<Settled> settled_;
    std::map<const Mode*, std::unique_ptr<ImpactProblem>> impacts_;
    bool impact_said_ = false;                                  // that one depends on the order
    bool choice_said_ = false;                                  // that a mode cannot use the independent speeds
    std::set<std::pair<std::size_t, std::size_t>> order_said_;  // pairs of events
    std::map<std::string, GuardRemark> remarks_;
    std::set<std::size_t> no_value_said_;  // events
    Diagnostic failure_{};
};

}  // namespace appell
