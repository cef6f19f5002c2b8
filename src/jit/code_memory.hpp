// Memory that holds machine code: written first, then made executable and read-only. It is never both writable and executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace appell {

// code addresses memory by 31 bits of offset: at most so many doubles
inline constexpr std::size_t k_most_doubles = std::size_t(1) << 27;

// Null where the system gives no such memory.
[[nodiscard]] std::shared_ptr<const std::uint8_t> executable_copy(std::span<const std::uint8_t> code);

}  // namespace appell
