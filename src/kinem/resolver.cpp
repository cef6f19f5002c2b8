#include "kinem/resolver.hpp"

#include "expr/substitute.hpp"

namespace appell {

NodeId Resolver::scalar(NodeId expression) {
    resolve_below(expression);
    return scalars_[expression.index()];
}

MixedVector Resolver::vector(NodeId expression) {
    resolve_below(expression);
    return vectors_.at(expression.value);
}

void Resolver::resolve_below(NodeId root) {
    const auto known = [&](NodeId id) {
        return (id.index() < scalars_.size() && scalars_[id.index()].valid()) || vectors_.contains(id.value);
    };
    if (known(root)) return;
    const std::vector<NodeId> order = sweep_.collect(g_, std::span(&root, 1), known);
    if (scalars_.size() < g_.size()) scalars_.resize(g_.size());
    for (const NodeId id : order) resolve_node(id);
}

void Resolver::resolve_node(NodeId id) {
    const Op op = g_.op(id);
    const auto s = [&](int i) { return scalars_[g_.operand(id, i).index()]; };
    const auto v = [&](int i) -> const MixedVector& { return vectors_.at(g_.operand(id, i).value); };
    switch (op) {
        case Op::Symbol: {
            const NodeId meaning = meaning_.scalar(g_.symbol_of(id));
            scalars_[id.index()] = meaning.valid() ? meaning : id;
            return;
        }
        case Op::Dot: scalars_[id.index()] = frames_.dot(v(0), v(1)); return;
        case Op::Sqrt: {
            const NodeId square = g_.operand(id, 0);
            const bool magnitude = g_.op(square) == Op::Dot && g_.operand(square, 0) == g_.operand(square, 1);
            scalars_[id.index()] =
                magnitude ? frames_.magnitude(vectors_.at(g_.operand(square, 0).value)) : g_.make(Op::Sqrt, s(0));
            return;
        }
        case Op::VZero: vectors_[id.value] = {}; return;
        case Op::VSymbol: {
            const VectorSymbolInfo symbol = g_.vector_symbol(g_.vector_symbol_of(id));
            vectors_[id.value] = meaning_.vector(static_cast<VectorKind>(symbol.kind), symbol.first, symbol.second);
            return;
        }
        case Op::VAdd: vectors_[id.value] = add(g_, v(0), v(1)); return;
        case Op::VNeg: vectors_[id.value] = scale(g_, g_.constant(-1), v(0)); return;
        case Op::VScale: vectors_[id.value] = scale(g_, s(0), v(1)); return;
        case Op::Cross: vectors_[id.value] = frames_.cross(v(0), v(1)); return;
        case Op::VDt: {
            // part by part: c' + (w_F - w_A) x c
            const Vec3 w_A = meaning_.omega(FrameId(g_.frame_of_dt(id)));
            MixedVector sum;
            for (const Vec3& part : v(0).parts) {
                const Vec3 local{part.frame, {meaning_.rate(part.c[0]), meaning_.rate(part.c[1]), meaning_.rate(part.c[2])}};
                const Vec3 w = sub(g_, meaning_.omega(part.frame), frames_.express(w_A, part.frame));
                const Vec3 d = add(g_, local, cross(g_, w, part));
                if (!is_zero(g_, d)) sum = add(g_, sum, MixedVector{{d}});
            }
            vectors_[id.value] = std::move(sum);
            return;
        }
        default: {
            const int arity = g_.arity(id);
            if (arity == 0) {
                scalars_[id.index()] = id;
                return;
            }
            scalars_[id.index()] = rebuild(g_, id, s(0), arity > 1 ? s(1) : NodeId{}, arity > 2 ? s(2) : NodeId{});
        }
    }
}

}  // namespace appell
