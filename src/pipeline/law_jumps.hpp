// What changes at once where conditions in laws switch (law_switching.hpp). Speeds may, by an impulse of whatever prescribes a
// velocity: the momenta along all that the constraints leave free stay as they were, which is the least change in the mass
// metric. Positions may not, and the potential energy may only where time switches it.
#pragma once

#include <span>

#include "base/diagnostics.hpp"
#include "pipeline/mode.hpp"

namespace appell {

struct LawSwitch {
    std::span<const int> before;  // the sides; the mode has those after
    double t;
    bool by_state;  // not by time alone
    double atol;    // of the run
    bool backwards;
};

enum class LawJump {
    none,
    speeds,
    definitions,  // of speeds alone: they take other values for the same motion
    impossible
};

// Changes the speeds in x. `impossible`: `why` says what would jump.
[[nodiscard]] LawJump carry_over(Mode& mode, const LawSwitch& change, std::span<double> x, Diagnostic& why);

}  // namespace appell
