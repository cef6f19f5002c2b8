// Formulation `chaplygin` (002 eqs. 62-63): where the constraints are linear and homogeneous in the rates with coefficients of
// the independent coordinates alone, q'_nu = sum alpha_nu,r(q_I) q'_r, and neither T nor the given forces contain the dependent
// coordinates, Voronec's equations become
//
//     d/dt dT*/dq'_r - dT*/dq_r - sum (dalpha_nu,r/dq_j - dalpha_nu,j/dq_r) q'_j dT/dq'_nu = F_r + sum alpha_nu,r F_nu      (63)
//
// and contain the independent coordinates only. Recognised, not asked for.
#pragma once

#include "dynam/rate_equations.hpp"

namespace appell {

struct ChaplyginStructure {
    std::vector<std::size_t> candidates;  // coordinates that may depend
    std::string not_applicable;           // why the system is not of this kind
    std::size_t rank = 0;                 // of the rows at coordinates in general, on the constraints or not
};

// Decided by evaluation with fifty digits at random points, so that the way an expression is written does not matter; expressions
// with pieces (if, min, max, abs, sign) count by what is written in them.
[[nodiscard]] ChaplyginStructure recognise_chaplygin(const RateForm& form);

// Why the structure does not hold where that partition was chosen; empty when it does. It was read off the rows at coordinates in
// general: where they depend on each other on the constraints alone (a loop closed by a vector whose links stay parallel),
// nothing moves in general, and every coordinate seems to be absent.
[[nodiscard]] std::string structure_lost(std::size_t general_rank, const Partition& partition);

// for partitions whose dependent coordinates are among the candidates
[[nodiscard]] std::vector<ConstrainedSolve> chaplygin_solves(const RateForm& form, const Partition& partition);

}  // namespace appell
