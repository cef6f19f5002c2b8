// Random states on the constraints, where formulations are compared and claims are tested.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/lower_motion.hpp"
#include "tape/scalars.hpp"

namespace appell {

struct CertificateOptions {
    std::size_t states = 100;
    std::size_t tries = 10'000;
    std::uint64_t seed = 1;
    bool vary_parameters = true;  // what holds for these values alone is no identity; but the model has these values
    // Dense algebra costs the cube of the size, speeds + rows. Fifty digits: at as many states as these sums of cubes allow, for
    // the states themselves and claims, and for the formulations (some quarter of a microsecond each).
    double wide_work = 5.5e7;
    double wide_comparison_work = 8e6;
    // sizes beyond which there are few states, no formulations with a partition of the rates, no formulations at all
    std::size_t largest = 120;
    std::size_t largest_partitioned = 200;
    std::size_t largest_dense = 600;
    // what a formulation with equations of its own for every partition may add to the expression graph
    std::size_t formulation_nodes = 400'000;
};

[[nodiscard]] std::size_t size_of(const ConstrainedDynamics& dynamics);
// how many of `wanted` states an amount of work is enough for
[[nodiscard]] std::size_t affordable_states(double work, std::size_t size, std::size_t wanted);

// Each a vector of program inputs: t, q, u, parameters.
struct ConsistentStates {
    std::vector<std::vector<double>> rough;    // on the constraints to round-off
    std::vector<std::vector<Digits50>> exact;  // the first of them with fifty digits: as many as can be afforded
    std::size_t tried = 0;
    std::size_t rank = 0;    // of the rows, the same at all of them
    double least_pivot = 1;  // of rows scaled to unit length in the mass metric, over all of them: what their condition is
};

// Parameters times a factor in [1/2, 2], coordinates near the start, speeds anew, both projected; states whose rows are badly
// conditioned, or of another rank than at the start (q, u, on the constraints; empty: of the first), are passed over. Models
// beyond the largest size get few.
[[nodiscard]] ConsistentStates random_consistent_states(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                                        std::span<const double> start, const CertificateOptions& options = {});

}  // namespace appell
