// Sizes and families: each statement of a `for` block becomes one instance for each value of the loop name. Loops inside loops
// are kept on an explicit stack.
#include <cmath>

#include <fmt/format.h>

#include "lang/elaborator.hpp"

namespace appell {

void Elaborator::declare_sizes() {
    for (const Statement& statement : syntax_.statements) {
        if (statement.kind != StatementKind::size) continue;
        for (std::uint32_t i = 0; i < statement.parts.size(); ++i) {
            const Part& part = statement.parts[i];
            if (part.role != Role::name) continue;
            if (const std::string name = full_name(part.name, 0); !name.empty())
                declare(EntityKind::size, name, part.span, {&statement, 0}, i);
        }
    }
    flush_attempt();
    for (std::uint32_t i = 0; i < entities_.size(); ++i) resolve(i);
}

void Elaborator::elaborate_size(Entity& entity) {
    const Part* part = item_part(entity, Role::value);
    const auto value = whole(part->expr, 0);
    if (!ready()) return;
    std::optional<long long> number = value;
    if (const auto found = options_.set.find(entity.name); found != options_.set.end()) {
        if (found->second == std::floor(found->second) && std::abs(found->second) < 1e15)
            number = static_cast<long long>(found->second);
        else
            fail(Code::E0404, {}, fmt::format("--set {}: a size is a whole number", entity.name),
                 fmt::format("{}", found->second));
    }
    if (!number) return;
    entity.value.type = ValueType::scalar;
    entity.value.node = graph().constant(static_cast<double>(*number));
}

bool Elaborator::append_instance(const Statement& statement, std::uint32_t environment) {
    if (instances_.size() >= options_.limits.statements) {
        fail(Code::E0010, statement.keyword, "the model has too many statements", {},
             fmt::format("at most {}", options_.limits.statements), "use --limit statements=N for more");
        return false;
    }
    instances_.push_back({&statement, environment});
    return true;
}

void Elaborator::expand_families() {
    struct Loop {
        std::size_t index;  // of the `for` statement
        long long current, last;
        std::uint32_t outer;
    };
    std::vector<Loop> loops;
    const std::vector<Statement>& statements = syntax_.statements;
    std::uint32_t environment = 0;

    // binds the loop's current value; false when its condition leaves the value out
    const auto bind = [&](const Loop& loop) {
        const Statement& family = statements[loop.index];
        environments_.push_back({loop.outer, family.parts.front().name.name, loop.current});
        environment = static_cast<std::uint32_t>(environments_.size() - 1);
        const Part* where = family.find(Role::where);
        if (where == nullptr) return true;
        const Value condition = evaluate(where->expr, environment, places::whole);
        if (condition.poison()) return false;
        if (condition.type == ValueType::condition) return number_of(condition.node) != 0;
        fail(Code::E0401, where->span, "`where` needs a condition", std::string(describe(condition.type)),
             "a condition such as i != 2");
        return false;
    };

    std::size_t at = 0;
    while (true) {
        // end of the innermost block: next value or out
        while (!loops.empty() && at == loops.back().index + statements[loops.back().index].block + 1) {
            Loop& loop = loops.back();
            bool inside = false;
            while (!inside && loop.current < loop.last) {
                ++loop.current;
                inside = bind(loop);
            }
            if (inside) {
                at = loop.index + 1;
                continue;
            }
            environment = loop.outer;
            loops.pop_back();
        }
        if (at >= statements.size()) break;
        const Statement& statement = statements[at];
        if (statement.kind != StatementKind::for_) {
            if (!append_instance(statement, environment)) break;
            ++at;
            continue;
        }
        const std::size_t behind = at + statement.block + 1;
        const auto first = whole(statement.find(Role::first)->expr, environment);
        const auto last = whole(statement.find(Role::last)->expr, environment);
        if (const NameId name = statement.parts.front().name.name; is_reserved(syntax_.names.text(name)))
            fail(Code::E0203, statement.parts.front().span, fmt::format("`{}` is a reserved word", syntax_.names.text(name)), {},
                 "another name");
        if (first && last && *first > *last)
            fail(Code::N0501, statement.span, "this family has no members", fmt::format("{}..{}", *first, *last));
        const bool large = first && last && *last - *first >= static_cast<long long>(options_.limits.family_size);
        if (large)
            fail(Code::E0507, statement.span, "this family has too many members", fmt::format("{}..{}", *first, *last),
                 fmt::format("at most {}", options_.limits.family_size), "use --limit family_size=N for more");
        if (environments_.size() > options_.limits.statements) {
            fail(Code::E0010, statement.keyword, "the families of the model have too many members", {},
                 fmt::format("at most {}", options_.limits.statements), "use --limit statements=N for more");
            break;
        }
        if (!first || !last || *first > *last || large) {
            at = behind;
            continue;
        }
        if (statement.block == 0) {
            ++at;
            continue;
        }
        // the block is entered through its end, with the value before the first
        loops.push_back({at, *first - 1, statement.unclosed ? *first : *last, environment});
        at = behind;
    }
    flush_attempt();
}

}  // namespace appell
