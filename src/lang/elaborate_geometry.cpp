// Frames, points, particles and bodies.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/elaborator.hpp"

namespace appell {

namespace {

constexpr Dimension k_length = Dimension::of(1, 0, 0);
constexpr Dimension k_mass = Dimension::of(0, 1, 0);
constexpr Dimension k_inertia = Dimension::of(2, 1, 0);

}  // namespace

void Elaborator::elaborate_frame(Entity& entity) {
    const Statement& statement = *entity.instance.statement;
    const std::uint32_t environment = entity.instance.environment;
    const auto parent = frame_of(statement.find(Role::parent)->name, environment);
    if (statement.find(Role::quaternion) != nullptr) {
        if (parent || !ready()) elaborate_quaternion(entity, parent.value_or(FrameId{}));
        return;
    }
    if (const Part* cosines = statement.find(Role::cosines)) {
        DirectionCosines rotation;
        std::size_t filled = 0;
        for (const SyntaxExpr& row : cosines->list)
            for (const Value& value : evaluate_tuple(row, 3, environment, places::configuration))
                rotation.rows[filled++] = value.node;
        if (!ready() || !parent || filled != 9) return;
        entity.value.first = builder_->frame(entity.name, *parent, rotation, entity.span).value;
        entity.value.type = ValueType::frame;
        return;
    }
    if (const Part* sequence = statement.find(Role::sequence)) {
        RotationSequence rotation;
        rotation.body_fixed = sequence->word[0] == 'b';
        bool good = parent.has_value();
        const std::vector<SyntaxExpr>& angles = statement.find(Role::angle)->list;
        for (std::size_t i = 0; i < 3; ++i) {
            rotation.axes[i] = sequence->word[i + 1] - 'x';
            const Value angle = scalar(angles[i], environment, places::configuration, Dimension{}, "the angle");
            rotation.angles[i] = angle.node;
            good = good && !angle.poison();
        }
        if (!ready() || !good) return;
        entity.value.first = builder_->frame(entity.name, *parent, rotation, entity.span).value;
        entity.value.type = ValueType::frame;
        return;
    }
    elaborate_turns(entity, parent.value_or(FrameId{}));
}

void Elaborator::elaborate_turns(Entity& entity, FrameId parent) {
    const Statement& statement = *entity.instance.statement;
    const std::uint32_t environment = entity.instance.environment;
    std::vector<SimpleRotation> turns;
    bool good = parent.valid();
    for (std::size_t i = 0; i + 1 < statement.parts.size(); ++i) {
        if (statement.parts[i].role != Role::angle) continue;
        SimpleRotation turn;
        const Value angle = scalar(statement.parts[i].expr, environment, places::configuration, Dimension{}, "the angle");
        good = good && !angle.poison();
        turn.angle = angle.node;
        const Part& axis = statement.parts[i + 1];
        bool zero = true;
        for (std::size_t k = 0; k < 3; ++k) {
            if (!axis.word.empty()) {
                turn.axis[k] = graph().constant(axis.word[0] - 'x' == static_cast<int>(k) ? 1 : 0);
                zero = false;
                continue;
            }
            // an axis that moves in its frames is no simple rotation
            const Value component = scalar(axis.list[k], environment, places::constant);
            good = good && !component.poison();
            turn.axis[k] = component.node;
            zero = zero && (component.poison() ? false : is_zero(component));
        }
        if (zero) {
            fail(Code::E0511, axis.span, "the axis has length zero", "(0, 0, 0)", "a direction");
            good = false;
        }
        turns.push_back(turn);
    }
    if (!ready() || !good) return;
    FrameId frame = parent;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        const bool last = i + 1 == turns.size();
        frame = builder_->frame(last ? entity.name : fmt::format("{}.{}", entity.name, i + 1), frame, turns[i], entity.span);
    }
    entity.value.type = ValueType::frame;
    entity.value.first = frame.value;
}

void Elaborator::elaborate_quaternion(Entity& entity, FrameId parent) {
    const Part& part = *entity.instance.statement->find(Role::quaternion);
    std::array<std::size_t, 4> coordinates{};
    std::set<std::size_t> distinct;
    bool good = parent.valid();
    for (std::size_t i = 0; i < 4; ++i) {
        const Value value =
            scalar(part.list[i], entity.instance.environment, places::configuration, Dimension{}, "a quaternion's parameter");
        if (value.poison()) {
            good = false;
            continue;
        }
        const bool symbol =
            graph().op(value.node) == Op::Symbol && graph().symbol(graph().symbol_of(value.node)).kind == SymbolKind::coordinate;
        const auto& all = model().coordinates;
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const Coordinate& q) { return symbol && q.q == graph().symbol_of(value.node); });
        if (found == all.end() || !distinct.insert(static_cast<std::size_t>(found - all.begin())).second) {
            fail(Code::E0509, part.list[i].span, "a quaternion needs four different coordinates", written(part.list[i].span),
                 "a coordinate");
            good = false;
            continue;
        }
        coordinates[i] = static_cast<std::size_t>(found - all.begin());
    }
    if (!ready() || !good) return;
    // without start values the frame starts unturned
    bool started = false;
    for (const Entity& other : entities_)
        if (other.kind == EntityKind::coordinate && distinct.contains(other.index)) started = started || other.started;
    if (!started) model().coordinates[coordinates[0]].start = 1;
    entity.value.first = builder_->quaternion_frame(entity.name, parent, coordinates, entity.span).value;
    entity.value.type = ValueType::frame;
}

void Elaborator::elaborate_point(Entity& entity) {
    const Statement& statement = *entity.instance.statement;
    const std::uint32_t environment = entity.instance.environment;
    Value position;
    if (const Part* fixed = statement.find(Role::fixed_in)) {
        const auto frame = frame_of(fixed->name, environment);
        if (!ready() || !frame) return;
        if (*frame != Model::newtonian()) {
            fail(Code::E0401, fixed->span, "`fixed in` places a point at the origin of the Newtonian frame", written(fixed->span),
                 model().frames.front().name,
                 fmt::format("a point fixed in a body is written `point {} at C + a*B.x`", entity.name));
            return;
        }
        position.type = ValueType::vector;
        position.node = graph().vector_zero();
        position.made_of = uses::geometry;
    } else {
        const Part* at = part_of(entity).role == Role::center_at ? &part_of(entity) : statement.find(Role::at);
        position = vector(at->expr, environment, places::configuration, k_length, "a position");
        if (!ready() || position.poison()) return;
        if (std::isfinite(position.points) && std::abs(position.points - 1) > 1e-9) {
            fail(Code::E0408, at->expr.span, "a position is one point plus or minus vectors",
                 position.points == 0 ? "vectors only" : fmt::format("points that count {}", position.points), "P + vector",
                 position.points == 0 ? fmt::format("write {} + ...", model().points.front().name)
                                      : "P - Q is the vector from Q to P");
            return;
        }
    }
    entity.value = position;
    entity.value.type = ValueType::point;
    entity.value.first = builder_->point(entity.name, position.node, entity.span).value;
}

void Elaborator::elaborate_body_name(Entity& entity) {
    const auto frame = frame_of(entity.instance.statement->find(Role::frame)->name, entity.instance.environment);
    if (!ready() || !frame) return;
    entity.value.type = ValueType::frame;
    // A body is known by its frame: one that shares a frame, or does not turn at all, gets an aligned frame of its own, so that
    // its material points are not taken for those of another body or of the ground.
    const bool own = *frame != Model::newtonian() &&
                     body_of_frame_.emplace(model().frame(*frame).name, entity.name).first->second == entity.name;
    entity.value.first =
        own ? frame->value : builder_->simple_frame(entity.name, *frame, 2, graph().constant(0), entity.span).value;
}

void Elaborator::elaborate_particle(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const Part& name = statement.parts.front();
    const Part& part = *statement.find(Role::mass);
    const Value mass = scalar(part.expr, instance.environment, places::constant, k_mass, "a mass");
    const auto point = point_of(name.name, instance.environment);
    if (!mass.poison())
        if (const auto value = number(mass, part.span, &uses_.positive); value && *value <= 0)
            fail(Code::E0505, part.span, "a mass must be positive", fmt::format("{}", *value), "a positive mass");
    if (!point || mass.poison()) return;
    const std::string full = full_name(name.name, instance.environment);
    if (!particles_.insert(full).second) {
        fail(Code::E0201, name.span, fmt::format("the particle `{}` is declared twice", full), {}, "another name");
        return;
    }
    builder_->particle(full, *point, mass.node, statement.span);
}

void Elaborator::elaborate_body(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    Body body;
    body.name = full_name(statement.parts.front().name, environment);
    body.span = statement.span;
    // the body's own name leads to its own frame (elaborate_body_name); where it is named like its frame, that is the frame
    const auto frame = frame_of(statement.parts.front().name, environment);
    const Part& mass_part = *statement.find(Role::mass);
    const Value mass = scalar(mass_part.expr, environment, places::constant, k_mass, "a mass");
    if (!mass.poison())
        if (const auto value = number(mass, mass_part.span, &uses_.positive); value && *value <= 0)
            fail(Code::E0505, mass_part.span, "a mass must be positive", fmt::format("{}", *value), "a positive mass");
    std::optional<PointId> center;
    if (const Part* part = statement.find(Role::center)) {
        center = point_of(part->name, environment);
    } else if (const Entity* made = find(center_name(body.name)); made != nullptr && made->value.type == ValueType::point) {
        center = PointId(made->value.first);
    }
    const Part& inertia = *statement.find(Role::inertia);
    std::vector<Value> entries;
    bool good = frame && center && !mass.poison();
    for (const SyntaxExpr& entry : inertia.list) {
        entries.push_back(scalar(entry, environment, places::constant, k_inertia, "an entry of the inertia"));
        good = good && !entries.back().poison();
    }
    if (const Part* part = statement.find(Role::in)) {
        const auto in = frame_of(part->name, environment);
        good = good && in;
        if (in) body.inertia_frame = *in;
    }
    if (const Part* part = statement.find(Role::about)) {
        const auto about = point_of(part->name, environment);
        good = good && about;
        if (about) body.inertia_point = *about;
    }
    if (frame && *frame == Model::newtonian()) {
        fail(Code::E0201, statement.parts.front().span, "a body can not be named like the Newtonian frame", body.name,
             "a name of its own", "write `body B frame N ...` for a body that does not turn");
        return;
    }
    const bool declared_before = bodies_.contains(body.name);  // and told so
    if (frame && center) bodies_[body.name] = {*frame, *center};
    if (!good || declared_before) return;
    check_inertia(inertia, entries);
    body.frame = *frame;
    body.center = *center;
    body.mass = mass.node;
    for (std::size_t i = 0; i < 6; ++i) body.inertia[i] = i < entries.size() ? entries[i].node : graph().constant(0);
    if (const Part* part = statement.find(Role::option))
        body.shape = elaborate_shape(*part, statement.find(Role::axis), environment);
    builder_->body(std::move(body));
}

std::optional<BodyShape> Elaborator::elaborate_shape(const Part& part, const Part* axis, std::uint32_t environment) {
    std::vector<NodeId> sizes;
    for (const SyntaxExpr& size : part.list.empty() ? std::vector<SyntaxExpr>{part.expr} : part.list) {
        const Value value = scalar(size, environment, places::constant, k_length, "a size of a shape");
        if (value.poison()) return std::nullopt;
        if (const auto result = number(value, size.span, &uses_.positive); result && *result <= 0) {
            fail(Code::E0406, size.span, "a size of a shape must be positive", fmt::format("{}", *result), "a positive length");
            return std::nullopt;
        }
        sizes.push_back(value.node);
    }
    const NodeId none = graph().constant(0);
    BodyShape out;
    if (part.word == "sphere") out = {BodyShape::Kind::ball, {sizes[0], none, none}, 2};
    if (part.word == "disk") out = {BodyShape::Kind::cylinder, {sizes[0], none, none}, 2};
    if (part.word == "rod") out = {BodyShape::Kind::cylinder, {none, sizes[0], none}, 2};
    if (part.word == "cylinder") out = {BodyShape::Kind::cylinder, {sizes[0], sizes[1], none}, 2};
    if (part.word == "box") out = {BodyShape::Kind::box, {sizes[0], sizes[1], sizes[2]}, 2};
    if (axis != nullptr) out.axis = axis->word[0] - 'x';
    return out;
}

void Elaborator::check_inertia(const Part& part, const std::vector<Value>& entries) {
    std::array<double, 3> moment{};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto value = number(entries[i], part.list[i].span, &uses_.not_negative);
        if (!value) return;
        moment[i] = *value;
        if (*value < 0) {
            fail(Code::E0506, part.list[i].span, "a moment of inertia is negative", fmt::format("{}", *value), "zero or more");
            return;
        }
    }
    std::sort(moment.begin(), moment.end());
    // round-off of a thin plate's 2*A must not warn
    if (moment[2] > (moment[0] + moment[1]) * (1 + 1e-9))
        fail(Code::W0501, part.span, "no distribution of mass has these moments of inertia",
             fmt::format("{} > {} + {}", moment[2], moment[0], moment[1]), "each at most the sum of the other two");
}

}  // namespace appell
