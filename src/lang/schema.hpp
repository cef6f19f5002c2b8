// The language's one schema: statements, clause words, built-in functions and units. The parser dispatches on it, hints draw
// their candidates from it, and the reference page is rendered from it, so that the three can not drift apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/graph.hpp"
#include "model/model.hpp"

namespace appell {

enum class StatementKind : std::uint8_t {
    system,
    include,
    newtonian,
    size,
    param,
    input,
    coord,
    speed,
    start,
    let,
    function,
    frame,
    point,
    particle,
    body,
    gravity,
    force,
    torque,
    spring,
    damper,
    load,
    potential,
    constraint,
    nonideal,
    share,
    actuator,
    servo,
    independent,
    evidence,
    claim,
    misprint,
    condition,
    imply,
    event,
    output,
    tolerance,
    run,
    plot,
    for_,
    end
};

struct StatementInfo {
    StatementKind kind;
    std::string_view keyword;
    std::string_view syntax;       // one line, [optional parts] in brackets
    std::string_view description;  // one paragraph
    std::string_view example;
    bool in_family;  // may stand inside a `for` block
};

// what a built-in function does; scalar operations of expr/ops.def share one entry kind
enum class Builtin : std::uint8_t {
    operation,  // a scalar operation of the table of operations
    if_,
    smooth,
    sum,
    dot,
    cross,
    mag,
    unit,
    pos,
    vel,
    omega,
    acc,
    alpha,
    dt,
    kinetic,
    potential,
    energy,
    lambda,
    force,
    torque,
    ideal,
    reaction,
    nonideal,
    friction,
    actuator,
    partial,
    nonholonomic_partial,
    generalized_force,  // active, inertia and the like: of a speed
    matrix,
    count,
    orthogonal,
    parallel,
    rolling
};

struct FunctionSchema {
    std::string_view name;
    std::string_view syntax;
    std::string_view result;  // "scalar", "vector", "constraint", "as its argument"
    std::string_view description;
    Builtin builtin;
    Op op;                                         // of a scalar operation
    int least, most;                               // number of arguments
    bool dimensionless;                            // scalar operation whose argument must have no dimension
    bool reserved;                                 // the word can not name anything else
    QuantityKind quantity = QuantityKind::active;  // of a generalized force
};

// A unit's value in SI is numerator / denominator * pi^pi_power. The two integers keep 2 mm the same double as 0.002.
struct UnitInfo {
    std::string_view name;
    Dimension dimension;
    double numerator;
    double denominator;
    int pi_power;
    std::string_view description;
};

[[nodiscard]] std::span<const StatementInfo> statement_table();
[[nodiscard]] const StatementInfo& info(StatementKind kind);
[[nodiscard]] const StatementInfo* find_statement(std::string_view keyword);
[[nodiscard]] std::span<const std::string_view> clause_words();
[[nodiscard]] bool is_clause_word(std::string_view word);
[[nodiscard]] std::span<const FunctionSchema> function_table();
[[nodiscard]] const FunctionSchema* find_function(std::string_view name);
[[nodiscard]] std::span<const UnitInfo> unit_table();
[[nodiscard]] const UnitInfo* find_unit(std::string_view name);
// statement keywords, pi, t, and, or, not, and the reserved functions
[[nodiscard]] bool is_reserved(std::string_view name);

[[nodiscard]] std::vector<std::string> statement_keywords();
[[nodiscard]] std::vector<std::string> function_names();
[[nodiscard]] std::vector<std::string> unit_names();

// the tables as Markdown, part of docs/language.md verbatim
[[nodiscard]] std::string language_reference();

// what `run` accepts
[[nodiscard]] std::vector<std::string> supported_formulations();

}  // namespace appell
