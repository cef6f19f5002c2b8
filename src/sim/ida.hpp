// IDA of SUNDIALS: backward differentiation of variable order (1 to 5) for F(t, x, x', z) = 0. The equations of motion are given
// as they stand, with the multipliers z among the unknowns (FirstOrderSystem::residual): no rate is solved for inside a step, and
// Newton's iteration finds accelerations and multipliers together. A system without that form, or whose rows leave multipliers
// undetermined, is given as x' - g(t, x) = 0.
//
// The library's divided differences can not be moved from outside. A change as small as a projection makes is kept as a shift
// between its state and ours instead, so that its past stays; a larger one makes it set out anew.
#pragma once

#include <vector>

#include "sim/sundials_integrator.hpp"

namespace appell {

class Ida final : public SundialsIntegrator {
public:
    Ida(FirstOrderSystem& system, const IntegratorOptions& options);
    ~Ida() override;

private:
    void set_out(double h) override;
    [[nodiscard]] Outcome advance(double& t) override;
    void follow(std::span<const double> change, std::span<const double> rate_change) override;
    [[nodiscard]] std::size_t rejected() const override;
    [[nodiscard]] bool interpolate(double t, std::span<double> x) override;

    // the system's place from the library's vectors
    [[nodiscard]] FirstOrderSystem::Implicit place(double t, N_Vector y, N_Vector yd);
    // the jacobian of the rate by difference quotients, into slopes_
    [[nodiscard]] bool difference(const FirstOrderSystem::Implicit& at);
    static int residual_callback(double t, N_Vector y, N_Vector yd, N_Vector F, void* self);
    static int slopes_callback(double t, double alpha, N_Vector y, N_Vector yd, N_Vector F, SUNMatrix J, void* self, N_Vector,
                               N_Vector, N_Vector);

    void* memory_ = nullptr;
    N_Vector rate_of_state_ = nullptr, inside_ = nullptr;
    bool as_they_stand_ = false;                 // the system has its equations so, since it last set out
    std::vector<double> shift_, shift_of_step_;  // x less the library's: now, and in the last step
    std::vector<double> shifted_, g_, slopes_;
};

}  // namespace appell
