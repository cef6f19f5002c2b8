// An instruction as C: the expressions of the operation table (expr/ops.def) with the operands put in.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// of an APPELL_OP operation; operands are identifiers, elements of arrays, or numbers
[[nodiscard]] std::string operation_text(Op op, const std::array<std::string, 3>& operands);

// Its value. NOTE: compilers compute sin(2.0) themselves, with more digits than the mathematical library has at run time; what is
// constant is computed here, so that it is what the interpreter has.
[[nodiscard]] double operation_value(Op op, double x, double y, double z);

// x^n by the same products as int_power (expr/scalar_math.hpp), the first factor 1 left out. The squares that the products need
// are added to `lines` under names that begin with `name`.
[[nodiscard]] std::string power_text(const std::string& x, int n, const std::string& name, std::vector<std::string>& lines);

}  // namespace appell
