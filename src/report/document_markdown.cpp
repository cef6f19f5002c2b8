#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "report/document.hpp"
#include "report/latex_blocks.hpp"

namespace appell {

namespace {

// Code hosts read Markdown before they read formulas: a backslash with a sign behind it loses the backslash, an underscore may
// begin emphasis, a pipe ends a cell. All of these have other spellings in LaTeX.
std::string formula(const std::string& latex) {
    constexpr auto k_spellings = std::to_array<std::pair<std::string_view, std::string_view>>({{"\\left|", "\\left\\vert "},
                                                                                               {"\\right|", "\\right\\vert "},
                                                                                               {"\\\\", "\\cr "},
                                                                                               {"\\,", "\\thinspace "},
                                                                                               {"\\;", "\\thickspace "},
                                                                                               {"\\_", "\\text{-}"},
                                                                                               {"|", "\\vert "},
                                                                                               {"<", "\\lt "},
                                                                                               {">", "\\gt "},
                                                                                               {"*", "\\ast "},
                                                                                               {"_", "_ "}});
    std::string out;
    for (std::size_t at = 0; at < latex.size();) {
        const auto spelling = std::find_if(k_spellings.begin(), k_spellings.end(),
                                           [&](const auto& s) { return latex.compare(at, s.first.size(), s.first) == 0; });
        if (spelling == k_spellings.end()) {
            out += latex[at++];
            continue;
        }
        out += spelling->second;
        at += spelling->first.size();
        if (at < latex.size() && latex[at] == ' ' && out.ends_with(' ')) ++at;
    }
    out.erase(out.find_last_not_of(' ') + 1);  // a dollar must touch its formula
    return out;
}

// words, with the signs that mean something to Markdown escaped
std::string words(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view("\\`*_{}[]<>#|$").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string markdown_of(const Phrase& phrase) {
    if (const Math* math = std::get_if<Math>(&phrase)) return "$" + formula(math->latex) + "$";
    return words(std::get<std::string>(phrase));
}

std::string display(const Equations& equations) {
    std::string out;
    for (const std::vector<std::string>& rows : aligned_rows(equations)) {
        out += "$$\n\\begin{aligned}\n";
        for (std::size_t i = 0; i < rows.size(); ++i) out += formula(rows[i]) + (i + 1 < rows.size() ? " \\cr\n" : "\n");
        out += "\\end{aligned}\n$$\n\n";
    }
    return out;
}

struct Renderer {
    std::string operator()(const Sentence& sentence) const {
        std::string out;
        for (const Phrase& phrase : sentence) out += markdown_of(phrase);
        return out + "\n\n";
    }
    std::string operator()(const Equations& equations) const { return display(equations); }
    std::string operator()(const Table& table) const {
        const auto line = [](const std::vector<Phrase>& row) {
            std::string out = "|";
            for (const Phrase& cell : row) out += " " + markdown_of(cell) + " |";
            return out + "\n";
        };
        std::string out = line(table.header) + "|";
        for (std::size_t j = 0; j < table.header.size(); ++j) out += "---|";
        out += "\n";
        for (const auto& row : table.rows) out += line(row);
        return out + "\n";
    }
    std::string operator()(const Matrix& m) const {
        const std::string name = "$" + formula(m.name.latex) + "$";
        if (m.rows == 0 || m.columns == 0) return fmt::format("{} is empty ({} by {}).\n\n", name, m.rows, m.columns);
        if (const std::string whole = matrix_formula(m, "\\cr"); !whole.empty()) return "$$\n" + formula(whole) + "\n$$\n\n";
        return fmt::format("{} is {} by {}; its entries that are not zero are\n\n{}", name, m.rows, m.columns,
                           display(matrix_entries(m)));
    }
};

}  // namespace

std::string document_markdown(const Document& document) {
    std::string out = fmt::format("# {}\n\n", words(document.title.empty() ? document.name : document.title));
    if (!document.lead.empty()) out += Renderer{}(document.lead);
    for (const Section& section : document.sections) {
        out += fmt::format("## {}\n\n", words(section.title));
        if (!section.formula.latex.empty()) out += fmt::format("$${}$$\n\n", formula(section.formula.latex));
        if (!section.intermediates.empty()) out += "With the abbreviations\n\n" + Renderer{}(section.intermediates);
        for (const Block& block : section.blocks) out += std::visit(Renderer{}, block);
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

}  // namespace appell
