// The object in the middle (design section 3): everything upstream exists to build it, everything downstream only reads it.
//
//     q' = K u + k                     Kinematics
//     M u' = f                         M from partial velocities, f = active forces - bias
//     A u' = b                         every constraint row, whatever its level and however nonlinear in u
//
// K, M and A are sparse: structural zeros are never stored.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "kinem/kinematics.hpp"
#include "model/model.hpp"

namespace appell {

enum class Level { position, velocity };

struct ConstraintRow {
    std::string name;        // the constraint's name, with ", x" for a component of a vector equation
    std::size_t constraint;  // index in the model
    Level level;
    NodeId position;  // phi(q, t) of a position row; invalid otherwise
    NodeId velocity;  // phi(q, u, t); the time derivative of a position row
    SymbolId multiplier;
};

struct ConstrainedDynamics {
    std::shared_ptr<const Model> model;
    std::shared_ptr<Kinematics> kinematics;

    SparseMatrix M;         // lower triangle
    std::vector<NodeId> f;  // generalized active forces minus the inertia terms without u'
    std::vector<ConstraintRow> rows;
    SparseMatrix A;
    std::vector<NodeId> b;

    NodeId kinetic_energy;    // of q, u, t
    NodeId potential_energy;  // of gravity, springs and potentials; zero without any

    [[nodiscard]] Graph& graph() const { return *model->graph; }
};

[[nodiscard]] Result<ConstrainedDynamics> derive_dynamics(std::shared_ptr<const Model> model);

}  // namespace appell
