// What may change during a run: dry friction, which slides or sticks, and events.
#include <algorithm>

#include <fmt/format.h>

#include "expr/vector_gradient.hpp"
#include "lang/elaborator.hpp"

namespace appell {

namespace {

constexpr Dimension k_time = Dimension::of(0, 0, 1), k_force = Dimension::of(1, 1, -2);

}  // namespace

// The slip without its parts along the forces of the constraint's rows at that place: those are the constraint's own. Invalid
// where no force can be read off there.
NodeId Elaborator::tangential(NodeId slip, const Value& constraint, PointId point, FrameId body) {
    Graph& g = graph();
    std::vector<NodeId> places{builder_->position(point), builder_->velocity(point), builder_->velocity_at(body, point)};
    std::vector<NodeId> normals;  // orthogonal to each other
    for (std::uint32_t i = 0; i < constraint.second; ++i) {
        const NodeId phi = model().constraints[constraint.first + i].phi;
        if (g.is_vector(phi)) return {};
        for (const auto& [symbol, value] : vector_gradient(g, phi).vectors) {
            if (std::find(places.begin(), places.end(), g.vector_node(symbol)) == places.end()) continue;
            NodeId normal = value;
            for (const NodeId n : normals) normal = g.vadd(normal, g.vscale(g.neg(g.div(g.dot(normal, n), g.dot(n, n))), n));
            normals.push_back(normal);
        }
    }
    if (normals.empty()) return {};
    for (const NodeId n : normals) slip = g.vadd(slip, g.vscale(g.neg(g.div(g.dot(slip, n), g.dot(n, n))), n));
    return slip;
}

void Elaborator::elaborate_friction(const Instance& instance, std::size_t part, const Value& constraint) {
    const std::vector<Part>& parts = instance.statement->parts;
    const std::uint32_t environment = instance.environment;
    const Part *at = nullptr, *from = nullptr, *along = nullptr, *bound = nullptr, *static_bound = nullptr;
    for (std::size_t k = part + 1; k < parts.size() && parts[k].role != Role::target; ++k) {
        if (parts[k].role == Role::at) at = &parts[k];
        if (parts[k].role == Role::from) from = &parts[k];
        if (parts[k].role == Role::along) along = &parts[k];
        if (parts[k].role == Role::bound) bound = &parts[k];
        if (parts[k].role == Role::static_bound) static_bound = &parts[k];
    }
    Graph& g = graph();
    Friction friction;
    friction.constraint = constraint.first;
    friction.span = join(parts[part].span, (static_bound ? static_bound : bound)->span);
    friction.text = "friction on " + written(friction.span);
    Value unit;  // stands for the force until its direction is known
    unit.type = ValueType::vector;
    unit.node = g.vector_zero();
    const auto on = action("force", parts[part].name, at, nullptr, unit, environment);
    const Value size = scalar(bound->expr, environment, places::nonideal, k_force, "the size of friction");
    Value static_size;
    if (static_bound != nullptr)
        static_size = scalar(static_bound->expr, environment, places::nonideal, k_force, "the size of friction at rest");
    if (!on || size.poison() || (static_bound != nullptr && static_size.poison())) return;
    friction.on = std::get<ForceLoad>(on->front());
    friction.bound = size.node;
    friction.static_bound = static_size.node;
    const PointId point = friction.on.point;
    const FrameId body = friction.on.body;
    NodeId slip = body.valid() ? builder_->velocity_at(body, point) : builder_->velocity(point);
    if (from != nullptr) {
        const Value other = value_of(from->name, environment, places::anywhere);
        if (other.type == ValueType::point) {
            friction.from = ForceLoad{PointId(other.first), FrameId{}, {}};
            slip = g.vadd(slip, g.vneg(builder_->velocity(PointId(other.first))));
        } else if (other.type == ValueType::frame) {
            friction.from = ForceLoad{point, FrameId(other.first), {}};
            slip = g.vadd(slip, g.vneg(builder_->velocity_at(FrameId(other.first), point)));
        } else {
            if (!other.poison())
                fail(Code::E0401, from->span, "friction acts between points or bodies", std::string(describe(other.type)),
                     "a point or a body");
            return;
        }
    }
    NodeId stick;
    if (along != nullptr) {
        const Value direction = vector(along->expr, environment, places::constraint);
        if (direction.poison()) return;
        stick = g.dot(slip, direction.node);
        friction.slip = g.vscale(g.div(stick, g.dot(direction.node, direction.node)), direction.node);
    } else {
        stick = friction.slip = tangential(slip, constraint, point, body.valid() ? body : Model::newtonian());
        if (!stick.valid()) {
            fail(Code::E0727, parts[part].span,
                 fmt::format("no force of constraint {} can be read off at this place, so that its tangent is not known",
                             model().constraints[constraint.first].name),
                 friction.text, "a constraint written with the position or velocity of this point",
                 "write the constraint with pos(P) or vel(P), or give the direction of the slip by `along`");
            return;
        }
    }
    const std::size_t index = model().frictions.size();
    const std::string name = fmt::format("{} sticks", model().constraints[constraint.first].name);
    friction.stick = builder_->constraint(name, stick, fmt::format("no slip, {}", friction.text), friction.span);
    model().constraints[friction.stick].stick_of = index;
    model().constraints[friction.stick].off_at_start = true;
    model().frictions.push_back(std::move(friction));
}

void Elaborator::elaborate_event(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    Event event;
    event.name = full_name(statement.parts.front().name, environment);
    event.text = written(statement.span);
    event.span = statement.span;
    const Value value = scalar(statement.find(Role::left)->expr, environment, places::result);
    event.value = value.node;
    bool good = !value.poison() && !event.name.empty();
    if (const Part* option = statement.find(Role::option)) event.passage = option->word == "rising" ? 1 : -1;
    for (std::size_t i = 0; i < statement.parts.size(); ++i) {
        const Part& part = statement.parts[i];
        if (part.role == Role::action) event.stop = event.stop || part.word == "stop";
        if (part.role != Role::target) continue;
        if (!part.word.empty()) {
            const Value constraint = value_of(part.name, environment, places::anywhere);
            if (constraint.type != ValueType::constraint) {
                good = false;
                if (!constraint.poison())
                    fail(Code::E0401, part.span, fmt::format("an event can {} a constraint", part.word),
                         std::string(describe(constraint.type)), "a constraint");
                continue;
            }
            for (std::uint32_t k = 0; k < constraint.second; ++k) {
                const std::size_t index = constraint.first + k;
                if (model().constraints[index].unilateral) {
                    fail(Code::E0726, part.span, "a contact opens and closes by itself", written(part.span),
                         "a constraint written with `=`");
                    good = false;
                }
                (part.word == "drop" ? event.drops : event.enforces).push_back(index);
            }
            continue;
        }
        const std::string full = full_name(part.name, environment);
        const Entity* entity = full.empty() ? nullptr : lookup(full, part.name.name, part.span);
        const Part& to = statement.parts[i + 1];
        const Value set = scalar(to.expr, environment, places::result);
        good = good && entity != nullptr && !set.poison();
        if (entity == nullptr) continue;
        const bool speed = entity->kind == EntityKind::speed, coordinate = entity->kind == EntityKind::coordinate;
        if (!(speed && part.name.primes == 0) && !(coordinate && part.name.primes <= 1)) {
            fail(Code::E0401, part.span, "an event sets speeds and coordinates",
                 fmt::format("{} `{}`", describe(entity->kind), written(part.span)), "u, x, or x' where that is a speed");
            good = false;
            continue;
        }
        const bool rate = part.name.primes == 1;
        if (entity->value.dimension)
            expect_dimension(set, rate ? *entity->value.dimension / k_time : *entity->value.dimension,
                             fmt::format("the new value of `{}`", written(part.span)), to.span);
        event.sets.push_back({speed  ? model().speeds[entity->index].u
                              : rate ? model().coordinates[entity->index].rate
                                     : model().coordinates[entity->index].q,
                              set.node});
    }
    if (good) model().events.push_back(std::move(event));
}

}  // namespace appell
