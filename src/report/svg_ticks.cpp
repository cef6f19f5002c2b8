#include "report/svg_ticks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"

namespace appell {
namespace {

constexpr double k_largest = 1e300;
// ranges below this share of the values are round-off, not signal
constexpr double k_constant = 1e-12;
// how much of a step a tick may lie outside the range and still count as on its border
constexpr double k_border = 1e-9;

double times_power_of_ten(double value, int exponent) {
    // powers up to 10^22 are exact doubles, so one operation rounds once
    return exponent >= 0 ? value * std::pow(10.0, exponent) : value / std::pow(10.0, -exponent);
}

int digit_count(std::int64_t value) {
    int digits = 1;
    for (std::int64_t rest = std::abs(value) / 10; rest != 0; rest /= 10) ++digits;
    return digits;
}

std::string superscript(int value) {
    static constexpr const char* k_digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string out = value < 0 ? "⁻" : "";
    for (const char digit : std::to_string(std::abs(value))) out += k_digits[digit - '0'];
    return out;
}

// whole * 10^exponent as a plain decimal, exactly
std::string decimal(std::int64_t whole, int exponent) {
    std::string digits = std::to_string(std::abs(whole));
    if (exponent >= 0) {
        if (whole != 0) digits.append(static_cast<std::size_t>(exponent), '0');
    } else {
        const auto places = static_cast<std::size_t>(-exponent);
        if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
        digits.insert(digits.size() - places, 1, '.');
    }
    return (whole < 0 ? "\u2212" : "") + digits;
}

// whole * 10^exponent, short: a decimal without trailing zeros, or with a power of ten where that is long
std::string short_decimal(std::int64_t whole, int exponent) {
    while (whole != 0 && whole % 10 == 0) {
        whole /= 10;
        ++exponent;
    }
    const int leading = digit_count(whole) - 1 + exponent;
    if (leading < 8 && leading > -5) return decimal(whole, exponent);
    return decimal(whole, exponent - leading) + "×10" + superscript(leading);
}

// The common part of all ticks, if it is long compared with what differs between them; in the unit of the ticks. A very round
// number among the ticks' range (1000 for 999.998 ... 1000.002) is taken before the mere leading digits (1234.56).
std::int64_t common_offset(std::int64_t first, std::int64_t last) {
    const std::int64_t near = std::min(std::abs(first), std::abs(last));
    const std::int64_t far = std::max(std::abs(first), std::abs(last));
    const std::int64_t span = last - first;
    if ((first < 0) != (last < 0) || far < 100'000 || near / 100 < span) return 0;
    std::int64_t unit = 1;
    while (unit < span) unit *= 10;
    std::int64_t offset = near / unit * unit;
    for (std::int64_t round = unit * 10; round <= far; round *= 10)
        if (far / round * round >= near) offset = far / round * round;
    return first < 0 ? -offset : offset;
}

}  // namespace

double TickStep::value() const { return times_power_of_ten(mantissa, exponent); }

bool can_be_shown(double value) { return std::isfinite(value) && std::abs(value) <= k_largest; }

AxisRange range_around(double low, double high) {
    if (!can_be_shown(low) || !can_be_shown(high) || low > high) throw Error("the range of an axis must be finite and ordered");
    const double size = std::max(std::abs(low), std::abs(high));
    if (size < 1 / k_largest) return {-1, 1};
    if (high - low > k_constant * size) return {low, high};
    const double middle = low + (high - low) / 2;
    return {middle - size / 5, middle + size / 5};
}

TickStep tick_step(AxisRange range, int intervals) {
    if (!(range.high > range.low) || intervals < 1) throw Error("an axis needs a range and at least one interval");
    const double least = (range.high - range.low) / intervals;
    const int exponent = static_cast<int>(std::floor(std::log10(least)));
    for (const int mantissa : {1, 2, 5})
        if (TickStep{mantissa, exponent}.value() >= least * (1 - k_border)) return {mantissa, exponent};
    return {1, exponent + 1};
}

Ticks make_ticks(AxisRange range, TickStep step) {
    Ticks ticks;
    ticks.step = step;
    const double size = step.value();
    const auto first_at = [&](double width) { return static_cast<std::int64_t>(std::ceil(range.low / width - k_border)); };
    const auto last_at = [&](double width) { return static_cast<std::int64_t>(std::floor(range.high / width + k_border)); };
    std::vector<std::int64_t> wholes;  // ticks in units of 10^exponent
    for (std::int64_t k = first_at(size); k <= last_at(size); ++k) wholes.push_back(k * step.mantissa);
    for (const std::int64_t whole : wholes) ticks.major.push_back(times_power_of_ten(static_cast<double>(whole), step.exponent));

    // minor steps are round numbers too: 0.2 of 1, 0.5 of 2, 1 of 5
    const TickStep minor = step.mantissa == 1   ? TickStep{2, step.exponent - 1}
                           : step.mantissa == 2 ? TickStep{5, step.exponent - 1}
                                                : TickStep{1, step.exponent};
    const std::int64_t per_major = step.mantissa == 2 ? 4 : 5;
    for (std::int64_t k = first_at(minor.value()); k <= last_at(minor.value()); ++k)
        if (k % per_major != 0)
            ticks.minor.push_back(times_power_of_ten(static_cast<double>(k * minor.mantissa), minor.exponent));

    if (wholes.empty()) return ticks;
    const std::int64_t offset = common_offset(wholes.front(), wholes.back());
    const std::int64_t largest = std::max(std::abs(wholes.front() - offset), std::abs(wholes.back() - offset));
    const int leading = largest == 0 ? 0 : digit_count(largest) - 1 + step.exponent;
    const int shared = leading >= 5 || leading <= -3 ? leading : 0;
    for (const std::int64_t whole : wholes) ticks.labels.push_back(decimal(whole - offset, step.exponent - shared));
    if (shared != 0) ticks.note = "×10" + superscript(shared);
    if (offset != 0) {
        if (!ticks.note.empty()) ticks.note += ' ';
        ticks.note += offset > 0 ? "+ " : "\u2212 ";
        ticks.note += short_decimal(std::abs(offset), step.exponent);
    }
    return ticks;
}

Ticks make_log_ticks(AxisRange range, int intervals) {
    Ticks ticks;
    const int first = static_cast<int>(std::ceil(range.low - k_border)),
              last = static_cast<int>(std::floor(range.high + k_border));
    const double decades = range.high - range.low;
    const auto inside = [&](double at) { return at >= range.low - k_border && at <= range.high + k_border; };
    const auto add = [&](int mantissa, int exponent) {
        const double at = std::log10(mantissa) + exponent;
        if (!inside(at)) return;
        ticks.major.push_back(at);
        ticks.labels.push_back(std::abs(exponent) <= 3
                                   ? decimal(mantissa, exponent)
                                   : (mantissa == 1 ? "" : std::to_string(mantissa) + "×") + "10" + superscript(exponent));
    };
    if (decades < 1) {
        const AxisRange values{std::pow(10.0, range.low), std::pow(10.0, range.high)};
        Ticks linear = make_ticks(values, tick_step(values, intervals));
        for (std::vector<double>* list : {&linear.major, &linear.minor})
            for (double& at : *list) at = std::log10(at);
        return linear;
    }
    const int every = std::max(1, (last - first + intervals) / std::max(1, intervals));
    const bool few = every == 1 && 3 * (last - first + 1) <= intervals;
    for (int k = first - 1; k <= last; ++k) {
        if (every > 1 && (k % every + every) % every != 0) {
            if (inside(k)) ticks.minor.push_back(k);
            continue;
        }
        add(1, k);
        for (const int m : {2, 3, 4, 5, 6, 7, 8, 9}) {
            if (few && (m == 2 || m == 5))
                add(m, k);
            else if (every == 1 && inside(std::log10(m) + k))
                ticks.minor.push_back(std::log10(m) + k);
        }
    }
    return ticks;
}

}  // namespace appell
