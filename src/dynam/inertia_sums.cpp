#include "dynam/inertia_sums.hpp"

#include <algorithm>

namespace appell {

namespace {

// does the point have all partial velocities of its base, unchanged?
bool inherits(std::span<const PartialVelocity> point, std::span<const PartialVelocity> base) {
    if (base.empty() || base.size() > point.size()) return false;
    std::size_t i = 0;
    for (const PartialVelocity& b : base) {
        while (i < point.size() && point[i].speed < b.speed) ++i;
        if (i == point.size() || point[i].speed != b.speed || !(point[i].v == b.v)) return false;
    }
    return true;
}

// positions in `point` of the partial velocities that `shared`, a part of them, does not have; both are ascending by speed
std::vector<std::size_t> new_partials(std::span<const PartialVelocity> point, std::span<const PartialVelocity> shared) {
    std::vector<std::size_t> out;
    std::size_t k = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
        if (k < shared.size() && shared[k].speed == point[i].speed)
            ++k;
        else
            out.push_back(i);
    }
    return out;
}

}  // namespace

InertiaSums::InertiaSums(Kinematics& kinematics)
    : kin_(kinematics),
      g_(kinematics.graph()),
      mass_(kinematics.model().points.size()),
      force_(kinematics.model().points.size()) {}

void InertiaSums::add_mass(std::vector<NodeId>& sums, PointId point, NodeId mass) {
    NodeId& sum = sums[point.index()];
    sum = sum.valid() ? g_.add(sum, mass) : mass;
}

void InertiaSums::add_force(std::vector<Vec3>& sums, PointId point, const Vec3& resultant) {
    if (is_zero(g_, resultant)) return;
    Vec3& sum = sums[point.index()];
    sum = sum.frame.valid() ? add(g_, sum, resultant) : resultant;
}

void InertiaSums::add_torque(FrameId body, const Vec3& torque) {
    if (!is_zero(g_, torque)) resultants_.emplace_back(Torque{body, torque});
}

void InertiaSums::add_material_force(FrameId body, PointId point, const MixedVector& force) {
    if (body == Model::newtonian() || !kin_.has_body(body)) return;
    const Vec3 expressed = kin_.frames().express(force, kin_.velocity(kin_.center(body)).frame);
    if (!is_zero(g_, expressed)) resultants_.emplace_back(MaterialForce{body, point, expressed});
}

void InertiaSums::add_generalized(std::size_t speed, NodeId force) {
    resultants_.emplace_back(Generalized{static_cast<std::uint32_t>(speed), force});
}

std::vector<NodeId> InertiaSums::values() const {
    std::vector<NodeId> out;
    const auto add_vector = [&](const Vec3& v) { out.insert(out.end(), v.c.begin(), v.c.end()); };
    const auto turns = [&](FrameId body) { return !is_zero(g_, kin_.omega(body)); };
    for (std::size_t i = 0; i < mass_.size(); ++i) {
        if (is_zero(g_, kin_.velocity(PointId(i)))) continue;
        if (mass_[i].valid()) out.push_back(mass_[i]);
        if (force_[i].frame.valid()) add_vector(force_[i]);
    }
    for (const Rotation& rotation : rotations_)
        if (turns(rotation.body)) out.insert(out.end(), rotation.inertia.begin(), rotation.inertia.end());
    for (const Resultant& resultant : resultants_) {
        if (const auto* torque = std::get_if<Torque>(&resultant); torque && turns(torque->body)) add_vector(torque->torque);
        if (const auto* force = std::get_if<MaterialForce>(&resultant)) add_vector(force->force);
        if (const auto* force = std::get_if<Generalized>(&resultant)) out.push_back(force->force);
    }
    return out;
}

const InertiaSums::Assembled& InertiaSums::assembled() {
    if (assembled_) return *assembled_;
    Terms terms;
    terms.forces.resize(kin_.model().speeds.size());
    const auto project = [&](std::span<const PartialVelocity> partials, const Vec3& resultant) {
        for (const PartialVelocity& p : partials) terms.forces[p.speed].push_back(dot(g_, p.v, resultant));
    };
    for (const Resultant& resultant : resultants_) {
        if (const auto* torque = std::get_if<Torque>(&resultant))
            project(partial_omegas(torque->body, torque->torque.frame), torque->torque);
        if (const auto* force = std::get_if<MaterialForce>(&resultant))
            project(kin_.material_partials(force->body, force->point), force->force);
        if (const auto* force = std::get_if<Generalized>(&resultant)) terms.forces[force->speed].push_back(force->force);
    }
    assemble_rotations(terms);
    assemble_points(terms);
    assembled_.emplace();
    for (const std::vector<NodeId>& list : terms.forces) assembled_->f.push_back(g_.sum(list));
    assembled_->M = sum_of_entries(std::move(terms.entries));
    return *assembled_;
}

std::vector<PartialVelocity> InertiaSums::partial_omegas(FrameId body, FrameId basis) const {
    if (basis != body) return kin_.partial_omegas_before(body);
    const std::span<const PartialVelocity> own = kin_.partial_omegas(body);
    return {own.begin(), own.end()};
}

void InertiaSums::add_entry(Terms& terms, std::uint32_t r, std::uint32_t s, NodeId term) const {
    if (g_.is_constant(term, 0)) return;
    terms.entries.push_back({(static_cast<std::uint64_t>(std::max(r, s)) << 32) | std::min(r, s), term});
}

void InertiaSums::assemble_rotations(Terms& terms) {
    for (const Rotation& rotation : rotations_) {
        const std::vector<PartialVelocity> partials = partial_omegas(rotation.body, rotation.basis);
        for (std::size_t j = 0; j < partials.size(); ++j) {
            const Vec3 momentum{rotation.basis, multiply(g_, rotation.inertia, partials[j].v.c)};
            for (std::size_t i = j; i < partials.size(); ++i)
                add_entry(terms, partials[i].speed, partials[j].speed, dot(g_, partials[i].v, momentum));
        }
    }
}

void InertiaSums::assemble_points(Terms& terms) {
    std::vector<NodeId> masses = mass_;  // with what was handed down
    std::vector<Vec3> forces = force_;
    for (std::size_t i = masses.size(); i-- > 0;) {
        const auto partials = kin_.partial_velocities(PointId(i));
        const PointId base = kin_.base(PointId(i));
        std::span<const PartialVelocity> shared;
        if (base.valid() && inherits(partials, kin_.partial_velocities(base))) shared = kin_.partial_velocities(base);
        const std::vector<std::size_t> fresh = new_partials(partials, shared);

        if (const NodeId mass = masses[i]; mass.valid()) {
            const auto add_pair = [&](std::size_t r, std::size_t s) {
                add_entry(terms, partials[r].speed, partials[s].speed, g_.mul(mass, dot(g_, partials[r].v, partials[s].v)));
            };
            // pairs r >= s with a new one among them; visiting all pairs would cost the cube of the links of a chain
            std::size_t below = 0;  // how many of the new ones come before r
            for (std::size_t r = 0; r < partials.size(); ++r) {
                if (below < fresh.size() && fresh[below] == r) {
                    for (std::size_t s = 0; s <= r; ++s) add_pair(r, s);
                    ++below;
                } else {
                    for (std::size_t k = 0; k < below; ++k) add_pair(r, fresh[k]);
                }
            }
            if (!shared.empty()) add_mass(masses, base, mass);
        }
        if (const Vec3 force = forces[i]; force.frame.valid()) {
            for (const std::size_t r : fresh) terms.forces[partials[r].speed].push_back(dot(g_, partials[r].v, force));
            if (!shared.empty()) add_force(forces, base, force);
        }
    }
}

SparseMatrix InertiaSums::sum_of_entries(std::vector<Term> entries) {
    const std::size_t n = kin_.model().speeds.size();
    SparseMatrix M{n, n, {}};
    std::stable_sort(entries.begin(), entries.end(), [](const Term& p, const Term& q) { return p.place < q.place; });
    std::vector<NodeId> terms;
    for (std::size_t i = 0; i < entries.size();) {
        const std::uint64_t place = entries[i].place;
        terms.clear();
        for (; i < entries.size() && entries[i].place == place; ++i) terms.push_back(entries[i].value);
        if (const NodeId value = g_.sum(terms); !g_.is_constant(value, 0))
            M.entries.push_back({static_cast<std::uint32_t>(place >> 32), static_cast<std::uint32_t>(place), value});
    }
    return M;
}

}  // namespace appell
