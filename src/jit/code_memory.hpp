// Memory that holds machine code: written first, then made executable and read-only. It is never both writable and executable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace appell {

// Null where the system gives no such memory.
[[nodiscard]] std::shared_ptr<const std::uint8_t> executable_copy(std::span<const std::uint8_t> code);

}  // namespace appell
