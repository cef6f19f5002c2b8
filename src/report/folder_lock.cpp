#include "report/folder_lock.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace appell {

namespace {

std::string text_of(int descriptor) {
    std::array<char, 64> text{};
    const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
    std::string out;
    for (ssize_t i = 0; i < length && text[static_cast<std::size_t>(i)] >= '0' && text[static_cast<std::size_t>(i)] <= '9'; ++i)
        out += text[static_cast<std::size_t>(i)];
    return out;
}

}  // namespace

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool FolderLock::held(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return false;
    const bool busy = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return busy;
}

FolderLock::Outcome FolderLock::take(const std::filesystem::path& file, std::string& owner) {
    for (;;) {
        const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor < 0) return Outcome::failed;
        if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            owner = text_of(descriptor);
            ::close(descriptor);
            return Outcome::busy;
        }
        // who had it before may have removed the file since it was opened here
        struct stat opened {
        }, named{};
        if (::fstat(descriptor, &opened) != 0 || ::stat(file.c_str(), &named) != 0 || opened.st_ino != named.st_ino ||
            opened.st_dev != named.st_dev) {
            ::close(descriptor);
            continue;
        }
        const std::string process = fmt::format("{}\n", ::getpid());
        // only told to people: a disk that is full is found out by what matters
        if (::ftruncate(descriptor, 0) != 0 || ::write(descriptor, process.data(), process.size()) < 0) errno = 0;
        descriptor_ = descriptor;
        return Outcome::taken;
    }
}

}  // namespace appell
