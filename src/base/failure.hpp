// An exception that no stage expected, as a diagnostic: memory that could not be had, or a broken invariant of our own. Those who
// stand at the boundary, the program and the library, catch it there and tell it like any other problem.
#pragma once

#include <exception>

#include "base/diagnostics.hpp"

namespace appell {

[[nodiscard]] Diagnostic failure(const std::exception& exception);

}  // namespace appell
