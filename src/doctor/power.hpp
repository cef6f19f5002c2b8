// The power audit: what every ideal constraint force does to the energy, whether energy is an integral of the motion, and if not,
// what changes it; and other quantities that stay constant, where looking is cheap: Jacobi's integral and the momenta of
// coordinates.
//
// The force lambda dphi/dv of a row has the power lambda sum (dphi/dv . v): by Euler's theorem p lambda phi = 0 for rows that are
// homogeneous of degree p in the velocities. Where it is not zero the expression is given.
#pragma once

#include <string>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct RowPower {
    std::size_t row;  // index in the dynamics
    bool workless = true;
    NodeId per_multiplier;  // power over lambda where it is not workless, in as few terms as were found
};

struct Conserved {
    std::string name;  // "the energy", "the momentum of x, dT/dx'"
    NodeId value;
};

struct PowerAudit {
    std::vector<RowPower> rows;  // those that ideal forces keep
    bool energy_conserved = false;
    bool autonomous = true;            // neither loads nor positions nor constraints depend on time
    std::vector<std::string> reasons;  // what changes the energy, where it is not conserved
    std::vector<Conserved> conserved;  // the energy not included
    bool decided = true;               // false: the accelerations could not be evaluated at the samples
};

[[nodiscard]] PowerAudit audit_power(const ConstrainedDynamics& dynamics, const Samples& samples);

}  // namespace appell
