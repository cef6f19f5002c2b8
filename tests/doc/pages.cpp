#include "doc/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace appell::doc {

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string shell_word(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::vector<fs::path> pages() {
    std::vector<fs::path> found{k_root / "README.md", k_root / "tests/README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(k_root / "docs"))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

bool Block::has(const std::string& option) const { return std::find(options.begin(), options.end(), option) != options.end(); }

std::string Block::file() const {
    for (const std::string& option : options)
        if (option.rfind("file=", 0) == 0) return option.substr(5);
    return {};
}

std::vector<Block> blocks_of(const fs::path& page) {
    std::vector<Block> blocks;
    bool inside = false;
    std::size_t number = 0;
    for (const std::string& line : lines_of(content(page))) {
        ++number;
        if (line.rfind("```", 0) == 0) {
            if (!inside) {
                Block& block = blocks.emplace_back();
                std::istringstream words(line.substr(3));
                words >> block.language;
                for (std::string word; words >> word;) block.options.push_back(word);
                block.place = page.lexically_relative(k_root).string() + ":" + std::to_string(number + 1);
            }
            inside = !inside;
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    EXPECT_FALSE(inside) << page << " ends inside a code block";
    return blocks;
}

std::vector<std::string> prose_of(const fs::path& page) {
    std::vector<std::string> out;
    bool code = false;
    for (const std::string& line : lines_of(content(page))) {
        if (line.rfind("```", 0) == 0)
            code = !code;
        else if (!code)
            out.push_back(line);
    }
    return out;
}

std::vector<std::string> anchors_of(const fs::path& page) {
    std::vector<std::string> out;
    std::map<std::string, int> seen;
    for (const std::string& line : prose_of(page)) {
        const std::size_t level = line.find_first_not_of('#');
        if (level == 0 || level > 6 || level == std::string::npos || line[level] != ' ') continue;
        std::string slug;
        for (const char c : line.substr(level + 1)) {
            const auto u = static_cast<unsigned char>(c);
            if (std::isalnum(u) || c == '_' || c == '-' || u >= 0x80)
                slug += static_cast<char>(std::tolower(u));
            else if (c == ' ')
                slug += '-';
        }
        const int before = seen[slug]++;
        out.push_back(before == 0 ? slug : slug + "-" + std::to_string(before));
    }
    return out;
}

std::vector<std::string> links_of(const fs::path& page) {
    std::vector<std::string> out;
    for (std::string line : prose_of(page)) {
        // what stands in backticks is no link
        for (std::size_t open = line.find('`'); open != std::string::npos; open = line.find('`', open)) {
            const std::size_t close = line.find('`', open + 1);
            if (close == std::string::npos) break;
            line.replace(open, close - open + 1, "code");
        }
        for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2))
            out.push_back(line.substr(at + 2, line.find(')', at) - at - 2));
        if (line.rfind('[', 0) == 0)
            if (const std::size_t colon = line.find("]: "); colon != std::string::npos) out.push_back(line.substr(colon + 3));
    }
    return out;
}

std::vector<std::string> substance(const std::string& model) {
    std::vector<std::string> out;
    for (std::string line : lines_of(model)) {
        line = line.substr(0, line.find('#'));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) out.push_back(line);
    }
    return out;
}

std::string system_of(const std::string& model) {
    const std::vector<std::string> lines = substance(model);
    if (lines.empty() || lines.front().rfind("system ", 0) != 0) return {};
    std::istringstream words(lines.front().substr(7));
    std::string name;
    words >> name;
    return name;
}

namespace {

std::string without_end_blanks(std::string line) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return line;
}

// `…` is any text, `~1e-15` a number within a factor of 30 of that one
bool same_line(const std::string& shown, const std::string& said) {
    static const std::string any = "…", special = R"(\^$.|?*+()[]{})";
    static const std::regex number(R"(~([0-9.]+(?:e[-+]?[0-9]+)?))");
    if (shown.find(any) == std::string::npos && shown.find('~') == std::string::npos) return shown == said;
    std::string pattern;
    std::vector<double> about;
    for (std::size_t i = 0; i < shown.size();) {
        std::smatch found;
        const std::string rest = shown.substr(i);
        if (rest.rfind(any, 0) == 0) {
            pattern += ".+";
            i += any.size();
        } else if (std::regex_search(rest, found, number, std::regex_constants::match_continuous)) {
            pattern += "([0-9.]+(?:e[-+]?[0-9]+)?)";
            about.push_back(std::stod(found[1]));
            i += found.length();
        } else {
            if (special.find(shown[i]) != std::string::npos) pattern += '\\';
            pattern += shown[i++];
        }
    }
    std::smatch got;
    if (!std::regex_match(said, got, std::regex(pattern))) return false;
    for (std::size_t k = 0; k < about.size(); ++k) {
        const double value = std::stod(got[k + 1]);
        if (value < about[k] / 30 || value > about[k] * 30) return false;
    }
    return true;
}

}  // namespace

std::string missing_line(const std::string& shown, const std::string& said) {
    std::vector<std::string> have = lines_of(said);
    std::vector<std::vector<std::string>> passages(1);
    for (const std::string& line : lines_of(shown)) {
        if (without_end_blanks(line) == "...")
            passages.emplace_back();
        else
            passages.back().push_back(without_end_blanks(line));
    }
    std::size_t from = 0;
    for (const std::vector<std::string>& passage : passages) {
        if (passage.empty()) continue;
        std::size_t most = 0;
        bool found = false;
        for (std::size_t at = from; at < have.size() && !found; ++at) {
            std::size_t same = 0;
            while (same < passage.size() && at + same < have.size() &&
                   same_line(passage[same], without_end_blanks(have[at + same])))
                ++same;
            most = std::max(most, same);
            if (same == passage.size()) {
                found = true;
                from = at + same;
            }
        }
        if (!found) return passage[std::min(most, passage.size() - 1)] + "\n";
    }
    return {};
}

}  // namespace appell::doc
