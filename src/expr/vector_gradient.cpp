#include "expr/vector_gradient.hpp"

#include <algorithm>

#include "expr/differentiate.hpp"
#include "expr/sweep.hpp"

namespace appell {

VectorGradient vector_gradient(Graph& g, NodeId expression) {
    if (g.is_vector(expression)) throw Error("the gradient of a scalar is wanted; take a component of the vector first");
    Sweep sweep;
    const std::vector<NodeId> order = sweep.collect(g, std::span(&expression, 1));
    std::vector<NodeId> adjoints(order.size());
    const NodeId zero = g.constant(0), nothing = g.vector_zero();
    const auto push = [&](NodeId operand, NodeId contribution) {
        if (contribution == zero || contribution == nothing) return;
        NodeId& a = adjoints[static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), operand) - order.begin())];
        if (!a.valid())
            a = contribution;
        else
            a = g.is_vector(operand) ? g.vadd(a, contribution) : g.add(a, contribution);
    };
    push(expression, g.constant(1));

    VectorGradient out;
    for (std::size_t i = order.size(); i-- > 0;) {
        const NodeId id = order[i], c = adjoints[i];
        if (!c.valid() || c == zero || c == nothing) continue;
        const Op op = g.op(id);
        const auto x = [&](int k) { return g.operand(id, k); };
        switch (op) {
            case Op::Symbol: out.scalars.push_back({g.symbol_of(id), c}); break;
            case Op::VSymbol: out.vectors.push_back({g.vector_symbol_of(id), c}); break;
            case Op::Dot:
                push(x(0), g.vscale(c, x(1)));
                push(x(1), g.vscale(c, x(0)));
                break;
            case Op::VAdd:
                push(x(0), c);
                push(x(1), c);
                break;
            case Op::VNeg: push(x(0), g.vneg(c)); break;
            case Op::VScale:
                push(x(0), g.dot(c, x(1)));
                push(x(1), g.vscale(x(0), c));
                break;
            case Op::Cross:  // c . (a x b) = a . (b x c) = b . (c x a)
                push(x(0), g.cross(x(1), c));
                push(x(1), g.cross(c, x(0)));
                break;
            case Op::VDt: out.derivative = id; break;
            case Op::Call: {
                const std::vector<NodeId> arguments = g.call_arguments(id);
                for (std::size_t k = 0; k < arguments.size(); ++k)
                    push(arguments[k], g.mul(c, g.call(g.partial(g.function_of(id), k), arguments)));
                break;
            }
            case Op::Args: break;
            default:
                for (int k = 0; k < g.arity(id); ++k) {
                    if (g.op(x(k)) == Op::Constant || g.op(x(k)) == Op::Pi) continue;
                    push(x(k), g.mul(c, partial_by_operand(g, id, k)));
                }
        }
    }
    const auto by_symbol = [](const auto& a, const auto& b) { return a.symbol < b.symbol; };
    std::sort(out.vectors.begin(), out.vectors.end(), by_symbol);
    std::sort(out.scalars.begin(), out.scalars.end(), by_symbol);
    return out;
}

}  // namespace appell
