#include "dynam/multipliers.hpp"

namespace appell {

ConstrainedSolve multipliers_form(const ConstrainedDynamics& dynamics) {
    ConstrainedSolve solve;
    solve.M = dynamics.M();
    solve.A = dynamics.A;
    solve.f = dynamics.f();
    solve.b = dynamics.b;
    for (const Speed& speed : dynamics.model->speeds) solve.x.push_back(speed.rate);
    for (const ConstraintRow& row : dynamics.rows) solve.lambda.push_back(row.multiplier);
    return solve;
}

}  // namespace appell
