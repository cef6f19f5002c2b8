// Names: declaration, members of families, lookup with hints, and what a name is worth in an expression.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/elaborator.hpp"

namespace appell {

std::string_view describe(EntityKind kind) {
    switch (kind) {
        case EntityKind::size: return "the size";
        case EntityKind::parameter: return "the parameter";
        case EntityKind::input: return "the input";
        case EntityKind::coordinate: return "the coordinate";
        case EntityKind::speed: return "the speed";
        case EntityKind::let: return "the name";
        case EntityKind::function: return "the function";
        case EntityKind::newtonian: return "the Newtonian frame";
        case EntityKind::frame: return "the frame";
        case EntityKind::origin: return "the origin";
        case EntityKind::point: return "the point";
        case EntityKind::body: return "the body";
        case EntityKind::constraint: return "the constraint";
        case EntityKind::condition: return "the condition";
        case EntityKind::actuator: return "the actuator";
        case EntityKind::output: return "the output";
        case EntityKind::event: return "event";
    }
    return "";
}

std::string Elaborator::center_name(std::string body) { return body.insert(std::min(body.find('['), body.size()), "_o"); }

std::uint32_t Elaborator::declare(EntityKind kind, std::string name, Span span, const Instance& instance, std::uint32_t part) {
    const auto index = static_cast<std::uint32_t>(entities_.size());
    Entity entity{};
    entity.kind = kind;
    entity.name = name;
    entity.span = span;
    entity.instance = instance;
    entity.part = part;
    const std::string_view base = std::string_view(name).substr(0, name.find('['));
    if (is_reserved(base) || (kind == EntityKind::function && find_function(base) != nullptr))
        fail(Code::E0203, span, fmt::format("`{}` is a reserved word", base), {}, "another name");
    if (const auto [found, fresh] = by_name_.emplace(std::move(name), index); !fresh) {
        const Entity& other = entities_[found->second];
        std::string hint;
        if (other.kind == EntityKind::newtonian && !other.span.known())
            hint = "N is the Newtonian frame; give it another name with `newtonian NAME`";
        if (other.kind == EntityKind::frame && kind == EntityKind::frame)
            hint =
                "to turn it further give the next frame a name of its own, `frame C from B rotate ...`, or list the turns behind "
                "commas, `rotate a about z, b about x`";
        std::string where;
        if (other.span.known()) {
            const LineColumn at = sources_.locate(other.span.file, other.span.begin);
            where = fmt::format(", declared at {}:{}:{}", sources_.file(other.span.file).name, at.line, at.column);
        }
        fail(Code::E0201, span, fmt::format("`{}` is declared already", entity.name),
             fmt::format("{} `{}`{}", describe(other.kind), entity.name, where), "a new name", hint);
        // it is kept, nameless, so that its own expressions are still checked
        entity.name += " (again)";
    }
    entities_.push_back(std::move(entity));
    return index;
}

std::string Elaborator::full_name(const SyntaxName& name, std::uint32_t environment) {
    if (name.indices.empty()) return syntax_.names.text(name.name);
    std::vector<Value> indices;
    for (const SyntaxExpr& index : name.indices) indices.push_back(evaluate(index, environment, places::whole));
    return member_name(name.name, indices, name.span);
}

std::string Elaborator::member_name(NameId base, const std::vector<Value>& indices, Span span) {
    std::string out = syntax_.names.text(base) + "[";
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (indices[i].poison()) return {};
        const auto constant = indices[i].type == ValueType::scalar ? graph().constant_value(indices[i].node) : std::nullopt;
        if (!constant || *constant != std::floor(*constant) || std::abs(*constant) > 1e15) {
            fail(Code::E0404, span, "an index is a whole number",
                 constant ? fmt::format("{}", *constant) : std::string(describe(indices[i].type)),
                 "numbers, sizes and loop names");
            return {};
        }
        out += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<long long>(*constant));
    }
    return out + "]";
}

const Entity* Elaborator::find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &entities_[found->second];
}

std::string Elaborator::hint_for(const std::string& name) {
    // a search costs all names; hints beyond the ones shown are not looked for
    if (++hints_ > options_.limits.diagnostics) return {};
    if (candidates_.empty() || !declared_) {
        // without indices, each once, in an order of their own
        std::set<std::string> names{"pi", "t"};
        for (const Entity& entity : entities_)
            if (!entity.name.ends_with(')')) names.insert(entity.name.substr(0, entity.name.find('[')));
        candidates_.assign(names.begin(), names.end());
    }
    const std::string near = nearest_name(name, candidates_);
    if (!near.empty()) return fmt::format("did you mean `{}`?", near);
    if (find_unit(name) != nullptr) return "a unit stands behind a number, without spaces around * and /: 2 m/s";
    if (const FunctionSchema* function = find_function(name))
        return fmt::format("as a function it is written {}", function->syntax);
    return {};
}

bool Elaborator::is_declared_later(NameId name) const {
    for (const Statement& statement : syntax_.statements)
        for (const Part& part : statement.parts)
            if (part.role == Role::name && part.name.name == name) return true;
    return false;
}

Entity* Elaborator::lookup(const std::string& name, NameId base, Span span) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) {
        Entity& entity = entities_[found->second];
        if (entity.state != EntityState::done) {
            pending_.push_back(found->second);
            return nullptr;
        }
        return &entity;
    }
    if (syntax_.is_poisoned(base) || lost_.contains(base)) return nullptr;
    const std::string& text = syntax_.names.text(base);
    if (!declared_ && is_declared_later(base)) {
        fail(Code::E0404, span, fmt::format("`{}` is no size", text), {}, "numbers, sizes and loop names",
             "declare it with `size`");
        return nullptr;
    }
    const auto family = families_.find(base);
    const bool indexed = name.find('[') != std::string::npos;
    if (family != families_.end()) {
        // a family without its `end` is read for its first value, and has the other members when it is closed
        const auto is_unclosed = [](const Statement& statement) { return statement.unclosed; };
        if (indexed && std::ranges::any_of(syntax_.statements, is_unclosed)) return nullptr;
        const auto& [first, last, one_index] = family->second;
        const std::string members = !one_index      ? fmt::format("members of {}", text)
                                    : first == last ? fmt::format("{}[{}]", text, first)
                                                    : fmt::format("{}[{}] to {}[{}]", text, first, text, last);
        if (indexed)
            fail(Code::E0207, span, fmt::format("there is no `{}`", name), {}, members);
        else
            fail(Code::E0208, span, fmt::format("`{}` is a family and needs an index", text), {}, members);
    } else if (indexed && by_name_.contains(text)) {
        fail(Code::E0208, span, fmt::format("`{}` is no family and takes no index", text), name, text);
    } else {
        fail(Code::E0202, span, fmt::format("there is no `{}` in this model", name), name, "a name that the model declares",
             hint_for(text));
    }
    return nullptr;
}

Value Elaborator::value_of(const SyntaxName& name, std::uint32_t environment, const Place& place) {
    const std::string full = full_name(name, environment);
    if (full.empty()) return {};
    Entity* entity = lookup(full, name.name, name.span);
    return entity == nullptr ? Value{} : entity_value(*entity, name.primes, name.span, place);
}

std::optional<long long> Elaborator::loop_value(NameId name, std::uint32_t environment) const {
    for (std::uint32_t at = environment; at != 0; at = environments_[at].parent)
        if (environments_[at].name == name) return environments_[at].value;
    return {};
}

std::optional<FrameId> Elaborator::frame_of(const SyntaxName& name, std::uint32_t environment) {
    const Value value = value_of(name, environment, places::anywhere);
    if (value.poison()) return {};
    if (value.type == ValueType::frame) return FrameId(value.first);
    fail(Code::E0401, name.span, "a frame or body is needed here", std::string(describe(value.type)), "a frame or body");
    return {};
}

std::optional<PointId> Elaborator::point_of(const SyntaxName& name, std::uint32_t environment) {
    const Value value = value_of(name, environment, places::anywhere);
    if (value.poison()) return {};
    if (value.type == ValueType::point) return PointId(value.first);
    fail(Code::E0401, name.span, "a point is needed here", std::string(describe(value.type)), "a point");
    return {};
}

void Elaborator::declare_items(const Instance& instance, EntityKind kind) {
    const std::vector<Part>& parts = instance.statement->parts;
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
        if (parts[i].role != Role::name) continue;
        if (parts[i].name.primes > 0) {
            fail(Code::E0407, parts[i].span, "a name is declared without primes", written(parts[i].span), "a name");
            continue;
        }
        const std::string name = full_name(parts[i].name, instance.environment);
        if (name.empty()) {
            lost_.insert(parts[i].name.name);
            continue;
        }
        const std::uint32_t entity = declare(kind, name, parts[i].span, instance, i);
        // symbols are made at once, in the order of the file
        switch (kind) {
            case EntityKind::parameter:
                entities_[entity].index = static_cast<std::uint32_t>(model().parameters.size());
                builder_->parameter(name, 0, parts[i].span);
                break;
            case EntityKind::input:
                entities_[entity].index = static_cast<std::uint32_t>(model().inputs.size());
                builder_->input(name, {}, parts[i].span);
                break;
            case EntityKind::coordinate:
                entities_[entity].index = static_cast<std::uint32_t>(model().coordinates.size());
                builder_->coordinate(name, 0, parts[i].span);
                break;
            case EntityKind::speed:
                entities_[entity].index = static_cast<std::uint32_t>(model().speeds.size());
                builder_->speed(name, graph().constant(0), 0, parts[i].span);
                break;
            default: break;
        }
        if (kind != EntityKind::constraint && kind != EntityKind::condition && kind != EntityKind::actuator &&
            kind != EntityKind::event)
            continue;
        break;  // one name each; the others are references
    }
}

void Elaborator::declare_names() {
    declared_ = true;
    for (const Instance& instance : instances_) {
        const Statement& statement = *instance.statement;
        switch (statement.kind) {
            case StatementKind::param: declare_items(instance, EntityKind::parameter); break;
            case StatementKind::input: declare_items(instance, EntityKind::input); break;
            case StatementKind::coord: declare_items(instance, EntityKind::coordinate); break;
            case StatementKind::speed: declare_items(instance, EntityKind::speed); break;
            case StatementKind::let: declare_items(instance, EntityKind::let); break;
            case StatementKind::function: declare_items(instance, EntityKind::function); break;
            case StatementKind::frame: declare_items(instance, EntityKind::frame); break;
            case StatementKind::constraint:
            case StatementKind::servo: declare_items(instance, EntityKind::constraint); break;
            case StatementKind::condition: declare_items(instance, EntityKind::condition); break;
            case StatementKind::actuator: declare_items(instance, EntityKind::actuator); break;
            case StatementKind::output: declare_items(instance, EntityKind::output); break;
            case StatementKind::event: declare_items(instance, EntityKind::event); break;
            case StatementKind::point:
                if (entities_.size() > 1 && entities_[1].kind == EntityKind::origin &&
                    entities_[1].instance.statement == &statement)
                    break;
                declare_items(instance, EntityKind::point);
                break;
            case StatementKind::particle:
                if (statement.find(Role::at) != nullptr) declare_items(instance, EntityKind::point);
                break;
            case StatementKind::body: {
                const std::string name = full_name(statement.parts.front().name, instance.environment);
                const std::string frame = full_name(statement.find(Role::frame)->name, instance.environment);
                if (name.empty() || frame.empty()) break;
                if (name != frame)
                    declare(EntityKind::body, name, statement.parts.front().span, instance, 0);
                else if (!body_of_frame_.emplace(frame, name).second)
                    fail(Code::E0201, statement.parts.front().span, fmt::format("the body `{}` is declared twice", name), {},
                         "another name");
                if (const Part* center = statement.find(Role::center_at))
                    declare(EntityKind::point, center_name(name), statement.parts.front().span, instance,
                            static_cast<std::uint32_t>(center - statement.parts.data()));
                break;
            }
            default: break;
        }
    }
    // the bounds of families, for messages
    for (const Entity& entity : entities_) {
        const std::size_t bracket = entity.name.find('[');
        if (bracket == std::string::npos || entity.instance.statement == nullptr || entity.name.ends_with(')')) continue;
        if (part_of(entity).role != Role::name) continue;
        const NameId base = part_of(entity).name.name;
        const std::string inside = entity.name.substr(bracket + 1, entity.name.size() - bracket - 2);
        const bool one = !inside.empty() && inside.find(',') == std::string::npos && inside.find(']') == std::string::npos;
        const long long index = one ? std::stoll(inside) : 0;
        const auto [found, fresh] = families_.emplace(base, FamilyInfo{index, index, one});
        if (!fresh) {
            found->second.first = std::min(found->second.first, index);
            found->second.last = std::max(found->second.last, index);
        }
    }
    flush_attempt();
}

const Part* Elaborator::item_part(const Entity& entity, Role role) const {
    const std::vector<Part>& parts = entity.instance.statement->parts;
    for (std::size_t i = entity.part + 1; i < parts.size() && parts[i].role != Role::name; ++i)
        if (parts[i].role == role) return &parts[i];
    return nullptr;
}

void Elaborator::check_overrides() {
    std::vector<std::string> settable;
    for (const Entity& entity : entities_) {
        const bool plain = entity.kind == EntityKind::parameter || entity.kind == EntityKind::size ||
                           entity.kind == EntityKind::input || entity.kind == EntityKind::coordinate ||
                           entity.kind == EntityKind::speed;
        if (plain) settable.push_back(entity.name);
        if (entity.kind == EntityKind::coordinate) settable.push_back(entity.name + "'");
    }
    std::sort(settable.begin(), settable.end());
    for (const auto& [name, value] : options_.set) {
        if (!std::isfinite(value)) fail(Code::E0406, {}, fmt::format("--set {}: the value is not finite", name));
        if (std::binary_search(settable.begin(), settable.end(), name)) continue;
        const std::string near = nearest_name(name, settable);
        fail(Code::E0204, {},
             fmt::format("--set {}: the model has no such parameter, size, input, coordinate, speed or rate", name), {}, {},
             near.empty() ? "" : fmt::format("did you mean `{}`?", near));
    }
    flush_attempt();
}

}  // namespace appell
