#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "expr/print.hpp"
#include "report/document.hpp"

namespace appell {

namespace {

// About four lines of a page. Tidying works between names only: with a tighter limit, long expressions that would shrink when
// tidied as a whole get dozens of names instead.
constexpr std::size_t k_longest = 480;

template <class Visit>
void visit_phrase(Phrase& phrase, const Visit& visit) {
    if (Math* math = std::get_if<Math>(&phrase)) visit(*math);
}

struct BlockVisitor {
    const std::function<void(Math&)>& visit;

    void operator()(Sentence& sentence) const {
        for (Phrase& phrase : sentence) visit_phrase(phrase, visit);
    }
    void operator()(Equations& equations) const {
        for (Equation& e : equations) {
            visit(e.left);
            visit(e.right);
        }
    }
    void operator()(Table& table) const {
        for (Phrase& cell : table.header) visit_phrase(cell, visit);
        for (std::vector<Phrase>& row : table.rows)
            for (Phrase& cell : row) visit_phrase(cell, visit);
    }
    void operator()(Matrix& matrix) const {
        visit(matrix.name);
        for (Matrix::Entry& e : matrix.entries) visit(e.value);
    }
};

void for_each_math(Section& section, const std::function<void(Math&)>& visit) {
    visit(section.formula);
    for (Block& block : section.blocks) std::visit(BlockVisitor{visit}, block);
}

// the names in a text, each once
template <class Visit>
void for_each_name(const std::string& text, const Visit& visit) {
    const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        while (at < text.size() && part(text[at])) ++at;
        if (at > begin)
            visit(text.substr(begin, at - begin));
        else
            ++at;
    }
}

}  // namespace

void print_document(const Graph& graph, Document& document, bool with_latex) {
    std::vector<Math*> expressions;
    std::vector<NodeId> roots;
    const std::function<void(Math&)> collect = [&](Math& math) {
        if (!math.node.valid()) return;
        expressions.push_back(&math);
        roots.push_back(math.node);
    };
    for (Phrase& phrase : document.lead) visit_phrase(phrase, collect);
    for (Section& section : document.sections) for_each_math(section, collect);
    if (roots.empty()) return;

    PrintOptions options;
    options.max_length = k_longest;
    const Printed text = print(graph, roots, options);
    Printed latex;
    if (with_latex) {
        options.notation = Notation::latex;
        latex = print(graph, roots, options);
        APPELL_ASSERT(latex.definitions.size() == text.definitions.size(), "both notations name the same subexpressions");
    }
    for (std::size_t i = 0; i < roots.size(); ++i) {
        expressions[i]->text = text.expressions[i];
        if (with_latex) expressions[i]->latex = latex.expressions[i];
    }
    // entries that turned out to be zero when tidied
    for (Section& section : document.sections)
        for (Block& block : section.blocks)
            if (Matrix* matrix = std::get_if<Matrix>(&block))
                std::erase_if(matrix->entries, [](const Matrix::Entry& e) { return e.value.text == "0"; });

    for (std::size_t i = 0; i < text.definitions.size(); ++i)
        document.intermediates.push_back({named(text.definitions[i].first, with_latex ? latex.definitions[i].first : ""), "=",
                                          named(text.definitions[i].second, with_latex ? latex.definitions[i].second : "")});

    // a definition goes where it, or a definition that needs it, is used first
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < text.definitions.size(); ++i) index[text.definitions[i].first] = i;
    std::vector<bool> given(text.definitions.size(), false);
    for (Section& section : document.sections) {
        std::vector<std::size_t> stack, needed;
        const auto need = [&](const std::string& name) {
            const auto found = index.find(name);
            if (found == index.end() || given[found->second]) return;
            given[found->second] = true;
            stack.push_back(found->second);
        };
        for_each_math(section, [&](Math& math) {
            if (math.node.valid()) for_each_name(math.text, need);
        });
        while (!stack.empty()) {
            needed.push_back(stack.back());
            stack.pop_back();
            for_each_name(text.definitions[needed.back()].second, need);
        }
        std::sort(needed.begin(), needed.end());
        for (const std::size_t i : needed) section.intermediates.push_back(document.intermediates[i]);
    }
}

}  // namespace appell
