#include "expr/print.hpp"

#include <algorithm>
#include <cctype>

#include "expr/print_naming.hpp"
#include "expr/print_style.hpp"
#include "expr/print_tidy.hpp"

namespace appell {

namespace {

// The graph's own structure, operator by operator.
class PlainBackend {
public:
    using Form = Piece;

    PlainBackend(const Graph& graph, Notation notation) : graph_(graph), style_(graph, notation) {}

    Form make(NodeId id, std::span<const Form* const> o) const {
        switch (const Op op = graph_.op(id)) {
            case Op::Constant: return style_.number(*graph_.constant_value(id));
            case Op::Pi: return style_.pi();
            case Op::Symbol: return style_.name(graph_.symbol(graph_.symbol_of(id)).name);
            case Op::VSymbol: return style_.vector_name(graph_.vector_symbol(graph_.vector_symbol_of(id)).name);
            case Op::VZero: return style_.zero_vector();
            case Op::Add:
            case Op::VAdd: return style_.sum(*o[0], *o[1], false);
            case Op::Sub: return style_.sum(*o[0], *o[1], true);
            case Op::Neg:
            case Op::VNeg: return style_.negative(*o[0]);
            case Op::Mul:
            case Op::VScale: return style_.product(*o[0], *o[1]);
            case Op::Div: return style_.quotient(*o[0], *o[1]);
            case Op::Pow: return style_.power(*o[0], *o[1]);
            case Op::PowInt: return style_.power(*o[0], style_.number(graph_.exponent(id)));
            case Op::Call: return style_.call(graph_.function_of(id), o);
            case Op::VDt: return style_.time_derivative(*o[0], graph_.frame_of_dt(id));
            default: return style_.function(op, o);
        }
    }
    Form name(const std::string& name, std::size_t, bool) const { return style_.name(name); }
    std::size_t length(const Form& form) const { return form.length; }
    bool nameable(const Form& form) const { return !form.condition; }
    std::string render(const Form& form) const { return style_.as_number(form).text; }
    std::string render_name(const std::string& name) const { return style_.name(name).text; }
    template <class Definitions>
    std::vector<bool> used_names(const Definitions& definitions, const std::vector<Form>&) const {
        return std::vector<bool>(definitions.size(), true);  // nothing cancels here
    }

private:
    const Graph& graph_;
    Style style_;
};

// Tidying serves readers; nobody reads what is larger, and its tables would cost more than the graph itself.
constexpr std::size_t k_tidy_nodes = 30'000;
constexpr std::size_t k_tidy_nodes_of_message = 2'000;

bool small_enough(const Graph& graph, std::span<const NodeId> roots, std::size_t nodes) {
    if (graph.size() <= nodes) return true;
    Sweep sweep;
    return sweep.collect(graph, roots).size() <= nodes;
}

constexpr std::size_t k_message_expression = 120;
constexpr std::size_t k_message = 200;

}  // namespace

std::string free_prefix(const Graph& graph, std::string prefix) {
    const auto taken = [&](const std::string& name) {
        return name.size() > prefix.size() && name.starts_with(prefix) &&
               std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                           [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    if (prefix.empty()) prefix = "z";
    const std::string unit = prefix;
    for (std::size_t i = 0; i < graph.symbol_count(); ++i) {
        if (!taken(graph.symbol(SymbolId(i)).name)) continue;
        prefix += unit;
        i = 0 - std::size_t{1};  // look at all symbols again
    }
    return prefix;
}

Printed print(const Graph& graph, std::span<const NodeId> roots, const PrintOptions& options) {
    if (options.tidy && small_enough(graph, roots, k_tidy_nodes)) {
        TidyBackend backend(graph, options.notation);
        return print_with(graph, roots, options, backend);
    }
    PlainBackend backend(graph, options.notation);
    return print_with(graph, roots, options, backend);
}

std::string to_text(const Graph& graph, NodeId root) {
    PrintOptions options;
    options.max_length = k_message_expression;
    options.tidy = small_enough(graph, std::span(&root, 1), k_tidy_nodes_of_message);
    const Printed printed = print(graph, std::span(&root, 1), options);
    std::string text = printed.expressions.front();
    // the last definitions are the ones the expression itself speaks of
    for (std::size_t i = printed.definitions.size(); i-- > 0 && text.size() <= k_message;) {
        const auto& [name, definition] = printed.definitions[i];
        text += (i + 1 == printed.definitions.size() ? " with " : ", ") + name + " = " + definition;
    }
    if (text.size() > k_message) {
        // not inside a character of several bytes
        std::size_t end = k_message - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
        text.resize(end);
        text += "...";
    }
    return text;
}

std::string to_latex(const Graph& graph, NodeId root) {
    PrintOptions options;
    options.notation = Notation::latex;
    options.max_length = k_message_expression;
    options.tidy = small_enough(graph, std::span(&root, 1), k_tidy_nodes_of_message);
    const Printed printed = print(graph, std::span(&root, 1), options);
    std::string text = printed.expressions.front();
    // cut between definitions only: half a formula would not compile
    for (std::size_t i = printed.definitions.size(); i-- > 0;) {
        const auto& [name, definition] = printed.definitions[i];
        text += i + 1 == printed.definitions.size() ? "\\quad\\text{with }" : ",\\; ";
        if (text.size() > 3 * k_message) {
            text += "\\ldots";
            break;
        }
        text += name + " = " + definition;
    }
    return text;
}

}  // namespace appell
