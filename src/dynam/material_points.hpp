// Frames that must belong to bodies: vel(B at P), vel(P, B), rolling, and forces on B at P name the material point of B that is
// at P now, and only a body has such points. Wherever a model names one of a frame without a body, it is refused, in claims as in
// constraints and outputs: no context gives it another meaning.
#pragma once

#include "base/diagnostics.hpp"
#include "model/model.hpp"

namespace appell {

void check_material_points(const Model& model, Diagnostics& diagnostics);

}  // namespace appell
