// Integrators of SUNDIALS behind the face of ours: for equations that are stiff, or smooth over a long time. What CVODE, ARKODE
// and IDA share is here: vectors, the way to the rate and to its jacobian, tolerances, and the states of the last step.
//
// A. C. Hindmarsh and others, SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM TOMS 31 (2005).
// The library is C and keeps its own memory; it allocates where it likes, so that the promise of no allocation during a run does
// not hold for these. Messages of its own are silenced: what went wrong is a StepStatus.
//
// Newton's iteration takes the jacobian of the system where it has one (FirstOrderSystem::jacobian), and difference quotients
// otherwise. The rate at the end of a step is the last one evaluated in it, as for all integrators.
#pragma once

#include <memory>
#include <vector>

#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

#include "sim/integrator.hpp"

namespace appell {

class SundialsIntegrator : public Integrator {
public:
    ~SundialsIntegrator() override;
    SundialsIntegrator(const SundialsIntegrator&) = delete;
    SundialsIntegrator& operator=(const SundialsIntegrator&) = delete;

    [[nodiscard]] StepStatus start(double t, std::span<const double> x, double t_end) override;
    [[nodiscard]] StepStatus step() override;
    [[nodiscard]] bool retreat() override;
    [[nodiscard]] StepStatus replace_state(std::span<const double> x, bool rate_too) override;

    // The library's own interpolation; after it has set out anew that is gone, and the cubic of Hermite stands in.
    [[nodiscard]] bool dense(double t, std::span<double> x) final;

    [[nodiscard]] double t() const override { return origin_ + t_; }
    [[nodiscard]] double t_previous() const override { return origin_ + t_previous_; }
    [[nodiscard]] bool at_end() const override { return t_ == t_end_; }
    [[nodiscard]] std::span<const double> x() const override { return x_; }
    [[nodiscard]] RateStatus rate_status() const override { return rate_status_; }
    [[nodiscard]] const IntegratorStatistics& statistics() const override { return statistics_; }

protected:
    // how a step of the library ended
    enum class Outcome { ok, rate_failed, too_small };

    // `unknowns`: entries of the library's vectors beside the state, which have no say in its steps
    SundialsIntegrator(FirstOrderSystem& system, const IntegratorOptions& options, std::size_t unknowns = 0);

    // The library sets out (again) from (t_, x_) with a first step of size h, or of its own choice for 0.
    virtual void set_out(double h) = 0;
    // one step towards t_end_: the new state into `state_`, its time into `t`
    [[nodiscard]] virtual Outcome advance(double& t) = 0;
    // x_ and rate_ were replaced by others: `change` of x, `rate_change` of the rate
    virtual void follow(std::span<const double> change, std::span<const double> rate_change) = 0;
    [[nodiscard]] virtual std::size_t rejected() const = 0;  // since it last set out
    // the state inside the last step
    [[nodiscard]] virtual bool interpolate(double t, std::span<double> x) = 0;

    [[nodiscard]] bool evaluate(double t, std::span<const double> x, std::span<double> xd);
    // difference of states in weights of the tolerances, root mean square
    [[nodiscard]] double weighted_norm(std::span<const double> change) const;
    [[nodiscard]] double least_step() const;
    // the cubic through the states and rates of both ends of the last step
    void hermite(double t, std::span<double> x) const;

    static int rate_callback(double t, N_Vector x, N_Vector xd, void* self);
    static int jacobian_callback(double t, N_Vector x, N_Vector xd, SUNMatrix J, void* self, N_Vector, N_Vector, N_Vector);
    static void silence(int, const char*, const char*, char*, void*) {}

    FirstOrderSystem& system_;
    IntegratorOptions options_;
    IntegratorStatistics statistics_;
    RateStatus rate_status_ = RateStatus::ok;
    // Of the library, which counts from `origin_`: where that is not 0, the run is so far from it that sums of steps would err.
    double t_ = 0, t_previous_ = 0, t_end_ = 0;
    double origin_ = 0;
    double direction_ = 1;
    bool ready_ = false;    // the library has its options
    bool renewed_ = false;  // it has set out anew, so that the polynomial of the last step is gone
    std::vector<double> x_, x_previous_, rate_, rate_previous_;
    std::vector<double> reached_, reached_rate_;  // the end of the last step, before it was replaced
    SUNContext context_ = nullptr;
    N_Vector state_ = nullptr, atol_ = nullptr;
    double rtol_ = 0;
    SUNMatrix matrix_ = nullptr;
    SUNLinearSolver solver_ = nullptr;

private:
    std::size_t rejected_before_ = 0;  // in earlier settings out
    std::vector<double> change_, rate_change_;
};

}  // namespace appell
