// Constraint forces that are not unique, and how they are made so. Where rows depend on each other, N' A = 0, multipliers may be
// changed by N eta without any change of the force A' lambda. Laws take the multipliers of least norm then, unless the model
// shares them out (Share). The rows of one share are one row in the solves, sum w_i row_i with sum w_i^2 = 1, and its multiplier
// nu gives lambda_i = w_i nu: of all multipliers with these ratios the ones of least norm. Nothing else is restricted as long as
// the rows keep their rank so, which is looked at where the motion starts and where a mode begins.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dynam/constrained_dynamics.hpp"
#include "tape/program.hpp"

namespace appell {

// the shares of the model, as groups of the rows that are there, each row in one group at most
[[nodiscard]] std::vector<SharedRows> shared_rows(const ConstrainedDynamics& dynamics);

// Of those, the ones that keep the rank of the rows; `values` by symbol, of a state on the constraints. A share asks for more
// than the rows leave free otherwise.
[[nodiscard]] std::vector<SharedRows> shares_that_fit(const ConstrainedDynamics& dynamics, const std::vector<SharedRows>& shares,
                                                      std::span<const double> values);

// Whether these two constraints could share their forces: they have as many rows, components by components, which are in no share
// yet and keep their rank so.
[[nodiscard]] bool may_share(const ConstrainedDynamics& dynamics, std::size_t first, std::size_t second,
                             std::span<const double> values);

// The system with a row for each group, and the solve that gives the multipliers of its members afterwards.
struct SharedSystem {
    ConstrainedDynamics dynamics;
    ConstrainedSolve members;
};
[[nodiscard]] SharedSystem share_out(const ConstrainedDynamics& dynamics);

// by row of the solves: a constraint that it belongs to
[[nodiscard]] std::vector<std::size_t> solved_constraints(const ConstrainedDynamics& dynamics);

// the names of a group's constraints: "c1, c2"
[[nodiscard]] std::string names_of(const ConstrainedDynamics& dynamics, const SharedRows& shared);

}  // namespace appell
