#include "emit/identifiers.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/number_format.hpp"

namespace appell {

namespace {

// the code point at the front of the text, and how many bytes it has; damaged text counts byte by byte
std::pair<std::uint32_t, std::size_t> code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc0 ? 2 : 1;
    if (length == 1 || length > text.size()) return {byte(0), 1};
    std::uint32_t code = byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3fu);
    return {code, length};
}

constexpr std::array<std::string_view, 25> k_greek{
    "alpha", "beta",    "gamma", "delta", "epsilon", "zeta",  "eta", "theta",   "iota", "kappa", "lambda", "mu",   "nu",
    "xi",    "omicron", "pi",    "rho",   "sigma",   "sigma", "tau", "upsilon", "phi",  "chi",   "psi",    "omega"};

std::string spelled(std::uint32_t code) {
    if (code >= 0x3b1 && code < 0x3b1 + k_greek.size()) return std::string(k_greek[code - 0x3b1]);
    if (code >= 0x391 && code < 0x391 + k_greek.size()) {
        std::string name(k_greek[code - 0x391]);
        name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return name;
    }
    if (code >= 0x2080 && code <= 0x2089) return std::string(1, static_cast<char>('0' + (code - 0x2080)));  // subscripts
    return fmt::format("u{:04x}", code);
}

// words that stand for something in the texts of runtime/ get a small letter
std::string without_placeholders(std::string text) {
    for (const std::string_view word : {"MODEL_", "NAMESPACE"})
        for (std::size_t at; (at = text.find(word)) != std::string::npos;)
            text[at + 1] = static_cast<char>(text[at + 1] + ('a' - 'A'));
    return text;
}

}  // namespace

std::string as_identifier(std::string_view name) {
    std::string out;
    const auto separate = [&] {
        if (!out.empty() && out.back() != '_') out += '_';
    };
    for (std::size_t i = 0; i < name.size();) {
        const auto [code, length] = code_point(name.substr(i));
        i += length;
        const char c = code < 0x80 ? static_cast<char>(code) : '\0';
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
            out += c;
        } else if (c == '\'') {
            separate();
            out += "prime";
        } else if (code >= 0x80) {
            out += spelled(code);
        } else {
            separate();
        }
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out.empty() ? "unnamed" : without_placeholders(std::move(out));
}

std::string IdentifierSet::add(std::string_view name) {
    const std::string wanted = as_identifier(name);
    std::string out = wanted;
    for (int i = 2; !taken_.insert(out).second; ++i) out = fmt::format("{}_{}", wanted, i);
    return out;
}

std::string as_comment(std::string_view text) {
    std::string out;
    for (const char c : text) {
        // no end or begin of a comment, no trigraph, no line that goes on
        if (!out.empty() && ((c == '/' && (out.back() == '*' || out.back() == '/')) || (c == '*' && out.back() == '/') ||
                             (c == '?' && out.back() == '?')))
            out += ' ';
        out += c == '\\' ? '/' : c == '\n' || c == '\r' ? ' ' : c;
    }
    return without_placeholders(std::move(out));
}

std::string as_literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?')
            out += {'\\', c};
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\{:03o}", byte);
        else
            out += c;
    }
    for (const std::string_view word : {"MODEL_", "NAMESPACE"})  // as in as_identifier: the second letter by its number
        for (std::size_t at; (at = out.find(word)) != std::string::npos;)
            out.replace(at + 1, 1, fmt::format("\\{:03o}", word[1]));
    return out + '"';
}

std::string as_number(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "HUGE_VAL" : "(-HUGE_VAL)";
    std::string out = round_trip(value);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return std::signbit(value) ? "(" + out + ")" : out;
}

}  // namespace appell
