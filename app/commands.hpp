// The commands, one function each. Each returns the process's exit code: 0 good, 1 the model or the run has a problem.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/export_code.hpp"
#include "pipeline/linearize.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/plot_run.hpp"
#include "pipeline/print_equations.hpp"
#include "report/run_state.hpp"

namespace appell {

struct SharedOptions {
    bool json = false;
    std::vector<std::string> set;        // name=value
    std::vector<std::string> limit;      // name=value
    bool force = false;                  // files that are in the way are replaced
    std::vector<std::string> arguments;  // of the command line
    bool complete = false;               // conditions that hide in the constraints are added to them
};

struct RunCommand {
    RunOptions options;
    std::string out;                  // folder; empty: named after the model file
    std::string every;                // spacing of rows: seconds, or `step`
    std::string resume;               // folder of a stopped run
    bool report = true;               // DIR/report.html
    RunState state;                   // what a run that is stopped leaves; its options are filled in
    std::optional<RunState> stopped;  // the run to go on with
};

struct SweepCommand {
    RunOptions options;
    std::vector<std::string> over, random;
    std::vector<std::string> extremes;  // columns
    std::size_t samples = 0, threads = 0;
    std::uint64_t seed = 1;
    std::string out;  // folder; empty: named after the model file
};

struct LinearizeCommand {
    LinearizeRequest request;
    std::string trim;    // equilibrium, steady, or empty
    std::string sweep;   // NAME=FROM:TO:COUNT, or empty
    std::string format;  // text, latex, markdown
    std::string out;     // folder of a sweep; empty: named after the model file
};

struct ExportCommand {
    ExportRequest request;
    std::string out;  // folder; empty: named after the model file
};

struct PlotCommand {
    PlotRequest request;
    std::string out;  // file
    std::string title;
    std::string log;                  // axes: "x", "y" or "xy"
    double width = 120, height = 75;  // millimetres
    double dpi = 300;                 // of a PNG
};

int check_command(const std::string& file, const SharedOptions& shared);
int derive_command(const std::string& file, PrintRequest request, const SharedOptions& shared);
int run_command(const std::string& file, RunCommand command, const SharedOptions& shared);
int sweep_command(const std::string& file, SweepCommand command, const SharedOptions& shared);
int linearize_command(const std::string& file, LinearizeCommand command, const SharedOptions& shared);
// what the run in this folder goes on from; problems are shown
[[nodiscard]] std::optional<RunState> read_stopped_run(const std::string& folder, const SharedOptions& shared);
// the state of that run does not fit: exit code 1
int refuse_to_resume(const std::string& folder, const std::string& found, const SharedOptions& shared);
int export_command(const std::string& file, ExportCommand command, const SharedOptions& shared);
int plot_command(const std::string& folder, PlotCommand command, const SharedOptions& shared);
// `check`: nothing is written, and a file that is laid out otherwise is a problem
int format_command(const std::vector<std::string>& files, bool check, const SharedOptions& shared);
int gallery_command(const std::string& name, const SharedOptions& shared);
int explain_command(const std::string& code, const SharedOptions& shared);

// Wrong usage found after parsing: a --set or --limit that is not name=value, a --sweep or --over that is no range.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace appell
