// Is an expression zero for all values of its symbols? Answered in integers modulo a prime, without rounding, for expressions
// that are rational in their symbols and in sines and cosines. Decision 036 says why the answers can be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

enum class ZeroVerdict : std::uint8_t {
    zero,
    not_zero,
    open,  // zero, if at all, by what other functions are, or a divisor vanished
};

[[nodiscard]] std::vector<ZeroVerdict> exact_zero_test(const Graph& graph, std::span<const NodeId> expressions);

// The expression without the symbols that it does not depend on in truth, parameters aside: sin(q)^2 + cos(q)^2 is one. Symbols
// in divisors stay, and those in functions that are not defined everywhere: without them it might not be defined elsewhere.
[[nodiscard]] NodeId without_idle_symbols(Graph& graph, NodeId expression);

}  // namespace appell
