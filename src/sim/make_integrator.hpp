// From the name of a method to the method (base/integrators.hpp has the table).
#pragma once

#include <memory>

#include "base/integrators.hpp"
#include "sim/integrator.hpp"

namespace appell {

// Throws Error where the options do not fit the method.
[[nodiscard]] std::unique_ptr<Integrator> make_integrator(IntegratorKind kind, FirstOrderSystem& system,
                                                          const IntegratorOptions& options);

}  // namespace appell
