#include "expr/substitute.hpp"


#include "expr/places.hpp"
#include "expr/sweep.hpp"

namespace appell {

void Substitution::set(SymbolId symbol, NodeId replacement) { scalars_[symbol.value] = replacement; }
void Substitution::set(VectorSymbolId symbol, NodeId replacement) { vectors_[symbol.value] = replacement; }

NodeId Substitution::find(SymbolId symbol) const {
    const auto found = scalars_.find(symbol.value);
    return found != scalars_.end() ? found->second : NodeId{};
}
NodeId Substitution::find(VectorSymbolId symbol) const {
    const auto found = vectors_.find(symbol.value);
    return found != vectors_.end() ? found->second : NodeId{};
}

NodeId rebuild(Graph& graph, NodeId id, NodeId x, NodeId y, NodeId z) {
    const Node node = graph.node(id);
    switch (node.op) {
        case Op::PowInt: return graph.pow(x, graph.exponent(id));
        case Op::Args: return graph.intern({Op::Args, x.value, y.value});
        case Op::Call: return graph.intern({Op::Call, x.value, node.b});
        case Op::Dot: return graph.dot(x, y);
        case Op::VAdd: return graph.vadd(x, y);
        case Op::VNeg: return graph.vneg(x);
        case Op::VScale: return graph.vscale(x, y);
        case Op::Cross: return graph.cross(x, y);
        case Op::VDt: return graph.vdt(x, node.b);
        default: return info(node.op).scalar ? graph.make(node.op, x, y, z) : id;
    }
}

std::vector<NodeId> substitute(Graph& graph, std::span<const NodeId> roots, const Substitution& substitution) {
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(graph, roots);
    std::vector<NodeId> images(order.size());
    Places places;
    places.assign(order);
    const auto image = [&](NodeId id) { return images[places[id]]; };
    for (std::size_t i = 0; i < order.size(); ++i) {
        const NodeId id = order[i];
        NodeId result = id;
        if (graph.op(id) == Op::Symbol) {
            if (const NodeId found = substitution.find(graph.symbol_of(id)); found.valid()) result = found;
        } else if (graph.op(id) == Op::VSymbol) {
            if (const NodeId found = substitution.find(graph.vector_symbol_of(id)); found.valid()) result = found;
        } else if (const int arity = graph.arity(id); arity > 0) {
            const NodeId x = image(graph.operand(id, 0));
            const NodeId y = arity > 1 ? image(graph.operand(id, 1)) : NodeId{};
            const NodeId z = arity > 2 ? image(graph.operand(id, 2)) : NodeId{};
            const bool same =
                x == graph.operand(id, 0) && (arity < 2 || y == graph.operand(id, 1)) && (arity < 3 || z == graph.operand(id, 2));
            if (!same) result = rebuild(graph, id, x, y, z);
        }
        images[i] = result;
    }
    std::vector<NodeId> out;
    out.reserve(roots.size());
    for (const NodeId root : roots) out.push_back(image(root));
    return out;
}

NodeId substitute(Graph& graph, NodeId root, const Substitution& substitution) {
    return substitute(graph, std::span(&root, 1), substitution).front();
}

}  // namespace appell
