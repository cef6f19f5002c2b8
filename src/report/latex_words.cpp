#include "report/latex_words.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "expr/print.hpp"

namespace appell {

namespace {

struct Letter {
    std::uint32_t code = 0;
    std::string_view bytes;
};

// the character of a text in UTF-8 that begins at a place; a byte that begins none stands for itself
Letter letter_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t first = byte(at);
    const std::size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 1 || at + size > text.size()) return {first, text.substr(at, 1)};
    std::uint32_t code = first & (0xffu >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte(at + i) & 0x3fu);
    return {code, text.substr(at, size)};
}

// what the formulas write for a Greek letter; empty for others
std::string greek(const Letter& letter) {
    if (letter.code < 0x370 || letter.code > 0x3ff) return "";
    std::string command = latex_name(letter.bytes);
    return command.starts_with('\\') ? command : "";
}

// accents and dashes that LaTeX has itself
bool known_to_latex(std::uint32_t code) { return code < 0x180 || (code >= 0x2010 && code <= 0x203a); }

}  // namespace

std::string latex_letters(std::string_view document) {
    std::map<std::uint32_t, std::string> declared;
    for (std::size_t i = 0; i < document.size();) {
        const Letter letter = letter_at(document, i);
        i += letter.bytes.size();
        if (known_to_latex(letter.code)) continue;
        const std::string command = greek(letter);
        declared[letter.code] =
            command.empty() ? fmt::format("\\texttt{{U+{:04X}}}", letter.code) : fmt::format("\\ensuremath{{{}}}", command);
    }
    std::string out;
    for (const auto& [code, meaning] : declared) out += fmt::format("\\DeclareUnicodeCharacter{{{:04X}}}{{{}}}\n", code, meaning);
    return out;
}

std::string plain_words(std::string_view words) {
    std::string out;
    for (std::size_t i = 0; i < words.size();) {
        const Letter letter = letter_at(words, i);
        i += letter.bytes.size();
        const auto code = letter.code;
        const bool plain = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9');
        if (plain) {
            out += letter.bytes;
        } else if (const std::string command = greek(letter); !command.empty()) {
            // \beta, or \mathrm{Alpha} for a letter that looks like a Latin one
            const std::size_t brace = command.find('{');
            for (const char c : command.substr(brace == std::string::npos ? 0 : brace))
                if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) out += c;
        } else if (code >= 0xc0) {
            out += fmt::format("u{:04X}", code);
        } else if (!out.empty() && out.back() != '_') {
            out += '_';
        }
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out;
}

std::string latex_words(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '\\') {
            out += "\\textbackslash{}";
        } else if (c == '^' || c == '~') {
            out += '\\';
            out += c;
            out += "{}";
        } else {
            if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

}  // namespace appell
