// Is a text well-formed XML, as far as our own files use it: one root, tags closed in order, attributes quoted and unique, only
// the five entities and numeric ones, no raw & or <. Not a validating parser.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace appell::test {

// empty when well-formed, else what is wrong
inline std::string xml_problem(std::string_view text) {
    std::vector<std::string> open;
    bool had_root = false;
    std::size_t i = 0;
    const auto is_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':' || c == '.';
    };
    const auto entity_ends = [&](std::size_t at) -> std::size_t {  // position of the ';', or 0
        const std::size_t end = text.find(';', at);
        if (end == std::string_view::npos || end - at > 10) return 0;
        const std::string_view name = text.substr(at + 1, end - at - 1);
        if (name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos") return end;
        return name.size() > 1 && name[0] == '#' ? end : 0;
    };
    while (i < text.size()) {
        const char c = text[i];
        if (c == '&') {
            const std::size_t end = entity_ends(i);
            if (end == 0) return "a bare & at byte " + std::to_string(i);
            i = end + 1;
            continue;
        }
        if (c != '<') {
            const auto byte = static_cast<unsigned char>(c);
            if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') return "a control character at byte " + std::to_string(i);
            if (open.empty() && std::isspace(byte) == 0) return "text outside the root at byte " + std::to_string(i);
            ++i;
            continue;
        }
        if (text.substr(i, 4) == "<!--" || text.substr(i, 2) == "<?") {
            const std::string_view ending = text[i + 1] == '?' ? "?>" : "-->";
            const std::size_t end = text.find(ending, i);
            if (end == std::string_view::npos) return "an unfinished comment or instruction";
            i = end + ending.size();
            continue;
        }
        const bool closing = i + 1 < text.size() && text[i + 1] == '/';
        std::size_t at = i + (closing ? 2 : 1);
        std::string name;
        while (at < text.size() && is_name(text[at])) name += text[at++];
        if (name.empty()) return "a < without a name at byte " + std::to_string(i);
        std::set<std::string> attributes;
        for (;;) {
            while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
            if (at >= text.size()) return "an unfinished tag " + name;
            if (text[at] == '>' || text[at] == '/') break;
            std::string attribute;
            while (at < text.size() && is_name(text[at])) attribute += text[at++];
            if (attribute.empty() || text.substr(at, 2) != "=\"") return "a bad attribute in tag " + name;
            if (!attributes.insert(attribute).second) return "attribute " + attribute + " twice in tag " + name;
            for (at += 2; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '<') return "a raw < in attribute " + attribute;
                if (text[at] == '&' && entity_ends(at) == 0) return "a bare & in attribute " + attribute;
            }
            if (at >= text.size()) return "an unfinished attribute " + attribute;
            ++at;
        }
        const bool empty_tag = text[at] == '/';
        if (empty_tag) ++at;
        if (at >= text.size() || text[at] != '>') return "a bad end of tag " + name;
        i = at + 1;
        if (closing) {
            if (open.empty() || open.back() != name) return "tag " + name + " closed but not open";
            open.pop_back();
            continue;
        }
        if (open.empty() && had_root) return "a second root " + name;
        had_root = true;
        if (!empty_tag) open.push_back(name);
    }
    if (!open.empty()) return "tag " + open.back() + " is never closed";
    return had_root ? "" : "no root";
}

}  // namespace appell::test
