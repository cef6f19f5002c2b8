// The evaluation of one expression: a loop over its postfix nodes with a stack of typed values. Private to the elaboration.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "lang/elaborator.hpp"

namespace appell {

class Evaluation {
public:
    Evaluation(Elaborator& owner, std::uint32_t environment, const Place& place)
        : owner_(owner), environment_(environment), place_(place) {}

    // the values left on the stack: one, or the members of a tuple when one is allowed
    [[nodiscard]] std::vector<Value> run(const SyntaxExpr& expr, bool tuple_allowed);
    // the entries of ((a, b), (c, d)) row by row with the lengths of the rows; of (a, b) without
    [[nodiscard]] std::vector<Value> run_matrix(const SyntaxExpr& expr, std::vector<std::size_t>& rows);

private:
    struct Loop {
        NameId name;
        long long current, last;
        std::size_t body;  // index of the first node of the body
        std::vector<NodeId> terms;
        Value total;
        bool started = false;
    };

    Value number(const SyntaxNode& node);
    Value name(const SyntaxNode& node);
    Value member(const SyntaxNode& node, const Value& of);
    Value unary(const SyntaxNode& node, const Value& x);
    Value binary(const SyntaxNode& node, const Value& x, const Value& y);
    Value sum(const SyntaxNode& node, const Value& x, const Value& y);
    Value product(const SyntaxNode& node, const Value& x, const Value& y);
    Value quotient(const SyntaxNode& node, const Value& x, const Value& y);
    Value power(const SyntaxNode& node, const Value& x, const Value& y);
    Value comparison(const SyntaxNode& node, const Value& x, const Value& y);
    Value logical(const SyntaxNode& node, const Value& x, const Value& y);
    Value at(const SyntaxNode& node, const Value& body, const Value& point);
    std::size_t begin_sum(const SyntaxNode& node, std::size_t index);
    std::size_t end_sum(const SyntaxNode& node, std::size_t index);

    // calls (evaluation_calls.cpp)
    Value call(const SyntaxNode& node, std::span<const Value> arguments);
    Value builtin(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value operation(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value choice(const SyntaxNode& node, std::span<const Value> arguments);
    Value smooth(const SyntaxNode& node, const Value& value);
    Value velocity(const SyntaxNode& node, std::span<const Value> arguments);
    Value angular_velocity(const SyntaxNode& node, std::span<const Value> arguments);
    Value position(const SyntaxNode& node, std::span<const Value> arguments);
    Value products_of_vectors(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value time_derivative(const SyntaxNode& node, std::span<const Value> arguments);
    Value accelerations(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value energies(const SyntaxNode& node, const FunctionSchema& function);
    Value multiplier(const SyntaxNode& node, std::span<const Value> arguments, bool ideal = false);
    Value constraint_vector(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments,
                            bool ideal = false);
    Value rolling(const SyntaxNode& node, std::span<const Value> arguments);
    // quantities of the derived dynamics (evaluation_quantities.cpp)
    Value ideal_or_reaction(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value friction(const SyntaxNode& node, std::span<const Value> arguments);
    Value actuator(const SyntaxNode& node, std::span<const Value> arguments);
    Value rate_of_scalar(const SyntaxNode& node, const Value& argument);
    Value partial(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value generalized_force(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments);
    Value matrix(const SyntaxNode& node, std::span<const Value> arguments);
    Value count(const SyntaxNode& node, std::span<const Value> arguments);
    // the symbol that a bare name stands for; nothing after a report
    std::optional<SymbolId> symbol_of(const SyntaxNode& node, const Value& value, std::string_view expected,
                                      std::initializer_list<SymbolKind> kinds);
    Value user_function(const SyntaxNode& node, Entity& entity, std::span<const Value> arguments);

    // --- shared
    Value scalar_of(NodeId node, std::optional<Dimension> dimension, std::uint32_t made_of) const;
    Value vector_of(NodeId node, std::optional<Dimension> dimension, std::uint32_t made_of) const;
    // reports a kind of quantity that has no meaning in the place
    bool allow(std::uint32_t made_of, Span span, std::string_view text);
    bool need(const Value& value, ValueType type, Span span, std::string_view where);
    // the common dimension of two quantities that are added or compared
    std::optional<Dimension> common(const Value& x, const Value& y, Span span, std::string_view what);
    [[nodiscard]] NodeId velocity_node(FrameId body, PointId point);
    [[nodiscard]] NodeId omega_node(FrameId frame);
    Graph& graph() { return owner_.graph(); }

    Elaborator& owner_;
    std::uint32_t environment_;
    const Place& place_;
    std::vector<Value> stack_;
    std::vector<std::size_t>* rows_ = nullptr;  // lengths of the rows of a matrix, while one is read
    std::vector<Loop> loops_;
    std::size_t rounds_ = 0;

    friend class Elaborator;
};

}  // namespace appell
