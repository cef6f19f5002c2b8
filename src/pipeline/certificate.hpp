// The certificate: all formulations at many random consistent states, in double and with fifty digits. What agrees was derived by
// roads that share little; what does not agree is a mistake, here or in the model's conditioning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "pipeline/consistent_states.hpp"

namespace appell {

struct FormulationAgreement {
    std::string name;
    std::string source;
    std::string not_applicable;  // why; empty when it was compared
    bool beyond_limit = false;   // it was not tried at this size; not_applicable names the limit
    // largest over all states, relative to the size of the reference (`multipliers`)
    double acceleration = 0, acceleration_wide = 0;  // u' in double and with fifty digits
    double force = 0, force_wide = 0;                // generalized constraint force A' lambda
    bool passed_over = false;                        // some states, where the chosen independent speeds are badly conditioned
};

struct Certificate {
    std::size_t states = 0;  // accepted; fewer than asked for means: no certificate
    std::size_t tried = 0;
    std::uint64_t seed = 0;
    bool enough = false;
    bool wide = false;            // compared with fifty digits, too
    std::size_t wide_states = 0;  // at the first of them
    std::size_t wide_limit = 0;   // the size beyond which there are none
    std::size_t size = 0;         // speeds + rows
    std::size_t limit = 0;        // the size that was passed; 0: none was
    bool too_large = false;       // not attempted
    std::vector<FormulationAgreement> formulations;
    double least_pivot = 1;            // of the rows over the states
    double worst = 0, worst_wide = 0;  // of accelerations and forces over all formulations
};

[[nodiscard]] Certificate certify(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                  const ConsistentStates& states, const CertificateOptions& options = {});

// an error for each formulation that disagrees with `multipliers` by more than round-off explains, or has no finite numbers
void add_disagreements(Diagnostics& diagnostics, const Certificate& certificate);

}  // namespace appell
