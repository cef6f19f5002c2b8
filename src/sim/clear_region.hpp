// A box of times and states over which no guard comes near zero. While steps stay inside, which the bounds of their continuous
// extension tell, no guard needs to be looked at: far from zero guards cost next to nothing. A box is several steps wide; the
// longer the last ones have served, the wider. Nothing allocates after construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/integrator.hpp"

namespace appell {

class ClearRegion {
public:
    explicit ClearRegion(std::size_t entries) : low_(entries), high_(entries), step_low_(entries), step_high_(entries) {}

    // The last step is inside.
    [[nodiscard]] bool holds(Integrator& integrator, std::span<const std::size_t> entries) {
        if (!clear_) return false;
        clear_ = integrator.bounds(entries, step_low_, step_high_) && is_inside(integrator.t());
        if (!clear_) reach_ = std::min(2 * reach_, k_widest);
        return clear_;
    }

    // A box around the last step, to be settled; false: it is not worth looking for one now.
    [[nodiscard]] bool offer(Integrator& integrator, std::span<const std::size_t> entries) {
        clear_ = false;
        if (wait_ > 0) {
            --wait_;
            return false;
        }
        if (!integrator.bounds(entries, step_low_, step_high_)) {
            wait_ = k_wait;
            return false;
        }
        for (std::size_t i = 0; i < low_.size(); ++i) {
            const double beyond = reach_ * (step_high_[i] - step_low_[i]);
            low_[i] = step_low_[i] - beyond;
            high_[i] = step_high_[i] + beyond;
        }
        const double t = integrator.t(), before = integrator.t_previous(), beyond = reach_ * std::abs(t - before);
        t_low_ = std::min(t, before) - beyond;
        t_high_ = std::max(t, before) + beyond;
        return true;
    }
    // whether no guard comes near zero in it
    void settle(bool clear) {
        clear_ = clear;
        if (clear) return;
        reach_ = std::max(reach_ / 4, k_narrowest);
        wait_ = k_wait;
    }
    void forget() { clear_ = false; }

    [[nodiscard]] double t_low() const { return t_low_; }
    [[nodiscard]] double t_high() const { return t_high_; }
    [[nodiscard]] double low(std::size_t entry) const { return low_[entry]; }
    [[nodiscard]] double high(std::size_t entry) const { return high_[entry]; }

private:
    // in widths of a step
    static constexpr double k_narrowest = 2, k_widest = 128;
    // steps before a box is tried again
    static constexpr std::size_t k_wait = 8;

    [[nodiscard]] bool is_inside(double t) const {
        bool inside = t >= t_low_ && t <= t_high_;
        for (std::size_t i = 0; i < low_.size(); ++i) inside = inside && step_low_[i] >= low_[i] && step_high_[i] <= high_[i];
        return inside;
    }

    bool clear_ = false;
    double reach_ = 4;
    std::size_t wait_ = 0;
    double t_low_ = 0, t_high_ = 0;
    std::vector<double> low_, high_, step_low_, step_high_;
};

}  // namespace appell
