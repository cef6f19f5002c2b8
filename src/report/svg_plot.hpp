// Plots: curves over a pair of axes, with the typography of a printed figure, readable on light and on dark ground and without
// colour vision. Same spec, same bytes.
#pragma once

#include <string>
#include <vector>

#include "report/figure.hpp"

namespace appell {

struct Curve {
    std::string label;
    std::vector<double> x, y;  // of equal length; values that are not finite leave a gap
};

struct PlotSpec {
    std::string title, x_label, y_label;  // without a y label, a single curve's own label is taken
    std::vector<Curve> curves;
    bool equal_axes = false;            // one unit is as long on both axes: for paths
    bool mark_start = false;            // a dot at the first point of each curve and a ring at the last
    bool log_x = false, log_y = false;  // logarithmic axes: values that are not positive leave a gap, too
    bool print = false;                 // for paper: every curve has a pattern of its own
    double width = 720, height = 440;
};

[[nodiscard]] Figure draw_plot(const PlotSpec& spec);

[[nodiscard]] std::string render_svg(const PlotSpec& spec);

}  // namespace appell
