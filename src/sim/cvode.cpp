// See cvode.hpp.
#include "sim/cvode.hpp"

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.hpp"

namespace appell {

namespace {

// in weights of the tolerances: what a polynomial may be moved by and still be that of the motion
constexpr double k_small_change = 10;
constexpr double k_same_step = 1e-8;

}  // namespace

Cvode::Cvode(FirstOrderSystem& system, const IntegratorOptions& options, Family family)
    : SundialsIntegrator(system, options), moved_(system.size()), moved_rate_(system.size()) {
    if (options.fixed_step > 0) throw Error("CVODE has no fixed step");
    inside_ = N_VClone(state_);
    memory_ = CVodeCreate(family == Family::bdf ? CV_BDF : CV_ADAMS, context_);
    if (inside_ == nullptr || memory_ == nullptr) throw std::bad_alloc();
}

Cvode::~Cvode() {
    if (memory_ != nullptr) CVodeFree(&memory_);
    if (inside_ != nullptr) N_VDestroy(inside_);
}

void Cvode::set_out(double h) {
    std::copy(x_.begin(), x_.end(), N_VGetArrayPointer(state_));
    int status = 0;
    if (!ready_) {
        status |= CVodeInit(memory_, rate_callback, t_, state_);
        status |= CVodeSVtolerances(memory_, rtol_, atol_);
        status |= CVodeSetUserData(memory_, this);
        status |= CVodeSetErrHandlerFn(memory_, silence, nullptr);
        status |= CVodeSetLinearSolver(memory_, solver_, matrix_);
        if (system_.has_jacobian()) status |= CVodeSetJacFn(memory_, jacobian_callback);
        status |= CVodeSetMaxErrTestFails(memory_, 30);
        status |= CVodeSetDeltaGammaMaxLSetup(memory_, k_same_step);  // see arkode.cpp
        if (options_.max_step > 0) status |= CVodeSetMaxStep(memory_, options_.max_step);
    } else {
        status |= CVodeReInit(memory_, t_, state_);
    }
    status |= CVodeSetInitStep(memory_, h);
    status |= CVodeSetStopTime(memory_, t_end_);
    if (status != CV_SUCCESS) throw Error("CVODE refused its options");
    ready_ = renewed_ = true;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::fill(moved_rate_.begin(), moved_rate_.end(), 0.0);
}

SundialsIntegrator::Outcome Cvode::advance(double& t) {
    if (CVodeSetMinStep(memory_, std::min(least_step(), std::abs(t_end_ - t_))) != CV_SUCCESS) return Outcome::too_small;
    const int status = CVode(memory_, t_end_, state_, &t, CV_ONE_STEP);
    if (status != CV_SUCCESS && status != CV_TSTOP_RETURN) {
        const bool of_rate = status == CV_RHSFUNC_FAIL || status == CV_FIRST_RHSFUNC_ERR || status == CV_REPTD_RHSFUNC_ERR ||
                             status == CV_UNREC_RHSFUNC_ERR;
        return of_rate ? Outcome::rate_failed : Outcome::too_small;
    }
    h_done_ = t - t_;
    renewed_ = false;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::fill(moved_rate_.begin(), moved_rate_.end(), 0.0);
    return Outcome::ok;
}

// Nordsieck's array begins with the state and h times its rate. CVODE shows both as what its own solvers need of the array.
void Cvode::follow(std::span<const double> change, std::span<const double> rate_change) {
    double gamma = 0, rl1 = 0, t = 0, h = 0;
    N_Vector first = nullptr, current = nullptr, rate = nullptr, second = nullptr;
    void* data = nullptr;
    if (renewed_ || weighted_norm(change) > k_small_change || CVodeGetLastStep(memory_, &h) != CV_SUCCESS ||
        CVodeGetNonlinearSystemData(memory_, &t, &first, &current, &rate, &gamma, &rl1, &second, &data) != CV_SUCCESS) {
        const double again = renewed_ ? 0 : h_done_;
        set_out(again);
        return;
    }
    double* const x = N_VGetArrayPointer(first);
    double* const xd = N_VGetArrayPointer(second);
    for (std::size_t i = 0; i < change.size(); ++i) {
        x[i] += change[i];
        xd[i] += h * rate_change[i];
        moved_[i] += change[i];
        moved_rate_[i] += h * rate_change[i];
    }
}

std::size_t Cvode::rejected() const {
    long errors = 0, solves = 0;
    if (CVodeGetNumErrTestFails(memory_, &errors) != CV_SUCCESS) return 0;
    if (CVodeGetNumNonlinSolvConvFails(memory_, &solves) != CV_SUCCESS) return 0;
    return static_cast<std::size_t>(errors + solves);
}

bool Cvode::interpolate(double t, std::span<double> x) {
    if (CVodeGetDky(memory_, t, 0, inside_) != CV_SUCCESS) return false;
    const double* const inside = N_VGetArrayPointer(inside_);
    const double s = (t - t_) / h_done_;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = inside[i] - moved_[i] - s * moved_rate_[i];
    return true;
}

}  // namespace appell
