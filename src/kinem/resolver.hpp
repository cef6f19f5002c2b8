// Resolves expressions as written into scalars and component vectors: one ascending pass, results remembered.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "expr/differentiate.hpp"
#include "kinem/velocity_field.hpp"
#include "model/model.hpp"
#include "vec/frame_tree.hpp"

namespace appell {

class Resolver {
public:
    // What vector symbols and special scalars stand for; each may be empty where it must not occur.
    struct Meaning {
        std::function<MixedVector(VectorKind, std::uint32_t, std::uint32_t)> vector;
        std::function<NodeId(SymbolId)> scalar;  // invalid: the symbol stays
        std::function<NodeId(NodeId)> rate;      // time derivative of a resolved scalar
        std::function<Vec3(FrameId)> omega;      // for dt(v, A)
    };

    Resolver(Graph& graph, FrameTree& frames, Meaning meaning) : g_(graph), frames_(frames), meaning_(std::move(meaning)) {}

    [[nodiscard]] NodeId scalar(NodeId expression);
    [[nodiscard]] MixedVector vector(NodeId expression);

private:
    void resolve_below(NodeId root);
    void resolve_node(NodeId id);

    Graph& g_;
    FrameTree& frames_;
    Meaning meaning_;
    Sweep sweep_;
    std::vector<NodeId> scalars_;  // by node; invalid: not resolved yet, or a vector
    std::unordered_map<std::uint32_t, MixedVector> vectors_;
};

}  // namespace appell
