#include "support/examine.hpp"

#include <exception>
#include <optional>

#include <fmt/format.h>

#include "pipeline/export_code.hpp"
#include "pipeline/linearize.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/print_equations.hpp"
#include "report/diagnosis_lines.hpp"
#include "report/run_files.hpp"

namespace appell::attack {

namespace {

constexpr std::size_t k_most_steps = 120, k_states = 3, k_most_speeds = 14;

ReadOptions small_limits() {
    ReadOptions out;
    out.limits.source_bytes = 100'000;
    out.limits.statements = 500;
    out.limits.family_size = 100;
    out.limits.nodes = 60'000;
    out.limits.solve_entries = 2'000;
    out.limits.output_rows = 500;
    out.limits.steps = k_most_steps;
    return out;
}

std::string strange_in(const Derivation& d) {
    (void)diagnostics_json(d.diagnostics, d.sources);
    return strange_message(d.diagnostics, d.sources);
}

// one way of using a model; each has the derivation to itself
template <class Work>
std::string stage(const Derivation& derived, const char* name, const Work& work) {
    Derivation d = derived;
    const bool answered = work(d);
    if (const std::string strange = strange_in(d); !strange.empty()) return fmt::format("{}: {}", name, strange);
    if (!answered && !d.diagnostics.has_errors()) return fmt::format("{}: no answer, and no error that says why", name);
    return "";
}

std::string run_of(const Derivation& derived, bool native) {
    return stage(derived, "run", [&](Derivation& d) {
        RunOptions options;
        options.max_steps = d.limits.steps;
        options.max_rows = d.limits.output_rows;
        options.native = native;
        const std::optional<Run> result = run(d, options);
        if (!result) return false;
        (void)summary_json(*d.model, *result, d.diagnostics, d.sources, {"attack", {}});
        (void)run_plots(*d.model, *result);
        // an end before its time has an error that says why
        return result->summary.reason == EndReason::finished || result->summary.reason == EndReason::event ||
               d.diagnostics.has_errors();
    });
}

std::string answers_of(const Derivation& derived, std::size_t which) {
    if (std::string found = stage(derived, "check",
                                  [](Derivation& d) {
                                      const std::optional<Check> checked = check(d, k_states);
                                      if (!checked) return false;
                                      (void)diagnosis_text(*d.dynamics, checked->diagnosis);
                                      (void)diagnosis_json(*d.dynamics, checked->diagnosis);
                                      return true;
                                  });
        !found.empty())
        return found;
    if (std::string found = run_of(derived, which % 2 == 0); !found.empty()) return found;
    // the others in turn: they share most of their ways with these two
    switch (which % 4) {
        case 0:
            return stage(derived, "derive", [&](Derivation& d) {
                const auto names = formulation_names();
                return print_equations(d, {std::string(names[which / 4 % names.size()]), "text", {}}).has_value();
            });
        case 1:
            return stage(derived, "linearize", [&](Derivation& d) {
                LinearizeRequest request;
                request.trim = which / 4 % 3 == 0   ? TrimKind::none
                               : which / 4 % 3 == 1 ? TrimKind::equilibrium
                                                    : TrimKind::steady;
                return linearize(d, request).has_value();
            });
        case 2: return stage(derived, "export", [](Derivation& d) { return export_code(d, {}).has_value(); });
        default: return "";
    }
}

}  // namespace

std::string examine(const std::string& text) {
    if (std::string found = examine_text(text); !found.empty()) return found;
    const std::size_t which = std::hash<std::string>()(text);
    try {
        const Derivation derived =
            derive({"model.appell", text, [](const std::string&) { return std::nullopt; }, small_limits()});
        if (const std::string strange = strange_in(derived); !strange.empty()) return "derive: " + strange;
        if (!derived.ok()) return derived.diagnostics.has_errors() ? "" : "derive: no answer, and no error that says why";
        // what grows with more than the size is not looked at in mutants that outgrew the gallery
        if (derived.model->speeds.size() > k_most_speeds) return "";
        return answers_of(derived, which);
    } catch (const std::exception& problem) {
        return fmt::format("exception {}", problem.what());
    }
}

}  // namespace appell::attack
