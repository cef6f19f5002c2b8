#include "dynam/constraint_forces.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/vector_gradient.hpp"

namespace appell {

namespace {

constexpr const char* k_no_vectors =
    "it is written in coordinates and speeds, without pos(P), vel(P) or omega(B) of anything that moves, so that no point or "
    "body can be named on which a force acts";
constexpr const char* k_derivative =
    "it contains dt(v, A), and a force can only be read off pos, vel and omega, so that no vector can be named";
constexpr const char* k_cancelled =
    "the velocities in it cancel and a condition on positions is left, so that no vector can be named";

// the row's equation as written; a component of a vector equation is its product with the Newtonian basis vector
NodeId written(const ConstrainedDynamics& d, const ConstraintRow& row) {
    const Constraint& c = d.model->constraints[row.constraint];
    if (!d.graph().is_vector(c.phi)) return c.phi;
    const auto axis = std::find(c.multipliers.begin(), c.multipliers.end(), row.multiplier) - c.multipliers.begin();
    return d.graph().dot(c.phi, d.model->frame(Model::newtonian()).basis[static_cast<std::size_t>(axis)]);
}

void add_force(Graph& g, std::vector<ForceDirection>& forces, const ForceDirection& force) {
    const auto same = [&](const ForceDirection& f) { return f.point == force.point && f.body == force.body; };
    if (const auto found = std::find_if(forces.begin(), forces.end(), same); found != forces.end())
        found->W = g.vadd(found->W, force.W);
    else
        forces.push_back(force);
}

void add_torque(Graph& g, std::vector<TorqueDirection>& torques, const TorqueDirection& torque) {
    const auto same = [&](const TorqueDirection& t) { return t.body == torque.body; };
    if (const auto found = std::find_if(torques.begin(), torques.end(), same); found != torques.end())
        found->tau = g.vadd(found->tau, torque.tau);
    else
        torques.push_back(torque);
}

void add_generalized(Graph& g, std::vector<GeneralizedDirection>& all, std::uint32_t speed, NodeId value) {
    const auto same = [&](const GeneralizedDirection& d) { return d.speed == speed; };
    if (const auto found = std::find_if(all.begin(), all.end(), same); found != all.end())
        found->value = g.add(found->value, value);
    else
        all.push_back({speed, value});
}

class Inspection {
public:
    explicit Inspection(const ConstrainedDynamics& d) : d_(d), m_(*d.model), g_(d.graph()), kin_(*d.kinematics) {
        for (std::size_t i = 0; i < m_.coordinates.size(); ++i) {
            coordinate_[m_.coordinates[i].q] = static_cast<std::uint32_t>(i);
            coordinate_[m_.coordinates[i].rate] = static_cast<std::uint32_t>(i);
            coordinate_[m_.coordinates[i].rate2] = static_cast<std::uint32_t>(i);
        }
        for (std::size_t i = 0; i < m_.speeds.size(); ++i) {
            speed_[m_.speeds[i].u] = static_cast<std::uint32_t>(i);
            speed_[m_.speeds[i].rate] = static_cast<std::uint32_t>(i);
        }
    }

    ConstraintForces row(std::size_t index) {
        const ConstraintRow& row = d_.rows[index];
        ConstraintForces out;
        out.constraint = row.constraint;
        const VectorGradient gradient = vector_gradient(g_, written(d_, row));
        bool whole = !gradient.derivative.valid();
        const char* why = whole ? k_cancelled : k_derivative;
        for (const auto& [symbol, value] : gradient.vectors)
            whole = whole && (row.level == Level::position   ? at_position_level(symbol, value, out)
                              : row.level == Level::velocity ? at_velocity_level(symbol, value, out)
                                                             : at_acceleration_level(symbol, value, out));
        std::vector<std::string> bare;
        for (const auto& [symbol, value] : gradient.scalars) whole = whole && beside(symbol, value, row.level, out, bare);
        drop_what_rests(out);
        const bool any = !out.forces.empty() || !out.torques.empty();
        if (whole && any) {
            if (out.generalized.empty()) return out;
            out.form = ForceForm::partly_generalized;
            out.why = fmt::format("it also contains {} outside vectors, and no point or body can be named for that part",
                                  fmt::join(bare, ", "));
            return out;
        }
        // the generalized forces are the row of A itself
        out = {};
        out.constraint = row.constraint;
        out.form = ForceForm::generalized_only;
        out.why = whole ? k_no_vectors : why;
        for (const SparseEntry& e : d_.A.entries)
            if (e.row == index) out.generalized.push_back({e.column, e.value});
        return out;
    }

private:
    // each answers whether the row can be read off at its level
    bool at_velocity_level(VectorSymbolId id, NodeId value, ConstraintForces& out) {
        const VectorSymbolInfo& symbol = g_.vector_symbol(id);
        switch (static_cast<VectorKind>(symbol.kind)) {
            case VectorKind::velocity: add_force(g_, out.forces, {PointId(symbol.first), {}, value}); return true;
            case VectorKind::velocity_at:
                add_force(g_, out.forces, {PointId(symbol.second), FrameId(symbol.first), value});
                return true;
            case VectorKind::omega: add_torque(g_, out.torques, {FrameId(symbol.first), value}); return true;
            default: return true;  // positions and directions are held fixed
        }
    }

    // a = ... and alpha = ... take the place of v and omega; velocities are held fixed as well
    bool at_acceleration_level(VectorSymbolId id, NodeId value, ConstraintForces& out) {
        const VectorSymbolInfo& symbol = g_.vector_symbol(id);
        switch (static_cast<VectorKind>(symbol.kind)) {
            case VectorKind::acceleration: add_force(g_, out.forces, {PointId(symbol.first), {}, value}); return true;
            case VectorKind::alpha: add_torque(g_, out.torques, {FrameId(symbol.first), value}); return true;
            default: return true;
        }
    }

    bool at_position_level(VectorSymbolId id, NodeId value, ConstraintForces& out) {
        const VectorSymbolInfo symbol = g_.vector_symbol(id);
        switch (static_cast<VectorKind>(symbol.kind)) {
            case VectorKind::position: add_force(g_, out.forces, {PointId(symbol.first), {}, value}); return true;
            case VectorKind::basis:
                add_torque(g_, out.torques, {FrameId(symbol.first), g_.cross(g_.vector_node(id), value)});
                return true;
            default: return false;
        }
    }

    // the part of bare symbols: d phi/du, d phi/dq' K, or d phi/dq K
    bool beside(SymbolId symbol, NodeId written_value, Level level, ConstraintForces& out, std::vector<std::string>& bare) {
        const SymbolKind kind = g_.symbol(symbol).kind;
        if (level == Level::position && (kind == SymbolKind::speed || kind == SymbolKind::coordinate_rate)) return false;
        const bool speed = kind == (level == Level::acceleration ? SymbolKind::speed_rate : SymbolKind::speed);
        const SymbolKind by = level == Level::acceleration ? SymbolKind::coordinate_rate2
                              : level == Level::velocity   ? SymbolKind::coordinate_rate
                                                           : SymbolKind::coordinate;
        if (!speed && kind != by) return true;
        const NodeId value = kin_.resolve(written_value);
        if (g_.is_constant(value, 0)) return true;
        bare.push_back(g_.symbol(symbol).name);
        if (speed) {
            add_generalized(g_, out.generalized, speed_.at(symbol), value);
            return true;
        }
        const std::uint32_t coordinate = coordinate_.at(symbol);
        for (const SparseEntry& e : kin_.K().entries)
            if (e.row == coordinate) add_generalized(g_, out.generalized, e.column, g_.mul(value, e.value));
        return true;
    }

    void drop_what_rests(ConstraintForces& out) {
        const NodeId nothing = g_.vector_zero();
        std::erase_if(out.forces, [&](const ForceDirection& f) {
            return f.W == nothing || (f.body.valid() ? f.body == Model::newtonian() : is_zero(g_, kin_.velocity(f.point)));
        });
        std::erase_if(out.torques, [&](const TorqueDirection& t) { return t.tau == nothing || is_zero(g_, kin_.omega(t.body)); });
        std::erase_if(out.generalized, [&](const GeneralizedDirection& d) { return g_.is_constant(d.value, 0); });
    }

    const ConstrainedDynamics& d_;
    const Model& m_;
    Graph& g_;
    Kinematics& kin_;
    std::map<SymbolId, std::uint32_t> coordinate_, speed_;
};

bool fixed_in(Kinematics& kin, PointId point, FrameId frame, PointId center) {
    Graph& g = kin.graph();
    const MixedVector arm = add(g, kin.position(point), scale(g, g.constant(-1), kin.position(center)));
    const Vec3 local = kin.frames().express(arm, frame);
    return std::none_of(local.c.begin(), local.c.end(),
                        [&](NodeId c) { return depends_on(g, c, SymbolKind::coordinate) || depends_on(g, c, SymbolKind::time); });
}

NodeId position_node(Graph& g, const Model& m, PointId point) {
    for (std::size_t i = 0; i < g.vector_symbol_count(); ++i) {
        const VectorSymbolInfo& symbol = g.vector_symbol(VectorSymbolId(i));
        if (static_cast<VectorKind>(symbol.kind) == VectorKind::position && symbol.first == point.value)
            return g.vector_node(VectorSymbolId(i));
    }
    return g.vector_node(g.add_vector_symbol(
        {fmt::format("pos({})", m.point(point).name), static_cast<std::uint8_t>(VectorKind::position), point.value, 0}));
}

}  // namespace

std::vector<ConstraintForces> row_forces(const ConstrainedDynamics& d) {
    Inspection inspection(d);
    std::vector<ConstraintForces> out;
    for (std::size_t row = 0; row < d.rows.size(); ++row) out.push_back(inspection.row(row));
    return out;
}

std::vector<ConstraintForces> constraint_forces(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const std::vector<ConstraintForces> rows = row_forces(d);
    std::vector<ConstraintForces> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ConstraintForces& row = rows[i];
        if (d.rows[i].by_actuators) continue;
        const NodeId lambda = g.symbol_node(d.rows[i].multiplier);
        if (out.empty() || out.back().constraint != row.constraint) {
            out.emplace_back();
            out.back().constraint = row.constraint;
        }
        ConstraintForces& sum = out.back();
        if (sum.why.empty()) sum.why = row.why;
        for (const ForceDirection& f : row.forces) add_force(g, sum.forces, {f.point, f.body, g.vscale(lambda, f.W)});
        for (const TorqueDirection& t : row.torques) add_torque(g, sum.torques, {t.body, g.vscale(lambda, t.tau)});
        for (const GeneralizedDirection& q : row.generalized)
            add_generalized(g, sum.generalized, q.speed, g.mul(lambda, q.value));
        sum.form = sum.generalized.empty()                     ? ForceForm::vectors
                   : sum.forces.empty() && sum.torques.empty() ? ForceForm::generalized_only
                                                               : ForceForm::partly_generalized;
    }
    return out;
}

std::string body_name(const Model& m, FrameId frame) {
    for (const Body& body : m.bodies)
        if (body.frame == frame) return body.name;
    return m.frame(frame).name;
}

std::string place_name(const Model& m, const ForceDirection& force) {
    const std::string& point = m.point(force.point).name;
    return force.body.valid() ? fmt::format("{} at {}", body_name(m, force.body), point) : point;
}

Wrench reduce(const ConstrainedDynamics& d, const ConstraintForces& forces, FrameId body, PointId point) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    const auto owner = std::find_if(m.bodies.begin(), m.bodies.end(), [&](const Body& b) { return b.frame == body; });
    if (owner == m.bodies.end()) throw Error("forces can be reduced to a point of a body; the frame belongs to none");
    const auto acts_on_body = [&](const ForceDirection& f) {
        if (f.body.valid()) return f.body == body;
        const bool particle =
            std::any_of(m.particles.begin(), m.particles.end(), [&](const Particle& p) { return p.point == f.point; });
        return !particle && fixed_in(*d.kinematics, f.point, body, owner->center);
    };
    Wrench out{body, point, g.vector_zero(), g.vector_zero()};
    for (const ForceDirection& f : forces.forces) {
        if (!acts_on_body(f)) continue;
        out.force = g.vadd(out.force, f.W);
        if (f.point == point) continue;
        const NodeId arm = g.vadd(position_node(g, m, f.point), g.vneg(position_node(g, m, point)));
        out.torque = g.vadd(out.torque, g.cross(arm, f.W));
    }
    for (const TorqueDirection& t : forces.torques)
        if (t.body == body) out.torque = g.vadd(out.torque, t.tau);
    return out;
}

}  // namespace appell
