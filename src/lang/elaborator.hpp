// Syntax to model. The stages, in order: sizes; families expanded into instances of statements; names declared; declarations
// elaborated, each after the ones it needs; everything else.
//
// A declaration is elaborated by an attempt: its expressions are evaluated, and names that are not elaborated yet are collected
// as pending. When there are any, the attempt's problems are dropped, the pending ones come first, and the attempt is repeated;
// so names may be used before they are declared, without recursion, and circles show as a pending name that is already waiting.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "expr/compared_pairs.hpp"
#include "expr/sweep.hpp"
#include "lang/read_model.hpp"
#include "lang/syntax.hpp"
#include "lang/value.hpp"
#include "lang/value_uses.hpp"
#include "model/builder.hpp"

namespace appell {

// loop names bound by families: a chain of single bindings; 0 is the empty one
struct Environment {
    std::uint32_t parent = 0;
    NameId name = 0;
    long long value = 0;
};

// a statement with the values of the loop names around it
struct Instance {
    const Statement* statement = nullptr;
    std::uint32_t environment = 0;
};

enum class EntityKind : std::uint8_t {
    size,
    parameter,
    input,
    coordinate,
    speed,
    let,
    function,
    newtonian,
    frame,
    origin,
    point,
    body,
    constraint,  // servo-constraints, too
    condition,
    actuator,
    output,
    event
};

enum class EntityState : std::uint8_t { fresh, active, done };

struct Entity {
    EntityKind kind;
    EntityState state = EntityState::fresh;
    std::string name;
    Span span;
    Instance instance;
    std::uint32_t part = 0;   // of its name in the statement
    std::uint32_t index = 0;  // in the model's list of its kind; the function's id
    std::uint32_t requested_by = 0;
    bool started = false;       // a start value was given
    bool rate_started = false;  // one of its rate was
    Value value;
};

// the members of a family, for messages
struct FamilyInfo {
    long long first = 0, last = 0;
    bool one_index = true;
};

class Elaborator {
public:
    Elaborator(const Syntax& syntax, const SourceSet& sources, const ReadOptions& options, Diagnostics& diagnostics);

    // the model, unless there were errors
    std::optional<Model> run();
    [[nodiscard]] ValueUses value_uses();

private:
    friend class Evaluation;

    // --- stages (elaborate.cpp, expand.cpp)
    bool find_system();
    void find_units();
    void make_builder();
    void declare_sizes();
    void expand_families();
    bool append_instance(const Statement& statement, std::uint32_t environment);
    void declare_names();
    void declare_items(const Instance& instance, EntityKind kind);
    void check_overrides();
    void resolve(std::uint32_t entity);
    void report_circle(std::uint32_t from, std::uint32_t to);
    void elaborate_rest();

    // --- declarations; each evaluates first and adds to the model when nothing is pending
    void elaborate(Entity& entity);
    void elaborate_size(Entity& entity);
    // the constant written behind a declared name; not given where there is none, or while something it needs is not ready
    struct Constant {
        bool given = false;
        std::optional<double> number;
        std::optional<Dimension> dimension;
    };
    Constant constant_of(Entity& entity);
    void become_symbol(Entity& entity, SymbolId symbol, std::optional<Dimension> dimension, std::uint32_t made_of);
    void elaborate_parameter(Entity& entity);
    void elaborate_input(Entity& entity);
    void elaborate_coordinate(Entity& entity);
    void elaborate_speed(Entity& entity);
    void elaborate_let(Entity& entity);
    void elaborate_function(Entity& entity);
    void elaborate_frame(Entity& entity);
    void elaborate_turns(Entity& entity, FrameId parent);
    void elaborate_quaternion(Entity& entity, FrameId parent);
    void elaborate_point(Entity& entity);
    void elaborate_body_name(Entity& entity);
    struct EquationRow {
        NodeId phi;
        Span span;
        std::optional<Dimension> multiplier{};  // its dimension
        bool unilateral = false;
        NodeId restitution{};
    };
    // the equations and relations of a constraint or condition; nothing after a problem
    std::optional<std::vector<EquationRow>> equation_rows(const Entity& entity);
    void elaborate_constraint(Entity& entity);
    void elaborate_condition(Entity& entity);
    void elaborate_actuator(Entity& entity);
    void elaborate_output(Entity& entity);

    // --- statements without a name
    void elaborate_particle(const Instance& instance);
    void elaborate_body(const Instance& instance);
    std::optional<BodyShape> elaborate_shape(const Part& part, const Part* axis, std::uint32_t environment);
    void check_inertia(const Part& part, const std::vector<Value>& entries);
    void elaborate_gravity(const Instance& instance);
    void elaborate_force(const Instance& instance);
    void elaborate_torque(const Instance& instance);
    void elaborate_spring(const Instance& instance);
    void elaborate_damper(const Instance& instance);
    void elaborate_load(const Instance& instance);
    void elaborate_potential(const Instance& instance);
    // a force, torque or load where its statement says, with its opposite; nothing after a problem
    std::optional<std::vector<Action>> action(std::string_view kind, const SyntaxName& on, const Part* at, const Part* from,
                                              const Value& value, std::uint32_t environment);
    void elaborate_nonideal(const Instance& instance);
    // the friction that begins with this part; the constraint that sticking is
    void elaborate_friction(const Instance& instance, std::size_t part, const Value& constraint);
    NodeId tangential(NodeId slip, const Value& constraint, PointId point, FrameId body);
    void elaborate_event(const Instance& instance);
    void elaborate_independent(const Instance& instance);
    void elaborate_evidence(const Instance& instance);
    void elaborate_share(const Instance& instance);
    void add_share(Share share);
    void elaborate_claim(const Instance& instance);
    void elaborate_imply(const Instance& instance);
    void elaborate_start(const Instance& instance);
    void apply_overrides();
    void elaborate_tolerance(const Instance& instance);
    void elaborate_run(const Instance& instance);
    void elaborate_plot(const Instance& instance);

    // --- names
    std::uint32_t declare(EntityKind kind, std::string name, Span span, const Instance& instance, std::uint32_t part);
    // the mass centre that `center at` makes: D_o, D_o[2]
    static std::string center_name(std::string body);
    std::string full_name(const SyntaxName& name, std::uint32_t environment);  // empty after a problem
    std::string member_name(NameId base, const std::vector<Value>& indices, Span span);
    [[nodiscard]] const Entity* find(const std::string& name) const;
    // the entity of a name, reported when it is not there; pending or poisoned ones give null without a report
    [[nodiscard]] bool is_declared_later(NameId name) const;
    Entity* lookup(const std::string& name, NameId base, Span span);
    Value value_of(const SyntaxName& name, std::uint32_t environment, const Place& place);
    Value entity_value(Entity& entity, int primes, Span span, const Place& place);
    [[nodiscard]] std::optional<long long> loop_value(NameId name, std::uint32_t environment) const;
    std::string hint_for(const std::string& name);
    std::optional<FrameId> frame_of(const SyntaxName& name, std::uint32_t environment);
    std::optional<PointId> point_of(const SyntaxName& name, std::uint32_t environment);

    // --- expressions (evaluation.cpp)
    Value evaluate(const SyntaxExpr& expr, std::uint32_t environment, const Place& place);
    // the values of a tuple written (a, b, ...); empty after a problem
    // the entries of a matrix ((a, b), (c, d)) row by row, and their number in each row; a list (a, b) is one column
    std::vector<Value> evaluate_matrix(const SyntaxExpr& expr, std::size_t& columns, std::uint32_t environment,
                                       const Place& place);
    std::vector<Value> evaluate_tuple(const SyntaxExpr& expr, std::size_t count, std::uint32_t environment, const Place& place);
    Value scalar(const SyntaxExpr& expr, std::uint32_t environment, const Place& place, std::optional<Dimension> expected = {},
                 std::string_view what = {});
    Value vector(const SyntaxExpr& expr, std::uint32_t environment, const Place& place, std::optional<Dimension> expected = {},
                 std::string_view what = {});
    std::optional<long long> whole(const SyntaxExpr& expr, std::uint32_t environment);
    // `judged`: nothing is made of the number, it is looked at only
    std::optional<double> number(const Value& value, Span span, std::vector<NodeId>* judged = nullptr);
    void expect_dimension(const Value& value, Dimension expected, std::string_view what, Span span);
    [[nodiscard]] double number_of(NodeId node);
    [[nodiscard]] double evaluated(NodeId node);
    Value as_vector(const Value& value, Span span);
    bool is_zero(const Value& value);
    // a value with smooth() around it; in the body of a function it is one of the function's arguments until that is called
    void note_smooth_value(SmoothValue value);
    void note_smooth_values_of(FunctionId function, std::span<const NodeId> arguments);

    // --- reports
    void fail(Code code, Span span, std::string message, std::string found = {}, std::string expected = {},
              std::string hint = {});
    void flush_attempt();
    [[nodiscard]] bool ready() const { return pending_.empty(); }
    [[nodiscard]] std::string written(Span span) const;  // as written, white space collapsed
    Graph& graph() { return builder_->graph(); }
    Model& model() { return builder_->model(); }
    [[nodiscard]] const Part& part_of(const Entity& entity, std::size_t offset = 0) const {
        return entity.instance.statement->parts[entity.part + offset];
    }
    // the part of an item behind its name, before the next name
    [[nodiscard]] const Part* item_part(const Entity& entity, Role role) const;

    const Syntax& syntax_;
    const SourceSet& sources_;
    const ReadOptions& options_;
    Diagnostics& diagnostics_;
    std::optional<ModelBuilder> builder_;
    std::vector<Environment> environments_{Environment{}};
    std::vector<Instance> instances_;
    std::deque<Entity> entities_;             // addresses stay
    std::vector<StatedEquation> conditions_;  // of `condition` statements, by Value::first
    std::unordered_map<std::string, std::uint32_t> by_name_;
    std::unordered_map<NameId, FamilyInfo> families_;
    std::map<std::string, std::pair<FrameId, PointId>> bodies_;              // frame and mass centre by body name
    std::map<std::size_t, std::optional<Dimension>> multiplier_dimensions_;  // by constraint
    struct ShareGroup {
        std::size_t group;  // one of its constraints
        double weight;
    };
    std::map<std::size_t, ShareGroup> share_groups_;  // by constraint
    std::set<std::string> particles_;
    std::map<std::string, std::string> body_of_frame_;  // frame name -> the body that has it for its own
    std::vector<double> symbol_values_;                 // of parameters
    std::set<std::uint32_t> without_value_;             // symbols of parameters whose value could not be had
    std::unordered_map<std::uint32_t, double> number_memo_;
    std::vector<SmoothValue> smooth_in_functions_;
    std::unordered_set<std::uint32_t> smooth_known_;  // by node
    std::vector<NodeId> computed_;                    // whose numbers went into others
    ValueUses uses_;                                  // the rest of it
    std::vector<std::uint32_t> pending_;
    std::vector<Diagnostic> attempt_;
    std::set<std::tuple<Code, std::uint32_t, std::uint32_t>> reported_;  // families repeat their problems
    std::uint32_t current_ = 0;                                          // the entity under elaboration
    Sweep sweep_;
    std::set<NameId> lost_;  // declared with an index that could not be evaluated
    std::size_t hints_ = 0;
    std::vector<std::string> candidates_;  // for hints
    bool declared_ = false;                // names other than sizes are known
    bool units_ = true;                    // dimensions are checked: the model uses some
};

[[nodiscard]] std::string_view describe(ValueType type);
[[nodiscard]] std::string_view describe(EntityKind kind);

}  // namespace appell
