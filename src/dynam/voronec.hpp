// Formulation `voronec` (002 eqs. 48-57): equations of motion from the kinetic energy T(q, q', t) and its restriction
// T*(q, q'_I, t) = T with q'_D = alpha(q, q'_I, t) put in,
//
//     d/dt dT*/dq'_r - dT*/dq_r - sum dT*/dq_nu dalpha_nu/dq'_r - sum B_r^nu dT/dq'_nu = F_r + sum dalpha_nu/dq'_r F_nu     (54)
//     B_r^nu = d/dt dalpha_nu/dq'_r - dalpha_nu/dq_r - sum dalpha_mu/dq'_r dalpha_nu/dq_mu                                  (55)
//
// with nu, mu over the dependent rates. The constraints may be nonlinear in q' and depend on time. Neither accelerations nor
// partial velocities enter, nor M, A and b: only derivatives of T and phi, so that agreement with the others means something.
// Without constraints these are Lagrange's equations.
#pragma once

#include "dynam/rate_equations.hpp"

namespace appell {

// Solves in order, ending with u' and the multipliers. Off the manifold they hold for the surface phi = const through the state.
[[nodiscard]] std::vector<ConstrainedSolve> voronec_solves(const RateForm& form, const Partition& partition);

// The same with alpha in closed form, as the source writes it: for the printed page, where the constraints are linear in the
// dependent rates and their matrix falls into blocks of at most 3 x 3. Nothing here feeds the solves.
struct ExplicitVoronec {
    std::string refused;     // why there is no closed form; the rest is then empty
    NodeRow alpha;           // (10), by dependent coordinate
    NodeId T_star;           // (48)
    std::vector<NodeRow> B;  // (55), [r][nu], with q'' of the independent coordinates
    NodeRow left, right;     // (54), by independent coordinate; the left side in the form (47), which cancels less
};
[[nodiscard]] ExplicitVoronec explicit_voronec(const RateForm& form, const Partition& partition);

}  // namespace appell
