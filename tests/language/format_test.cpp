// The layout of model texts: the syntax tree and every comment stay, a second layout changes nothing, the gallery is laid out.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "lang/format.hpp"
#include "lang/lexer.hpp"
#include "lang/parser.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::file_text;

// the tree as text, without places
std::string tree(const std::string& text) {
    Syntax syntax;
    Diagnostics diagnostics;
    parse_file(text, 0, Limits{}, syntax, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << text;
    std::string out;
    const auto expr = [&](const SyntaxExpr& e) {
        out += '{';
        for (const SyntaxNode& n : e.nodes) {
            const UnitValue& unit = syntax.units[n.unit];
            out +=
                fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}.{}.{};", static_cast<int>(n.kind), static_cast<int>(n.op), n.primes,
                            n.count, n.name == k_no_name ? "" : syntax.names.text(n.name), n.value, unit.numerator,
                            unit.denominator, unit.dimension.exponent[0], unit.dimension.exponent[1], unit.dimension.exponent[2]);
        }
        out += '}';
    };
    for (const Statement& s : syntax.statements) {
        out += fmt::format("\n{} {}", static_cast<int>(s.kind), s.block);
        for (const Part& part : s.parts) {
            out += fmt::format(" {}:{}:{}", static_cast<int>(part.role), part.word, part.name.primes);
            if (part.name.span.known()) out += syntax.names.text(part.name.name);
            for (const SyntaxExpr& e : part.name.indices) expr(e);
            expr(part.expr);
            for (const SyntaxExpr& e : part.list) expr(e);
        }
    }
    return out;
}

std::vector<std::string> comments(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '"') quoted = !quoted;
            if (line[i] != '#' || quoted) continue;
            std::string comment = line.substr(i);
            while (!comment.empty() && (comment.back() == ' ' || comment.back() == '\r')) comment.pop_back();
            out.push_back(comment);
            break;
        }
    }
    return out;
}

std::string formatted(const std::string& text) {
    SourceSet sources;
    const Result<std::string> result = format_model("m", text, sources);
    EXPECT_TRUE(result.ok()) << render(result.diagnostics, sources);
    return result.ok() ? *result : "";
}

std::vector<std::string> gallery() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(APPELL_SOURCE_DIR "/gallery"))
        if (entry.path().extension() == ".appell") out.push_back(entry.path().string());
    return out;
}

// The same text as somebody in a hurry writes it: blanks where they do not matter, tabs, comments, empty lines, other ends of
// lines. Where the language looks at blanks they stay.
std::string untidy(const std::string& text, std::mt19937& random) {
    Diagnostics diagnostics;
    const Lexed lexed = lex(text, 0, diagnostics);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::string out;
    std::size_t at = 0;
    std::uint32_t statement = 0;
    const char* ends = pick(4) == 0 ? "\r\n" : "\n";
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::vector<std::uint32_t> tokens;
        for (std::uint32_t i = 0; i < lexed.tokens.size(); ++i)
            if (lexed.tokens[i].begin >= at && lexed.tokens[i].begin < end) tokens.push_back(i);
        if (tokens.empty()) {
            out += text.substr(at, end - at) + ends;
            at = end + 1;
            continue;
        }
        bool opens = false;
        while (statement < lexed.statements.size() && lexed.statements[statement].begin <= tokens.front())
            opens = lexed.statements[statement++].begin == tokens.front() || opens;
        out += text.substr(at, lexed.tokens[tokens.front()].begin - at);
        for (std::size_t k = 0; k < tokens.size(); ++k) {
            const Token& token = lexed.tokens[tokens[k]];
            if (k > 0) {
                const TokenKind a = lexed.tokens[tokens[k - 1]].kind, b = token.kind;
                const bool free = a == TokenKind::comma || b == TokenKind::comma || a == TokenKind::equal ||
                                  b == TokenKind::equal || a == TokenKind::open || b == TokenKind::close || b == TokenKind::colon;
                if (free)
                    out.append(static_cast<std::size_t>(pick(3)), ' ');
                else if (token.space_before)
                    out += std::vector<std::string>{" ", " ", "  ", "   ", "\t"}[static_cast<std::size_t>(pick(5))];
            }
            out += text.substr(token.begin, token.end - token.begin);
        }
        const std::size_t hash = text.find('#', lexed.tokens[tokens.back()].end);
        if (hash < end)
            out += std::string(static_cast<std::size_t>(pick(4)), ' ') + text.substr(hash, end - hash);
        else if (pick(6) == 0)
            out += fmt::format("{}# note {}", pick(2) != 0 ? " " : "", pick(1000));
        if (pick(5) == 0) out += "  ";
        out += ends;
        if (pick(12) == 0) out += fmt::format("{}{}", ends, ends);
        at = end + 1;
    }
    return out;
}

TEST(Format, TheGalleryIsLaidOut) {
    for (const std::string& path : gallery()) EXPECT_EQ(formatted(file_text(path)), file_text(path)) << path;
}

TEST(Format, MeaningAndCommentsStayAndASecondTimeChangesNothing) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
        std::mt19937 random(seed);
        for (const std::string& path : gallery()) {
            const std::string text = untidy(file_text(path), random), out = formatted(text);
            ASSERT_EQ(tree(out), tree(text)) << path << " seed " << seed << "\n" << text;
            EXPECT_EQ(comments(out), comments(text)) << path << " seed " << seed;
            EXPECT_EQ(formatted(out), out) << path << " seed " << seed;
        }
    }
}

TEST(Format, BlanksAreSetByRule) {
    EXPECT_EQ(formatted("system   s\n\n\n\nparam a=1 m ,b = - 2 m\nlet  c=a+b-2*a,d=-a\r\n"),
              "system s\n\nparam a = 1 m, b = -2 m\nlet c = a + b - 2*a, d = -a\n");
    EXPECT_EQ(formatted("system s\nfor i in 1..3\nlet a[i]=i-1\n  # note\nend\nlet b=a[ 3 - 1 ]#here\n"),
              "system s\nfor i in 1..3\n  let a[i] = i - 1\n  # note\nend\nlet b = a[3-1]  #here\n");
    // blanks that carry meaning stay: units, calls, members
    EXPECT_EQ(formatted("system s\nparam a = 2 m / s, b = 2 m/s\n"), "system s\nparam a = 2 m / s, b = 2 m/s\n");
    EXPECT_EQ(formatted("system s\nrun for 1 s,formulation udwadia-kalaba\n"),
              "system s\nrun for 1 s, formulation udwadia-kalaba\n");
    EXPECT_EQ(formatted("system s\ngravity -g*N.z\n"), "system s\ngravity -g*N.z\n");
}

TEST(Format, ColumnsAlignedOnPurposeStayAligned) {
    const std::string aligned =
        "system s\npoint    A at O\nparticle B mass 1 kg at O\nlet x = 1,  # one\n    y = 2,  # two\n    zz = 3\n";
    EXPECT_EQ(formatted(aligned), aligned);
    EXPECT_EQ(formatted("system s\npoint    A at O\n\nparticle B mass 1 kg at O\n"),
              "system s\npoint A at O\n\nparticle B mass 1 kg at O\n");
}

TEST(Format, LinesThatGoOnStayDeeperThanTheirStatement) {
    EXPECT_EQ(formatted("system s\nfor i in 1..2\n    let a[i] =\n        1 +\n        2\nend\n"),
              "system s\nfor i in 1..2\n  let a[i] =\n      1 +\n      2\nend\n");
    EXPECT_EQ(formatted("system s\nlet a = (1 +\n2)\n"), "system s\nlet a = (1 +\n      2)\n");
}

TEST(Format, ATextThatDoesNotParseHasNoLayout) {
    SourceSet sources;
    const Result<std::string> result = format_model("m", "system s\nlet a = (1 + \n", sources);
    EXPECT_FALSE(result.ok());
    EXPECT_FALSE(result.value.has_value());
    EXPECT_TRUE(result.diagnostics.has_errors());
}

}  // namespace
