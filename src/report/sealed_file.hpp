// A picture that carries the hash of its own content, behind it or in a chunk of its own, so that it can be told, wherever it is,
// from one that somebody has edited or drawn otherwise.
#pragma once

#include <filesystem>
#include <string>

namespace appell {

// the content of an SVG, PDF or PNG file, with its seal
[[nodiscard]] std::string with_seal(std::string content);
// a file as with_seal() made it
[[nodiscard]] bool is_sealed(const std::filesystem::path& file);

}  // namespace appell
