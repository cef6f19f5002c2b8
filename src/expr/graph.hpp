// The expression graph: one append-only, hash-consed arena.
//
// Invariants, relied on everywhere:
//   - operands have smaller ids than their node, so creation order is a topological order and every pass is a plain loop;
//   - equal ids mean equal expressions; commutative operands are ordered by id, so runs are reproducible byte for byte;
//   - nodes never change and never go away. Only construction (with the local rules of rules.cpp) adds nodes.
// Constants are folded only when the result is exact: two derivations of one quantity then agree to every digit asked for.
//
// Vector nodes hold vectors as the user wrote them: basis vectors, vel(P), omega(B) and their sums and products. They let a
// constraint be differentiated by the vectors in it (design section 4); `kinem` resolves them into components.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace appell {

enum class Op : std::uint8_t {
#define APPELL_LEAF(Name) Name,
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) Name,
#define APPELL_STRUCTURE(Name, arity) Name,
#define APPELL_VECTOR(Name, arity) Name,
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_OP
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
};

struct OpInfo {
    std::string_view name;  // the enumerator's name
    std::string_view text;  // the name in the language; empty for leaves and structure
    int arity;              // number of operands that are nodes
    bool scalar;            // a scalar operation of APPELL_OP
    bool vector;            // the value is a vector
};

[[nodiscard]] const OpInfo& info(Op op);
[[nodiscard]] std::size_t op_count();

struct Node {
    Op op;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;

    friend bool operator==(const Node&, const Node&) = default;
};
static_assert(sizeof(Node) == 16);

enum class SymbolKind : std::uint8_t {
    time,
    parameter,
    input,
    coordinate,        // q
    coordinate_rate,   // q'
    coordinate_rate2,  // q''
    quasi_rate,        // angular-velocity component of a quaternion frame, a rate that is no q'
    speed,             // u
    speed_rate,        // u'
    multiplier,        // lambda of a constraint row
    argument,          // formal argument of a user function
    other
};

struct SymbolInfo {
    std::string name;
    SymbolKind kind;
};

struct VectorSymbolInfo {
    std::string name;     // as printed: "N.x", "vel(P1)"
    std::uint8_t kind;    // what it is, in the terms of the model (model/vector_symbols.hpp)
    std::uint32_t first;  // its entities
    std::uint32_t second;
};

// A user function or a partial derivative of one. Functions given by an expression are expanded where they are called and
// never appear as Call nodes; opaque ones stay, and their derivatives are functions of their own.
struct FunctionInfo {
    std::string name;
    std::vector<std::string> arguments;
    FunctionId base;                   // the function itself for order zero
    std::vector<std::uint8_t> orders;  // how often each argument was differentiated
    std::vector<FunctionId> partials;  // by argument; invalid until asked for
    std::vector<SymbolId> formals;     // given functions: the formal arguments
    NodeId body;                       // given functions: the expression
};

// Thrown when a graph would grow beyond its limit; the pipeline turns it into a diagnostic.
class NodeLimitReached : public Error {
public:
    using Error::Error;
};

class Graph {
public:
    explicit Graph(std::size_t node_limit = 0xfffffff0u);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    Graph(Graph&&) = default;
    Graph& operator=(Graph&&) = default;

    // --- reading
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
    [[nodiscard]] Op op(NodeId id) const { return nodes_[id.index()].op; }
    [[nodiscard]] NodeId operand(NodeId id, int which) const {
        const Node& n = node(id);
        return NodeId(which == 0 ? n.a : which == 1 ? n.b : n.c);
    }
    [[nodiscard]] int arity(NodeId id) const { return info(op(id)).arity; }
    [[nodiscard]] bool is_vector(NodeId id) const { return info(op(id)).vector; }
    [[nodiscard]] std::optional<double> constant_value(NodeId id) const {
        const Node& n = node(id);
        if (n.op != Op::Constant) return std::nullopt;
        return std::bit_cast<double>((static_cast<std::uint64_t>(n.b) << 32) | n.a);
    }
    [[nodiscard]] bool is_constant(NodeId id, double value) const { return constant_value(id) == value; }
    [[nodiscard]] int exponent(NodeId pow_int) const { return static_cast<std::int32_t>(node(pow_int).b); }
    [[nodiscard]] std::uint32_t frame_of_dt(NodeId vdt) const { return node(vdt).b; }
    [[nodiscard]] FunctionId function_of(NodeId call) const { return FunctionId(node(call).b); }
    [[nodiscard]] std::vector<NodeId> call_arguments(NodeId call) const;

    // --- symbols and functions
    SymbolId add_symbol(std::string name, SymbolKind kind);
    [[nodiscard]] const SymbolInfo& symbol(SymbolId id) const { return symbols_[id.index()]; }
    [[nodiscard]] std::size_t symbol_count() const { return symbols_.size(); }
    [[nodiscard]] NodeId symbol_node(SymbolId id);
    [[nodiscard]] SymbolId symbol_of(NodeId id) const { return SymbolId(node(id).a); }
    VectorSymbolId add_vector_symbol(VectorSymbolInfo info);
    [[nodiscard]] const VectorSymbolInfo& vector_symbol(VectorSymbolId id) const { return vector_symbols_[id.index()]; }
    [[nodiscard]] std::size_t vector_symbol_count() const { return vector_symbols_.size(); }
    FunctionId add_opaque_function(std::string name, std::vector<std::string> arguments);
    FunctionId add_given_function(std::string name, std::vector<SymbolId> formals, NodeId body);
    [[nodiscard]] const FunctionInfo& function(FunctionId id) const { return functions_[id.index()]; }
    [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
    [[nodiscard]] FunctionId partial(FunctionId function, std::size_t argument);

    // --- construction; the rules of rules.cpp are applied
    [[nodiscard]] NodeId constant(double value);
    [[nodiscard]] NodeId pi();
    [[nodiscard]] NodeId make(Op op, NodeId x, NodeId y = {}, NodeId z = {});  // scalar operations of the table
    [[nodiscard]] NodeId add(NodeId x, NodeId y) { return make(Op::Add, x, y); }
    [[nodiscard]] NodeId sub(NodeId x, NodeId y) { return make(Op::Sub, x, y); }
    [[nodiscard]] NodeId mul(NodeId x, NodeId y) { return make(Op::Mul, x, y); }
    [[nodiscard]] NodeId div(NodeId x, NodeId y) { return make(Op::Div, x, y); }
    [[nodiscard]] NodeId neg(NodeId x) { return make(Op::Neg, x); }
    [[nodiscard]] NodeId pow(NodeId x, int n);
    [[nodiscard]] NodeId call(FunctionId function, std::span<const NodeId> arguments);
    [[nodiscard]] NodeId sum(std::span<const NodeId> terms);  // a balanced tree

    [[nodiscard]] NodeId vector_zero();
    [[nodiscard]] NodeId vector_node(VectorSymbolId id);
    [[nodiscard]] VectorSymbolId vector_symbol_of(NodeId id) const { return VectorSymbolId(node(id).a); }
    [[nodiscard]] NodeId vadd(NodeId v, NodeId w);
    [[nodiscard]] NodeId vneg(NodeId v);
    [[nodiscard]] NodeId vscale(NodeId s, NodeId v);
    [[nodiscard]] NodeId dot(NodeId v, NodeId w);
    [[nodiscard]] NodeId cross(NodeId v, NodeId w);
    [[nodiscard]] NodeId vdt(NodeId v, std::uint32_t frame);

    // A node exactly as given, hash-consed but not rewritten. For rules.cpp and for tests of the rules.
    [[nodiscard]] NodeId intern(const Node& node);

    // how often each rule of rules.cpp was used, by its index in the rule table
    [[nodiscard]] const std::vector<std::uint64_t>& rule_uses() const { return rule_uses_; }

private:
    friend struct RuleTable;

    void grow_table();

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> table_;  // open addressing, power of two, node index + 1; 0 is empty
    std::vector<SymbolInfo> symbols_;
    std::vector<VectorSymbolInfo> vector_symbols_;
    std::vector<FunctionInfo> functions_;
    std::vector<std::uint64_t> rule_uses_;
    std::size_t node_limit_;
};

// A node together with its graph, for formulas that read like formulas. `==` means the same node of the same graph.
struct Expr {
    Graph* graph = nullptr;
    NodeId id;

    friend bool operator==(const Expr&, const Expr&) = default;
};

[[nodiscard]] inline Expr constant(Graph& graph, double value) { return {&graph, graph.constant(value)}; }

[[nodiscard]] Expr operator+(Expr x, Expr y);
[[nodiscard]] Expr operator-(Expr x, Expr y);
[[nodiscard]] Expr operator*(Expr x, Expr y);
[[nodiscard]] Expr operator/(Expr x, Expr y);
[[nodiscard]] Expr operator-(Expr x);
[[nodiscard]] Expr operator+(Expr x, double y);
[[nodiscard]] Expr operator-(Expr x, double y);
[[nodiscard]] Expr operator*(double x, Expr y);
[[nodiscard]] Expr operator/(Expr x, double y);
[[nodiscard]] Expr pow(Expr x, Expr y);
[[nodiscard]] Expr pow(Expr x, int n);
[[nodiscard]] Expr sqrt(Expr x);
[[nodiscard]] Expr exp(Expr x);
[[nodiscard]] Expr log(Expr x);
[[nodiscard]] Expr sin(Expr x);
[[nodiscard]] Expr cos(Expr x);
[[nodiscard]] Expr tan(Expr x);
[[nodiscard]] Expr asin(Expr x);
[[nodiscard]] Expr acos(Expr x);
[[nodiscard]] Expr atan(Expr x);
[[nodiscard]] Expr atan2(Expr y, Expr x);
[[nodiscard]] Expr sinh(Expr x);
[[nodiscard]] Expr cosh(Expr x);
[[nodiscard]] Expr tanh(Expr x);
[[nodiscard]] Expr abs(Expr x);
[[nodiscard]] Expr sign(Expr x);
[[nodiscard]] Expr min(Expr x, Expr y);
[[nodiscard]] Expr max(Expr x, Expr y);
[[nodiscard]] Expr less(Expr x, Expr y);
[[nodiscard]] Expr less_equal(Expr x, Expr y);
[[nodiscard]] Expr conditional(Expr condition, Expr yes, Expr no);

}  // namespace appell
