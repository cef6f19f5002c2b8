// Sums, differences and products of fifty digits, for the three words of 64 bits that cpp_bin_float<50> keeps.
//
// Boost forms them in integers of any length and rounds these in general steps, some hundred instructions each; most of what the
// checks with fifty digits cost is that. Here are the same operations for numbers of ordinary size, written out: exact, then
// rounded to nearest, ties to even, so that every result has the bits that Boost's has. Zeros, infinities, NaN and exponents near
// the limits of their type are left to Boost. As overloads they are found wherever Boost's own are, in its elementary
// functions too.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>

#if defined(__SIZEOF_INT128__)

namespace boost::multiprecision::backends {

namespace fifty_digits {

using Float = cpp_bin_float<50>;
using Word = std::uint64_t;
__extension__ using Wide = unsigned __int128;

static_assert(Float::bit_count == 168 && sizeof(limb_type) == sizeof(Word));

constexpr int k_top_bits = 168 - 128;  // in the highest word

// Sums and products of such exponents stay far from the limits. Within an assignment Boost also adds to numbers whose leading bit
// is not in its place.
inline bool ordinary(const Float& a) {
    return a.exponent() > -(1 << 28) && a.exponent() < (1 << 28) && a.bits().size() == 3 &&
           (a.bits().limbs()[2] >> (k_top_bits - 1)) != 0;
}

struct Bits {
    Word low, middle, high;
};

inline Bits bits_of(const Float& a) {
    const limb_type* words = a.bits().limbs();
    return {words[0], words[1], words[2]};
}

// the result whose leading bit is the highest of 168, and what was cut off from it: half a unit, and whether there is more
inline void round_into(Float& r, Bits b, int exponent, bool sign, bool half, bool more) {
    if (half && (more || (b.low & 1) != 0)) {
        const Wide lower = ((Wide(b.middle) << 64) | b.low) + 1;
        b.low = Word(lower);
        b.middle = Word(lower >> 64);
        if (lower == 0 && (++b.high >> k_top_bits) != 0) {
            b.high >>= 1;  // all bits were set: what is left is a power of two
            ++exponent;
        }
    }
    r.bits().resize(3, 3);
    limb_type* words = r.bits().limbs();
    words[0] = b.low;
    words[1] = b.middle;
    words[2] = b.high;
    r.exponent() = exponent;
    r.sign() = sign;
}

inline void multiply(Float& r, const Float& x, const Float& y) {
    const Bits a = bits_of(x), b = bits_of(y);
    Wide column = Wide(a.low) * b.low;
    const Word p0 = Word(column);
    // columns of at most three products of 128 bits: the carry beyond them is counted
    const auto add = [](Wide& sum, Word& carry, Word f, Word g) {
        const Wide product = Wide(f) * g;
        sum += product;
        carry += sum < product;
    };
    Word carry = 0;
    column >>= 64;
    add(column, carry, a.low, b.middle);
    add(column, carry, a.middle, b.low);
    const Word p1 = Word(column);
    column = (column >> 64) | (Wide(carry) << 64);
    carry = 0;
    add(column, carry, a.low, b.high);
    add(column, carry, a.middle, b.middle);
    add(column, carry, a.high, b.low);
    const Word p2 = Word(column);
    column = (column >> 64) | (Wide(carry) << 64);
    // the highest words have 40 bits: nothing is carried out of the rest
    column += Wide(a.middle) * b.high;
    column += Wide(a.high) * b.middle;
    const Word p3 = Word(column);
    column = (column >> 64) + Wide(a.high) * b.high;
    const Word p4 = Word(column), p5 = Word(column >> 64);
    // 335 or 336 bits, of which the upper 168 stay
    const int longer = (p5 >> 15) != 0 ? 1 : 0;
    const int cut = 167 + longer - 128;  // of p2
    const auto joined = [cut](Word lower, Word upper) { return (lower >> cut) | (upper << (64 - cut)); };
    const Bits kept{joined(p2, p3), joined(p3, p4), joined(p4, p5)};
    const Word rest = p2 & ((Word(1) << cut) - 1), halfway = Word(1) << (cut - 1);
    const bool half = (rest & halfway) != 0;
    const bool more = (rest & (halfway - 1)) != 0 || p1 != 0 || p0 != 0;
    const bool sign = x.sign() != y.sign();
    round_into(r, kept, x.exponent() + y.exponent() + longer, sign, half, more);
}

// Sizes are added or subtracted in four words, the lowest of which holds what is shifted beyond the 168 bits; its last bit stands
// for all that would come below. Two bits would do.
struct Extended {
    Word beyond;
    Bits bits;
};

inline Extended shifted_down(const Bits& b, int by) {
    if (by == 0) return {0, b};
    Word w[4] = {0, b.low, b.middle, b.high};
    bool lost = false;
    for (; by >= 64; by -= 64) {
        lost = lost || w[0] != 0;
        w[0] = w[1];
        w[1] = w[2];
        w[2] = w[3];
        w[3] = 0;
    }
    if (by > 0) {
        lost = lost || (w[0] << (64 - by)) != 0;
        w[0] = (w[0] >> by) | (w[1] << (64 - by));
        w[1] = (w[1] >> by) | (w[2] << (64 - by));
        w[2] = (w[2] >> by) | (w[3] << (64 - by));
        w[3] >>= by;
    }
    return {w[0] | Word(lost), {w[1], w[2], w[3]}};
}

// where one is not lost beside the other: Boost rounds the cases beyond in a way of its own
inline bool near(const Float& a, const Float& b) {
    const int apart = a.exponent() - b.exponent();
    return apart <= int(Float::bit_count) && -apart <= int(Float::bit_count);
}

inline bool smaller(const Bits& a, const Bits& b) {
    if (a.high != b.high) return a.high < b.high;
    if (a.middle != b.middle) return a.middle < b.middle;
    return a.low < b.low;
}

// |x| + |y|, with the sign of x
inline void add_sizes(Float& r, const Float& x, const Float& y) {
    const bool sign = x.sign(), first = x.exponent() >= y.exponent();
    const Float &a = first ? x : y, &b = first ? y : x;
    int exponent = a.exponent();
    Bits sum = bits_of(a);
    const Extended small = shifted_down(bits_of(b), exponent - b.exponent());
    const Wide low = Wide(sum.low) + small.bits.low;
    const Wide middle = Wide(sum.middle) + small.bits.middle + Word(low >> 64);
    sum = {Word(low), Word(middle), sum.high + small.bits.high + Word(middle >> 64)};
    Word beyond = small.beyond;
    if ((sum.high >> k_top_bits) != 0) {
        beyond = (beyond >> 1) | (beyond & 1) | (sum.low << 63);
        sum = {(sum.low >> 1) | (sum.middle << 63), (sum.middle >> 1) | (sum.high << 63), sum.high >> 1};
        ++exponent;
    }
    round_into(r, sum, exponent, sign, (beyond >> 63) != 0, (beyond << 1) != 0);
}

// |x| - |y|, with the sign of x where that is positive
inline void subtract_sizes(Float& r, const Float& x, const Float& y) {
    const Bits xb = bits_of(x), yb = bits_of(y);
    const bool first = x.exponent() > y.exponent() || (x.exponent() == y.exponent() && !smaller(xb, yb));
    const bool sign = first ? x.sign() : !x.sign();
    const Bits& a = first ? xb : yb;
    int exponent = first ? x.exponent() : y.exponent();
    const Extended small = shifted_down(first ? yb : xb, exponent - (first ? y.exponent() : x.exponent()));
    // a - b in four words
    Word beyond = 0 - small.beyond;
    Word borrow = small.beyond != 0 ? 1 : 0;
    const auto less = [&borrow](Word f, Word g) {
        const Wide d = Wide(f) - g - borrow;
        borrow = Word(d >> 64) != 0 ? 1 : 0;
        return Word(d);
    };
    Bits d;
    d.low = less(a.low, small.bits.low);
    d.middle = less(a.middle, small.bits.middle);
    d.high = less(a.high, small.bits.high);
    // the leading bit back to its place; by more than one only where nothing was cut off
    if ((d.high >> (k_top_bits - 1)) == 0) {
        while (d.high == 0) {
            if ((d.middle | d.low | beyond) == 0) {
                r.bits() = limb_type(0);
                r.exponent() = Float::exponent_zero;
                r.sign() = false;
                return;
            }
            // by 40 bits, the size of the highest word
            d.high = d.middle >> (64 - k_top_bits);
            d.middle = (d.middle << k_top_bits) | (d.low >> (64 - k_top_bits));
            d.low = (d.low << k_top_bits) | (beyond >> (64 - k_top_bits));
            beyond <<= k_top_bits;
            exponent -= k_top_bits;
        }
        if (const int up = std::countl_zero(d.high) - (64 - k_top_bits); up > 0) {
            d.high = (d.high << up) | (d.middle >> (64 - up));
            d.middle = (d.middle << up) | (d.low >> (64 - up));
            d.low = (d.low << up) | (beyond >> (64 - up));
            beyond <<= up;
            exponent -= up;
        }
    }
    round_into(r, d, exponent, sign, (beyond >> 63) != 0, (beyond << 1) != 0);
}

}  // namespace fifty_digits

inline void eval_multiply(cpp_bin_float<50>& r, const cpp_bin_float<50>& a, const cpp_bin_float<50>& b) {
    if (fifty_digits::ordinary(a) && fifty_digits::ordinary(b))
        fifty_digits::multiply(r, a, b);
    else
        eval_multiply<50, digit_base_10, void, int, 0, 0>(r, a, b);
}
inline void eval_multiply(cpp_bin_float<50>& r, const cpp_bin_float<50>& a) { eval_multiply(r, r, a); }

inline void eval_add(cpp_bin_float<50>& r, const cpp_bin_float<50>& a, const cpp_bin_float<50>& b) {
    if (!fifty_digits::ordinary(a) || !fifty_digits::ordinary(b) || !fifty_digits::near(a, b))
        eval_add<50, digit_base_10, void, int, 0, 0>(r, a, b);
    else if (a.sign() == b.sign())
        fifty_digits::add_sizes(r, a, b);
    else
        fifty_digits::subtract_sizes(r, a, b);
}
inline void eval_add(cpp_bin_float<50>& r, const cpp_bin_float<50>& a) { eval_add(r, r, a); }

inline void eval_subtract(cpp_bin_float<50>& r, const cpp_bin_float<50>& a, const cpp_bin_float<50>& b) {
    if (!fifty_digits::ordinary(a) || !fifty_digits::ordinary(b) || !fifty_digits::near(a, b))
        eval_subtract<50, digit_base_10, void, int, 0, 0>(r, a, b);
    else if (a.sign() != b.sign())
        fifty_digits::add_sizes(r, a, b);
    else
        fifty_digits::subtract_sizes(r, a, b);
}
inline void eval_subtract(cpp_bin_float<50>& r, const cpp_bin_float<50>& a) { eval_subtract(r, r, a); }

}  // namespace boost::multiprecision::backends

#endif
