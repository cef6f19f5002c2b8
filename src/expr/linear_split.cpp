#include "expr/linear_split.hpp"

#include <utility>

#include "expr/places.hpp"
#include "expr/sweep.hpp"

namespace appell {

namespace {

using Term = std::pair<std::uint32_t, NodeId>;  // column, coefficient; columns ascending

struct Form {
    std::vector<Term> terms;
    NodeId rest;
    bool linear = true;
};

// the terms of both sides, with `combine(column's left or zero, column's right or zero)`
template <class Combine>
std::vector<Term> merge(const std::vector<Term>& left, const std::vector<Term>& right, NodeId zero, Combine combine) {
    std::vector<Term> out;
    out.reserve(left.size() + right.size());
    auto p = left.begin(), q = right.begin();
    while (p != left.end() || q != right.end()) {
        const bool take_left = q == right.end() || (p != left.end() && p->first <= q->first);
        const bool take_right = p == left.end() || (q != right.end() && q->first <= p->first);
        const std::uint32_t column = take_left ? p->first : q->first;
        const NodeId value = combine(take_left ? p->second : zero, take_right ? q->second : zero);
        if (value != zero) out.emplace_back(column, value);
        if (take_left) ++p;
        if (take_right) ++q;
    }
    return out;
}

template <class Map>
std::vector<Term> each(const std::vector<Term>& terms, Map map) {
    std::vector<Term> out;
    out.reserve(terms.size());
    for (const auto& [column, value] : terms) out.emplace_back(column, map(value));
    return out;
}

}  // namespace

LinearSplit split_linear(Graph& g, std::span<const NodeId> roots, std::span<const SymbolId> variables) {
    LinearSplit split;
    split.coefficients = {roots.size(), variables.size(), {}};
    std::vector<std::uint32_t> column_of(g.symbol_count(), 0xffffffffu);
    for (std::size_t i = 0; i < variables.size(); ++i) column_of[variables[i].index()] = static_cast<std::uint32_t>(i);

    const NodeId zero = g.constant(0), one = g.constant(1);
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(g, roots);
    std::vector<Form> forms(order.size());
    std::vector<NodeId> bad(order.size());  // the first term below where linearity failed
    Places places;
    places.assign(order);
    const auto at = [&](NodeId id) { return places[id]; };

    for (std::size_t i = 0; i < order.size(); ++i) {
        const NodeId id = order[i];
        Form& form = forms[i];
        form.rest = id;
        if (g.op(id) == Op::Symbol) {
            if (const std::uint32_t column = column_of[g.symbol_of(id).index()]; column != 0xffffffffu) {
                form.terms = {{column, one}};
                form.rest = zero;
            }
            continue;
        }
        const int arity = g.arity(id);
        bool free = true;  // no variable below
        for (int k = 0; k < arity; ++k) {
            const std::size_t below = at(g.operand(id, k));
            if (!bad[i].valid()) bad[i] = bad[below];
            form.linear = form.linear && forms[below].linear;
            free = free && forms[below].linear && forms[below].terms.empty();
        }
        if (free) continue;
        if (!form.linear || g.op(id) == Op::Args) {
            // an argument list is no expression of its own: the call that owns it is the term to show
            form.linear = false;
            if (!bad[i].valid() && g.op(id) != Op::Args) bad[i] = id;
            continue;
        }
        const Form& x = forms[at(g.operand(id, 0))];
        const Form* y = arity > 1 ? &forms[at(g.operand(id, 1))] : nullptr;
        const auto add = [&](NodeId p, NodeId q) { return g.add(p, q); };
        const auto sub = [&](NodeId p, NodeId q) { return g.sub(p, q); };
        switch (g.op(id)) {
            case Op::Add: form = {merge(x.terms, y->terms, zero, add), g.add(x.rest, y->rest), true}; continue;
            case Op::Sub: form = {merge(x.terms, y->terms, zero, sub), g.sub(x.rest, y->rest), true}; continue;
            case Op::Neg: form = {each(x.terms, [&](NodeId c) { return g.neg(c); }), g.neg(x.rest), true}; continue;
            case Op::Mul:
                if (x.terms.empty() || y->terms.empty()) {
                    const Form& linear = x.terms.empty() ? *y : x;
                    const NodeId factor = x.terms.empty() ? x.rest : y->rest;
                    form = {each(linear.terms, [&](NodeId c) { return g.mul(factor, c); }), g.mul(factor, linear.rest), true};
                    continue;
                }
                break;
            case Op::Div:
                if (y->terms.empty()) {
                    form = {each(x.terms, [&](NodeId c) { return g.div(c, y->rest); }), g.div(x.rest, y->rest), true};
                    continue;
                }
                break;
            case Op::If:
                if (x.terms.empty()) {
                    const Form& z = forms[at(g.operand(id, 2))];
                    const auto choose = [&](NodeId p, NodeId q) { return g.make(Op::If, x.rest, p, q); };
                    form = {merge(y->terms, z.terms, zero, choose), choose(y->rest, z.rest), true};
                    continue;
                }
                break;
            default: break;
        }
        form.linear = false;
        bad[i] = id;
    }

    for (std::size_t row = 0; row < roots.size(); ++row) {
        const std::size_t i = at(roots[row]);
        if (!forms[i].linear) {
            if (!split.failure) split.failure = NotLinear{row, bad[i]};
            split.remainders.push_back(roots[row]);
            continue;
        }
        for (const auto& [column, value] : forms[i].terms)
            split.coefficients.entries.push_back({static_cast<std::uint32_t>(row), column, value});
        split.remainders.push_back(forms[i].rest);
    }
    return split;
}

}  // namespace appell
