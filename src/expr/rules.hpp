// The local rewrite rules applied when a node is made. Each looks at most two levels down, takes constant time, and keeps
// the value wherever the original is defined; each has a name and a property test.
#pragma once

#include <cstddef>
#include <string_view>

namespace appell {

[[nodiscard]] std::size_t rule_count();
[[nodiscard]] std::string_view rule_name(std::size_t index);

}  // namespace appell
