#include "dynam/acting_forces.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dynam/constraint_forces.hpp"
#include "dynam/modes.hpp"
#include "dynam/nonideal.hpp"
#include "expr/substitute.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

using Kind = ActingForce::Kind;

bool same_place(const ActingForce& a, const ActingForce& b) {
    return a.kind == b.kind && (a.kind == Kind::generalized ? a.speed == b.speed : a.point == b.point && a.body == b.body);
}

std::vector<ActingForce> by_multipliers(const ConstraintForces& c, ForceMember member) {
    std::vector<ActingForce> out;
    for (const ForceDirection& f : c.forces) out.push_back({member, c.constraint, Kind::force, f.point, f.body, 0, f.W});
    for (const TorqueDirection& t : c.torques) out.push_back({member, c.constraint, Kind::torque, {}, t.body, 0, t.tau});
    for (const GeneralizedDirection& q : c.generalized)
        out.push_back({member, c.constraint, Kind::generalized, {}, {}, q.speed, q.value});
    return out;
}

// an action as written; a torque may have its opposite on another body
std::vector<ActingForce> by_action(Graph& g, const Action& action, ForceMember member, std::size_t owner) {
    if (const auto* f = std::get_if<ForceLoad>(&action)) return {{member, owner, Kind::force, f->point, f->body, 0, f->force}};
    if (const auto* t = std::get_if<TorqueLoad>(&action)) {
        std::vector<ActingForce> out{{member, owner, Kind::torque, {}, t->body, 0, t->torque}};
        if (t->reaction.valid() && t->reaction != Model::newtonian())
            out.push_back({member, owner, Kind::torque, {}, t->reaction, 0, g.vneg(t->torque)});
        return out;
    }
    const auto& load = std::get<GeneralizedLoad>(action);
    return {{member, owner, Kind::generalized, {}, {}, static_cast<std::uint32_t>(load.speed), load.force}};
}

// a force at a place that one of the others has under another name
ActingForce at_place_of(const ConstrainedDynamics& d, ActingForce force, const std::vector<ActingForce>& others) {
    if (force.kind != Kind::force) return force;
    for (const ActingForce& f : others)
        if (f.kind == Kind::force && f.point == force.point && moves_alike(d, f.point, f.body, force.body)) {
            force.body = f.body;
            break;
        }
    return force;
}

void add(Graph& g, std::vector<ActingForce>& list, const ActingForce& force) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const ActingForce& f) { return same_place(f, force); });
    if (found == list.end())
        list.push_back(force);
    else
        found->value = force.kind == Kind::generalized ? g.add(found->value, force.value) : g.vadd(found->value, force.value);
}

}  // namespace

std::vector<ActingForce> acting_forces(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const Model& m = *d.model;
    std::vector<ActingForce> out;
    const auto append = [&](const std::vector<ActingForce>& list) { out.insert(out.end(), list.begin(), list.end()); };
    // in place of a multiplier: what it were without laws, and what they add to it
    Substitution ideal, added;
    for (const Constraint& c : m.constraints)
        for (std::size_t i = 0; i < c.multipliers.size(); ++i) {
            const NodeId without = g.symbol_node(c.ideal_multipliers[i]);
            ideal.set(c.multipliers[i], without);
            added.set(c.multipliers[i], g.sub(g.symbol_node(c.multipliers[i]), without));
        }
    const std::vector<ConstraintForces> kept = constraint_forces(d);
    const auto sticking = [&](const ConstraintForces& c) { return m.constraints[c.constraint].stick_of; };
    const bool nonideal_members = has_nonideal(d);
    for (const ConstraintForces& c : kept) {
        if (sticking(c)) continue;  // the friction of another constraint
        const std::vector<ActingForce> reactions = by_multipliers(c, ForceMember::reaction);
        append(reactions);
        if (!nonideal_members) continue;
        std::vector<ActingForce> laws;
        for (const NonidealForce& n : laws_of(d))
            if (n.constraint == c.constraint)
                for (const ActingForce& f : by_action(g, n.what, ForceMember::law, c.constraint))
                    add(g, laws, at_place_of(d, f, reactions));
        for (const ConstraintForces& stick : kept)
            if (!d.off.empty() && sticking(stick) && m.frictions[*sticking(stick)].constraint == c.constraint)
                for (ActingForce f : by_multipliers(stick, ForceMember::law)) {
                    f.owner = c.constraint;
                    add(g, laws, at_place_of(d, f, reactions));
                }
        append(laws);
        for (ActingForce f : reactions) {
            f.member = ForceMember::ideal;
            f.value = substitute(g, f.value, ideal);
            out.push_back(f);
        }
        std::vector<ActingForce> nonideal = reactions;
        for (ActingForce& f : nonideal) {
            f.member = ForceMember::nonideal;
            f.value = substitute(g, f.value, added);
        }
        for (ActingForce f : laws) {
            f.member = ForceMember::nonideal;
            add(g, nonideal, f);
        }
        append(nonideal);
    }
    for (std::size_t k = 0; k < m.actuators.size() && !d.actuators.empty(); ++k) {
        const NodeId magnitude = g.symbol_node(m.actuators[k].magnitude);
        for (const Action& direction : m.actuators[k].directions)
            for (ActingForce f : by_action(g, direction, ForceMember::actuator, k)) {
                f.value = f.kind == Kind::generalized ? g.mul(magnitude, f.value) : g.vscale(magnitude, f.value);
                out.push_back(f);
            }
    }
    return out;
}

bool moves_alike(const ConstrainedDynamics& d, PointId point, FrameId a, FrameId b) {
    if (a == b) return true;
    Kinematics& kin = *d.kinematics;
    Graph& g = d.graph();
    const auto velocity = [&](FrameId body) {
        return kin.frames().express(body.valid() ? kin.material_velocity(body, point) : kin.velocity(point), Model::newtonian());
    };
    const Vec3 first = velocity(a), second = velocity(b);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (!vanishes_identically(g, g.sub(first.c[axis], second.c[axis]))) return false;
    return true;
}

std::string place_name(const Model& m, const ActingForce& f) {
    if (f.kind == Kind::generalized) return m.speeds[f.speed].name;
    return f.kind == Kind::torque ? body_name(m, f.body) : place_name(m, ForceDirection{f.point, f.body, f.value});
}

std::string force_name(const Model& m, const ActingForce& f) {
    const std::string place = place_name(m, f);
    if (f.member == ForceMember::actuator) return fmt::format("actuator({}, {})", m.actuators[f.owner].name, place);
    const char* what = f.kind == ActingForce::Kind::force    ? "force"
                       : f.kind == ActingForce::Kind::torque ? "torque"
                                                             : "generalized";
    if (f.member != ForceMember::reaction) what = f.member == ForceMember::ideal ? "ideal" : "nonideal";
    return fmt::format("{}({}, {})", what, m.constraints[f.owner].name, place);
}

}  // namespace appell
