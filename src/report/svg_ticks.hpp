// Ticks of a linear axis: steps of 1, 2 or 5 times a power of ten, labels without noise digits.
//
// Tick positions are kept as integers times a power of ten, so that labels are exact decimals. Where all labels would carry a
// long common part (1000.001, 1000.002, ...) it is taken out as an offset, and very small or large labels share one power of
// ten; both are named in `note`, to be read as  value = label note  ("×10⁻³ + 1000").
#pragma once

#include <string>
#include <vector>

namespace appell {

struct AxisRange {
    double low = 0;
    double high = 1;
};

// 1, 2 or 5 times a power of ten
struct TickStep {
    int mantissa = 1;
    int exponent = 0;

    [[nodiscard]] double value() const;
};

struct Ticks {
    TickStep step;
    std::vector<double> major;
    std::vector<double> minor;        // between the major ones
    std::vector<std::string> labels;  // by major tick
    std::string note;                 // empty, or what every label is multiplied by and added to
};

// Finite and not so large that differences overflow: what a plot can show.
[[nodiscard]] bool can_be_shown(double value);

// A range of some width around the values from low to high. Values that are the same but for round-off (relative 1e-12) count as
// constant: a plot of noise in the last digits tells nothing.
[[nodiscard]] AxisRange range_around(double low, double high);

// the step that gives about this many intervals, and not more
[[nodiscard]] TickStep tick_step(AxisRange range, int intervals);
[[nodiscard]] Ticks make_ticks(AxisRange range, TickStep step);

// Ticks of a logarithmic axis. The range and the ticks are logarithms to base ten. Powers of ten, every second or third of them
// where they are many; 2 and 5 times them where they are few; round values as on a linear axis within less than a decade.
[[nodiscard]] Ticks make_log_ticks(AxisRange range, int intervals);

}  // namespace appell
