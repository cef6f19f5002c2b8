// The stages of the elaboration and the order of declarations.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"
#include "lang/elaborator.hpp"

namespace appell {

Elaborator::Elaborator(const Syntax& syntax, const SourceSet& sources, const ReadOptions& options, Diagnostics& diagnostics)
    : syntax_(syntax), sources_(sources), options_(options), diagnostics_(diagnostics) {}

std::optional<Model> Elaborator::run() {
    find_system();
    find_units();
    make_builder();
    declare_sizes();
    expand_families();
    if (diagnostics_.has(Code::E0010)) return {};
    declare_names();
    check_overrides();
    // the lists of the model keep the order of the file where nothing demands another one
    for (const EntityKind kind : {EntityKind::parameter, EntityKind::input, EntityKind::coordinate})
        for (std::uint32_t i = 0; i < entities_.size(); ++i)
            if (entities_[i].kind == kind) resolve(i);
    for (std::uint32_t i = 0; i < entities_.size(); ++i) {
        const EntityKind kind = entities_[i].kind;
        if (kind == EntityKind::frame || kind == EntityKind::point || kind == EntityKind::body || kind == EntityKind::speed)
            resolve(i);
    }
    for (const EntityKind kind : {EntityKind::actuator, EntityKind::constraint})
        for (std::uint32_t i = 0; i < entities_.size(); ++i)
            if (entities_[i].kind == kind) resolve(i);
    for (std::uint32_t i = 0; i < entities_.size(); ++i) resolve(i);
    elaborate_rest();
    apply_overrides();
    const std::vector<SymbolId> symbols = symbols_in(graph(), computed_);
    uses_.computed_from = {symbols.begin(), symbols.end()};
    Result<Model> built = builder_->build();
    // a model that lost its parts to other problems is not called empty as well
    if (!diagnostics_.has_errors()) diagnostics_.append(built.diagnostics);
    return std::move(built.value);
}

bool Elaborator::find_system() {
    const Statement* system = nullptr;
    for (const Statement& statement : syntax_.statements) {
        if (statement.kind != StatementKind::system) continue;
        if (system != nullptr)
            fail(Code::E0209, statement.keyword, "`system` is given twice", {}, "one system for each model");
        else
            system = &statement;
    }
    if (system == nullptr) {
        // a system statement that could not be read is reported already
        const bool broken = !diagnostics_.empty() && syntax_.statements.empty();
        bool spoiled = broken;
        for (const Diagnostic& d : diagnostics_.all())
            spoiled = spoiled || (d.span.known() && d.severity() == Severity::error &&
                                  sources_.line_text(d.span.file, d.span.begin).starts_with("system"));
        if (!spoiled) {
            const Span where = syntax_.statements.empty() ? Span{} : syntax_.statements.front().keyword;
            fail(Code::E0503, where, "the model has no system statement", {}, "`system NAME \"title\"` as the first statement");
        }
    } else if (&syntax_.statements.front() != system) {
        fail(Code::E0503, system->keyword, "`system` is not the first statement", {},
             "`system NAME \"title\"` before all others");
    }
    flush_attempt();
    return system != nullptr;
}

// A model without a single unit of length, mass or time, the plan of the run aside, is taken to be in one consistent system, or
// without dimensions: nothing is checked, and sin(t) is as good as sin(w*t).
void Elaborator::find_units() {
    units_ = false;
    const auto look = [&](const SyntaxExpr& expr) {
        for (const SyntaxNode& node : expr.nodes)
            units_ = units_ || (node.unit != 0 && !syntax_.units[node.unit].dimension.none());
    };
    for (const Statement& statement : syntax_.statements) {
        if (statement.kind == StatementKind::run) continue;
        for (const Part& part : statement.parts) {
            look(part.expr);
            for (const SyntaxExpr& expr : part.list) look(expr);
        }
    }
}

void Elaborator::make_builder() {
    std::string system = "model", title, newtonian = "N", origin = "O";
    const Statement* named_frame = nullptr;
    const Statement* named_origin = nullptr;
    bool origin_taken = false;
    for (const Statement& statement : syntax_.statements) {
        if (statement.kind == StatementKind::system && statement.find(Role::name) != nullptr) {
            system = syntax_.names.text(statement.find(Role::name)->name.name);
            if (const Part* part = statement.find(Role::title)) title = part->word;
        }
        if (statement.kind == StatementKind::newtonian) {
            if (named_frame != nullptr)
                fail(Code::E0209, statement.keyword, "`newtonian` is given twice", {}, "one Newtonian frame");
            else
                named_frame = &statement;
        }
    }
    if (named_frame != nullptr) newtonian = syntax_.names.text(named_frame->parts.front().name.name);
    for (const Statement& statement : syntax_.statements) {
        if (statement.kind == StatementKind::point && named_origin == nullptr)
            if (const Part* part = statement.find(Role::fixed_in); part != nullptr &&
                                                                   syntax_.names.text(part->name.name) == newtonian &&
                                                                   statement.parts.front().name.indices.empty())
                named_origin = &statement;
        for (const Part& part : statement.parts)
            if (part.role == Role::name && part.name.indices.empty() && syntax_.names.text(part.name.name) == "O" &&
                statement.kind != StatementKind::spring && statement.kind != StatementKind::damper)
                origin_taken = true;
    }
    if (named_origin != nullptr)
        origin = syntax_.names.text(named_origin->parts.front().name.name);
    else if (origin_taken)
        origin = "origin";
    builder_.emplace(system, newtonian, origin, options_.limits.nodes);
    model().title = title;

    // the two entities that every model has
    const Span frame_span = named_frame != nullptr ? named_frame->parts.front().span : Span{};
    Entity& frame = entities_[declare(EntityKind::newtonian, newtonian, frame_span, {}, 0)];
    frame.state = EntityState::done;
    frame.value.type = ValueType::frame;
    frame.value.first = Model::newtonian().value;
    model().frames.front().span = frame_span;
    if (named_origin == nullptr && origin_taken) return;
    const Span origin_span = named_origin != nullptr ? named_origin->parts.front().span : Span{};
    Entity& point = entities_[declare(EntityKind::origin, origin, origin_span, {named_origin, 0}, 0)];
    point.state = EntityState::done;
    point.value.type = ValueType::point;
    point.value.first = Model::origin().value;
    point.value.made_of = uses::geometry;
    model().points.front().span = origin_span;
}

void Elaborator::resolve(std::uint32_t root) {
    if (entities_[root].state == EntityState::done) return;
    std::vector<std::uint32_t> stack{root};
    entities_[root].requested_by = root;
    while (!stack.empty()) {
        const std::uint32_t at = stack.back();
        Entity& entity = entities_[at];
        if (entity.state == EntityState::done) {
            stack.pop_back();
            continue;
        }
        entity.state = EntityState::active;
        pending_.clear();
        attempt_.clear();
        current_ = at;
        elaborate(entity);
        const std::vector<std::uint32_t> needed = std::move(pending_);
        pending_.clear();
        bool circle = false;
        for (const std::uint32_t other : needed) {
            if (entities_[other].state == EntityState::active) {
                attempt_.clear();
                report_circle(at, other);
                circle = true;
                break;
            }
        }
        if (circle || needed.empty()) {
            flush_attempt();
            if (circle) entity.value = {};
            entity.state = EntityState::done;
            stack.pop_back();
            continue;
        }
        for (const std::uint32_t other : needed) {
            entities_[other].requested_by = at;
            stack.push_back(other);
        }
    }
    current_ = 0;
}

void Elaborator::report_circle(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> chain;
    for (std::uint32_t at = from;; at = entities_[at].requested_by) {
        chain.push_back(at);
        if (at == to) break;
    }
    std::string text = entities_[to].name;
    // the last in the chain is `to`, which asked for the one before it, and so on
    for (std::size_t i = chain.size() - 1; i-- > 0;) {
        if (chain.size() > 12 && i > 4 && i + 6 < chain.size()) {
            if (i == 5) text += " -> ...";
            continue;
        }
        text += " -> " + entities_[chain[i]].name;
    }
    text += " -> " + entities_[to].name;
    fail(Code::E0206, entities_[to].span,
         fmt::format("{} `{}` is defined by itself", describe(entities_[to].kind), entities_[to].name), text,
         "definitions that do not go in a circle");
}

void Elaborator::elaborate(Entity& entity) {
    switch (entity.kind) {
        case EntityKind::size: elaborate_size(entity); break;
        case EntityKind::parameter: elaborate_parameter(entity); break;
        case EntityKind::input: elaborate_input(entity); break;
        case EntityKind::coordinate: elaborate_coordinate(entity); break;
        case EntityKind::speed: elaborate_speed(entity); break;
        case EntityKind::let: elaborate_let(entity); break;
        case EntityKind::function: elaborate_function(entity); break;
        case EntityKind::frame: elaborate_frame(entity); break;
        case EntityKind::point: elaborate_point(entity); break;
        case EntityKind::body: elaborate_body_name(entity); break;
        case EntityKind::constraint: elaborate_constraint(entity); break;
        case EntityKind::condition: elaborate_condition(entity); break;
        case EntityKind::actuator: elaborate_actuator(entity); break;
        case EntityKind::output: elaborate_output(entity); break;
        case EntityKind::newtonian:
        case EntityKind::origin:
        case EntityKind::event: break;
    }
}

void Elaborator::elaborate_rest() {
    const auto each = [&](StatementKind kind, void (Elaborator::*elaborate_one)(const Instance&)) {
        for (const Instance& instance : instances_)
            if (instance.statement->kind == kind) {
                (this->*elaborate_one)(instance);
                flush_attempt();
            }
    };
    each(StatementKind::particle, &Elaborator::elaborate_particle);
    each(StatementKind::body, &Elaborator::elaborate_body);
    // loads keep the order of the file among themselves
    for (const Instance& instance : instances_) {
        switch (instance.statement->kind) {
            case StatementKind::gravity: elaborate_gravity(instance); break;
            case StatementKind::force: elaborate_force(instance); break;
            case StatementKind::torque: elaborate_torque(instance); break;
            case StatementKind::spring: elaborate_spring(instance); break;
            case StatementKind::damper: elaborate_damper(instance); break;
            case StatementKind::load: elaborate_load(instance); break;
            case StatementKind::potential: elaborate_potential(instance); break;
            default: continue;
        }
        flush_attempt();
    }
    each(StatementKind::nonideal, &Elaborator::elaborate_nonideal);
    each(StatementKind::event, &Elaborator::elaborate_event);
    each(StatementKind::independent, &Elaborator::elaborate_independent);
    each(StatementKind::evidence, &Elaborator::elaborate_evidence);
    each(StatementKind::share, &Elaborator::elaborate_share);
    // claims keep the order of the file
    for (const Instance& instance : instances_)
        if (instance.statement->kind == StatementKind::claim || instance.statement->kind == StatementKind::misprint) {
            elaborate_claim(instance);
            flush_attempt();
        }
    each(StatementKind::imply, &Elaborator::elaborate_imply);
    each(StatementKind::start, &Elaborator::elaborate_start);
    each(StatementKind::tolerance, &Elaborator::elaborate_tolerance);
    each(StatementKind::run, &Elaborator::elaborate_run);
    each(StatementKind::plot, &Elaborator::elaborate_plot);
}

void Elaborator::fail(Code code, Span span, std::string message, std::string found, std::string expected, std::string hint) {
    attempt_.push_back({code, span, std::move(message), std::move(found), std::move(expected), std::move(hint)});
}

void Elaborator::flush_attempt() {
    for (Diagnostic& diagnostic : attempt_) {
        const Span span = diagnostic.span;
        // the same problem of another member of a family, at the same spot, says nothing new
        if (span.known() && !reported_.emplace(diagnostic.code, span.file, span.begin).second) continue;
        diagnostics_.add(std::move(diagnostic));
    }
    attempt_.clear();
}

std::string Elaborator::written(Span span) const {
    std::string out;
    bool comment = false;
    for (const char c : sources_.text(span)) {
        if (c == '#') comment = true;
        if (c == '\n') comment = false;
        if (comment) continue;
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!space)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

double Elaborator::number_of(NodeId node) {
    computed_.push_back(node);
    return evaluated(node);
}

ValueUses Elaborator::value_uses() { return uses_; }

double Elaborator::evaluated(NodeId node) {
    if (const auto constant = graph().constant_value(node)) return *constant;
    if (const auto found = number_memo_.find(node.value); found != number_memo_.end()) return found->second;
    const std::vector<NodeId> order = sweep_.collect(graph(), std::span(&node, 1));
    std::unordered_map<std::uint32_t, double> values;
    for (const NodeId id : order) {
        double value = 0;
        const auto at = [&](int which) { return graph().arity(id) > which ? values[graph().operand(id, which).value] : 0.0; };
        switch (graph().op(id)) {
            case Op::Constant: value = *graph().constant_value(id); break;
            case Op::Pi: value = pi_value<double>(); break;
            case Op::Symbol: {
                const std::size_t symbol = graph().symbol_of(id).index();
                value = symbol < symbol_values_.size() ? symbol_values_[symbol] : std::nan("");
                break;
            }
            case Op::PowInt: value = int_power(at(0), graph().exponent(id)); break;
            case Op::NoArgs:
            case Op::Args:
            case Op::Call:
            case Op::Dot: value = std::nan(""); break;
            default: value = info(graph().op(id)).scalar ? apply_op<double>(graph().op(id), at(0), at(1), at(2)) : std::nan("");
        }
        values[id.value] = value;
    }
    return number_memo_[node.value] = values[node.value];
}

}  // namespace appell
