// What a run does where something happens to it: a guard passes through zero, or the partition of a reduced state wears out. The
// mechanics behind it (contacts, friction, constraints dropped or enforced) belong to the caller; `sim` locates the instant,
// hands over the state, and goes on with what it gets back.
#pragma once

#include <span>

#include "sim/motion.hpp"

namespace appell {

class Switching {
public:
    enum class Verdict {
        go_on,    // neither the motion nor the state changed
        changed,  // one of them did: the integrator starts anew
        stop,     // the run ends here as asked for
        failed    // no way to go on; the caller knows why
    };

    virtual ~Switching() = default;

    // what is integrated now; stays where it is until `changed`
    [[nodiscard]] virtual const Motion& motion() const = 0;
    // guards of the motion that pass through zero at t, in the state given, which may be changed
    [[nodiscard]] virtual Verdict passed(double t, std::span<double> x, std::span<const std::size_t> guards) = 0;
    // the dependent entries of the reduced state can no longer be had from the independent ones: others?
    [[nodiscard]] virtual Verdict worn(double t, std::span<const double> x) = 0;
};

}  // namespace appell
