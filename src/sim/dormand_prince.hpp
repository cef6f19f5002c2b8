// The Dormand-Prince pair of orders 5 and 4 with its continuous extension of order 4.
//
// J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980); step control, first step
// and continuous extension after E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4-II.6. The
// last stage is the first of the next step.
#pragma once

#include <vector>

#include "sim/integrator.hpp"

namespace appell {

class DormandPrince final : public Integrator {
public:
    DormandPrince(FirstOrderSystem& system, const IntegratorOptions& options);

    [[nodiscard]] StepStatus start(double t, std::span<const double> x, double t_end) override;
    [[nodiscard]] StepStatus step() override;
    [[nodiscard]] bool retreat() override;
    [[nodiscard]] bool dense(double t, std::span<double> x) override;
    [[nodiscard]] StepStatus replace_state(std::span<const double> x, bool rate_too) override;

    [[nodiscard]] double t() const override { return t_; }
    [[nodiscard]] double t_previous() const override { return t_previous_; }
    [[nodiscard]] bool at_end() const override { return t_ == t_end_; }
    [[nodiscard]] std::span<const double> x() const override { return x_; }
    [[nodiscard]] RateStatus rate_status() const override { return rate_status_; }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return statistics_; }

private:
    bool evaluate(double t, const std::vector<double>& x, std::vector<double>& xd);
    bool stages(double h, double t_new);
    [[nodiscard]] double error_norm(double h) const;
    [[nodiscard]] double weighted_norm(const std::vector<double>& v) const;
    [[nodiscard]] double first_step();
    [[nodiscard]] double least_step() const;
    void prepare_dense();

    FirstOrderSystem& system_;
    std::size_t controlled_;
    IntegratorOptions options_;
    IntegratorStatistics statistics_;
    RateStatus rate_status_ = RateStatus::ok;
    double t_ = 0, t_previous_ = 0, t_end_ = 0;
    double h_ = 0;       // size of the next step, signed
    double h_done_ = 0;  // size of the last step
    double direction_ = 1;
    double previous_error_ = 1e-4;
    bool rejected_ = false;     // the last trial was rejected: the step must not grow at once
    bool dense_ready_ = false;  // the coefficients below belong to the last step
    std::vector<double> x_, x_previous_, trial_;
    std::vector<double> k1_, k2_, k3_, k4_, k5_, k6_, k7_;  // k1_ belongs to x_previous_, k7_ to x_
    std::vector<double> dense1_, dense2_, dense3_, dense4_;
};

}  // namespace appell
