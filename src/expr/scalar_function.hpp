// Operations of the table (ops.def) as functions of doubles, for who calls them by address.
#pragma once

#include "expr/graph.hpp"

namespace appell {

// operands that an operation does not have are not looked at
using ScalarFunction = double (*)(double, double, double);
// null for what is no operation on scalars
[[nodiscard]] ScalarFunction scalar_function(Op op);

}  // namespace appell
