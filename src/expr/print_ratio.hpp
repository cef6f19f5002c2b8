// Numeric coefficients of printed terms: a number over a whole number. Fractions stay fractions (1/3), short decimals stay
// decimals (9.81); halves, quarters and eighths become fractions.
#pragma once

#include <string>

namespace appell {

struct Ratio {
    double num = 1;
    double den = 1;  // a whole number, at least 1

    [[nodiscard]] static Ratio from(double value);

    [[nodiscard]] bool is_zero() const { return num == 0; }
    [[nodiscard]] bool is_one() const { return num == 1 && den == 1; }
    [[nodiscard]] bool exact() const;  // a fraction of whole numbers
    [[nodiscard]] std::size_t length() const;

    friend bool operator==(const Ratio&, const Ratio&) = default;
};

[[nodiscard]] Ratio operator*(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio operator+(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio operator-(const Ratio& a);
[[nodiscard]] Ratio inverse(const Ratio& a);  // a is not zero
[[nodiscard]] Ratio power(const Ratio& a, int n);
// the largest fraction that divides both to whole numbers; 1 where one is not exact
[[nodiscard]] Ratio common_part(const Ratio& a, const Ratio& b);

}  // namespace appell
