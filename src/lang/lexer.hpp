// Text to tokens. Tokens carry byte offsets only; the text stays with its file. Lines are grouped into statements: a statement
// goes on over lines that are indented deeper than its first one, while a bracket is open, and behind an operator, comma, `=`
// or `:` at the end of a line.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"

namespace appell {

enum class TokenKind : std::uint8_t {
    word,
    number,
    string,
    plus,
    minus,
    star,
    slash,
    caret,
    open,
    close,
    open_bracket,
    close_bracket,
    comma,
    colon,
    equal,
    less,
    less_equal,
    greater,
    greater_equal,
    equal_equal,
    not_equal,
    arrow,
    dot,
    dots,
    prime,
    end  // of the statement
};

struct Token {
    TokenKind kind = TokenKind::end;
    bool space_before = false;
    bool first_on_line = false;
    std::uint32_t begin = 0, end = 0;
    std::uint32_t indent = 0;  // of its line
};

struct TokenRange {
    std::uint32_t begin = 0, end = 0;  // in the token list
};

struct Lexed {
    std::vector<Token> tokens;
    std::vector<TokenRange> statements;
};

// the longest line that is read; a longer one is taken for data in the wrong file
inline constexpr std::size_t k_longest_line = 4u << 20;

// `file` is the index for spans. Problems are added to the diagnostics; nothing is read from text that is not UTF-8.
[[nodiscard]] Lexed lex(std::string_view text, std::uint32_t file, Diagnostics& diagnostics);

[[nodiscard]] std::string_view describe(TokenKind kind);

}  // namespace appell
