// Constraints, laws and actuators, claims, start values, outputs, plots and the plan of the run.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/drift_control.hpp"
#include "base/integrators.hpp"
#include "lang/elaborator.hpp"

namespace appell {

namespace {

constexpr Dimension k_length = Dimension::of(1, 0, 0), k_time = Dimension::of(0, 0, 1), k_force = Dimension::of(1, 1, -2),
                    k_energy = Dimension::of(2, 1, -2);

// A multiplier times what its row is of the rates is a power: the derivative of a position, a velocity itself, an acceleration's
// integral.
std::optional<Dimension> multiplier_dimension(const std::optional<Dimension>& phi, std::uint32_t made_of) {
    if (!phi) return std::nullopt;
    const Dimension of_position = k_energy / *phi;
    if ((made_of & uses::acceleration) != 0) return of_position / k_time / k_time;
    return (made_of & (uses::rate | uses::velocity | uses::speed)) != 0 ? of_position / k_time : of_position;
}

}  // namespace

std::optional<std::vector<Elaborator::EquationRow>> Elaborator::equation_rows(const Entity& entity) {
    const std::vector<Part>& parts = entity.instance.statement->parts;
    const std::uint32_t environment = entity.instance.environment;
    std::vector<EquationRow> rows;
    bool good = true;
    for (std::size_t i = entity.part + 1; i < parts.size(); ++i) {
        if (parts[i].role != Role::left) continue;
        const bool equation = i + 1 < parts.size() && parts[i + 1].role == Role::right;
        const Value left = evaluate(parts[i].expr, environment, places::constraint);
        if (!equation) {
            if (left.type == ValueType::relation)
                rows.push_back({left.node, parts[i].span, multiplier_dimension(left.dimension, left.made_of)});
            else
                good = false;
            continue;
        }
        const Value right = evaluate(parts[i + 1].expr, environment, places::constraint);
        const Span span = join(parts[i].span, parts[i + 1].span);
        if (left.poison() || right.poison()) {
            good = false;
            continue;
        }
        const auto spatial = [&](const Value& v) { return v.type == ValueType::vector || v.type == ValueType::point; };
        const bool scalars = left.type == ValueType::scalar && right.type == ValueType::scalar;
        const bool vectors = (spatial(left) && (spatial(right) || is_zero(right))) || (spatial(right) && is_zero(left));
        if (!scalars && !vectors) {
            fail(Code::E0401, span, "the two sides of an equation do not fit together",
                 fmt::format("{} and {}", describe(left.type), describe(right.type)), "two scalars or two vectors");
            good = false;
            continue;
        }
        if (left.dimension && right.dimension && *left.dimension != *right.dimension && !is_zero(left) && !is_zero(right) &&
            !left.direction && !right.direction)
            fail(Code::E0301, span, "the two sides of this equation have different dimensions",
                 fmt::format("{} and {}", si_text(*left.dimension), si_text(*right.dimension)), "the same dimension");
        const auto side = [&](const Value& v) { return is_zero(v) || v.direction ? std::nullopt : v.dimension; };
        const std::optional<Dimension> dimension = side(left) ? side(left) : side(right);
        const std::optional<Dimension> multiplier = multiplier_dimension(dimension, left.made_of | right.made_of);
        if (i + 2 < parts.size() && parts[i + 2].role == Role::unilateral) {
            if (!scalars) {
                fail(Code::E0401, span, "a contact compares two scalars", "vectors",
                     "a scalar gap, such as dot(pos(P), N.y) >= 0");
                good = false;
                continue;
            }
            if ((left.made_of | right.made_of) & (uses::rate | uses::velocity | uses::speed | uses::acceleration)) {
                fail(Code::E0726, span, "only positions can be bounded", written(span), "a gap of positions and time, gap >= 0",
                     "a bound on speeds has no force that keeps it; use an `event`");
                good = false;
                continue;
            }
            EquationRow& row = rows.emplace_back(EquationRow{graph().sub(left.node, right.node), span, multiplier, true});
            if (i + 3 < parts.size() && parts[i + 3].role == Role::restitution) {
                const Value e =
                    scalar(parts[i + 3].expr, environment, places::constant, Dimension{}, "a coefficient of restitution");
                if (!ready()) return std::nullopt;
                const auto number_e = number(e, parts[i + 3].span);
                if (number_e && !(*number_e >= 0 && *number_e <= 1))
                    fail(Code::E0406, parts[i + 3].span, "a coefficient of restitution lies between 0 and 1",
                         fmt::format("{}", *number_e));
                row.restitution = e.node;
            }
            continue;
        }
        const NodeId phi = scalars ? graph().sub(left.node, right.node)
                                   : graph().vadd(as_vector(left, span).node, graph().vneg(as_vector(right, span).node));
        rows.push_back({phi, span, multiplier});
    }
    return good ? std::optional(std::move(rows)) : std::nullopt;
}

void Elaborator::elaborate_constraint(Entity& entity) {
    const std::vector<Part>& parts = entity.instance.statement->parts;
    const std::uint32_t environment = entity.instance.environment;
    const auto equations = equation_rows(entity);
    bool good = equations.has_value();
    std::vector<std::size_t> actuators;
    for (std::size_t i = entity.part + 1; i < parts.size(); ++i) {
        if (parts[i].role != Role::target) continue;
        const Value actuator = value_of(parts[i].name, environment, places::anywhere);
        if (actuator.type == ValueType::actuator)
            actuators.push_back(actuator.first);
        else if (!actuator.poison())
            fail(Code::E0401, parts[i].span, "a servo-constraint is kept by actuators", std::string(describe(actuator.type)),
                 "an actuator", "declare it with `actuator`");
        good = good && actuator.type == ValueType::actuator;
    }
    if (!ready() || !good) return;
    const std::vector<EquationRow>& rows = *equations;
    entity.value.type = ValueType::constraint;
    entity.value.first = static_cast<std::uint32_t>(model().constraints.size());
    entity.value.second = static_cast<std::uint32_t>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = rows.size() == 1 ? entity.name : fmt::format("{}.{}", entity.name, i + 1);
        const std::size_t index = builder_->constraint(name, rows[i].phi, written(rows[i].span), rows[i].span);
        Constraint& constraint = model().constraints[index];
        multiplier_dimensions_[index] = rows[i].multiplier;
        constraint.actuators = actuators;
        constraint.unilateral = rows[i].unilateral;
        constraint.restitution = rows[i].restitution;
        constraint.off_at_start = entity.instance.statement->find(Role::initially_off) != nullptr;
    }
}

void Elaborator::elaborate_condition(Entity& entity) {
    const auto rows = equation_rows(entity);
    if (!ready() || !rows) return;
    entity.value.type = ValueType::equation;
    entity.value.first = static_cast<std::uint32_t>(conditions_.size());
    StatedEquation& condition = conditions_.emplace_back();
    condition.name = entity.name;
    for (const EquationRow& row : *rows) {
        condition.phi.push_back(row.phi);
        condition.text += (condition.text.empty() ? "" : ", ") + written(row.span);
    }
}

void Elaborator::elaborate_actuator(Entity& entity) {
    const Statement& statement = *entity.instance.statement;
    const std::uint32_t environment = entity.instance.environment;
    const Part& target = *statement.find(Role::target);
    Value along;
    if (target.word == "load") {
        along.type = ValueType::scalar;
        along.node = graph().constant(1);
    } else {
        along = vector(statement.find(Role::action)->expr, environment, places::load);
    }
    const auto actions =
        action(target.word, target.name, statement.find(Role::at), statement.find(Role::from), along, environment);
    if (!ready() || !actions) return;
    entity.value.type = ValueType::actuator;
    entity.value.first =
        static_cast<std::uint32_t>(builder_->actuator(entity.name, *actions, written(statement.span), entity.span));
}

void Elaborator::elaborate_nonideal(const Instance& instance) {
    const std::vector<Part>& parts = instance.statement->parts;
    const Value constraint = value_of(parts.front().name, instance.environment, places::anywhere);
    if (!constraint.poison() && constraint.type != ValueType::constraint)
        fail(Code::E0401, parts.front().span, "`nonideal` belongs to a constraint", std::string(describe(constraint.type)),
             "a constraint");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].role != Role::target) continue;
        if (parts[i].word == "friction") {
            if (constraint.type == ValueType::constraint) elaborate_friction(instance, i, constraint);
            continue;
        }
        const Part* at = nullptr;
        const Part* from = nullptr;
        std::size_t k = i + 1;
        for (; k < parts.size() && parts[k].role != Role::action; ++k) (parts[k].role == Role::at ? at : from) = &parts[k];
        const std::string& kind = parts[i].word;
        const Value value = kind == "load"
                                ? scalar(parts[k].expr, instance.environment, places::nonideal)
                                : vector(parts[k].expr, instance.environment, places::nonideal,
                                         kind == "force" ? k_force : k_energy, kind == "force" ? "a force" : "a torque");
        const auto actions = action(kind, parts[i].name, at, from, value, instance.environment);
        if (!actions || constraint.type != ValueType::constraint) continue;
        const Span span = join(parts[i].span, parts[k].span);
        for (const Action& one : *actions) model().nonideal.push_back({constraint.first, one, written(span), span});
    }
}

void Elaborator::elaborate_independent(const Instance& instance) {
    if (model().independent_span.known()) {
        fail(Code::E0209, instance.statement->keyword, "`independent` is given twice", {}, "one choice for each model");
        return;
    }
    model().independent_span = instance.statement->span;
    for (const Part& part : instance.statement->parts) {
        const Value value = value_of(part.name, instance.environment, places::anywhere);
        if (value.poison()) continue;
        const bool symbol = value.type == ValueType::scalar && graph().op(value.node) == Op::Symbol;
        const SymbolKind kind = symbol ? graph().symbol(graph().symbol_of(value.node)).kind : SymbolKind::other;
        if (kind != SymbolKind::speed && kind != SymbolKind::coordinate_rate) {
            fail(Code::E0401, part.span, "independent speeds are chosen here", written(part.span), "a speed u, or a rate x'");
            continue;
        }
        std::vector<SymbolId>& chosen = model().independent;
        const SymbolId id = graph().symbol_of(value.node);
        if (std::find(chosen.begin(), chosen.end(), id) != chosen.end())
            fail(Code::E0209, part.span, fmt::format("`{}` is named twice", written(part.span)));
        else
            chosen.push_back(id);
    }
}

void Elaborator::elaborate_evidence(const Instance& instance) {
    for (const Part& part : instance.statement->parts) {
        const Value value = value_of(part.name, instance.environment, places::anywhere);
        if (value.poison()) continue;
        if (value.type != ValueType::constraint) {
            fail(Code::E0401, part.span, "`evidence` names constraints", std::string(describe(value.type)), "a constraint");
            continue;
        }
        std::vector<std::size_t>& chosen = model().evidence;
        if (std::find(chosen.begin(), chosen.end(), value.first) != chosen.end()) {
            fail(Code::E0209, part.span, fmt::format("`{}` is named twice", written(part.span)));
            continue;
        }
        if (!model().constraints[value.first].actuators.empty()) {
            fail(Code::E0725, part.span, "actuators keep this constraint; it has no force of its own", written(part.span),
                 "a constraint that is kept by ideal forces", "the magnitudes of actuators are always in the equations");
            continue;
        }
        for (std::uint32_t i = 0; i < value.second; ++i) chosen.push_back(value.first + i);
    }
}

void Elaborator::elaborate_imply(const Instance& instance) {
    Implication implication;
    implication.text = written(instance.statement->span);
    implication.span = instance.statement->span;
    bool good = true;
    for (const Part& part : instance.statement->parts) {
        const Value value = value_of(part.name, instance.environment, places::anywhere);
        std::vector<StatedEquation>& side = part.role == Role::target  ? implication.conclusions
                                            : part.role == Role::where ? implication.exceptions
                                                                       : implication.premises;
        if (value.type == ValueType::equation) {
            side.push_back(conditions_[value.first]);
        } else if (value.type == ValueType::constraint) {
            StatedEquation& equation = side.emplace_back();
            equation.name = equation.text = written(part.span);
            for (std::uint32_t i = 0; i < value.second; ++i) equation.phi.push_back(model().constraints[value.first + i].phi);
        } else {
            good = false;
            if (!value.poison())
                fail(Code::E0401, part.span, "`imply` speaks of constraints and conditions", std::string(describe(value.type)),
                     "a constraint or a condition", "give the equation a name with `condition`");
        }
    }
    if (good) model().implications.push_back(std::move(implication));
}

void Elaborator::elaborate_claim(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    const Part& left_part = *statement.find(Role::left);
    const Part& right_part = *statement.find(Role::right);
    Claim claim;
    claim.label = statement.find(Role::title)->word;
    claim.misprint = statement.kind == StatementKind::misprint;
    claim.text = fmt::format("{} = {}", written(left_part.span), written(right_part.span));
    claim.span = statement.span;
    // what a source prints wrongly may be wrong in its dimensions, too
    const bool units = std::exchange(units_, units_ && !claim.misprint);
    const Value left = evaluate(left_part.expr, environment, places::claim);
    bool good = !left.poison();
    if (left.type == ValueType::matrix) {
        const std::vector<Value> entries = evaluate_matrix(right_part.expr, claim.columns, environment, places::claim);
        good = !entries.empty();
        claim.rows = claim.columns > 0 ? entries.size() / claim.columns : entries.size();
        claim.matrix = left.first;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto row = static_cast<std::uint32_t>((claim.columns > 0 ? i / claim.columns : i) + 1);
            const auto column = static_cast<std::uint32_t>(claim.columns > 0 ? i % claim.columns + 1 : 0);
            const std::string entry = column > 0 ? fmt::format("({}, {})", row, column) : fmt::format("({})", row);
            const NodeId of = builder_->quantity({QuantityKind::matrix, {}, left.first, row, column, {}, left_part.span},
                                                 fmt::format("{}{}", k_matrix_names[left.first], entry));
            claim.equations.push_back({of, entries[i].node, entry});
        }
    } else {
        const Value right = evaluate(right_part.expr, environment, places::claim);
        good = good && !right.poison();
        const auto spatial = [&](const Value& v) { return v.type == ValueType::vector || v.type == ValueType::point; };
        const bool scalars = left.type == ValueType::scalar && right.type == ValueType::scalar;
        const bool vectors = (spatial(left) && (spatial(right) || is_zero(right))) || (spatial(right) && is_zero(left));
        if (good && !scalars && !vectors) {
            fail(Code::E0401, join(left_part.span, right_part.span), "the two sides of a claim do not fit together",
                 fmt::format("{} and {}", describe(left.type), describe(right.type)), "two scalars, two vectors or a matrix");
            good = false;
        }
        if (good && left.dimension && right.dimension && *left.dimension != *right.dimension && !is_zero(left) &&
            !is_zero(right) && !left.direction && !right.direction)
            fail(Code::E0301, join(left_part.span, right_part.span), "the two sides of this claim have different dimensions",
                 fmt::format("{} and {}", si_text(*left.dimension), si_text(*right.dimension)), "the same dimension");
        if (good && scalars)
            claim.equations.push_back({left.node, right.node, ""});
        else if (good)
            claim.equations.push_back({as_vector(left, left_part.span).node, as_vector(right, right_part.span).node, ""});
    }
    if (const Part* where = statement.find(Role::where)) {
        const Value condition = evaluate(where->expr, environment, places::claim);
        if (!condition.poison() && condition.type != ValueType::condition)
            fail(Code::E0401, where->span, "`where` needs a condition", std::string(describe(condition.type)),
                 "a comparison such as u3 > 0");
        good = good && condition.type == ValueType::condition;
        claim.where = condition.node;
    }
    units_ = units;
    if (good) model().claims.push_back(std::move(claim));
}

void Elaborator::elaborate_start(const Instance& instance) {
    const std::vector<Part>& parts = instance.statement->parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].role != Role::name) continue;
        const SyntaxName& name = parts[i].name;
        const Part& value_part = parts[i + 1];
        const bool fixed = i + 2 < parts.size() && parts[i + 2].role == Role::fixed;
        const Value value = scalar(value_part.expr, instance.environment, places::constant);
        const auto result = number(value, value_part.span);
        const std::string full = full_name(name, instance.environment);
        if (full.empty()) continue;
        Entity* entity = lookup(full, name.name, name.span);
        if (entity == nullptr) continue;
        const bool coordinate = entity->kind == EntityKind::coordinate, speed = entity->kind == EntityKind::speed;
        if (!(coordinate && name.primes <= 1) && !(speed && name.primes == 0)) {
            fail(Code::E0401, name.span, "only coordinates, their rates and speeds have start values",
                 fmt::format("{} `{}`", describe(entity->kind), written(name.span)), "x, x' or u");
            continue;
        }
        std::optional<Dimension> expected = entity->value.dimension;
        if (expected && name.primes == 1) expected = *expected / k_time;
        if (expected)
            expect_dimension(value, *expected, fmt::format("the start value of `{}`", written(name.span)), value_part.span);
        if (!result) continue;
        if (coordinate && name.primes == 1) {
            if (entity->rate_started)
                fail(Code::E0510, name.span, fmt::format("the start value of `{}'` is given twice", full));
            else
                model().start_rates.push_back({entity->index, *result, name.span, fixed});
            entity->rate_started = true;
            continue;
        }
        if (entity->started) {
            fail(Code::E0510, name.span, fmt::format("the start value of `{}` is given twice", full));
            continue;
        }
        entity->started = true;
        if (coordinate) {
            Coordinate& q = model().coordinates[entity->index];
            q.start = *result;
            q.fixed = q.fixed || fixed;
            if (!q.dimension) q.dimension = value.dimension;
        } else {
            Speed& u = model().speeds[entity->index];
            u.start = *result;
            u.given = true;
            u.fixed = fixed;
        }
    }
}

void Elaborator::elaborate_tolerance(const Instance& instance) {
    const std::vector<Part>& parts = instance.statement->parts;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const SyntaxName& name = parts[i].name;
        const Part& value_part = parts[i + 1];
        const Value value = scalar(value_part.expr, instance.environment, places::constant);
        const auto result = number(value, value_part.span);
        const std::string full = full_name(name, instance.environment);
        if (full.empty()) continue;
        const Entity* entity = lookup(full, name.name, name.span);
        if (entity == nullptr) continue;
        const bool coordinate = entity->kind == EntityKind::coordinate, speed = entity->kind == EntityKind::speed;
        if (!(coordinate && name.primes <= 1) && !(speed && name.primes == 0)) {
            fail(Code::E0401, name.span, "only coordinates, their rates and speeds have tolerances",
                 fmt::format("{} `{}`", describe(entity->kind), written(name.span)), "x, x' or u");
            continue;
        }
        std::optional<Dimension> expected = entity->value.dimension;
        if (expected && name.primes == 1) expected = *expected / k_time;
        if (expected)
            expect_dimension(value, *expected, fmt::format("the tolerance of `{}`", written(name.span)), value_part.span);
        if (!result) continue;
        if (!(*result > 0)) {
            fail(Code::E0406, value_part.span, "a tolerance must be positive", fmt::format("{}", *result), "a positive number");
            continue;
        }
        using Of = RunPlan::Tolerance::Of;
        const Of of = speed ? Of::speed : name.primes == 1 ? Of::rate : Of::coordinate;
        std::vector<RunPlan::Tolerance>& all = model().run.tolerances;
        if (std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.of == of && t.index == entity->index; }))
            fail(Code::E0510, name.span, fmt::format("the tolerance of `{}` is given twice", written(name.span)));
        else
            all.push_back({of, entity->index, *result, name.span});
    }
}

void Elaborator::apply_overrides() {
    for (const auto& [name, value] : options_.set) {
        const bool rate = name.ends_with('\'');
        const Entity* entity = find(rate ? name.substr(0, name.size() - 1) : name);
        if (entity == nullptr) continue;
        if (rate && entity->kind == EntityKind::coordinate) {
            std::vector<StartRate>& rates = model().start_rates;
            const auto found =
                std::find_if(rates.begin(), rates.end(), [&](const StartRate& r) { return r.coordinate == entity->index; });
            if (found != rates.end())
                found->value = value;
            else
                rates.push_back({entity->index, value, entity->span});
        } else if (entity->kind == EntityKind::coordinate) {
            model().coordinates[entity->index].start = value;
        } else if (entity->kind == EntityKind::speed) {
            model().speeds[entity->index].start = value;
            model().speeds[entity->index].given = true;
        }
    }
}

void Elaborator::elaborate_output(Entity& entity) {
    const Part* part = item_part(entity, Role::value);
    const Value value = scalar(part->expr, entity.instance.environment, places::result);
    if (!ready() || value.poison()) return;
    entity.value = value;
    model().outputs.push_back({entity.name, value.node, value.dimension, entity.span});
}

void Elaborator::elaborate_run(const Instance& instance) {
    const Statement& statement = *instance.statement;
    RunPlan& plan = model().run;
    if (plan.span.known()) {
        fail(Code::E0209, statement.keyword, "`run` is given twice", {}, "one plan for each model");
        return;
    }
    plan.span = statement.span;
    for (std::size_t i = 0; i + 1 < statement.parts.size(); i += 2) {
        const std::string& option = statement.parts[i].word;
        const Part& part = statement.parts[i + 1];
        if (option == "every" && part.word == "step") {
            plan.every = 0;
            continue;
        }
        if (option == "at" && part.word == "events") {
            plan.at_events = true;
            continue;
        }
        if (option == "at") {
            for (const SyntaxExpr& time : part.list)
                if (const auto value = number(scalar(time, instance.environment, places::constant, k_time, "a time"), time.span))
                    plan.at.push_back(*value);
            continue;
        }
        if (!part.word.empty()) {
            const std::vector<std::string> choices = option == "formulation"  ? supported_formulations()
                                                     : option == "integrator" ? integrator_names()
                                                                              : drift_control_names();
            if (std::find(choices.begin(), choices.end(), part.word) == choices.end())
                fail(Code::E0508, part.span,
                     fmt::format("there is no {} `{}`", option == "stabilize" ? "stabilization" : option, part.word), {},
                     fmt::format("{}", fmt::join(choices, ", ")));
            (option == "formulation" ? plan.formulation : option == "integrator" ? plan.integrator : plan.stabilize) = part.word;
            continue;
        }
        if (option == "gains") {
            for (std::size_t k = 0; k < part.list.size(); ++k) {
                const Dimension unit = k == 0 ? Dimension{} / k_time : Dimension{} / k_time / k_time;
                const Value gain = scalar(part.list[k], instance.environment, places::constant, unit, "a gain");
                const auto result = number(gain, part.list[k].span);
                if (!result) continue;
                if (!(*result < 0))
                    fail(Code::E0406, part.list[k].span, "a gain must be negative", fmt::format("{}", *result),
                         "a negative number");
                plan.gains.push_back(*result);
            }
            continue;
        }
        const bool time = option != "rtol" && option != "atol";
        const Value value =
            scalar(part.expr, instance.environment, places::constant, time ? k_time : Dimension{}, fmt::format("`{}`", option));
        const auto result = number(value, part.span);
        if (!result) continue;
        const bool may_be_zero = option == "atol" || option == "from";
        if (option != "from" && (*result < 0 || (*result == 0 && !may_be_zero))) {
            fail(Code::E0406, part.span, fmt::format("`{}` must be positive", option), fmt::format("{}", *result),
                 "a positive number");
            continue;
        }
        if (option == "for") plan.duration = *result;
        if (option == "from") plan.from = *result;
        if (option == "every") plan.every = *result;
        if (option == "step") plan.step = *result;
        if (option == "first_step") plan.first_step = *result;
        if (option == "max_step") plan.max_step = *result;
        if (option == "rtol") plan.rtol = *result;
        if (option == "atol") plan.atol = *result;
    }
}

void Elaborator::elaborate_plot(const Instance& instance) {
    const Statement& statement = *instance.statement;
    const std::uint32_t environment = instance.environment;
    Plot plot;
    plot.span = statement.span;
    bool good = true, paths = false, curves = false;
    std::vector<int> axes;
    for (const Part& part : statement.parts) {
        if (part.role == Role::path) {
            paths = true;
            const auto point = point_of(part.name, environment);
            good = good && point;
            if (point) plot.traces.push_back({model().point(*point).name, NodeId{}, *point, k_length});
        } else if (part.role == Role::trace) {
            curves = true;
            const Value value = scalar(part.expr, environment, places::result);
            good = good && !value.poison();
            plot.traces.push_back({written(part.expr.span), value.node, PointId{}, value.dimension});
        } else if (part.role == Role::vs) {
            const Value value = scalar(part.expr, environment, places::result);
            good = good && !value.poison();
            plot.x_label = written(part.expr.span);
            plot.x_dimension = value.dimension;
            if (!value.poison() && value.node != builder_->time().id) plot.x = value.node;
        } else if (part.role == Role::plane) {
            axes.push_back(part.word[0] - 'x');
        }
    }
    if (paths && (curves || statement.find(Role::vs) != nullptr)) {
        fail(Code::E0401, statement.keyword, "a plot shows paths or curves, not both", "paths and expressions", "two plots");
        good = false;
    }
    if (axes.size() == 2) {
        plot.plane = {axes[0], axes[1]};
        if (axes[0] == axes[1]) {
            fail(Code::E0401, statement.keyword, "the plane of a path needs two different axes", "one axis twice",
                 "two of x, y, z");
            good = false;
        }
    }
    if (good) model().plots.push_back(std::move(plot));
}

}  // namespace appell
