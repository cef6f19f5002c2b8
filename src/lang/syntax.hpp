// The syntax tree. An expression is a list of nodes in postfix order, so that reading and evaluating it are plain loops with a
// stack on the heap; no depth of the user's text can exhaust the program's stack. A statement is a list of parts, each with its
// role; families are flat: a `for` statement knows how many statements its block holds.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/source.hpp"
#include "lang/schema.hpp"

namespace appell {

using NameId = std::uint32_t;
inline constexpr NameId k_no_name = 0xffffffffu;

// names are compared by number; the table lives as long as the syntax
class NameTable {
public:
    NameId intern(std::string_view name);
    [[nodiscard]] const std::string& text(NameId id) const { return names_[id]; }

private:
    std::deque<std::string> names_;  // a deque, so that the keys below stay valid
    std::unordered_map<std::string_view, NameId> ids_;
};

enum class SyntaxKind : std::uint8_t {
    number,     // value, unit
    name,       // name; `count` indices below it, `primes` behind it
    member,     // .name of the value below
    axis,       // the word x, y or z where an axis is expected
    word,       // the name of a matrix or a count
    unary,      // op
    binary,     // op
    call,       // function `name` of `count` values below
    tuple,      // `count` values below
    at,         // body at point
    sum_begin,  // loop `name` over the two bounds below; the body follows; `count` is the distance to sum_end
    sum_end
};

enum class SyntaxOp : std::uint8_t {
    none,
    add,
    sub,
    mul,
    div,
    pow,
    neg,
    plus,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    unequal,
    and_,
    or_,
    not_
};

struct SyntaxNode {
    SyntaxKind kind = SyntaxKind::number;
    SyntaxOp op = SyntaxOp::none;
    std::uint8_t primes = 0;
    std::uint32_t count = 0;
    NameId name = 0;
    std::uint32_t unit = 0;  // index in Syntax::units; 0 is none
    Span span;               // of the whole subexpression's own token, or operator
    double value = 0;
};

struct SyntaxExpr {
    std::vector<SyntaxNode> nodes;
    Span span;

    [[nodiscard]] bool empty() const { return nodes.empty(); }
};

struct SyntaxName {
    NameId name = 0;
    Span span;
    std::vector<SyntaxExpr> indices;
    int primes = 0;
};

// a product of unit words
struct UnitValue {
    Dimension dimension;
    double numerator = 1, denominator = 1;
    int pi_power = 0;
    // a word that repeats the dimension of another one, as g in kg*g: perhaps a name of the model was meant
    NameId suspect = k_no_name;
};

enum class Role : std::uint8_t {
    name,   // what is declared or listed: opens an item of a list
    title,  // string
    value,  // behind =
    fixed,
    opaque,
    argument,  // formal argument
    parent,    // from FRAME of a frame
    angle,
    axis,        // list of three expressions, or word x y z
    sequence,    // word, e.g. bzxz or szxz
    quaternion,  // list
    cosines,     // list
    fixed_in,
    at,
    mass,
    frame,
    center,
    center_at,
    inertia,  // list
    about,
    in,
    on,
    from,
    stiffness,
    length,
    coefficient,
    vector,  // the one expression of gravity, potential
    left,    // equations: left then right; a relation has left alone
    right,
    unilateral,  // behind right: `>=` stood between them
    restitution,
    initially_off,
    bound,         // of friction
    static_bound,  // of friction that sticks
    along,
    vs,
    trace,
    path,
    plane,   // word
    option,  // word and, behind it, an option's value
    first,
    last,
    where,
    target,  // force, torque or load and what it acts on; actuators of a servo; what an event does
    action
};

struct Part {
    Role role;
    Span span;
    SyntaxName name;
    SyntaxExpr expr;
    std::vector<SyntaxExpr> list;
    std::string word;
};

struct Statement {
    StatementKind kind;
    Span span;  // the whole statement
    Span keyword;
    std::vector<Part> parts;
    std::size_t block = 0;  // of `for`: number of statements in its block, `end` not counted
    bool unclosed = false;  // of `for` without its `end`: its statements are read once

    [[nodiscard]] const Part* find(Role role) const {
        for (const Part& part : parts)
            if (part.role == role) return &part;
        return nullptr;
    }
};

struct Syntax {
    NameTable names;
    std::vector<UnitValue> units{UnitValue{}};
    std::vector<Statement> statements;   // flat; `end` is not among them
    std::vector<std::uint8_t> poisoned;  // by name: it stands in a statement that could not be read
    void poison(NameId name) {
        if (poisoned.size() <= name) poisoned.resize(name + 1, 0);
        poisoned[name] = 1;
    }
    [[nodiscard]] bool is_poisoned(NameId name) const { return name < poisoned.size() && poisoned[name] != 0; }
};

}  // namespace appell
