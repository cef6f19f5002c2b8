// Follows the energy ledger along the rows of a run: fills in the balance of each row, keeps what the summary tells, and judges
// it.
#pragma once

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
    void note(std::span<double> row);
    [[nodiscard]] const EnergyBalance& balance() const { return balance_; }

    // A balance error beyond what steps within the tolerances can add up to is a warning.
    void judge(Diagnostics& diagnostics, const Model& model, const SimulateOptions& options,
               const SimulateSummary& summary) const;

private:
    std::size_t kinetic_, potential_, energy_, works_, speeds_, speeds_end_;
    bool started_ = false;
    double largest_speed_ = 0;
    EnergyBalance balance_;
};

}  // namespace appell
