// Where things are in the rows of a trajectory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/scene.hpp"

namespace appell {

// Where things are in a trajectory row (after t). Columns from `visible` on are no part of the trajectory's table: constraint
// forces, where they are wanted, then what the plots need, then what the scene needs.
struct RowLayout {
    std::size_t coordinates = 0, speeds = 0, multipliers = 0, residuals = 0;  // begin of each group
    std::size_t kinetic = 0, potential = 0, energy = 0;
    std::size_t works = 0;  // one for each entry of the energy ledger, then the balance
    std::size_t outputs = 0;
    std::size_t visible = 0;
    std::size_t forces_end = 0;            // forces are from `visible` to here
    std::vector<std::string> force_units;  // of each
    std::string forces_frame;              // their components are along its axes

    static constexpr std::size_t k_time = static_cast<std::size_t>(-1);
    struct TraceColumns {
        std::size_t x, y;  // x of a trace against time is k_time
    };
    struct PlotColumns {
        std::vector<TraceColumns> traces;
        int across = 0, up = 1;  // Newtonian axes that paths are drawn in
    };
    std::vector<PlotColumns> plots;  // by plot of the model
    Scene scene;                     // where a report is wanted
};

}  // namespace appell
