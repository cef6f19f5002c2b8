// What is special about states, in the user's names: two points with the same velocity, a point at rest, points that meet, a body
// that does not turn, a rate that vanishes. Singular states and exceptions to implications are described by these.
#pragma once

#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"

namespace appell {

struct SpecialState {
    std::string text;                   // "vel(P1) = vel(P2)"
    std::vector<NodeId> vanishes;       // all of these
    std::size_t first = 0, second = 0;  // points of the model; of one point the first only, 0 for none
};

// Simplest last: vectors say more than the rates that make them up. Large models get those of single points and rates only.
[[nodiscard]] std::vector<SpecialState> special_states(const ConstrainedDynamics& dynamics);

// Looks at states which of the descriptions hold; `inputs` are the symbols that a state lists.
class SpecialStateTest {
public:
    SpecialStateTest(const ConstrainedDynamics& dynamics, std::vector<SpecialState> candidates, std::vector<SymbolId> inputs);
    ~SpecialStateTest();

    [[nodiscard]] const std::vector<SpecialState>& candidates() const { return candidates_; }
    // by candidate
    [[nodiscard]] std::vector<bool> holds(std::span<const double> state);

private:
    struct Evaluation;
    std::vector<SpecialState> candidates_;
    std::unique_ptr<Evaluation> evaluation_;
};

// What holds at a state and not at others, without what says less: of points at rest not that their velocities are equal.
[[nodiscard]] std::vector<std::string> descriptions(const SpecialStateTest& test, const std::vector<bool>& here,
                                                    const std::vector<bool>& elsewhere, std::size_t most);

// The fewest descriptions, in order, that cover all of `which` states: greedily, those that hold seldom elsewhere first. `table`
// is by state and candidate; `covered` tells whether all are.
struct Cover {
    std::vector<std::size_t> candidates;
    bool covered = false;
};
[[nodiscard]] Cover cover(const std::vector<std::vector<bool>>& table, const std::vector<std::size_t>& which,
                          const std::vector<std::size_t>& others);

}  // namespace appell
