// See ida.hpp.
#include "sim/ida.hpp"

#include <ida/ida.h>
#include <ida/ida_ls.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "base/error.hpp"

namespace appell {

namespace {

constexpr double k_small_change = 10;  // in weights of the tolerances, as in cvode.cpp
constexpr double k_same_step = 1e-8;   // see arkode.cpp

std::span<double> numbers(N_Vector v) { return {N_VGetArrayPointer(v), static_cast<std::size_t>(N_VGetLength(v))}; }

}  // namespace

Ida::Ida(FirstOrderSystem& system, const IntegratorOptions& options)
    : SundialsIntegrator(system, options, system.unknowns()), shift_(system.size()), shifted_(system.size()), g_(system.size()) {
    if (options.fixed_step > 0) throw Error("IDA has no fixed step");
    shift_of_step_ = shift_;
    slopes_.resize(system.size() * system.size());
    rate_of_state_ = N_VClone(state_);
    inside_ = N_VClone(state_);
    memory_ = IDACreate(context_);
    if (inside_ == nullptr || rate_of_state_ == nullptr || memory_ == nullptr) throw std::bad_alloc();
}

Ida::~Ida() {
    if (memory_ != nullptr) IDAFree(&memory_);
    if (inside_ != nullptr) N_VDestroy(inside_);
    if (rate_of_state_ != nullptr) N_VDestroy(rate_of_state_);
}

FirstOrderSystem::Implicit Ida::place(double t, N_Vector y, N_Vector yd) {
    const std::span<const double> state = numbers(y);
    for (std::size_t i = 0; i < shifted_.size(); ++i) shifted_[i] = state[i] + shift_[i];
    return {origin_ + t, shifted_, numbers(yd).first(shifted_.size()), state.subspan(shifted_.size())};
}

int Ida::residual_callback(double t, N_Vector y, N_Vector yd, N_Vector out, void* self) {
    auto& ida = *static_cast<Ida*>(self);
    const FirstOrderSystem::Implicit at = ida.place(t, y, yd);
    const std::span<double> F = numbers(out);
    if (ida.as_they_stand_) {
        ++ida.statistics_.evaluations;
        ida.rate_status_ = ida.system_.residual(at, F);
    } else {
        if (!ida.evaluate(t, at.x, ida.g_)) return 1;
        for (std::size_t i = 0; i < at.x.size(); ++i) F[i] = at.xd[i] - ida.g_[i];
        std::ranges::copy(at.z, F.begin() + static_cast<std::ptrdiff_t>(at.x.size()));
    }
    // positive: the library tries a shorter step
    return ida.rate_status_ == RateStatus::ok ? 0 : 1;
}

int Ida::slopes_callback(double t, double alpha, N_Vector y, N_Vector yd, N_Vector, SUNMatrix out, void* self, N_Vector, N_Vector,
                         N_Vector) {
    auto& ida = *static_cast<Ida*>(self);
    ++ida.statistics_.jacobians;
    const FirstOrderSystem::Implicit at = ida.place(t, y, yd);
    const std::span<double> J(SUNDenseMatrix_Data(out), static_cast<std::size_t>(SUNDenseMatrix_LData(out)));
    if (ida.as_they_stand_) return ida.system_.residual_slopes(at, alpha, J) == RateStatus::ok ? 0 : 1;
    const std::size_t n = at.x.size(), size = n + at.z.size();
    if (!(ida.system_.has_jacobian() ? ida.system_.jacobian(at.t, at.x, ida.slopes_) == RateStatus::ok : ida.difference(at)))
        return 1;
    std::fill(J.begin(), J.end(), 0.0);
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = 0; r < n; ++r) J[c * size + r] = -ida.slopes_[c * n + r];
    for (std::size_t i = 0; i < size; ++i) J[i * size + i] += i < n ? alpha : 1;
    return 0;
}

// The library's own quotients take tolerances for sizes of the entries, which infinite ones are not.
bool Ida::difference(const FirstOrderSystem::Implicit& at) {
    const std::size_t n = shifted_.size();
    double h = 0;
    if (IDAGetCurrentStep(memory_, &h) != IDA_SUCCESS || !evaluate(at.t - origin_, at.x, g_)) return false;
    for (std::size_t c = 0; c < n; ++c) {
        const double here = shifted_[c], size = std::max(std::abs(here), std::abs(h * at.xd[c]));
        shifted_[c] += std::sqrt(std::numeric_limits<double>::epsilon()) * (size > 0 ? size : 1);
        const double change = shifted_[c] - here;  // as it is after rounding
        const std::span<double> column(slopes_.data() + c * n, n);
        const bool good = evaluate(at.t - origin_, shifted_, column);
        shifted_[c] = here;
        if (!good) return false;
        for (std::size_t r = 0; r < n; ++r) column[r] = (column[r] - g_[r]) / change;
    }
    return true;
}

void Ida::set_out(double h) {
    const std::size_t n = x_.size();
    const std::span<double> y = numbers(state_), yd = numbers(rate_of_state_);
    std::fill(y.begin(), y.end(), 0.0);
    std::fill(yd.begin(), yd.end(), 0.0);
    std::ranges::copy(x_, y.begin());
    std::ranges::copy(rate_, yd.begin());
    std::fill(shift_.begin(), shift_.end(), 0.0);
    shift_of_step_ = shift_;
    as_they_stand_ = system_.has_residual() && system_.unknowns_at(t(), x_, y.subspan(n)) == RateStatus::ok;
    // The unknowns have no say in the steps, but Newton's iteration must find them, too: forces may depend on them, and what it
    // leaves of their errors the next prediction would carry on.
    double largest = 0;
    for (const double z : y.subspan(n)) largest = std::max(largest, std::abs(z));
    if (!as_they_stand_ || largest == 0) largest = std::numeric_limits<double>::infinity();
    std::fill_n(numbers(atol_).begin() + static_cast<std::ptrdiff_t>(n), y.size() - n, rtol_ * largest);
    int status = 0;
    if (!ready_) {
        status |= IDAInit(memory_, residual_callback, t_, state_, rate_of_state_);
        const std::span<double> differential = numbers(inside_);
        std::fill(differential.begin(), differential.end(), 0.0);
        std::fill_n(differential.begin(), n, 1.0);
        status |= IDASetId(memory_, inside_);
        status |= IDASetSuppressAlg(memory_, SUNTRUE);
        status |= IDASetUserData(memory_, this);
        status |= IDASetErrHandlerFn(memory_, silence, nullptr);
        status |= IDASetLinearSolver(memory_, solver_, matrix_);
        status |= IDASetMaxErrTestFails(memory_, 30);
        status |= IDASetDeltaCjLSetup(memory_, k_same_step);
        if (options_.max_step > 0) status |= IDASetMaxStep(memory_, options_.max_step);
    } else {
        status |= IDAReInit(memory_, t_, state_, rate_of_state_);
    }
    status |= IDASVtolerances(memory_, rtol_, atol_);
    status |= IDASetJacFn(memory_, slopes_callback);
    status |= IDASetInitStep(memory_, h);
    status |= IDASetStopTime(memory_, t_end_);
    if (status != IDA_SUCCESS) throw Error("IDA refused its options");
    ready_ = renewed_ = true;
}

SundialsIntegrator::Outcome Ida::advance(double& t) {
    if (IDASetMinStep(memory_, std::min(least_step(), std::abs(t_end_ - t_))) != IDA_SUCCESS) return Outcome::too_small;
    const int status = IDASolve(memory_, t_end_, &t, state_, rate_of_state_, IDA_ONE_STEP);
    if (status != IDA_SUCCESS && status != IDA_TSTOP_RETURN) {
        const bool of_rate = status == IDA_RES_FAIL || status == IDA_REP_RES_ERR || status == IDA_FIRST_RES_FAIL;
        return of_rate ? Outcome::rate_failed : Outcome::too_small;
    }
    shift_of_step_ = shift_;
    const std::span<double> y = numbers(state_);
    for (std::size_t i = 0; i < shift_.size(); ++i) y[i] += shift_[i];
    renewed_ = false;
    return Outcome::ok;
}

void Ida::follow(std::span<const double> change, std::span<const double>) {
    double h = 0;
    if (renewed_ || weighted_norm(change) > k_small_change || IDAGetLastStep(memory_, &h) != IDA_SUCCESS) {
        set_out(renewed_ ? 0 : h);
        return;
    }
    for (std::size_t i = 0; i < change.size(); ++i) shift_[i] += change[i];
}

std::size_t Ida::rejected() const {
    long errors = 0, solves = 0;
    if (IDAGetNumErrTestFails(memory_, &errors) != IDA_SUCCESS) return 0;
    if (IDAGetNumNonlinSolvConvFails(memory_, &solves) != IDA_SUCCESS) return 0;
    return static_cast<std::size_t>(errors + solves);
}

bool Ida::interpolate(double t, std::span<double> x) {
    if (IDAGetDky(memory_, t, 0, inside_) != IDA_SUCCESS) return false;
    const std::span<const double> inside = numbers(inside_);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = inside[i] + shift_of_step_[i];
    return true;
}

}  // namespace appell
