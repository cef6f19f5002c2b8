// CVODE of SUNDIALS: multistep methods of variable order in Nordsieck's form. BDF (orders 1 to 5) for stiff equations, Adams
// (orders 1 to 12) for smooth ones over a long time; both with Newton's iteration.
//
// A multistep method remembers many steps, and a state that is put in place of another would make it forget them: order one
// again, and steps as short as that asks for. Changes as small as a projection after a step makes them move the whole polynomial
// instead, state and rate, and its higher derivatives are kept. Others make it set out anew.
#pragma once

#include <vector>

#include "sim/sundials_integrator.hpp"

namespace appell {

class Cvode final : public SundialsIntegrator {
public:
    enum class Family { bdf, adams };
    Cvode(FirstOrderSystem& system, const IntegratorOptions& options, Family family);
    ~Cvode() override;

private:
    void set_out(double h) override;
    [[nodiscard]] Outcome advance(double& t) override;
    void follow(std::span<const double> change, std::span<const double> rate_change) override;
    [[nodiscard]] std::size_t rejected() const override;
    [[nodiscard]] bool interpolate(double t, std::span<double> x) override;

    void* memory_ = nullptr;
    N_Vector inside_ = nullptr;
    double h_done_ = 0;
    std::vector<double> moved_, moved_rate_;  // what the polynomial of the last step was moved by
};

}  // namespace appell
