// Long formulas over several lines. LaTeX breaks no displayed formula by itself; this does it for what expr/print writes: at the
// plus and minus signs of sums, inside parentheses where a product is too long, and in the numerator of a fraction that is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace appell {

// estimated width of a displayed formula, in points of a 10 pt font
[[nodiscard]] double latex_width(std::string_view formula);

// The formula in lines no wider than the limits, as far as it has places to break at. A line that continues a sum begins with
// "{} +" or "{} -". One line, unchanged, if it fits.
[[nodiscard]] std::vector<std::string> latex_lines(const std::string& formula, double first_limit, double limit);

}  // namespace appell
