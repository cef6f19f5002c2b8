// See sundials_integrator.hpp.
#include "sim/sundials_integrator.hpp"

#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "base/error.hpp"
#include "sim/far_from_zero.hpp"

namespace appell {

namespace {

std::span<double> numbers(N_Vector v) { return {N_VGetArrayPointer(v), static_cast<std::size_t>(N_VGetLength(v))}; }

}  // namespace

SundialsIntegrator::SundialsIntegrator(FirstOrderSystem& system, const IntegratorOptions& options, std::size_t unknowns)
    : system_(system), options_(options) {
    const std::size_t n = system.size();
    if (n == 0) throw Error("an implicit integrator needs a state");
    const std::size_t controlled = system.controlled();
    if (!options.atol_by_entry.empty() && options.atol_by_entry.size() != controlled)
        throw Error("as many absolute tolerances as controlled entries of the state");
    for (std::vector<double>* v :
         {&x_, &x_previous_, &rate_, &rate_previous_, &reached_, &reached_rate_, &change_, &rate_change_})
        v->resize(n);
    const auto length = static_cast<sunindextype>(n + unknowns);
    if (SUNContext_Create(nullptr, &context_) != 0) throw std::bad_alloc();
    state_ = N_VNew_Serial(length, context_);
    atol_ = N_VNew_Serial(length, context_);
    matrix_ = SUNDenseMatrix(length, length, context_);
    solver_ = SUNLinSol_Dense(state_, matrix_, context_);
    if (state_ == nullptr || atol_ == nullptr || matrix_ == nullptr || solver_ == nullptr) throw std::bad_alloc();
    const std::span<double> atol = numbers(atol_);
    std::fill(atol.begin(), atol.end(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < controlled; ++i)
        atol[i] = options.atol_by_entry.empty() ? options.atol : options.atol_by_entry[i];
    // The library takes the mean over all entries. That of the entries that count is got by smaller tolerances.
    const auto counted = std::count_if(atol.begin(), atol.end(), [](double a) { return std::isfinite(a); });
    const double share = std::sqrt(std::max(1.0, static_cast<double>(counted)) / static_cast<double>(length));
    for (double& a : atol) a *= share;
    rtol_ = share * options.rtol;
}

SundialsIntegrator::~SundialsIntegrator() {
    if (solver_ != nullptr) SUNLinSolFree(solver_);
    if (matrix_ != nullptr) SUNMatDestroy(matrix_);
    if (state_ != nullptr) N_VDestroy(state_);
    if (atol_ != nullptr) N_VDestroy(atol_);
    if (context_ != nullptr) SUNContext_Free(&context_);
}

bool SundialsIntegrator::evaluate(double t, std::span<const double> x, std::span<double> xd) {
    ++statistics_.evaluations;
    rate_status_ = system_.rate(origin_ + t, x, xd);
    return rate_status_ == RateStatus::ok;
}

bool SundialsIntegrator::dense(double t_run, std::span<double> x) {
    // an end of the step, rounded in the time of the run, may lie outside of it by that
    const double t = origin_ == 0 ? t_run : std::clamp(t_run - origin_, std::min(t_previous_, t_), std::max(t_previous_, t_));
    if (t_ != t_previous_ && !renewed_) return interpolate(t, x);
    if (t_ == t_previous_)
        std::copy(x_.begin(), x_.end(), x.begin());
    else
        hermite(t, x);
    return true;
}

int SundialsIntegrator::rate_callback(double t, N_Vector x, N_Vector xd, void* self) {
    // positive: the library tries a shorter step
    return static_cast<SundialsIntegrator*>(self)->evaluate(t, numbers(x), numbers(xd)) ? 0 : 1;
}

int SundialsIntegrator::jacobian_callback(double t, N_Vector x, N_Vector, SUNMatrix J, void* self, N_Vector, N_Vector, N_Vector) {
    auto& integrator = *static_cast<SundialsIntegrator*>(self);
    ++integrator.statistics_.jacobians;
    const auto entries = static_cast<std::size_t>(SUNDenseMatrix_LData(J));
    return integrator.system_.jacobian(integrator.origin_ + t, numbers(x), {SUNDenseMatrix_Data(J), entries}) == RateStatus::ok
               ? 0
               : 1;
}

double SundialsIntegrator::weighted_norm(std::span<const double> change) const {
    const std::span<const double> atol = numbers(atol_);
    double sum = 0;
    for (std::size_t i = 0; i < change.size(); ++i) {
        const double e = change[i] / (atol[i] + rtol_ * std::abs(x_[i]));
        sum += e * e;
    }
    return std::sqrt(sum / static_cast<double>(atol.size()));
}

double SundialsIntegrator::least_step() const {
    return 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t()), 1e-6 * std::abs(t_end_ - t_));
}

void SundialsIntegrator::hermite(double t, std::span<double> x) const {
    const double h = t_ - t_previous_, s = (t - t_previous_) / h, r = 1 - s;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double change = reached_[i] - x_previous_[i], bend = h * rate_previous_[i] - change;
        x[i] = x_previous_[i] + s * (change + r * (bend + s * (change - h * reached_rate_[i] - bend)));
    }
}

StepStatus SundialsIntegrator::start(double t, std::span<const double> x, double t_end) {
    std::copy(x.begin(), x.end(), x_.begin());
    x_previous_ = reached_ = x_;
    origin_ = far_from_zero(t, t_end) ? t : 0;
    t_ = t_previous_ = t - origin_;
    t_end_ = t_end - origin_;
    direction_ = t_end < t ? -1 : 1;
    rejected_before_ = 0;
    if (!evaluate(t_, x_, rate_)) return StepStatus::rate_failed;
    reached_rate_ = rate_previous_ = rate_;
    const double first = options_.fixed_step > 0 ? options_.fixed_step : std::min(options_.first_step, std::abs(t_end_ - t_));
    if (t_ != t_end_) set_out(direction_ * first);
    rate_status_ = RateStatus::ok;
    return StepStatus::ok;
}

StepStatus SundialsIntegrator::step() {
    double t = t_;
    rate_status_ = RateStatus::ok;
    switch (advance(t)) {
        case Outcome::ok: break;
        case Outcome::rate_failed: return StepStatus::rate_failed;
        case Outcome::too_small: return rate_status_ == RateStatus::ok ? StepStatus::step_too_small : StepStatus::rate_failed;
    }
    std::swap(x_, x_previous_);
    std::swap(rate_, rate_previous_);
    t_previous_ = t_;
    t_ = t;
    std::copy_n(N_VGetArrayPointer(state_), x_.size(), x_.begin());
    ++statistics_.steps;
    statistics_.rejected = rejected_before_ + rejected();
    if (!evaluate(t_, x_, rate_)) return StepStatus::rate_failed;
    reached_ = x_;
    reached_rate_ = rate_;
    return StepStatus::ok;
}

// the library can not go back: it sets out again from where the step began
bool SundialsIntegrator::retreat() {
    const double h = (t_ - t_previous_) / 4;
    std::swap(x_, x_previous_);
    std::swap(rate_, rate_previous_);
    t_ = t_previous_;
    reached_ = x_;
    reached_rate_ = rate_;
    --statistics_.steps;
    rejected_before_ += rejected() + 1;
    statistics_.rejected = rejected_before_;
    if (!(std::abs(h) >= least_step())) return false;
    set_out(h);
    return true;
}

StepStatus SundialsIntegrator::replace_state(std::span<const double> x, bool rate_too) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        change_[i] = x[i] - x_[i];
        x_[i] = x[i];
        rate_change_[i] = rate_[i];
    }
    if (rate_too && !evaluate(t_, x_, rate_)) return StepStatus::rate_failed;
    for (std::size_t i = 0; i < x.size(); ++i) rate_change_[i] = rate_[i] - rate_change_[i];
    // changes at round-off are not worth what they would cost the library
    if (!rate_too || t_ == t_end_) return StepStatus::ok;
    follow(change_, rate_change_);
    return StepStatus::ok;
}

}  // namespace appell
