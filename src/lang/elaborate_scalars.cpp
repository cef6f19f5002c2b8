// Scalars: what an expression is worth in its place, and the declarations of parameters, inputs, coordinates, speeds, lets and
// functions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/expand_calls.hpp"
#include "expr/substitute.hpp"
#include "lang/evaluation.hpp"

namespace appell {

namespace {

constexpr Dimension k_time = Dimension::of(0, 0, 1);

}  // namespace

Value Elaborator::evaluate(const SyntaxExpr& expr, std::uint32_t environment, const Place& place) {
    Evaluation evaluation(*this, environment, place);
    return evaluation.run(expr, false).back();
}

std::vector<Value> Elaborator::evaluate_tuple(const SyntaxExpr& expr, std::size_t count, std::uint32_t environment,
                                              const Place& place) {
    if (expr.nodes.back().kind != SyntaxKind::tuple || expr.nodes.back().count != count) {
        fail(Code::E0401, expr.span, fmt::format("{} values in brackets are needed here", count), {}, "(a, b, c)");
        return {};
    }
    Evaluation evaluation(*this, environment, place);
    std::vector<Value> values = evaluation.run(expr, true);
    for (const Value& value : values) {
        if (value.poison()) return {};
        if (value.type == ValueType::scalar) continue;
        fail(Code::E0401, expr.span, "scalars are needed here", std::string(describe(value.type)), "a scalar");
        return {};
    }
    return values;
}

std::vector<Value> Elaborator::evaluate_matrix(const SyntaxExpr& expr, std::size_t& columns, std::uint32_t environment,
                                               const Place& place) {
    std::vector<std::size_t> rows;
    Evaluation evaluation(*this, environment, place);
    std::vector<Value> values = evaluation.run_matrix(expr, rows);
    for (const Value& value : values) {
        if (value.poison()) return {};
        if (value.type == ValueType::scalar) continue;
        fail(Code::E0401, expr.span, "the entries of a matrix are scalars", std::string(describe(value.type)), "a scalar");
        return {};
    }
    columns = rows.empty() ? 0 : rows.front();
    if (rows.empty()) return values;
    const SyntaxNode& last = expr.nodes.back();
    const bool even = std::all_of(rows.begin(), rows.end(), [&](std::size_t length) { return length == columns; });
    if (last.kind == SyntaxKind::tuple && last.count == rows.size() && even) return values;
    fail(Code::E0401, expr.span, "a matrix is a list of rows of the same length", {}, "((a, b), (c, d))");
    return {};
}

Value Elaborator::scalar(const SyntaxExpr& expr, std::uint32_t environment, const Place& place, std::optional<Dimension> expected,
                         std::string_view what) {
    const Value value = evaluate(expr, environment, place);
    if (value.poison()) return {};
    if (value.type != ValueType::scalar) {
        fail(Code::E0401, expr.span, "a scalar is needed here", std::string(describe(value.type)), "a scalar");
        return {};
    }
    if (expected) expect_dimension(value, *expected, what, expr.span);
    return value;
}

Value Elaborator::vector(const SyntaxExpr& expr, std::uint32_t environment, const Place& place, std::optional<Dimension> expected,
                         std::string_view what) {
    const Value value = evaluate(expr, environment, place);
    if (value.poison()) return {};
    if (value.type != ValueType::vector && value.type != ValueType::point && !is_zero(value)) {
        fail(Code::E0401, expr.span, "a vector is needed here", std::string(describe(value.type)), "a vector",
             value.type == ValueType::scalar ? "give it a direction: s*N.x" : "");
        return {};
    }
    const Value v = as_vector(value, expr.span);
    if (expected) expect_dimension(v, *expected, what, expr.span);
    return v;
}

std::optional<long long> Elaborator::whole(const SyntaxExpr& expr, std::uint32_t environment) {
    const Value value = evaluate(expr, environment, places::whole);
    if (value.poison()) return {};
    if (value.type == ValueType::scalar) {
        const double number = number_of(value.node);
        if (number == std::floor(number) && std::abs(number) < 1e15) return static_cast<long long>(number);
        fail(Code::E0404, expr.span, "a whole number is needed here", fmt::format("{}", number), "a whole number");
        return {};
    }
    fail(Code::E0404, expr.span, "a whole number is needed here", std::string(describe(value.type)), "a whole number");
    return {};
}

std::optional<double> Elaborator::number(const Value& value, Span span, std::vector<NodeId>* judged) {
    if (value.poison()) return {};
    if (judged != nullptr) judged->push_back(value.node);
    const double result = judged != nullptr ? evaluated(value.node) : number_of(value.node);
    if (std::isfinite(result)) return result;
    // what is made of a value that could not be read has been complained about
    const std::vector<SymbolId> made_of = symbols_in(graph(), std::span(&value.node, 1));
    if (std::ranges::any_of(made_of, [&](SymbolId s) { return without_value_.contains(s.value); })) return {};
    fail(Code::E0406, span, "the value is not a finite number", fmt::format("{}", result), "a finite number");
    return {};
}

void Elaborator::expect_dimension(const Value& value, Dimension expected, std::string_view what, Span span) {
    // a pure number may stand for a quantity in SI units, as in a force sin(w*t)*N.x
    if (value.poison() || !value.dimension || value.dimension->none() || *value.dimension == expected || is_zero(value)) return;
    fail(Code::E0303, span, fmt::format("{} has another dimension", what), si_text(*value.dimension), si_text(expected));
}

Value Elaborator::as_vector(const Value& value, Span) {
    if (value.type == ValueType::vector || value.poison()) return value;
    Value out = value;
    out.type = ValueType::vector;
    if (value.type == ValueType::point) {
        const PointId point(value.first);
        // the origin's position is the zero vector, of any dimension
        out.node = point == Model::origin() ? graph().vector_zero() : builder_->position(point);
        out.points = 1;
        out.made_of |= uses::geometry;
    } else {
        out.node = graph().vector_zero();
    }
    return out;
}

bool Elaborator::is_zero(const Value& value) {
    if (value.type == ValueType::point) return PointId(value.first) == Model::origin();
    if (value.type == ValueType::vector) return graph().op(value.node) == Op::VZero;
    return value.type == ValueType::scalar && graph().is_constant(value.node, 0);
}

Value Elaborator::entity_value(Entity& entity, int primes, Span span, const Place& place) {
    if (entity.value.poison()) return {};
    if (entity.kind == EntityKind::function) {
        fail(Code::E0401, span, fmt::format("`{}` is a function and needs arguments", entity.name), {},
             fmt::format("{}(...)", entity.name));
        return {};
    }
    Value value = entity.value;
    if (primes > 0) {
        const bool coordinate = entity.kind == EntityKind::coordinate, speed = entity.kind == EntityKind::speed;
        if (!coordinate && !(speed && primes == 1)) {
            fail(Code::E0407, span,
                 speed ? "a speed has one rate, u'" : fmt::format("{} `{}` has no rate", describe(entity.kind), entity.name), {},
                 "x' or x'' of a coordinate, u' of a speed");
            return {};
        }
        const Coordinate* q = coordinate ? &model().coordinates[entity.index] : nullptr;
        const SymbolId symbol = !coordinate ? model().speeds[entity.index].rate : primes == 1 ? q->rate : q->rate2;
        value.node = graph().symbol_node(symbol);
        value.made_of = coordinate && primes == 1 ? uses::rate : uses::acceleration;
        for (int i = 0; i < primes; ++i)
            if (value.dimension) value.dimension = *value.dimension / k_time;
    }
    Evaluation checker(*this, 0, place);
    const bool entity_only =
        value.type == ValueType::frame || value.type == ValueType::constraint || value.type == ValueType::equation;
    if (!entity_only && !checker.allow(value.made_of, span, fmt::format("`{}`", written(span)))) return {};
    return value;
}

Elaborator::Constant Elaborator::constant_of(Entity& entity) {
    Constant out;
    const Part* part = item_part(entity, Role::value);
    if (part == nullptr) return out;
    const Value value = scalar(part->expr, entity.instance.environment, places::constant);
    if (!ready()) return out;
    out.given = true;
    out.number = number(value, part->span);
    out.dimension = value.dimension;
    return out;
}

// from here on the entity stands for its symbol
void Elaborator::become_symbol(Entity& entity, SymbolId symbol, std::optional<Dimension> dimension, std::uint32_t made_of) {
    entity.value.type = ValueType::scalar;
    entity.value.node = graph().symbol_node(symbol);
    entity.value.dimension = dimension;
    entity.value.made_of = made_of;
}

void Elaborator::elaborate_parameter(Entity& entity) {
    const Constant constant = constant_of(entity);
    if (!ready()) return;
    const auto found = options_.set.find(entity.name);
    const std::optional<double> result = found != options_.set.end() ? found->second : constant.number;
    if (!result && !constant.given)
        fail(Code::E0504, entity.span, fmt::format("the parameter `{}` has no value", entity.name), {}, "a value here, or --set");
    Parameter& parameter = model().parameters[entity.index];
    parameter.value = result.value_or(0);
    parameter.dimension = constant.dimension;
    if (symbol_values_.size() <= parameter.symbol.index()) symbol_values_.resize(parameter.symbol.index() + 1, 0);
    symbol_values_[parameter.symbol.index()] = result.value_or(std::nan(""));
    if (!result) without_value_.insert(parameter.symbol.value);
    // after a problem the symbol still stands for itself, without a dimension
    become_symbol(entity, parameter.symbol, constant.dimension, uses::parameter);
}

void Elaborator::elaborate_input(Entity& entity) {
    const Constant constant = constant_of(entity);
    if (!ready()) return;
    Input& input = model().inputs[entity.index];
    if (constant.given) input.value = constant.number;
    if (const auto found = options_.set.find(entity.name); found != options_.set.end()) input.value = found->second;
    input.dimension = constant.dimension;
    become_symbol(entity, input.symbol, constant.dimension, uses::input);
}

void Elaborator::elaborate_coordinate(Entity& entity) {
    const Constant constant = constant_of(entity);
    if (!ready()) return;
    Coordinate& q = model().coordinates[entity.index];
    if (constant.given) {
        q.start = constant.number.value_or(0);
        entity.started = true;
    }
    q.fixed = item_part(entity, Role::fixed) != nullptr;
    q.dimension = constant.dimension;
    become_symbol(entity, q.q, constant.dimension, uses::coordinate);
}

void Elaborator::elaborate_speed(Entity& entity) {
    const Part* part = item_part(entity, Role::value);
    const Value value = scalar(part->expr, entity.instance.environment, places::speed);
    if (!ready()) return;
    Speed& speed = model().speeds[entity.index];
    if (!value.poison()) speed.definition = value.node;
    speed.dimension = value.dimension;
    become_symbol(entity, speed.u, value.dimension, uses::speed);
}

void Elaborator::elaborate_let(Entity& entity) {
    const Part* part = item_part(entity, Role::value);
    const Value value = evaluate(part->expr, entity.instance.environment, places::anywhere);
    if (!ready() || value.poison()) return;
    if (value.type != ValueType::scalar && value.type != ValueType::vector && value.type != ValueType::point &&
        value.type != ValueType::condition) {
        fail(Code::E0401, part->span, "`let` names a scalar, a vector or a condition", std::string(describe(value.type)),
             "a scalar, a vector or a condition");
        return;
    }
    entity.value = value;
}

void Elaborator::elaborate_function(Entity& entity) {
    const Statement& statement = *entity.instance.statement;
    std::vector<std::string> arguments;
    std::set<NameId> seen;
    for (const Part& part : statement.parts) {
        if (part.role != Role::argument) continue;
        if (!seen.insert(part.name.name).second)
            fail(Code::E0201, part.span, fmt::format("the argument `{}` is given twice", syntax_.names.text(part.name.name)));
        if (part.name.primes > 0 || !part.name.indices.empty())
            fail(Code::E0401, part.span, "an argument is a plain name", written(part.span), "a name");
        arguments.push_back(syntax_.names.text(part.name.name));
    }
    if (statement.find(Role::opaque) != nullptr) {
        entity.value.first = graph().add_opaque_function(entity.name, arguments).value;
        entity.value.type = ValueType::scalar;
        entity.value.made_of = uses::opaque;
        return;
    }
    // the formal arguments are consecutive symbols, made once
    if (!entity.started) {
        entity.started = true;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const SymbolId symbol = graph().add_symbol(arguments[i], SymbolKind::argument);
            if (i == 0) entity.index = symbol.value;
        }
    }
    const Value body = scalar(statement.find(Role::value)->expr, entity.instance.environment, places::function);
    if (!ready() || body.poison()) return;
    std::vector<SymbolId> formals;
    for (std::size_t i = 0; i < arguments.size(); ++i) formals.emplace_back(entity.index + i);
    entity.value.first = graph().add_given_function(entity.name, formals, body.node).value;
    entity.value.type = ValueType::scalar;
    entity.value.made_of = body.made_of;
}

void Elaborator::note_smooth_value(SmoothValue value) {
    if (!smooth_known_.insert(value.value.value).second) return;
    if (depends_on(graph(), value.value, SymbolKind::argument))
        smooth_in_functions_.push_back(std::move(value));
    else
        add_smooth_value(graph(), value);
}

void Elaborator::note_smooth_values_of(FunctionId function, std::span<const NodeId> arguments) {
    if (smooth_in_functions_.empty() || !graph().function(function).body.valid()) return;
    const std::vector<SymbolId> formals = graph().function(function).formals;
    Substitution given;
    for (std::size_t i = 0; i < arguments.size(); ++i) given.set(formals[i], arguments[i]);
    for (std::size_t i = 0; i < smooth_in_functions_.size(); ++i) {
        const SmoothValue inside = smooth_in_functions_[i];
        NodeId value = substitute(graph(), inside.value, given);
        if (value == inside.value) continue;
        // as it will stand in the model; within functions calls wait
        if (entities_[current_].kind != EntityKind::function) value = expand_calls(graph(), value);
        note_smooth_value({inside.text, value});
    }
}

}  // namespace appell
