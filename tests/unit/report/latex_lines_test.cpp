// Long formulas broken into lines: nothing is lost, every line stands on its own for LaTeX, and no line is wider than it may be.
#include "report/latex_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "expr/print.hpp"

namespace appell {
namespace {

std::string without_blanks(std::string text) {
    std::erase(text, ' ');
    return text;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

// the lines put together again, as far as breaking sums and parentheses goes
std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (std::string line : lines) {
        if (line.starts_with("{} ")) line = line.substr(3);
        out += line;
    }
    replace_all(out, "\\Bigl(", "\\left(");
    replace_all(out, "\\Bigr)", "\\right)");
    return without_blanks(out);
}

// braces and \left ... \right must close on the line they open on; \Bigl( and ( need not
void expect_compilable(const std::string& line) {
    int braces = 0, pairs = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '{') ++braces;
        if (line[i] == '}') --braces;
        if (line.compare(i, 5, "\\left") == 0) ++pairs;
        if (line.compare(i, 6, "\\right") == 0) --pairs;
        EXPECT_GE(braces, 0) << line;
        EXPECT_GE(pairs, 0) << line;
    }
    EXPECT_EQ(braces, 0) << line;
    EXPECT_EQ(pairs, 0) << line;
}

std::string terms(int count, const std::string& term) {
    std::string out = term;
    for (int i = 1; i < count; ++i) out += (i % 2 == 0 ? " + " : " - ") + term;
    return out;
}

TEST(LatexLines, WhatFitsIsLeftAlone) {
    EXPECT_EQ(latex_lines("m l^2 \\ddot{\\theta}", 400, 380), std::vector<std::string>{"m l^2 \\ddot{\\theta}"});
}

TEST(LatexLines, SumsBreakBeforeTheirSigns) {
    const std::string sum = terms(40, "a_1 \\sin(x)");
    const std::vector<std::string> lines = latex_lines(sum, 300, 280);
    ASSERT_GT(lines.size(), 3u);
    EXPECT_EQ(joined(lines), without_blanks(sum));
    for (std::size_t i = 0; i < lines.size(); ++i) {
        expect_compilable(lines[i]);
        EXPECT_LE(latex_width(lines[i]), i == 0 ? 300 : 280) << lines[i];
        if (i > 0) {
            EXPECT_TRUE(lines[i].starts_with("{} + ") || lines[i].starts_with("{} - ")) << lines[i];
        }
    }
}

TEST(LatexLines, ParenthesesAreOpened) {
    for (const std::string& product :
         {"m r (" + terms(30, "a b") + ") \\dot{q}^2", "m \\left(" + terms(30, "\\frac{a}{b}") + "\\right)^2 + \\frac{1}{2}"}) {
        const std::vector<std::string> lines = latex_lines(product, 250, 240);
        ASSERT_GT(lines.size(), 1u);
        EXPECT_EQ(joined(lines), without_blanks(product));
        for (const std::string& line : lines) {
            expect_compilable(line);
            EXPECT_LE(latex_width(line), 260) << line;  // what closes the parentheses may stand out a little
        }
    }
}

TEST(LatexLines, FractionsAndRootsAreRewritten) {
    const auto all = [](const std::string& formula) {
        std::string out;
        for (const std::string& line : latex_lines(formula, 200, 190)) {
            expect_compilable(line);
            EXPECT_LE(latex_width(line), 215) << line;
            out += line + "\n";
        }
        return out;
    };
    // a sum over a short denominator, a product over one, a long denominator, a root
    EXPECT_TRUE(all("\\frac{" + terms(20, "x y") + "}{2 m}").starts_with("\\frac{1}{2 m} \\Bigl(x y"));
    EXPECT_TRUE(all("\\frac{m (" + terms(20, "x y") + ")}{4}").starts_with("\\frac{1}{4} m (x y"));
    EXPECT_NE(all("\\frac{a}{" + terms(20, "x y") + "}").find("\\Bigl(a\\Bigr) \\Big/ \\Bigl(x y"), std::string::npos);
    // a denominator that a line can hold gets one
    EXPECT_NE(all("\\frac{" + terms(20, "x y") + "}{" + terms(5, "x y") + "}").find("\n{} \\Big/ \\Bigl(x y"), std::string::npos);
    EXPECT_NE(all("\\sqrt{" + terms(20, "x y") + "}").find("\\Bigr) ^{1/2}"), std::string::npos);
}

TEST(LatexLines, PowersAreNotTorn) {
    const std::string power = "(" + terms(6, "x y") + ")^2";
    const std::vector<std::string> lines = latex_lines("m " + terms(3, "a b") + " + c d " + power, 200, 190);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines.back(), "{} + c d " + power);
    EXPECT_EQ(latex_lines("a b c d e f g h i j k l m n o p q r " + power, 200, 190).back(), "{} \\cdot " + power);
}

TEST(LatexLines, WidthsAreTheRightSize) {
    // measured with pdflatex (\settowidth of the formula in display style, 10 pt), in points; an estimate within 15 % keeps lines
    // inside the margins, since the limits are taken 1 % below the page's width and sums of many terms average out
    const auto expect_width = [](const char* formula, double points) {
        EXPECT_NEAR(latex_width(formula), points, 0.15 * points + 1) << formula;
    };
    expect_width("x_1", 10.2);
    expect_width("m_1 u_1 + m_2 u_2", 59.2);
    expect_width("\\frac{a + b}{c}", 24.2);
    expect_width("\\cos(\\mathrm{yaw}) \\sin(\\mathrm{lean})", 77.8);
    expect_width("\\lambda_{\\mathrm{perpendicular}} \\mathbf{v}^{P_2}", 70.0);
    expect_width("\\left(\\frac{a}{b} + \\sqrt{x^2 + y^2}\\right)\\ddot{\\theta}", 80.7);
}

TEST(LatexLines, RandomExpressionsStayCompilable) {
    std::mt19937_64 random(7);
    for (int k = 0; k < 300; ++k) {
        Graph g;
        std::vector<NodeId> symbols;
        for (const char* name : {"m1", "theta", "u1'", "long_name", "I"})
            symbols.push_back(g.symbol_node(g.add_symbol(name, SymbolKind::parameter)));
        std::uniform_int_distribution<int> any(0, 5);
        std::vector<NodeId> pool = symbols;
        for (int step = 0; step < 25; ++step) {
            const NodeId x = pool[random() % pool.size()], y = pool[random() % pool.size()];
            switch (any(random)) {
                case 0: pool.push_back(g.add(x, y)); break;
                case 1: pool.push_back(g.sub(x, y)); break;
                case 2: pool.push_back(g.mul(x, y)); break;
                case 3: pool.push_back(g.div(x, g.add(y, g.constant(2)))); break;
                case 4: pool.push_back(g.make(Op::Sin, x)); break;
                default: pool.push_back(g.make(Op::Sqrt, g.add(g.mul(x, x), g.constant(1)))); break;
            }
        }
        PrintOptions options;
        options.notation = Notation::latex;
        options.max_length = 480;
        const Printed printed = print(g, std::span(&pool.back(), 1), options);
        for (const double limit : {60.0, 150.0, 400.0})
            for (const std::string& line : latex_lines(printed.expressions.front(), limit, limit)) expect_compilable(line);
    }
}

}  // namespace
}  // namespace appell
