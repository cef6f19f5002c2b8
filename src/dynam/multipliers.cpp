#include "dynam/multipliers.hpp"

namespace appell {

ConstrainedSolve multipliers_form(const ConstrainedDynamics& dynamics) {
    ConstrainedSolve solve{dynamics.M, dynamics.A, dynamics.f, dynamics.b, {}, {}};
    for (const Speed& speed : dynamics.model->speeds) solve.x.push_back(speed.rate);
    for (const ConstraintRow& row : dynamics.rows) solve.lambda.push_back(row.multiplier);
    return solve;
}

}  // namespace appell
