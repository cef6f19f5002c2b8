// Plots as SVG text: curves over a linear pair of axes, with the typography of a printed figure, readable on light and on
// dark ground and without colour vision. The result stands alone as a file and can be put into an HTML page as it is: it has
// no ids, and all its classes begin with "ap-". Same spec, same bytes.
#pragma once

#include <string>
#include <vector>

namespace appell {

struct Curve {
    std::string label;
    std::vector<double> x, y;  // of equal length; values that are not finite leave a gap
};

struct PlotSpec {
    std::string title, x_label, y_label;  // without a y label, a single curve's own label is taken
    std::vector<Curve> curves;
    bool equal_axes = false;  // one unit is as long on both axes: for paths
    bool mark_start = false;  // a dot at the first point of each curve and a ring at the last
    int width = 720, height = 440;
};

[[nodiscard]] std::string render_svg(const PlotSpec& spec);

}  // namespace appell
