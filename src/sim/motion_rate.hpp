// The rate of a motion's state as a first-order system for the integrators.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "sim/implicit_equations.hpp"
#include "sim/integrator.hpp"
#include "sim/motion.hpp"
#include "sim/motion_jacobian.hpp"
#include "sim/motion_program.hpp"

namespace appell {

// x' = (q', u', w') from the rate program; the last report stays for the loop to look at
class MotionRate final : public FirstOrderSystem {
public:
    explicit MotionRate(const Motion& motion)
        : motion_(motion),
          coordinates_(motion.coordinates),
          states_(motion.states()),
          size_(motion.carried()),
          program_(motion, motion.rate) {
        qd_ = motion.rate.output("qd");
        ud_ = motion.rate.output("ud");
        if (qd_.end - qd_.begin != motion.coordinates || ud_.end - ud_.begin != motion.speeds)
            throw Error("the outputs of the rate program do not have the sizes of the motion");
        if (motion.jacobian) jacobian_.emplace(motion);
        if (motion.residual) residual_.emplace(motion);
        if (motion.reduction && motion.reduction->written) written_.emplace(motion, motion.reduction->written->program);
        straight_ = motion.rate.stream_begin == 1 && motion.rate.stream_end == 1 + states_ && qd_.begin == 0 &&
                    ud_.begin == qd_.end && motion.rate.output_slots.size() == size_ &&
                    (motion.works.empty() || motion.rate.output("power").begin == ud_.end);
        if (motion.works.empty()) return;
        power_ = motion.rate.output("power");
        if (power_.end - power_.begin != motion.works.size()) throw Error("the rate program has other powers than the motion");
    }

    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] std::size_t controlled() const override { return states_; }
    [[nodiscard]] RateStatus rate(double t, std::span<const double> x, std::span<double> xd) override {
        if (!foreseen_ && straight_ && program_.run_whole(t, x, xd)) {
            whole_report_ = &program_;
            return RateStatus::ok;
        }
        return rate_by_parts(t, x, xd);
    }
    [[nodiscard]] NativeEvaluation native_rate() override {
        return foreseen_ || !straight_ ? NativeEvaluation{} : program_.native();
    }
    [[nodiscard]] bool written_rate(double t, std::span<const double> guess, std::span<double> out) override {
        if (written_->run_whole(t, guess, out)) {
            whole_report_ = &*written_;
            return true;
        }
        const EvalReport report = written_->run(t, guess);
        if (report.status != EvalStatus::ok) return false;
        whole_report_ = nullptr;
        report_ = report;
        redundant_ = redundant_ || report_.redundant;
        std::ranges::copy(written_->outputs(), out.begin());
        return true;
    }
    // the outputs of the motion's program are x', as they stand, and its streamed inputs are x
    [[nodiscard]] bool straight() const { return straight_; }
    // with the rate at the end of the step, which is what is asked for next
    [[nodiscard]] bool stages(const StepStages& stages) override {
        if (!straight_ || !program_.offers_stages()) return false;
        rate_foreseen_.resize(size_);
        foreseen_ = program_.run_stages(stages, rate_foreseen_, report_);
        if (!foreseen_) return false;
        whole_report_ = nullptr;
        t_foreseen_ = stages.t_end;
        x_foreseen_.assign(stages.end, stages.end + size_);
        return true;
    }
    [[nodiscard]] bool has_jacobian() const override { return jacobian_.has_value(); }
    [[nodiscard]] RateStatus jacobian(double t, std::span<const double> x, std::span<double> J) override {
        return jacobian_->evaluate(t, x, J, size_);
    }
    [[nodiscard]] std::size_t unknowns() const override { return residual_ ? residual_->unknowns() : 0; }
    // rows that follow from others leave multipliers undetermined
    [[nodiscard]] bool has_residual() const override { return residual_.has_value() && !redundant_; }
    [[nodiscard]] RateStatus unknowns_at(double t, std::span<const double> x, std::span<double> z) override {
        return residual_->unknowns_at(t, x, z);
    }
    [[nodiscard]] RateStatus residual(const Implicit& at, std::span<double> F) override { return residual_->evaluate(at, F); }
    [[nodiscard]] RateStatus residual_slopes(const Implicit& at, double alpha, std::span<double> J) override {
        return residual_->slopes(at, alpha, J);
    }
    // of the last evaluation; put together where it is asked for, since most evaluations are not
    [[nodiscard]] const EvalReport& report() const {
        if (const MotionProgram* const whole = std::exchange(whole_report_, nullptr)) report_ = whole->whole_report();
        return report_;
    }
    // Conditions are frozen again, as the motion has them. A frozen branch may have no value on its other side, into which an
    // integrator looks (sqrt(max(x, 0)) just below x = 0): from there on conditions are evaluated as they are written.
    void freeze() {
        if (!std::exchange(thawed_, false)) return;
        for (std::size_t i = 0; i < motion_.sides; ++i)
            set_parameter(motion_.first_side + i, motion_.parameters[motion_.first_side + i]);
    }
    void limit_rank(std::size_t rank) {
        foreseen_ = false;
        program_.limit_rank(rank);
        if (written_) written_->limit_rank(rank);
        if (jacobian_) jacobian_->limit_rank(rank);
    }
    void set_parameter(std::size_t index, double value) {
        foreseen_ = false;
        program_.set_parameter(index, value);
        if (written_) written_->set_parameter(index, value);
        if (jacobian_) jacobian_->set_parameter(index, value);
        if (residual_) residual_->set_parameter(index, value);
    }

private:
    // what is not one piece of native code; NOTE: apart from that, which takes no longer than what this would add around it
    [[gnu::noinline]] RateStatus rate_by_parts(double t, std::span<const double> x, std::span<double> xd) {
        if (std::exchange(foreseen_, false)) {
            if (t != t_foreseen_ || std::memcmp(x.data(), x_foreseen_.data(), size_ * sizeof(double)) != 0) return rate(t, x, xd);
            std::copy(rate_foreseen_.begin(), rate_foreseen_.end(), xd.begin());
            return RateStatus::ok;
        }
        whole_report_ = nullptr;
        report_ = program_.run(t, x);
        redundant_ = redundant_ || report_.redundant;
        // a power that is not finite spoils its work, and must not end the motion
        if (report_.status == EvalStatus::not_finite && size_ > states_ && finite(program_.output(qd_)) &&
            finite(program_.output(ud_)))
            report_.status = EvalStatus::ok;
        if (report_.status == EvalStatus::not_finite) return thaw() ? rate_by_parts(t, x, xd) : RateStatus::not_finite;
        if (report_.status != EvalStatus::ok && report_.status != EvalStatus::inconsistent_rows) return RateStatus::singular;
        const std::span<const double> qd = program_.output(qd_), ud = program_.output(ud_);
        std::copy(qd.begin(), qd.end(), xd.begin());
        std::copy(ud.begin(), ud.end(), xd.begin() + static_cast<std::ptrdiff_t>(coordinates_));
        if (size_ > states_) std::ranges::copy(program_.output(power_), xd.begin() + static_cast<std::ptrdiff_t>(states_));
        return RateStatus::ok;
    }
    bool thaw() {
        if (motion_.sides == 0 || std::exchange(thawed_, true)) return false;
        for (std::size_t i = 0; i < motion_.sides; ++i) set_parameter(motion_.first_side + i, 0);
        return true;
    }
    static bool finite(std::span<const double> values) {
        return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    }

    const Motion& motion_;
    std::size_t coordinates_, states_, size_;
    bool thawed_ = false;
    MotionProgram program_;
    OutputRange qd_, ud_, power_;
    bool straight_ = false;
    mutable EvalReport report_;
    mutable const MotionProgram* whole_report_ = nullptr;  // whose report is still to be put together
    std::optional<MotionProgram> written_;                 // see WrittenRate
    std::optional<MotionJacobian> jacobian_;
    std::optional<ImplicitEquations> residual_;
    bool redundant_ = false;  // at some state so far
    // where the stages evaluated last end, and the rate there
    bool foreseen_ = false;
    double t_foreseen_ = 0;
    std::vector<double> x_foreseen_, rate_foreseen_;
};

}  // namespace appell
