// A finished run as data: the table of rows, where its columns are, how it ended. Filled by `pipeline`, written out by this
// folder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/drift_control.hpp"
#include "report/thinned_curve.hpp"
#include "sim/simulate.hpp"

namespace appell {

// Where things are in a trajectory row (after t). Columns from `visible` on are no part of the trajectory's table: constraint
// forces, where they are wanted, then what the plots need.
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
};

struct EnergyBalance {
    double start = 0, end = 0;
    double largest = 0;         // of |kinetic|, |potential|, |energy|, |works| over all rows
    double largest_change = 0;  // of the total energy from its start
    struct Entry {
        std::string name;
        double work = 0;  // at the end
    };
    std::vector<Entry> works;
    double error = 0;          // balance at the end: energy - its start - all works
    double largest_error = 0;  // of |balance|

    [[nodiscard]] double relative_error() const { return largest > 0 ? largest_error / largest : 0; }
};

// a curve that a plot of the run shows
struct RunCurve {
    std::size_t x, y;  // columns; x is k_time of a curve against time
    ThinnedCurve points;
};

// Something that happened at an instant: an impact, a change of mode, an event of the model.
struct RunEvent {
    double t;
    std::string what;
    std::vector<double> x;  // q, u behind it
};

struct Run {
    SimulateOptions options;  // as used
    std::string formulation;
    DriftControl drift = DriftControl::project;
    std::vector<double> gains;                                             // of Baumgarte's damping, where the user gave some
    std::vector<std::string> independent_coordinates, independent_speeds;  // of `minimal`: all that is integrated
    SimulateSummary summary;
    std::string start_mode;  // of contacts and friction
    std::vector<RunEvent> events;
    EnergyBalance energy;
    RowLayout layout;
    std::vector<std::string> columns;  // visible ones first
    std::vector<double> table;         // row by row: t, columns (visible and for plots); empty where somebody else took the rows
    std::vector<RunCurve> curves;
    std::size_t nodes = 0, instructions = 0;
    std::vector<std::pair<std::string, double>> phases;  // seconds

    [[nodiscard]] std::size_t width() const { return 1 + columns.size(); }
    [[nodiscard]] std::size_t rows() const { return table.size() / width(); }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const { return table[row * width() + 1 + column]; }
    [[nodiscard]] double t(std::size_t row) const { return table[row * width()]; }
};

// Takes the rows of a run as they come.
class RowConsumer {
public:
    virtual ~RowConsumer() = default;
    // the columns and their layout are known
    virtual void begin(const Run& run) = 0;
    virtual void row(double t, std::span<const double> columns) = 0;
};

}  // namespace appell
