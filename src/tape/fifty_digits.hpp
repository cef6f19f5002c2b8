// Sums, differences, products, quotients and roots of fifty digits, for the three words of 64 bits that cpp_bin_float<50> keeps.
//
// Boost forms them in integers of any length and rounds these in general steps, some hundred instructions each; most of what the
// checks with fifty digits cost is that. Here are the same operations for numbers of ordinary size, written out: exact, then
// rounded to nearest, ties to even, so that every result has the bits that Boost's has. Zeros, infinities, NaN and exponents near
// the limits of their type are left to Boost. As overloads they are found wherever Boost's own are, in its elementary
// functions too.
#pragma once

#include <array>
#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
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

// Digits of 64 bits by long division (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D).
inline void divide(Float& r, const Float& x, const Float& y) {
    const Bits a = bits_of(x), b = bits_of(y);
    constexpr int up = 64 - k_top_bits;
    // the divisor with its leading bit at the top; the dividend is as far up, so that three digits are the quotient of 168 or 169
    // bits, and what is left of it below the divisor
    const Word d[3] = {b.low << up, (b.middle << up) | (b.low >> k_top_bits), (b.high << up) | (b.middle >> k_top_bits)};
    Word left[4] = {0, a.low, a.middle, a.high};
    Word q[3];
    for (int digit = 2; digit >= 0; --digit) {
        Word guess = ~Word(0);
        if (left[3] < d[2]) {
            const Wide top = (Wide(left[3]) << 64) | left[2];
            guess = Word(top / d[2]);
            // at most two too large, by the second digit of the divisor
            for (Wide rest = top % d[2]; (rest >> 64) == 0 && Wide(guess) * d[1] > ((rest << 64) | left[1]); rest += d[2])
                --guess;
        }
        Word carry = 0, borrow = 0;
        const auto take_off = [&](Word& from, Word by) {
            const Wide product = Wide(guess) * by + carry, difference = Wide(from) - Word(product) - borrow;
            carry = Word(product >> 64);
            borrow = Word(difference >> 64) != 0 ? 1 : 0;
            from = Word(difference);
        };
        for (int i = 0; i < 3; ++i) take_off(left[i], d[i]);
        const Wide highest = Wide(left[3]) - carry - borrow;
        if (Word(highest >> 64) != 0) {  // still one too large
            --guess;
            Wide sum = 0;
            for (int i = 0; i < 3; ++i) {
                sum = (sum >> 64) + left[i] + d[i];
                left[i] = Word(sum);
            }
        }
        q[digit] = guess;
        left[3] = left[2];
        left[2] = left[1];
        left[1] = left[0];
        left[0] = 0;
    }
    const bool sign = x.sign() != y.sign(), any = (left[1] | left[2] | left[3]) != 0;
    const int exponent = x.exponent() - y.exponent();
    if ((q[2] >> k_top_bits) != 0)
        return round_into(r, {(q[0] >> 1) | (q[1] << 63), (q[1] >> 1) | (q[2] << 63), q[2] >> 1}, exponent, sign, (q[0] & 1) != 0,
                          any);
    // twice what is left against the divisor
    const Bits twice{left[1] << 1, (left[2] << 1) | (left[1] >> 63), (left[3] << 1) | (left[2] >> 63)}, divisor{d[0], d[1], d[2]};
    const bool above = (left[3] >> 63) != 0 || smaller(divisor, twice), half = above || !smaller(twice, divisor);
    round_into(r, {q[0], q[1], q[2]}, exponent - 1, sign, half, above);
}

// The root of 336 bits as an integer: by what a root of doubles has, then by quotients of doubles of what is left, each a little
// too small, so that nothing is ever taken off too much; in the end by ones.
inline void root(Float& r, const Float& x) {
    const Bits b = bits_of(x);
    const int odd = x.exponent() & 1, up = 39 + odd;  // 167 or 168 bits: two words and these
    std::array<Word, 6> left{0,
                             0,
                             b.low << up,
                             (b.middle << up) | (b.low >> (64 - up)),
                             (b.high << up) | (b.middle >> (64 - up)),
                             b.high >> (64 - up)};
    std::array<Word, 3> s{};
    const auto size_of = [](const auto& words) {
        double size = 0;
        for (std::size_t i = words.size(); i-- > 0;) size = size * 0x1p64 + static_cast<double>(words[i]);
        return size;
    };
    const auto add = [](auto& to, Word by, std::size_t at) {
        for (; at < to.size() && by != 0; ++at) {
            const Wide sum = Wide(to[at]) + by;
            to[at] = Word(sum);
            by = Word(sum >> 64);
        }
    };
    // s becomes s + part 2^up, and what is left is less by (2 s + part 2^up) part 2^up
    const auto grow = [&](Word part, int shift) {
        const auto word = static_cast<std::size_t>(shift / 64);
        const int bits = shift % 64;
        const Word low = part << bits, high = bits == 0 ? 0 : part >> (64 - bits);
        std::array<Word, 3> sum{s[0] << 1, (s[1] << 1) | (s[0] >> 63), (s[2] << 1) | (s[1] >> 63)};
        for (std::array<Word, 3>* to : {&sum, &s}) {
            add(*to, low, word);
            if (word + 1 < 3) add(*to, high, word + 1);
        }
        // the product, moved up by bits inside its words
        Word carry = 0, before = 0, borrow = 0;
        for (std::size_t i = 0; word + i < left.size(); ++i) {
            const Wide product = (i < 3 ? Wide(sum[i]) * part : Wide(0)) + carry;
            carry = Word(product >> 64);
            const Word digit = Word(product), moved = bits == 0 ? digit : (digit << bits) | (before >> (64 - bits));
            before = digit;
            Word& from = left[word + i];
            const Wide difference = Wide(from) - moved - borrow;
            borrow = Word(difference >> 64) != 0 ? 1 : 0;
            from = Word(difference);
        }
    };
    double part = std::sqrt(size_of(left)) * (1 - 0x1p-48);
    for (;;) {
        const int shift = std::max(0, std::ilogb(part) - 52);
        const Word whole = static_cast<Word>(std::ldexp(part, -shift));
        if (whole == 0) break;
        grow(whole, shift);
        part = size_of(left) / (2 * size_of(s)) * (1 - 0x1p-46);
        if (!(part >= 1)) break;
    }
    const auto at_most = [&](const Bits& size) { return left[3] == 0 && !smaller(size, {left[0], left[1], left[2]}); };
    // what is left is at most twice the root
    while (!at_most({s[0] << 1, (s[1] << 1) | (s[0] >> 63), (s[2] << 1) | (s[1] >> 63)})) grow(1, 0);
    const bool half = !at_most({s[0], s[1], s[2]});
    round_into(r, {s[0], s[1], s[2]}, x.exponent() >> 1, false, half, true);
}

}  // namespace fifty_digits

inline void eval_divide(cpp_bin_float<50>& r, const cpp_bin_float<50>& a, const cpp_bin_float<50>& b) {
    if (fifty_digits::ordinary(a) && fifty_digits::ordinary(b))
        fifty_digits::divide(r, a, b);
    else
        eval_divide<50, digit_base_10, void, int, 0, 0>(r, a, b);
}
inline void eval_divide(cpp_bin_float<50>& r, const cpp_bin_float<50>& a) { eval_divide(r, r, a); }

inline void eval_sqrt(cpp_bin_float<50>& r, const cpp_bin_float<50>& a) {
    if (fifty_digits::ordinary(a) && !a.sign())
        fifty_digits::root(r, a);
    else
        eval_sqrt<50, digit_base_10, void, int, 0, 0>(r, a);
}

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
