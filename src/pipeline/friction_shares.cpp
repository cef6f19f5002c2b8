#include "pipeline/friction_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace appell {

namespace {

// Rows of friction against rows of constraints. The least norm then gives friction the square of this, of what both could carry.
constexpr double k_behind_constraints = 1e-8;
// s_i^2 at least: of what the others could carry instead, a friction that can hold nothing is left with no more than this
constexpr double k_least_square = 1e-12;

}  // namespace

double FrictionShares::weight(std::size_t friction) const { return k_behind_constraints * std::sqrt(square_[friction]); }

void FrictionShares::normalise(std::span<const std::size_t> holding) {
    double largest = 0;
    for (const std::size_t i : holding) largest = std::max(largest, square_[i]);
    for (const std::size_t i : holding) square_[i] = largest > 0 ? std::max(square_[i] / largest, k_least_square) : 1;
}

void FrictionShares::use_alike(std::span<const std::size_t> holding, std::span<const double> bounds) {
    for (const std::size_t i : holding) square_[i] = std::max(bounds[i], 0.0);
    normalise(holding);
}

void FrictionShares::measure(std::span<const std::size_t> holding, std::span<const double> forces, std::span<const double> bounds,
                             double noise) {
    double load = 0, at_bounds = 0;
    largest_ = 0;
    for (const std::size_t i : holding) {
        const double force = forces[i] > noise ? forces[i] : 0, bound = std::max(bounds[i], 0.0);
        part_[i] = force == 0 ? 0 : bound > 0 ? force / bound : std::numeric_limits<double>::infinity();
        largest_ = std::max(largest_, part_[i]);
        load += force * force / square_[i];
        at_bounds += bound * force / square_[i];
    }
    possible_ = load == 0 ? 0 : at_bounds > 0 ? load / at_bounds : std::numeric_limits<double>::infinity();
}

void FrictionShares::spare(std::size_t friction) {
    constexpr double k_spared = 1e-3;
    square_[friction] = std::max(k_spared * square_[friction], k_least_square);
}

void FrictionShares::relieve(std::span<const std::size_t> holding) {
    constexpr double k_least_part = 1e-3;  // one that carries nothing now may have to carry later
    for (const std::size_t i : holding) square_[i] /= std::clamp(part_[i] / std::min(largest_, 1e3), k_least_part, 1e3);
    normalise(holding);
}

}  // namespace appell
