// A document of formulas: sections of sentences, equations, tables and matrices. The contents are written with nodes of the graph
// (equation_sections.cpp), turned into strings once (print_document), and then rendered as text, LaTeX, Markdown or JSON.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

// An expression, or a name that stands for itself: F~_1, u' = a + M^-1 A' lambda.
struct Math {
    NodeId node;              // invalid for names
    std::string text, latex;  // of nodes: filled in by print_document
};

[[nodiscard]] inline Math expression(NodeId node) { return {node, "", ""}; }
[[nodiscard]] inline Math named(std::string text, std::string latex) { return {{}, std::move(text), std::move(latex)}; }

using Phrase = std::variant<std::string, Math>;  // words or a formula
using Sentence = std::vector<Phrase>;

struct Equation {
    Math left;
    std::string relation;  // "=", or ":" behind what is on the left in words
    Math right;
};
using Equations = std::vector<Equation>;

struct Table {
    std::vector<Phrase> header;
    std::vector<std::vector<Phrase>> rows;
};

struct Matrix {
    Math name;
    std::size_t rows = 0, columns = 0;
    struct Entry {
        std::size_t row, column;
        Math value;
    };
    std::vector<Entry> entries;  // by row, then column; the others are zero
};

using Block = std::variant<Sentence, Equations, Table, Matrix>;

struct Section {
    std::string title;
    Math formula;  // what the section says in general; may be empty
    std::vector<Block> blocks;
    Equations intermediates;  // named here for the first time; filled in by print_document
};

struct Document {
    std::string name, title;  // of the system
    Sentence lead;
    std::vector<Section> sections;
    Equations intermediates;  // of all sections, each using earlier ones only; filled in by print_document
};

// Puts the strings of all expressions in, with intermediates shared by the whole document, each in the first section that needs
// it. LaTeX is left out where it is not wanted: it costs as much as the text.
void print_document(const Graph& graph, Document& document, bool with_latex);

// --- the formats
[[nodiscard]] std::string document_text(const Document& document);
[[nodiscard]] std::string document_latex(const Document& document);
// headings, tables and formulas that code hosts render: no character inside $...$ means anything to Markdown
[[nodiscard]] std::string document_markdown(const Document& document);
// an array of sections, each with title, formula, intermediates and blocks; formulas as {"text", "latex"}
[[nodiscard]] std::string document_json(const Document& document);

// parts of an HTML page, from <h4> on: formulas as text, with their LaTeX in `data-tex` for a script that typesets them
[[nodiscard]] std::string document_html(const Document& document);
[[nodiscard]] std::string section_html(const Section& section);  // without its title

}  // namespace appell
