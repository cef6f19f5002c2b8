#include "base/source.hpp"

#include <algorithm>

namespace appell {

Span join(Span first, Span second) {
    if (!first.known()) return second;
    if (!second.known() || second.file != first.file) return first;
    return {first.file, std::min(first.begin, second.begin), std::max(first.end, second.end)};
}

std::uint32_t SourceSet::add(std::string name, std::string text) {
    files_.push_back({std::move(name), std::move(text)});
    return static_cast<std::uint32_t>(files_.size() - 1);
}

std::string_view SourceSet::text(Span span) const {
    if (!span.known()) return {};
    const std::string& all = file(span.file).text;
    const std::size_t begin = std::min<std::size_t>(span.begin, all.size());
    const std::size_t end = std::clamp<std::size_t>(span.end, begin, all.size());
    return std::string_view(all).substr(begin, end - begin);
}

namespace {

std::size_t line_start(const std::string& text, std::size_t offset) {
    offset = std::min(offset, text.size());
    if (offset == 0) return 0;
    const std::size_t newline = text.rfind('\n', offset - 1);
    return newline == std::string::npos ? 0 : newline + 1;
}

}  // namespace

LineColumn SourceSet::locate(std::uint32_t file_index, std::uint32_t offset) const {
    const std::string& text = file(file_index).text;
    const std::size_t place = std::min<std::size_t>(offset, text.size());
    const std::size_t start = line_start(text, place);
    LineColumn at;
    at.line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n'));
    // columns count characters: continuation bytes of UTF-8 are not characters
    for (std::size_t i = start; i < place; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u) ++at.column;
    return at;
}

std::string_view SourceSet::line_text(std::uint32_t file_index, std::uint32_t offset) const {
    const std::string& text = file(file_index).text;
    const std::size_t start = line_start(text, offset);
    std::size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    if (end > start && text[end - 1] == '\r') --end;
    return std::string_view(text).substr(start, end - start);
}

}  // namespace appell
