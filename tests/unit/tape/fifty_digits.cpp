// The written-out sums, differences, products, quotients and roots have the bits of Boost's own.
#include <gtest/gtest.h>

#include <random>

#include "tape/scalars.hpp"

namespace appell {

namespace {

namespace mp = boost::multiprecision;
namespace ops = boost::multiprecision::backends;
using Float = mp::cpp_bin_float<50>;

bool same_bits(const Float& a, const Float& b) {
    return a.exponent() == b.exponent() && a.sign() == b.sign() && a.bits().compare(b.bits()) == 0;
}

class Numbers {
public:
    // near each other or far, with long runs of equal bits, small integers, zeros
    Digits50 next() {
        const std::uint64_t kind = draw() % 8;
        if (kind == 0) return Digits50(0);
        if (kind == 1) return Digits50(static_cast<double>(draw() % 2001) - 1000);
        Digits50 value(0);
        for (int i = 0; i < 4; ++i) value = ldexp(value, 60) + Digits50(draw() >> 4);
        if (kind < 5)
            for (int i = 0; i < 2; ++i)
                if (draw() % 2 == 0) value.backend().bits().limbs()[i] = draw() % 2 == 0 ? ~mp::limb_type(0) : 0;
        value = ldexp(value, static_cast<int>(draw() % (kind == 7 ? 8 : 400)) - 400);
        return draw() % 2 == 0 ? value : Digits50(-value);
    }
    // the same but for a bit, the sign, or a power of two
    Digits50 neighbour(const Digits50& of) {
        if (of == 0) return of;
        Digits50 out = of;
        Float& f = out.backend();
        if (draw() % 2 == 0) f.bits().limbs()[draw() % 2] ^= mp::limb_type(1) << (draw() % 64);
        if (draw() % 2 == 0) f.sign() = !f.sign();
        if (draw() % 3 == 0) f.exponent() += static_cast<int>(draw() % 345) - 172;
        return out;
    }

private:
    std::uint64_t draw() { return random_(); }
    std::mt19937_64 random_{1};
};

}  // namespace

TEST(FiftyDigits, HaveTheBitsOfBoost) {
    Numbers numbers;
    Float ours, theirs;
    for (int i = 0; i < 300'000; ++i) {
        const Digits50 x = numbers.next(), y = i % 4 == 0 ? numbers.neighbour(x) : numbers.next();
        const Float &a = x.backend(), &b = y.backend();
        eval_multiply(ours, a, b);
        ops::eval_multiply<50, mp::digit_base_10, void, int, 0, 0>(theirs, a, b);
        ASSERT_TRUE(same_bits(ours, theirs)) << x << " * " << y;
        eval_add(ours, a, b);
        ops::eval_add<50, mp::digit_base_10, void, int, 0, 0>(theirs, a, b);
        ASSERT_TRUE(same_bits(ours, theirs)) << x << " + " << y;
        eval_subtract(ours, a, b);
        ops::eval_subtract<50, mp::digit_base_10, void, int, 0, 0>(theirs, a, b);
        ASSERT_TRUE(same_bits(ours, theirs)) << x << " - " << y;
        if (b.bits().limbs()[2] != 0 && b.bits().size() == 3) {
            eval_divide(ours, a, b);
            ops::eval_divide<50, mp::digit_base_10, void, int, 0, 0>(theirs, a, b);
            ASSERT_TRUE(same_bits(ours, theirs)) << x << " / " << y;
            Digits50 quotient = x;
            quotient /= y;
            ASSERT_TRUE(same_bits(quotient.backend(), ours)) << x << " /= " << y;
            // and what comes out even, or next to it
            const Digits50 product = x * y;
            eval_divide(ours, product.backend(), b);
            ops::eval_divide<50, mp::digit_base_10, void, int, 0, 0>(theirs, product.backend(), b);
            ASSERT_TRUE(same_bits(ours, theirs)) << product << " / " << y;
            eval_subtract(ours, a, b);
        }
        if (i % 8 == 0)
            for (const Digits50& of : {Digits50(abs(x)), Digits50(x * x)}) {
                Float root, of_boost;
                eval_sqrt(root, of.backend());
                ops::eval_sqrt<50, mp::digit_base_10, void, int, 0, 0>(of_boost, of.backend());
                ASSERT_TRUE(same_bits(root, of_boost)) << "root of " << of;
            }
        // an operand may be the result
        Digits50 z = x;
        z -= y;
        ASSERT_TRUE(same_bits(z.backend(), ours)) << x << " -= " << y;
    }
}

TEST(FiftyDigits, LeavesWhatIsNoOrdinaryNumberToBoost) {
    const Digits50 infinity = std::numeric_limits<Digits50>::infinity(), large = (std::numeric_limits<Digits50>::max)();
    EXPECT_EQ(large * large, infinity);
    EXPECT_EQ(large + 1, large);
    EXPECT_NE(infinity - infinity, infinity - infinity);  // not a number
    EXPECT_EQ(1 / (large * Digits50(-2)), Digits50(0));
    EXPECT_EQ(ldexp(Digits50(1), -2'000'000'000) * ldexp(Digits50(1), -2'000'000'000), Digits50(0));
}

}  // namespace appell
