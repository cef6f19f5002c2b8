// Follows the energy ledger along the rows of a run: fills in the balance of each row, keeps what the summary tells, and judges
// it by what the tolerances explain.
//
// A step within the tolerances errs in each entry of the state by its tolerance at most, and in the energy by what these errors
// make of it (the slack of a state). What a ledger has lost stays lost, but nothing makes it grow: the steps' errors add up. Over
// the models of the gallery, at tolerances from 1e-4 to 1e-11, no integrator has lost half of what its steps may.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "model/model.hpp"
#include "report/run_record.hpp"

namespace appell {

class EnergyAudit {
public:
    EnergyAudit(const RowLayout& layout, const std::vector<std::string>& works);

    // puts the balance into its column
    void note(double t, std::span<double> row);
    // An accepted state (q, u, works so far) between the rows: a motion may rest at all rows, and move far between them.
    void step(double t, std::span<const double> x);
    [[nodiscard]] const EnergyBalance& balance() const { return balance_; }

    // the energy at a state (q, u)
    using Energy = std::function<double(double t, std::span<const double> x)>;
    // the powers whose integrals are the works, there
    using Powers = std::function<std::span<const double>(double t, std::span<const double> x)>;
    // A balance error beyond what steps within the tolerances can add up to is a warning.
    void judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options, const SimulateSummary& summary,
               const Energy& energy, const Powers& powers = {}) const;

private:
    struct State {
        double t;
        std::vector<double> x;
    };
    // a few of many states, all along the run: every first, second, fourth, ..., in room that is taken once
    class Sample {
    public:
        explicit Sample(std::size_t entries);
        void keep(double t, std::span<const double> x);
        [[nodiscard]] std::span<const State> states() const { return std::span(states_).first(count_); }

    private:
        std::vector<State> states_;
        std::size_t count_ = 0, seen_ = 0, stride_ = 1;
    };
    // What is judged by: the run, its equations, and how long one of its steps is.
    struct Judged {
        const SimulateOptions& options;
        const Energy& energy;
        Powers powers;
        double step;
    };
    [[nodiscard]] static double slack(const State& state, std::size_t entries, const Judged& of);
    [[nodiscard]] double largest_slack(const Judged& of) const;
    struct Sizes {
        double moved, any;
    };
    [[nodiscard]] Sizes sizes(const Energy& energy) const;
    [[nodiscard]] std::string not_finite() const;

    std::size_t coordinates_, speeds_end_, kinetic_, potential_, energy_, works_;
    std::size_t speeds_begin_;  // in a state
    bool started_ = false;
    double potential_start_ = 0, largest_moved_ = 0;  // of kinetic energy, changes of the potential one, and works
    std::string energy_without_value_;                // the first that was not finite
    Sample rows_, steps_;
    EnergyBalance balance_;
};

}  // namespace appell
