// The object in the middle (design section 3): everything upstream exists to build it, everything downstream only reads it.
//
//     q' = K u + k                     Kinematics
//     M u' = f                         M from partial velocities, f = active forces - bias
//     A u' = b                         every constraint row, whatever its level and however nonlinear in u
//     C(q, u, t, lambda)               nonideal force of the constraints, where the user states one
//     D                                directions of the actuators that keep the servo rows
//
// K, M and A are sparse: structural zeros are never stored.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dynam/inertia_sums.hpp"
#include "kinem/kinematics.hpp"
#include "model/model.hpp"

namespace appell {

enum class Level { position, velocity, acceleration };

struct ConstraintRow {
    std::string name;        // the constraint's name, with ", x" for a component of a vector equation
    std::size_t constraint;  // index in the model
    Level level;
    NodeId position;  // phi(q, t) of a position row; invalid otherwise
    NodeId velocity;  // phi(q, u, t); the time derivative of a position row; invalid for an acceleration row
    SymbolId multiplier;
    bool by_actuators = false;    // a servo row: no force along A' keeps it
    SymbolId ideal_multiplier{};  // of a row that several share (shares.hpp): what it was without any nonideal force
};

// rows whose multipliers stand in the ratio of the weights, whose squares have the sum one
struct SharedRows {
    std::vector<std::size_t> rows;
    std::vector<NodeId> weights;
};

// What a law of friction knows of its slip beside the slip itself: the direction it slid in last, d + w t, and whether the slip
// has only begun (1, otherwise 0), so small still that this direction takes the place of its own.
struct SlipSymbols {
    std::array<SymbolId, 3> direction, turning;
    SymbolId begins;

    static constexpr std::size_t k_count = 7;
    [[nodiscard]] std::array<SymbolId, k_count> all() const {
        return {direction[0], direction[1], direction[2], turning[0], turning[1], turning[2], begins};
    }
};

struct ConstrainedDynamics {
    std::shared_ptr<const Model> model;
    std::shared_ptr<Kinematics> kinematics;

    // Masses, inertias, loads and the inertia terms without u', by point and body; M and f are assembled from them when they are
    // first asked for.
    std::shared_ptr<InertiaSums> inertia;
    [[nodiscard]] const SparseMatrix& M() const { return inertia->mass_matrix(); }  // lower triangle
    // generalized active forces minus the inertia terms without u'
    [[nodiscard]] const std::vector<NodeId>& f() const {
        return f_with_added.empty() ? inertia->generalized_forces() : f_with_added;
    }
    std::vector<ConstraintRow> rows;
    SparseMatrix A;
    std::vector<NodeId> b;

    std::vector<NodeId> C;            // by speed; empty without nonideal forces
    bool C_of_ideal = false;          // it depends on what the multipliers were without it
    bool C_of_reaction = false;       // it depends on the multipliers themselves
    SparseMatrix D;                   // speeds x actuators
    std::vector<SymbolId> actuators;  // their magnitudes

    // part of f that is no load: laws and actuators, once they are given (realised.hpp); and f with it
    std::vector<NodeId> added_force, f_with_added;

    // of one mode (modes.hpp): constraints that are off, by index, empty when all are on; and, by friction, the symbols of the
    // direction it slid in last, without which a law has no direction at rest
    std::vector<bool> off;
    std::vector<SlipSymbols> slips;

    std::vector<SharedRows> shared;  // by the user's word, where forces are not unique

    // the user's choice of speeds (indices), or empty; then the rest, in order
    std::vector<std::uint32_t> independent, dependent;

    NodeId kinetic_energy;              // of q, u, t
    NodeId potential_energy;            // of gravity, springs and potentials; zero without any
    bool gravity_has_potential = true;  // it depends on parameters alone

    [[nodiscard]] Graph& graph() const { return *model->graph; }
    // the speed that a symbol stands for: u, or a rate q' that is a speed; none otherwise
    [[nodiscard]] std::optional<std::uint32_t> speed_of(SymbolId symbol) const;
};

[[nodiscard]] Result<ConstrainedDynamics> derive_dynamics(std::shared_ptr<const Model> model);

// the same system with some of its rows only; `kept` by row
[[nodiscard]] ConstrainedDynamics with_rows(ConstrainedDynamics dynamics, const std::vector<bool>& kept);

}  // namespace appell
