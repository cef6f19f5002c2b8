#include "expr/substitute.hpp"

#include "expr/memoized_substitution.hpp"
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

namespace {

// a node's image from those of its operands
template <class Image>
NodeId image_of(Graph& graph, NodeId id, const Substitution& substitution, Image image) {
    if (graph.op(id) == Op::Symbol) {
        const NodeId found = substitution.find(graph.symbol_of(id));
        return found.valid() ? found : id;
    }
    if (graph.op(id) == Op::VSymbol) {
        const NodeId found = substitution.find(graph.vector_symbol_of(id));
        return found.valid() ? found : id;
    }
    const int arity = graph.arity(id);
    if (arity == 0) return id;
    const NodeId x = image(graph.operand(id, 0));
    const NodeId y = arity > 1 ? image(graph.operand(id, 1)) : NodeId{};
    const NodeId z = arity > 2 ? image(graph.operand(id, 2)) : NodeId{};
    const bool same =
        x == graph.operand(id, 0) && (arity < 2 || y == graph.operand(id, 1)) && (arity < 3 || z == graph.operand(id, 2));
    return same ? id : rebuild(graph, id, x, y, z);
}

}  // namespace

std::vector<NodeId> substitute(Graph& graph, std::span<const NodeId> roots, const Substitution& substitution) {
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(graph, roots);
    std::vector<NodeId> images(order.size());
    Places places;
    places.assign(order);
    const auto image = [&](NodeId id) { return images[places[id]]; };
    for (std::size_t i = 0; i < order.size(); ++i) images[i] = image_of(graph, order[i], substitution, image);
    std::vector<NodeId> out;
    out.reserve(roots.size());
    for (const NodeId root : roots) out.push_back(image(root));
    return out;
}

NodeId substitute(Graph& graph, NodeId root, const Substitution& substitution) {
    return substitute(graph, std::span(&root, 1), substitution).front();
}

std::vector<NodeId> MemoizedSubstitution::new_in(NodeId expression) {
    return sweep_.collect(graph_, std::span(&expression, 1), [&](NodeId id) { return is_known(id); });
}

NodeId MemoizedSubstitution::operator()(NodeId expression) {
    if (is_known(expression)) return images_[expression.index()];
    const std::vector<NodeId>& order = sweep_.collect(graph_, std::span(&expression, 1), [&](NodeId id) { return is_known(id); });
    if (images_.size() <= expression.index()) images_.resize(graph_.size());
    for (const NodeId id : order)
        images_[id.index()] = image_of(graph_, id, substitution_, [&](NodeId operand) { return images_[operand.index()]; });
    return images_[expression.index()];
}

}  // namespace appell
