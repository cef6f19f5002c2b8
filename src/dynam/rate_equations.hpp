// Equations of motion in the true rates q' (002 secs. 2-3), what `voronec` and `chaplygin` share: the system as functions of q,
// q' and t, the choice of the dependent rates, and the solve blocks that both are made of.
//
// The explicit rates q'_D = alpha(q, q'_I, t) of 002 eq. 10 have no closed form here: phi(q, q', t) = 0 defines them, and their
// derivatives of every order solve linear systems with one and the same matrix phi_D = d phi / d q'_D. Each such solution becomes
// a row of symbols that the equations use.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "expr/conditions.hpp"
#include "tape/program.hpp"

namespace appell {

using NodeRow = std::vector<NodeId>;

// Everything as functions of q, q', t; position rows enter differentiated.
struct RateForm {
    const ConstrainedDynamics* dynamics = nullptr;
    std::string not_applicable;  // why the system has no such form; the rest is then empty
    std::vector<SymbolId> q, v;  // coordinates and their rates q'
    NodeId T;                    // kinetic energy, 002 eq. 49
    NodeRow momentum, T_q;       // dT/dq', dT/dq
    NodeRow inertia;             // d2T/dq'^2, the diagonal: the scale of a rate
    NodeRow force;               // given forces by coordinate, 002 eq. 56
    NodeRow phi;                 // 002 eq. 8
    std::vector<NodeRow> phi_v;  // d phi / d q', by row
    std::vector<NodeRow> phi_q;  // d phi / d q

    [[nodiscard]] Graph& graph() const { return dynamics->graph(); }
};

// `conditions`: those that are frozen. They compare expressions of the speeds, and are put in before the rates are: after
// that, the compared expressions would be different ones.
[[nodiscard]] RateForm derive_rate_form(const ConstrainedDynamics& dynamics, FrozenConditions* conditions = nullptr);

// The rows that are used and the coordinates whose rates they determine; equally many.
struct Partition {
    std::vector<std::size_t> rows, dependent;

    friend auto operator<=>(const Partition&, const Partition&) = default;
};

struct PartitionChoice {
    Partition partition;
    std::string not_applicable;  // why there is none at this state
};

// The best conditioned partition at a state, by complete pivoting over phi_v with rows of unit length and columns in the metric
// of the kinetic energy, so that units do not matter. `values` are those of t, q, u, parameters and inputs, by symbol.
// `candidates`: coordinates that may depend, empty for all; `dependent`: those that shall, empty for the program's choice.
[[nodiscard]] PartitionChoice choose_partition(const RateForm& form, std::span<const double> values,
                                               std::span<const std::size_t> candidates, std::span<const std::size_t> dependent);

// The least pivot of phi_D over that of the best partition at this state: 0 where the dependent rates are not determined.
[[nodiscard]] double conditioning(const RateForm& form, std::span<const double> values, const Partition& partition);

// What tells how well the dependent rates are determined, as functions of q, u and t: the rows of the partition over all rates,
// row by row, and the inertia of each rate.
struct ChartRows {
    NodeRow rows, inertia;
};
[[nodiscard]] ChartRows chart_rows(const RateForm& form, const Partition& partition);

// How the dependent rates change: with the independent ones, and along the motion with those held.
struct RateDerivatives {
    std::vector<NodeRow> alpha_v;  // [r][nu]: d alpha_nu / d q'_r
    NodeRow alpha_motion;          // [nu]: d alpha_nu / dt with the independent q'' = 0
};

// Derivatives of the restricted energy T*(q, q'_I, t) = T(q, q'_I, alpha, t), 002 eq. 48.
struct RestrictedEnergy {
    NodeRow q;                // [j]: dT*/dq_j
    NodeRow v_motion;         // [r]: d/dt dT*/dq'_r with the independent q'' = 0
    std::vector<NodeRow> vv;  // [r][s], s <= r: d2T*/dq'_r dq'_s
};

// The solve blocks of one formulation in the making. r and s count the independent rates, nu the dependent ones, j all.
class RateSolves {
public:
    RateSolves(const RateForm& form, const Partition& partition);

    [[nodiscard]] const std::vector<std::size_t>& independent() const { return independent_; }  // coordinates
    [[nodiscard]] const std::vector<std::size_t>& dependent() const { return partition_.dependent; }
    [[nodiscard]] const std::vector<std::size_t>& rows() const { return partition_.rows; }
    // by coordinate -> by dependent coordinate
    [[nodiscard]] NodeRow of_dependent(const NodeRow& by_coordinate) const;

    // Derivatives by the independent rate s, the dependent ones following; and along the motion with the independent rates held,
    // the dependent ones changing as given.
    [[nodiscard]] TimeDerivative along_rate(std::size_t s, const NodeRow& alpha_v) const;
    [[nodiscard]] TimeDerivative along_motion(const NodeRow& dependent_rates) const;

    // phi_D x = right, for several right sides at once; right sides that are zero give zeros without a solve
    [[nodiscard]] std::vector<NodeRow> solve_dependent(std::span<const NodeRow> right_sides);
    // The right side for a second derivative of alpha: phi_r + sum phi_nu dalpha_nu/dq'_r = 0, differentiated once more.
    [[nodiscard]] NodeRow second_right_side(TimeDerivative& along, std::size_t r, const NodeRow& alpha_v) const;

    // T* without second derivatives of alpha: the function L = T - mu phi, mu constant with dL/dq'_D = 0 here, equals T* wherever
    // phi = 0, and its second derivatives along the surface are those of T*, as alpha's own drop out.
    [[nodiscard]] RestrictedEnergy restricted_energy(const RateDerivatives& derivatives);

    // the equations mass q''_I = right (lower triangle), then q''_D, the multipliers and u'; hands over all blocks
    [[nodiscard]] std::vector<ConstrainedSolve> finish(const std::vector<NodeRow>& mass, const NodeRow& right,
                                                       const RateDerivatives& derivatives);

private:
    [[nodiscard]] ConstrainedSolve dependent_block(bool transposed) const;
    [[nodiscard]] NodeRow solve_reduced(const std::vector<NodeRow>& mass, const NodeRow& right);
    void solve_multipliers(TimeDerivative& along);
    void define(std::vector<SymbolId> symbols, NodeRow values);

    const RateForm& form_;
    Graph& g_;
    const Partition partition_;
    std::vector<std::size_t> independent_;
    std::vector<ConstrainedSolve> solves_;
};

// sum over i of x_i y_i
[[nodiscard]] NodeId inner(Graph& graph, const NodeRow& x, const NodeRow& y);

}  // namespace appell
