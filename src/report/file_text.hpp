// Files of a results folder read back. Anybody may have put anything there: a file is measured before it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace appell {

// The text of a regular file of at most so many bytes; none where it is another thing, longer, or cannot be read.
[[nodiscard]] std::optional<std::string> file_text(const std::filesystem::path& path, std::uintmax_t most);

}  // namespace appell
