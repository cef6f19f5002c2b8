// Integrability of the affine rows together: the growth of the distribution they leave under Lie brackets (Frobenius; Rashevskii
// and Chow). Where it stops growing before it fills the space of configurations, functions of the configuration stay constant in
// every motion that the rows admit: holonomic constraints, stated or hidden.
//
//     Delta_1 = Delta,   Delta_k+1 = Delta_k + [Delta, Delta_k],   [X, Y] = (dY) X - (dX) Y
//
// Brackets are expressions; ranks are taken with fifty digits at several configurations that satisfy the position rows. Over the
// functions a basis of Delta_k is enough, so that only brackets with what was new at the level before are formed.
#pragma once

#include <string>
#include <vector>

#include "doctor/pfaffian.hpp"

namespace appell {

struct Integrability {
    std::vector<std::size_t> rows;  // affine rows, indices in the dynamics
    std::vector<bool>
        holonomic;            // by affine row: with the others at hand, its form is made of differentials of what stays constant
    std::vector<bool> exact;  // by affine row: the mixed partial derivatives agree as it is written
    std::vector<bool> alone;  // by affine row: integrable by itself, perhaps after multiplication by a factor
    std::size_t independent = 0;      // affine rows that are
    std::vector<std::size_t> growth;  // dimensions of Delta_1, Delta_2, ... up to the last that grew
    std::size_t dimension = 0;        // of the space of configurations, with time where it matters
    bool time = false;                // growth and dimension are those in (q, t)
    std::size_t integrals = 0;        // dimension - growth.back(): functions that stay constant
    std::size_t stated = 0;           // of them, those that position rows state
    bool decided = true;              // false: the brackets became too large; `integrals` is an upper bound then
    std::vector<NodeId> found;        // hidden integrals in closed form, as far as they were found
    [[nodiscard]] std::size_t hidden() const { return integrals - stated; }
};

struct IntegrabilityOptions {
    std::size_t most_nodes = 1'000'000;  // that brackets may add to the graph
    bool closed_forms = true;            // look for the integrals themselves
};

// `samples` has states; closed forms are sought at `varied`, with other values of the parameters. No value without affine rows.
[[nodiscard]] std::optional<Integrability> integrability(const ConstrainedDynamics& dynamics, const Samples& samples,
                                                         const Samples& varied, const IntegrabilityOptions& options = {});

// The growth of fields given as expressions, at the configurations of the samples; used by the function above.
struct Growth {
    std::vector<std::size_t> dimensions;
    std::vector<std::vector<NodeId>> fields;                 // a basis of the last level
    std::vector<std::vector<std::vector<Digits50>>> values;  // by sample looked at: a basis of the last level there
    bool decided = true;
};
[[nodiscard]] Growth growth(Graph& graph, const Distribution& distribution, const Samples& samples, std::size_t most_nodes);

}  // namespace appell
