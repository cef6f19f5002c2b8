// See arkode.hpp.
#include "sim/arkode.hpp"

#include <arkode/arkode_arkstep.h>
#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.hpp"

namespace appell {

namespace {

constexpr double k_same_step = 1e-8;

}  // namespace

Arkode::Arkode(FirstOrderSystem& system, const IntegratorOptions& options) : SundialsIntegrator(system, options) {}

Arkode::~Arkode() {
    if (memory_ != nullptr) ARKStepFree(&memory_);
}

void Arkode::set_out(double h) {
    std::copy(x_.begin(), x_.end(), N_VGetArrayPointer(state_));
    int status = 0;
    if (memory_ == nullptr) {
        memory_ = ARKStepCreate(nullptr, rate_callback, t_, state_, context_);
        if (memory_ == nullptr) throw std::bad_alloc();
        status |= ARKStepSVtolerances(memory_, rtol_, atol_);
        status |= ARKStepSetUserData(memory_, this);
        status |= ARKStepSetErrHandlerFn(memory_, silence, nullptr);
        status |= ARKStepSetTableNum(memory_, ARKODE_ESDIRK436L2SA_6_3_4, ARKODE_ERK_NONE);
        status |= ARKStepSetLinearSolver(memory_, solver_, matrix_);
        if (system_.has_jacobian()) status |= ARKStepSetJacFn(memory_, jacobian_callback);
        status |= ARKStepSetMaxErrTestFails(memory_, 30);
        // Factors of another step are kept by the library up to a change by a fifth, and the rate of convergence they had with
        // them: where that was fast, one correction is believed that is wrong by a fifth.
        status |= ARKStepSetDeltaGammaMax(memory_, k_same_step);
        if (options_.max_step > 0) status |= ARKStepSetMaxStep(memory_, options_.max_step);
    } else {
        status |= ARKStepReInit(memory_, nullptr, rate_callback, t_, state_);
    }
    // a step that can not be shortened must be solved
    if (options_.fixed_step > 0)
        status |= ARKStepSetFixedStep(memory_, h) | ARKStepSetMaxNonlinIters(memory_, 20);
    else
        status |= ARKStepSetInitStep(memory_, h);
    if (status != ARK_SUCCESS) throw Error("ARKODE refused its options");
}

SundialsIntegrator::Outcome Arkode::advance(double& t) {
    // NOTE: it is forgotten whenever the library sets out anew or is given another state
    if (ARKStepSetStopTime(memory_, t_end_) != ARK_SUCCESS) return Outcome::too_small;
    if (options_.fixed_step <= 0 && ARKStepSetMinStep(memory_, std::min(least_step(), std::abs(t_end_ - t_))) != ARK_SUCCESS)
        return Outcome::too_small;
    const int status = ARKStepEvolve(memory_, t_end_, state_, &t, ARK_ONE_STEP);
    if (status == ARK_SUCCESS || status == ARK_TSTOP_RETURN) return Outcome::ok;
    const bool of_rate = status == ARK_RHSFUNC_FAIL || status == ARK_FIRST_RHSFUNC_ERR || status == ARK_REPTD_RHSFUNC_ERR ||
                         status == ARK_UNREC_RHSFUNC_ERR;
    return of_rate ? Outcome::rate_failed : Outcome::too_small;
}

void Arkode::follow(std::span<const double>, std::span<const double>) {
    std::copy(x_.begin(), x_.end(), N_VGetArrayPointer(state_));
    // it would look for a first step again
    double next = 0;
    if (ARKStepGetCurrentStep(memory_, &next) != ARK_SUCCESS || ARKStepSetInitStep(memory_, next) != ARK_SUCCESS ||
        ARKStepReset(memory_, t_, state_) != ARK_SUCCESS)
        set_out(0);
}

std::size_t Arkode::rejected() const {
    long errors = 0, solves = 0;
    if (memory_ == nullptr || ARKStepGetNumErrTestFails(memory_, &errors) != ARK_SUCCESS) return 0;
    if (ARKStepGetNumNonlinSolvConvFails(memory_, &solves) != ARK_SUCCESS) return 0;
    return static_cast<std::size_t>(errors + solves);
}

bool Arkode::interpolate(double t, std::span<double> x) {
    hermite(t, x);
    return true;
}

}  // namespace appell
