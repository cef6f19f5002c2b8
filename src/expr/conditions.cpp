#include "expr/conditions.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "expr/compared_pairs.hpp"
#include "expr/places.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"

namespace appell {

namespace {

// a value as a quotient
struct Ratio {
    NodeId numerator, denominator;
};

// a denominator is part of it
bool has_poles(const Graph& graph, NodeId id) {
    switch (graph.op(id)) {
        case Op::Tan: return true;
        case Op::Div: return !graph.constant_value(graph.operand(id, 1));
        case Op::PowInt: return graph.exponent(id) < 0 || has_poles(graph, graph.operand(id, 0));
        case Op::Neg: return has_poles(graph, graph.operand(id, 0));
        case Op::Add:
        case Op::Sub:
        case Op::Mul: return has_poles(graph, graph.operand(id, 0)) || has_poles(graph, graph.operand(id, 1));
        default: return false;
    }
}

Ratio ratio_of(Graph& graph, NodeId id) {
    const NodeId one = graph.constant(1);
    if (!has_poles(graph, id)) return {id, one};
    const Ratio x = graph.op(id) == Op::Tan ? Ratio{} : ratio_of(graph, graph.operand(id, 0));
    const auto second = [&] { return ratio_of(graph, graph.operand(id, 1)); };
    switch (graph.op(id)) {
        case Op::Tan: return {graph.make(Op::Sin, graph.operand(id, 0)), graph.make(Op::Cos, graph.operand(id, 0))};
        case Op::Neg: return {graph.neg(x.numerator), x.denominator};
        case Op::PowInt: {
            const std::int32_t n = graph.exponent(id);
            if (n < 0) return {graph.pow(x.denominator, -n), graph.pow(x.numerator, -n)};
            return {graph.pow(x.numerator, n), graph.pow(x.denominator, n)};
        }
        case Op::Mul: {
            const Ratio y = second();
            return {graph.mul(x.numerator, y.numerator), graph.mul(x.denominator, y.denominator)};
        }
        case Op::Div: {
            const Ratio y = second();
            return {graph.mul(x.numerator, y.denominator), graph.mul(x.denominator, y.numerator)};
        }
        default: {  // a sum or a difference
            const Ratio y = second();
            if (x.denominator == y.denominator) return {graph.make(graph.op(id), x.numerator, y.numerator), x.denominator};
            return {graph.make(graph.op(id), graph.mul(x.numerator, y.denominator), graph.mul(y.numerator, x.denominator)),
                    graph.mul(x.denominator, y.denominator)};
        }
    }
}

// by the sign of its one operand, or of something in it
bool compares_with_zero(const Graph& graph, NodeId id) { return graph.arity(id) == 1 || graph.op(id) == Op::Atan2; }

bool bends(Op op) { return op == Op::Abs || op == Op::Min || op == Op::Max; }

// what a value under a node depends on, and whether it is a truth: 0 or 1 by comparisons
struct Traits {
    bool time = false, state = false, unknown = false, truth = false;
};

Traits traits_of_symbol(SymbolKind kind) {
    switch (kind) {
        case SymbolKind::time: return {.time = true};
        case SymbolKind::coordinate:
        case SymbolKind::speed: return {.state = true};
        case SymbolKind::parameter:
        case SymbolKind::input: return {};
        default: return {.unknown = true};
    }
}

class NodeTraits {
public:
    NodeTraits(const Graph& graph, const std::vector<NodeId>& order) : graph_(graph), traits_(order.size()) {
        places_.assign(order);
        for (std::size_t i = 0; i < order.size(); ++i) traits_[i] = of(order[i]);
    }
    [[nodiscard]] const Traits& operator[](NodeId id) const { return traits_[places_[id]]; }

private:
    [[nodiscard]] Traits of(NodeId id) const {
        const Op op = graph_.op(id);
        if (op == Op::Symbol) return traits_of_symbol(graph_.symbol(graph_.symbol_of(id)).kind);
        if (op == Op::VSymbol || op == Op::Call) return {.unknown = true};
        Traits out;
        bool truths = graph_.arity(id) > 0;
        for (int k = 0; k < graph_.arity(id); ++k) {
            const Traits& operand = (*this)[graph_.operand(id, k)];
            out.time |= operand.time;
            out.state |= operand.state;
            out.unknown |= operand.unknown;
            truths &= operand.truth || (op == Op::If && k == 0);
        }
        const bool joins = op == Op::Mul || op == Op::Min || op == Op::Max || op == Op::Sub || op == Op::If;
        const std::optional<double> value = graph_.constant_value(id);
        out.truth = op == Op::Less || op == Op::LessEqual || (joins && truths) || value == 0.0 || value == 1.0;
        return out;
    }

    const Graph& graph_;
    Places places_;
    std::vector<Traits> traits_;
};

// the nodes of operations that compare, operands first
std::vector<NodeId> comparisons_among(const Graph& graph, const std::vector<NodeId>& order, const NodeTraits& traits) {
    std::vector<NodeId> out;
    for (const NodeId id : order) {
        const Op op = graph.op(id);
        // `or` is the larger of two truths
        const bool joins = graph.arity(id) == 2 && op != Op::Less && op != Op::LessEqual && traits[id].truth;
        if (compares(graph, id) && !joins) out.push_back(id);
    }
    return out;
}

bool compare_something(const Graph& graph, const std::vector<NodeId>& order) {
    return std::ranges::any_of(order, [&](NodeId id) { return compares(graph, id); });
}

// a root and a magnitude are never below zero; floors that only keep a quotient from 0/0 are as good as zero
bool one_sided(const Graph& graph, const Compared& sides) {
    constexpr double k_floor = 1e-200;
    const auto not_negative = [&](NodeId id) { return graph.op(id) == Op::Sqrt || graph.op(id) == Op::Abs; };
    const auto floor = [&](NodeId id) {
        const std::optional<double> value = graph.constant_value(id);
        return value && *value <= k_floor;
    };
    return (not_negative(sides.first) && floor(sides.second)) || (not_negative(sides.second) && floor(sides.first));
}

// an operation may jump, or have a pole, where this operand of it is zero
bool may_jump_at_zero(const Graph& graph, NodeId id, int operand) {
    switch (graph.op(id)) {
        case Op::Div: return operand == 1;
        case Op::PowInt: return graph.exponent(id) < 0;
        case Op::Pow: return operand == 0 && !(graph.constant_value(graph.operand(id, 1)) > 0.0);
        case Op::Log:
        case Op::Atan2: return true;
        default: return false;
    }
}

// By node of an order: what bends there may make a value above it jump.
std::vector<bool> bends_may_jump(const Graph& graph, const std::vector<NodeId>& order) {
    Places places;
    places.assign(order);
    std::vector<bool> out(order.size(), false);
    for (std::size_t i = order.size(); i-- > 0;)
        for (int k = 0; k < graph.arity(order[i]); ++k)
            if (out[i] || may_jump_at_zero(graph, order[i], k)) out[places[graph.operand(order[i], k)]] = true;
    return out;
}

// a root, a logarithm or a broken power, which have no value or no slope below zero
bool is_root(const Graph& graph, NodeId id) {
    return graph.op(id) == Op::Sqrt || graph.op(id) == Op::Log || graph.op(id) == Op::Pow;
}

// the same for both orders of a pair
std::uint64_t key_of(NodeId x, NodeId y) {
    return (static_cast<std::uint64_t>(std::min(x.value, y.value)) << 32) | std::max(x.value, y.value);
}

}  // namespace

bool compares(const Graph& graph, NodeId id) {
    switch (graph.op(id)) {
        case Op::Abs:
        case Op::Sign:
        case Op::Min:
        case Op::Max:
        case Op::Less:
        case Op::LessEqual:
        case Op::Atan2: return true;  // of y with zero: where x is negative, it jumps there
        case Op::Atan:
        case Op::Tanh: return has_poles(graph, graph.operand(id, 0));
        default: return false;
    }
}

Compared compared_by(Graph& graph, NodeId id) {
    const NodeId x = graph.operand(id, 0);
    if (graph.op(id) == Op::Atan || graph.op(id) == Op::Tanh) return {ratio_of(graph, x).denominator, graph.constant(0)};
    return {x, compares_with_zero(graph, id) ? graph.constant(0) : graph.operand(id, 1)};
}

std::vector<ComparedPair> compared_pairs(Graph& graph, std::span<const NodeId> roots) {
    std::vector<ComparedPair> out;
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(graph, roots);
    if (!compare_something(graph, order)) return out;
    const NodeTraits traits(graph, order);
    const std::vector<bool> may_jump = bends_may_jump(graph, order);
    Places places;
    places.assign(order);
    std::unordered_map<std::uint64_t, std::size_t> index;
    for (const NodeId id : comparisons_among(graph, order, traits)) {
        const Compared sides = compared_by(graph, id);
        if (one_sided(graph, sides)) continue;
        const auto [place, fresh] = index.emplace(key_of(sides.first, sides.second), out.size());
        if (fresh) out.push_back({sides.first, sides.second});
        const Traits& t = traits[id];
        const Op op = graph.op(id);
        ComparedPair& pair = out[place->second];
        pair.time = t.time;
        pair.state = t.state;
        pair.unknown = t.unknown;
        pair.jumps |= !bends(op) || may_jump[places[id]];
    }
    return out;
}

void add_smooth_value(Graph& graph, const SmoothValue& smooth) { (void)graph.add_given_function(smooth.text, {}, smooth.value); }

std::vector<SmoothValue> smooth_values(const Graph& graph) {
    std::vector<SmoothValue> out;
    for (std::size_t i = 0; i < graph.function_count(); ++i)
        // NOTE: no user's function has a bracket in its name
        if (const FunctionInfo& f = graph.function(FunctionId(i)); f.body.valid() && f.name.starts_with("smooth("))
            out.push_back({f.name, f.body});
    return out;
}

std::uint64_t FrozenConditions::key(NodeId x, NodeId y) { return key_of(x, y); }

void FrozenConditions::leave(std::span<const NodeId> roots) {
    for (const NodeId id : roots) {
        if (!compares(graph_, id)) continue;
        const Compared pair = compared_by(graph_, id);
        left_.insert(key(pair.first, pair.second));
    }
}

void FrozenConditions::find(std::span<const NodeId> roots) {
    const std::size_t before = conditions_.size();
    for (const ComparedPair& pair : compared_pairs(graph_, roots)) {
        const std::uint64_t both = key(pair.first, pair.second);
        if (pair.unknown || !(pair.time || pair.state) || left_.contains(both)) continue;
        const auto [place, fresh] = index_.emplace(both, conditions_.size());
        if (fresh)
            conditions_.push_back({pair.first, pair.second,
                                   graph_.add_symbol("side " + std::to_string(conditions_.size() + 1), SymbolKind::parameter),
                                   !pair.state});
        conditions_[place->second].jumps |= pair.jumps;
    }
    if (conditions_.size() == before) return;
    images_.clear();  // of expressions that contain the new ones
    under_roots_.clear();
    for (std::size_t i = before; i < conditions_.size(); ++i) {
        Condition& c = conditions_[i];
        c.guard = (*this)(graph_.sub(c.first, c.second));
    }
}

// What an operation that compares is worth on a side of the condition that it belongs to. On side 0 it is as written, and on the
// surface the difference counts as zero, whatever round-off makes of it.
NodeId FrozenConditions::on_side(const Condition& c, NodeId id, NodeId x, NodeId y) {
    const Op op = graph_.op(id);
    const NodeId zero = graph_.constant(0), other = compares_with_zero(graph_, id) ? zero : y;
    const bool same = c.first == compared_by(graph_, id).first;  // or the other way round
    const NodeId side = graph_.symbol_node(c.side);
    const NodeId beside = graph_.make(Op::Less, side, graph_.constant(k_on_surface));
    const NodeId frozen_sign = graph_.make(Op::If, beside, same ? side : graph_.neg(side), zero);
    const NodeId sign = graph_.make(Op::If, side, frozen_sign, graph_.make(Op::Sign, graph_.sub(x, other)));
    switch (op) {
        case Op::Less: return graph_.make(Op::Less, sign, zero);
        case Op::LessEqual: return graph_.make(Op::LessEqual, sign, zero);
        case Op::Sign: return sign;
        case Op::Abs: return graph_.mul(sign, x);
        // where no side is frozen, the operation itself knows what to do with numbers that are none
        case Op::Min:
            return graph_.make(Op::If, side, graph_.make(Op::If, graph_.make(Op::LessEqual, frozen_sign, zero), x, y),
                               graph_.make(Op::Min, x, y));
        case Op::Max:
            return graph_.make(Op::If, side, graph_.make(Op::If, graph_.make(Op::LessEqual, zero, frozen_sign), x, y),
                               graph_.make(Op::Max, x, y));
        case Op::Atan: {  // beyond the pole the angle goes on
            const NodeId written = graph_.make(Op::Atan, x);
            const auto [numerator, denominator] = ratio_of(graph_, x);
            const NodeId angle = graph_.make(Op::Atan2, graph_.mul(side, numerator), graph_.mul(side, denominator));
            const NodeId at_pole = graph_.make(Op::Atan2, numerator, zero);
            return graph_.make(Op::If, side, graph_.make(Op::If, beside, angle, at_pole), written);
        }
        case Op::Tanh: {  // beyond the pole it stays where it came to
            const auto [numerator, denominator] = ratio_of(graph_, x);
            const NodeId not_there = graph_.make(Op::Less, zero, graph_.mul(side, denominator));
            const NodeId end = graph_.mul(frozen_sign, graph_.make(Op::Sign, numerator));
            const NodeId written = graph_.make(Op::Tanh, x);
            return graph_.make(Op::If, side, graph_.make(Op::If, not_there, written, end), written);
        }
        default: {  // atan2: beyond its cut the angle goes on
            const NodeId written = graph_.make(Op::Atan2, x, y);
            const NodeId turned = graph_.add(graph_.make(Op::Atan2, graph_.neg(x), graph_.neg(y)), graph_.mul(side, graph_.pi()));
            const NodeId angle = graph_.make(Op::If, graph_.make(Op::Less, y, zero), turned, written);
            return graph_.make(Op::If, side, graph_.make(Op::If, beside, angle, graph_.make(Op::Atan2, zero, y)), written);
        }
    }
}

NodeId FrozenConditions::frozen(NodeId id, Below below) {
    const int arity = graph_.arity(id);
    if (arity == 0) return id;
    const Below inside = is_root(graph_, id) ? Below::root : below;
    const NodeId x = image(graph_.operand(id, 0), inside);
    const NodeId y = arity > 1 ? image(graph_.operand(id, 1), inside) : NodeId{};
    const NodeId z = arity > 2 ? image(graph_.operand(id, 2), inside) : NodeId{};
    const Op op = graph_.op(id);
    if (compares(graph_, id) && !(below == Below::root && bends(op))) {
        const Compared sides = compared_by(graph_, id);
        if (const auto found = index_.find(key(sides.first, sides.second)); found != index_.end())
            return on_side(conditions_[found->second], id, x, y);
    }
    const bool same =
        x == graph_.operand(id, 0) && (arity < 2 || y == graph_.operand(id, 1)) && (arity < 3 || z == graph_.operand(id, 2));
    return same ? id : rebuild(graph_, id, x, y, z);
}

// The images of what lies below roots, which only some nodes have: where an operand has none, it is made.
NodeId FrozenConditions::image(NodeId id, Below below) {
    if (below == Below::anything) return images_[id.index()];
    if (const auto known = under_roots_.find(id.index()); known != under_roots_.end()) return known->second;
    Sweep sweep;
    const std::vector<NodeId> order =
        sweep.collect(graph_, std::span(&id, 1), [&](NodeId n) { return under_roots_.contains(n.index()); });
    for (const NodeId n : order) under_roots_[n.index()] = frozen(n, Below::root);
    return under_roots_[id.index()];
}

NodeId FrozenConditions::operator()(NodeId expression) {
    if (conditions_.empty()) return expression;
    const auto known = [&](NodeId id) { return id.index() < images_.size() && images_[id.index()].valid(); };
    if (known(expression)) return images_[expression.index()];
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(graph_, std::span(&expression, 1), known);
    if (images_.size() <= expression.index()) images_.resize(graph_.size());
    for (const NodeId id : order) images_[id.index()] = frozen(id, Below::anything);
    return images_[expression.index()];
}

}  // namespace appell
