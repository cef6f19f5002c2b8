// The scalar types programs run with: double for simulation, complex numbers for complex-step derivatives, fifty digits to tell
// round-off from disagreement.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <complex>

#include "expr/scalar_math.hpp"
#include "tape/fifty_digits.hpp"

namespace appell {

using Digits50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

template <class T>
struct RealOf {
    using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

// x - x is zero for finite numbers only; cheaper than classification and the same for every type
template <class T>
bool is_finite(const T& x) {
    if constexpr (IsComplex<T>::value)
        return x.real() - x.real() == 0 && x.imag() - x.imag() == 0;
    else
        return x - x == 0;
}

}  // namespace appell
