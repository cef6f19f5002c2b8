#include "pipeline/run_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/scientific.hpp"
#include "pipeline/print_equations.hpp"
#include "report/diagnosis_lines.hpp"
#include "report/equation_sections.hpp"
#include "report/report_page.hpp"

namespace appell {

namespace {

// Bounds on what a report takes beside the run, by sizes rather than by seconds so that the same model always gives the same
// page (docs/decisions/025-report.md has the measurements).
struct Bound {
    std::size_t size;          // speeds and constraint rows
    std::size_t instructions;  // of the accelerations
};
constexpr Bound k_examined{24, 4000}, k_printed{40, 4000}, k_all_printed{24, 600}, k_tabulated{400, 3000};
constexpr std::size_t k_equation_bytes = 600'000;
// random states at which a run's report compares and tests; `check` takes more
constexpr std::size_t k_states = 30;

bool within(const Bound& bound, const Derivation& d, const Run& run) {
    const ConstrainedDynamics& whole = d.whole ? *d.whole : *d.dynamics;
    return d.model->speeds.size() + whole.rows.size() <= bound.size && run.instructions <= bound.instructions;
}

std::string plain(double value) { return scientific(value); }

void add_counts(ReportContent& out, const Derivation& d, const Run& run) {
    const Model& m = *d.model;
    const std::vector<ConstraintRow>& rows = d.dynamics->rows;
    const auto add = [&](std::string what, std::size_t count) {
        out.counts.push_back({std::move(what), fmt::format("{}", count)});
    };
    add("coordinates", m.coordinates.size());
    add("speeds", m.speeds.size());
    add("constraint rows", rows.size());
    if (rows.empty()) {
        add("degrees of freedom", m.speeds.size());
        return;
    }
    add("independent at the start", run.summary.rank);
    add("degrees of freedom", m.speeds.size() - std::min(run.summary.rank, m.speeds.size()));
}

void add_certificate(ReportContent& out, const Certificate& c) {
    if (c.too_large) {
        out.certificate = fmt::format("None: {} speeds and rows, the limit of the dense formulations is {}.", c.size, c.limit);
        return;
    }
    if (!c.enough) {
        out.certificate = fmt::format("None: only {} of {} random states could be brought onto the constraints (seed {}).",
                                      c.states, c.tried, c.seed);
        return;
    }
    out.wide = c.wide;
    out.certificate = fmt::format(
        "Every formulation was compared with multipliers at {} random states that satisfy the constraints (seed {}){}. The table "
        "has the largest relative differences of the accelerations and of the constraint force.",
        c.states, c.seed, c.wide ? fmt::format(", at {} of them with fifty digits", c.wide_states) : std::string());
    for (std::size_t i = 1; i < c.formulations.size(); ++i) {
        const FormulationAgreement& f = c.formulations[i];
        ReportContent::Agreement row{f.name, f.source, "", "", "", "", ""};
        if (!f.not_applicable.empty()) {
            row.note = fmt::format("{}: {}", f.beyond_limit ? "not compared" : "not applicable", f.not_applicable);
        } else {
            row.acceleration = plain(f.acceleration);
            row.force = plain(f.force);
            row.wide_acceleration = plain(f.acceleration_wide);
            row.wide_force = plain(f.force_wide);
            if (f.passed_over) row.note = "without states where the independent speeds are badly conditioned";
        }
        out.agreements.push_back(std::move(row));
    }
}

void add_claims(ReportContent& out, const ClaimResults& results) {
    for (const ClaimResult& c : results.claims) {
        const char* verdict = !c.tested               ? "not tested"
                              : c.holds && c.misprint ? "holds, though stated as a misprint"
                              : c.holds               ? "holds"
                              : c.misprint            ? "misprint: fails, as stated"
                                                      : "fails";
        std::string detail = fmt::format("{} states{}, {}", c.states,
                                         c.without_value > 0 ? fmt::format(", {} of them without a value", c.without_value) : "",
                                         scientific(c.residual, 0));
        if (c.tested && !c.holds && !c.hint.empty()) detail += "; " + c.hint;
        out.claims.push_back({c.label, c.text, verdict, std::move(detail), c.tested && c.holds != c.misprint});
    }
}

void add_checks(ReportContent& out, const Derivation& derivation, const Run& run) {
    if (!within(k_examined, derivation, run)) {
        out.checks_note =
            "The model is too large to be examined with every run. `appell check` tells what its constraints are like, compares "
            "the formulations and tests the claims.";
        return;
    }
    Derivation examined = derivation;  // what it finds is no news about the run
    examined.diagnostics = {};
    const std::optional<Check> found = check(examined, k_states);
    if (!found) {
        out.checks_note = "The model could not be examined; `appell check` says why.";
        return;
    }
    out.findings = diagnosis_lines(*derivation.dynamics, found->diagnosis);
    add_certificate(out, found->certificate);
    add_claims(out, found->claims);
    for (const std::string& condition : run.completed)
        out.findings.push_back({"constraints", "completed by a hidden condition, " + condition});
    if (run.forces.any()) out.findings.push_back({"forces", run.forces.text()});
    if (!derivation.start_mode.empty()) out.checks_note = "All of this in the mode of the start: " + derivation.start_mode + ".";
}

std::string words_of(const Section& section) {
    std::string out;
    for (const Block& block : section.blocks)
        if (const Sentence* sentence = std::get_if<Sentence>(&block))
            for (const Phrase& phrase : *sentence)
                if (const std::string* words = std::get_if<std::string>(&phrase)) out += *words;
    return out;
}

void add_equations(ReportContent& out, const Derivation& derivation, const Run& run) {
    if (!within(k_printed, derivation, run)) {
        out.equations_note = "The equations are too long to be read here. `appell derive` prints them.";
        return;
    }
    const ConstrainedDynamics& d = *derivation.dynamics;
    EquationOptions options;
    choose_equation_state(derivation, options);
    std::size_t bytes = 0;
    const auto note = [&](const std::string& sentence) {
        out.equations_note += (out.equations_note.empty() ? "" : " ") + sentence;
    };
    const auto print = [&](Formulation formulation) {
        options.formulation = formulation;
        Document document = equation_document(d, options);
        print_document(d.graph(), document, true);
        const std::string formulation_name(name_of(formulation));
        // one line is enough for equations that there are none of
        for (const Section& section : document.sections)
            if (section.title == k_not_applicable) return note(fmt::format("No {}: {}", formulation_name, words_of(section)));
        bytes += document_html(document).size();
        if (bytes > k_equation_bytes)
            return note(fmt::format("`appell derive --formulation {}` prints that one; it is too long here.", formulation_name));
        out.equations.push_back({formulation_name, std::move(document)});
    };
    const Formulation used = find_formulation(run.formulation).value_or(Formulation::multipliers);
    print(used);
    if (!within(k_all_printed, derivation, run)) {
        note("Other formulations: `appell derive --formulation NAME`.");
        return;
    }
    for (const FormulationInfo& row : all_formulations())
        if (row.formulation != used) print(row.formulation);
}

}  // namespace

std::string run_report(const Derivation& derivation, const Run& run, const RunReportRequest& request) {
    ReportContent content;
    content.model = derivation.model.get();
    content.run = &run;
    content.diagnostics = &derivation.diagnostics;
    content.sources = &derivation.sources;
    content.model_text = request.model_text;
    content.version = request.version;
    content.command = request.command;
    add_counts(content, derivation, run);
    const ConstrainedDynamics& whole = derivation.whole ? *derivation.whole : *derivation.dynamics;
    try {
        if (within(k_tabulated, derivation, run)) {
            Document document;
            document.sections.push_back(constraint_table(whole));
            print_document(whole.graph(), document, true);
            content.constraints = std::move(document.sections.front());
        }
        add_equations(content, derivation, run);
        add_checks(content, derivation, run);
    } catch (const NodeLimitReached&) {
        content.equations_note = "The limit of nodes was reached before everything was printed; `--limit nodes=N` raises it.";
    }
    return report_html(content);
}

}  // namespace appell
