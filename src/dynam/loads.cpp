#include "dynam/loads.hpp"

#include <variant>

namespace appell {

namespace {

struct Expressions {
    std::vector<NodeId> operator()(const ForceLoad& l) const { return {l.force}; }
    std::vector<NodeId> operator()(const TorqueLoad& l) const { return {l.torque}; }
    std::vector<NodeId> operator()(const GravityLoad& l) const { return {l.acceleration}; }
    std::vector<NodeId> operator()(const SpringLoad& l) const { return {l.stiffness, l.length}; }
    std::vector<NodeId> operator()(const DamperLoad& l) const { return {l.coefficient}; }
    std::vector<NodeId> operator()(const GeneralizedLoad& l) const { return {l.force}; }
    std::vector<NodeId> operator()(const PotentialLoad& l) const { return {l.energy}; }
};

class LoadVisitor {
public:
    LoadVisitor(Kinematics& kinematics, InertiaSums& sums)
        : kin_(kinematics), g_(kinematics.graph()), sums_(sums), out_{{}, g_.constant(0)} {}

    void operator()(const ForceLoad& load) {
        const MixedVector force = kin_.resolve_vector(load.force);
        if (load.body.valid())
            sums_.add_material_force(load.body, load.point, force);
        else
            on_point(load.point, force);
    }

    void operator()(const TorqueLoad& load) {
        const MixedVector torque = kin_.resolve_vector(load.torque);
        sums_.add_torque(load.body, kin_.frames().express(torque, load.body));
        if (load.reaction.valid())
            sums_.add_torque(load.reaction, kin_.frames().express(scale(g_, g_.constant(-1), torque), load.reaction));
    }

    void operator()(const GravityLoad& load) { out_.gravity = add(g_, out_.gravity, kin_.resolve_vector(load.acceleration)); }

    void operator()(const SpringLoad& load) {
        const MixedVector line = between(load.first, load.second);
        const NodeId k = kin_.resolve(load.stiffness), rest = kin_.resolve(load.length);
        if (g_.is_constant(rest, 0)) {
            // force -k (P - Q): no division by the length, which may vanish
            on_pair(load.first, load.second, scale(g_, g_.neg(k), line));
            out_.potential = g_.add(out_.potential, g_.mul(g_.constant(0.5), g_.mul(k, kin_.frames().dot(line, line))));
            return;
        }
        const NodeId length = kin_.frames().magnitude(line), stretch = g_.sub(length, rest);
        on_pair(load.first, load.second, scale(g_, g_.neg(g_.div(g_.mul(k, stretch), length)), line));
        out_.potential = g_.add(out_.potential, g_.mul(g_.constant(0.5), g_.mul(k, g_.pow(stretch, 2))));
    }

    void operator()(const DamperLoad& load) {
        // c times the rate of the distance, along the line: c (dv . line) line / |line|^2
        const MixedVector line = between(load.first, load.second);
        const MixedVector relative = add(g_, MixedVector{{kin_.velocity(load.first)}},
                                         scale(g_, g_.constant(-1), MixedVector{{kin_.velocity(load.second)}}));
        const NodeId c = kin_.resolve(load.coefficient);
        const NodeId factor = g_.div(g_.mul(c, kin_.frames().dot(relative, line)), kin_.frames().dot(line, line));
        on_pair(load.first, load.second, scale(g_, g_.neg(factor), line));
    }

    void operator()(const GeneralizedLoad& load) { sums_.add_generalized(load.speed, kin_.resolve(load.force)); }

    void operator()(const PotentialLoad& load) {
        // power of the force is -dV/dq . q', so that the generalized force on u_r is -dV/dq . K_r
        const NodeId V = kin_.resolve(load.energy);
        std::vector<SymbolId> q;
        for (const Coordinate& c : kin_.model().coordinates) q.push_back(c.q);
        const SparseMatrix gradient = jacobian(g_, std::span(&V, 1), q, DerivativeMode::automatic);
        std::vector<NodeId> slope(q.size());
        for (const SparseEntry& e : gradient.entries) slope[e.column] = e.value;
        for (const SparseEntry& e : kin_.K().entries)
            if (slope[e.row].valid()) sums_.add_generalized(e.column, g_.neg(g_.mul(slope[e.row], e.value)));
        out_.potential = g_.add(out_.potential, V);
    }

    [[nodiscard]] ResolvedLoads result() const { return out_; }

private:
    void on_point(PointId point, const MixedVector& force) {
        sums_.add_force(point, kin_.frames().express(force, kin_.velocity(point).frame));
    }
    void on_pair(PointId first, PointId second, const MixedVector& force_on_first) {
        on_point(first, force_on_first);
        on_point(second, scale(g_, g_.constant(-1), force_on_first));
    }
    MixedVector between(PointId first, PointId second) {
        return add(g_, kin_.position(first), scale(g_, g_.constant(-1), kin_.position(second)));
    }

    Kinematics& kin_;
    Graph& g_;
    InertiaSums& sums_;
    ResolvedLoads out_;
};

}  // namespace

ResolvedLoads add_loads(Kinematics& kinematics, InertiaSums& sums) {
    LoadVisitor visitor(kinematics, sums);
    for (const Load& load : kinematics.model().loads) std::visit(visitor, load.what);
    return visitor.result();
}

std::vector<NodeId> generalized_forces(Kinematics& kinematics, std::span<const Action> actions) {
    InertiaSums sums(kinematics);
    LoadVisitor visitor(kinematics, sums);
    for (const Action& action : actions) std::visit(visitor, action);
    return sums.generalized_forces();
}

std::vector<NodeId> expressions_of(const decltype(Load::what)& load) { return std::visit(Expressions{}, load); }
std::vector<NodeId> expressions_of(const Action& action) { return std::visit(Expressions{}, action); }

}  // namespace appell
