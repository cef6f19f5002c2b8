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
    [[nodiscard]] const EnergyBalance& balance() const { return balance_; }

    // the energy at a state (q, u)
    using Energy = std::function<double(double t, std::span<const double> x)>;
    // A balance error beyond what steps within the tolerances can add up to is a warning.
    void judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options, const SimulateSummary& summary,
               const Energy& energy) const;

private:
    struct State {
        double t;
        std::vector<double> x;
    };
    void keep(double t, std::span<const double> row);
    [[nodiscard]] double largest_slack(const SimulateOptions& options, const Energy& energy) const;

    std::size_t coordinates_, speeds_end_, kinetic_, potential_, energy_, works_;
    bool started_ = false;
    double potential_start_ = 0, largest_moved_ = 0;  // of kinetic energy, changes of the potential one, and works
    std::vector<State> kept_;                         // a few rows' states, all along the run
    std::size_t rows_ = 0, stride_ = 1;
    EnergyBalance balance_;
};

}  // namespace appell
