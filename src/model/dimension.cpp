#include "model/dimension.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace appell {

Dimension operator*(Dimension a, Dimension b) {
    for (std::size_t i = 0; i < 3; ++i) a.exponent[i] = static_cast<std::int16_t>(a.exponent[i] + b.exponent[i]);
    return a;
}

Dimension operator/(Dimension a, Dimension b) { return a * power(b, -1, 1); }

Dimension power(Dimension a, int numerator, int denominator) {
    for (auto& e : a.exponent) e = static_cast<std::int16_t>(e * numerator / denominator);
    return a;
}

std::string si_text(Dimension dimension) {
    if (dimension.none()) return "1";
    static constexpr std::pair<std::string_view, Dimension> k_named[] = {
        {"N", Dimension::of(1, 1, -2)},   {"J", Dimension::of(2, 1, -2)},   {"W", Dimension::of(2, 1, -3)},
        {"Pa", Dimension::of(-1, 1, -2)}, {"N/m", Dimension::of(0, 1, -2)}, {"N s/m", Dimension::of(0, 1, -1)},
    };
    for (const auto& [name, named] : k_named)
        if (named == dimension) return std::string(name);
    static constexpr std::array<std::string_view, 3> k_base{"m", "kg", "s"};
    static constexpr std::array<std::size_t, 3> k_order{1, 0, 2};  // kg m s
    std::string above, below;
    for (const std::size_t i : k_order) {
        const int e = dimension.exponent[i];
        if (e == 0) continue;
        const int size = e < 0 ? -e : e;
        std::string& side = e > 0 ? above : below;
        if (!side.empty()) side += ' ';
        side += k_base[i];
        if (size % Dimension::k_unit != 0)
            side += fmt::format("^({}/{})", size, Dimension::k_unit);
        else if (size != Dimension::k_unit)
            side += fmt::format("^{}", size / Dimension::k_unit);
    }
    if (below.empty()) return above;
    const bool several = below.find(' ') != std::string::npos;
    return (above.empty() ? "1" : above) + "/" + (several ? "(" + below + ")" : below);
}

}  // namespace appell
