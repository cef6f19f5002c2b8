#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "report/document.hpp"

namespace appell {

namespace {

constexpr std::size_t k_line = 120;  // tables and matrices that are wider are taken apart

// characters, not bytes
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string padded(const std::string& text, std::size_t to) { return text + std::string(to - std::min(to, width(text)), ' '); }

std::string text_of(const Phrase& phrase) {
    const Math* math = std::get_if<Math>(&phrase);
    return math ? math->text : std::get<std::string>(phrase);
}

std::string line(const Equation& e) {
    return fmt::format("  {}{} {}\n", e.left.text, e.relation == ":" ? ":" : " " + e.relation, e.right.text);
}

std::string rows_text(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width(row[j]));
    std::string out;
    for (const auto& row : rows) {
        std::string text = " ";
        for (std::size_t j = 0; j < row.size(); ++j) text += " " + padded(row[j], widths[j]) + (j + 1 < row.size() ? " " : "");
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    }
    return out;
}

struct Renderer {
    std::string operator()(const Sentence& sentence) const {
        std::string out = "  ";
        for (const Phrase& phrase : sentence) out += text_of(phrase);
        return out + "\n";
    }
    std::string operator()(const Equations& equations) const {
        std::string out;
        for (const Equation& e : equations) out += line(e);
        return out;
    }
    // columns that do not fit beside each other follow below, with the first column again
    std::string operator()(const Table& table) const {
        std::vector<std::vector<std::string>> cells{{}};
        for (const Phrase& cell : table.header) cells[0].push_back(text_of(cell));
        for (const auto& row : table.rows) {
            cells.emplace_back();
            for (const Phrase& cell : row) cells.back().push_back(text_of(cell));
        }
        std::vector<std::size_t> widths(table.header.size(), 0);
        for (const auto& row : cells)
            for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width(row[j]) + 2);
        std::string out;
        for (std::size_t first = 1; first < widths.size() || out.empty();) {
            std::size_t last = first, used = 2 + widths[0];
            while (last < widths.size() && (last == first || used + widths[last] <= k_line)) used += widths[last++];
            std::vector<std::vector<std::string>> part;
            for (const auto& row : cells) {
                part.push_back({row[0]});
                for (std::size_t j = first; j < last; ++j) part.back().push_back(row[j]);
            }
            out += (out.empty() ? "" : "\n") + rows_text(part);
            first = std::max(last, first + 1);
        }
        return out;
    }
    std::string operator()(const Matrix& m) const {
        const std::string head = "  " + m.name.text + " = ";
        if (m.rows == 0 || m.columns == 0) return fmt::format("{}[]  ({} x {})\n", head, m.rows, m.columns);
        // one row, or a column lying down
        if (m.rows == 1 || m.columns == 1) {
            std::vector<std::string> list(m.rows * m.columns, "0");
            for (const Matrix::Entry& e : m.entries) list[e.row + e.column] = e.value.text;
            const std::string flat = fmt::format("{}[{}]{}\n", head, fmt::join(list, ", "), m.rows > 1 ? "^T" : "");
            if (flat.size() <= k_line) return flat;
        }
        if (m.rows * m.columns <= k_line * k_line) {
            std::vector<std::vector<std::string>> cells(m.rows, std::vector<std::string>(m.columns, "0"));
            for (const Matrix::Entry& e : m.entries) cells[e.row][e.column] = e.value.text;
            std::vector<std::size_t> widths(m.columns, 0);
            std::size_t total = head.size() + 2;
            for (std::size_t j = 0; j < m.columns; ++j) {
                for (std::size_t i = 0; i < m.rows; ++i) widths[j] = std::max(widths[j], width(cells[i][j]));
                total += widths[j] + 2;
            }
            if (total <= k_line) {
                std::string out;
                for (std::size_t i = 0; i < m.rows; ++i) {
                    out += (i == 0 ? head : std::string(head.size(), ' ')) + "[";
                    for (std::size_t j = 0; j < m.columns; ++j) out += (j > 0 ? "  " : "") + padded(cells[i][j], widths[j]);
                    out += "]\n";
                }
                return out;
            }
        }
        std::string out = fmt::format("{}{} x {}, the entries that are not zero:\n", head, m.rows, m.columns);
        const bool plain =
            std::all_of(m.name.text.begin(), m.name.text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
        const std::string name = plain ? m.name.text : "(" + m.name.text + ")";
        for (const Matrix::Entry& e : m.entries)
            out += fmt::format("    {}[{},{}] = {}\n", name, e.row + 1, e.column + 1, e.value.text);
        return out;
    }
};

}  // namespace

std::string document_text(const Document& document) {
    std::string out = document.title.empty() ? document.name + "\n" : fmt::format("{}: {}\n", document.name, document.title);
    for (const Phrase& phrase : document.lead) out += text_of(phrase);
    if (!document.lead.empty()) out += "\n";
    for (const Section& section : document.sections) {
        out += fmt::format("\n{}{}\n", section.title, section.formula.text.empty() ? "" : ",  " + section.formula.text);
        for (const Equation& e : section.intermediates) out += line(e);
        for (std::size_t i = 0; i < section.blocks.size(); ++i) {
            const bool table = std::holds_alternative<Table>(section.blocks[i]);
            if (i > 0 && (table || std::holds_alternative<Table>(section.blocks[i - 1]))) out += "\n";
            out += std::visit(Renderer{}, section.blocks[i]);
        }
    }
    return out;
}

}  // namespace appell
