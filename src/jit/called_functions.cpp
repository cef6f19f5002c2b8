#include "jit/called_functions.hpp"

#include <math.h>

namespace appell {

double sine_with_cosine(double x, double* cosine) {
    double sine = 0;
    ::sincos(x, &sine, cosine);
    return sine;
}

double cosine_with_sine(double x, double* sine) {
    double cosine = 0;
    ::sincos(x, sine, &cosine);
    return cosine;
}

template <std::size_t lanes>
void sines_with_cosines(double* sine, double* cosine, const double* x) {
    for (std::size_t k = 0; k < lanes; ++k) ::sincos(x[k], &sine[k], &cosine[k]);
}

template <std::size_t lanes>
void call_in_lanes(double* out, const double* x, const double* y, const double* z, ScalarFunction function) {
    for (std::size_t k = 0; k < lanes; ++k) out[k] = function(x[k], y[k], z[k]);
}

template void sines_with_cosines<4>(double*, double*, const double*);
template void sines_with_cosines<8>(double*, double*, const double*);
template void call_in_lanes<4>(double*, const double*, const double*, const double*, ScalarFunction);
template void call_in_lanes<8>(double*, const double*, const double*, const double*, ScalarFunction);

}  // namespace appell
