// A drawing as data: marks in the order they are laid on, in pixels (1/96 inch) from the upper left corner. One sheet of styles
// (figure_style.hpp) says what they look like. What makes a figure knows no file format, and what writes one knows no plots.
#pragma once

#include <string>
#include <vector>

#include "report/svg_trace.hpp"

namespace appell {

struct FigureMark {
    enum class Kind { path, circle, box, text };
    enum class Anchor { start, middle, end };

    Kind kind = Kind::path;
    std::string style;            // classes of the sheet, separated by blanks
    std::vector<Stroke> strokes;  // of a path
    std::string text;             // content of a text; what a pointer over a path is told
    double x = 0, y = 0;          // of a text: on its base line; of a circle: its centre
    double width = 0, height = 0;
    double radius = 0;  // of a circle, or of a box's corners
    Anchor anchor = Anchor::start;
    bool upwards = false;  // a text that runs from bottom to top
};

struct Figure {
    double width = 0, height = 0;
    std::string title;
    bool print = false;  // for paper: a size in millimetres, ink on white whatever the screen is like
    std::vector<FigureMark> marks;
};

inline constexpr double k_pixels_per_millimetre = 96 / 25.4;

// stands alone as a file and can be put into an HTML page as it is: no ids, and all its classes begin with "ap-"
[[nodiscard]] std::string figure_svg(const Figure& figure);
// one page of the figure's size, with text that can be selected
[[nodiscard]] std::string figure_pdf(const Figure& figure);
// antialiased; the file knows its resolution, so that it has the figure's size on paper
[[nodiscard]] std::string figure_png(const Figure& figure, double dots_per_inch);

}  // namespace appell
