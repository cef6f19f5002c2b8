// A document of formulas in its formats: intermediates where they are needed first, tables that stay tables, Markdown that code
// hosts do not misread.
#include "report/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/pipeline.hpp"
#include "report/equations.hpp"
#include "support/gallery_run.hpp"

namespace appell {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Document sample() {
    Document d{"s", "A system with a | and a_b", {"Lead with ", named("x_1", "x_1"), "."}, {}, {}};
    Section first{"First", named("a = b", "a = b"), {}, {}};
    first.blocks.emplace_back(
        Table{{"name_1", named("|x|", "\\left|x\\right|"), "c"},
              {{named("u", "u"), named("0", "\\mathbf{0}_{r}"), "a|b"}, {"w", named("y", "y_{1}\\, z"), ""}}});
    first.blocks.emplace_back(Equations{{named("F", "F_{1}^{\\star}"), "=", named("a < b", "a < b")}});
    Matrix m{named("A", "A"), 2, 2, {{0, 1, named("x", "x")}, {1, 0, named("y", "y")}}};
    first.blocks.emplace_back(m);
    d.sections.push_back(first);
    return d;
}

TEST(Document, TextTablesAreAligned) {
    const std::string text = document_text(sample());
    EXPECT_NE(text.find("  name_1  |x|  c\n  u       0    a|b\n  w       y\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  A = [0  x]\n      [y  0]\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nFirst,  a = b\n"), std::string::npos) << text;
}

TEST(Document, WideTablesContinueBelow) {
    Table wide{{"r"}, {{"1"}, {"2"}}};
    for (int i = 0; i < 5; ++i) {
        wide.header.emplace_back("column" + std::to_string(i));
        for (auto& row : wide.rows) row.emplace_back(std::string(50, static_cast<char>('a' + i)));
    }
    Document d{"s", "", {}, {}, {}};
    d.sections.push_back({"Wide", {}, {wide}, {}});
    const std::string text = document_text(d);
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 120u);
    for (const char* needed : {"column0", "column4", "aaaa", "eeee"}) EXPECT_NE(text.find(needed), std::string::npos) << needed;
    // the first column again in every part
    const std::vector<std::string> lines = lines_of(text);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const std::string& l) { return l.starts_with("  r  "); }), 3);
}

TEST(Document, WideMatricesAreGivenByEntries) {
    Matrix m{named("M", "M"), 2, 2, {{0, 0, named(std::string(80, 'x'), std::string(80, 'x'))}}};
    m.entries.push_back({1, 1, named(std::string(80, 'y'), std::string(80, 'y'))});
    Document d{"s", "", {}, {}, {}};
    d.sections.push_back({"Wide", {}, {m}, {}});
    EXPECT_NE(document_text(d).find("    M[2,2] = " + std::string(80, 'y') + "\n"), std::string::npos);
    EXPECT_NE(document_latex(d).find("(M)_{2,2} &= " + std::string(80, 'y')), std::string::npos) << document_latex(d);
    EXPECT_EQ(document_latex(d).find("bmatrix"), std::string::npos);
}

// what every Markdown of ours must keep to
void expect_well_formed(const std::string& markdown) {
    std::size_t columns = 0;  // of the table we are in
    bool display = false, head = false;
    for (const std::string& line : lines_of(markdown)) {
        if (line == "$$") {
            display = !display;
            continue;
        }
        if (display) {
            EXPECT_EQ(line.find('$'), std::string::npos) << line;
            EXPECT_FALSE(line.starts_with("- ") || line.starts_with("+ ") || line.starts_with("=") || line.starts_with("#"))
                << line;
        }
        // dollars in pairs; formulas between them
        const bool block = line.starts_with("$$") && line.ends_with("$$") && line.size() > 4;
        std::string formulas = display ? line : block ? line.substr(2, line.size() - 4) : "";
        if (!display && !block) {
            bool inside = false;
            for (std::size_t i = 0; i < line.size(); ++i) {
                const bool dollar = line[i] == '$' && (i == 0 || line[i - 1] != '\\');
                if (dollar) {
                    inside = !inside;
                    // an opening dollar touches what follows, a closing one what precedes
                    if (inside) {
                        EXPECT_TRUE(i + 1 < line.size() && line[i + 1] != ' ') << line;
                        EXPECT_TRUE(i == 0 || line[i - 1] == ' ' || line[i - 1] == '|') << line;
                    } else {
                        EXPECT_NE(line[i - 1], ' ') << line;
                    }
                } else if (inside) {
                    formulas += line[i];
                }
            }
            EXPECT_FALSE(inside) << line;
        }
        for (std::size_t i = 0; i + 1 < formulas.size(); ++i) {
            if (formulas[i] == '\\') {
                EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(formulas[i + 1])) != 0) << line;
            }
            if (formulas[i] == '_') {
                EXPECT_EQ(formulas[i + 1], ' ') << line;
            }
        }
        for (const char c : {'|', '<', '>', '*', '`'}) EXPECT_EQ(formulas.find(c), std::string::npos) << line;
        // tables: as many cells in every row as in the head, a rule below the head
        if (!display && line.starts_with("|")) {
            std::size_t cells = 0;
            for (std::size_t i = 1; i < line.size(); ++i) cells += line[i] == '|' && line[i - 1] != '\\';
            EXPECT_TRUE(line.ends_with("|")) << line;
            if (columns == 0) {
                columns = cells;
                head = true;
            } else {
                EXPECT_EQ(cells, columns) << line;
                if (head) {
                    EXPECT_EQ(line.find_first_not_of("|-"), std::string::npos) << line;
                }
                head = false;
            }
        } else {
            columns = 0;
        }
    }
    EXPECT_FALSE(display);
    EXPECT_TRUE(markdown.ends_with("\n") && !markdown.ends_with("\n\n"));
}

TEST(Document, MarkdownIsNotMisread) {
    const std::string markdown = document_markdown(sample());
    expect_well_formed(markdown);
    EXPECT_NE(markdown.find("# A system with a \\| and a\\_b\n"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("| name\\_1 | $\\left\\vert x\\right\\vert$ |"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("a \\lt b"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("| a\\|b |"), std::string::npos) << markdown;
}

TEST(Document, EveryFormatOfEveryModelAndFormulationIsWellFormed) {
    for (const char* name : {"perpendicular_pucks", "appells_particle", "skate", "planar_body", "rolling_disk", "free_body"}) {
        Derivation d = derive_text(gallery_text(name));
        ASSERT_TRUE(d.ok());
        for (const FormulationInfo& row : all_formulations()) {
            EquationOptions options;
            options.formulation = row.formulation;
            options.format = EquationFormat::markdown;
            SCOPED_TRACE(std::string(name) + " " + std::string(row.name));
            expect_well_formed(equations(*d.dynamics, options));
            options.format = EquationFormat::latex;
            const std::string latex = equations(*d.dynamics, options);
            int braces = 0;
            for (const char c : latex) braces += c == '{' ? 1 : c == '}' ? -1 : 0;
            EXPECT_EQ(braces, 0);
            for (const char* environment : {"align*", "center", "bmatrix", "document"}) {
                const auto count = [&](const std::string& what) {
                    std::size_t n = 0;
                    for (std::size_t at = latex.find(what); at != std::string::npos; at = latex.find(what, at + 1)) ++n;
                    return n;
                };
                EXPECT_EQ(count(std::string("\\begin{") + environment + "}"), count(std::string("\\end{") + environment + "}"));
            }
            options.format = EquationFormat::json;
            const auto json = nlohmann::json::parse(equations(*d.dynamics, options));
            EXPECT_EQ(json["schema"], 1);
            EXPECT_EQ(json["formulation"], row.name);
            EXPECT_GE(json["sections"].size(), 5u);
        }
    }
}

TEST(Document, DependentSpeedsCanBeGiven) {
    Derivation d = derive_text(gallery_text("perpendicular_pucks"));
    ASSERT_TRUE(d.ok());
    EquationOptions options;
    options.formulation = Formulation::minimal;
    for (const auto& [speed, words] :
         {std::pair{0u, "Independent: u2, u3, u4; dependent: u1."}, {2u, "Independent: u1, u2, u4; dependent: u3."}}) {
        options.dependent = {speed};
        EXPECT_NE(equations(*d.dynamics, options).find(words), std::string::npos);
    }
    options.dependent = {0, 1};  // one row determines one rate
    EXPECT_THROW((void)equations(*d.dynamics, options), Error);
}

TEST(Document, IntermediatesStandWhereTheyAreNeededFirst) {
    Graph g;
    const auto symbol = [&](const std::string& name) { return g.symbol_node(g.add_symbol(name, SymbolKind::parameter)); };
    // two long sums, each shared by two expressions that are too long to print whole
    const auto long_sum = [&](char letter) {
        NodeId sum = g.constant(0);
        for (int i = 0; i < 60; ++i)
            sum = g.add(sum, g.make(Op::Sin, g.mul(symbol(std::string(1, letter) + std::to_string(i)),
                                                   symbol("k" + std::string(1, letter)))));
        return sum;
    };
    const NodeId a = long_sum('a'), b = long_sum('b');
    Document d{"s", "", {}, {}, {}};
    for (const NodeId n : {a, b}) {
        Section s{"Section", {}, {}, {}};
        s.blocks.emplace_back(Equations{{named("F", "F"), "=", expression(g.make(Op::Cos, n))},
                                        {named("G", "G"), "=", expression(g.make(Op::Exp, n))}});
        d.sections.push_back(std::move(s));
    }
    print_document(g, d, true);
    ASSERT_GE(d.intermediates.size(), 2u);
    std::size_t placed = 0;
    for (std::size_t s = 0; s < 2; ++s) {
        ASSERT_FALSE(d.sections[s].intermediates.empty());
        placed += d.sections[s].intermediates.size();
        const char mine = s == 0 ? 'a' : 'b', other = s == 0 ? 'b' : 'a';
        for (const Equation& e : d.sections[s].intermediates) {
            EXPECT_EQ(e.right.text.find(std::string("sin(") + other), std::string::npos) << e.left.text << " = " << e.right.text;
            EXPECT_FALSE(e.right.latex.empty());
        }
        (void)mine;
    }
    EXPECT_EQ(placed, d.intermediates.size());
}

}  // namespace
}  // namespace appell
