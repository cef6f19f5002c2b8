// What a run leaves: trajectory.csv, summary.json and the plots, as text ready to be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "model/model.hpp"
#include "report/run_record.hpp"

namespace appell {

[[nodiscard]] std::string summary_json(const Model& model, const Run& run, const Diagnostics& diagnostics,
                                       const SourceSet& sources, std::string_view version);

struct NamedPlot {
    std::string name;  // file name without its ending
    std::string svg;
};
// the curves that the plots below need, without points; `works`: entries of the energy ledger
[[nodiscard]] std::vector<RunCurve> plot_curves(const RowLayout& layout, std::size_t works);
// the model's plots, and after them the energies and, where there are constraints, the residuals
[[nodiscard]] std::vector<NamedPlot> run_plots(const Model& model, const Run& run);

// Diagnostics as JSON, for --json: an array of objects.
[[nodiscard]] std::string diagnostics_json(const Diagnostics& diagnostics, const SourceSet& sources);

}  // namespace appell
