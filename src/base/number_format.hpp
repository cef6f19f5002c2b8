// Numbers as text. Files get the shortest form that reads back to the same double; people get short forms, with small
// rationals and multiples of pi recognised.
#pragma once

#include <string>

namespace appell {

// shortest decimal that reads back to exactly this double; "nan", "inf", "-inf" for the others
[[nodiscard]] std::string round_trip(double value);

// at most `digits` significant digits, trailing zeros dropped
[[nodiscard]] std::string short_number(double value, int digits = 6);

}  // namespace appell
