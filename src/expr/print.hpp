// Expressions as text and as LaTeX, for people. Printing never feeds back into the derivation: tidying (collecting, cancelling,
// trigonometric clean-up, readable order) happens on a representation of its own between named intermediates, so that the
// graph stays as it is. Text can be read back by the modelling language. Long or shared subexpressions get names, which bounds
// the output by the number of nodes, whatever the sharing. Nothing here recurses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/graph.hpp"

namespace appell {

enum class Notation { text, latex };

struct PrintOptions {
    Notation notation = Notation::text;
    std::size_t max_length = 160;           // an expression of more characters (of its text) gets named intermediates
    std::string intermediate_prefix = "z";  // doubled where a symbol of the graph is already called so
    bool tidy = true;
};

struct Printed {
    std::vector<std::pair<std::string, std::string>> definitions;  // name, expression; each uses earlier ones only
    std::vector<std::string> expressions;                          // by root
};

// Intermediates are shared by all roots. A subexpression of a long root is named when it occurs several times and is not
// trivial, or when what contains it would get too long. Both notations name the same subexpressions.
[[nodiscard]] Printed print(const Graph& graph, std::span<const NodeId> roots, const PrintOptions& options = {});

// One expression for a message: at most about 200 characters, intermediates behind "with", the rest elided.
[[nodiscard]] std::string to_text(const Graph& graph, NodeId root);
[[nodiscard]] std::string to_latex(const Graph& graph, NodeId root);

// The name of a symbol as LaTeX: theta1' becomes \dot{\theta}_1, x[3] becomes x_3, lambda(c) becomes \lambda_{\mathrm{c}}.
[[nodiscard]] std::string latex_name(std::string_view name);
// ... and of a vector symbol: N.x, vel(P1), omega(B), pos(P), vel(B at P)
[[nodiscard]] std::string latex_vector_name(std::string_view name);

}  // namespace appell
