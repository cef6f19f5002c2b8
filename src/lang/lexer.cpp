// One pass over the bytes for validity, one for tokens, one for grouping lines into statements.
#include "lang/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "lang/schema.hpp"

namespace appell {

namespace {

struct Scalar {
    std::uint32_t code = 0;
    std::uint32_t length = 0;  // bytes; 0 for an invalid sequence
};

// one character of UTF-8; overlong forms and surrogates are invalid
Scalar decode(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(at);
    if (lead < 0x80) return {lead, 1};
    const std::uint32_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return {};
    std::uint32_t code = lead & (0x7fu >> length);
    for (std::uint32_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0u) != 0x80u) return {};
        code = (code << 6) | (byte(at + i) & 0x3fu);
    }
    static constexpr std::array<std::uint32_t, 5> k_least{0, 0, 0x80, 0x800, 0x10000};
    if (code < k_least[length] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
    return {code, length};
}

bool is_letter(std::uint32_t code) {
    if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
    if (code < 0xc0) return code == 0xaa || code == 0xb5 || code == 0xba;
    if (code == 0xd7 || code == 0xf7) return false;
    // general punctuation, arrows, mathematical operators and symbols; full-width punctuation
    return !(code >= 0x2000 && code < 0x2c00) && !(code >= 0x3000 && code < 0x3005) && !(code >= 0xfe00 && code < 0xff21) &&
           code < 0xe0000;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// what people paste from other programs
std::string_view replacement(std::uint32_t code) {
    switch (code) {
        case 0x2212:
        case 0x2013:
        case 0x2014:
        case 0x2010:
        case 0x2011: return "-";
        case 0xb7:
        case 0xd7:
        case 0x22c5:
        case 0x2022: return "*";
        case 0xf7:
        case 0x2215: return "/";
        case 0x2032:
        case 0x2019:
        case 0x2018: return "'";
        case 0x2033: return "''";
        case 0x201c:
        case 0x201d: return "\"";
        case 0x2264: return "<=";
        case 0x2265: return ">=";
        case 0x2260: return "!=";
        case 0x21d2: return "=>";
        case 0x221a: return "sqrt(...)";
        case 0x2026: return "..";
        case 0xb0: return "deg";
        case 0xb2: return "^2";
        case 0xb3: return "^3";
        case '{': return "( in expressions; a family begins with its first line and stops at `end`";
        case '}': return ") in expressions, and `end` below a family";
        case ';': return "a new line";
        case '&': return "and";
        case '|': return "mag(...) or `or`";
        case '!': return "not";
        default: return {};
    }
}

class Lexer {
public:
    Lexer(std::string_view text, std::uint32_t file, Diagnostics& diagnostics)
        : text_(text), file_(file), diagnostics_(diagnostics) {}

    bool check_text() {
        std::size_t line_begin = 0;
        for (std::size_t i = 0; i < text_.size();) {
            const char c = text_[i];
            if (c >= ' ' && c <= '~' && i - line_begin <= k_longest_line) {  // most of a text
                ++i;
                continue;
            }
            if (c == '\0') {
                fail(Code::E0006, i, i + 1, "the file holds a zero byte: it is not a text file");
                return false;
            }
            if (c == '\n') line_begin = i + 1;
            if (i > line_begin && i - line_begin > k_longest_line) {
                fail(Code::E0009, line_begin, line_begin + 1,
                     fmt::format("a line is longer than {} bytes, which no --limit changes", k_longest_line));
                return false;
            }
            const Scalar scalar = decode(text_, i);
            if (scalar.length == 0) {
                fail(Code::E0007, i, i + 1, "the file is not valid UTF-8").found =
                    fmt::format("byte 0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
                return false;
            }
            i += scalar.length;
        }
        return true;
    }

    void run(Lexed& out) {
        std::size_t at = text_.starts_with("\xef\xbb\xbf") ? 3 : 0;
        bool fresh_line = true, space = true;
        std::uint32_t indent = 0;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '\n') {
                fresh_line = space = true;
                indent = 0;
                ++at;
                continue;
            }
            if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                if (fresh_line) indent += c == '\t' ? 4 - indent % 4 : 1;
                space = true;
                ++at;
                continue;
            }
            if (c == '#') {
                at = std::min(text_.find('\n', at), text_.size());
                continue;
            }
            Token token;
            token.begin = static_cast<std::uint32_t>(at);
            token.space_before = space;
            token.first_on_line = fresh_line;
            token.indent = indent;
            at = scan(at, token);
            space = false;
            if (token.kind == TokenKind::end) continue;  // already reported
            fresh_line = false;
            token.end = static_cast<std::uint32_t>(at);
            out.tokens.push_back(token);
        }
    }

private:
    Diagnostic& fail(Code code, std::size_t begin, std::size_t end, std::string message) {
        return diagnostics_.add(
            {code, {file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, std::move(message), {}, {}, {}});
    }

    [[nodiscard]] char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

    // sets the kind and returns the end of the token; kind `end` after an error
    std::size_t scan(std::size_t at, Token& token) {
        const char c = text_[at];
        // a dot behind a name is a member (c.1), not the start of a number
        const char before = at > 0 ? text_[at - 1] : ' ';
        const bool behind_name =
            !token.space_before && (is_letter(static_cast<unsigned char>(before) & 0x7f) || is_digit(before) || before == ']' ||
                                    before == ')' || before == '\'' || (before & 0x80) != 0);
        if (is_digit(c) || (c == '.' && is_digit(peek(at + 1)) && !behind_name)) return scan_number(at, token);
        if (c == '"') return scan_string(at, token);
        const Scalar scalar = decode(text_, at);
        if (is_letter(scalar.code)) {
            token.kind = TokenKind::word;
            return scan_word(at);
        }
        const auto take = [&](TokenKind kind, std::size_t length) {
            token.kind = kind;
            return at + length;
        };
        const char next = peek(at + 1);
        switch (c) {
            case '+': return take(TokenKind::plus, 1);
            case '-': return take(TokenKind::minus, 1);
            case '*': return take(TokenKind::star, 1);
            case '/': return take(TokenKind::slash, 1);
            case '^': return take(TokenKind::caret, 1);
            case '(': return take(TokenKind::open, 1);
            case ')': return take(TokenKind::close, 1);
            case '[': return take(TokenKind::open_bracket, 1);
            case ']': return take(TokenKind::close_bracket, 1);
            case ',': return take(TokenKind::comma, 1);
            case ':': return take(TokenKind::colon, 1);
            case '\'': return take(TokenKind::prime, 1);
            case '.': return next == '.' ? take(TokenKind::dots, 2) : take(TokenKind::dot, 1);
            case '=':
                return next == '='   ? take(TokenKind::equal_equal, 2)
                       : next == '>' ? take(TokenKind::arrow, 2)
                                     : take(TokenKind::equal, 1);
            case '<': return next == '=' ? take(TokenKind::less_equal, 2) : take(TokenKind::less, 1);
            case '>': return next == '=' ? take(TokenKind::greater_equal, 2) : take(TokenKind::greater, 1);
            case '!':
                if (next == '=') return take(TokenKind::not_equal, 2);
                break;
            default: break;
        }
        return report_character(at, scalar);
    }

    std::size_t scan_word(std::size_t at) const {
        while (at < text_.size()) {
            const Scalar scalar = decode(text_, at);
            if (!is_letter(scalar.code) && !(scalar.code < 0x80 && is_digit(static_cast<char>(scalar.code)))) break;
            at += scalar.length;
        }
        return at;
    }

    std::size_t scan_number(std::size_t at, Token& token) {
        const std::size_t begin = at;
        while (is_digit(peek(at))) ++at;
        if (peek(at) == '.' && peek(at + 1) != '.') {
            ++at;
            while (is_digit(peek(at))) ++at;
        }
        if (peek(at) == 'e' || peek(at) == 'E') {
            const std::size_t sign = peek(at + 1) == '+' || peek(at + 1) == '-' ? 1 : 0;
            if (is_digit(peek(at + 1 + sign))) {
                at += 1 + sign;
                while (is_digit(peek(at))) ++at;
            }
        }
        token.kind = TokenKind::number;
        // what sticks to a number: 2m, 1.2.3, 1e
        if (at < text_.size() && (is_letter(decode(text_, at).code) || (peek(at) == '.' && is_digit(peek(at + 1))))) {
            std::size_t stop = at;
            while (stop < text_.size() && (is_letter(decode(text_, stop).code) || is_digit(text_[stop]) || text_[stop] == '.'))
                stop += decode(text_, stop).length;
            const std::string_view tail = text_.substr(at, stop - at);
            Diagnostic& d = fail(Code::E0103, begin, stop, "this is not a number");
            d.found = std::string(text_.substr(begin, stop - begin));
            d.hint = find_unit(tail) != nullptr
                         ? fmt::format("write a space before the unit: {} {}", text_.substr(begin, at - begin), tail)
                         : "write a space or an operator behind a number";
            return stop;
        }
        return at;
    }

    std::size_t scan_string(std::size_t at, Token& token) {
        const std::size_t begin = at++;
        while (at < text_.size() && text_[at] != '"' && text_[at] != '\n') ++at;
        token.kind = TokenKind::string;
        if (peek(at) == '"') return at + 1;
        fail(Code::E0102, begin, at, "the text in quotation marks does not end on its line").hint = "close it with \"";
        return at;
    }

    std::size_t report_character(std::size_t at, Scalar scalar) {
        std::size_t stop = at + scalar.length;
        // a run of the same nonsense is one problem
        while (stop < text_.size() && static_cast<unsigned char>(text_[stop]) >= 0x80 && !is_letter(decode(text_, stop).code))
            stop += decode(text_, stop).length;
        Diagnostic& d = fail(Code::E0101, at, stop, "this character has no meaning in the language");
        d.found = scalar.code < 0x20 || scalar.code == 0x7f
                      ? fmt::format("U+{:04X}", scalar.code)
                      : fmt::format("{} (U+{:04X})", text_.substr(at, scalar.length), scalar.code);
        if (const std::string_view better = replacement(scalar.code); !better.empty()) d.hint = fmt::format("write {}", better);
        return stop;
    }

    std::string_view text_;
    std::uint32_t file_;
    Diagnostics& diagnostics_;
};

bool goes_on_behind(TokenKind kind) {
    switch (kind) {
        case TokenKind::plus:
        case TokenKind::minus:
        case TokenKind::star:
        case TokenKind::slash:
        case TokenKind::caret:
        case TokenKind::comma:
        case TokenKind::colon:
        case TokenKind::equal:
        case TokenKind::less:
        case TokenKind::less_equal:
        case TokenKind::greater:
        case TokenKind::greater_equal:
        case TokenKind::equal_equal:
        case TokenKind::not_equal:
        case TokenKind::arrow:
        case TokenKind::open:
        case TokenKind::open_bracket:
        case TokenKind::dots: return true;
        default: return false;
    }
}

void group_statements(std::string_view text, Lexed& lexed) {
    std::uint32_t begin = 0;
    std::uint32_t indent = 0;
    int depth = 0;
    bool own_line = false;  // the header of a family ends with its line
    for (std::uint32_t i = 0; i < lexed.tokens.size(); ++i) {
        const Token& token = lexed.tokens[i];
        const std::string_view word = text.substr(token.begin, token.end - token.begin);
        bool fresh = i == 0;
        if (i > 0 && token.first_on_line) {
            const bool deeper = token.indent > indent;
            // a keyword at the statement's own margin opens a new statement even when the one above was left unfinished
            const bool keyword = token.kind == TokenKind::word && find_statement(word) != nullptr;
            const bool open = depth > 0 || goes_on_behind(lexed.tokens[i - 1].kind);
            if (own_line)
                fresh = !open || keyword;
            else
                fresh = !deeper && !(open && !keyword);
        }
        if (fresh) {
            if (i > begin) lexed.statements.push_back({begin, i});
            begin = i;
            indent = token.indent;
            depth = 0;
            own_line = token.kind == TokenKind::word && (word == "for" || word == "end");
        }
        if (token.kind == TokenKind::open || token.kind == TokenKind::open_bracket) ++depth;
        if ((token.kind == TokenKind::close || token.kind == TokenKind::close_bracket) && depth > 0) --depth;
    }
    if (begin < lexed.tokens.size()) lexed.statements.push_back({begin, static_cast<std::uint32_t>(lexed.tokens.size())});
}

}  // namespace

Lexed lex(std::string_view text, std::uint32_t file, Diagnostics& diagnostics) {
    Lexed out;
    Lexer lexer(text, file, diagnostics);
    if (!lexer.check_text()) return out;
    lexer.run(out);
    group_statements(text, out);
    return out;
}

std::string_view describe(TokenKind kind) {
    switch (kind) {
        case TokenKind::word: return "a name";
        case TokenKind::number: return "a number";
        case TokenKind::string: return "a text in quotation marks";
        case TokenKind::plus: return "`+`";
        case TokenKind::minus: return "`-`";
        case TokenKind::star: return "`*`";
        case TokenKind::slash: return "`/`";
        case TokenKind::caret: return "`^`";
        case TokenKind::open: return "`(`";
        case TokenKind::close: return "`)`";
        case TokenKind::open_bracket: return "`[`";
        case TokenKind::close_bracket: return "`]`";
        case TokenKind::comma: return "`,`";
        case TokenKind::colon: return "`:`";
        case TokenKind::equal: return "`=`";
        case TokenKind::less: return "`<`";
        case TokenKind::less_equal: return "`<=`";
        case TokenKind::greater: return "`>`";
        case TokenKind::greater_equal: return "`>=`";
        case TokenKind::equal_equal: return "`==`";
        case TokenKind::not_equal: return "`!=`";
        case TokenKind::arrow: return "`=>`";
        case TokenKind::dot: return "`.`";
        case TokenKind::dots: return "`..`";
        case TokenKind::prime: return "`'`";
        case TokenKind::end: return "the end of the statement";
    }
    return "";
}

}  // namespace appell
