// The sections of a model's equations, as a document. Those of all formulations are in equation_sections.cpp, those of one
// formulation in formulation_sections.cpp.
#pragma once

#include <optional>

#include "dynam/elimination.hpp"
#include "report/document.hpp"
#include "report/equations.hpp"

namespace appell {

[[nodiscard]] Document equation_document(const ConstrainedDynamics& dynamics, const EquationOptions& options);

// The sections that are the formulation's own, of a system without laws and actuators (with_given_forces); `decision` says how
// the partition came about at the state: "Chosen at the start state". `shown` is the same system with the rows whose forces are
// in evidence; `dynamics` then has the others, which are eliminated.
[[nodiscard]] std::vector<Section> formulation_sections(const ConstrainedDynamics& dynamics, const ConstrainedDynamics& shown,
                                                        Formulation formulation, const SpeedPartition& partition,
                                                        const std::string& decision, std::span<const double> state);

// the title of the section that says why a formulation has no equations here
inline constexpr const char* k_not_applicable = "Not applicable";

// do the equations of the formulation follow the user's choice of constraint forces in evidence?
[[nodiscard]] constexpr bool follows_evidence(Formulation formulation) {
    return formulation == Formulation::minimal || formulation == Formulation::nonminimal;
}

// one sentence about what the formulation does, with its source
[[nodiscard]] std::string formulation_sentence(Formulation formulation);

// --- pieces of sections
// what the letters of the equations stand for: parameters, frames, points, masses and given forces, as the model states them
[[nodiscard]] std::vector<Block> description_blocks(const Model& model);
[[nodiscard]] std::string_view level_name(Level level);
[[nodiscard]] NodeId vector_of(const ConstrainedDynamics& dynamics, const Vec3& v);  // components times basis vectors
[[nodiscard]] Math speed_rate(const ConstrainedDynamics& dynamics, std::size_t speed);
[[nodiscard]] Matrix matrix_of(Math name, const SparseMatrix& entries);
[[nodiscard]] Matrix column_of(const Graph& graph, Math name, std::span<const NodeId> values);
// the speeds as a list: u1, u2, u3
[[nodiscard]] Sentence speed_list(const ConstrainedDynamics& dynamics, std::span<const std::uint32_t> speeds, bool rates);

// is there an equation for this name already? Several masses may share a point.
[[nodiscard]] bool is_listed(const Equations& list, const std::string& name);

// Partial velocities or accelerations by speed: a table, columns of zeros left out; or, beyond what can be taken in, a list of
// those that are not zero.
struct VectorColumn {
    std::string name, latex;  // vel(P) and its LaTeX with the index r
    std::vector<PartialVelocity> partials;
};
// `rows` are the speeds to list, by their rates or by themselves; no block without any column
[[nodiscard]] std::optional<Block> vector_block(const ConstrainedDynamics& dynamics, Math corner,
                                                std::span<const std::uint32_t> rows, bool rates,
                                                const std::vector<VectorColumn>& columns);

}  // namespace appell
