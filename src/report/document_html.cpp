#include <fmt/format.h>

#include "report/document.hpp"
#include "report/html_text.hpp"
#include "report/latex_blocks.hpp"

namespace appell {

namespace {

// The page typesets what `data-tex` says; without scripts the same formula stands there as text.
std::string inline_formula(const Math& math) {
    return fmt::format("<span class=\"tex\" data-tex=\"{}\">{}</span>", html_text(math.latex), html_text(math.text));
}

std::string html_of(const Phrase& phrase) {
    if (const Math* math = std::get_if<Math>(&phrase)) return inline_formula(*math);
    return html_text(std::get<std::string>(phrase));
}

std::string display(const std::string& latex, const std::string& text) {
    return fmt::format("<div class=\"tex display\" data-tex=\"{}\">{}</div>\n", html_text(latex), html_text(text));
}

std::string display(const Equations& equations) {
    std::string text, out;
    for (const Equation& e : equations)
        text += fmt::format("{}{}{} {}\n", e.left.text, e.relation == ":" ? "" : " ", e.relation, e.right.text);
    // a long list is cut into several environments: the text of all goes with the first
    for (const std::vector<std::string>& rows : aligned_rows(equations)) {
        out += display(fmt::format("\\begin{{aligned}} {} \\end{{aligned}}", fmt::join(rows, " \\\\ ")), text);
        text.clear();
    }
    return out;
}

struct Renderer {
    std::string operator()(const Sentence& sentence) const {
        std::string out = "<p>";
        for (const Phrase& phrase : sentence) out += html_of(phrase);
        return out + "</p>\n";
    }
    std::string operator()(const Equations& equations) const { return display(equations); }
    std::string operator()(const Table& table) const {
        const auto line = [](const std::vector<Phrase>& row, const char* tag) {
            std::string out = "<tr>";
            for (const Phrase& cell : row) out += fmt::format("<{}>{}</{}>", tag, html_of(cell), tag);
            return out + "</tr>\n";
        };
        std::string out = "<div class=\"scroll\"><table>\n<thead>" + line(table.header, "th") + "</thead>\n<tbody>\n";
        for (const auto& row : table.rows) out += line(row, "td");
        return out + "</tbody></table></div>\n";
    }
    std::string operator()(const Matrix& m) const {
        if (m.rows == 0 || m.columns == 0)
            return fmt::format("<p>{} is empty ({} by {}).</p>\n", inline_formula(m.name), m.rows, m.columns);
        std::string text;
        for (const Matrix::Entry& e : m.entries)
            text += fmt::format("{}({}, {}) = {}\n", m.name.text, e.row + 1, e.column + 1, e.value.text);
        if (const std::string formula = matrix_formula(m, "\\\\"); !formula.empty()) return display(formula, text);
        return fmt::format("<p>{} is {} by {}; its entries that are not zero are</p>\n{}", inline_formula(m.name), m.rows,
                           m.columns, display(matrix_entries(m)));
    }
};

}  // namespace

std::string section_html(const Section& section) {
    std::string out;
    if (!section.intermediates.empty()) out += "<p>With the abbreviations</p>\n" + Renderer{}(section.intermediates);
    for (const Block& block : section.blocks) out += std::visit(Renderer{}, block);
    return out;
}

std::string document_html(const Document& document) {
    std::string out;
    if (!document.lead.empty()) out += Renderer{}(document.lead);
    for (const Section& section : document.sections) {
        out += fmt::format("<h4>{}{}</h4>\n", html_text(section.title),
                           section.formula.latex.empty() ? "" : ",&ensp;" + inline_formula(section.formula));
        out += section_html(section);
    }
    return out;
}

}  // namespace appell
