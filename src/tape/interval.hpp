// Intervals that enclose: the result of every operation contains all results for operands inside the intervals given, the
// round-off of both ends included. Ends may be infinite. Where an operation has no value for part of its operand, that part is
// left out; where it has none at all, both ends are not numbers.
//
// The functions have the names that the operation table (expr/ops.def) calls, so that values and slopes of all operations come
// from the table.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace appell {

struct Interval {
    double lo = 0, hi = 0;

    Interval() = default;
    constexpr Interval(double point) : lo(point), hi(point) {}
    constexpr Interval(double low, double high) : lo(low), hi(high) {}

    [[nodiscard]] static constexpr Interval entire() {
        return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    }
    [[nodiscard]] static constexpr Interval nothing() {
        return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    }

    [[nodiscard]] bool contains(double x) const { return lo <= x && x <= hi; }
    [[nodiscard]] bool empty() const { return std::isnan(lo) || std::isnan(hi); }
    [[nodiscard]] bool bounded() const { return lo - lo == 0 && hi - hi == 0; }
    [[nodiscard]] double middle() const { return 0.5 * lo + 0.5 * hi; }
    [[nodiscard]] double largest() const { return std::max(std::abs(lo), std::abs(hi)); }
    [[nodiscard]] double width() const { return hi - lo; }
};

namespace interval_detail {

// library functions err by less than one unit in the last place; so much is added at each end
inline constexpr double k_round_off = 4 * std::numeric_limits<double>::epsilon();
inline constexpr double k_least = 4 * std::numeric_limits<double>::denorm_min();

inline Interval widened(double lo, double hi) {
    // what overflowed may be anything beyond the largest number
    constexpr double most = std::numeric_limits<double>::max();
    lo = std::min(lo, most);
    hi = std::max(hi, -most);
    return {lo - k_round_off * std::abs(lo) - k_least, hi + k_round_off * std::abs(hi) + k_least};
}
// Sums and products of truths, and of other small whole numbers, are exact: what decides an `if` must not be near zero.
inline bool whole(const Interval& x) { return x.lo == x.hi && std::abs(x.lo) < 1e6 && x.lo == std::trunc(x.lo); }
// 0 times infinity is 0: an end that is not reached
inline double product(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }

template <class Function>
Interval increasing(const Interval& x, Function f) {
    return widened(f(x.lo), f(x.hi));
}
// of the part of x in [lo, hi]
inline Interval part(const Interval& x, double lo, double hi) {
    if (!(x.hi >= lo) || !(x.lo <= hi)) return Interval::nothing();
    return {std::max(x.lo, lo), std::min(x.hi, hi)};
}

}  // namespace interval_detail

inline Interval hull(const Interval& x, const Interval& y) { return {std::min(x.lo, y.lo), std::max(x.hi, y.hi)}; }
// of two enclosures of one number
inline Interval common_part(const Interval& x, const Interval& y) {
    const Interval both{std::max(x.lo, y.lo), std::min(x.hi, y.hi)};
    return both.lo <= both.hi ? both : x;
}

inline Interval operator-(const Interval& x) { return {-x.hi, -x.lo}; }
inline Interval operator+(const Interval& x, const Interval& y) {
    if (interval_detail::whole(x) && interval_detail::whole(y)) return x.lo + y.lo;
    return interval_detail::widened(x.lo + y.lo, x.hi + y.hi);
}
inline Interval operator-(const Interval& x, const Interval& y) {
    if (interval_detail::whole(x) && interval_detail::whole(y)) return x.lo - y.lo;
    return interval_detail::widened(x.lo - y.hi, x.hi - y.lo);
}
inline Interval operator*(const Interval& x, const Interval& y) {
    using interval_detail::product;
    if (x.empty() || y.empty()) return Interval::nothing();
    if (interval_detail::whole(x) && interval_detail::whole(y)) return x.lo * y.lo;
    const double a = product(x.lo, y.lo), b = product(x.lo, y.hi), c = product(x.hi, y.lo), d = product(x.hi, y.hi);
    return interval_detail::widened(std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d)));
}
inline Interval operator/(const Interval& x, const Interval& y) {
    if (x.empty() || y.empty() || (y.lo == 0 && y.hi == 0)) return Interval::nothing();
    if (y.lo < 0 && y.hi > 0) return Interval::entire();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Interval inverse = y.lo == 0   ? Interval(1 / y.hi, infinity)
                             : y.hi == 0 ? Interval(-infinity, 1 / y.lo)
                                         : interval_detail::widened(1 / y.hi, 1 / y.lo);
    return x * inverse;
}

inline Interval sqrt(const Interval& x) {
    const Interval in = interval_detail::part(x, 0, std::numeric_limits<double>::infinity());
    Interval out = interval_detail::increasing(in, [](double v) { return std::sqrt(v); });
    out.lo = std::max(out.lo, 0.0);
    return in.empty() ? in : out;
}
inline Interval exp(const Interval& x) {
    Interval out = interval_detail::increasing(x, [](double v) { return std::exp(v); });
    out.lo = x.empty() ? out.lo : std::max(out.lo, 0.0);
    return out;
}
inline Interval log(const Interval& x) {
    return interval_detail::increasing(interval_detail::part(x, 0, std::numeric_limits<double>::infinity()),
                                       [](double v) { return std::log(v); });
}
inline Interval atan(const Interval& x) {
    return interval_detail::increasing(x, [](double v) { return std::atan(v); });
}
inline Interval sinh(const Interval& x) {
    return interval_detail::increasing(x, [](double v) { return std::sinh(v); });
}
inline Interval tanh(const Interval& x) {
    return interval_detail::increasing(x, [](double v) { return std::tanh(v); });
}
inline Interval asinh(const Interval& x) {
    return interval_detail::increasing(x, [](double v) { return std::asinh(v); });
}
inline Interval asin(const Interval& x) {
    return interval_detail::increasing(interval_detail::part(x, -1, 1), [](double v) { return std::asin(v); });
}
inline Interval acos(const Interval& x) {
    const Interval in = interval_detail::part(x, -1, 1);
    return interval_detail::widened(std::acos(in.hi), std::acos(in.lo));
}
inline Interval acosh(const Interval& x) {
    return interval_detail::increasing(interval_detail::part(x, 1, std::numeric_limits<double>::infinity()),
                                       [](double v) { return std::acosh(v); });
}
inline Interval atanh(const Interval& x) {
    return interval_detail::increasing(interval_detail::part(x, -1, 1), [](double v) { return std::atanh(v); });
}

inline Interval cosh(const Interval& x) {
    if (x.empty()) return x;
    const double low = std::cosh(x.lo), high = std::cosh(x.hi);
    return interval_detail::widened(x.contains(0) ? 1 : std::min(low, high), std::max(low, high));
}

// 1 at the multiples of 2 pi from `crest` on
inline Interval wave(const Interval& x, double (*f)(double), double crest) {
    constexpr double pi = std::numbers::pi, turn = 2 * pi;
    // beyond that the argument is not known to a hundredth of a turn
    constexpr double k_far = 1e12;
    if (x.empty()) return x;
    if (!(x.width() < turn) || x.largest() > k_far) return {-1, 1};
    const auto inside = [&](double at) {  // some multiple of 2 pi from there on is in x, or nearly so
        const double slack = 8 * interval_detail::k_round_off * std::max(1.0, x.largest());
        return std::floor((x.hi + slack - at) / turn) >= std::ceil((x.lo - slack - at) / turn);
    };
    const double a = f(x.lo), b = f(x.hi);
    const Interval out = interval_detail::widened(std::min(a, b), std::max(a, b));
    return {inside(crest + pi) ? -1.0 : std::max(out.lo, -1.0), inside(crest) ? 1.0 : std::min(out.hi, 1.0)};
}
inline Interval sin(const Interval& x) {
    return wave(
        x, [](double v) { return std::sin(v); }, 0.5 * std::numbers::pi);
}
inline Interval cos(const Interval& x) {
    return wave(
        x, [](double v) { return std::cos(v); }, 0);
}
inline Interval tan(const Interval& x) {
    constexpr double pi = std::numbers::pi;
    if (x.empty()) return x;
    if (!(x.width() < pi) || x.largest() > 1e12) return Interval::entire();
    const double slack = 8 * interval_detail::k_round_off * std::max(1.0, x.largest());
    if (std::floor((x.hi + slack - 0.5 * pi) / pi) >= std::ceil((x.lo - slack - 0.5 * pi) / pi)) return Interval::entire();
    return interval_detail::increasing(x, [](double v) { return std::tan(v); });
}

inline Interval atan2(const Interval& y, const Interval& x) {
    constexpr double pi = std::numbers::pi;
    if (x.empty() || y.empty()) return Interval::nothing();
    if (x.lo > 0) return atan(y / x);
    if (y.lo > 0) return Interval(0.5 * pi) - atan(x / y);
    if (y.hi < 0) return Interval(-0.5 * pi) - atan(x / y);
    return interval_detail::widened(-pi, pi);
}

inline Interval int_power(const Interval& x, int n) {
    if (x.empty()) return x;
    if (n < 0) return Interval(1) / int_power(x, -n);
    const double a = std::pow(x.lo, n), b = std::pow(x.hi, n);
    if (n % 2 == 1) return interval_detail::widened(a, b);
    return interval_detail::widened(x.contains(0) ? 0.0 : std::min(a, b), std::max(a, b));
}
inline Interval pow(const Interval& x, const Interval& y) {
    if (y.lo == y.hi && y.lo == std::floor(y.lo) && std::abs(y.lo) < 1e9) return int_power(x, static_cast<int>(y.lo));
    const Interval base = interval_detail::part(x, 0, std::numeric_limits<double>::infinity());
    if (!(x.lo >= 0) && std::floor(y.hi) >= std::ceil(y.lo)) {  // negative numbers have their whole powers
        const Interval below = exp(y * log(-interval_detail::part(x, -std::numeric_limits<double>::infinity(), 0)));
        const Interval whole(-below.hi, below.hi);
        return base.empty() ? whole : hull(whole, exp(y * log(base)));
    }
    if (base.empty() || y.empty()) return Interval::nothing();
    if (y.lo == y.hi) {
        const double a = std::pow(base.lo, y.lo), b = std::pow(base.hi, y.lo);
        return interval_detail::widened(std::min(a, b), std::max(a, b));
    }
    return exp(y * log(base));
}

// ---------------------------------------------------------------- what the table needs of piecewise operations

inline Interval truth(bool surely, bool never) { return surely ? Interval(1) : never ? Interval(0) : Interval(0, 1); }
inline Interval less_value(const Interval& x, const Interval& y) { return truth(x.hi < y.lo, x.lo >= y.hi); }
inline Interval less_equal_value(const Interval& x, const Interval& y) { return truth(x.hi <= y.lo, x.lo > y.hi); }
inline Interval choose(const Interval& condition, const Interval& yes, const Interval& no) {
    if (condition.empty()) return Interval::nothing();
    if (!condition.contains(0)) return yes;
    if (condition.lo == 0 && condition.hi == 0) return no;
    return yes.empty() ? no : no.empty() ? yes : hull(yes, no);
}
inline Interval sign_value(const Interval& x) {
    if (x.empty()) return x;
    return {x.lo > 0 ? 1.0 : x.lo == 0 ? 0.0 : -1.0, x.hi > 0 ? 1.0 : x.hi == 0 ? 0.0 : -1.0};
}
inline Interval min_value(const Interval& x, const Interval& y) {
    if (x.empty() || y.empty()) return Interval::nothing();
    return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
}
inline Interval max_value(const Interval& x, const Interval& y) {
    if (x.empty() || y.empty()) return Interval::nothing();
    return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
}
inline Interval abs_value(const Interval& x) {
    if (x.empty() || x.lo >= 0) return x;
    return x.hi <= 0 ? -x : Interval(0, x.largest());
}
inline bool is_finite(const Interval& x) { return x.bounded(); }
// the names of the slopes' formulas
inline Interval less(const Interval& x, const Interval& y) { return less_value(x, y); }
inline Interval less_equal(const Interval& x, const Interval& y) { return less_equal_value(x, y); }
inline Interval sign(const Interval& x) { return sign_value(x); }
inline Interval conditional(const Interval& condition, const Interval& yes, const Interval& no) {
    return choose(condition, yes, no);
}

}  // namespace appell
