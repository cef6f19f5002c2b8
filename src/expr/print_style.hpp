// How parts of a printed expression are put together, in both notations: operators, precedence, functions, numbers. A Piece
// carries its text, how tightly it binds, and the length of its plain text; the length is the same in both notations, so that
// decisions taken by length (what gets a name) do not depend on the notation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "expr/graph.hpp"
#include "expr/print.hpp"

namespace appell {

enum class Binding : std::uint8_t { sum, product, power, atom };

struct Piece {
    Piece() = default;
    Piece(std::string t, Binding b, std::size_t l) : Piece(std::move(t), b, b, l) {}
    Piece(std::string t, Binding b, Binding in_text, std::size_t l)
        : text(std::move(t)), binding(b), text_binding(in_text), length(l) {}

    std::string text;
    Binding binding = Binding::atom;
    Binding text_binding = Binding::atom;  // as plain text, for the length
    std::size_t length = 0;                // as plain text
    std::uint32_t head = 0;                // LaTeX functions: where an exponent goes, \sin^2(x); 0 behind the text
    bool condition = false;                // a comparison: true or false rather than a number
    bool minus = false;                    // one term with its minus sign in front
};

class Style {
public:
    Style(const Graph& graph, Notation notation) : graph_(graph), latex_(notation == Notation::latex) {}

    [[nodiscard]] bool latex() const { return latex_; }

    // --- leaves
    [[nodiscard]] Piece name(std::string_view symbol) const;
    [[nodiscard]] Piece vector_name(std::string_view symbol) const;
    [[nodiscard]] Piece zero_vector() const;
    [[nodiscard]] Piece pi() const;
    [[nodiscard]] Piece number(double value) const;

    // --- operators
    [[nodiscard]] Piece sum(const Piece& x, const Piece& y, bool minus) const;
    [[nodiscard]] Piece negative(const Piece& x) const;
    [[nodiscard]] Piece product(const Piece& x, const Piece& y) const;
    [[nodiscard]] Piece quotient(const Piece& x, const Piece& y) const;
    [[nodiscard]] Piece power(const Piece& base, const Piece& exponent) const;

    // --- functions: operations of the table that are no operators, opaque calls, products of vectors
    [[nodiscard]] Piece function(Op op, std::span<const Piece* const> arguments) const;
    [[nodiscard]] Piece call(FunctionId function, std::span<const Piece* const> arguments) const;
    [[nodiscard]] Piece time_derivative(const Piece& vector, std::uint32_t frame) const;

    // a comparison used as a number: 1 where it holds, else 0
    [[nodiscard]] Piece as_number(const Piece& piece) const;
    [[nodiscard]] std::string enclosed(const Piece& piece, Binding at_least) const;

private:
    [[nodiscard]] std::string parenthesised(const std::string& text) const;
    [[nodiscard]] Piece conditional(std::span<const Piece* const> arguments) const;

    const Graph& graph_;
    bool latex_;
};

}  // namespace appell
