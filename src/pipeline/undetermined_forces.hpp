// Forces that are not unique while laws, limits of friction or contacts look at them: which they are, how they were chosen, and
// whether the motion depends on the choice (dynam/shares.hpp, doctor/force_choice.hpp).
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "doctor/force_choice.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/shares.hpp"
#include "pipeline/lower_motion.hpp"
#include "report/run_record.hpp"
#include "sim/motion_program.hpp"

namespace appell {

// The model's shares, as far as they fit where the motion is (shares_that_fit). One that does not is an error at the start, where
// all its constraints are on; later it has no effect.
[[nodiscard]] bool fit_shares(ConstrainedDynamics& dynamics, LowerMotionOptions options, bool at_start, Diagnostics& diagnostics);

// The rows of one mode, as a program that gives what look_at_choice asks for.
class UndeterminedForces {
public:
    // `lowered` outlives this
    UndeterminedForces(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered, FrozenConditions* conditions);

    // nothing in this mode looks at forces that could be chosen
    [[nodiscard]] bool idle() const { return !evaluated_; }
    void be_idle() { evaluated_.reset(); }
    // something may look at them, and the rows or speeds are more than are examined
    [[nodiscard]] bool too_many() const { return too_many_; }
    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t speeds() const { return speeds_; }
    // values by symbol, of the state where the motion starts
    [[nodiscard]] std::span<const double> start_values() const { return start_values_; }
    void set_parameter(std::size_t place, double value) {
        if (evaluated_) evaluated_->set_parameter(place, value);
    }
    // at a state; rows are those of the dynamics
    [[nodiscard]] ForceChoice look(double t, std::span<const double> x);

private:
    std::size_t speeds_ = 0, rows_ = 0;
    bool too_many_ = false;
    std::span<const double> start_values_;
    std::vector<SharedRows> shared_;
    Program program_;
    std::optional<MotionProgram> evaluated_;
    std::vector<std::uint32_t> kept_;  // rows of the dynamics that ideal forces keep
};

// What is said of them in a run or a check, once each.
class ForceChoices {
public:
    explicit ForceChoices(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void look(const ConstrainedDynamics& dynamics, UndeterminedForces& forces, double t, std::span<const double> x);
    [[nodiscard]] const ForcesChosen& chosen() const { return chosen_; }

private:
    void say_choice(const ConstrainedDynamics& dynamics, const UndeterminedForces& forces, const std::vector<std::size_t>& rows);
    void say_unexamined(const ConstrainedDynamics& dynamics, const UndeterminedForces& forces);

    Diagnostics& diagnostics_;
    ForcesChosen chosen_;
    std::set<std::vector<std::string>> said_;
    bool unexamined_ = false;
};

}  // namespace appell
