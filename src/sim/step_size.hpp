// The rule for the size of the next step of an adaptive method, for one number or for a pack of them: both have the operations of
// doubles, and bits that are looked at as integers of the same size.
//
// It is a rule of thumb, for which five digits are more than enough, and the first stage of the next step waits for it: logarithm
// and power are polynomials (the best ones of their degree) behind what the exponents of numbers tell, without a branch, a table
// or a way through the integer unit. Zero has a very small logarithm, and numbers that are not finite have one that means
// nothing.
//
// NOTE: static, and nothing of the standard library is called: sources that are compiled for other registers have their own.
#pragma once

#include <cstdint>

namespace appell {

// `Words` converts a number to its bits and back: `bits(x)`, `number(bits)`, and `all(constant)` of either kind.
template <class Words, class Number>
static inline Number log2_about(const Number& x) {
    const auto k_mantissa = Words::all((std::uint64_t(1) << 52) - 1), k_one = Words::bits(Words::all(1.0));
    const auto k_two_to_52 = Words::bits(Words::all(4503599627370496.0)), bits = Words::bits(x);
    const Number exponent = Words::number((bits >> 52) | k_two_to_52) - (4503599627370496.0 + 1023);
    const Number m = Words::number((bits & k_mantissa) | k_one), square = m * m;
    return (exponent - 2.512854624818095 + 4.070090794467727 * m) +
           square * (-2.1206751338627114 + 0.6451423648441851 * m - 0.08161580870888815 * square);
}

template <class Words, class Number>
static inline Number exp2_about(const Number& x) {
    // 3 * 2^51: what is added to it is rounded to a whole number, in its last bits
    constexpr double k_round = 6755399441055744.0;
    const Number shifted = x + k_round, f = x - (shifted - k_round), square = f * f;
    const Number mantissa = (1.0000001510806331 + 0.693121035859749 * f) +
                            square * (0.24021865493628267 + 0.055922025683648915 * f + 0.00968571144188266 * square);
    return Words::number(Words::bits(mantissa) + (Words::bits(shifted) << 52));
}

// A step is at least this, relative to t, or to a share of what is left where t itself is zero; and one that would almost reach
// its end goes there, so that no sliver is left.
inline constexpr double k_least_step = 16 * 2.220446049250313e-16, k_least_of_left = 1e-6, k_almost_there = 1.01;
// of the look for stiffness: steps at the bound that are enough, others in a row that end the suspicion, one step of so many is
// asked
inline constexpr unsigned k_stiff_enough = 15, k_stiff_others = 6, k_stiff_asked = 8;

inline constexpr double k_step_safety = 0.9;
inline constexpr double k_least_log_error =
    -9.210340371976182;  // of 1e-4: smaller errors are taken for this one by the next step
inline constexpr double k_half_ln2 = 0.5 * 0.6931471805599453, k_log2e = 1.4426950408889634;

// how a rejected step is shortened, and an accepted one grows, before bounds
template <class Words, class Number>
static inline Number shrink_about(const Number& log2_square, double alpha) {
    return k_step_safety * exp2_about<Words, Number>(-(0.5 * alpha) * log2_square);
}
template <class Words, class Number>
static inline Number growth_about(const Number& log2_square, const Number& previous_log_error, double alpha, double beta) {
    return k_step_safety * exp2_about<Words, Number>(k_log2e * beta * previous_log_error - 0.5 * alpha * log2_square);
}

}  // namespace appell
