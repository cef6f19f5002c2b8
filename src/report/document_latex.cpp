#include <algorithm>

#include <fmt/format.h>

#include "report/document.hpp"
#include "report/latex_blocks.hpp"
#include "report/latex_lines.hpp"
#include "report/latex_words.hpp"

namespace appell {

namespace {

constexpr double k_cell_gap = 12;
constexpr std::size_t k_table_rows = 25;  // a table is not broken by LaTeX: further rows begin a new one

std::string latex_of(const Phrase& phrase) {
    if (const Math* math = std::get_if<Math>(&phrase)) return "$" + math->latex + "$";
    return latex_words(std::get<std::string>(phrase));
}

double width_of(const Phrase& phrase) {
    if (const Math* math = std::get_if<Math>(&phrase)) return latex_width(math->latex);
    return 5.0 * static_cast<double>(std::get<std::string>(phrase).size());
}

std::string display(const Equations& equations) {
    std::string out;
    for (const std::vector<std::string>& rows : aligned_rows(equations))
        out += fmt::format("\\begin{{align*}}\n  {}\n\\end{{align*}}\n", fmt::join(rows, " \\\\\n  "));
    return out;
}

struct Renderer {
    std::string operator()(const Sentence& sentence) const {
        std::string out;
        for (const Phrase& phrase : sentence) out += latex_of(phrase);
        return out + "\n\n";
    }
    std::string operator()(const Equations& equations) const { return display(equations); }
    std::string operator()(const Table& table) const {
        std::vector<double> widths(table.header.size(), 0);
        for (std::size_t j = 0; j < widths.size(); ++j) {
            widths[j] = width_of(table.header[j]);
            for (const auto& row : table.rows) widths[j] = std::max(widths[j], width_of(row[j]));
        }
        std::string out;
        for (std::size_t first = 1; first < widths.size();) {
            std::size_t last = first;
            double used = widths[0] + k_cell_gap;
            while (last < widths.size() && (last == first || used + widths[last] + k_cell_gap <= k_text_width))
                used += widths[last++] + k_cell_gap;
            const double room = k_text_width - widths[0] - 2 * k_cell_gap;
            std::string columns = "l|";
            for (std::size_t j = first; j < last; ++j)
                columns += widths[j] > room ? fmt::format("p{{{:.0f}pt}}", room) : std::string("l");
            // words are broken by LaTeX itself, formulas at their signs
            const auto cell = [&](const Phrase& phrase) {
                const Math* math = std::get_if<Math>(&phrase);
                if (math == nullptr || width_of(phrase) <= room) return latex_of(phrase);
                const std::vector<std::string> lines = latex_lines(math->latex, room, room - k_cell_gap);
                return fmt::format("${}$", fmt::join(lines, "$ \\newline\\hspace*{10pt}$"));
            };
            const auto cells = [&](const std::vector<Phrase>& row) {
                std::string line = latex_of(row[0]);
                for (std::size_t j = first; j < last; ++j) line += " & " + cell(row[j]);
                return line + " \\\\";
            };
            for (std::size_t begin = 0; begin < table.rows.size(); begin += k_table_rows) {
                out += fmt::format("\\begin{{center}}\n\\begin{{tabular}}{{{}}}\n{} \\hline\n", columns, cells(table.header));
                for (std::size_t i = begin; i < std::min(begin + k_table_rows, table.rows.size()); ++i)
                    out += cells(table.rows[i]) + "\n";
                out += "\\end{tabular}\n\\end{center}\n";
            }
            first = last;
        }
        return out;
    }
    std::string operator()(const Matrix& m) const {
        if (m.rows == 0 || m.columns == 0) return fmt::format("${}$ is empty ({} by {}).\n\n", m.name.latex, m.rows, m.columns);
        if (const std::string formula = matrix_formula(m, "\\\\"); !formula.empty())
            return fmt::format("\\[\n  {}\n\\]\n", formula);
        return fmt::format("${}$ is {} by {}; its entries that are not zero are\n{}", m.name.latex, m.rows, m.columns,
                           display(matrix_entries(m)));
    }
};

}  // namespace

std::string document_latex(const Document& document) {
    const std::string preamble =
        "\\documentclass[a4paper]{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[margin=25mm]{geometry}\n"
        "\\usepackage{amsmath,amssymb}\n\\allowdisplaybreaks\n\\setcounter{MaxMatrixCols}{30}\n"
        "\\renewcommand{\\arraystretch}{1.5}\n\\setlength{\\parindent}{0pt}\n\\setlength{\\parskip}{4pt}\n";
    std::string out = fmt::format("\\section*{{{}}}\n", latex_words(document.title.empty() ? document.name : document.title));
    if (!document.lead.empty()) out += Renderer{}(document.lead);
    for (const Section& section : document.sections) {
        out += fmt::format("\\subsection*{{{}{}}}\n", latex_words(section.title),
                           section.formula.latex.empty() ? "" : fmt::format(", ${}$", section.formula.latex));
        if (!section.intermediates.empty()) out += "With the abbreviations\n" + Renderer{}(section.intermediates);
        for (const Block& block : section.blocks) out += std::visit(Renderer{}, block);
    }
    return preamble + latex_letters(out) + "\\begin{document}\n" + out + "\\end{document}\n";
}

}  // namespace appell
