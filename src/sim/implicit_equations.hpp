// The equations of motion as they stand, for integrators that solve F(t, x, x', z) = 0: with x = (q, u, w) and z the multipliers
// and forces of actuators,
//     F = ( q' - K u - ...,  R(t, q, u, u', z),  w' - power ),
// R as dynam/motion_residual has it. Nothing is solved to evaluate them, except what a work may need; the integrator's own Newton
// iteration finds accelerations and multipliers together.
#pragma once

#include <span>
#include <vector>

#include "sim/integrator.hpp"
#include "sim/motion.hpp"
#include "tape/workspace.hpp"

namespace appell {

class ImplicitEquations {
public:
    // the motion has a residual form
    explicit ImplicitEquations(const Motion& motion);

    [[nodiscard]] std::size_t unknowns() const { return form_.unknowns - speeds_; }  // z
    [[nodiscard]] RateStatus unknowns_at(double t, std::span<const double> x, std::span<double> z);
    [[nodiscard]] RateStatus evaluate(const FirstOrderSystem::Implicit& at, std::span<double> F);
    [[nodiscard]] RateStatus slopes(const FirstOrderSystem::Implicit& at, double alpha, std::span<double> J);
    void set_parameter(std::size_t index, double value);

private:
    [[nodiscard]] EvalStatus run(Workspace<double>& program, const FirstOrderSystem::Implicit& at) const;

    const ResidualForm& form_;
    std::size_t coordinates_, speeds_, states_, works_, parameters_;
    Workspace<double> equations_, slopes_, solution_;
    OutputRange equations_out_, qd_, power_, residual_, rates_, powers_, unknowns_;
};

}  // namespace appell
