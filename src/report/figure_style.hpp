// The look of figures, once: the text of a style sheet, which SVG files carry, and its values for those who draw themselves.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace appell {

// `print`: no dark variant, darker letters
[[nodiscard]] std::string style_sheet(bool print);

struct InkStyle {
    std::optional<std::array<double, 3>> fill, stroke;  // red, green, blue, from 0 to 1
    double fill_opacity = 1;
    double stroke_width = 1;
    std::vector<double> dashes;
    bool round = false;  // ends and joints of lines
    double font_size = 0;
    bool bold = false;
};

// what the classes together say on light ground
[[nodiscard]] InkStyle ink_style(std::string_view classes, bool print);

}  // namespace appell
