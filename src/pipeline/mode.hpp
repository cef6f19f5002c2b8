// One mode of a motion: the system with the constraints that are on, lowered, and the programs that look at its contacts, its
// frictions and its events.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "pipeline/law_programs.hpp"
#include "pipeline/lower_motion.hpp"
#include "pipeline/undetermined_forces.hpp"
#include "sim/motion_program.hpp"

namespace appell {

// What can switch in a model, the same in every mode.
struct SwitchedSystem {
    // implicit integrators err by the tolerance even in their first steps after a change
    SwitchedSystem(const ConstrainedDynamics& whole, double rtol, double atol, bool implicit);

    const ConstrainedDynamics& whole;  // with the rows of all constraints
    const Model& model;
    std::vector<std::size_t> contacts;      // constraints
    std::vector<std::size_t> contact_rows;  // their rows in `whole`
    std::vector<SlipSymbols> slips;         // by friction; see Mode::set_slips
    double rest_speed, gap_noise;           // speeds and gaps below these are zero
    double touching;                        // gaps of contacts that may be closed are not larger
    double first_rtol, first_atol;          // to which coordinates are known in those first steps
};

// the values of SlipSymbols
struct SlipParameters {
    std::array<double, 3> direction{1, 0, 0}, turning{};
    bool begins = false;
};

struct GuardMeaning {
    enum class What { closes, opens, stops, slips, event, condition } what;
    std::size_t index;  // contact, friction, event or condition
};

[[nodiscard]] Guard::Passage passage_of(const Event& event);

struct Mode {
    ConstrainedDynamics dynamics;
    LoweredMotion lowered;
    std::vector<GuardMeaning> guards;
    // inspect: outputs by contact "gap", "gap_rate", "gap_acceleration", "gap_terms" (how large the terms of that are),
    //     "gap_error" (of the first steps after a change), "push"; by friction "slip", "slip_acceleration", "friction" (the force
    //     that makes it stick; three each), "slip_terms", "bound", "static_bound"
    // impact: "jump" of the speeds; by contact "impulse", "rate" of the gap before, its "change", "restitution"
    // events: by event "value"; "set", the values that events set, in their order
    Program inspect, impact, events;
    std::optional<MotionProgram> inspected, impacted, evaluated;
    LawPrograms laws;                          // where there are conditions in laws
    std::optional<UndeterminedForces> forces;  // made when they are first looked at
    std::size_t rank = 0;                      // of its rows, at its last inspection
    bool weighs_friction = false;              // rows of friction that sticks have weights of their own

    // by friction; of one that sticks the direction is the weight of its rows and zeros
    void set_slips(std::span<const SlipParameters> slips);
    // by condition; more than there are in this mode may be given
    void set_sides(std::span<const int> sides);

private:
    void set_parameter(std::size_t place, double value);
};

// `off`, by constraint; x: where the motion is, or nothing at the start. With `weigh_friction` rows of friction that sticks have
// weights, by which frictions share what they hold (friction_shares.hpp). None with the reason among the diagnostics.
[[nodiscard]] std::unique_ptr<Mode> make_mode(const SwitchedSystem& system, const std::vector<bool>& off,
                                              std::span<const double> x, LowerMotionOptions options, Diagnostics& diagnostics,
                                              bool weigh_friction = false);

}  // namespace appell
