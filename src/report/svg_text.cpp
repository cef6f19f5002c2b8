#include "report/svg_text.hpp"

#include <array>
#include <cstdint>

namespace appell {
namespace {

struct Character {
    std::uint32_t code;
    std::size_t bytes;  // how many bytes of the text it took
    bool valid;
};

// The character at the beginning of a text that is not empty; an invalid byte is a character of its own.
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (length == 0 || lead >= 0xf5 || text.size() < length) return {0xfffd, 1, false};
    std::uint32_t code = lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u) return {0xfffd, 1, false};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    // overlong forms, surrogates and what lies beyond Unicode
    constexpr std::array<std::uint32_t, 5> k_least{0, 0, 0x80, 0x800, 0x10000};
    if (code < k_least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {0xfffd, 1, false};
    return {code, length, true};
}

bool allowed_in_xml(std::uint32_t code) {
    if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
    return code != 0xfffe && code != 0xffff;
}

// share of the font size
double character_width(std::uint32_t code) {
    constexpr std::string_view k_narrow = "ijl.,:;'|!()[]{}`tfrI ";
    constexpr std::string_view k_wide = "mwMW@%";
    if (code < 0x80) {
        const char c = static_cast<char>(code);
        if (k_narrow.find(c) != std::string_view::npos) return 0.37;
        if (k_wide.find(c) != std::string_view::npos) return 0.92;
        if (c >= 'A' && c <= 'Z') return 0.69;
        return 0.61;
    }
    // superscripts and subscripts
    if (code == 0xb2 || code == 0xb3 || code == 0xb9 || (code >= 0x2070 && code < 0x20a0)) return 0.42;
    return code < 0x3000 ? 0.64 : 1.0;
}

}  // namespace

std::string escape_xml(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 8);
    while (!text.empty()) {
        const Character c = first_character(text);
        if (!c.valid || !allowed_in_xml(c.code)) {
            out += "\xef\xbf\xbd";
        } else {
            switch (c.code) {
                case '&': out += "&amp;"; break;
                case '<': out += "&lt;"; break;
                case '>': out += "&gt;"; break;
                case '"': out += "&quot;"; break;
                case '\'': out += "&#39;"; break;
                default: out += text.substr(0, c.bytes);
            }
        }
        text.remove_prefix(c.bytes);
    }
    return out;
}

std::string plain_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Character c = first_character(text);
        if (!c.valid || !allowed_in_xml(c.code))
            out += "\xef\xbf\xbd";
        else
            out += c.code < 0x20 ? std::string_view(" ") : text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
    }
    return out;
}

double text_width(std::string_view text, double font_size) {
    double width = 0;
    while (!text.empty()) {
        const Character c = first_character(text);
        width += character_width(c.code);
        text.remove_prefix(c.bytes);
    }
    return width * font_size;
}

std::string fit_text(std::string_view text, double font_size, double width) {
    if (text_width(text, font_size) <= width) return std::string(text);
    constexpr std::string_view k_ellipsis = "\u2026";
    double used = text_width(k_ellipsis, font_size);
    std::size_t end = 0;
    while (end < text.size()) {
        const Character c = first_character(text.substr(end));
        used += character_width(c.code) * font_size;
        if (used > width) break;
        end += c.bytes;
    }
    while (end > 0 && text[end - 1] == ' ') --end;
    return std::string(text.substr(0, end)).append(k_ellipsis);
}

}  // namespace appell
