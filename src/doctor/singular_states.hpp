// Where the constraint rows lose rank on the motions they allow. Two ways: the minors of A in closed form, where they are few and
// small, and a search for states (q, u) with  phi = 0,  A' y = 0,  |y| = 1,  the nearest one to the start. What is special about
// the state found is said in the user's names.
#pragma once

#include <string>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct SingularStates {
    std::size_t rank = 0;           // generic, of the rows
    std::size_t start_rank = 0;     // at the start; less means: the start is singular
    bool never = false;             // a minor is a number that is not zero: no rank can be lost
    std::vector<NodeId> vanishing;  // rank is lost where all of these vanish at once; empty: too many or too large to print
    bool found = false;             // a state, by the search
    double distance = 0;            // from the start, relative to the sizes of coordinates and speeds there
    std::vector<std::pair<std::string, double>> state;
    std::vector<double> inputs;        // the same as the samples list a state
    std::vector<std::string> special;  // what is special about it: "vel(P1) = 0"
    std::vector<std::size_t> weak;     // rows that take part in the loss, by index in the dynamics
};

struct SingularOptions {
    std::size_t tries = 24;
    std::uint64_t seed = 1;
};

[[nodiscard]] SingularStates singular_states(const ConstrainedDynamics& dynamics, const Samples& samples,
                                             const SingularOptions& options = {});

}  // namespace appell
