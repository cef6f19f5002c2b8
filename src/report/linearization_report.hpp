// The linear equations about an equilibrium or a steady motion, for readers: a document, JSON, a table and plots of a sweep.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "doctor/eigenvalue_sweep.hpp"
#include "doctor/linearization.hpp"
#include "doctor/symbolic_linearization.hpp"
#include "report/document.hpp"

namespace appell {

// what stands where, the linear equations, eigenvalues and modes; with the critical values of a sweep
[[nodiscard]] Document linearization_document(const ConstrainedDynamics& dynamics, const LinearSystem& system,
                                              const SymbolicLinearization& symbols, const EigenvalueSweep* sweep);

[[nodiscard]] std::string linearization_json(const ConstrainedDynamics& dynamics, const LinearSystem& system,
                                             const SymbolicLinearization& symbols, const EigenvalueSweep* sweep,
                                             const Diagnostics& diagnostics, const SourceSet& sources);

// one row for each point: the value, how many eigenvalues are zero and unstable, real and imaginary parts
[[nodiscard]] std::string eigenvalues_csv(const EigenvalueSweep& sweep);
// real parts and frequencies over the swept quantity
[[nodiscard]] std::string real_parts_svg(const Model& model, const EigenvalueSweep& sweep);
[[nodiscard]] std::string frequencies_svg(const Model& model, const EigenvalueSweep& sweep);

}  // namespace appell
