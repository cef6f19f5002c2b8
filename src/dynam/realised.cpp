#include "dynam/realised.hpp"

#include <fmt/format.h>

#include "dynam/modes.hpp"
#include "dynam/multipliers.hpp"
#include "dynam/shares.hpp"
#include "expr/substitute.hpp"

namespace appell {

namespace {

ConstrainedDynamics with_ideal_rows(const ConstrainedDynamics& d) {
    std::vector<bool> ideal;
    for (const ConstraintRow& row : d.rows) ideal.push_back(!row.by_actuators);
    return with_rows(d, ideal);
}

std::vector<SymbolId> symbols_named(Graph& g, const std::string& name, std::size_t count) {
    std::vector<SymbolId> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(g.add_symbol(fmt::format("{} {}", name, i + 1), SymbolKind::other));
    return out;
}

// laws and actuators of d as given forces of `ideal`
void add_given(const ConstrainedDynamics& d, const std::vector<NodeId>& law, ConstrainedDynamics& ideal) {
    Graph& g = d.graph();
    ideal.f_with_added = ideal.f();
    std::vector<NodeId>& f = ideal.f_with_added;
    std::vector<NodeId>& added = ideal.added_force;
    added.assign(f.size(), g.constant(0));
    for (std::size_t i = 0; i < law.size(); ++i) added[i] = g.add(added[i], law[i]);
    for (const SparseEntry& e : d.D.entries)
        added[e.row] = g.add(added[e.row], g.mul(e.value, g.symbol_node(d.actuators[e.column])));
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = g.add(f[i], added[i]);
    ideal.C.clear();
    ideal.actuators.clear();
    ideal.D = {};
}

class Realising {
public:
    explicit Realising(const ConstrainedDynamics& d) : d_(d), g_(d.graph()), out_{{}, with_ideal_rows(d), {}} {}

    // every row as it were without nonideal forces, neither C nor friction that sticks: actuators at their work, too
    ConstrainedSolve ideal_solve() {
        const ConstrainedDynamics without = without_sticking(out_.ideal);
        ConstrainedSolve solve = skeleton(without, "ideal rate");
        solve.lambda.clear();
        for (const ConstraintRow& row : without.rows) solve.lambda.push_back(ideal_multiplier(row));
        if (!d_.actuators.empty()) add_actuators(solve, symbols_named(g_, "ideal actuator", d_.actuators.size()));
        return solve;
    }

    Realisation run() {
        if (!d_.C.empty()) solve_ideal();
        if (d_.C_of_reaction || !d_.actuators.empty()) solve_realised();
        add_given(d_, law_, out_.ideal);
        return std::move(out_);
    }

private:
    [[nodiscard]] SymbolId ideal_multiplier(const ConstraintRow& row) const {
        if (row.ideal_multiplier.valid()) return row.ideal_multiplier;
        const Constraint& c = d_.model->constraints[row.constraint];
        for (std::size_t i = 0; i < c.multipliers.size(); ++i)
            if (c.multipliers[i] == row.multiplier) return c.ideal_multipliers[i];
        return row.multiplier;
    }

    void solve_ideal() {
        out_.before.push_back(ideal_solve());
        law_ = d_.C;
    }

    void solve_realised() {
        ConstrainedSolve solve = skeleton(out_.ideal, "realised rate");
        solve.kind = SolveKind::realised;
        if (!d_.actuators.empty()) add_actuators(solve, d_.actuators);
        if (d_.C_of_reaction) {
            solve.guess = symbols_named(g_, "reaction", out_.ideal.rows.size());
            Substitution guesses;
            for (std::size_t i = 0; i < solve.guess.size(); ++i)
                guesses.set(out_.ideal.rows[i].multiplier, g_.symbol_node(solve.guess[i]));
            law_ = substitute(g_, d_.C, guesses);
            solve.law = law_;
            solve.law_slope = jacobian(g_, law_, solve.guess, DerivativeMode::forward);
        } else {
            for (std::size_t i = 0; i < law_.size(); ++i) solve.f[i] = g_.add(solve.f[i], law_[i]);
        }
        out_.before.push_back(std::move(solve));
    }

    ConstrainedSolve skeleton(const ConstrainedDynamics& ideal, const std::string& name) {
        ConstrainedSolve solve = multipliers_form(ideal);
        solve.x = symbols_named(g_, name, solve.x.size());
        solve.lambda = symbols_named(g_, name + " multiplier", solve.lambda.size());
        return solve;
    }

    void add_actuators(ConstrainedSolve& solve, std::vector<SymbolId> magnitudes) {
        solve.kind = SolveKind::realised;
        solve.D = d_.D;
        solve.tau = std::move(magnitudes);
        std::vector<std::uint32_t> place(d_.rows.size());
        for (std::size_t i = 0; i < d_.rows.size(); ++i) {
            if (!d_.rows[i].by_actuators) continue;
            place[i] = static_cast<std::uint32_t>(solve.s.size());
            solve.s.push_back(d_.b[i]);
        }
        solve.S = {solve.s.size(), d_.A.columns, {}};
        for (const SparseEntry& e : d_.A.entries)
            if (d_.rows[e.row].by_actuators) solve.S.entries.push_back({place[e.row], e.column, e.value});
    }

    const ConstrainedDynamics& d_;
    Graph& g_;
    Realisation out_;
    std::vector<NodeId> law_;  // C, in the guesses where it depends on multipliers
};

}  // namespace

Realisation realise(const ConstrainedDynamics& d) {
    if (!d.shared.empty()) {
        SharedSystem shared = share_out(d);
        Realisation out = realise(shared.dynamics);
        out.after.push_back(std::move(shared.members));
        return out;
    }
    if (d.C.empty() && d.actuators.empty()) return {{}, d, {}};
    return Realising(d).run();
}

ConstrainedSolve ideal_solve(const ConstrainedDynamics& d) { return Realising(d).ideal_solve(); }

ConstrainedDynamics with_given_forces(const ConstrainedDynamics& d) {
    if (d.C.empty() && d.actuators.empty()) return d;
    ConstrainedDynamics out = with_ideal_rows(d);
    add_given(d, d.C, out);
    return out;
}

}  // namespace appell
