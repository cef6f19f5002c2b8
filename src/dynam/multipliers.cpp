#include "dynam/multipliers.hpp"

#include "dynam/row_sizes.hpp"

namespace appell {

ConstrainedSolve multipliers_form(const ConstrainedDynamics& dynamics) {
    ConstrainedSolve solve;
    solve.M = dynamics.M();
    solve.A = dynamics.A;
    solve.f = dynamics.f();
    solve.b = dynamics.b;
    for (const double size : row_sizes(dynamics)) solve.b.push_back(dynamics.graph().constant(size));
    for (const Speed& speed : dynamics.model->speeds) solve.x.push_back(speed.rate);
    for (const ConstraintRow& row : dynamics.rows) solve.lambda.push_back(row.multiplier);
    return solve;
}

}  // namespace appell
