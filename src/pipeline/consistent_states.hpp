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
    // the dense formulations cost the cube of speeds + rows: beyond these sizes without fifty digits, and without a certificate
    std::size_t largest_wide = 24;
    std::size_t largest = 120;
};

// Each a vector of program inputs: t, q, u, parameters.
struct ConsistentStates {
    std::vector<std::vector<double>> rough;    // on the constraints to round-off
    std::vector<std::vector<Digits50>> exact;  // the same with fifty digits; empty beyond the size for them
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
