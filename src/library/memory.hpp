// How much memory a computation may take here.
#pragma once

#include <cstddef>

#include "base/limits.hpp"

namespace appell {

// bytes that the machine, and the group of processes that this one runs in, have left; 0 where neither can be found out
[[nodiscard]] std::size_t memory_left();

// the default limits, with no more nodes of the expression graph than fit into so many bytes; 0: into what is left
[[nodiscard]] Limits limits_within(std::size_t bytes = 0);

}  // namespace appell
