#include "dynam/voronec.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/linear_split.hpp"
#include "expr/substitute.hpp"
#include "kinem/invert.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

// r and s count the independent rates, nu the dependent ones, j all coordinates
class Voronec {
public:
    Voronec(const RateForm& form, const Partition& partition) : form_(form), g_(form.graph()), solves_(form, partition) {}

    std::vector<ConstrainedSolve> run() {
        derive_alpha();
        derive_alpha_twice();
        return assemble();
    }

private:
    [[nodiscard]] std::size_t independent() const { return solves_.independent().size(); }
    [[nodiscard]] std::size_t dependent() const { return solves_.dependent().size(); }

    // phi(q, q'_I, alpha, t) = 0 differentiated by q'_r, by q_j, and along the motion with q'_I held
    void derive_alpha() {
        TimeDerivative along = solves_.along_motion({});
        std::vector<NodeRow> right;
        const auto add = [&](auto derivative_of_row) {
            NodeRow side;
            for (const std::size_t i : solves_.rows()) side.push_back(g_.neg(derivative_of_row(i)));
            right.push_back(std::move(side));
        };
        for (const std::size_t j : solves_.independent()) add([&](std::size_t i) { return form_.phi_v[i][j]; });
        for (std::size_t j = 0; j < form_.q.size(); ++j) add([&](std::size_t i) { return form_.phi_q[i][j]; });
        add([&](std::size_t i) { return along(form_.phi[i]); });

        const std::vector<NodeRow> solved = solves_.solve_dependent(right);
        const auto split = solved.begin() + static_cast<std::ptrdiff_t>(independent());
        d_.alpha_v.assign(solved.begin(), split);
        alpha_q_.assign(split, solved.end() - 1);
        d_.alpha_motion = solved.back();
    }

    // the same once more, by q'_s and along the motion with q'_I held
    void derive_alpha_twice() {
        const std::size_t m = independent();
        std::vector<NodeRow> right;
        for (std::size_t s = 0; s < m; ++s) {
            TimeDerivative along = solves_.along_rate(s, d_.alpha_v[s]);
            for (std::size_t r = s; r < m; ++r) right.push_back(solves_.second_right_side(along, r, d_.alpha_v[r]));
        }
        TimeDerivative along = solves_.along_motion(d_.alpha_motion);
        for (std::size_t r = 0; r < m; ++r) right.push_back(solves_.second_right_side(along, r, d_.alpha_v[r]));

        const std::vector<NodeRow> solved = solves_.solve_dependent(right);
        alpha_vv_.assign(m, std::vector<NodeRow>(m));
        std::size_t next = 0;
        for (std::size_t s = 0; s < m; ++s)
            for (std::size_t r = s; r < m; ++r) alpha_vv_[r][s] = alpha_vv_[s][r] = solved[next++];
        alpha_v_motion_.assign(solved.begin() + static_cast<std::ptrdiff_t>(next), solved.end());
    }

    // (54), its terms with q'' on the left, with B_r^nu by (57). Many of the terms cancel by value (002, remark after eq. 75),
    // but T* and alpha are differentiated on different roads, so that a mistake in either shows.
    std::vector<ConstrainedSolve> assemble() {
        const RestrictedEnergy restricted = solves_.restricted_energy(d_);
        const NodeRow p = solves_.of_dependent(form_.momentum), force = solves_.of_dependent(form_.force),
                      restricted_q = solves_.of_dependent(restricted.q);
        std::vector<NodeRow> mass(independent());
        NodeRow right;
        for (std::size_t r = 0; r < independent(); ++r) {
            for (std::size_t s = 0; s <= r; ++s) mass[r].push_back(g_.sub(restricted.vv[r][s], inner(g_, alpha_vv_[r][s], p)));
            const std::size_t j = solves_.independent()[r];
            NodeRow B;  // without the terms in q''
            for (std::size_t nu = 0; nu < dependent(); ++nu) {
                NodeRow by_dependent;
                for (const std::size_t mu : solves_.dependent()) by_dependent.push_back(alpha_q_[mu][nu]);
                B.push_back(g_.sub(g_.sub(alpha_v_motion_[r][nu], alpha_q_[j][nu]), inner(g_, d_.alpha_v[r], by_dependent)));
            }
            const NodeId given = g_.add(form_.force[j], inner(g_, d_.alpha_v[r], force));
            const NodeId place = g_.add(restricted.q[j], inner(g_, d_.alpha_v[r], restricted_q));
            right.push_back(g_.sub(g_.add(given, g_.add(place, inner(g_, B, p))), restricted.v_motion[r]));
        }
        return solves_.finish(mass, right, d_);
    }

    const RateForm& form_;
    Graph& g_;
    RateSolves solves_;
    RateDerivatives d_;
    std::vector<NodeRow> alpha_q_;                // [j][nu]
    std::vector<std::vector<NodeRow>> alpha_vv_;  // [r][s][nu]
    std::vector<NodeRow> alpha_v_motion_;         // [r][nu]: d/dt dalpha_nu/dq'_r with the independent q'' = 0
};

}  // namespace

std::vector<ConstrainedSolve> voronec_solves(const RateForm& form, const Partition& partition) {
    return Voronec(form, partition).run();
}

namespace {

constexpr std::size_t k_readable_block = 3;  // nobody reads the inverse of a larger one

// alpha from rows that are linear in the dependent rates; or the reason why there is none
std::string explicit_rates(const RateForm& form, const Partition& partition, NodeRow& alpha) {
    Graph& g = form.graph();
    NodeRow rows;
    std::vector<SymbolId> dependent;
    for (const std::size_t i : partition.rows) rows.push_back(form.phi[i]);
    for (const std::size_t j : partition.dependent) dependent.push_back(form.v[j]);
    const LinearSplit split = split_linear(g, rows, dependent);
    if (split.failure)
        return fmt::format("constraint {} is not linear in the dependent rates",
                           form.dynamics->rows[partition.rows[split.failure->root]].name);
    const SymbolicInverse inverse = invert(g, split.coefficients, k_readable_block);
    if (inverse.status == SymbolicInverse::Status::block_too_large)
        return fmt::format("{} of them couple", inverse.culprit_rows.size());
    if (inverse.status != SymbolicInverse::Status::ok) return "the constraints do not determine them";
    alpha.assign(dependent.size(), g.constant(0));
    for (const SparseEntry& e : inverse.inverse.entries)
        alpha[e.row] = g.sub(alpha[e.row], g.mul(e.value, split.remainders[e.column]));
    return "";
}

}  // namespace

ExplicitVoronec explicit_voronec(const RateForm& form, const Partition& partition) {
    ExplicitVoronec out;
    Graph& g = form.graph();
    out.refused = explicit_rates(form, partition, out.alpha);
    if (!out.refused.empty()) return out;
    const std::size_t k = partition.dependent.size();
    const Model& m = *form.dynamics->model;
    std::vector<std::size_t> independent;
    Substitution explicit_rate;
    TimeDerivative along(g);
    along.set_rate(m.time, g.constant(1));
    for (std::size_t j = 0; j < form.q.size(); ++j) {
        const auto nu = std::find(partition.dependent.begin(), partition.dependent.end(), j) - partition.dependent.begin();
        if (static_cast<std::size_t>(nu) < k) {
            explicit_rate.set(form.v[j], out.alpha[static_cast<std::size_t>(nu)]);
            along.set_rate(form.q[j], out.alpha[static_cast<std::size_t>(nu)]);
            continue;
        }
        independent.push_back(j);
        along.set_rate(form.q[j], g.symbol_node(form.v[j]));
        along.set_rate(form.v[j], g.symbol_node(m.coordinates[j].rate2));
    }
    out.T_star = substitute(g, form.T, explicit_rate);
    const NodeRow momentum = substitute(g, form.momentum, explicit_rate), T_q = substitute(g, form.T_q, explicit_rate),
                  force = substitute(g, form.force, explicit_rate);
    const auto slope = [&](NodeId e, SymbolId symbol) { return derivative(g, std::span(&e, 1), symbol).front(); };
    const auto inertia = [&](std::size_t j) { return g.sub(along(momentum[j]), T_q[j]); };
    for (const std::size_t r : independent) {
        NodeRow a, B;
        for (const NodeId alpha : out.alpha) a.push_back(slope(alpha, form.v[r]));
        NodeId left = inertia(r), right = force[r];
        for (std::size_t nu = 0; nu < k; ++nu) {
            NodeId b = g.sub(along(a[nu]), slope(out.alpha[nu], form.q[r]));
            for (std::size_t mu = 0; mu < k; ++mu)
                b = g.sub(b, g.mul(a[mu], slope(out.alpha[nu], form.q[partition.dependent[mu]])));
            B.push_back(vanishes_identically(g, b) ? g.constant(0) : b);
            left = g.add(left, g.mul(a[nu], inertia(partition.dependent[nu])));
            right = g.add(right, g.mul(a[nu], force[partition.dependent[nu]]));
        }
        out.left.push_back(left);
        out.right.push_back(right);
        out.B.push_back(std::move(B));
    }
    return out;
}

}  // namespace appell
