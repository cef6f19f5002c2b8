#include "dynam/chaplygin.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "expr/dependence.hpp"
#include "expr/substitute.hpp"
#include "expr/sweep.hpp"
#include "tape/zero_test.hpp"

namespace appell {

namespace {

bool has_pieces(const Graph& g, NodeId root) {
    static constexpr Op k_pieces[] = {Op::Abs, Op::Sign, Op::Min, Op::Max, Op::Less, Op::LessEqual, Op::If};
    Sweep sweep;
    const std::vector<NodeId>& order = sweep.collect(g, std::span(&root, 1));
    return std::any_of(order.begin(), order.end(), [&](NodeId id) {
        return std::find(std::begin(k_pieces), std::end(k_pieces), g.op(id)) != std::end(k_pieces);
    });
}

// Is the symbol in none of the expressions, by value? A piece that is not taken at the random points must not hide it.
bool absent(Graph& g, std::span<const NodeId> expressions, SymbolId symbol) {
    NodeRow open;
    for (const NodeId e : expressions) {
        if (!depends_on(g, e, symbol)) continue;
        if (has_pieces(g, e)) return false;
        open.push_back(e);
    }
    const std::vector<bool> zero = identically_zero(g, derivative(g, open, symbol));
    return std::all_of(zero.begin(), zero.end(), [](bool z) { return z; });
}

// What the constraints lack of q'_D = alpha(q_I) q'_I, 002 eqs. 32 and 62; empty when nothing.
std::string not_linear(const RateForm& form) {
    Graph& g = form.graph();
    Substitution at_rest;
    for (const SymbolId v : form.v) at_rest.set(v, g.constant(0));
    for (std::size_t i = 0; i < form.phi.size(); ++i) {
        const std::string& name = form.dynamics->rows[i].name;
        if (has_pieces(g, form.phi[i])) return fmt::format("constraint {} is made of pieces (if, min, max, abs, sign)", name);
        NodeRow second;
        for (const SparseEntry& e : jacobian(g, form.phi_v[i], form.v).entries) second.push_back(e.value);
        const std::vector<bool> zero = identically_zero(g, second);
        if (!std::all_of(zero.begin(), zero.end(), [](bool z) { return z; }))
            return fmt::format("constraint {} is not linear in the rates", name);
        if (!vanishes_identically(g, substitute(g, form.phi[i], at_rest)))
            return fmt::format("constraint {} is not homogeneous in the rates", name);
    }
    return "";
}

// Does the space of allowed rates, all that alpha is made of, keep still while the symbol changes? Rows may be rescaled and
// mixed: their derivatives must add nothing to what they span.
class AllowedRates {
public:
    explicit AllowedRates(const RateForm& form) : form_(form), g_(form.graph()) {
        for (const NodeRow& row : form.phi_v) entries_.insert(entries_.end(), row.begin(), row.end());
        rank_ = generic_rank(g_, entries_, form.v.size());
    }
    [[nodiscard]] std::size_t rank() const { return rank_; }
    [[nodiscard]] bool free_of(SymbolId symbol) const {
        NodeRow stacked = derivative(g_, entries_, symbol);
        if (std::all_of(stacked.begin(), stacked.end(), [&](NodeId n) { return g_.is_constant(n, 0); })) return true;
        stacked.insert(stacked.end(), entries_.begin(), entries_.end());
        return generic_rank(g_, stacked, form_.v.size()) == rank_;
    }
    // how many of the given rates the constraints determine
    [[nodiscard]] std::size_t determined(std::span<const std::size_t> coordinates) const {
        NodeRow columns;
        for (const NodeRow& row : form_.phi_v)
            for (const std::size_t j : coordinates) columns.push_back(row[j]);
        return generic_rank(g_, columns, coordinates.size());
    }

private:
    const RateForm& form_;
    Graph& g_;
    NodeRow entries_;
    std::size_t rank_;
};

class Chaplygin {
public:
    Chaplygin(const RateForm& form, const Partition& partition) : form_(form), g_(form.graph()), solves_(form, partition) {}

    std::vector<ConstrainedSolve> run() {
        derive_alpha();
        return assemble();
    }

private:
    [[nodiscard]] NodeId rate(std::size_t r) const { return g_.symbol_node(form_.v[solves_.independent()[r]]); }

    void derive_alpha() {
        const std::size_t m = solves_.independent().size(), k = solves_.dependent().size();
        std::vector<NodeRow> right;
        for (const std::size_t j : solves_.independent()) {
            NodeRow side;
            for (const std::size_t i : solves_.rows()) side.push_back(g_.neg(form_.phi_v[i][j]));
            right.push_back(std::move(side));
        }
        d_.alpha_v = solves_.solve_dependent(right);
        right.clear();
        for (std::size_t j = 0; j < m; ++j) {
            TimeDerivative along(g_);
            along.set_rate(form_.q[solves_.independent()[j]], g_.constant(1));
            for (std::size_t r = 0; r < m; ++r) right.push_back(solves_.second_right_side(along, r, d_.alpha_v[r]));
        }
        std::vector<NodeRow> solved = solves_.solve_dependent(right);
        for (std::size_t j = 0; j < m; ++j)
            alpha_vq_.emplace_back(solved.begin() + static_cast<std::ptrdiff_t>(j * m),
                                   solved.begin() + static_cast<std::ptrdiff_t>((j + 1) * m));
        for (std::size_t nu = 0; nu < k; ++nu) {
            NodeRow terms;
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t r = 0; r < m; ++r) terms.push_back(g_.mul(alpha_vq_[j][r][nu], g_.mul(rate(j), rate(r))));
            d_.alpha_motion.push_back(g_.sum(terms));
        }
    }

    // (63), its terms with q'' on the left
    std::vector<ConstrainedSolve> assemble() {
        const std::size_t m = solves_.independent().size(), k = solves_.dependent().size();
        const RestrictedEnergy restricted = solves_.restricted_energy(d_);
        const NodeRow p = solves_.of_dependent(form_.momentum), force = solves_.of_dependent(form_.force);
        NodeRow right;
        for (std::size_t r = 0; r < m; ++r) {
            const std::size_t place = solves_.independent()[r];
            NodeRow terms;
            for (std::size_t nu = 0; nu < k; ++nu)
                for (std::size_t j = 0; j < m; ++j)
                    terms.push_back(g_.mul(g_.sub(alpha_vq_[j][r][nu], alpha_vq_[r][j][nu]), g_.mul(rate(j), p[nu])));
            const NodeId given = g_.add(form_.force[place], inner(g_, d_.alpha_v[r], force));
            right.push_back(g_.sub(g_.add(g_.add(given, restricted.q[place]), g_.sum(terms)), restricted.v_motion[r]));
        }
        return solves_.finish(restricted.vv, right, d_);
    }

    const RateForm& form_;
    Graph& g_;
    RateSolves solves_;
    RateDerivatives d_;
    std::vector<std::vector<NodeRow>> alpha_vq_;  // [j][r][nu]: dalpha_nu,r / dq_j
};

}  // namespace

ChaplyginStructure recognise_chaplygin(const RateForm& form) {
    ChaplyginStructure out;
    out.not_applicable = form.not_applicable;
    if (out.not_applicable.empty() && form.phi.empty()) out.not_applicable = "the model has no constraints";
    if (out.not_applicable.empty()) out.not_applicable = not_linear(form);
    if (!out.not_applicable.empty()) return out;
    Graph& g = form.graph();
    const AllowedRates allowed(form);
    out.rank = allowed.rank();
    const SymbolId time = form.dynamics->model->time;
    if (!absent(g, std::span(&form.T, 1), time)) out.not_applicable = "the kinetic energy depends on time";
    if (!allowed.free_of(time)) out.not_applicable = "the constraints depend on time";
    if (!out.not_applicable.empty()) return out;

    std::vector<std::string> reasons;
    for (std::size_t j = 0; j < form.q.size(); ++j) {
        const char* where = !absent(g, std::span(&form.T, 1), form.q[j]) ? "in the kinetic energy"
                            : !absent(g, form.force, form.q[j])          ? "in the given forces"
                            : !allowed.free_of(form.q[j])                ? "in the coefficients of the constraints"
                                                                         : nullptr;
        if (where == nullptr)
            out.candidates.push_back(j);
        else
            reasons.push_back(fmt::format("{} is {}", form.dynamics->model->coordinates[j].name, where));
    }
    if (out.candidates.empty() || allowed.determined(out.candidates) < allowed.rank()) {
        constexpr std::size_t k_named = 6;
        const bool more = reasons.size() > k_named;
        if (more) reasons.resize(k_named);
        out.not_applicable = fmt::format(
            "{} dependent coordinate{} would have to be absent from the kinetic energy, the given forces and the "
            "coefficients of the constraints, but {}{}",
            allowed.rank(), allowed.rank() == 1 ? "" : "s", fmt::join(reasons, ", "), more ? ", ..." : "");
    }
    return out;
}

std::string structure_lost(std::size_t general_rank, const Partition& partition) {
    if (partition.rows.size() >= general_rank) return "";
    return fmt::format(
        "the {} rows depend on each other where the constraints hold, and nowhere else: they do not show which coordinates are "
        "absent",
        general_rank);
}

std::vector<ConstrainedSolve> chaplygin_solves(const RateForm& form, const Partition& partition) {
    return Chaplygin(form, partition).run();
}

}  // namespace appell
