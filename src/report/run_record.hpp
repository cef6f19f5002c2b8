// A finished run as data: the table of rows, where its columns are, how it ended. Filled by `pipeline`, written out by this
// folder.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/drift_control.hpp"
#include "report/report_rows.hpp"
#include "report/row_layout.hpp"
#include "report/thinned_curve.hpp"
#include "sim/simulate.hpp"

namespace appell {

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

// Forces that are not unique, and what was done about it.
struct ForcesChosen {
    std::vector<std::string> constraints;  // whose forces they are; those of least norm were taken
    std::vector<std::string> shares;       // as the model states them
    std::optional<double> motion_since;    // the time at which the motion was first seen to depend on the choice

    [[nodiscard]] bool any() const { return !constraints.empty() || !shares.empty(); }
    [[nodiscard]] std::string text() const;  // one sentence
};

// a column that is not finite in some rows
struct NotFinite {
    std::string column;
    std::size_t rows = 0;
    double first = 0;  // time
};

// What there is to say of a guard beside its passages: how often it came within round-off and tolerances of zero and went back,
// and whether it is sampled because it cannot be enclosed.
struct GuardRemark {
    std::string guard;
    std::size_t grazes = 0;
    double first_graze = 0;  // time
    bool sampled = false;
};

struct Run {
    SimulateOptions options;  // as used
    std::string formulation;
    DriftControl drift = DriftControl::project;
    std::vector<double> gains;                                             // of Baumgarte's damping, where the user gave some
    std::vector<std::string> independent_coordinates, independent_speeds;  // of `minimal`: all that is integrated
    SimulateSummary summary;
    std::string start_mode;  // of contacts and friction
    ForcesChosen forces;
    std::vector<std::string> completed;  // conditions that hid in the constraints and were added to them
    std::vector<RunEvent> events;        // the first ones, and the last one
    std::size_t event_count = 0;         // of all
    std::size_t law_switches = 0;        // of conditions in laws
    std::vector<GuardRemark> guard_remarks;
    EnergyBalance energy;
    std::vector<NotFinite> not_finite;
    RowLayout layout;
    std::vector<std::string> columns;  // visible ones first
    std::vector<double> table;         // row by row: t, columns (visible and for plots); empty where somebody else took the rows
    std::vector<RunCurve> curves;
    std::optional<ReportRows> report_rows;  // where a report is wanted
    std::size_t nodes = 0, instructions = 0;
    std::vector<std::pair<std::string, double>> phases;  // seconds

    [[nodiscard]] bool backwards() const { return options.t1 < options.t0; }
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
