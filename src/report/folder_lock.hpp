// A folder of results belongs to one process at a time. The lock is the system's, on a file in the folder: it ends with the
// process, however that ends. Where the file system has no locks, there is none.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace appell {

class FolderLock {
public:
    FolderLock() = default;
    FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FolderLock& operator=(FolderLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FolderLock();

    enum class Outcome { taken, busy, failed };  // failed: errno says why
    // `owner`: who has it, where it is busy
    [[nodiscard]] Outcome take(const std::filesystem::path& file, std::string& owner);
    // Does a process that lives have it? Nothing is changed.
    [[nodiscard]] static bool held(const std::filesystem::path& file);

private:
    int descriptor_ = -1;
};

}  // namespace appell
