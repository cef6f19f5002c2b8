// Tokens to syntax. One problem is reported per statement, reading goes on with the next one, and every name of a statement
// that could not be read is marked, so that its absence is not reported again.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.hpp"
#include "base/limits.hpp"
#include "lang/lexer.hpp"
#include "lang/syntax.hpp"

namespace appell {

// Reads one file of the source set and appends its statements; families are closed inside one file.
void parse_file(std::string_view text, std::uint32_t file, const Limits& limits, Syntax& syntax, Diagnostics& diagnostics);

// Tokens of one statement, with the reading position and the first problem. Shared by the statement and the expression parser.
class TokenReader {
public:
    TokenReader(std::string_view text, std::uint32_t file, const Lexed& lexed, TokenRange range, Diagnostics& diagnostics);

    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
    [[nodiscard]] TokenKind kind(std::size_t ahead = 0) const { return peek(ahead).kind; }
    [[nodiscard]] std::string_view word(std::size_t ahead = 0) const;  // empty unless a word
    [[nodiscard]] std::string_view text(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }
    // from a token up to the last one that was taken
    [[nodiscard]] std::string_view text_since(const Token& token) const {
        return text_.substr(token.begin, previous_span().end - token.begin);
    }
    [[nodiscard]] Span span(const Token& token) const { return {file_, token.begin, token.end}; }
    [[nodiscard]] Span previous_span() const;
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] bool at_end() const { return kind() == TokenKind::end; }
    // the next token stands directly behind the one before it
    [[nodiscard]] bool adjacent(std::size_t ahead = 0) const;

    Token take();
    bool accept(TokenKind kind);
    bool accept_word(std::string_view word);
    bool expect(TokenKind kind, std::string_view what);
    bool expect_word(std::string_view word);

    // the form of the statement, for hints; nothing inside an expression, where it does not help
    void set_form(std::string_view form) { form_ = form; }

    // reports "expected ..., found ..." at the next token, once per statement; always false
    bool fail_expected(std::string_view what);
    bool fail(Code code, Span span, std::string message, std::string found = {}, std::string expected = {},
              std::string hint = {});
    [[nodiscard]] bool failed() const { return failed_; }

private:
    std::string_view text_;
    std::uint32_t file_;
    const Lexed& lexed_;
    TokenRange range_;
    std::size_t at_;
    Token end_;
    Diagnostics& diagnostics_;
    std::string_view form_;
    bool failed_ = false;
};

// An expression up to the first token that can not belong to it; false after a problem.
[[nodiscard]] bool parse_expression(TokenReader& reader, const Limits& limits, Syntax& syntax, SyntaxExpr& out);
// NAME [ '[' index, ... ']' ] ['...]
[[nodiscard]] bool parse_name(TokenReader& reader, const Limits& limits, Syntax& syntax, SyntaxName& out, std::string_view what);

// how many values a node takes from below it
[[nodiscard]] std::size_t operands(const SyntaxNode& node);

// the name of a relation, such as rolling
[[nodiscard]] bool is_relation(std::string_view word);

}  // namespace appell
