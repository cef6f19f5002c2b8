// What native code calls: operations that it does not write out, by the formulas of the interpreter.
#pragma once

#include <cstddef>

#include "expr/scalar_function.hpp"

namespace appell {

// Sine and cosine of one angle, for little more than one of them: the C library computes both by the steps of each alone, which a
// test confirms.
[[nodiscard]] double sine_with_cosine(double x, double* cosine);
[[nodiscard]] double cosine_with_sine(double x, double* sine);

// The same for numbers of so many lanes, one after the other.
template <std::size_t lanes>
void sines_with_cosines(double* sine, double* cosine, const double* x);
template <std::size_t lanes>
void call_in_lanes(double* out, const double* x, const double* y, const double* z, ScalarFunction function);

}  // namespace appell
