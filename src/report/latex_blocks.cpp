#include "report/latex_blocks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/latex_lines.hpp"

namespace appell {

namespace {

constexpr double k_relation = 14;       // " = "
constexpr double k_indent = 12;         // \quad in front of a continued line
constexpr double k_longest_left = 0.3;  // of the page; longer left sides get lines of their own
constexpr double k_column_gap = 10.5;   // of a matrix
constexpr std::size_t k_most_cells = 900;
constexpr std::size_t k_most_rows = 60;  // of one environment

std::string sign(const Equation& e) { return e.relation == ":" ? ":\\;" : e.relation; }

void append(std::vector<std::string>& rows, std::vector<std::string> lines, const std::string& head) {
    for (std::size_t i = 0; i < lines.size(); ++i) rows.push_back((i == 0 ? head : "&\\quad ") + lines[i]);
}

}  // namespace

std::vector<std::vector<std::string>> aligned_rows(const Equations& equations) {
    std::vector<std::vector<std::string>> parts;
    double left = 0;
    for (const Equation& e : equations) left = std::max(left, latex_width(e.left.latex));
    const bool beside = left <= k_longest_left * k_text_width;
    std::vector<std::string> rows;
    for (const Equation& e : equations) {
        if (rows.size() >= k_most_rows) {
            parts.push_back(std::move(rows));
            rows.clear();
        }
        if (beside) {
            const double room = k_text_width - left - k_relation;
            append(rows, latex_lines(e.right.latex, room, room - k_indent), fmt::format("{} &{} ", e.left.latex, sign(e)));
            continue;
        }
        // the sides below each other, unless both fit on one line
        if (latex_width(e.left.latex) + k_relation + latex_width(e.right.latex) <= k_text_width) {
            rows.push_back(fmt::format("& {} {} {}", e.left.latex, sign(e), e.right.latex));
            continue;
        }
        append(rows, latex_lines(e.left.latex, k_text_width, k_text_width - k_indent), "& ");
        append(rows, latex_lines(e.right.latex, k_text_width - k_relation - k_indent, k_text_width - k_indent),
               fmt::format("&\\quad {} ", sign(e)));
    }
    if (!rows.empty()) parts.push_back(std::move(rows));
    return parts;
}

std::string matrix_formula(const Matrix& m, const std::string& row_end) {
    if (m.rows * m.columns > k_most_cells) return "";
    std::vector<std::vector<std::string>> cells(m.rows, std::vector<std::string>(m.columns, "0"));
    for (const Matrix::Entry& e : m.entries) cells[e.row][e.column] = e.value.latex;
    double width = latex_width(m.name.latex) + k_relation + k_column_gap;
    for (std::size_t j = 0; j < m.columns; ++j) {
        double widest = 0;
        for (std::size_t i = 0; i < m.rows; ++i) widest = std::max(widest, latex_width(cells[i][j]));
        width += widest + k_column_gap;
    }
    if (width > k_text_width) return "";
    std::vector<std::string> rows;
    for (const auto& row : cells) rows.push_back(fmt::format("{}", fmt::join(row, " & ")));
    return fmt::format("{} = \\begin{{bmatrix}} {} \\end{{bmatrix}}", m.name.latex, fmt::join(rows, " " + row_end + " "));
}

Equations matrix_entries(const Matrix& m) {
    Equations out;
    for (const Matrix::Entry& e : m.entries)
        out.push_back({named("", fmt::format("({})_{{{},{}}}", m.name.latex, e.row + 1, e.column + 1)), "=", e.value});
    return out;
}

}  // namespace appell
