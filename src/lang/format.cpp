#include "lang/format.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/limits.hpp"
#include "lang/lexer.hpp"
#include "lang/parser.hpp"
#include "lang/schema.hpp"

namespace appell {

namespace {

constexpr std::uint32_t k_family_indent = 2;
constexpr std::uint32_t k_continued = 6;    // of a line that goes on without being indented
constexpr std::uint32_t k_comment_gap = 2;  // before a comment behind a statement

struct Piece {
    std::string_view text;
    std::uint32_t written = 0;  // blanks before it
    std::uint32_t least = 0;    // what the rules ask for
    std::uint32_t gap = 0;      // as laid out
    bool comment = false;
};

struct Line {
    std::uint32_t indent = 0;
    std::vector<Piece> pieces;  // none: a blank line
};

std::uint32_t width_of(std::string_view text) {
    std::uint32_t width = 0;
    for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0u) != 0x80u ? 1 : 0;
    return width;
}

bool is_operand_end(TokenKind kind) {
    return kind == TokenKind::word || kind == TokenKind::number || kind == TokenKind::close || kind == TokenKind::close_bracket ||
           kind == TokenKind::prime;
}

bool stands_between_blanks(TokenKind kind) {
    switch (kind) {
        case TokenKind::equal:
        case TokenKind::less:
        case TokenKind::less_equal:
        case TokenKind::greater:
        case TokenKind::greater_equal:
        case TokenKind::equal_equal:
        case TokenKind::not_equal:
        case TokenKind::arrow: return true;
        default: return false;
    }
}

class Layout {
public:
    Layout(std::string_view text, const Lexed& lexed) : text_(text), lexed_(lexed) {}

    std::string run() {
        find_signs();
        read_lines();
        place();
        std::string out;
        bool blank = true;  // none at the beginning
        for (const Line& line : lines_) {
            if (line.pieces.empty()) {
                if (!blank) out += '\n';
                blank = true;
                continue;
            }
            blank = false;
            out.append(line.indent, ' ');
            for (std::size_t i = 0; i < line.pieces.size(); ++i) {
                if (i > 0) out.append(line.pieces[i].gap, ' ');
                out += line.pieces[i].text;
            }
            out += '\n';
        }
        while (out.ends_with("\n\n")) out.pop_back();
        return out;
    }

private:
    [[nodiscard]] std::string_view word(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }

    // Which signs belong to what follows them: behind an operator, a bracket or a keyword, and behind a clause word where it is
    // written so (a clause word may be the name of a quantity). Signs within a name (udwadia-kalaba), an index or the bounds of a
    // range stand without blanks.
    void find_signs() {
        unary_.assign(lexed_.tokens.size(), false);
        ratio_.assign(lexed_.tokens.size(), false);
        tight_.assign(lexed_.tokens.size(), false);
        for (const TokenRange range : lexed_.statements) {
            const bool plan = word(lexed_.tokens[range.begin]) == "run", share = word(lexed_.tokens[range.begin]) == "share";
            std::vector<bool> inside{false};  // by open bracket: an index, or behind the `..` of a range
            for (std::uint32_t i = range.begin; i < range.end; ++i) {
                const Token& token = lexed_.tokens[i];
                ratio_[i] = share && token.kind == TokenKind::colon && inside.size() == 1;
                const auto before = [&](TokenKind kind) { return i > range.begin && lexed_.tokens[i - 1].kind == kind; };
                if (token.kind == TokenKind::open || token.kind == TokenKind::open_bracket)
                    inside.push_back(inside.back() || token.kind == TokenKind::open_bracket);
                else if ((token.kind == TokenKind::close || token.kind == TokenKind::close_bracket) && inside.size() > 1)
                    inside.pop_back();
                else if (token.kind == TokenKind::dots)
                    inside.back() = true;
                else if (token.kind == TokenKind::comma || token.kind == TokenKind::colon || word(token) == "where")
                    inside.back() = inside.size() > 1 && inside[inside.size() - 2];
                if (token.kind != TokenKind::plus && token.kind != TokenKind::minus) continue;
                const bool joined = i + 1 < range.end && !lexed_.tokens[i + 1].space_before;
                unary_[i] =
                    i <= range.begin + 1 || !is_operand_end(lexed_.tokens[i - 1].kind) ||
                    (before(TokenKind::word) && is_clause_word(word(lexed_.tokens[i - 1])) && token.space_before && joined);
                tight_[i] = inside.back() || (plan && before(TokenKind::word) && !token.space_before && joined);
            }
        }
    }

    // blanks between two tokens of a line
    [[nodiscard]] std::uint32_t blanks(std::uint32_t first, std::uint32_t second) const {
        const Token &a = lexed_.tokens[first], &b = lexed_.tokens[second];
        const std::uint32_t written = b.space_before ? 1 : 0;
        const auto sign = [](const Token& t) { return t.kind == TokenKind::plus || t.kind == TokenKind::minus; };
        if (b.kind == TokenKind::comma || b.kind == TokenKind::close || b.kind == TokenKind::close_bracket) return 0;
        if (a.kind == TokenKind::open || a.kind == TokenKind::open_bracket) return 0;
        if (a.kind == TokenKind::comma || a.kind == TokenKind::colon) return 1;
        if (b.kind == TokenKind::colon) return ratio_[second] ? 1 : 0;
        if (stands_between_blanks(a.kind) || stands_between_blanks(b.kind)) return 1;
        if (sign(a) && (unary_[first] || tight_[first])) return 0;
        if (sign(b) && !unary_[second] && tight_[second]) return 0;
        if (sign(a)) return 1;
        if (sign(b) && !unary_[second]) return 1;
        return written;
    }

    void read_lines() {
        std::uint32_t at = 0, statement = 0, depth = 0;
        std::uint32_t old_indent = 0, new_indent = 0;  // of the statement that a line belongs to
        std::size_t begin = text_.starts_with("\xef\xbb\xbf") ? 3 : 0;
        while (begin < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', begin), text_.size());
            Line line;
            const std::uint32_t first = at;
            while (at < lexed_.tokens.size() && lexed_.tokens[at].begin < end) ++at;
            const bool opens = first < at && statement < lexed_.statements.size() && lexed_.statements[statement].begin == first;
            if (opens) {
                const std::string_view keyword = word(lexed_.tokens[first]);
                if (keyword == "end" && depth > 0) --depth;
                old_indent = lexed_.tokens[first].indent;
                new_indent = line.indent = k_family_indent * depth;
                if (keyword == "for") ++depth;
            } else if (first < at) {
                const std::uint32_t written = lexed_.tokens[first].indent;
                line.indent = written > old_indent ? written - old_indent + new_indent : new_indent + k_continued;
            }
            // statements begin on lines of their own: a line may end one and open none
            while (statement < lexed_.statements.size() && lexed_.statements[statement].begin < at) ++statement;
            for (std::uint32_t i = first; i < at; ++i) {
                Piece piece{word(lexed_.tokens[i]), 0, 0, 0, false};
                if (i > first) {
                    piece.written = lexed_.tokens[i].begin - lexed_.tokens[i - 1].end;
                    piece.least = blanks(i - 1, i);
                }
                line.pieces.push_back(piece);
            }
            add_comment(line, first < at ? lexed_.tokens[at - 1].end : begin, end);
            if (first == at && !line.pieces.empty()) {
                const bool inside = at < lexed_.tokens.size() && statement > 0 && at < lexed_.statements[statement - 1].end;
                const std::uint32_t written = indent_of(begin);
                line.indent =
                    inside ? (written > old_indent ? written - old_indent + new_indent : new_indent) : k_family_indent * depth;
            }
            lines_.push_back(std::move(line));
            begin = end + 1;
        }
    }

    [[nodiscard]] std::uint32_t indent_of(std::size_t begin) const {
        std::uint32_t indent = 0;
        for (; begin < text_.size() && (text_[begin] == ' ' || text_[begin] == '\t'); ++begin)
            indent += text_[begin] == '\t' ? 4 - indent % 4 : 1;
        return indent;
    }

    // behind what a line says, from byte `from` on
    void add_comment(Line& line, std::size_t from, std::size_t end) {
        const std::size_t hash = text_.find('#', from);
        if (hash >= end) return;
        std::size_t stop = end;
        while (text_[stop - 1] == ' ' || text_[stop - 1] == '\t' || text_[stop - 1] == '\r') --stop;
        Piece piece{text_.substr(hash, stop - hash), 0, k_comment_gap, 0, true};
        piece.written = static_cast<std::uint32_t>(hash - from);
        line.pieces.push_back(piece);
    }

    // Wider gaps stay where they align something. Taking one away may move what another was aligned with: until nothing changes.
    void place() {
        for (Line& line : lines_)
            for (Piece& piece : line.pieces) piece.gap = piece.least > 0 ? std::max(piece.written, piece.least) : 0;
        for (bool changed = true; changed;) {
            changed = false;
            std::vector<std::vector<std::uint32_t>> columns;
            for (const Line& line : lines_) columns.push_back(columns_of(line));
            for (std::size_t i = 0; i < lines_.size(); ++i)
                for (std::size_t k = 1; k < lines_[i].pieces.size(); ++k) {
                    Piece& piece = lines_[i].pieces[k];
                    if (piece.gap <= piece.least) continue;
                    const auto begins = [&](std::size_t neighbour) {
                        if (neighbour >= lines_.size()) return false;
                        const std::vector<std::uint32_t>& there = columns[neighbour];
                        for (std::size_t j = 1; j < there.size(); ++j)
                            if (there[j] == columns[i][k] && lines_[neighbour].pieces[j].comment == piece.comment) return true;
                        return false;
                    };
                    if (begins(i + 1) || (i > 0 && begins(i - 1))) continue;
                    piece.gap = piece.least;
                    changed = true;
                }
        }
    }

    // where each piece begins
    [[nodiscard]] static std::vector<std::uint32_t> columns_of(const Line& line) {
        std::vector<std::uint32_t> out;
        std::uint32_t column = line.indent;
        for (const Piece& piece : line.pieces) {
            column += piece.gap;
            out.push_back(column);
            column += width_of(piece.text);
        }
        return out;
    }

    std::string_view text_;
    const Lexed& lexed_;
    std::vector<bool> unary_, tight_, ratio_;  // by token
    std::vector<Line> lines_;
};

// the same words in the same statements, and blanks where the language looks at them
bool same_meaning(std::string_view before, const Lexed& a, std::string_view after, const Lexed& b) {
    if (a.tokens.size() != b.tokens.size() || a.statements.size() != b.statements.size()) return false;
    for (std::size_t i = 0; i < a.statements.size(); ++i)
        if (a.statements[i].begin != b.statements[i].begin || a.statements[i].end != b.statements[i].end) return false;
    for (std::size_t i = 0; i < a.tokens.size(); ++i) {
        const Token &x = a.tokens[i], &y = b.tokens[i];
        if (x.kind != y.kind || x.first_on_line != y.first_on_line ||
            before.substr(x.begin, x.end - x.begin) != after.substr(y.begin, y.end - y.begin))
            return false;
    }
    return true;
}

}  // namespace

Result<std::string> format_model(const std::string& name, const std::string& text, SourceSet& sources) {
    Result<std::string> result;
    const std::uint32_t file = sources.add(name, text);
    Syntax syntax;
    parse_file(text, file, Limits{}, syntax, result.diagnostics);
    if (result.diagnostics.has_errors()) return result;
    Diagnostics unheard;
    const Lexed lexed = lex(text, file, unheard);
    std::string out = Layout(text, lexed).run();
    APPELL_ASSERT(same_meaning(text, lexed, out, lex(out, file, unheard)), "formatting changed the words of a text");
    result.value = std::move(out);
    return result;
}

}  // namespace appell
