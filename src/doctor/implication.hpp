// Do some equations imply others (002 ex. 6-8)? A conclusion on positions is that they keep its value. States that satisfy the
// premises are sought from many random ones, with and without a conclusion that shall fail; where it does, the exceptions are
// described by what is special about them. This is a search: an implication that it does not break is not proved by it, though
// the premises' solutions fall into few families, and every family of full dimension is met.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/samples.hpp"
#include "dynam/constrained_dynamics.hpp"

namespace appell {

enum class Verdict {
    holds,         // at every state found
    holds_except,  // exceptions, all of them described
    fails,         // at states with nothing special about them
    undecided,     // too few states satisfy the premises
    vacuous        // every state that satisfies them is excepted
};

struct ImplicationFinding {
    std::size_t implication = 0;  // index in the model
    Verdict verdict = Verdict::undecided;
    std::string why;                         // it is undecided, where that is not for want of states
    std::size_t states = 0, exceptions = 0;  // found: all that satisfy the premises, and those that break the conclusion
    std::vector<std::string> exceptional;    // "vel(P1) = vel(P2)"
    bool as_stated = true;                   // every exception is among those the model states
    std::vector<std::pair<std::string, double>> example;  // a state that breaks it: names and values
};

struct ImplicationOptions {
    std::size_t tries = 240;
    std::uint64_t seed = 1;
};

// `samples` say which symbols a state lists and where the start is; their states need not satisfy the premises
[[nodiscard]] std::vector<ImplicationFinding> test_implications(const ConstrainedDynamics& dynamics, const Samples& samples,
                                                                const ImplicationOptions& options = {});

}  // namespace appell
