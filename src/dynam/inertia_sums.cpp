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
      resultant_(kinematics.model().points.size()),
      forces_(kinematics.model().speeds.size()) {}

void InertiaSums::add_mass(PointId point, NodeId mass) {
    NodeId& sum = mass_[point.index()];
    sum = sum.valid() ? g_.add(sum, mass) : mass;
}

void InertiaSums::add_force(PointId point, const Vec3& resultant) {
    if (is_zero(g_, resultant)) return;
    Vec3& sum = resultant_[point.index()];
    sum = sum.frame.valid() ? add(g_, sum, resultant) : resultant;
}

void InertiaSums::add_entry(std::uint32_t r, std::uint32_t s, NodeId term) {
    if (g_.is_constant(term, 0)) return;
    entries_.push_back({(static_cast<std::uint64_t>(std::max(r, s)) << 32) | std::min(r, s), term});
}

void InertiaSums::add_rotation(FrameId body, const Matrix3& inertia) {
    const auto partials = kin_.partial_omegas(body);
    for (std::size_t j = 0; j < partials.size(); ++j) {
        const Vec3 momentum{body, multiply(g_, inertia, partials[j].v.c)};
        for (std::size_t i = j; i < partials.size(); ++i)
            add_entry(partials[i].speed, partials[j].speed, dot(g_, partials[i].v, momentum));
    }
}

void InertiaSums::add_resultant(std::span<const PartialVelocity> partials, const Vec3& resultant) {
    if (is_zero(g_, resultant)) return;
    for (const PartialVelocity& p : partials) forces_[p.speed].push_back(dot(g_, p.v, resultant));
}

void InertiaSums::add_generalized(std::size_t speed, NodeId force) { forces_[speed].push_back(force); }

void InertiaSums::finish() {
    for (std::size_t i = mass_.size(); i-- > 0;) {
        const auto partials = kin_.partial_velocities(PointId(i));
        const PointId base = kin_.base(PointId(i));
        std::span<const PartialVelocity> shared;
        if (base.valid() && inherits(partials, kin_.partial_velocities(base))) shared = kin_.partial_velocities(base);
        const std::vector<std::size_t> fresh = new_partials(partials, shared);

        if (const NodeId mass = mass_[i]; mass.valid()) {
            const auto add_pair = [&](std::size_t r, std::size_t s) {
                add_entry(partials[r].speed, partials[s].speed, g_.mul(mass, dot(g_, partials[r].v, partials[s].v)));
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
            if (!shared.empty()) add_mass(base, mass);
        }
        if (const Vec3 resultant = resultant_[i]; resultant.frame.valid()) {
            for (const std::size_t r : fresh) forces_[partials[r].speed].push_back(dot(g_, partials[r].v, resultant));
            if (!shared.empty()) add_force(base, resultant);
        }
    }
}

SparseMatrix InertiaSums::mass_matrix() {
    const std::size_t n = forces_.size();
    SparseMatrix M{n, n, {}};
    std::stable_sort(entries_.begin(), entries_.end(), [](const Term& p, const Term& q) { return p.place < q.place; });
    std::vector<NodeId> terms;
    for (std::size_t i = 0; i < entries_.size();) {
        const std::uint64_t place = entries_[i].place;
        terms.clear();
        for (; i < entries_.size() && entries_[i].place == place; ++i) terms.push_back(entries_[i].value);
        if (const NodeId value = g_.sum(terms); !g_.is_constant(value, 0))
            M.entries.push_back({static_cast<std::uint32_t>(place >> 32), static_cast<std::uint32_t>(place), value});
    }
    return M;
}

std::vector<NodeId> InertiaSums::generalized_forces() {
    std::vector<NodeId> f;
    for (const auto& terms : forces_) f.push_back(g_.sum(terms));
    return f;
}

}  // namespace appell
