// Direct evaluation of expressions with fifty digits, compiled once: the operations on such numbers are long to compile.
#pragma once

#include "expr/evaluate.hpp"
#include "tape/scalars.hpp"

namespace appell {

extern template std::vector<Digits50> evaluate<Digits50>(const Graph& g, std::span<const NodeId> roots,
                                                         std::span<const Digits50> values);

}  // namespace appell
