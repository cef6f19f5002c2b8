// The doctor's findings in plain words, one sentence each, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "doctor/diagnosis.hpp"

namespace appell {

struct DiagnosisLine {
    std::string topic;  // "counts", "constraint c", "integrability", "rank", "power", "implication"
    std::string sentence;
};

[[nodiscard]] std::vector<DiagnosisLine> diagnosis_lines(const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);
// lines indented by four blanks under a heading
[[nodiscard]] std::string diagnosis_text(const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_json(const ConstrainedDynamics& dynamics, const Diagnosis& diagnosis);

}  // namespace appell
