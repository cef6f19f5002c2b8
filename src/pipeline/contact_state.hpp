// What the contacts and frictions of a mode do at one state: gaps and pushes, slips and the forces that hold them, and which of
// them contradict the mode.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "pipeline/mode.hpp"

namespace appell {

[[nodiscard]] inline double dot(const std::array<double, 3>& v, const std::array<double, 3>& w) {
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
}
[[nodiscard]] inline double length(const std::array<double, 3>& v) { return std::sqrt(dot(v, v)); }

// v, or its opposite, without its length
[[nodiscard]] inline std::array<double, 3> along(const std::array<double, 3>& v, double sign) {
    const double size = length(v);
    if (!(size > 0)) return {1, 0, 0};
    return {sign * v[0] / size, sign * v[1] / size, sign * v[2] / size};
}

// A start value this close to a contact, against the size of the model, is meant to be on it.
constexpr double k_touching = 1e-6;
// forces are known to so many digits; a contact that pulls by less, or friction above its bound by less, does not
constexpr double k_force_noise = 1e-9;

struct ContactState {
    explicit ContactState(const SwitchedSystem& system);

    // false where the equations of motion have no solution
    [[nodiscard]] bool inspect(Mode& mode, double t, std::span<const double> x);

    // of a contact, by its place among the contacts
    [[nodiscard]] bool touches(std::size_t i) const { return std::abs(gap[i]) <= system.touching; }
    [[nodiscard]] bool rests(std::size_t i) const { return touches(i) && std::abs(gap_rate[i]) <= system.rest_speed; }
    // closed ones that pull and open ones that are pressed shut contradict a mode
    [[nodiscard]] bool pulls(std::size_t i, const std::vector<bool>& off) const;
    [[nodiscard]] bool is_pressed_shut(std::size_t i, const std::vector<bool>& off) const;

    // of a friction; the last three contradict a mode
    [[nodiscard]] bool at_rest(std::size_t i) const { return length(slip[i]) <= system.rest_speed; }
    [[nodiscard]] bool holds_too_much(std::size_t i, const std::vector<bool>& off) const;
    [[nodiscard]] bool slides_backward(std::size_t i, const std::vector<bool>& off, const std::array<double, 3>& direction) const;
    [[nodiscard]] bool has_negative_bound(std::size_t i, const std::vector<bool>& off) const;

    // forces below this are zero
    [[nodiscard]] double force_noise() const { return k_force_noise * largest_push_; }

    const SwitchedSystem& system;
    // its rows depend on each other and contradict themselves: what it says of forces and accelerations means nothing
    bool contradicts = false;
    std::vector<double> gap, gap_rate, gap_acceleration, gap_terms, gap_error, push;  // by contact
    std::vector<double> bound, static_bound, slip_terms;                              // by friction, as the rest
    std::vector<std::array<double, 3>> slip, slip_acceleration, friction;

private:
    double largest_push_ = 0;  // so far
};

}  // namespace appell
