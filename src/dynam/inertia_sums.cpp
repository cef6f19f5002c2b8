#include "dynam/inertia_sums.hpp"

#include <algorithm>

namespace appell {

namespace {

// how many groups back an equal partial velocity is looked for: equal ones follow each other along a chain
constexpr std::size_t k_look_back = 8;

}  // namespace

InertiaSums::MassEntry& InertiaSums::entry(std::uint32_t r, std::uint32_t s) {
    const std::uint64_t key = (static_cast<std::uint64_t>(std::max(r, s)) << 32) | std::min(r, s);
    const auto [found, fresh] = index_.try_emplace(key, static_cast<std::uint32_t>(entries_.size()));
    if (fresh) entries_.emplace_back(key, MassEntry{{}, g_.constant(0)});
    return entries_[found->second].second;
}

void InertiaSums::add_mass(std::span<const PartialVelocity> partials, NodeId mass) {
    for (std::size_t i = 0; i < partials.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            std::vector<MassGroup>& groups = entry(partials[i].speed, partials[j].speed).groups;
            const auto &v = partials[i].v.c, &w = partials[j].v.c;
            const std::size_t oldest = groups.size() > k_look_back ? groups.size() - k_look_back : 0;
            bool merged = false;
            for (std::size_t k = groups.size(); k-- > oldest && !merged;)
                if (groups[k].v == v && groups[k].w == w) {
                    groups[k].mass = g_.add(groups[k].mass, mass);
                    merged = true;
                }
            if (!merged) groups.push_back({v, w, dot(g_, partials[i].v, partials[j].v), mass});
        }
}

void InertiaSums::add_rotation(std::span<const PartialVelocity> partials, const Matrix3& inertia) {
    for (std::size_t j = 0; j < partials.size(); ++j) {
        const Vec3 momentum{partials[j].v.frame, multiply(g_, inertia, partials[j].v.c)};
        for (std::size_t i = j; i < partials.size(); ++i) {
            NodeId& sum = entry(partials[i].speed, partials[j].speed).rotation;
            sum = g_.add(sum, dot(g_, partials[i].v, momentum));
        }
    }
}

void InertiaSums::add_resultant(std::span<const PartialVelocity> partials, const Vec3& resultant) {
    if (is_zero(g_, resultant)) return;
    for (const PartialVelocity& p : partials) {
        std::vector<ForceGroup>& groups = forces_[p.speed];
        const std::size_t oldest = groups.size() > k_look_back ? groups.size() - k_look_back : 0;
        bool merged = false;
        for (std::size_t k = groups.size(); k-- > oldest && !merged;)
            if (groups[k].v == p.v) {
                groups[k].resultant = add(g_, groups[k].resultant, resultant);
                merged = true;
            }
        if (!merged) groups.push_back({p.v, resultant});
    }
}

void InertiaSums::add_generalized(std::size_t speed, NodeId force) { loose_[speed] = g_.add(loose_[speed], force); }

SparseMatrix InertiaSums::mass_matrix() {
    SparseMatrix M{speeds_, speeds_, {}};
    const NodeId zero = g_.constant(0);
    std::sort(entries_.begin(), entries_.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
    std::vector<NodeId> terms;
    for (const auto& [key, e] : entries_) {
        terms.assign(1, e.rotation);
        for (const MassGroup& group : e.groups) terms.push_back(g_.mul(group.mass, group.product));
        if (const NodeId value = g_.sum(terms); value != zero)
            M.entries.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), value});
    }
    return M;
}

std::vector<NodeId> InertiaSums::generalized_forces() {
    std::vector<NodeId> f, terms;
    for (std::size_t r = 0; r < speeds_; ++r) {
        terms.assign(1, loose_[r]);
        for (const ForceGroup& group : forces_[r]) terms.push_back(dot(g_, group.v, group.resultant));
        f.push_back(g_.sum(terms));
    }
    return f;
}

}  // namespace appell
