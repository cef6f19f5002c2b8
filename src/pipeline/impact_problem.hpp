// The impact of several contacts as one problem of least change: of all velocities that the constraints allow after it, those
// that differ least from the velocities before, in the metric of mass,
//     min (u+ - u-)' M (u+ - u-),   A u+ = b,   C u+ >= -e C u-.
// Its multipliers are the impulses of Moreau's problem (docs/theory/modes.md). The velocities are unique, also where rows of
// contacts depend on each other and the impulses are not.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.hpp"
#include "expr/conditions.hpp"
#include "pipeline/mode.hpp"
#include "tape/least_change.hpp"

namespace appell {

class ImpactProblem {
public:
    // mode: with the constraints that are kept; contacts count whether they are on in it or not
    ImpactProblem(const SwitchedSystem& system, const Mode& mode, FrozenConditions* conditions, Diagnostics& diagnostics);

    // The change of the speeds; none where no velocity satisfies the constraints, or where something without mass is free.
    [[nodiscard]] std::optional<std::vector<double>> solve(double t, std::span<const double> x,
                                                           const std::vector<bool>& touching);

    // A change of the speeds that impacts of one contact after the other, each by Newton's law, may lead to in place of the one
    // given; none where every order leads to that one.
    [[nodiscard]] std::optional<std::vector<double>> another_change(double t, std::span<const double> x,
                                                                    const std::vector<bool>& touching,
                                                                    std::span<const double> change);

private:
    // rows that act on both sides and those of contacts at a state, without right sides of the latter
    [[nodiscard]] LeastChange rows_at(double t, std::span<const double> x, const std::vector<bool>& touching);
    const Mode& mode_;
    std::vector<std::pair<std::size_t, std::size_t>> mass_places_, kept_places_, contact_places_;  // row and column
    std::size_t speeds_, kept_ = 0;
    Program program_;
    std::optional<MotionProgram> evaluated_;
};

}  // namespace appell
