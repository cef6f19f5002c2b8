// The documentation as data: its pages, their code blocks, headings and links.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace appell::doc {

namespace fs = std::filesystem;

inline const fs::path k_root = APPELL_SOURCE_DIR;
inline const fs::path k_program = fs::path(APPELL_BINARY_DIR) / "appell";

[[nodiscard]] std::string content(const fs::path& path);
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
[[nodiscard]] std::string shell_word(const std::string& text);

// README.md, tests/README.md and all below docs/
[[nodiscard]] std::vector<fs::path> pages();

struct Block {
    std::string language;              // the first word behind the fence
    std::vector<std::string> options;  // the others
    std::string text;
    std::string place;  // file:line of its first line

    [[nodiscard]] bool has(const std::string& option) const;
    [[nodiscard]] std::string file() const;  // NAME of file=NAME, or nothing
};
// Adds a failure where a block is not closed.
[[nodiscard]] std::vector<Block> blocks_of(const fs::path& page);

// the lines that are not code
[[nodiscard]] std::vector<std::string> prose_of(const fs::path& page);
// the anchors of its headings, as code hosts make them
[[nodiscard]] std::vector<std::string> anchors_of(const fs::path& page);
// targets of [text](target) and of [text]: target
[[nodiscard]] std::vector<std::string> links_of(const fs::path& page);

// lines of a model that say something: no comments, no blank ones, no trailing blanks
[[nodiscard]] std::vector<std::string> substance(const std::string& model);
// the NAME of `system NAME`, where the text is a whole model
[[nodiscard]] std::string system_of(const std::string& model);

// Whether what a page shows is what a command said. Lines of dots stand for any number of lines, and so do the beginning and the
// end; inside a line `…` stands for any text, and `~1e-15` for a number of that size (within a
// factor of 30). The first line that was not found, or nothing.
[[nodiscard]] std::string missing_line(const std::string& shown, const std::string& said);

}  // namespace appell::doc
