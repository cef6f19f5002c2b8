// From a model to source code that computes its motion elsewhere: which programs are exported, and their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/exported_model.hpp"
#include "pipeline/pipeline.hpp"

namespace appell {

struct ExportRequest {
    std::optional<std::string> formulation;  // none: the model's
    ExportOptions options;
    std::string version;  // of this program, for the files' heads
};

// The programs and names; none, with the reasons among the derivation's diagnostics, for a model that can not be exported.
[[nodiscard]] std::optional<ExportedModel> exported_model(Derivation& derivation, const ExportRequest& request);

// the files
[[nodiscard]] std::optional<std::vector<ExportedFile>> export_code(Derivation& derivation, const ExportRequest& request);
// the model's code in one text
[[nodiscard]] std::optional<std::string> code_text(Derivation& derivation, const ExportRequest& request);

}  // namespace appell
