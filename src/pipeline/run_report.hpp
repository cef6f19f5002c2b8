// The report of a run: report.html as text, from a derivation and what its run left.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/pipeline.hpp"

namespace appell {

struct RunReportRequest {
    std::string model_text;
    std::string_view version;
    std::string command;  // that repeats the run
};

// The run must have been made with RunOptions::scene. Examining the model and printing its equations are part of it, as far as
// the model's size lets them be done in the time of a run; the page says what was left out and how to get it. The derivation's
// diagnostics stay as they are.
[[nodiscard]] std::string run_report(const Derivation& derivation, const Run& run, const RunReportRequest& request);

}  // namespace appell
