#include "expr/graph.hpp"

#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "expr/expand_calls.hpp"
#include "expr/rules.hpp"

namespace appell {

namespace {

constexpr auto k_ops = std::to_array<OpInfo>({
#define APPELL_LEAF(Name) {#Name, "", 0, false, false},
#define APPELL_OP(Name, text, arity, value, dx, dy, dz) {#Name, text, arity, true, false},
#define APPELL_STRUCTURE(Name, arity) {#Name, "", arity, false, false},
#define APPELL_VECTOR(Name, arity) {#Name, "", arity, false, true},
#include "expr/ops.def"
#undef APPELL_LEAF
#undef APPELL_OP
#undef APPELL_STRUCTURE
#undef APPELL_VECTOR
});

std::uint64_t hash_node(const Node& n) {
    std::uint64_t h = static_cast<std::uint64_t>(n.op) * 0x9e3779b97f4a7c15ull;
    h = (h ^ n.a) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 29) ^ n.b) * 0x94d049bb133111ebull;
    h = (h ^ (h >> 31) ^ n.c) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 32);
}

}  // namespace

const OpInfo& info(Op op) { return k_ops[static_cast<std::size_t>(op)]; }
std::size_t op_count() { return k_ops.size(); }

Graph::Graph(std::size_t node_limit) : table_(1024, 0), rule_uses_(rule_count(), 0), node_limit_(node_limit) {}

std::vector<NodeId> Graph::call_arguments(NodeId call) const {
    std::vector<NodeId> arguments;
    for (NodeId list = operand(call, 0); op(list) == Op::Args; list = operand(list, 0)) arguments.push_back(operand(list, 1));
    return {arguments.rbegin(), arguments.rend()};
}

SymbolId Graph::add_symbol(std::string name, SymbolKind kind) {
    symbols_.push_back({std::move(name), kind});
    return SymbolId(symbols_.size() - 1);
}

NodeId Graph::symbol_node(SymbolId id) { return intern({Op::Symbol, id.value}); }

VectorSymbolId Graph::add_vector_symbol(VectorSymbolInfo symbol) {
    vector_symbols_.push_back(std::move(symbol));
    return VectorSymbolId(vector_symbols_.size() - 1);
}

FunctionId Graph::add_opaque_function(std::string name, std::vector<std::string> arguments) {
    const FunctionId id(functions_.size());
    const std::size_t count = arguments.size();
    functions_.push_back(
        {std::move(name), std::move(arguments), id, std::vector<std::uint8_t>(count, 0), std::vector<FunctionId>(count), {}, {}});
    return id;
}

FunctionId Graph::add_given_function(std::string name, std::vector<SymbolId> formals, NodeId body) {
    std::vector<std::string> arguments;
    for (const SymbolId formal : formals) arguments.push_back(symbol(formal).name);
    const FunctionId id = add_opaque_function(std::move(name), std::move(arguments));
    functions_[id.index()].formals = std::move(formals);
    functions_[id.index()].body = body;
    return id;
}

FunctionId Graph::partial(FunctionId function, std::size_t argument) {
    if (const FunctionId known = functions_[function.index()].partials.at(argument); known.valid()) return known;
    // a mixed partial may already exist through another order of differentiation
    FunctionInfo derived = functions_[function.index()];
    ++derived.orders[argument];
    for (std::size_t i = 0; i < functions_.size(); ++i)
        if (functions_[i].base == derived.base && functions_[i].orders == derived.orders)
            return functions_[function.index()].partials[argument] = FunctionId(i);
    derived.partials.assign(derived.arguments.size(), FunctionId{});
    functions_.push_back(std::move(derived));
    return functions_[function.index()].partials[argument] = FunctionId(functions_.size() - 1);
}

NodeId Graph::constant(double value) {
    if (std::isnan(value)) throw Error("a constant of an expression is not a number");
    if (value == 0) value = 0;  // -0 and 0 are one node
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return intern({Op::Constant, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

NodeId Graph::pi() { return intern({Op::Pi}); }

NodeId Graph::call(FunctionId id, std::span<const NodeId> arguments) {
    if (arguments.size() != function(id).arguments.size())
        throw Error(fmt::format("function {} takes {} arguments, {} given", function(id).name, function(id).arguments.size(),
                                arguments.size()));
    return function(id).body.valid() ? expand_call(*this, id, arguments) : call_as_written(*this, id, arguments);
}

NodeId Graph::sum(std::span<const NodeId> terms) {
    if (terms.empty()) return constant(0);
    std::vector<NodeId> level(terms.begin(), terms.end());
    while (level.size() > 1) {
        std::size_t out = 0;
        for (std::size_t i = 0; i < level.size(); i += 2)
            level[out++] = i + 1 < level.size() ? add(level[i], level[i + 1]) : level[i];
        level.resize(out);
    }
    return level.front();
}

NodeId Graph::vector_zero() { return intern({Op::VZero}); }
NodeId Graph::vector_node(VectorSymbolId id) { return intern({Op::VSymbol, id.value}); }

NodeId Graph::intern(const Node& n) {
    if ((nodes_.size() + 1) * 2 > table_.size()) grow_table();
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash_node(n) & mask;
    while (table_[slot] != 0) {
        if (nodes_[table_[slot] - 1] == n) return NodeId(table_[slot] - 1);
        slot = (slot + 1) & mask;
    }
    if (nodes_.size() >= node_limit_)
        throw NodeLimitReached(fmt::format("the expression graph reached its limit of {} nodes", node_limit_));
    nodes_.push_back(n);
    table_[slot] = static_cast<std::uint32_t>(nodes_.size());
    return NodeId(nodes_.size() - 1);
}

void Graph::grow_table() {
    std::vector<std::uint32_t> bigger(table_.size() * 2, 0);
    const std::size_t mask = bigger.size() - 1;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        std::size_t slot = hash_node(nodes_[i]) & mask;
        while (bigger[slot] != 0) slot = (slot + 1) & mask;
        bigger[slot] = static_cast<std::uint32_t>(i + 1);
    }
    table_ = std::move(bigger);
}

namespace {

Expr build(Op op, Expr x) { return {x.graph, x.graph->make(op, x.id)}; }

Expr build(Op op, Expr x, Expr y) {
    if (x.graph != y.graph) throw Error("expressions of different graphs can not be combined");
    return {x.graph, x.graph->make(op, x.id, y.id)};
}

}  // namespace

Expr operator+(Expr x, Expr y) { return build(Op::Add, x, y); }
Expr operator-(Expr x, Expr y) { return build(Op::Sub, x, y); }
Expr operator*(Expr x, Expr y) { return build(Op::Mul, x, y); }
Expr operator/(Expr x, Expr y) { return build(Op::Div, x, y); }
Expr operator-(Expr x) { return build(Op::Neg, x); }
Expr operator+(Expr x, double y) { return x + constant(*x.graph, y); }
Expr operator-(Expr x, double y) { return x - constant(*x.graph, y); }
Expr operator*(double x, Expr y) { return constant(*y.graph, x) * y; }
Expr operator/(Expr x, double y) { return x / constant(*x.graph, y); }
Expr pow(Expr x, Expr y) { return build(Op::Pow, x, y); }
Expr pow(Expr x, int n) { return {x.graph, x.graph->pow(x.id, n)}; }
Expr sqrt(Expr x) { return build(Op::Sqrt, x); }
Expr exp(Expr x) { return build(Op::Exp, x); }
Expr log(Expr x) { return build(Op::Log, x); }
Expr sin(Expr x) { return build(Op::Sin, x); }
Expr cos(Expr x) { return build(Op::Cos, x); }
Expr tan(Expr x) { return build(Op::Tan, x); }
Expr asin(Expr x) { return build(Op::Asin, x); }
Expr acos(Expr x) { return build(Op::Acos, x); }
Expr atan(Expr x) { return build(Op::Atan, x); }
Expr atan2(Expr y, Expr x) { return build(Op::Atan2, y, x); }
Expr sinh(Expr x) { return build(Op::Sinh, x); }
Expr cosh(Expr x) { return build(Op::Cosh, x); }
Expr tanh(Expr x) { return build(Op::Tanh, x); }
Expr abs(Expr x) { return build(Op::Abs, x); }
Expr sign(Expr x) { return build(Op::Sign, x); }
Expr min(Expr x, Expr y) { return build(Op::Min, x, y); }
Expr max(Expr x, Expr y) { return build(Op::Max, x, y); }
Expr less(Expr x, Expr y) { return build(Op::Less, x, y); }
Expr less_equal(Expr x, Expr y) { return build(Op::LessEqual, x, y); }
Expr conditional(Expr condition, Expr yes, Expr no) {
    if (condition.graph != yes.graph || condition.graph != no.graph)
        throw Error("expressions of different graphs can not be combined");
    return {condition.graph, condition.graph->make(Op::If, condition.id, yes.id, no.id)};
}

}  // namespace appell
