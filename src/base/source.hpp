// Source texts and places in them. A Span names a byte range of one file of a SourceSet; everything that a user wrote
// carries one, so that a message can point at it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace appell {

struct Span {
    static constexpr std::uint32_t k_no_file = 0xffffffffu;

    std::uint32_t file = k_no_file;
    std::uint32_t begin = 0;  // byte offset
    std::uint32_t end = 0;    // one past the last byte

    [[nodiscard]] bool known() const { return file != k_no_file; }
    friend bool operator==(const Span&, const Span&) = default;
};

// the smallest span that holds both; spans of different files give the first
[[nodiscard]] Span join(Span first, Span second);

struct SourceFile {
    std::string name;  // as the user would name it
    std::string text;
};

struct LineColumn {
    std::size_t line = 1;    // from 1
    std::size_t column = 1;  // from 1, in characters of UTF-8
};

class SourceSet {
public:
    std::uint32_t add(std::string name, std::string text);

    [[nodiscard]] const SourceFile& file(std::uint32_t index) const { return files_.at(index); }
    [[nodiscard]] std::size_t size() const { return files_.size(); }
    [[nodiscard]] std::string_view text(Span span) const;
    [[nodiscard]] LineColumn locate(std::uint32_t file, std::uint32_t offset) const;
    // the line that holds the offset, without its line end
    [[nodiscard]] std::string_view line_text(std::uint32_t file, std::uint32_t offset) const;

private:
    std::vector<SourceFile> files_;
};

}  // namespace appell
