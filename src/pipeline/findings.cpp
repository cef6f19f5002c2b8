#include "pipeline/findings.hpp"

#include <fmt/format.h>

#include "base/number_format.hpp"
#include "expr/print.hpp"
#include "pipeline/doctor_samples.hpp"

namespace appell {

namespace {

constexpr std::size_t k_most_entries_sampled = 20'000;

Span span_of(const ConstrainedDynamics& d, std::size_t row) { return d.model->constraints[d.rows[row].constraint].span; }

void hidden_constraints(Diagnostics& diagnostics, const ConstrainedDynamics& d, const Integrability& all) {
    if (!all.decided || all.hidden() == 0) return;
    for (std::size_t i = 0; i < all.rows.size(); ++i) {
        const std::size_t row = all.rows[i];
        if (!all.holonomic[i] || d.rows[row].level == Level::position) continue;
        if (d.model->constraints[d.rows[row].constraint].stick_of) return;  // for as long as it sticks
        std::string found;
        if (all.found.size() == 1 && all.hidden() == 1)
            found = fmt::format("{} stays constant", to_text(d.graph(), all.found.front()));
        diagnostics.add({Code::W1004, span_of(d, row),
                         fmt::format("constraint {} on velocities is holonomic{}", d.rows[row].name,
                                     all.alone[i] ? "" : " together with the others"),
                         std::move(found), "a constraint on positions, or one that can not be integrated",
                         "state it on positions, and the configurations that belong to the start are the ones meant"});
        return;  // the others are in the diagnosis
    }
    // no row by itself, but combinations of them
    diagnostics.add({Code::W1004, span_of(d, all.rows.front()),
                     "a combination of the linear constraints on velocities is holonomic",
                     all.found.empty() ? "" : fmt::format("{} stays constant", to_text(d.graph(), all.found.front())),
                     "constraints that can not be integrated", "state it on positions instead"});
}

}  // namespace

void add_equivalent_rows(Diagnostics& diagnostics, const ConstrainedDynamics& d, const LoweredMotion& lowered,
                         std::span<const double> start, std::optional<std::size_t> constraint) {
    // states are sought with fifty digits and full rows, which no family of hundreds of points has the time for
    if (d.rows.size() * (d.model->speeds.size() + d.rows.size()) > k_most_entries_sampled) return;
    CertificateOptions options;
    options.states = 10;
    options.tries = 1000;
    options.vary_parameters = false;
    const Samples samples = doctor_samples(d, lowered, random_consistent_states(d, lowered, start, options), start);
    for (const LinearRow& row : find_linear_factors(d, samples).rows) {
        if ((constraint && d.rows[row.row].constraint != *constraint) || row.equations.empty()) continue;
        diagnostics.add({Code::N0844, span_of(d, row.row), row.sentence, "", "",
                         "the linear rows keep their rank where a product or a square of them loses it: write those instead"});
    }
}

void add_findings(Diagnostics& diagnostics, const ConstrainedDynamics& d, const Diagnosis& diagnosis) {
    if (diagnosis.integrability) hidden_constraints(diagnostics, d, *diagnosis.integrability);
    for (const LinearRow& row : diagnosis.factors.rows) {
        if (row.truth == LinearTruth::contradicts) continue;
        diagnostics.add({Code::W1007, span_of(d, row.row), row.sentence, "", "a constraint that is nonlinear in truth",
                         row.truth == LinearTruth::follows ? "leave it out" : "write the linear constraint instead"});
    }
    for (const ImplicationFinding& f : diagnosis.implications) {
        const Implication& statement = d.model->implications[f.implication];
        if (f.verdict == Verdict::vacuous)
            diagnostics.add({Code::W1006, statement.span, "this implication says nothing",
                             fmt::format("all {} states found that satisfy the premises are excepted", f.states),
                             "exceptions that the premises do not imply",
                             "the exception follows from the premises: leave it out"});
        if (f.verdict == Verdict::undecided && !f.why.empty())
            diagnostics.add({Code::W1006, statement.span, "this implication was not tested", f.why,
                             "conditions on positions and velocities", "state its equations as a `claim`, one by one"});
        else if (f.verdict == Verdict::undecided)
            diagnostics.add({Code::W1006, statement.span, "this implication was not tested",
                             fmt::format("{} states that satisfy the premises", f.states), "at least 20",
                             "premises that contradict each other have no states"});
        if ((f.verdict == Verdict::holds_except || f.verdict == Verdict::fails) && !f.as_stated) {
            std::string example;
            for (const auto& [name, value] : f.example)
                example += fmt::format("{}{} = {}", example.empty() ? "" : ", ", name, short_number(value, 4));
            diagnostics.add({Code::E1005, statement.span, "this implication does not hold as it is written", example,
                             "premises that leave no other way",
                             f.verdict == Verdict::fails
                                 ? "nothing special was found about the states that break it"
                                 : fmt::format("it holds except where {}: name that with `condition`, and add `except`",
                                               fmt::join(f.exceptional, " or "))});
        }
    }
}

}  // namespace appell
