// From data to strokes on the screen: gaps where values can not be shown, and long traces thinned without a visible change.
//
// A stroke whose x never turns back (a signal over time) keeps, in every pixel column, its first, lowest, highest and last
// point: the drawn envelope is that of all points. Any other stroke (a path) drops points within a fraction of a pixel of the
// last one kept, and keeps its outermost points.
#pragma once

#include <string>
#include <vector>

#include "report/svg_ticks.hpp"

namespace appell {

struct ScreenPoint {
    double x = 0;
    double y = 0;
    friend bool operator==(const ScreenPoint&, const ScreenPoint&) = default;
};
using Stroke = std::vector<ScreenPoint>;

// Data to pixels: left, top, width and height of the plotting area.
struct Viewport {
    AxisRange x, y;
    double left = 0, top = 0, width = 1, height = 1;

    [[nodiscard]] double to_x(double value) const { return left + (value - x.low) / (x.high - x.low) * width; }
    [[nodiscard]] double to_y(double value) const { return top + height - (value - y.low) / (y.high - y.low) * height; }
};

// one stroke for each unbroken piece of the data
[[nodiscard]] std::vector<Stroke> make_strokes(const std::vector<double>& x, const std::vector<double>& y, const Viewport& view);
[[nodiscard]] Stroke thin_stroke(const Stroke& stroke);
[[nodiscard]] bool touches_box(const Stroke& stroke, double left, double top, double right, double bottom);

// path data: M x y L ..., hundredths of a pixel
[[nodiscard]] std::string path_data(const Stroke& stroke);
[[nodiscard]] std::string pixel_text(double value);

}  // namespace appell
