#include "emit/runtime_text.hpp"

#include <array>
#include <cctype>
#include <set>
#include <vector>

#include "base/error.hpp"

namespace appell {

namespace {

// in the order in which they may use each other
constexpr std::array<std::string_view, 10> k_solvers{
    "scalar_math.c", "report.c",         "linear_solve.c", "constrained_solve.c", "sparse_solve.c",
    "dense_solve.c", "realised_solve.c", "project.c",      "rate_jacobian.c",     "interface.c"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// identifiers outside comments
std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i < text.size();) {
        if (text.substr(i, 2) == "/*") {
            i = std::min(text.find("*/", i), text.size() - 2) + 2;
        } else if (is_word(text[i])) {
            std::size_t end = i;
            while (end < text.size() && is_word(text[end])) ++end;
            out.push_back(text.substr(i, end - i));
            i = end;
        } else {
            ++i;
        }
    }
    return out;
}

struct Definition {
    std::string_view text, name;
    std::set<std::string_view> words;
};

std::vector<Definition> definitions() {
    std::vector<Definition> out;
    for (const std::string_view file : k_solvers) {
        std::string_view text = runtime_source(file);
        while (!text.empty()) {
            const std::size_t end = std::min(text.find("\n\n"), text.size());
            const std::string_view paragraph = text.substr(0, end);
            text.remove_prefix(std::min(end + 2, text.size()));
            const std::vector<std::string_view> all = words(paragraph);
            if (all.empty()) continue;  // the head of the file
            Definition d{paragraph, all.back(), {all.begin(), all.end()}};
            // typedef struct {...} NAME;  static const double NAME = ...;  static TYPE NAME(...) {...}
            if (all.front() != "typedef") {
                const std::size_t stop = paragraph.find_first_of("(=", paragraph.find("static "));
                d.name = words(paragraph.substr(0, stop)).back();
            }
            out.push_back(std::move(d));
        }
    }
    return out;
}

}  // namespace

std::string_view runtime_source(std::string_view name) {
    for (const RuntimeSource& source : runtime_sources())
        if (source.name == name) return source.text;
    throw Error("exported code has no part " + std::string(name));
}

std::string needed_runtime(std::string_view code) {
    const std::vector<Definition> all = definitions();
    std::set<std::string_view> wanted;
    for (const std::string_view word : words(code)) wanted.insert(word);
    std::vector<bool> taken(all.size(), false);
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = all.size(); i-- > 0;) {
            if (taken[i] || !wanted.contains(all[i].name)) continue;
            taken[i] = more = true;
            wanted.insert(all[i].words.begin(), all[i].words.end());
        }
    }
    std::string out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (taken[i]) out += std::string(all[i].text) + "\n\n";
    return out;
}

std::string with_prefix(std::string text, std::string_view prefix) {
    constexpr std::string_view k_place = "MODEL_";
    std::string out;
    std::size_t at = 0;
    for (std::size_t found; (found = text.find(k_place, at)) != std::string::npos; at = found + k_place.size()) {
        out.append(text, at, found - at);
        out += prefix;
    }
    return out.append(text, at, std::string::npos);
}

}  // namespace appell
