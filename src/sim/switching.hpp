// What a run does where something happens to it: a guard passes through zero, or the partition of a reduced state wears out. The
// mechanics behind it (contacts, friction, constraints dropped or enforced) belong to the caller; `sim` locates the instant,
// hands over the state, and goes on with what it gets back.
#pragma once

#include <cstddef>
#include <span>

#include "sim/motion.hpp"
#include "sim/passed_position.hpp"

namespace appell {

// What is known of a guard where a motion sets out because something happened there. `side` (1 or -1) is where it counts from,
// whatever its value is; 0: it lies on zero, give or take the tolerances, and counts from where it goes first, but going there is
// no passage. Round-off says nothing about it until it is farther from zero than the tolerances. 2 or -2: its rate leads it to
// the side of 1 or -1, so that coming back from there is a passage, however close to zero it stays.
struct Settled {
    std::size_t guard;
    int side;
};

// One thing that a guard does beside passing.
struct GuardNote {
    // it comes within the tolerances of zero and goes back; it has no value; it cannot be enclosed, and is sampled instead
    enum class What { grazes, has_no_value, is_sampled } what;
    std::size_t guard;
    double t;
};

class Switching {
public:
    enum class Verdict {
        go_on,    // neither the motion nor the state changed
        changed,  // one of them did: the integrator starts anew
        stop,     // the run ends here as asked for
        failed,   // no way to go on; the caller knows why
        endless   // what happens at this instant makes itself happen again, without end
    };

    virtual ~Switching() = default;

    // what is integrated now; stays where it is until `changed`
    [[nodiscard]] virtual const Motion& motion() const = 0;
    // Guards of the motion that pass through zero at t, in the state given, which may be changed; `sides` of all guards, those
    // that pass on their new side, 0 where nothing is known.
    [[nodiscard]] virtual Verdict passed(double t, std::span<double> x, std::span<const std::size_t> guards,
                                         std::span<const int> sides) = 0;
    // the run went through a singular position of the constraints
    virtual void went_through(const PassedPosition&, std::span<const double> /* x there */) {}
    // x: the state then. `go_on`, or `failed` where a guard has no value and the motion depends on it
    [[nodiscard]] virtual Verdict noted(const GuardNote&, std::span<const double> x) {
        (void)x;
        return Verdict::go_on;
    }
    // The first instant after t, up to t_end, at which a law switches by time alone: a step ends exactly there; t_end without
    // any.
    [[nodiscard]] virtual double next_instant(double, double t_end) { return t_end; }
    // it is reached
    [[nodiscard]] virtual Verdict instant(double, std::span<double>) { return Verdict::go_on; }
    // after `changed`: guards of the new motion whose side its value does not tell
    [[nodiscard]] virtual std::span<const Settled> settled() const { return {}; }
    // the dependent entries of the reduced state can no longer be had from the independent ones: others?
    [[nodiscard]] virtual Verdict worn(double t, std::span<const double> x) = 0;
    // a step was accepted
    virtual void stepped(double /* t */, std::span<const double> /* x */) {}
};

}  // namespace appell
