// What a run leaves: trajectory.csv, summary.json and the plots, as text ready to be written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "model/model.hpp"
#include "report/run_record.hpp"
#include "report/svg_plot.hpp"

namespace appell {

struct RunSource {
    std::string_view version;           // of the program
    std::map<std::string, double> set;  // what was given in place of the model's own values
};
// forces that are not unique, and how they were chosen
[[nodiscard]] std::string forces_chosen_json(const ForcesChosen& forces);

[[nodiscard]] std::string summary_json(const Model& model, const Run& run, const Diagnostics& diagnostics,
                                       const SourceSet& sources, const RunSource& source);

// A plot of the run: labels, and the columns of its curves, which are still without points.
struct RunPlot {
    std::string name;
    PlotSpec spec;
    std::vector<RowLayout::TraceColumns> columns;  // by curve
};
// the model's plots, and after them the energies and, where there are constraints, the residuals
[[nodiscard]] std::vector<RunPlot> plot_list(const Model& model, const Run& run);

struct NamedPlot {
    std::string name;  // file name without its ending
    std::string svg;
};
// the curves that the plots below need, without points; `works`: entries of the energy ledger
[[nodiscard]] std::vector<RunCurve> plot_curves(const RowLayout& layout, std::size_t works);
// how they are called, whether or not there are residuals among them
[[nodiscard]] std::vector<std::string> plot_file_names(const Model& model, bool residuals);
// the plots of the list, drawn
[[nodiscard]] std::vector<NamedPlot> run_plots(const Model& model, const Run& run);

// Diagnostics as JSON, for --json: an array of objects.
[[nodiscard]] std::string diagnostics_json(const Diagnostics& diagnostics, const SourceSet& sources);

}  // namespace appell
