// Loads: gravity, forces, torques, springs, dampers, generalized forces and potentials.
#include <fmt/format.h>

#include "lang/elaborator.hpp"

namespace appell {

namespace {

constexpr Dimension k_length = Dimension::of(1, 0, 0), k_time = Dimension::of(0, 0, 1), k_force = Dimension::of(1, 1, -2),
                    k_energy = Dimension::of(2, 1, -2), k_power = Dimension::of(2, 1, -3);

}  // namespace

void Elaborator::elaborate_gravity(const Instance& instance) {
    const Part& part = instance.statement->parts.front();
    const Value value =
        vector(part.expr, instance.environment, places::load, Dimension::of(1, 0, -2), "a gravitational acceleration");
    if (!value.poison()) builder_->load({GravityLoad{value.node}, written(instance.statement->span), instance.statement->span});
}

std::optional<std::vector<Action>> Elaborator::action(std::string_view kind, const SyntaxName& on, const Part* at,
                                                      const Part* from, const Value& value, std::uint32_t environment) {
    if (kind == "load") {
        const std::string full = full_name(on, environment);
        if (full.empty()) return {};
        const Entity* entity = lookup(full, on.name, on.span);
        if (entity == nullptr) return {};
        if (entity->kind != EntityKind::speed || on.primes > 0) {
            fail(Code::E0401, on.span, "a generalized force acts on a speed",
                 fmt::format("{} `{}`", describe(entity->kind), full), "a speed",
                 entity->kind == EntityKind::coordinate ? fmt::format("declare one: speed u = {}'", full) : "");
            return {};
        }
        if (value.poison()) return {};
        return std::vector<Action>{GeneralizedLoad{entity->index, value.node}};
    }
    if (kind == "torque") {
        const auto body = frame_of(on, environment);
        std::optional<FrameId> reaction = FrameId{};
        if (from != nullptr) reaction = frame_of(from->name, environment);
        if (value.poison() || !body || !reaction) return {};
        return std::vector<Action>{TorqueLoad{*body, *reaction, value.node}};
    }
    ForceLoad load;
    bool good = !value.poison();
    const Value target = value_of(on, environment, places::anywhere);
    if (target.type == ValueType::point) {
        load.point = PointId(target.first);
        if (at != nullptr) {
            fail(Code::E0401, at->span, "only a force on a body is given a point by `at`", "a force on a point",
                 "a force on a body");
            good = false;
        }
    } else if (target.type == ValueType::frame) {
        load.body = FrameId(target.first);
        const auto body = bodies_.find(full_name(on, environment));
        if (at != nullptr) {
            const auto point = point_of(at->name, environment);
            good = good && point;
            if (point) load.point = *point;
        } else if (body != bodies_.end()) {
            load.point = body->second.second;
        } else {
            fail(Code::E0401, on.span, "a force on a frame needs a point", "no `at`", "`at POINT`");
            good = false;
        }
    } else {
        if (!target.poison())
            fail(Code::E0401, on.span, "a force acts on a point or a body", std::string(describe(target.type)),
                 "a point or a body");
        good = false;
    }
    std::optional<PointId> opposite;
    if (from != nullptr) {
        opposite = point_of(from->name, environment);
        good = good && opposite;
    }
    if (!good) return {};
    load.force = value.node;
    std::vector<Action> out{load};
    if (opposite) out.emplace_back(ForceLoad{*opposite, FrameId{}, graph().vneg(value.node)});
    return out;
}

namespace {

// the load that an action is when it is given
auto as_load(const Action& action) {
    return std::visit([](const auto& what) { return decltype(Load::what)(what); }, action);
}

}  // namespace

void Elaborator::elaborate_force(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const Value force = vector(statement.find(Role::value)->expr, instance.environment, places::load, k_force, "a force");
    const auto actions = action("force", statement.find(Role::on)->name, statement.find(Role::at), statement.find(Role::from),
                                force, instance.environment);
    if (!actions) return;
    const std::string text = written(statement.span);
    for (std::size_t i = 0; i < actions->size(); ++i)
        builder_->load({as_load((*actions)[i]), i == 0 ? text : text + " (opposite)", statement.span});
}

void Elaborator::elaborate_torque(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const Value torque = vector(statement.find(Role::value)->expr, instance.environment, places::load, k_energy, "a torque");
    const auto actions =
        action("torque", statement.find(Role::on)->name, nullptr, statement.find(Role::from), torque, instance.environment);
    if (actions) builder_->load({as_load(actions->front()), written(statement.span), statement.span});
}

void Elaborator::elaborate_spring(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    const auto first = point_of(statement.parts[0].name, environment), second = point_of(statement.parts[1].name, environment);
    const Value stiffness =
        scalar(statement.find(Role::stiffness)->expr, environment, places::load, k_force / k_length, "a stiffness");
    const Part* part = statement.find(Role::length);
    NodeId length = graph().constant(0);
    if (part != nullptr) {
        const Value value = scalar(part->expr, environment, places::load, k_length, "a length");
        if (value.poison()) return;
        length = value.node;
    }
    if (!first || !second || stiffness.poison()) return;
    builder_->load({SpringLoad{*first, *second, stiffness.node, length}, written(statement.span), statement.span});
}

void Elaborator::elaborate_damper(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    const auto first = point_of(statement.parts[0].name, environment), second = point_of(statement.parts[1].name, environment);
    const Value coefficient = scalar(statement.find(Role::coefficient)->expr, environment, places::load,
                                     k_force * k_time / k_length, "a damping coefficient");
    if (!first || !second || coefficient.poison()) return;
    builder_->load({DamperLoad{*first, *second, coefficient.node}, written(statement.span), statement.span});
}

void Elaborator::elaborate_load(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const Value force = scalar(statement.find(Role::value)->expr, instance.environment, places::load);
    const auto actions = action("load", statement.find(Role::on)->name, nullptr, nullptr, force, instance.environment);
    if (!actions) return;
    // its power is force times speed
    const Speed& speed = model().speeds[std::get<GeneralizedLoad>(actions->front()).speed];
    if (speed.dimension)
        expect_dimension(force, k_power / *speed.dimension, "the generalized force", statement.find(Role::value)->span);
    builder_->load({as_load(actions->front()), written(statement.span), statement.span});
}

void Elaborator::elaborate_potential(const Instance& instance) {
    const Part& part = instance.statement->parts.front();
    const Value value = scalar(part.expr, instance.environment, places::potential, k_energy, "a potential energy");
    if (!value.poison()) builder_->load({PotentialLoad{value.node}, written(instance.statement->span), instance.statement->span});
}

}  // namespace appell
