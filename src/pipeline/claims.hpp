// Claims: equations of a model file tested at random consistent states, with fifty digits where the size allows.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "pipeline/consistent_states.hpp"

namespace appell {

struct ClaimResult {
    std::string label;
    std::string text;
    bool misprint = false;
    bool wide = false;    // with fifty digits
    bool tested = false;  // at some state
    bool holds = false;
    std::size_t states = 0;  // where its condition held
    double residual = 0;     // largest, relative to the terms of the equation
    // of a claim that does not hold
    std::string entry;           // of a matrix or a vector
    double left = 0, right = 0;  // at the state that shows it
    std::string state;
    std::string hint;               // one factor or sign that repairs it
    std::size_t without_value = 0;  // states of those above at which a side is not finite; it was tested at the others
};

struct ClaimResults {
    std::vector<ClaimResult> claims;
    bool wide = true;  // with fifty digits, where its condition holds at such a state
};

// What fails is an error in the diagnostics: a claim that does not hold, a misprint that does.
[[nodiscard]] ClaimResults test_claims(const ConstrainedDynamics& dynamics, const LoweredMotion& lowered,
                                       const ConsistentStates& states, Diagnostics& diagnostics);

}  // namespace appell
