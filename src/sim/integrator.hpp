// First-order systems x' = g(t, x) and the face all integrators share: step, look back into the step, replace the state.
// Status codes only; nothing allocates or throws after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/checkpoint.hpp"
#include "tape/program.hpp"

namespace appell {

enum class RateStatus : std::uint8_t {
    ok,
    not_finite,
    singular,
    partition  // the dependent entries of a reduced state can not be had from the independent ones
};

struct March;
struct StepStages;

class FirstOrderSystem {
public:
    virtual ~FirstOrderSystem() = default;
    [[nodiscard]] virtual std::size_t size() const = 0;
    // The leading entries, by which steps are controlled. The others are carried along: integrals that the rate does not depend
    // on, and that have no say in the size of a step, its first one included.
    [[nodiscard]] virtual std::size_t controlled() const { return size(); }
    [[nodiscard]] virtual RateStatus rate(double t, std::span<const double> x, std::span<double> xd) = 0;
    // The same as one piece of native code for the stages of a step, without a call through this table for each: t goes into the
    // first of its slots. Where it fails `rate` is to be asked. It is good until anything else is asked of the system, and what
    // the system has to say of its last evaluation knows nothing of it.
    [[nodiscard]] virtual NativeEvaluation native_rate() { return {}; }
    // The rate where some entries of the state are a guess, with what they should be and what tells how good they are: the
    // outputs of a motion's WrittenRate, from its state in its order. False: nothing is known.
    [[nodiscard]] virtual bool written_rate(double, std::span<const double>, std::span<double>) { return false; }
    // how the rate changes with the state, column by column; only where it is known
    [[nodiscard]] virtual bool has_jacobian() const { return false; }
    [[nodiscard]] virtual RateStatus jacobian(double, std::span<const double>, std::span<double>) { return RateStatus::singular; }

    // The equations as they stand, F(t, x, x', z) = 0, with unknowns z beside the rate: as many equations as x and z have
    // entries. How many unknowns never changes; whether the equations determine them is known after a rate.
    [[nodiscard]] virtual std::size_t unknowns() const { return 0; }
    [[nodiscard]] virtual bool has_residual() const { return false; }
    [[nodiscard]] virtual RateStatus unknowns_at(double, std::span<const double>, std::span<double>) {
        return RateStatus::singular;
    }
    struct Implicit {
        double t;
        std::span<const double> x, xd, z;
    };
    [[nodiscard]] virtual RateStatus residual(const Implicit&, std::span<double>) { return RateStatus::singular; }
    // dF/d(x, z) + alpha dF/dx', column by column
    [[nodiscard]] virtual RateStatus residual_slopes(const Implicit&, double, std::span<double>) { return RateStatus::singular; }

    // The rates of all stages (sim/neighbours.hpp) at once, where that is faster than one after the other and all of them can
    // be had; false: they are to be evaluated.
    [[nodiscard]] virtual bool stages(const StepStages&) { return false; }
};

struct IntegratorOptions {
    double rtol = 1e-7, atol = 1e-8;
    double first_step = 0;  // tried where integration sets out; 0: chosen from the rates
    double max_step = 0;    // 0: no bound
    double fixed_step = 0;  // above 0: steps of this size without error control
    // in place of atol: one for each entry of the state; an entry whose tolerance is infinite takes no part in the choice of
    // steps
    std::vector<double> atol_by_entry = {};
};

enum class StepStatus : std::uint8_t {
    ok,
    step_too_small,  // the error stays above the tolerance down to steps that no longer move t
    rate_failed      // the rate can not be evaluated, however short the step; rate_status() says why
};

struct IntegratorStatistics {
    std::size_t steps = 0, rejected = 0, evaluations = 0;
    std::size_t jacobians = 0;  // evaluations of the system's own; difference quotients count as evaluations of the rate
    // of explicit methods: steps kept short by stability, and the time when this was first noticed
    std::size_t stiff_steps = 0;
    double stiff_from = 0;
};

class Integrator {
public:
    virtual ~Integrator() = default;

    // sets out from (t, x) towards t_end, in either direction
    [[nodiscard]] virtual StepStatus start(double t, std::span<const double> x, double t_end) = 0;
    // one accepted step; the last one ends at t_end exactly
    [[nodiscard]] virtual StepStatus step() = 0;
    // takes the last step back and makes the next one shorter; false when that no longer moves t
    [[nodiscard]] virtual bool retreat() = 0;
    // the state inside the last step, from the continuous extension of the method; false where there is none
    [[nodiscard]] virtual bool dense(double t, std::span<double> x) = 0;
    // Between which values entries of the state stay inside the last step, by its continuous extension: bounds that cost less
    // than the values do. False: not known.
    [[nodiscard]] virtual bool bounds(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) {
        (void)entries, (void)low, (void)high;
        return false;
    }
    // the degree of the polynomials that `dense` follows; where it is no polynomial of time, one that follows it within a step
    [[nodiscard]] virtual std::size_t dense_degree() const { return 10; }
    // puts another state in place of the one reached; `rate_too` false keeps the rate, for changes at round-off
    [[nodiscard]] virtual StepStatus replace_state(std::span<const double> x, bool rate_too) = 0;

    // What it remembers at the end of a step (checkpoint.hpp), to be taken out after a start() with the same end. False: what it
    // remembers can not be had, and a run with it can not be resumed.
    [[nodiscard]] virtual bool checkpoint(Checkpoint& checkpoint) {
        (void)checkpoint;
        return false;
    }

    // Its part of what is needed to march on with others (march.hpp), and where the march has come to. False: it does not march.
    [[nodiscard]] virtual bool lend(March& march) {
        (void)march;
        return false;
    }
    virtual void take_back(const March& march) { (void)march; }

    [[nodiscard]] virtual double t() const = 0;
    [[nodiscard]] virtual double t_previous() const = 0;
    [[nodiscard]] virtual bool at_end() const = 0;
    [[nodiscard]] virtual std::span<const double> x() const = 0;
    [[nodiscard]] virtual RateStatus rate_status() const = 0;
    [[nodiscard]] virtual const IntegratorStatistics& statistics() const = 0;
    // of a reduced state: how well its dependent entries are still determined, against the start
    [[nodiscard]] virtual double dependent_share() const { return 1; }
};

}  // namespace appell
