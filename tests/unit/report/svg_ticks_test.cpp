// Ticks: positions are multiples of a round step inside the range, labels read back to the positions, ranges are never empty.
#include "report/svg_ticks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "base/error.hpp"

namespace appell {
namespace {

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

// "−1.5" as a number
long double plain_number(const std::string& label) { return std::strtold(replace_all(label, "\u2212", "-").c_str(), nullptr); }

int superscript_value(std::string text) {
    const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    for (int i = 0; i < 10; ++i) text = replace_all(text, digits[i], std::to_string(i));
    return std::atoi(replace_all(text, "⁻", "-").c_str());
}

// reads what a person would: label times the power of ten, plus the offset
struct Note {
    long double factor = 1;
    long double offset = 0;
};
Note read_note(const std::string& note) {
    Note out;
    std::string rest = note;
    if (rest.rfind("×10", 0) == 0) {
        const std::size_t end = rest.find(' ');
        out.factor = std::pow(10.0L, superscript_value(rest.substr(std::string("×10").size(), end - std::string("×10").size())));
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    if (!rest.empty()) {
        const bool minus = rest.rfind("\u2212 ", 0) == 0;
        rest = rest.substr(rest.find(' ') + 1);
        const std::size_t power = rest.find("×10");
        out.offset = plain_number(rest.substr(0, power));
        if (power != std::string::npos)
            out.offset *= std::pow(10.0L, superscript_value(rest.substr(power + std::string("×10").size())));
        if (minus) out.offset = -out.offset;
    }
    return out;
}

Ticks ticks_of(double low, double high, int intervals = 8) {
    const AxisRange range{low, high};
    return make_ticks(range, tick_step(range, intervals));
}

TEST(SvgTicks, StepsAreOneTwoOrFive) {
    EXPECT_EQ(ticks_of(0, 10, 5).major, (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(ticks_of(0, 10, 10).major.size(), 11u);
    EXPECT_EQ(ticks_of(-0.5, 0.5, 4).labels, (std::vector<std::string>{"\u22120.5", "0.0", "0.5"}));
    EXPECT_EQ(ticks_of(0, 10, 5).labels, (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
    EXPECT_TRUE(ticks_of(0, 10, 5).note.empty());
}

TEST(SvgTicks, SmallAndLargeValuesShareAPowerOfTen) {
    const Ticks small = ticks_of(-4e-16, 4e-16, 4);
    EXPECT_EQ(small.note, "×10⁻¹⁶");
    EXPECT_EQ(small.labels, (std::vector<std::string>{"\u22124", "\u22122", "0", "2", "4"}));
    const Ticks large = ticks_of(0, 4e7, 4);
    EXPECT_EQ(large.note, "×10⁷");
    EXPECT_EQ(large.labels, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST(SvgTicks, CommonOffsetIsTakenOut) {
    const Ticks around = ticks_of(1000 - 1e-6, 1000 + 1e-6, 4);
    EXPECT_EQ(around.note, "×10⁻⁶ + 1000");
    EXPECT_EQ(around.labels, (std::vector<std::string>{"\u22121.0", "\u22120.5", "0.0", "0.5", "1.0"}));
    const Ticks leading = ticks_of(1234567.1, 1234567.9, 4);
    EXPECT_EQ(leading.note, "+ 1234567");
    EXPECT_EQ(leading.labels.front(), "0.2");
    const Ticks negative = ticks_of(-1234567.9, -1234567.1, 4);
    EXPECT_EQ(negative.note, "\u2212 1234567");
    EXPECT_EQ(negative.labels.front(), "\u22120.8");
}

TEST(SvgTicks, LabelsReadBackToTheirPositions) {
    std::mt19937_64 random(20240611);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    std::uniform_int_distribution<int> decade(-250, 250);
    std::uniform_int_distribution<int> narrowing(0, 10);
    for (int trial = 0; trial < 2000; ++trial) {
        // a centre of any size and a width down to 1e-10 of it
        const double centre = mantissa(random) * std::pow(10.0, decade(random));
        const double width = std::abs(centre) * std::pow(10.0, -narrowing(random)) * (0.1 + std::abs(mantissa(random)));
        const AxisRange range = range_around(centre - width, centre + width);
        const Ticks ticks = make_ticks(range, tick_step(range, 7));
        ASSERT_GE(ticks.major.size(), 2u) << "trial " << trial;
        ASSERT_LE(ticks.major.size(), 8u) << "trial " << trial;
        ASSERT_EQ(ticks.labels.size(), ticks.major.size());
        const Note note = read_note(ticks.note);
        const double step = ticks.step.value();
        for (std::size_t i = 0; i < ticks.major.size(); ++i) {
            EXPECT_GE(ticks.major[i], range.low - 1e-6 * step);
            EXPECT_LE(ticks.major[i], range.high + 1e-6 * step);
            const long double read = plain_number(ticks.labels[i]) * note.factor + note.offset;
            // the position is rounded to a double: half an ulp of the value; the rest is round-off of this reading
            EXPECT_NEAR(static_cast<double>(read - static_cast<long double>(ticks.major[i])), 0.0,
                        1e-15 * std::abs(ticks.major[i]) + 1e-9 * step)
                << "trial " << trial << ": " << ticks.labels[i] << " " << ticks.note;
            // longer labels would not fit: sign, four digits or so, point
            EXPECT_LE(replace_all(ticks.labels[i], "\u2212", "-").size(), 8u) << ticks.labels[i];
            if (i > 0) {
                EXPECT_NE(ticks.labels[i], ticks.labels[i - 1]);
            }
        }
    }
}

TEST(SvgTicks, MinorTicksDivideMajorSteps) {
    for (const double high : {10.0, 20.0, 50.0}) {
        const Ticks ticks = ticks_of(0, high, 10);
        const double per_major = ticks.step.mantissa == 2 ? 4 : 5;
        EXPECT_EQ(ticks.minor.size(), 10 * (static_cast<std::size_t>(per_major) - 1));
        for (const double minor : ticks.minor) {
            const double parts = minor / ticks.step.value() * per_major;
            EXPECT_NEAR(parts, std::round(parts), 1e-9);  // a few roundings of numbers up to 50
            EXPECT_GT(std::abs(std::remainder(minor, ticks.step.value())), 0.1 * ticks.step.value());
        }
    }
}

TEST(SvgTicks, RangesAreNeverEmpty) {
    const AxisRange zero = range_around(0, 0);
    EXPECT_LT(zero.low, 0);
    EXPECT_GT(zero.high, 0);
    for (const double value : {4.905, -4.905, 1e-16, -1e300, 1e-310}) {
        const AxisRange range = range_around(value, value);
        EXPECT_LT(range.low, value);
        EXPECT_GT(range.high, value);
        EXPECT_TRUE(std::isfinite(range.high - range.low));
    }
    // noise in the last digits is a constant, a drift of 1e-9 is not
    const AxisRange noise = range_around(4.905, 4.905 + 1e-15);
    EXPECT_GT(noise.high - noise.low, 1);
    const AxisRange drift = range_around(4.905, 4.905 + 1e-9);
    EXPECT_LT(drift.high - drift.low, 1e-8);
}

TEST(SvgTicks, MisuseIsRefused) {
    EXPECT_THROW((void)range_around(1, 0), Error);
    EXPECT_THROW((void)range_around(0, std::numeric_limits<double>::infinity()), Error);
    EXPECT_THROW((void)tick_step({1, 1}, 5), Error);
    EXPECT_FALSE(can_be_shown(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(can_be_shown(1e305));
    EXPECT_TRUE(can_be_shown(-1e299));
}

TEST(LogTicks, DecadesWhereTheyAreManyRoundValuesWhereTheyAreFew) {
    const Ticks decades = make_log_ticks({0, 4}, 6);
    EXPECT_EQ(decades.labels, (std::vector<std::string>{"1", "10", "100", "1000", "10⁴"}));
    EXPECT_EQ(decades.major, (std::vector<double>{0, 1, 2, 3, 4}));
    EXPECT_EQ(decades.minor.size(), 32u);
    const Ticks many = make_log_ticks({-12.3, 0.2}, 4);
    ASSERT_GE(many.major.size(), 2u);
    ASSERT_LE(many.major.size(), 5u);
    for (std::size_t i = 1; i < many.major.size(); ++i)
        EXPECT_EQ(many.major[i] - many.major[i - 1], many.major[1] - many.major[0]);
    const Ticks few = make_log_ticks({0, 1}, 8);
    EXPECT_EQ(few.labels, (std::vector<std::string>{"1", "2", "5", "10"}));
    EXPECT_DOUBLE_EQ(few.major[1], std::log10(2));
    // within a decade as on a linear axis, at the logarithms
    const Ticks part = make_log_ticks({std::log10(0.3), std::log10(0.6)}, 5);
    EXPECT_EQ(part.labels.front(), "0.3");
    EXPECT_DOUBLE_EQ(part.major.front(), std::log10(0.3));
}

}  // namespace
}  // namespace appell
