// report.html: one page that stands alone, with everything a reader of a run wants to see. Words, tables and formulas are static
// HTML and need no script; scripts typeset the formulas, draw the plots and move the scene. The page loads nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "dynam/constrained_dynamics.hpp"
#include "report/diagnosis_lines.hpp"
#include "report/document.hpp"
#include "report/run_record.hpp"

namespace appell {

// What `pipeline` puts together for the page; parts that are empty are left out, or say why they are.
struct ReportContent {
    const Model* model = nullptr;
    const Run* run = nullptr;
    const Diagnostics* diagnostics = nullptr;
    const SourceSet* sources = nullptr;
    std::string model_text;
    std::string version, command;  // that repeat the run

    struct Count {
        std::string what, value;
    };
    std::vector<Count> counts;
    Section constraints;  // printed; without blocks where there are none

    struct Equations {
        std::string formulation;
        Document document;  // printed
    };
    std::vector<Equations> equations;  // the formulation of the run first
    std::string equations_note;        // about those that are not here

    std::vector<DiagnosisLine> findings;
    struct Agreement {
        std::string formulation, source;
        std::string acceleration, force, wide_acceleration, wide_force;  // as text; empty where not compared
        std::string note;
    };
    std::string certificate;  // in words
    std::vector<Agreement> agreements;
    bool wide = false;  // compared with fifty digits, too
    struct Claim {
        std::string label, text, verdict, detail;
        bool good = true;
    };
    std::vector<Claim> claims;
    std::string checks_note;  // why there is no examination
};

[[nodiscard]] std::string report_html(const ReportContent& content);

// the comment that a model file opens with, as paragraphs; lines that are indented further, such as commands, keep their lines
struct CommentParagraph {
    std::string text;
    bool set_apart = false;
    friend bool operator==(const CommentParagraph&, const CommentParagraph&) = default;
};
[[nodiscard]] std::vector<CommentParagraph> leading_comment(std::string_view model_text);

// the constraints with what keeps them: name, equation as written, level, place, force or torque; not yet printed
[[nodiscard]] Section constraint_table(const ConstrainedDynamics& dynamics);

}  // namespace appell
