// Calls: the built-in functions of the schema and the user's functions.
#include <algorithm>

#include <fmt/format.h>

#include "expr/expand_calls.hpp"
#include "lang/evaluation.hpp"

namespace appell {

namespace {

constexpr Dimension k_time = Dimension::of(0, 0, 1);
constexpr Dimension k_force = Dimension::of(1, 1, -2);
constexpr Dimension k_energy = Dimension::of(2, 1, -2);

std::optional<Dimension> per_time(std::optional<Dimension> dimension) {
    return dimension ? std::optional(*dimension / k_time) : std::nullopt;
}

}  // namespace

Value Evaluation::call(const SyntaxNode& node, std::span<const Value> arguments) {
    const std::string& text = owner_.syntax_.names.text(node.name);
    if (const FunctionSchema* function = find_function(text)) {
        const int count = static_cast<int>(arguments.size());
        if (count < function->least || count > function->most) {
            owner_.fail(Code::E0402, node.span,
                        fmt::format("`{}` does not take {} argument{}", text, count, count == 1 ? "" : "s"),
                        fmt::format("{}", count), std::string(function->syntax));
            return {};
        }
        for (const Value& argument : arguments)
            if (argument.poison()) return {};
        return builtin(node, *function, arguments);
    }
    const Entity* known = owner_.find(text);
    if (known == nullptr) {
        if (owner_.syntax_.is_poisoned(node.name)) return {};
        if (++owner_.hints_ > owner_.options_.limits.diagnostics) {
            owner_.fail(Code::E0205, node.span, fmt::format("there is no function `{}`", text));
            return {};
        }
        std::vector<std::string> candidates = function_names();
        for (const Entity& entity : owner_.entities_)
            if (entity.kind == EntityKind::function) candidates.push_back(entity.name);
        const std::string near = nearest_name(text, candidates);
        owner_.fail(Code::E0205, node.span, fmt::format("there is no function `{}`", text), {}, {},
                    near.empty() ? "" : fmt::format("did you mean `{}`?", near));
        return {};
    }
    if (known->kind != EntityKind::function) {
        owner_.fail(Code::E0401, node.span, fmt::format("`{}` is no function", text), std::string(describe(known->kind)),
                    "a function", "write `*` for a product");
        return {};
    }
    Entity* entity = owner_.lookup(text, node.name, node.span);
    if (entity == nullptr) return {};
    for (const Value& argument : arguments)
        if (argument.poison()) return {};
    return user_function(node, *entity, arguments);
}

Value Evaluation::user_function(const SyntaxNode& node, Entity& entity, std::span<const Value> arguments) {
    if (entity.value.poison()) return {};
    const FunctionId id(entity.value.first);
    const std::size_t count = graph().function(id).arguments.size();
    if (count != arguments.size()) {
        owner_.fail(Code::E0402, node.span, fmt::format("`{}` does not take {} arguments", entity.name, arguments.size()),
                    fmt::format("{}", arguments.size()), fmt::format("{}", count));
        return {};
    }
    if (!allow(entity.value.made_of, node.span, fmt::format("`{}`", entity.name))) return {};
    std::vector<NodeId> nodes;
    std::uint32_t made_of = entity.value.made_of;
    for (const Value& argument : arguments) {
        if (!need(argument, ValueType::scalar, node.span, "as a function's argument")) return {};
        nodes.push_back(argument.node);
        made_of |= argument.made_of;
    }
    owner_.note_smooth_values_of(id, nodes);
    // inside the body of another function it waits for that one to be called
    const Entity& current = owner_.entities_[owner_.current_];
    const bool in_body = current.kind == EntityKind::function && current.state == EntityState::active;
    const bool constant =
        std::all_of(nodes.begin(), nodes.end(), [&](NodeId n) { return graph().constant_value(n).has_value(); });
    return scalar_of(in_body && !constant ? call_as_written(graph(), id, nodes) : graph().call(id, nodes), {}, made_of);
}

Value Evaluation::builtin(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    switch (function.builtin) {
        case Builtin::operation: return operation(node, function, arguments);
        case Builtin::if_: return choice(node, arguments);
        case Builtin::smooth: return smooth(node, arguments.front());
        case Builtin::dot:
        case Builtin::cross:
        case Builtin::mag:
        case Builtin::unit:
        case Builtin::orthogonal:
        case Builtin::parallel: return products_of_vectors(node, function, arguments);
        case Builtin::pos: return position(node, arguments);
        case Builtin::vel: return velocity(node, arguments);
        case Builtin::omega: return angular_velocity(node, arguments);
        case Builtin::acc:
        case Builtin::alpha: return accelerations(node, function, arguments);
        case Builtin::dt: return time_derivative(node, arguments);
        case Builtin::kinetic:
        case Builtin::potential:
        case Builtin::energy: return energies(node, function);
        case Builtin::lambda: return multiplier(node, arguments);
        case Builtin::force:
        case Builtin::torque: return constraint_vector(node, function, arguments);
        case Builtin::ideal:
        case Builtin::nonideal:
        case Builtin::reaction: return ideal_or_reaction(node, function, arguments);
        case Builtin::friction: return friction(node, arguments);
        case Builtin::actuator: return actuator(node, arguments);
        case Builtin::partial:
        case Builtin::nonholonomic_partial: return partial(node, function, arguments);
        case Builtin::generalized_force: return generalized_force(node, function, arguments);
        case Builtin::matrix: return matrix(node, arguments);
        case Builtin::count: return count(node, arguments);
        case Builtin::rolling: return rolling(node, arguments);
        case Builtin::sum: break;
    }
    return {};
}

Value Evaluation::operation(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    std::uint32_t made_of = 0;
    for (const Value& argument : arguments) {
        if (argument.type != ValueType::scalar) {
            const bool vector = argument.type == ValueType::vector && function.op == Op::Abs;
            owner_.fail(Code::E0401, node.span, fmt::format("`{}` needs a scalar", function.name),
                        std::string(describe(argument.type)), "a scalar", vector ? "the magnitude of a vector is mag(v)" : "");
            return {};
        }
        made_of |= argument.made_of;
    }
    const Value& x = arguments.front();
    if (function.dimensionless) {
        if (x.dimension && !x.dimension->none() && !owner_.is_zero(x)) {
            owner_.fail(Code::E0302, node.span, fmt::format("the argument of `{}` has a dimension", function.name),
                        si_text(*x.dimension), "a pure number or an angle");
            return {};
        }
        return scalar_of(graph().make(function.op, x.node), Dimension{}, made_of);
    }
    if (arguments.size() == 2) {
        const auto dimension = common(x, arguments[1], node.span, fmt::format("`{}`", function.name));
        return scalar_of(graph().make(function.op, x.node, arguments[1].node), function.op == Op::Atan2 ? Dimension{} : dimension,
                         made_of);
    }
    std::optional<Dimension> dimension = x.dimension;
    if (function.op == Op::Sqrt && dimension) dimension = appell::power(*dimension, 1, 2);
    if (function.op == Op::Sign) dimension = Dimension{};
    return scalar_of(graph().make(function.op, x.node), dimension, made_of);
}

Value Evaluation::choice(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!need(arguments[0], ValueType::condition, node.span, "as the first argument of `if`")) return {};
    for (const Value& branch : arguments.subspan(1))
        if (!need(branch, ValueType::scalar, node.span, "as a branch of `if`")) return {};
    const auto dimension = common(arguments[1], arguments[2], node.span, "`if`");
    return scalar_of(graph().make(Op::If, arguments[0].node, arguments[1].node, arguments[2].node), dimension,
                     arguments[0].made_of | arguments[1].made_of | arguments[2].made_of);
}

Value Evaluation::smooth(const SyntaxNode& node, const Value& value) {
    if (!need(value, ValueType::scalar, node.span, "in `smooth`")) return {};
    // what no law can be made of has no part in the motion
    constexpr std::uint32_t k_results = uses::energy | uses::derived | uses::count | uses::magnitude;
    if ((value.made_of & k_results) == 0) owner_.note_smooth_value({owner_.written(node.span), value.node});
    return value;
}

Value Evaluation::products_of_vectors(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    std::vector<Value> v;
    std::uint32_t made_of = 0;
    for (const Value& argument : arguments) {
        if (argument.type != ValueType::vector && argument.type != ValueType::point && !owner_.is_zero(argument)) {
            owner_.fail(Code::E0401, node.span, fmt::format("`{}` needs vectors", function.name),
                        std::string(describe(argument.type)), "a vector");
            return {};
        }
        v.push_back(owner_.as_vector(argument, node.span));
        made_of |= v.back().made_of;
    }
    const auto squared = [&](const Value& a) { return graph().make(Op::Sqrt, graph().dot(a.node, a.node)); };
    if (function.builtin == Builtin::mag) return scalar_of(squared(v[0]), v[0].dimension, made_of);
    if (function.builtin == Builtin::unit)
        return vector_of(graph().vscale(graph().div(graph().constant(1), squared(v[0])), v[0].node), Dimension{}, made_of);
    std::optional<Dimension> dimension;
    if (v[0].dimension && v[1].dimension) dimension = *v[0].dimension * *v[1].dimension;
    const bool scalar = function.builtin == Builtin::dot || function.builtin == Builtin::orthogonal;
    Value value = scalar ? scalar_of(graph().dot(v[0].node, v[1].node), dimension, made_of)
                         : vector_of(graph().cross(v[0].node, v[1].node), dimension, made_of);
    if (function.result == "constraint") value.type = ValueType::relation;
    value.direction = v[0].direction && v[1].direction;
    return value;
}

Value Evaluation::position(const SyntaxNode& node, std::span<const Value> arguments) {
    for (const Value& argument : arguments)
        if (!need(argument, ValueType::point, node.span, "in `pos`")) return {};
    if (!allow(uses::geometry, node.span, "a position")) return {};
    Value value = owner_.as_vector(arguments[0], node.span);
    if (arguments.size() == 2) {
        const Value from = owner_.as_vector(arguments[1], node.span);
        value.node = graph().vadd(value.node, graph().vneg(from.node));
        value.points = 0;
    }
    return value;
}

NodeId Evaluation::velocity_node(FrameId body, PointId point) {
    return body == Model::newtonian() ? graph().vector_zero() : owner_.builder_->velocity_at(body, point);
}

NodeId Evaluation::omega_node(FrameId frame) {
    return frame == Model::newtonian() ? graph().vector_zero() : owner_.builder_->omega(frame);
}

Value Evaluation::velocity(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!allow(uses::velocity, node.span, "a velocity")) return {};
    const Value& first = arguments[0];
    const std::uint32_t made_of = uses::velocity;
    if (arguments.size() == 1 && first.type == ValueType::body_at)
        return vector_of(velocity_node(FrameId(first.first), PointId(first.second)), per_time(first.dimension), made_of);
    if (first.type == ValueType::frame) {
        owner_.fail(Code::E0401, node.span, "`vel` of a body needs one of its points", "a frame or body",
                    "vel(P) or vel(B at P)");
        return {};
    }
    if (!need(first, ValueType::point, node.span, "in `vel`")) return {};
    const PointId point(first.first);
    NodeId v = point == Model::origin() ? graph().vector_zero() : owner_.builder_->velocity(point);
    if (arguments.size() == 2) {
        if (!need(arguments[1], ValueType::frame, node.span, "as the second argument of `vel`")) return {};
        v = graph().vadd(v, graph().vneg(velocity_node(FrameId(arguments[1].first), point)));
    }
    return vector_of(v, per_time(first.dimension), made_of);
}

Value Evaluation::angular_velocity(const SyntaxNode& node, std::span<const Value> arguments) {
    for (const Value& argument : arguments)
        if (!need(argument, ValueType::frame, node.span, "in `omega`")) return {};
    if (!allow(uses::velocity, node.span, "an angular velocity")) return {};
    NodeId w = omega_node(FrameId(arguments[0].first));
    if (arguments.size() == 2) w = graph().vadd(w, graph().vneg(omega_node(FrameId(arguments[1].first))));
    return vector_of(w, per_time(Dimension{}), uses::velocity);
}

Value Evaluation::accelerations(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments) {
    const bool linear = function.builtin == Builtin::acc;
    if (!need(arguments[0], linear ? ValueType::point : ValueType::frame, node.span, linear ? "in `acc`" : "in `alpha`"))
        return {};
    if (!allow(uses::acceleration, node.span, fmt::format("`{}`", function.name))) return {};
    if (!linear) {
        const FrameId frame(arguments[0].first);
        return vector_of(frame == Model::newtonian() ? graph().vector_zero() : owner_.builder_->alpha(frame),
                         per_time(per_time(Dimension{})), uses::acceleration);
    }
    const PointId point(arguments[0].first);
    return vector_of(point == Model::origin() ? graph().vector_zero() : owner_.builder_->acceleration(point),
                     per_time(per_time(arguments[0].dimension)), uses::acceleration);
}

Value Evaluation::time_derivative(const SyntaxNode& node, std::span<const Value> arguments) {
    if (arguments.size() == 1) return rate_of_scalar(node, arguments[0]);
    if (!need(arguments[1], ValueType::frame, node.span, "as the second argument of `dt`")) return {};
    if (arguments[0].type != ValueType::vector && arguments[0].type != ValueType::point) {
        owner_.fail(Code::E0401, node.span, "`dt` needs a vector", std::string(describe(arguments[0].type)), "a vector");
        return {};
    }
    const Value v = owner_.as_vector(arguments[0], node.span);
    std::uint32_t made_of = v.made_of | uses::velocity;
    if ((v.made_of & (uses::rate | uses::speed | uses::velocity)) != 0) made_of |= uses::acceleration;
    if ((v.made_of & (uses::acceleration | uses::multiplier | uses::input | uses::energy)) != 0) {
        owner_.fail(Code::E0405, node.span, "this can not be differentiated",
                    "an acceleration, a constraint force, an input or an energy", "positions and velocities");
        return {};
    }
    if (!allow(made_of, node.span, "a time derivative")) return {};
    return vector_of(graph().vdt(v.node, arguments[1].first), per_time(v.dimension), made_of);
}

Value Evaluation::energies(const SyntaxNode& node, const FunctionSchema& function) {
    if (!allow(uses::energy, node.span, fmt::format("`{}`", function.name))) return {};
    const Model& model = owner_.model();
    const SymbolId symbol = function.builtin == Builtin::kinetic     ? model.kinetic_energy
                            : function.builtin == Builtin::potential ? model.potential_energy
                                                                     : model.total_energy;
    return scalar_of(graph().symbol_node(symbol), k_energy, uses::energy);
}

Value Evaluation::multiplier(const SyntaxNode& node, std::span<const Value> arguments, bool ideal) {
    const std::string& text = owner_.syntax_.names.text(node.name);
    if (!need(arguments[0], ValueType::constraint, node.span, fmt::format("in `{}`", text))) return {};
    if (!allow(uses::multiplier, node.span, "a multiplier")) return {};
    if (arguments[0].second != 1) {
        owner_.fail(Code::E0401, node.span, "the constraint has several equations",
                    fmt::format("{} equations", arguments[0].second), "one of them", fmt::format("write {}(NAME.1)", text));
        return {};
    }
    const Constraint& constraint = owner_.model().constraints[arguments[0].first];
    if (!constraint.actuators.empty()) {
        owner_.fail(Code::E0725, node.span, "actuators keep this constraint; it has no force of its own",
                    fmt::format("{}({})", text, constraint.name), "a constraint that is kept by ideal forces",
                    "actuator(F) is the magnitude of one");
        return {};
    }
    const std::optional<Dimension>& dimension = owner_.multiplier_dimensions_[arguments[0].first];
    const std::vector<SymbolId>& multipliers = ideal ? constraint.ideal_multipliers : constraint.multipliers;
    if (arguments.size() == 2) {
        if (!need(arguments[1], ValueType::axis, node.span, "as the second argument of `lambda`")) return {};
        if (multipliers.size() != 3) {
            owner_.fail(Code::E0401, node.span, "the constraint is a scalar equation", "a component of its multiplier",
                        "lambda(c) without a component");
            return {};
        }
        return scalar_of(graph().symbol_node(multipliers[arguments[1].first]), dimension, uses::multiplier);
    }
    if (multipliers.size() == 1) return scalar_of(graph().symbol_node(multipliers[0]), dimension, uses::multiplier);
    return vector_of(owner_.builder_->vector(Model::newtonian(), graph().symbol_node(multipliers[0]),
                                             graph().symbol_node(multipliers[1]), graph().symbol_node(multipliers[2])),
                     dimension, uses::multiplier);
}

// force(c, P) and torque(c, B): the sum over the equations of the constraint, or over one component
Value Evaluation::constraint_vector(const SyntaxNode& node, const FunctionSchema& function, std::span<const Value> arguments,
                                    bool ideal) {
    // ideal, reaction and nonideal take a point or a body
    const bool force =
        function.builtin == Builtin::force || (function.builtin != Builtin::torque && arguments[1].type != ValueType::frame);
    if (!need(arguments[0], ValueType::constraint, node.span, fmt::format("as the first argument of `{}`", function.name)))
        return {};
    const Value& place = arguments[1];
    const bool at = force && place.type == ValueType::body_at;
    if (!at && !need(place, force ? ValueType::point : ValueType::frame, node.span,
                     fmt::format("as the second argument of `{}`", function.name)))
        return {};
    if (!allow(uses::multiplier, node.span, fmt::format("a constraint {}", function.name))) return {};
    if (arguments.size() == 3 &&
        !need(arguments[2], ValueType::axis, node.span, fmt::format("as the third argument of `{}`", function.name)))
        return {};
    NodeId total = graph().vector_zero();
    const std::size_t first = arguments[0].first;
    for (std::size_t c = first; c < first + arguments[0].second; ++c) {
        if (function.builtin == Builtin::nonideal) {
            total = graph().vadd(total, force ? owner_.builder_->nonideal_force(c, PointId(at ? place.second : place.first),
                                                                                at ? FrameId(place.first) : FrameId{})
                                              : owner_.builder_->nonideal_torque(c, FrameId(place.first)));
            continue;
        }
        const std::size_t components = owner_.model().constraints[c].multipliers.size();
        if (arguments.size() == 3 && components != 3) {
            owner_.fail(Code::E0401, node.span, "the constraint is a scalar equation",
                        fmt::format("a component of its {}", function.name),
                        fmt::format("{} without a component", force ? "force(c, P)" : "torque(c, B)"));
            return {};
        }
        for (std::size_t i = 0; i < components; ++i) {
            if (arguments.size() == 3 && i != arguments[2].first) continue;
            const NodeId part = force ? owner_.builder_->constraint_force(c, i, PointId(at ? place.second : place.first),
                                                                          at ? FrameId(place.first) : FrameId{}, ideal)
                                      : owner_.builder_->constraint_torque(c, i, FrameId(place.first), ideal);
            total = graph().vadd(total, part);
        }
    }
    return vector_of(total, force ? k_force : k_energy, uses::multiplier);
}

Value Evaluation::rolling(const SyntaxNode& node, std::span<const Value> arguments) {
    if (!need(arguments[0], ValueType::frame, node.span, "as the first argument of `rolling`") ||
        !need(arguments[1], ValueType::frame, node.span, "as the second argument of `rolling`") ||
        !need(arguments[2], ValueType::point, node.span, "as the third argument of `rolling`"))
        return {};
    if (!allow(uses::velocity, node.span, "a velocity")) return {};
    const PointId point(arguments[2].first);
    const NodeId phi = graph().vadd(velocity_node(FrameId(arguments[0].first), point),
                                    graph().vneg(velocity_node(FrameId(arguments[1].first), point)));
    Value value = vector_of(phi, per_time(arguments[2].dimension), uses::velocity);
    value.type = ValueType::relation;
    return value;
}

}  // namespace appell
