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

bool contains(std::span<const PartialVelocity> partials, std::uint32_t speed) {
    const auto found = std::lower_bound(partials.begin(), partials.end(), speed,
                                        [](const PartialVelocity& p, std::uint32_t s) { return p.speed < s; });
    return found != partials.end() && found->speed == speed;
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
    entries_[(static_cast<std::uint64_t>(std::max(r, s)) << 32) | std::min(r, s)].push_back(term);
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
        std::vector<bool> fresh;
        for (const PartialVelocity& p : partials) fresh.push_back(!contains(shared, p.speed));

        if (const NodeId mass = mass_[i]; mass.valid()) {
            for (std::size_t r = 0; r < partials.size(); ++r)
                for (std::size_t s = 0; s <= r; ++s)
                    if (fresh[r] || fresh[s])
                        add_entry(partials[r].speed, partials[s].speed, g_.mul(mass, dot(g_, partials[r].v, partials[s].v)));
            if (!shared.empty()) add_mass(base, mass);
        }
        if (const Vec3 resultant = resultant_[i]; resultant.frame.valid()) {
            for (std::size_t r = 0; r < partials.size(); ++r)
                if (fresh[r]) forces_[partials[r].speed].push_back(dot(g_, partials[r].v, resultant));
            if (!shared.empty()) add_force(base, resultant);
        }
    }
}

SparseMatrix InertiaSums::mass_matrix() {
    const std::size_t n = forces_.size();
    SparseMatrix M{n, n, {}};
    std::vector<std::uint64_t> keys;
    for (const auto& [key, terms] : entries_) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    for (const std::uint64_t key : keys)
        if (const NodeId value = g_.sum(entries_.at(key)); !g_.is_constant(value, 0))
            M.entries.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), value});
    return M;
}

std::vector<NodeId> InertiaSums::generalized_forces() {
    std::vector<NodeId> f;
    for (const auto& terms : forces_) f.push_back(g_.sum(terms));
    return f;
}

}  // namespace appell
