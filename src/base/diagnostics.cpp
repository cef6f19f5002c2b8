#include "base/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace appell {

namespace {

constexpr auto k_codes = std::to_array<CodeInfo>({
#define APPELL_CODE(code, title, explanation) {Code::code, #code, title, explanation},
#include "base/diagnostic_codes.def"
#undef APPELL_CODE
});

// longest source line shown around a caret; longer lines are cut with dots
constexpr std::size_t k_shown_width = 110;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

// bytes that would disturb a terminal are shown as '?'
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) out += (c == '\t') ? ' ' : (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
    return out;
}

// the line of the span and a second line with carets under it
std::string caret_lines(Span span, const SourceSet& sources) {
    const std::string_view line = sources.line_text(span.file, span.begin);
    const auto line_begin = static_cast<std::size_t>(line.data() - sources.file(span.file).text.data());
    std::size_t from = std::min<std::size_t>(span.begin - std::min<std::size_t>(span.begin, line_begin), line.size());
    std::size_t to = std::clamp<std::size_t>(span.end > line_begin ? span.end - line_begin : 0, from, line.size());
    // cut a window out of a long line, on character borders
    std::size_t window_begin = 0;
    if (line.size() > k_shown_width && from > k_shown_width / 2) window_begin = from - k_shown_width / 2;
    while (window_begin > 0 && is_continuation(line[window_begin])) --window_begin;
    std::size_t window_end = std::min(line.size(), window_begin + k_shown_width);
    while (window_end < line.size() && is_continuation(line[window_end])) ++window_end;
    to = std::min(to, window_end);
    const std::string head = window_begin > 0 ? "..." : "";
    const std::string tail = window_end < line.size() ? "..." : "";
    const std::string_view shown = line.substr(window_begin, window_end - window_begin);
    const auto width = [&](std::size_t a, std::size_t b) {
        return static_cast<std::size_t>(std::count_if(line.begin() + static_cast<std::ptrdiff_t>(a),
                                                      line.begin() + static_cast<std::ptrdiff_t>(b),
                                                      [](char c) { return !is_continuation(c); }));
    };
    return fmt::format("  | {}{}{}\n  | {}{}", head, printable(shown), tail,
                       std::string(head.size() + width(window_begin, from), ' '),
                       std::string(std::max<std::size_t>(1, width(from, std::max(from, to))), '^'));
}

}  // namespace

std::span<const CodeInfo> all_codes() { return k_codes; }

const CodeInfo& info(Code code) { return k_codes[static_cast<std::size_t>(code)]; }

std::optional<Code> find_code(std::string_view name) {
    for (const CodeInfo& row : k_codes)
        if (std::equal(name.begin(), name.end(), row.name.begin(), row.name.end(),
                       [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; }))
            return row.code;
    return std::nullopt;
}

Severity Diagnostic::severity() const {
    switch (info(code).name.front()) {
        case 'W': return Severity::warning;
        case 'N': return Severity::note;
        default: return Severity::error;
    }
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) { return all_.emplace_back(std::move(diagnostic)); }

void Diagnostics::append(const Diagnostics& other) { all_.insert(all_.end(), other.all_.begin(), other.all_.end()); }

bool Diagnostics::has_errors() const { return error_count() > 0; }

bool Diagnostics::has(Code code) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& d) { return d.code == code; });
}

std::size_t Diagnostics::error_count() const {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity() == Severity::error; }));
}

std::string render(const Diagnostic& diagnostic, const SourceSet& sources) {
    const std::string_view word = diagnostic.severity() == Severity::error     ? "error"
                                  : diagnostic.severity() == Severity::warning ? "warning"
                                                                               : "note";
    std::string out = fmt::format("{}[{}]: {}\n", word, info(diagnostic.code).name, diagnostic.message);
    if (diagnostic.span.known()) {
        const LineColumn at = sources.locate(diagnostic.span.file, diagnostic.span.begin);
        out += fmt::format(" --> {}:{}:{}\n{}\n", sources.file(diagnostic.span.file).name, at.line, at.column,
                           caret_lines(diagnostic.span, sources));
    }
    if (!diagnostic.found.empty()) out += fmt::format("  found:    {}\n", diagnostic.found);
    if (!diagnostic.expected.empty()) out += fmt::format("  expected: {}\n", diagnostic.expected);
    if (!diagnostic.hint.empty()) out += fmt::format("  hint:     {}\n", diagnostic.hint);
    return out;
}

std::string render(const Diagnostics& diagnostics, const SourceSet& sources) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.all()) out += render(diagnostic, sources) + "\n";
    return out;
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
    // edit distance (insert, delete, replace, swap neighbours), at most a third of the name's length away
    static constexpr std::size_t k_longest = 200;  // nobody misspells longer names, and the distance costs their product
    std::string best;
    if (name.size() > k_longest) return best;
    std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
    std::vector<std::size_t> before, last, row;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > name.size() + best_distance || name.size() > candidate.size() + best_distance) continue;
        row.resize(candidate.size() + 1);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
        before = last = row;
        for (std::size_t i = 1; i <= name.size(); ++i) {
            before.swap(last);
            last.swap(row);
            row[0] = i;
            for (std::size_t j = 1; j < row.size(); ++j) {
                const std::size_t replace = last[j - 1] + (name[i - 1] == candidate[j - 1] ? 0 : 1);
                row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
                if (i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1])
                    row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        if (row.back() < best_distance && row.back() < candidate.size()) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

}  // namespace appell
