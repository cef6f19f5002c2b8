#include "dynam/modes.hpp"

#include <algorithm>

#include "dynam/nonideal.hpp"

namespace appell {

NodeId last_direction(const ConstrainedDynamics& d, std::size_t index) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const SlipSymbols& slip = d.slips[index];
    NodeId last = g.vector_zero();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const NodeId turned = g.mul(g.symbol_node(slip.turning[axis]), g.symbol_node(m.time));
        last =
            g.vadd(last, g.vscale(g.add(g.symbol_node(slip.direction[axis]), turned), m.frame(Model::newtonian()).basis[axis]));
    }
    return last;
}

NodeId sliding_force(const ConstrainedDynamics& d, std::size_t index) {
    Graph& g = d.graph();
    const Friction& friction = d.model->frictions[index];
    if (d.slips.empty()) {
        const NodeId speed = g.make(Op::Sqrt, g.dot(friction.slip, friction.slip));
        return g.vscale(g.neg(g.div(friction.bound, speed)), friction.slip);
    }
    const NodeId last = last_direction(d, index), begins = g.symbol_node(d.slips[index].begins);
    const NodeId forward = g.mul(g.sub(g.constant(1), begins), g.make(Op::Sign, g.dot(friction.slip, last)));
    const NodeId way = g.vadd(g.vscale(forward, friction.slip), g.vscale(begins, last));
    const NodeId size = g.make(Op::Sqrt, g.dot(way, way));
    // the floor only keeps 0/0 away
    const NodeId over = g.div(g.constant(1), g.make(Op::Max, size, g.constant(1e-300)));
    const NodeId moving = g.make(Op::Less, g.constant(0), size);
    const NodeId direction = g.vadd(g.vscale(over, way), g.vscale(g.sub(g.constant(1), moving), last));
    return g.vscale(g.neg(friction.bound), direction);
}

bool slides(const ConstrainedDynamics& d, std::size_t index) {
    const Friction& friction = d.model->frictions[index];
    return d.off.empty() || (!d.off[friction.constraint] && d.off[friction.stick]);
}

bool sticks(const ConstrainedDynamics& d, const ConstraintRow& row) {
    return !d.off.empty() && d.model->constraints[row.constraint].stick_of.has_value();
}

bool has_nonideal(const ConstrainedDynamics& d) {
    return !d.C.empty() || std::ranges::any_of(d.rows, [&](const ConstraintRow& row) { return sticks(d, row); });
}

ConstrainedDynamics without_sticking(const ConstrainedDynamics& d) {
    std::vector<bool> kept;
    for (const ConstraintRow& row : d.rows) kept.push_back(!sticks(d, row));
    return with_rows(d, kept);
}

// At rest the slip of a law is taken to be a unit vector along its way out, so that the law has its limit there.
Result<ConstrainedDynamics> in_start_mode(const ConstrainedDynamics& whole, std::vector<bool> off,
                                          const std::vector<std::array<double, 3>>& leaves_along) {
    Graph& g = whole.graph();
    auto model = std::make_shared<Model>(*whole.model);
    for (std::size_t i = 0; i < model->frictions.size(); ++i) {
        if (leaves_along[i] == std::array<double, 3>{}) continue;
        Friction& friction = model->frictions[i];
        NodeId along = g.vector_zero();
        for (std::size_t axis = 0; axis < 3; ++axis)
            along = g.vadd(along, g.vscale(g.constant(leaves_along[i][axis]), model->frame(Model::newtonian()).basis[axis]));
        const NodeId moves = g.make(Op::Less, g.constant(0), g.make(Op::Sqrt, g.dot(friction.slip, friction.slip)));
        friction.slip = g.vadd(friction.slip, g.vscale(g.make(Op::If, moves, g.constant(0), g.constant(1)), along));
    }
    ConstrainedDynamics leaving = whole;
    leaving.model = std::move(model);
    return in_mode(leaving, std::move(off));
}

Result<ConstrainedDynamics> in_mode(const ConstrainedDynamics& whole, std::vector<bool> off, std::vector<SlipSymbols> slips) {
    Result<ConstrainedDynamics> result;
    std::vector<bool> kept;
    for (const ConstraintRow& row : whole.rows) kept.push_back(!off[row.constraint]);
    ConstrainedDynamics d = with_rows(whole, kept);
    d.off = std::move(off);
    d.slips = std::move(slips);
    d.C.clear();
    d.C_of_ideal = d.C_of_reaction = false;
    d.actuators.clear();
    derive_nonideal(d, result.diagnostics);
    if (!result.diagnostics.has_errors()) result.value = std::move(d);
    return result;
}

std::vector<bool> off_at_start(const Model& model) {
    std::vector<bool> off;
    for (const Constraint& c : model.constraints) off.push_back(c.unilateral || c.off_at_start);
    return off;
}

}  // namespace appell
