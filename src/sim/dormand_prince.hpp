// The Dormand-Prince pair of orders 5 and 4 with its continuous extension of order 4.
//
// J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980); continuous extension
// after E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.6. The error estimate uses the rate at
// the new state.
#pragma once

#include <array>
#include <vector>

#include "sim/explicit_runge_kutta.hpp"

namespace appell {

struct DormandPrinceTableau {
    static constexpr std::size_t unrolled = 16;
    static constexpr std::array<double, 5> nodes{1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};
    static constexpr std::array<std::array<double, 6>, 6> rows{{
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
    }};
};

class DormandPrince final : public TableauRungeKutta<DormandPrinceTableau> {
public:
    DormandPrince(FirstOrderSystem& system, const IntegratorOptions& options);
    [[nodiscard]] bool lend(March& march) override;

private:
    [[nodiscard]] double squared_error(double h) const override;
    [[nodiscard]] bool prepare_dense(double h) override;
    void interpolate(double share, std::span<double> x) const override;
    void bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const override;

    std::vector<double> dense1_, dense2_, dense3_, dense4_;
};

}  // namespace appell
