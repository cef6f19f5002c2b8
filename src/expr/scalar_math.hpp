// What the operation table needs of a scalar type beyond the standard functions: comparisons as 0 or 1, choice, sign, and the
// analytic continuation of piecewise and two-argument functions to complex numbers (for the complex step: the real part decides).
// Works for double, for boost::multiprecision numbers and for std::complex.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

namespace appell {

template <class T>
struct IsComplex : std::false_type {};
template <class R>
struct IsComplex<std::complex<R>> : std::true_type {};

template <class T>
auto real_part(const T& x) {
    if constexpr (IsComplex<T>::value)
        return x.real();
    else
        return x;
}

template <class T>
T less_value(const T& x, const T& y) {
    return real_part(x) < real_part(y) ? T(1) : T(0);
}
template <class T>
T less_equal_value(const T& x, const T& y) {
    return real_part(x) <= real_part(y) ? T(1) : T(0);
}
template <class T>
T choose(const T& condition, const T& yes, const T& no) {
    return real_part(condition) != 0 ? yes : no;
}
template <class T>
T sign_value(const T& x) {
    const auto r = real_part(x);
    return r > 0 ? T(1) : r < 0 ? T(-1) : r == 0 ? T(0) : x;
}
// the first of equals; operands that cannot be compared are not numbers, and nor is their sum
template <class T>
T min_value(const T& x, const T& y) {
    const auto a = real_part(x), b = real_part(y);
    return a <= b ? x : b < a ? y : T(x + y);
}
template <class T>
T max_value(const T& x, const T& y) {
    const auto a = real_part(x), b = real_part(y);
    return b <= a ? x : a < b ? y : T(x + y);
}
template <class T>
T abs_value(const T& x) {
    return real_part(x) < 0 ? T(-x) : x;
}
template <class R>
std::complex<R> atan2(const std::complex<R>& y, const std::complex<R>& x) {
    // NOTE: by arcus tangent of the smaller quotient, not by a logarithm of (x + i y) / |.|: the modulus 1 of the latter is
    // rounded, and its error drowns the tiny imaginary part of a complex step
    const R pi = std::acos(R(-1));
    if (std::abs(x.real()) >= std::abs(y.real())) return std::atan(y / x) + (x.real() >= 0 ? R(0) : y.real() >= 0 ? pi : -pi);
    return (y.real() >= 0 ? pi / 2 : -pi / 2) - std::atan(x / y);
}
template <class T>
T int_power(const T& x, int n) {
    T base = n < 0 ? T(T(1) / x) : x, result = T(1);
    for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
        if (k & 1u) result = result * base;
        if (k > 1) base = base * base;
    }
    return result;
}

// The smooth function that stands for an opaque one in checks: f(x) = sum_k c_k sin(w_k . x + p_k) with numbers drawn from the
// function's name, differentiated `orders[i]` times by argument i. Same name, same function, whatever the scalar type.
template <class T>
T opaque_value(std::string_view name, std::span<const std::uint8_t> orders, std::span<const T> arguments) {
    std::uint64_t state = 0xcbf29ce484222325ull;
    for (const char c : name) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    const auto draw = [&] {  // in [0.25, 1.25), exact in double
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return 0.25 + static_cast<double>(state >> 40) / 16777216.0;
    };
    using std::cos;
    using std::sin;
    T total(0);
    for (int k = 0; k < 3; ++k) {
        T factor(draw()), phase(draw());
        int order = 0;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const T w(draw());
            phase = phase + w * arguments[i];
            factor = factor * int_power(w, orders[i]);
            order += orders[i];
        }
        const T s = sin(phase), c = cos(phase);
        const T wave = order % 4 == 0 ? s : order % 4 == 1 ? c : order % 4 == 2 ? T(-s) : T(-c);
        total = total + factor * wave;
    }
    return total;
}

}  // namespace appell
