// Which constraint rows depend on which, and what becomes of the constraint forces then (001 secs. 2-3; 002 examples 4 and 9).
//
// At random consistent states a row of A is a combination of others or it is not, decided with fifty digits. Rows that are affine
// in the velocities are also looked at where no consistent state is asked for, near the start: what combines to 0 = 0 there is
// redundant, what combines to 0 = 1 contradicts itself. A redundant row leaves the motion and the generalized force A' lambda
// as they are; null vectors of A' say which multipliers, and which forces on points and torques on bodies, are no longer unique.
#pragma once

#include <string>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct RowTerm {
    std::size_t row;
    NodeId coefficient;   // invalid where it varies in a way that no short expression was found for
    double at_first = 0;  // its value at the first sample
};

struct DependentRow {
    std::size_t row;
    std::vector<RowTerm> terms;  // row = sum coefficient * row; those with zeros are left out
    std::string sentence;
};

enum class Contradiction {
    position,  // position rows that can not hold together
    velocity,  // rows that combine to 0 = 1 at every configuration
    except     // ... at every configuration but those where `mismatch` vanishes: a condition on positions is hidden in them
};

struct ContradictoryRows {
    Contradiction kind;
    std::size_t row;
    std::vector<RowTerm> terms;  // what it is compared with
    NodeId mismatch;             // the row minus the combination, of q and t; invalid without a closed form
    std::string sentence;
};

struct DeterminateForce {
    std::string place;  // the point, body at point, or body
    bool torque = false;
    bool determinate = true;
};

struct Redundancy {
    std::size_t rows = 0, rank = 0;  // at the samples
    std::size_t rank_at_start = 0;
    std::vector<DependentRow> dependent;
    std::vector<std::size_t> dependent_at_start_only;
    std::vector<ContradictoryRows> contradictory;
    // of the rows that ideal forces keep; empty without dependent rows
    std::vector<std::size_t> determinate, indeterminate;  // multipliers, by row
    std::vector<DeterminateForce> forces;                 // of all rows together, where several rows or indeterminate ones act
    // points that rest at all samples, though the linear rows do not say so; and those of which at least one rests in every
    // solution that was found from anywhere
    std::vector<std::string> rests, one_rests;
    std::vector<std::string> sentences;  // all findings
};

[[nodiscard]] Redundancy find_redundancy(const ConstrainedDynamics& dynamics, const Samples& samples);

}  // namespace appell
