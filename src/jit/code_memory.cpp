#include "jit/code_memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace appell {

std::shared_ptr<const std::uint8_t> executable_copy(std::span<const std::uint8_t> code) {
    const std::size_t size = code.size();
    if (size == 0) return nullptr;
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    std::memcpy(memory, code.data(), size);
    if (::mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
        ::munmap(memory, size);
        return nullptr;
    }
    return {static_cast<const std::uint8_t*>(memory),
            [size](const std::uint8_t* p) { ::munmap(const_cast<std::uint8_t*>(p), size); }};
}

}  // namespace appell
