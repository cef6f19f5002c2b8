// Reading position in the tokens of one statement.
#include <algorithm>

#include <fmt/format.h>

#include "lang/parser.hpp"

namespace appell {

namespace {

// the words between backquotes: "`frame` or `mass`"
std::vector<std::string> quoted_words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t begin = text.find('`'); begin != std::string_view::npos; begin = text.find('`', begin)) {
        const std::size_t end = std::min(text.find('`', begin + 1), text.size());
        out.emplace_back(text.substr(begin + 1, end - begin - 1));
        begin = std::min(end + 1, text.size());
    }
    return out;
}

}  // namespace

NameId NameTable::intern(std::string_view name) {
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    names_.emplace_back(name);
    const auto id = static_cast<NameId>(names_.size() - 1);
    ids_.emplace(names_.back(), id);
    return id;
}

TokenReader::TokenReader(std::string_view text, std::uint32_t file, const Lexed& lexed, TokenRange range,
                         Diagnostics& diagnostics)
    : text_(text), file_(file), lexed_(lexed), range_(range), at_(range.begin), diagnostics_(diagnostics) {
    const std::uint32_t stop = lexed_.tokens[range.end - 1].end;
    end_.begin = end_.end = stop;
    end_.space_before = true;
}

const Token& TokenReader::peek(std::size_t ahead) const { return at_ + ahead < range_.end ? lexed_.tokens[at_ + ahead] : end_; }

std::string_view TokenReader::word(std::size_t ahead) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::word ? text(token) : std::string_view{};
}

Span TokenReader::previous_span() const {
    return at_ > range_.begin ? span(lexed_.tokens[at_ - 1]) : span(lexed_.tokens[range_.begin]);
}

bool TokenReader::adjacent(std::size_t ahead) const { return !peek(ahead).space_before; }

Token TokenReader::take() {
    const Token token = peek();
    if (at_ < range_.end) ++at_;
    return token;
}

bool TokenReader::accept(TokenKind wanted) {
    if (kind() != wanted) return false;
    take();
    return true;
}

bool TokenReader::accept_word(std::string_view wanted) {
    if (word() != wanted) return false;
    take();
    return true;
}

bool TokenReader::expect(TokenKind wanted, std::string_view what) { return accept(wanted) || fail_expected(what); }

bool TokenReader::expect_word(std::string_view wanted) {
    return accept_word(wanted) || fail_expected(fmt::format("`{}`", wanted));
}

bool TokenReader::fail_expected(std::string_view what) {
    const Token& token = peek();
    std::string found(describe(token.kind));
    if (token.kind == TokenKind::word || token.kind == TokenKind::number) found = fmt::format("`{}`", text(token));
    std::string hint;
    if (token.first_on_line && token.kind == TokenKind::word && find_statement(text(token)) != nullptr)
        hint = "this line is indented deeper than the statement above, so it continues that statement; move it to the margin";
    else if (const std::string near = token.kind == TokenKind::word ? nearest_name(text(token), quoted_words(what)) : "";
             !near.empty())
        hint = fmt::format("did you mean `{}`?", near);
    else if (!form_.empty())
        hint = fmt::format("the statement is written `{}`", form_);
    return fail(Code::E0105, span(token), fmt::format("expected {} here", what), std::move(found), std::string(what),
                std::move(hint));
}

bool TokenReader::fail(Code code, Span where, std::string message, std::string found, std::string expected, std::string hint) {
    if (!failed_) diagnostics_.add({code, where, std::move(message), std::move(found), std::move(expected), std::move(hint)});
    failed_ = true;
    return false;
}

}  // namespace appell
