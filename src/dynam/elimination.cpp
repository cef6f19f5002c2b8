#include "dynam/elimination.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "dynam/central_inertia.hpp"
#include "dynam/gibbs_appell.hpp"
#include "dynam/inertia_sums.hpp"
#include "kinem/invert.hpp"
#include "tape/exact_zero_test.hpp"

namespace appell {

namespace {

constexpr std::size_t k_largest_printed_block = 3;
constexpr std::size_t k_most_cleared_masses = 3;  // denominators that are multiplied out

std::map<std::uint32_t, std::uint32_t> places(const std::vector<std::uint32_t>& list) {
    std::map<std::uint32_t, std::uint32_t> out;
    for (std::uint32_t i = 0; i < list.size(); ++i) out[list[i]] = i;
    return out;
}

// J1, J2 and b of some rows
void take_rows(const ConstrainedDynamics& dynamics, const std::vector<std::uint32_t>& rows, Elimination& out) {
    const SpeedPartition& p = out.partition;
    const auto row_at = places(rows), dependent_at = places(p.dependent), independent_at = places(p.independent);
    out.J1 = {rows.size(), p.independent.size(), {}};
    out.J2 = {rows.size(), p.dependent.size(), {}};
    out.b.clear();
    for (const SparseEntry& e : dynamics.A.entries) {
        const auto row = row_at.find(e.row);
        if (row == row_at.end()) continue;
        if (const auto j = dependent_at.find(e.column); j != dependent_at.end())
            out.J2.entries.push_back({row->second, j->second, e.value});
        else
            out.J1.entries.push_back({row->second, independent_at.at(e.column), e.value});
    }
    for (const std::uint32_t row : rows) out.b.push_back(dynamics.b[row]);
}

// left' right
SparseMatrix product_of_columns(Graph& g, const SparseMatrix& left, const SparseMatrix& right) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NodeId>> terms;
    for (const SparseEntry& x : left.entries)
        for (const SparseEntry& y : right.entries)
            if (x.row == y.row) terms[{x.column, y.column}].push_back(g.mul(x.value, y.value));
    SparseMatrix out{left.columns, right.columns, {}};
    for (const auto& [place, sum] : terms)
        if (const NodeId value = without_idle_symbols(g, g.sum(sum)); !g.is_constant(value, 0))
            out.entries.push_back({place.first, place.second, value});
    return out;
}

// J2' times all rows, where that can be written out; the rows of the partition otherwise
void combine_rows(const ConstrainedDynamics& dynamics, Elimination& out) {
    Graph& g = dynamics.graph();
    Elimination all{out.partition, {}, {}, {}, true, {}, {}, {}, {}};
    std::vector<std::uint32_t> rows(dynamics.rows.size());
    std::iota(rows.begin(), rows.end(), 0u);
    take_rows(dynamics, rows, all);
    SparseMatrix b{rows.size(), 1, {}};
    for (std::uint32_t row = 0; row < rows.size(); ++row) b.entries.push_back({row, 0, all.b[row]});
    all.b.assign(out.partition.dependent.size(), g.constant(0));
    for (const SparseEntry& e : product_of_columns(g, all.J2, b).entries) all.b[e.row] = e.value;
    all.J1 = product_of_columns(g, all.J2, all.J1);
    all.J2 = product_of_columns(g, all.J2, all.J2);
    if (invert(g, all.J2, k_largest_printed_block).status != SymbolicInverse::Status::ok) return;
    out.J1 = std::move(all.J1);
    out.J2 = std::move(all.J2);
    out.b = std::move(all.b);
    out.combined = true;
}

}  // namespace

Elimination eliminate_dependent(const ConstrainedDynamics& dynamics, SpeedPartition partition) {
    Graph& g = dynamics.graph();
    Elimination out;
    out.partition = std::move(partition);
    const SpeedPartition& p = out.partition;
    take_rows(dynamics, p.rows, out);
    out.D = {p.dependent.size(), p.independent.size(), {}};
    if (p.rows.size() != p.dependent.size()) {
        out.refused = "the rows do not determine the rates of the speeds that are to depend on the others";
        return out;
    }
    if (p.takes_turns) combine_rows(dynamics, out);
    const SymbolicInverse inverse = invert(g, out.J2, k_largest_printed_block);
    if (inverse.status == SymbolicInverse::Status::block_too_large) {
        out.refused = fmt::format("{} rows couple in one block, and inverses beyond {} x {} are not written out",
                                  inverse.culprit_rows.size(), k_largest_printed_block, k_largest_printed_block);
        return out;
    }
    if (inverse.status != SymbolicInverse::Status::ok) {
        out.refused = "the rows do not determine the dependent rates";
        return out;
    }
    // sums over all rows have squares of sines beside those of cosines
    const auto tidy = [&](NodeId value) { return out.combined ? without_idle_symbols(g, value) : value; };
    for (const NodeId determinant : inverse.determinants)
        if (const NodeId det = tidy(determinant); !g.constant_value(det)) out.determinants.push_back(det);

    std::vector<std::map<std::uint32_t, std::vector<NodeId>>> D(p.dependent.size());
    std::vector<std::vector<NodeId>> d(p.dependent.size());
    for (const SparseEntry& i : inverse.inverse.entries) {
        for (const SparseEntry& e : out.J1.entries)
            if (e.row == i.column) D[i.row][e.column].push_back(g.neg(g.mul(i.value, e.value)));
        d[i.row].push_back(g.mul(i.value, out.b[i.column]));
    }
    for (std::uint32_t row = 0; row < D.size(); ++row) {
        for (const auto& [column, terms] : D[row])
            if (const NodeId value = tidy(g.sum(terms)); !g.is_constant(value, 0)) out.D.entries.push_back({row, column, value});
        out.d.push_back(tidy(g.sum(d[row])));
    }
    return out;
}

std::vector<NodeId> inertia_remainders(const ConstrainedDynamics& d) {
    Kinematics& kin = *d.kinematics;
    Graph& g = d.graph();
    InertiaSums sums(kin);
    for (const Particle& p : d.model->particles)
        sums.add_force(p.point, scale(g, kin.resolve(p.mass), kin.acceleration_bias(p.point)));
    Diagnostics ignored;  // the inertia was judged when the dynamics were derived
    for (const Body& body : d.model->bodies) {
        sums.add_force(body.center, scale(g, kin.resolve(body.mass), kin.acceleration_bias(body.center)));
        sums.add_torque(body.frame, turning(kin, body, ignored).momentum_bias(g));
    }
    return sums.generalized_forces();
}

MinimalEquations minimal_equations(const ConstrainedDynamics& dynamics, const Elimination& e) {
    APPELL_ASSERT(e.refused.empty(), "the dependent rates are given in closed form");
    Kinematics& kin = *dynamics.kinematics;
    Graph& g = dynamics.graph();
    const SpeedPartition& p = e.partition;
    const std::size_t n = dynamics.model->speeds.size(), free = p.independent.size();
    const auto independent_at = places(p.independent), dependent_at = places(p.dependent);

    // u' = S u_I' + s; row by row: ones for the independent speeds, D for the others
    std::vector<std::map<std::uint32_t, NodeId>> S(n);
    for (const auto& [speed, r] : independent_at) S[speed][r] = g.constant(1);
    for (const SparseEntry& entry : e.D.entries) S[p.dependent[entry.row]][entry.column] = entry.value;

    MinimalEquations out;
    const auto parts = [&](std::span<const PartialVelocity> partials, const Vec3& remainder) {
        AccelerationParts a{{}, remainder};
        std::map<std::uint32_t, Vec3> sums;
        for (const PartialVelocity& v : partials) {
            for (const auto& [r, factor] : S[v.speed]) {
                const Vec3 term = scale(g, factor, v.v);
                const auto [at, fresh] = sums.try_emplace(p.independent[r], term);
                if (!fresh) at->second = add(g, at->second, term);
            }
            if (const auto at = dependent_at.find(v.speed); at != dependent_at.end())
                a.remainder = add(g, a.remainder, scale(g, e.d[at->second], v.v));
        }
        for (const auto& [speed, v] : sums)
            if (!is_zero(g, v)) a.partials.push_back({speed, v});
        return a;
    };
    for (const Particle& particle : dynamics.model->particles)
        out.particles.push_back(parts(kin.partial_velocities(particle.point), kin.acceleration_bias(particle.point)));
    for (const Body& body : dynamics.model->bodies) {
        out.centers.push_back(parts(kin.partial_velocities(body.center), kin.acceleration_bias(body.center)));
        out.bodies.push_back(parts(kin.partial_omegas(body.frame), kin.alpha_bias(body.frame)));
    }

    const auto projected = [&](std::span<const NodeId> full) {  // S' x
        std::vector<std::vector<NodeId>> terms(free);
        for (std::size_t i = 0; i < n; ++i)
            for (const auto& [r, factor] : S[i]) terms[r].push_back(g.mul(factor, full[i]));
        std::vector<NodeId> result;
        for (const std::vector<NodeId>& t : terms) result.push_back(g.sum(t));
        return result;
    };
    out.F = projected(generalized_active_forces(dynamics));
    // L~ = S' (L + M s) and M~ = S' (M S)
    const std::vector<NodeId> L = inertia_remainders(dynamics);
    std::vector<std::vector<NodeId>> remainder(n);
    std::vector<std::map<std::uint32_t, std::vector<NodeId>>> MS(n);
    for (std::size_t i = 0; i < n; ++i) remainder[i].push_back(L[i]);
    const auto add_mass = [&](std::uint32_t row, std::uint32_t column, NodeId mass) {
        if (const auto at = dependent_at.find(column); at != dependent_at.end())
            remainder[row].push_back(g.mul(mass, e.d[at->second]));
        for (const auto& [s, factor] : S[column]) MS[row][s].push_back(g.mul(mass, factor));
    };
    for (const SparseEntry& m : dynamics.M().entries) {
        add_mass(m.row, m.column, m.value);
        if (m.row != m.column) add_mass(m.column, m.row, m.value);
    }
    std::vector<NodeId> moved;
    for (const std::vector<NodeId>& terms : remainder) moved.push_back(g.sum(terms));
    out.L = projected(moved);
    for (std::size_t r = 0; r < free; ++r) out.f.push_back(g.sub(out.F[r], out.L[r]));

    std::vector<std::map<std::uint32_t, std::vector<NodeId>>> entries(free);
    for (std::size_t i = 0; i < n; ++i)
        for (const auto& [s, terms] : MS[i]) {
            const NodeId sum = g.sum(terms);
            for (const auto& [r, factor] : S[i])
                if (r >= s) entries[r][s].push_back(g.mul(factor, sum));
        }
    out.M = {free, free, {}};
    for (std::uint32_t r = 0; r < free; ++r)
        for (const auto& [s, terms] : entries[r])
            if (const NodeId value = g.sum(terms); !g.is_constant(value, 0)) out.M.entries.push_back({r, s, value});
    return out;
}

RemainingRows remaining_rows(const ConstrainedDynamics& shown, const Elimination& e) {
    APPELL_ASSERT(e.refused.empty(), "the dependent rates are given in closed form");
    Graph& g = shown.graph();
    const auto independent_at = places(e.partition.independent), dependent_at = places(e.partition.dependent);
    std::vector<std::map<std::uint32_t, std::vector<NodeId>>> A(shown.rows.size());
    std::vector<std::vector<NodeId>> b(shown.rows.size());
    for (std::size_t i = 0; i < b.size(); ++i) b[i].push_back(shown.b[i]);
    for (const SparseEntry& x : shown.A.entries) {
        if (const auto at = independent_at.find(x.column); at != independent_at.end()) {
            A[x.row][at->second].push_back(x.value);
            continue;
        }
        const std::uint32_t nu = dependent_at.at(x.column);
        for (const SparseEntry& d : e.D.entries)
            if (d.row == nu) A[x.row][d.column].push_back(g.mul(x.value, d.value));
        b[x.row].push_back(g.neg(g.mul(x.value, e.d[nu])));
    }
    RemainingRows out{{shown.rows.size(), e.partition.independent.size(), {}}, {}};
    for (std::uint32_t row = 0; row < A.size(); ++row) {
        for (const auto& [column, terms] : A[row])
            if (const NodeId value = g.sum(terms); !g.is_constant(value, 0)) out.A.entries.push_back({row, column, value});
        out.b.push_back(g.sum(b[row]));
    }
    return out;
}

std::vector<NodeId> diagonal_masses(const ConstrainedDynamics& d) {
    const std::size_t n = d.model->speeds.size();
    if (d.M().entries.size() != n) return {};
    std::vector<NodeId> masses;
    for (const SparseEntry& m : d.M().entries)
        if (m.row == m.column) masses.push_back(m.value);
    if (masses.size() != n) masses.clear();
    return masses;
}

std::optional<SolvedMultipliers> solved_multipliers(const ConstrainedDynamics& d) {
    Graph& g = d.graph();
    const std::vector<NodeId> masses = diagonal_masses(d);
    if (masses.empty() || d.rows.empty()) return std::nullopt;
    SolvedMultipliers out;
    for (std::size_t i = 0; i < masses.size(); ++i) out.a.push_back(g.div(d.f()[i], masses[i]));
    std::vector<std::vector<SparseEntry>> rows(d.rows.size());
    for (const SparseEntry& e : d.A.entries) rows[e.row].push_back(e);
    out.G = {rows.size(), rows.size(), {}};
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
        for (std::uint32_t s = 0; s < rows.size(); ++s) {
            std::vector<NodeId> terms;
            for (const SparseEntry& x : rows[r])
                for (const SparseEntry& y : rows[s])
                    if (x.column == y.column) terms.push_back(g.div(g.mul(x.value, y.value), masses[x.column]));
            if (!terms.empty()) out.G.entries.push_back({r, s, g.sum(terms)});
        }
        std::vector<NodeId> terms{d.b[r]};
        for (const SparseEntry& e : rows[r]) terms.push_back(g.neg(g.mul(e.value, out.a[e.column])));
        out.missing.push_back(g.sum(terms));
    }
    // both sides times the product of the different masses, so that no fraction stands inside another
    std::vector<NodeId> different = masses;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const bool cleared = different.size() <= k_most_cleared_masses;
    const auto without = [&](NodeId mass) {  // the product over the mass
        NodeId product = g.constant(1);
        for (const NodeId other : different)
            if (other != mass) product = g.mul(product, other);
        return product;
    };
    SparseMatrix G = out.G;
    std::vector<NodeId> right = out.missing;
    if (cleared) {
        for (SparseEntry& e : G.entries) {
            std::vector<NodeId> terms;
            for (const SparseEntry& x : rows[e.row])
                for (const SparseEntry& y : rows[e.column])
                    if (x.column == y.column) terms.push_back(g.mul(without(masses[x.column]), g.mul(x.value, y.value)));
            e.value = g.sum(terms);
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            std::vector<NodeId> terms{g.mul(without({}), d.b[r])};
            for (const SparseEntry& e : rows[r])
                terms.push_back(g.neg(g.mul(without(masses[e.column]), g.mul(e.value, d.f()[e.column]))));
            right[r] = g.sum(terms);
        }
    }
    const SymbolicInverse inverse = invert(g, G, k_largest_printed_block);
    if (inverse.status != SymbolicInverse::Status::ok) return std::nullopt;
    std::vector<std::vector<NodeId>> terms(rows.size());
    for (const SparseEntry& e : inverse.inverse.entries) terms[e.row].push_back(g.mul(e.value, right[e.column]));
    for (const std::vector<NodeId>& t : terms) out.lambda.push_back(g.sum(t));
    return out;
}

}  // namespace appell
