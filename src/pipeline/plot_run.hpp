// Curves from a run that has been made: what is recorded is taken as it is, what is not is computed from the recorded state.
#pragma once

#include <optional>
#include <string>

#include "pipeline/pipeline.hpp"
#include "report/recorded_run.hpp"
#include "report/svg_plot.hpp"

namespace appell {

struct PlotRequest {
    std::string text;                // "EXPR, ... [vs EXPR]" or "path(POINT), ...", like the model's own `plot`
    std::optional<double> from, to;  // times of the rows
    bool log_x = false, log_y = false;
};

struct PlotOfRun {
    std::optional<PlotSpec> spec;  // without title and size
    Diagnostics diagnostics;
    SourceSet sources;  // of the diagnostics
};

[[nodiscard]] PlotOfRun plot_of_run(const RecordedRun& run, const PlotRequest& request);

}  // namespace appell
