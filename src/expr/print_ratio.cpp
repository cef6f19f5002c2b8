#include "expr/print_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <numeric>

#include "base/number_format.hpp"
#include "expr/scalar_math.hpp"

namespace appell {

namespace {

constexpr double k_whole = 9007199254740992.0;  // beyond it not every whole number is a double

bool whole(double x) { return std::abs(x) < k_whole && x == std::floor(x); }

double gcd(double a, double b) {
    return static_cast<double>(std::gcd(static_cast<long long>(std::abs(a)), static_cast<long long>(std::abs(b))));
}

// 0.1 * 3 is meant to be 0.3: a result one rounding away from a short decimal is that decimal
double shortened(double x) {
    if (round_trip(x).size() < 15) return x;
    const double near = std::strtod(short_number(x, 14).c_str(), nullptr);
    return std::abs(near - x) <= 4e-16 * std::abs(x) ? near : x;
}

Ratio reduced(double num, double den) {
    if (!std::isfinite(num) || !std::isfinite(den)) return {num, 1};
    if (!whole(den)) return {shortened(num / den), 1};
    if (den < 0) num = -num, den = -den;
    if (!whole(num)) return {shortened(num), den};
    if (num == 0) return {0, 1};
    const double common = gcd(num, den);
    return {num / common, den / common};
}

}  // namespace

Ratio Ratio::from(double value) {
    if (whole(value) || !std::isfinite(value)) return {value, 1};
    for (const double den : {2.0, 4.0, 8.0})
        if (whole(value * den) && std::abs(value * den) <= 1000) return {value * den, den};
    if (round_trip(value).size() > 12)
        for (double den = 3; den <= 64; ++den)
            if (const double num = std::round(value * den); num != 0 && std::abs(num) <= 1000 && num / den == value)
                return reduced(num, den);
    return {value, 1};
}

bool Ratio::exact() const { return whole(num); }

std::size_t Ratio::length() const {
    std::size_t length = 0;
    if (std::abs(num) != 1) length += round_trip(std::abs(num)).size() + 1;
    if (den != 1) length += round_trip(den).size() + 1;
    return length;
}

Ratio operator*(const Ratio& a, const Ratio& b) { return reduced(a.num * b.num, a.den * b.den); }

Ratio operator+(const Ratio& a, const Ratio& b) {
    if (a.den == b.den) return reduced(shortened(a.num + b.num), a.den);
    if (a.exact() && b.exact()) return reduced(a.num * b.den + b.num * a.den, a.den * b.den);
    return {shortened(a.num / a.den + b.num / b.den), 1};
}

Ratio operator-(const Ratio& a) { return {a.num == 0 ? 0 : -a.num, a.den}; }

Ratio inverse(const Ratio& a) { return reduced(a.den, a.num); }

Ratio power(const Ratio& a, int n) {
    if (n < 0) return power(inverse(a), -n);
    return reduced(int_power(a.num, n), int_power(a.den, n));
}

Ratio common_part(const Ratio& a, const Ratio& b) {
    if (!a.exact() || !b.exact()) return {1, 1};
    const double den = a.den / gcd(a.den, b.den) * b.den;
    return whole(den) ? Ratio{gcd(a.num, b.num), den} : Ratio{1, 1};
}

}  // namespace appell
