#include "base/number_format.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace appell {

std::string round_trip(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

std::string short_number(double value, int digits) { return std::isnan(value) ? "nan" : fmt::format("{:.{}g}", value, digits); }

}  // namespace appell
