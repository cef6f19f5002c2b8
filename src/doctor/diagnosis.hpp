// All findings of the doctor about one model, as data; report/diagnosis_lines puts them into words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/classification.hpp"
#include "doctor/implication.hpp"
#include "doctor/integrability.hpp"
#include "doctor/linear_factors.hpp"
#include "doctor/power.hpp"
#include "doctor/redundancy.hpp"
#include "doctor/singular_states.hpp"

namespace appell {

// The sources' counts (000 eq. 9): n coordinates free of position rows, m independent linear rows on velocities, p = n - m,
// l nonlinear ones, c = p - l degrees of freedom.
struct Counts {
    std::size_t speeds = 0, position = 0;  // independent position rows
    std::size_t n = 0, m = 0, p = 0, l = 0, c = 0;
};

// beyond so many speeds and rows brackets, factors and closed forms with fifty digits take longer than anyone waits
constexpr std::size_t k_largest_examined = 40;

struct Diagnosis {
    bool examined = false;
    std::string not_examined;  // why
    Counts generic, start;
    std::vector<RowClass> rows;
    std::optional<Integrability> integrability;
    LinearFactors factors;  // nonlinear rows that are linear in truth
    Redundancy redundancy;
    std::optional<SingularStates> singular;  // without rows: none
    std::optional<bool> linear_regular;      // the linear rows behind nonlinear ones keep their rank at the singular state found
    PowerAudit power;
    std::vector<ImplicationFinding> implications;
};

// What is decided is decided at `samples`, where parameters have the model's values. `varied` has other values of theirs, so that
// numbers in closed forms are told from parameters.
[[nodiscard]] Diagnosis diagnose(const ConstrainedDynamics& dynamics, const Samples& samples, const Samples& varied);

}  // namespace appell
