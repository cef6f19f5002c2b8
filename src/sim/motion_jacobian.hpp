// How the rate of a motion changes with its state, for implicit integrators. u' is the solution of equations R(x, z) = 0 with
// other unknowns among z; the program has the derivatives of R, and R_z dz = -R_x is solved here, by an orthogonal decomposition,
// since redundant rows leave R_z without an inverse, but not u' without a derivative.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Dense>

#include "sim/integrator.hpp"
#include "sim/motion.hpp"
#include "sim/motion_program.hpp"

namespace appell {

class MotionJacobian {
public:
    // the motion has a jacobian
    explicit MotionJacobian(const Motion& motion);

    // d x'/d x into a square matrix, column by column, whose first rows and columns are those of x = (q, u)
    [[nodiscard]] RateStatus evaluate(double t, std::span<const double> x, std::span<double> J, std::size_t size);
    // the rows have this rank, though they may look as if they had more, a little off the constraints (Workspace::limit_rank)
    void limit_rank(std::size_t rank);
    void set_parameter(std::size_t index, double value) { program_.set_parameter(index, value); }

private:
    const RateJacobian& form_;
    std::size_t coordinates_, states_;
    MotionProgram program_;
    OutputRange residual_, rates_;
    Eigen::Index most_rank_;  // of by_unknowns_
    Eigen::MatrixXd by_unknowns_, by_state_, solution_;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition_;
};

}  // namespace appell
