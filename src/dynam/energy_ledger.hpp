// The energy ledger: what changes T + V along a motion, one power at a time.
//
// With velocities v = sum v_r u_r + v_t, Kane's equations say
//     (T + V)' = sum F.v  over the loads that have no potential  +  explicit change of the potentials with time
//              + sum R.v  over constraint forces, laws and actuators  +  sum (m a - F - R).v_t .
// The last sum is the work of what moves the points as the model prescribes: guides that no load and no multiplier shows. A
// generalized force Q on a speed u_r = (Y q')_r + Z_r has the power Q (u_r - Z_r), so that all entries are the same for every
// choice of speeds.
//
// The force of a row has the power lambda sum dphi/dv.v. Where that is p lambda phi for all states, a number p (Euler's theorem
// for rows that are homogeneous of degree p in the velocities), it vanishes on the constraint and has no entry.
#pragma once

#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "dynam/quantities.hpp"

namespace appell {

struct LedgerEntry {
    std::string
        name;      // "force on P", "damper P Q", "potential", constraint c: "c", "nonideal c", "actuator F", "prescribed motion"
    NodeId power;  // of q, u, u', multipliers, actuators and t
};

// One entry for every statement of a load (members of a family together), for every constraint and law, for every actuator, and
// one for prescribed motion. Entries that are zero by structure are left out.
[[nodiscard]] std::vector<LedgerEntry> energy_ledger(const ConstrainedDynamics& dynamics, Quantities& quantities);

}  // namespace appell
