// ARKODE of SUNDIALS: a diagonally implicit Runge-Kutta method of order 4 for stiff equations (Kennedy and Carpenter's
// ESDIRK4(3)6L[2]SA, L-stable and stiffly accurate; the library's default overestimates its error where it is stiff). Its
// steps depend on nothing before them, so that states may be replaced at no cost; for that reason it is the one to take where a
// stiff system has constraints that ask for corrections, or events. The inside of a step is the cubic of Hermite: a rate taken on
// an interpolated state would magnify its error by the stiffness.
#pragma once

#include "sim/sundials_integrator.hpp"

namespace appell {

class Arkode final : public SundialsIntegrator {
public:
    Arkode(FirstOrderSystem& system, const IntegratorOptions& options);
    ~Arkode() override;

private:
    void set_out(double h) override;
    [[nodiscard]] Outcome advance(double& t) override;
    void follow(std::span<const double> change, std::span<const double> rate_change) override;
    [[nodiscard]] std::size_t rejected() const override;
    [[nodiscard]] bool interpolate(double t, std::span<double> x) override;

    void* memory_ = nullptr;
};

}  // namespace appell
