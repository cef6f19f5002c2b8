// Quantities of the dynamics that a user may name in outputs, plots, claims and nonideal laws, put into expressions as written:
// constraint forces, energies, generalized forces, partial derivatives, matrices.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "dynam/acting_forces.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "dynam/constraint_forces.hpp"
#include "expr/memoized_substitution.hpp"
#include "tape/program.hpp"

namespace appell {

// force(c, P) and torque(c, B) as multiplier times direction, nonideal(c, P) as the laws have it, still in the user's vectors
class WrittenForces {
public:
    WrittenForces(const ConstrainedDynamics& dynamics, Diagnostics& diagnostics)
        : d_(dynamics), diagnostics_(diagnostics), forces_(dynamics.graph(), {}) {}

    [[nodiscard]] NodeId put_in(NodeId written, Span span);

private:
    [[nodiscard]] bool any_named();
    NodeId constraint_vector(const VectorSymbolInfo& symbol, Span span);
    NodeId nonideal_vector(const VectorSymbolInfo& symbol, Span span);
    NodeId friction_vector(const VectorSymbolInfo& symbol, Span span);
    [[nodiscard]] bool acts_at(PointId point, FrameId body, VectorSymbolId place) const;
    void refuse(const std::string& written, std::size_t constraint, std::string_view what, const std::vector<std::string>& places,
                const std::vector<std::string>& here, Span span);

    const ConstrainedDynamics& d_;
    Diagnostics& diagnostics_;
    MemoizedSubstitution forces_;                                           // those found so far
    std::size_t looked_at_ = 0;                                             // vector symbols
    bool named_ = false;                                                    // one of them is a force
    std::optional<std::vector<ConstraintForces>> rows_;                     // when first asked for
    std::optional<std::vector<ActingForce>> acting_;                        // likewise
    std::set<std::tuple<std::size_t, VectorKind, std::uint32_t>> refused_;  // components of one equation repeat their problem
};

// Everything as scalars of q, u, u', multipliers and t. Matrices and derivatives that follow the constraints need linear solves,
// which are collected; they go into a program before the outputs that use them.
class Quantities {
public:
    Quantities(const ConstrainedDynamics& dynamics, Diagnostics& diagnostics);

    // independent rows at the states where count(rank) and count(freedoms) are asked for
    void set_rank(std::size_t rank) { rank_ = rank; }

    [[nodiscard]] NodeId scalar(NodeId written, Span span);
    [[nodiscard]] std::array<NodeId, 3> vector(NodeId written, Span span);  // along the Newtonian axes
    [[nodiscard]] const std::vector<ConstrainedSolve>& solves() const { return solves_; }
    // rows and columns of a matrix; a column matrix has one column
    [[nodiscard]] std::pair<std::size_t, std::size_t> size(MatrixName name) const;

private:
    NodeId put_in(NodeId written, Span span);  // quantities that are needed, as nodes; vectors stay written
    [[nodiscard]] Substitution energies_and_multipliers() const;
    void note_ideal(std::span<const NodeId> values);
    void resolve(std::size_t quantity);
    NodeId derivative_by(NodeId of, SymbolId variable);
    NodeId following(NodeId of, std::uint32_t speed, bool rates);
    NodeId generalized(const Quantity& quantity);
    NodeId entry(const Quantity& quantity);
    NodeId matrix_entry(MatrixName name, std::size_t row, std::size_t column);
    NodeId mass(std::size_t row, std::size_t column) const;
    [[nodiscard]] std::vector<std::uint32_t> following_speeds() const;
    void solve_for_dependent(Span span);
    bool need_partition(Span span);
    [[nodiscard]] std::optional<std::uint32_t> independent_index(SymbolId symbol, bool& rate, Span span);
    [[nodiscard]] const std::vector<NodeId>& active();

    const ConstrainedDynamics& d_;
    Graph& g_;
    Kinematics& kin_;
    Diagnostics& diagnostics_;
    WrittenForces forces_;
    bool nonideal_;                  // there are nonideal forces,
    bool need_ideal_;                // but no solve for the ideal multipliers as yet
    MemoizedSubstitution energies_;  // and multipliers of rows that were left out
    MemoizedSubstitution resolved_;  // quantities resolved so far, as scalars or written vectors
    std::vector<std::uint8_t> done_;
    Sweep sweep_;
    std::vector<std::uint8_t> looked_at_;  // by node: for ideal multipliers
    std::map<SymbolId, std::size_t> quantity_of_;
    std::optional<std::size_t> rank_;
    bool partition_missed_ = false;
    std::optional<std::vector<NodeId>> active_;
    std::vector<std::vector<NodeId>> D_;  // [dependent][independent]
    std::vector<NodeId> offset_;          // d
    std::vector<ConstrainedSolve> solves_;
};

}  // namespace appell
