#include "commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.hpp"
#include "base/diagnostic_reference.hpp"
#include "base/number_format.hpp"
#include "base/scientific.hpp"
#include "base/time_text.hpp"
#include "command_line.hpp"
#include "gallery.hpp"
#include "library/model_files.hpp"
#include "pipeline/run_report.hpp"
#include "progress_line.hpp"
#include "report/diagnosis_lines.hpp"
#include "report/files.hpp"
#include "report/force_lines.hpp"
#include "report/json_text.hpp"
#include "report/linearization_report.hpp"
#include "report/run_files.hpp"
#include "report/run_state.hpp"
#include "report/run_writer.hpp"
#include "results_folder.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// a model file read and derived; problems are shown
struct Loaded {
    Derivation derivation;
    std::string text;
};
Loaded load(const std::string& file, const SharedOptions& shared) {
    Loaded out;
    Result<ModelText> text = read_model_file(file, read_options(shared));
    if (!text.ok()) {
        out.derivation.diagnostics.append(text.diagnostics);
        return out;
    }
    out.text = text->text;
    text->complete = shared.complete;
    out.derivation = derive(*text);
    return out;
}

}  // namespace

namespace {

void show(const Certificate& c) {
    if (c.too_large) {
        fmt::print("  no certificate: {} speeds and rows, the limit of the dense formulations is {}\n", c.size, c.limit);
        return;
    }
    if (!c.enough) {
        fmt::print("  no certificate: only {} of {} random states could be brought onto the constraints (seed {})\n", c.states,
                   c.tried, c.seed);
        return;
    }
    const std::string digits = !c.wide ? fmt::format("in double (fifty digits: up to {} speeds and rows)", c.wide_limit)
                               : c.wide_states < c.states
                                   ? fmt::format("in double and, at {} of them, with 50 digits", c.wide_states)
                                   : "in double and with 50 digits";
    fmt::print(
        "  certificate: formulations compared with `multipliers` at {} random consistent states (seed {});\n"
        "    largest relative difference of u' and of the constraint force, {}{}{}\n",
        c.states, c.seed, digits,
        c.limit != 0 ? fmt::format("\n    (few states: {} speeds and rows, more than {})", c.size, c.limit) : "",
        c.least_pivot < 0.01
            ? fmt::format("\n    (rows as close to dependent as {}; ukp squares that)", scientific(c.least_pivot, 0))
            : "");
    for (std::size_t i = 1; i < c.formulations.size(); ++i) {
        const FormulationAgreement& f = c.formulations[i];
        if (f.not_applicable.empty())
            fmt::print(
                "    {:<15} {:>8} {:>8}   {}   ({}{})\n", f.name, scientific(f.acceleration), scientific(f.force),
                c.wide ? fmt::format("{:>8} {:>8}", scientific(f.acceleration_wide), scientific(f.force_wide)) : "(double only)",
                f.source, f.passed_over ? "; without states where the independent speeds are badly conditioned" : "");
        else
            fmt::print("    {:<15} {}: {}\n", f.name, f.beyond_limit ? "not compared" : "not applicable", f.not_applicable);
    }
}

Json certificate_json(const Certificate& c) {
    Json list = Json::array();
    for (const FormulationAgreement& f : c.formulations)
        list.push_back({{"name", f.name},
                        {"source", f.source},
                        {"not_applicable", f.not_applicable},
                        {"beyond_limit", f.beyond_limit},
                        {"acceleration", f.acceleration},
                        {"acceleration_50_digits", f.acceleration_wide},
                        {"force", f.force},
                        {"force_50_digits", f.force_wide},
                        {"states_passed_over", f.passed_over}});
    return {{"states", c.states},
            {"tried", c.tried},
            {"seed", c.seed},
            {"enough", c.enough},
            {"least_pivot", c.least_pivot},
            {"too_large", c.too_large},
            {"size", c.size},
            {"limit", c.limit},
            {"with_50_digits", c.wide},
            {"states_with_50_digits", c.wide_states},
            {"largest", c.worst},
            {"largest_50_digits", c.worst_wide},
            {"formulations", list}};
}

void show(const ClaimResults& results) {
    if (results.claims.empty()) return;
    fmt::print("  claims, tested at random consistent states {}\n", results.wide ? "with 50 digits" : "in double precision");
    for (const ClaimResult& c : results.claims) {
        const std::string_view verdict = !c.tested               ? "NOT TESTED"
                                         : c.holds && c.misprint ? "HOLDS, though stated as a misprint"
                                         : c.holds               ? "holds"
                                         : c.misprint            ? "misprint: fails, as stated"
                                                                 : "FAILS";
        fmt::print("    {}: {} ({} states{}{}, largest relative difference {})\n", c.label, verdict, c.states,
                   c.without_value > 0 ? fmt::format(", {} of them without a value", c.without_value) : "",
                   results.wide && !c.wide ? " in double precision" : "", scientific(c.residual));
        if (!c.holds && c.tested && !c.hint.empty()) fmt::print("      {}\n", c.hint);
    }
}

Json claims_json(const ClaimResults& results) {
    Json list = Json::array();
    for (const ClaimResult& c : results.claims) {
        Json entry{{"label", c.label},         {"text", c.text},   {"misprint", c.misprint}, {"tested", c.tested},
                   {"with_50_digits", c.wide}, {"holds", c.holds}, {"states", c.states},     {"residual", c.residual}};
        if (c.without_value > 0) entry["states_without_value"] = c.without_value;
        if (c.tested && !c.holds) {
            entry["entry"] = c.entry;
            entry["left"] = c.left;
            entry["right"] = c.right;
            entry["state"] = c.state;
            entry["hint"] = c.hint;
        }
        list.push_back(std::move(entry));
    }
    return list;
}

std::string plural(std::size_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// what `minimal` integrates, in one line; of many names the first
std::string independent_names(const Run& run) {
    constexpr std::size_t k_most = 12;
    const auto list = [&](std::string_view what, std::span<const std::string> names) {
        if (names.empty()) return fmt::format("no {}", what);
        return fmt::format("{} {}{}", what, fmt::join(names.first(std::min(names.size(), k_most)), ", "),
                           names.size() > k_most ? fmt::format(", ... ({} in all)", names.size()) : "");
    };
    return fmt::format("{}; {}", list("coordinates", run.independent_coordinates), list("speeds", run.independent_speeds));
}

}  // namespace

int check_command(const std::string& file, const SharedOptions& shared) {
    Loaded loaded = load(file, shared);
    Derivation& d = loaded.derivation;
    const std::optional<Check> found = check(d);
    if (found && shared.json) {
        Json out{{"schema", 1},
                 {"system", d.model->name},
                 {"coordinates", found->coordinates},
                 {"speeds", found->speeds},
                 {"position_rows", found->position_rows},
                 {"velocity_rows", found->velocity_rows},
                 {"acceleration_rows", found->acceleration_rows},
                 {"independent_rows", found->rank},
                 {"freedoms", found->freedoms},
                 {"completed", d.completed},
                 {"forces_not_unique", Json::parse(forces_chosen_json(found->forces))},
                 {"constraint_forces", Json::parse(constraint_forces_json(*d.dynamics))},
                 {"diagnosis", Json::parse(diagnosis_json(*d.dynamics, found->diagnosis))},
                 {"certificate", certificate_json(found->certificate)},
                 {"claims", claims_json(found->claims)},
                 {"diagnostics", Json::parse(diagnostics_json(d.diagnostics, d.sources))}};
        fmt::print("{}\n", json_text(out));
    } else if (found) {
        const Model& m = *d.model;
        fmt::print("{}{}\n", m.name, m.title.empty() ? "" : ": " + m.title);
        if (!d.start_mode.empty()) fmt::print("  in the mode of the start: {}\n", d.start_mode);
        fmt::print("  {}, {}{}\n", plural(found->coordinates, "coordinate"), plural(found->speeds, "speed"),
                   found->quaternions ? fmt::format(" ({} kept at unit norm)", plural(found->quaternions, "quaternion")) : "");
        for (const ConstraintRow& row : d.dynamics->rows)
            fmt::print("  constraint {}: {} ({} level{})\n", row.name, m.constraints[row.constraint].text,
                       row.level == Level::position   ? "position"
                       : row.level == Level::velocity ? "velocity"
                                                      : "acceleration",
                       std::find(m.evidence.begin(), m.evidence.end(), row.constraint) != m.evidence.end()
                           ? "; its force in evidence"
                           : "");
        const std::size_t rows = found->position_rows + found->velocity_rows + found->acceleration_rows;
        for (const std::string& condition : d.completed) fmt::print("  completed by  {}\n", condition);
        if (rows > 0) fmt::print("  {}, {} independent at the start\n", plural(rows, "constraint row"), found->rank);
        fmt::print("  {}: {} - {}\n",
                   found->freedoms == 1 ? "1 degree of freedom" : fmt::format("{} degrees of freedom", found->freedoms),
                   plural(found->speeds, "speed"), plural(found->rank, "independent row"));
        if (rows > 0) fmt::print("  constraint forces\n{}", constraint_forces_text(*d.dynamics));
        if (found->forces.any()) fmt::print("    {}\n", found->forces.text());
        fmt::print("{}", diagnosis_text(*d.dynamics, found->diagnosis));
        show(found->certificate);
        show(found->claims);
    }
    return finish(d, shared, found.has_value());
}

int derive_command(const std::string& file, PrintRequest request, const SharedOptions& shared) {
    Loaded loaded = load(file, shared);
    if (shared.json) request.format = "json";
    std::optional<std::string> printed;
    if (request.format == "c" || request.format == "cpp") {
        if (request.evidence)
            throw UsageError("--evidence is about printed equations: code has all multipliers and constraint forces");
        ExportRequest code{std::nullopt, {}, APPELL_VERSION};
        if (!request.formulation.empty()) code.formulation = request.formulation;
        code.options.language = request.format == "c" ? ExportLanguage::c : ExportLanguage::cpp;
        if (loaded.derivation.ok()) printed = code_text(loaded.derivation, code);
    } else {
        printed = print_equations(loaded.derivation, request);
    }
    if (printed) fmt::print("{}", *printed);
    return finish(loaded.derivation, shared, printed.has_value());
}

namespace {

// Signals ask a run to stop from its first step on. Before, while equations are made, nothing is lost by ending at once.
class SteppingRows final : public RowConsumer {
public:
    explicit SteppingRows(RowConsumer& to) : to_(to) {}
    void begin(const Run& run) override {
        stop_on_signals();
        to_.begin(run);
    }
    void row(double t, std::span<const double> columns) override { to_.row(t, columns); }

private:
    RowConsumer& to_;
};

// when the state of a run is saved: soon enough to be worth it, seldom enough to cost nothing
class SaveClock {
public:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool due(Clock::time_point now) const { return now >= next_; }
    template <class Save>
    void save(const Save& write) {
        const Clock::time_point before = Clock::now();
        write();
        const Clock::time_point after = Clock::now();
        next_ = after + std::max<Clock::duration>(k_between, 50 * (after - before));
    }

private:
    static constexpr std::chrono::seconds k_first{2}, k_between{5};

    Clock::time_point next_ = Clock::now() + k_first;
};

Diagnostics without(const Diagnostics& diagnostics, Code code) {
    Diagnostics out;
    for (const Diagnostic& d : diagnostics.all())
        if (d.code != code) out.add(d);
    return out;
}

double row_spacing(const std::string& text) {
    if (text == "step") return 0;
    const double every = parse_number("--every", text, text);
    if (!(every > 0)) throw UsageError(fmt::format("--every {}: a positive number of seconds, or `step`", text));
    return every;
}

// the model as it was when the run was stopped
Loaded load(const RunState& stopped, const SharedOptions& shared) {
    Loaded out;
    out.text = stopped.sources.front().text;
    const std::vector<SourceFile>& sources = stopped.sources;
    out.derivation = derive({sources.front().name, out.text,
                             [&](const std::string& name) -> std::optional<std::string> {
                                 for (const SourceFile& file : sources)
                                     if (file.name == name) return file.text;
                                 return std::nullopt;
                             },
                             read_options(shared), shared.complete});
    return out;
}

// may all files of the run be written, and what do they replace?
Diagnostics claim_for_run(OutputFolder& folder, const RunCommand& command, const Derivation& d) {
    const bool has_rows = !(d.whole ? d.whole->rows : d.dynamics->rows).empty(), resumes = command.stopped.has_value();
    Diagnostics out = folder.claim(
        run_file_names(plot_file_names(*d.model, has_rows), command.options.forces.has_value(), command.report), resumes);
    std::error_code error;
    if (!resumes && !out.has_errors() && std::filesystem::exists(folder.target() / "state.json", error))
        out.add({Code::W0879,
                 {},
                 fmt::format("a run that was stopped in {} is replaced", folder.target().string()),
                 "",
                 "",
                 fmt::format("`appell run --resume {}` goes on with it instead", folder.target().string())});
    return out;
}

}  // namespace

int run_command(const std::string& file, RunCommand command, const SharedOptions& shared) {
    const ReadOptions read = read_options(shared);
    if (!command.every.empty()) command.options.every = row_spacing(command.every);
    Loaded loaded = command.stopped ? load(*command.stopped, shared) : load(file, shared);
    Derivation& d = loaded.derivation;
    if (!d.ok()) return finish(d, shared, false);
    // the folder first: a run that could not be written must not be waited for
    const std::string out = command.out.empty() ? default_folder(file, d.model->name, ".out") : command.out;
    OutputAuthor author = author_of("run", file, shared);
    // what comes through a pipe has no name of its own: its text tells it from others
    if (std::error_code error; !std::filesystem::is_regular_file(file, error))
        author.given.model += fmt::format(" ({}, {:016x})", d.model->name, content_hash(loaded.text));
    if (command.stopped) author.given = {command.stopped->model, command.stopped->asked};
    Result<OutputFolder> folder = OutputFolder::create(out, author);
    d.diagnostics.append(folder.diagnostics);
    if (!folder.ok()) return finish(d, shared, false);
    const Diagnostics claimed = claim_for_run(*folder, command, d);
    if (claimed.has_errors()) {
        d.diagnostics.append(claimed);
        return finish(d, shared, false);
    }
    if (!shared.json) show(claimed, d.sources);  // while there is time to stop it
    remove_when_ended(folder->made());
    RunWriter writer(std::move(*folder), loaded.text, command.stopped.has_value());

    command.options.scene = command.report;
    command.options.max_steps = read.limits.steps;
    command.options.max_rows = read.limits.output_rows;
    command.options.max_events = read.limits.events;
    const double t0 = command.options.from.value_or(d.model->run.from);
    const double t1 = command.options.until.value_or(t0 + d.model->run.duration);
    ProgressLine line(t0, t1, isatty(STDERR_FILENO) != 0 && !shared.json);
    SaveClock clock;
    SaveClock::Clock::time_point now = SaveClock::Clock::now();
    RunHooks hooks;
    hooks.progress = [&](double t) {
        now = SaveClock::Clock::now();
        line.show(t, now);
        return !stop_asked() && !writer.failed();
    };
    SteppingRows stepping(writer);
    hooks.rows = &stepping;
    bool saved = false;
    RunState& state = command.state;
    state.model = author.given.model;
    state.asked = author.given.options;
    for (std::size_t i = 0; i < d.sources.size(); ++i) state.sources.push_back(d.sources.file(static_cast<std::uint32_t>(i)));
    hooks.resumable.due = [&] { return clock.due(now); };
    hooks.resumable.save = [&](const Checkpoint& checkpoint) {
        clock.save([&] {
            state.numbers = checkpoint.values();
            writer.save(run_state_json(state, APPELL_VERSION));
        });
        saved = true;
    };
    std::optional<StoredRows> rows;
    // an empty state: the run begins anew
    if (command.stopped && !command.stopped->numbers.empty()) {
        rows.emplace(std::filesystem::path(out) / "trajectory.csv");
        hooks.resumable.from = Checkpoint(command.stopped->numbers);
        hooks.written_row = [&](std::span<double> row) { return rows->next(row); };
    }
    const std::optional<Run> result = run(d, command.options, hooks);
    line.clear();
    if (!result || result->summary.rows == 0 || result->summary.reason == EndReason::wrong_checkpoint)
        return finish(d, shared, false);

    const bool resumable =
        saved && (result->summary.reason == EndReason::cancelled || result->summary.reason == EndReason::too_many_steps);
    Diagnostics told = claimed;
    told.append(d.diagnostics);
    const std::string summary = summary_json(*d.model, *result, told, d.sources, {APPELL_VERSION, read.set});
    const std::vector<NamedPlot> plots = run_plots(*d.model, *result);
    if (command.report) writer.add_report(run_report(d, *result, {loaded.text, APPELL_VERSION, state.command}));
    const Diagnostics writing = writer.finish(summary, plots, resumable);
    d.diagnostics.append(writing);
    if (writing.has_errors()) {
        // what stopped the run is said by what could not be written, and so is what is left of it
        if (!stop_asked()) d.diagnostics = without(d.diagnostics, Code::E0811);
        return finish(d, shared, false);
    }

    if (shared.json) {
        fmt::print("{}", summary);
    } else {
        const SimulateSummary& s = result->summary;
        fmt::print("{}: {} at t = {} s, {} steps ({} rejected), {} rows\n", d.model->name, name(s.reason),
                   time_text(s.t_end, s.t_start), s.steps, s.rejected, s.rows);
        if (result->backwards())
            fmt::print("  backwards in time  from t = {} s to t = {} s\n", time_text(result->options.t0, result->options.t1),
                       time_text(result->options.t1, result->options.t0));
        if (result->formulation == "minimal") fmt::print("  independent  {}\n", independent_names(*result));
        if (!result->start_mode.empty()) fmt::print("  at the start  {}\n", result->start_mode);
        for (const std::string& condition : result->completed) fmt::print("  completed by  {}\n", condition);
        if (result->forces.any()) fmt::print("  forces  {}\n", result->forces.text());
        constexpr std::size_t k_events = 12;  // on the terminal; the summary has all
        for (std::size_t i = 0; i < std::min(k_events, result->events.size()); ++i)
            fmt::print("  t = {} s  {}\n", short_number(result->events[i].t, 9), result->events[i].what);
        if (result->event_count > k_events)
            fmt::print("  and {} more events, the last at t = {} s\n", result->event_count - k_events,
                       short_number(result->events.back().t, 9));
        for (const NotFinite& c : result->not_finite)
            fmt::print("  not finite  {} in {} of {} rows, first at t = {} s\n", c.column, c.rows, s.rows, short_number(c.first));
        if (!s.passed.empty())
            fmt::print("  singular positions passed  {}, along the branch that keeps the velocities\n", s.passed.size());
        for (const GuardRemark& r : result->guard_remarks) {
            if (r.grazes > 0)
                fmt::print("  touches zero  {}, {} time{}, first at t = {} s\n", r.guard, r.grazes, r.grazes == 1 ? "" : "s",
                           short_number(r.first_graze, 9));
            if (r.sampled)
                fmt::print("  sampled  {}: it cannot be enclosed, passages closer than its samples may be missed\n", r.guard);
        }
        if (result->law_switches > 0)
            fmt::print("  laws switched  {} time{}\n", result->law_switches, result->law_switches == 1 ? "" : "s");
        if (!d.dynamics->rows.empty())
            fmt::print("  largest constraint residual  {} (scaled), {} (raw)\n",
                       short_number(std::max(s.position_scaled, s.velocity_scaled), 3),
                       short_number(std::max(s.position_residual, s.velocity_residual), 3));
        if (s.rank > 1)
            fmt::print("  condition of the constraint rows  about {} at worst, at t = {} s\n",
                       short_number(1 / s.smallest_pivot, 3), short_number(s.smallest_pivot_at));
        fmt::print("  energy  {} J at the start, largest change {} J\n", short_number(result->energy.start),
                   short_number(result->energy.largest_change, 3));
        for (const EnergyBalance::Entry& entry : result->energy.works)
            fmt::print("  work of {}  {} J\n", entry.name, short_number(entry.work));
        fmt::print("  energy balance  {} J off at most, {} of the largest energy or work\n",
                   short_number(result->energy.largest_error, 3), short_number(result->energy.relative_error(), 3));
        std::vector<std::string> files{"trajectory.csv"};
        if (!result->layout.forces_frame.empty()) files.emplace_back("forces.csv");
        files.emplace_back("summary.json");
        if (command.report) files.emplace_back("report.html");
        for (const NamedPlot& plot : plots) files.push_back(plot.name + ".svg");
        fmt::print("results in {}/: {}\n", out, fmt::join(files, ", "));
        if (resumable)
            fmt::print("`appell run --resume {}` {}\n", out,
                       state.numbers.empty() ? "makes this run from its start: what it switches between is no part of its state"
                                             : "goes on from here");
    }
    return finish(d, shared, true);
}

namespace {

// NAME=FROM:TO:COUNT
SweepRequest parse_sweep(const std::string& text) {
    const std::size_t equals = text.find('='), first = text.find(':', equals), second = text.find(':', first + 1);
    if (equals == std::string::npos || equals == 0 || first == std::string::npos || second == std::string::npos)
        throw UsageError(fmt::format("--sweep wants NAME=FROM:TO:COUNT, not '{}'", text));
    const double count = parse_number("--sweep", text, text.substr(second + 1));
    if (!(count >= 2) || count > 1e6 || count != std::floor(count))
        throw UsageError(fmt::format("--sweep {}: a whole number of values from 2 to 1e6 is needed", text));
    SweepRequest out{text.substr(0, equals), parse_number("--sweep", text, text.substr(equals + 1, first - equals - 1)),
                     parse_number("--sweep", text, text.substr(first + 1, second - first - 1)), static_cast<std::size_t>(count)};
    if (!(std::abs(out.to - out.from) < INFINITY) || out.from == out.to)
        throw UsageError(fmt::format("--sweep {}: a range of some length is needed", text));
    return out;
}

}  // namespace

namespace {

// A sweep changes a parameter alone. What the model computes from it once, when it is read, would stay behind: other parameters,
// and start values where they are the state.
void refuse_sweep_of_what_others_follow(const std::string& file, const LinearizeCommand& command, const SharedOptions& shared,
                                        const Model& model) {
    const SweepRequest& sweep = *command.request.sweep;
    const auto swept =
        std::find_if(model.parameters.begin(), model.parameters.end(), [&](const Parameter& p) { return p.name == sweep.name; });
    if (swept == model.parameters.end()) return;
    SharedOptions elsewhere = shared;
    elsewhere.set.push_back(fmt::format("{}={}", sweep.name, swept->value == sweep.to ? sweep.from : sweep.to));
    const Loaded other = load(file, elsewhere);
    if (!other.derivation.ok()) return;  // what stands in the way there is told by the sweep
    const Model& there = *other.derivation.model;
    std::vector<std::string> follow;
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
        if (model.parameters[i].name != sweep.name && model.parameters[i].value != there.parameters[i].value)
            follow.push_back(model.parameters[i].name);
    if (command.request.trim == TrimKind::none) {
        const auto starts = [&](const std::string& name, double here, double moved) {
            if (here != moved) follow.push_back(fmt::format("the start value of {}", name));
        };
        for (std::size_t i = 0; i < model.coordinates.size(); ++i)
            starts(model.coordinates[i].name, model.coordinates[i].start, there.coordinates[i].start);
        for (std::size_t i = 0; i < model.speeds.size(); ++i)
            starts(model.speeds[i].name, model.speeds[i].start, there.speeds[i].start);
        for (std::size_t i = 0; i < model.start_rates.size(); ++i)
            starts(model.coordinates[model.start_rates[i].coordinate].name + "'", model.start_rates[i].value,
                   there.start_rates[i].value);
    }
    if (!follow.empty())
        throw UsageError(
            fmt::format("--sweep {0}: a sweep changes {0} alone, but the model computes {1} from it; "
                        "sweep a variable or a parameter that nothing follows from, or use --set {0}=VALUE",
                        sweep.name, fmt::join(follow, ", ")));
}

}  // namespace

int linearize_command(const std::string& file, LinearizeCommand command, const SharedOptions& shared) {
    if (!command.sweep.empty()) command.request.sweep = parse_sweep(command.sweep);
    if (command.trim == "equilibrium") command.request.trim = TrimKind::equilibrium;
    if (command.trim == "steady") command.request.trim = TrimKind::steady;
    Loaded loaded = load(file, shared);
    Derivation& d = loaded.derivation;
    if (!d.ok()) return finish(d, shared, false);
    if (command.request.sweep) refuse_sweep_of_what_others_follow(file, command, shared, *d.model);
    const std::string out = command.out.empty() ? default_folder(file, d.model->name, ".linear") : command.out;
    // the folder first: a sweep that could not be written must not be waited for
    Result<OutputFolder> folder =
        command.request.sweep ? OutputFolder::create(out, author_of("linearize", file, shared)) : Result<OutputFolder>{};
    if (folder.ok())
        folder.diagnostics.append(
            folder->claim(std::vector<std::string>{"eigenvalues.csv", "eigenvalues.svg", "frequencies.svg"}));
    d.diagnostics.append(folder.diagnostics);
    if (command.request.sweep && !folder.ok()) return finish(d, shared, false);
    if (folder.ok()) remove_when_ended(folder->made());
    const std::optional<Linearization> found = linearize(d, command.request);
    if (!found) return finish(d, shared, false);
    const EigenvalueSweep* sweep = found->sweep ? &*found->sweep : nullptr;
    if (sweep) {
        Diagnostics writing = folder->write("eigenvalues.csv", eigenvalues_csv(*sweep));
        writing.append(folder->write("eigenvalues.svg", real_parts_svg(*d.model, *sweep)));
        writing.append(folder->write("frequencies.svg", frequencies_svg(*d.model, *sweep)));
        if (!writing.has_errors()) writing.append(folder->commit());
        d.diagnostics.append(writing);
        if (writing.has_errors()) return finish(d, shared, false);
    }
    if (shared.json) {
        fmt::print("{}", linearization_json(*d.dynamics, found->system, found->symbols, sweep, d.diagnostics, d.sources));
    } else {
        Document document = linearization_document(*d.dynamics, found->system, found->symbols, sweep);
        print_document(d.dynamics->graph(), document, command.format != "text");
        fmt::print("{}", command.format == "latex"      ? document_latex(document)
                         : command.format == "markdown" ? document_markdown(document)
                                                        : document_text(document));
        if (sweep && command.format == "text")
            fmt::print("results in {}/: eigenvalues.csv, eigenvalues.svg, frequencies.svg\n", out);
    }
    return finish(d, shared, true);
}

std::optional<RunState> read_stopped_run(const std::string& folder, const SharedOptions& shared) {
    finish_interrupted_commit(folder);
    Result<RunState> state = read_run_state(folder, APPELL_VERSION);
    if (state.ok()) return std::move(*state);
    Derivation problems;
    problems.diagnostics.append(state.diagnostics);
    finish(problems, shared, false);
    return std::nullopt;
}

int refuse_to_resume(const std::string& folder, const std::string& found, const SharedOptions& shared) {
    Derivation problems;
    problems.diagnostics.append(cannot_resume(folder, found, "run the model again"));
    return finish(problems, shared, false);
}

int gallery_command(const std::string& name, const SharedOptions& shared) {
    // the title is in the `system` line
    const auto title = [](const std::string& text) -> std::string {
        const std::size_t system = text.starts_with("system ") ? 0 : text.find("\nsystem ");
        if (system == std::string::npos) return "";
        const std::size_t line_end = text.find('\n', system + 1), open = text.find('"', system);
        if (open == std::string::npos || open > line_end) return "";
        return text.substr(open + 1, text.find('"', open + 1) - open - 1);
    };
    if (name.empty()) {
        if (shared.json) {
            Json list = Json::array();
            for (const GalleryModel& model : gallery())
                list.push_back({{"name", model.name}, {"topic", model.topic}, {"title", title(model.text)}});
            fmt::print("{}\n", json_text(Json{{"schema", 1}, {"models", list}}));
        } else {
            std::size_t width = 0;
            for (const GalleryModel& model : gallery()) width = std::max(width, model.name.size());
            const std::string* topic = nullptr;
            for (const GalleryModel& model : gallery()) {
                if (!topic || *topic != model.topic) fmt::print("{}{}\n", topic ? "\n" : "", model.topic);
                topic = &model.topic;
                fmt::print("  {:<{}}  {}\n", model.name, width, title(model.text));
            }
            fmt::print("\n`appell gallery NAME` copies one into this folder.\n");
        }
        return 0;
    }
    for (const GalleryModel& model : gallery()) {
        if (model.name != name) continue;
        const std::string file = name + ".appell";
        std::error_code error;
        Diagnostics problems;
        // a link that leads nowhere is somebody's, too
        if (!shared.force && std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::not_found)
            problems.add({Code::E0816,
                          {},
                          fmt::format("{} exists already", file),
                          "",
                          "a folder without it",
                          "move it away, or replace it with --force; nothing was written"});
        else
            problems = write_file(file, model.text);
        show(problems, SourceSet{});
        if (!problems.has_errors()) fmt::print("{}\n", file);
        return problems.has_errors() ? 1 : 0;
    }
    std::vector<std::string> names;
    for (const GalleryModel& model : gallery()) names.push_back(model.name);
    const std::string near = nearest_name(name, names);
    throw UsageError(fmt::format("the gallery has no model '{}'{}", name,
                                 near.empty() ? "; `appell gallery` lists them" : fmt::format("; did you mean {}?", near)));
}

int explain_command(const std::string& code, const SharedOptions& shared) {
    if (code.empty()) {
        Json rows = Json::array();
        for (const CodeInfo& row : all_codes())
            rows.push_back(
                {{"code", row.name}, {"title", row.title}, {"explanation", row.explanation}, {"remedy", remedy(row.code)}});
        fmt::print("{}", shared.json ? json_text(Json{{"schema", 1}, {"diagnostics", rows}}) + "\n" : diagnostic_reference());
        return 0;
    }
    const std::optional<Code> found = find_code(code);
    if (!found)
        throw UsageError(
            fmt::format("there is no diagnostic {}; codes look like E0101 and stand in brackets behind `error`", code));
    const CodeInfo& row = info(*found);
    if (shared.json)
        fmt::print("{}\n", json_text(Json{{"schema", 1},
                                          {"code", row.name},
                                          {"title", row.title},
                                          {"explanation", row.explanation},
                                          {"remedy", remedy(*found)}}));
    else
        fmt::print("{}: {}\n\n{}\n\nWhat to do: {}\n", row.name, row.title, row.explanation, remedy(*found));
    return 0;
}

}  // namespace appell
