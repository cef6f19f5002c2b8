// Whether frictions at rest hold, how they share what they hold, and the way in which they slip where they do not.
#include <algorithm>
#include <cmath>

#include "pipeline/mode_switching.hpp"

namespace appell {

namespace {

// Bounds that are reached to so many digits have been reached: friction that holds by less has nothing left.
constexpr double k_reserve = 1e-10;
// rounds in which the shares of frictions are sought: their errors fall geometrically
constexpr int k_most_rounds_of_shares = 2000;
constexpr double k_same_part = 1e-13;
// Frictions that carry so much of what the fullest does are as full; and so near the best shares must be to show it.
constexpr double k_as_full = 1 - 1e-4, k_shows_what_is_full = 1e-7;
// accelerations below this, in parts of their terms, show no direction
constexpr double k_shows_direction = 1e-7;

std::array<double, 3> cross(const std::array<double, 3>& v, const std::array<double, 3>& w) {
    return {v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]};
}

// v, at a right angle to the axis, turned about it
std::array<double, 3> turned(const std::array<double, 3>& v, const std::array<double, 3>& axis, double angle) {
    const std::array<double, 3> w = cross(axis, v);
    const double c = std::cos(angle), s = std::sin(angle);
    return along({c * v[0] + s * w[0], c * v[1] + s * w[1], c * v[2] + s * w[2]}, 1);
}

// J y = r in place, row by row, with partial pivoting; false where J is singular
bool solve_in_place(std::vector<double>& J, std::vector<double>& r) {
    const std::size_t n = r.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(J[i * n + k]) > std::abs(J[best * n + k])) best = i;
        if (!(std::abs(J[best * n + k]) > 0)) return false;
        for (std::size_t j = 0; j < n; ++j) std::swap(J[k * n + j], J[best * n + j]);
        std::swap(r[k], r[best]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = J[i * n + k] / J[k * n + k];
            for (std::size_t j = k; j < n; ++j) J[i * n + j] -= factor * J[k * n + j];
            r[i] -= factor * r[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) r[k] -= J[k * n + j] * r[j];
        r[k] /= J[k * n + k];
    }
    return true;
}

}  // namespace

void ModeSwitching::give_friction_parameters(Mode& mode) const {
    std::vector<SlipParameters> slips(direction_.size());
    for (std::size_t i = 0; i < slips.size(); ++i) {
        if (!off_[m_.frictions[i].stick]) {
            slips[i].direction = {shares_.weight(i), 0, 0};
            continue;
        }
        // a slip of round-off has a direction of round-off
        const bool leaves_rest = deciding_ && at_.at_rest(i) && slides_in_plane(i);
        slips[i] = {direction_[i], {}, begins_[i] || leaves_rest};
        if (!begins_[i]) continue;
        slips[i].turning = turning_[i];
        for (std::size_t axis = 0; axis < 3; ++axis) slips[i].direction[axis] -= turning_[i][axis] * turned_at_;
    }
    mode.set_slips(slips);
}

std::vector<std::size_t> ModeSwitching::holding() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (!off_[m_.frictions[i].constraint] && !off_[m_.frictions[i].stick]) out.push_back(i);
    return out;
}

bool ModeSwitching::inspect_again(double t, std::span<const double> x) {
    give_friction_parameters(*now_);
    return inspect(t, x);
}

// A friction that comes to rest may bring others to rest with it: all of them hold first.
void ModeSwitching::stick_at_rest(std::size_t first) {
    off_[m_.frictions[first].stick] = false;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (!off_[m_.frictions[i].constraint] && at_.at_rest(i)) off_[m_.frictions[i].stick] = false;
}

// In a mode whose rows follow from each other, frictions that stick get rows of their own weights.
bool ModeSwitching::use_frictions_alike(double t, std::span<const double> x) {
    const std::vector<std::size_t> all = holding();
    if (all.empty() || !now_->inspected || now_->rank == now_->dynamics.rows.size()) return true;
    if (!now_->weighs_friction) {
        std::unique_ptr<Mode> weighed = make_mode(system_, off_, x, options_, diagnostics_, true);
        if (!weighed) return fail("the equations of the next mode cannot be made");
        if (laws_) weighed->set_sides(laws_->sides());
        auto& place = modes_[off_];
        retired_.push_back(std::move(place));  // the run still holds on to it
        place = std::move(weighed);
        now_ = place.get();
    }
    shares_.use_alike(all, at_.static_bound);
    return inspect_again(t, x);
}

// Whether shares are found that keep all frictions within their bounds; `at_bound`: and leave something to hold with.
bool ModeSwitching::frictions_hold(double t, std::span<const double> x, bool at_bound) {
    const std::vector<std::size_t> all = holding();
    std::vector<double> forces(m_.frictions.size());
    const double enough = at_bound ? 1 - k_reserve : 1 + k_force_noise;
    for (int round = 0;; ++round) {
        for (const std::size_t i : all) forces[i] = length(at_.friction[i]);
        shares_.measure(all, forces, at_.static_bound, at_.force_noise());
        const double largest = shares_.largest_part(), gap = largest - shares_.least_possible();
        const bool holds = largest <= enough;
        // the best shares last longest; and of what gives way they show what is full
        const bool last_long = holds && gap <= 0.01 * (1 - largest);
        const bool cannot = !holds && shares_.least_possible() > 1 + k_force_noise && gap <= k_shows_what_is_full * largest;
        if (last_long || cannot || gap <= k_same_part * largest || round == k_most_rounds_of_shares) return holds;
        shares_.relieve(all);
        if (!inspect_again(t, x)) return false;
    }
}

// Whether the others hold easily without those that have reached their bounds. A foot that is about to lift off has a bound that
// falls to zero, and would reach it again and again.
bool ModeSwitching::others_hold(double t, std::span<const double> x) {
    constexpr double k_easily = 0.9;
    const std::vector<std::size_t> all = holding();
    for (const std::size_t i : std::exchange(reached_, {}))
        if (!off_[m_.frictions[i].stick]) shares_.spare(i);
    if (!inspect_again(t, x)) return false;
    std::vector<double> forces(m_.frictions.size());
    for (const std::size_t i : all) forces[i] = length(at_.friction[i]);
    shares_.measure(all, forces, at_.static_bound, at_.force_noise());
    return shares_.largest_part() <= k_easily || !use_frictions_alike(t, x);
}

// What would need more than its bound gives way; true where something did. Frictions that share what they hold give way together.
bool ModeSwitching::give_way(double t, std::span<const double> x) {
    std::size_t first = 0;
    while (first < m_.frictions.size() && !at_.holds_too_much(first, off_) && !reached_bound(first)) ++first;
    if (first == m_.frictions.size()) return false;
    if (!now_->weighs_friction) {
        slide(first, along(at_.friction[first], -1));
        return true;
    }
    const bool at_bound = !reached_.empty();
    bool spent = false;  // the bound has come down to nothing: what slides there carries nothing either
    for (const std::size_t i : reached_)
        if (reached_bound(i) && at_.static_bound[i] <= at_.force_noise()) {
            slide(i, along(at_.friction[i], -1));
            spent = true;
        }
    if (spent) {
        reached_.clear();
        return true;
    }
    if (at_bound && others_hold(t, x)) return false;
    if (frictions_hold(t, x, at_bound)) return false;
    const double full = k_as_full * shares_.largest_part();
    for (const std::size_t i : holding())
        if (shares_.part(i) >= full) slide(i, along(at_.friction[i], -1));
    return true;
}

bool ModeSwitching::reached_bound(std::size_t friction) const {
    return !off_[m_.frictions[friction].constraint] && !off_[m_.frictions[friction].stick] &&
           std::ranges::find(reached_, friction) != reached_.end();
}

// Where slip begins the law has the direction of the slip acceleration, which depends on the law. Newton's method for the angles
// by which the directions lie beside the accelerations; where none is found, or what is found is backward, they stay.
bool ModeSwitching::turn_to_slip(double t, std::span<const double> x) {
    std::vector<std::size_t> starting;
    for (std::size_t i = 0; i < m_.frictions.size(); ++i)
        if (!off_[m_.frictions[i].constraint] && off_[m_.frictions[i].stick] && at_.at_rest(i)) starting.push_back(i);
    return starting.empty() || turn_to_slip(t, x, starting);
}

bool ModeSwitching::turn_to_slip(double t, std::span<const double> x, std::span<const std::size_t> starting) {
    struct Turning {
        std::size_t friction;
        std::array<double, 3> axis;
    };
    std::vector<Turning> turning;
    const std::vector<std::array<double, 3>> before = direction_;
    const auto beside = [&](const Turning& of) {
        return dot(at_.slip_acceleration[of.friction], cross(of.axis, direction_[of.friction]));
    };
    const auto begins = [&](std::size_t i) { return length(at_.slip_acceleration[i]) > k_shows_direction * at_.slip_terms[i]; };
    constexpr int k_most_steps = 40;
    constexpr double k_small_angle = 1e-6, k_straight = 1e-12, k_widest = 0.5;
    for (int step = 0; step < k_most_steps; ++step) {
        double largest = 0;
        for (const std::size_t i : starting) {
            if (!begins(i)) continue;
            const std::array<double, 3> axis = cross(direction_[i], at_.slip_acceleration[i]);
            const double part = length(axis) / length(at_.slip_acceleration[i]);
            largest = std::max(largest, part);
            if (part > k_straight && std::ranges::find(turning, i, &Turning::friction) == turning.end())
                turning.push_back({i, along(axis, 1)});
        }
        if (largest <= k_straight) break;
        const std::size_t n = turning.size();
        std::vector<double> J(n * n), r(n);
        const std::vector<std::array<double, 3>> here = direction_;
        for (std::size_t k = 0; k < n; ++k) r[k] = -beside(turning[k]);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = turning[k].friction;
            direction_[i] = turned(here[i], turning[k].axis, k_small_angle);
            if (!inspect_again(t, x)) return false;
            for (std::size_t l = 0; l < n; ++l) J[l * n + k] = (beside(turning[l]) + r[l]) / k_small_angle;
            direction_[i] = here[i];
        }
        const bool regular = solve_in_place(J, r);
        double widest = 0;
        for (const double angle : r) widest = std::max(widest, std::abs(angle));
        const double part = widest > k_widest ? k_widest / widest : 1;
        for (std::size_t k = 0; k < n && regular && std::isfinite(widest); ++k)
            direction_[turning[k].friction] = turned(here[turning[k].friction], turning[k].axis, part * r[k]);
        if (!inspect_again(t, x)) return false;
        if (!regular || !std::isfinite(widest) || widest <= k_straight) break;
    }
    const bool forward = std::ranges::all_of(turning, [&](const Turning& of) {
        const std::array<double, 3>& a = at_.slip_acceleration[of.friction];
        return dot(a, direction_[of.friction]) > 0 && std::abs(beside(of)) <= 1e-6 * length(a);
    });
    if (turning.empty() || forward) return true;
    direction_ = before;
    return inspect_again(t, x);
}

}  // namespace appell
