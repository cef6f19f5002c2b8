// Physical dimensions: powers of length, mass and time. Angles have none. Exponents are kept in twelfths, so that roots stay
// exact.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace appell {

struct Dimension {
    static constexpr int k_unit = 12;               // exponent 1
    std::array<std::int16_t, 3> exponent{0, 0, 0};  // length, mass, time; in twelfths

    [[nodiscard]] static constexpr Dimension of(int length, int mass, int time) {
        return {{static_cast<std::int16_t>(length * k_unit), static_cast<std::int16_t>(mass * k_unit),
                 static_cast<std::int16_t>(time * k_unit)}};
    }
    [[nodiscard]] constexpr bool none() const { return exponent[0] == 0 && exponent[1] == 0 && exponent[2] == 0; }
    friend constexpr auto operator<=>(const Dimension&, const Dimension&) = default;
};

[[nodiscard]] Dimension operator*(Dimension a, Dimension b);
[[nodiscard]] Dimension operator/(Dimension a, Dimension b);
// a^(numerator/denominator)
[[nodiscard]] Dimension power(Dimension a, int numerator, int denominator);
// SI text: "kg m^2/s^2"; "1" for none; named units where one fits ("N", "J", "N m" stays "J")
[[nodiscard]] std::string si_text(Dimension dimension);

}  // namespace appell
