// Parameters so large or small that products with them leave the range of numbers, named where something fails beside them: what
// overflows is mostly far from where it is noticed.
#pragma once

#include "base/diagnostics.hpp"
#include "model/model.hpp"

namespace appell {

// The first error of a computation with the model has them in its hint, if there are any.
void name_extreme_parameters(Diagnostics& diagnostics, const Model& model);

// E0878 for a run that ended well with energies that are no numbers, beside such parameters
void refuse_overflow(Diagnostics& diagnostics, const Model& model);

}  // namespace appell
