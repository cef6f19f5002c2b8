#include "report/file_text.hpp"

#include <cstdio>
#include <memory>
#include <system_error>

namespace appell {

namespace fs = std::filesystem;

// NOTE: a stream that has no memory for a text would cut it short and say nothing; a string throws
std::optional<std::string> file_text(const fs::path& path, std::uintmax_t most) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error || size > most) return std::nullopt;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return std::nullopt;
    std::string text(static_cast<std::size_t>(size), '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) return std::nullopt;
    return text;
}

}  // namespace appell
