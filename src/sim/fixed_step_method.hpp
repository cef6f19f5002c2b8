// Methods of order 4 with a fixed step, from their tableau. Their continuous extension has order 4, too, for one rate more where
// the inside of a step is looked at.
#pragma once

#include "base/error.hpp"
#include "sim/explicit_runge_kutta.hpp"

namespace appell {

template <class Tableau>
class FixedStepMethod final : public TableauRungeKutta<Tableau> {
public:
    // the options have a fixed step
    FixedStepMethod(FirstOrderSystem& system, const IntegratorOptions& options)
        : TableauRungeKutta<Tableau>(system, options, {4, 0, 0, 1, 1, false, 0}), extension_(system.size()) {
        if (!(options.fixed_step > 0)) throw Error("a method with a fixed step needs one");
    }

private:
    [[nodiscard]] double squared_error(double) const override { return 0; }
    [[nodiscard]] bool prepare_dense(double h) override {
        extension_.cubic(h, this->x_previous_, this->rate_previous_, this->end(), this->end_rate());
        const double t = this->t_previous_ + h * QuarticExtension::k_place;
        if (!this->evaluate(t, extension_.at_place(), extension_.rate_at_place())) return false;
        extension_.quartic(h, extension_.rate_at_place());
        return true;
    }
    void interpolate(double share, std::span<double> x) const override { extension_.evaluate(share, x); }
    void bound(std::span<const std::size_t> entries, std::span<double> low, std::span<double> high) const override {
        extension_.bound(entries, low, high);
    }

    QuarticExtension extension_;
};

}  // namespace appell
