// Finds where guards pass through zero inside a step: samples of the continuous extension, the roots between samples of different
// sign, and, for pairs of roots between samples of one sign, the extrema that a parabola through neighbouring samples promises.
// Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/integrator.hpp"
#include "sim/motion_program.hpp"

namespace appell {

class GuardWatch {
public:
    explicit GuardWatch(const Motion& motion);

    [[nodiscard]] bool empty() const { return guards_.empty(); }
    void set_parameter(std::size_t index, double value) { program_.set_parameter(index, value); }

    void start(double t, std::span<const double> x);
    // The first passage behind `from` in the last step of the integrator; false without any. `from` is where the step began, or
    // the passage before.
    [[nodiscard]] bool look(Integrator& integrator, double from);
    // the last step was taken back: what was seen along it was not
    void take_back() { sign_ = sign_before_; }
    [[nodiscard]] double t() const { return t_; }
    [[nodiscard]] std::span<const std::size_t> passed() const { return passed_; }

private:
    static constexpr std::size_t k_parts = 6;  // a step is sampled between

    bool sample(Integrator& integrator, double t, std::span<double> values);
    [[nodiscard]] double noise(std::size_t guard) const;
    [[nodiscard]] int sign_of(std::size_t guard, double value) const;
    [[nodiscard]] bool counts(std::size_t guard, int from, int to) const;
    void consider(Integrator& integrator, std::size_t guard, double a, double fa, double b);
    void look_for_pair(Integrator& integrator, std::size_t guard, std::size_t part);
    void note(std::size_t guard, double t);

    const std::vector<Guard>& guards_;
    MotionProgram program_;
    OutputRange output_;
    std::vector<int> sign_, sign_now_, sign_before_;  // at the start of what is looked at; along it; where the step began
    std::vector<double> largest_;                     // of |guard| so far
    std::vector<double> state_, values_;
    std::vector<std::vector<double>> samples_;
    std::vector<double> times_;
    std::vector<double> found_;  // by guard, the first passage; NaN without one
    double t_ = 0;
    std::vector<std::size_t> passed_;
};

}  // namespace appell
