// The numbers of a report as JSON, for the page's scripts: columns, plots, the scene and its frames, events. Schema 1:
//   t        times of all columns that have none of their own
//   columns  {name, v, t where the column was thinned}
//   plots    {title, kind: time | path | xy, x, y, more, traces: {label, x, y}}; x, y of traces index `columns`
//   scene    {t, frame, gravity, points, bodies, links, arrows}; tracks by frame, or one value where nothing changes
//   events   {t, what}
// Numbers in bulk are little-endian doubles (columns, times) and floats (scene) in base 64.
#pragma once

#include <string>
#include <string_view>

#include "model/model.hpp"
#include "report/run_record.hpp"

namespace appell {

[[nodiscard]] std::string report_data_json(const Model& model, const Run& run, std::string_view version);

// titles of the plots in the same order, and whether a plot is shown on demand only
struct ReportPlot {
    std::string title;
    bool more = false;
};
[[nodiscard]] std::vector<ReportPlot> report_plots(const Model& model, const Run& run);

}  // namespace appell
