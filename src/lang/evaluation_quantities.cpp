// Calls that name quantities of the derived dynamics: they become symbols that `dynam` puts the expressions in for.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/evaluation.hpp"

namespace appell {

namespace {

constexpr Dimension k_time = Dimension::of(0, 0, 1), k_power = Dimension::of(2, 1, -3);

}  // namespace

Value Evaluation::ideal_or_reaction(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    const bool ideal = function.builtin == Builtin::ideal;
    // of what a law leads to no law may be made
    if (function.builtin == Builtin::nonideal && !allow(uses::derived, node.span, "a nonideal force")) return {};
    if (arguments.size() == 1) return multiplier(node, arguments, ideal);
    return constraint_vector(node, function, arguments, ideal);
}

Value Evaluation::actuator(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!need(arguments[0], ValueType::actuator, node.span, "in `actuator`")) return {};
    if (!allow(uses::magnitude, node.span, "the magnitude of an actuator")) return {};
    return scalar_of(graph().symbol_node(owner_.model().actuators[arguments[0].first].magnitude), {}, uses::magnitude);
}

Value Evaluation::friction(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!need(arguments[0], ValueType::constraint, node.span, "in `friction`")) return {};
    if (!allow(uses::derived, node.span, "friction")) return {};
    return vector_of(owner_.builder_->friction(arguments[0].first), Dimension::of(1, 1, -2), uses::multiplier | uses::derived);
}

Value Evaluation::rate_of_scalar(const SyntaxNode& node, const Value& argument) {
    if (argument.type == ValueType::vector || argument.type == ValueType::point) {
        owner_.fail(Code::E0402, node.span, "the time derivative of a vector needs a frame", "one argument", "dt(v, A)");
        return {};
    }
    if (!need(argument, ValueType::scalar, node.span, "in `dt`")) return {};
    if (!allow(uses::derived, node.span, "the time derivative of a scalar")) return {};
    if ((argument.made_of & (uses::acceleration | uses::multiplier | uses::input | uses::magnitude)) != 0) {
        owner_.fail(Code::E0405, node.span, "this can not be differentiated", "an acceleration, a constraint force or an input",
                    "positions and velocities");
        return {};
    }
    const NodeId rate = owner_.builder_->quantity({QuantityKind::time_derivative, argument.node, 0, 0, 0, {}, node.span},
                                                  fmt::format("d/dt {}", owner_.written(node.span)));
    return scalar_of(rate, argument.dimension ? std::optional(*argument.dimension / k_time) : std::nullopt, uses::derived);
}

std::optional<SymbolId> Evaluation::symbol_of(const SyntaxNode& node, const Value& value, std::string_view expected,
                                              std::initializer_list<SymbolKind> kinds) {
    if (value.type == ValueType::scalar && graph().op(value.node) == Op::Symbol) {
        const SymbolId symbol = graph().symbol_of(value.node);
        if (std::find(kinds.begin(), kinds.end(), graph().symbol(symbol).kind) != kinds.end()) return symbol;
    }
    owner_.fail(Code::E0401, node.span, fmt::format("`{}` needs {}", owner_.syntax_.names.text(node.name), expected),
                std::string(describe(value.type)), std::string(expected));
    return {};
}

Value Evaluation::partial(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    if (!allow(uses::derived, node.span, fmt::format("`{}`", function.name))) return {};
    const bool vector = arguments[0].type == ValueType::vector || arguments[0].type == ValueType::point;
    if (!vector && !need(arguments[0], ValueType::scalar, node.span, fmt::format("in `{}`", function.name))) return {};
    const bool nonholonomic = function.builtin == Builtin::nonholonomic_partial;
    using K = SymbolKind;
    const auto by =
        nonholonomic ? symbol_of(node, arguments[1], "a speed or its rate as its second argument",
                                 {K::speed, K::speed_rate, K::coordinate_rate, K::coordinate_rate2})
        : vector
            ? symbol_of(node, arguments[1], "a speed, a rate or the rate of one as its second argument",
                        {K::speed, K::speed_rate, K::coordinate_rate, K::coordinate_rate2})
            : symbol_of(node, arguments[1], "a name as its second argument",
                        {K::speed, K::speed_rate, K::coordinate_rate, K::coordinate_rate2, K::coordinate, K::parameter, K::time});
    if (!by) return {};
    const Value of = vector ? owner_.as_vector(arguments[0], node.span) : arguments[0];
    const NodeId result = owner_.builder_->quantity(
        {nonholonomic ? QuantityKind::nonholonomic_partial : QuantityKind::partial, of.node, by->value, 0, 0, {}, node.span},
        owner_.written(node.span), vector);
    std::optional<Dimension> dimension;
    if (of.dimension && arguments[1].dimension) dimension = *of.dimension / *arguments[1].dimension;
    return vector ? vector_of(result, dimension, uses::derived) : scalar_of(result, dimension, uses::derived);
}

Value Evaluation::generalized_force(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    if (!allow(uses::derived, node.span, fmt::format("`{}`", function.name))) return {};
    const auto speed = symbol_of(node, arguments[0], "a speed", {SymbolKind::speed, SymbolKind::coordinate_rate});
    if (!speed) return {};
    const NodeId result = owner_.builder_->quantity({function.quantity, {}, speed->value, 0, 0, {}, node.span},
                                                    fmt::format("{}({})", function.name, graph().symbol(*speed).name));
    std::optional<Dimension> dimension;
    if (arguments[0].dimension) dimension = k_power / *arguments[0].dimension;
    return scalar_of(result, dimension, uses::derived);
}

Value Evaluation::matrix(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!allow(uses::derived, node.span, "an entry of a matrix")) return {};
    if (!need(arguments[0], ValueType::word, node.span, "as the first argument of `matrix`")) return {};
    const std::string& name = owner_.syntax_.names.text(arguments[0].first);
    const auto found = std::find(k_matrix_names.begin(), k_matrix_names.end(), name);
    if (found == k_matrix_names.end()) {
        owner_.fail(Code::E0202, node.span, fmt::format("there is no matrix `{}`", name), {},
                    fmt::format("one of {}", fmt::join(k_matrix_names, ", ")));
        return {};
    }
    Quantity quantity{QuantityKind::matrix, {}, static_cast<std::uint32_t>(found - k_matrix_names.begin()), 0, 0, {}, node.span};
    if (arguments.size() == 1) {
        Value value;
        value.type = ValueType::matrix;
        value.first = quantity.first;
        return value;
    }
    std::array<std::uint32_t, 2> index{};
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const auto number = arguments[i].type == ValueType::scalar ? graph().constant_value(arguments[i].node) : std::nullopt;
        if (!number || *number != std::floor(*number) || *number < 1 || *number > 1e9) {
            owner_.fail(Code::E0404, node.span, "an index is a whole number",
                        number ? fmt::format("{}", *number) : std::string(describe(arguments[i].type)), "1, 2, ...");
            return {};
        }
        index[i - 1] = static_cast<std::uint32_t>(*number);
    }
    quantity.row = index[0];
    quantity.column = index[1];
    const std::string entry = index[1] > 0 ? fmt::format("({}, {})", index[0], index[1]) : fmt::format("({})", index[0]);
    return scalar_of(owner_.builder_->quantity(quantity, name + entry), {}, uses::derived);
}

Value Evaluation::count(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!allow(uses::count, node.span, "a count")) return {};
    if (!need(arguments[0], ValueType::word, node.span, "in `count`")) return {};
    const std::string& name = owner_.syntax_.names.text(arguments[0].first);
    const auto found = std::find(k_count_names.begin(), k_count_names.end(), name);
    if (found == k_count_names.end()) {
        owner_.fail(Code::E0202, node.span, fmt::format("there is no count of `{}`", name), {},
                    fmt::format("one of {}", fmt::join(k_count_names, ", ")));
        return {};
    }
    const auto which = static_cast<std::uint32_t>(found - k_count_names.begin());
    return scalar_of(
        owner_.builder_->quantity({QuantityKind::count, {}, which, 0, 0, {}, node.span}, fmt::format("count({})", name)), {},
        uses::count);
}

}  // namespace appell
