// The command line: argument parsing only. Exit codes: 0 good, 1 the model or the run has a problem, 2 wrong usage.
#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/drift_control.hpp"
#include "base/integrators.hpp"
#include "command_line.hpp"
#include "failures.hpp"
#include "report/files.hpp"
#include "results_folder.hpp"

namespace {

using namespace appell;

// what is asked of a run that is resumed: its folder, what it left there, and the options that it was started with
struct Resumption {
    std::string folder;
    RunState state;
    std::vector<std::string> limits;  // asked for now
    bool json = false, force = false, native = true;
};

int carry_out(const std::vector<std::string>& arguments, const Resumption* resumed);

// options of a run that are no part of it, or that go with --resume
bool belongs_to_the_run(const std::string& option) {
    for (const char* other : {"--help", "--out", "--force", "--json", "--resume"})
        if (option == other) return false;
    return option.starts_with("--");
}

// A run is resumed as it was started: with the options that it left, each of which must be one of `run`. Nothing else is carried
// out.
int resume(const CLI::App& run, const std::string& folder, const SharedOptions& shared, bool native) {
    for (const CLI::Option* option : run.get_options())
        if (const std::string name = option->get_name(); option->count() > 0 && name != "--resume" && name != "--json" &&
                                                         name != "--force" && name != "--limit" && name != "--interpret")
            throw UsageError(fmt::format("--resume goes on with the run as it was: leave {} out", name));
    std::optional<RunState> state = read_stopped_run(folder, shared);
    if (!state) return 1;
    std::vector<std::string> arguments{"run"};
    for (const auto& [name, value] : state->options) {
        const CLI::Option* known = run.get_option_no_throw(name);
        if (known == nullptr || !belongs_to_the_run(name) || known->get_name() != name)
            return refuse_to_resume(folder, fmt::format("state.json has the option '{}'", name), shared);
        arguments.push_back(value.empty() ? name : fmt::format("{}={}", name, value));
    }
    const Resumption resumed{folder, std::move(*state), shared.limit, shared.json, shared.force, native};
    return carry_out(arguments, &resumed);
}

// the options that a run was started with, and their values
std::vector<std::pair<std::string, std::string>> options_of(const CLI::App& run) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const CLI::Option* option : run.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || !belongs_to_the_run(name)) continue;
        if (option->get_items_expected_max() == 0)
            out.emplace_back(name, "");
        else
            for (const std::string& value : option->results()) out.emplace_back(name, value);
    }
    return out;
}

// CLI11's own check names the largest double as the end of its range, in three hundred digits
CLI::Validator positive_number() {
    return {[](std::string& text) -> std::string {
                char* end = nullptr;
                const double value = std::strtod(text.c_str(), &end);
                const bool good = end != text.c_str() && *end == '\0' && std::isfinite(value) && value > 0;
                return good ? "" : fmt::format("'{}' is no positive number", text);
            },
            "POSITIVE"};
}

int carry_out(const std::vector<std::string>& arguments, const Resumption* resumed) {
    CLI::App app{"appell: equations of motion, constraint forces and simulation from one text file", "appell"};
    app.set_version_flag("--version", std::string("appell ") + APPELL_VERSION);
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);

    SharedOptions shared;
    shared.arguments = arguments;
    std::string file, name, code;
    PrintRequest print;
    RunCommand run;
    SweepCommand many;
    LinearizeCommand linear;
    ExportCommand exported;
    PlotCommand picture;
    std::vector<std::string> files;
    bool only_check = false;
    std::string folder_of_run;
    std::string language = "c";
    const auto with_model = [&](CLI::App* command) {
        command->add_option("FILE", file, "the model file");
        command->add_flag("--json", shared.json, "print JSON, for machines");
        command->add_option("--set", shared.set, "NAME=VALUE: another parameter, input, size or start value (SI)");
        command->add_option("--limit", shared.limit, "NAME=N: another limit; memory=SIZE: in bytes, or with kB, MB or GB");
    };

    const auto with_force = [&](CLI::App* command) {
        command->add_flag("--force", shared.force, "replace files that are in the way, whoever made them");
    };

    CLI::App* check = app.add_subcommand("check", "read the model, count its freedoms, find its problems");
    with_model(check);
    const auto with_completion = [&](CLI::App* command) {
        command->add_flag("--complete", shared.complete, "add the conditions on positions that hide in the constraints");
    };
    with_completion(check);

    CLI::App* derive = app.add_subcommand("derive", "print the equations of motion");
    with_model(derive);
    std::vector<std::string> formulations, formats;
    for (const std::string_view formulation : formulation_names()) formulations.emplace_back(formulation);
    for (const std::string_view format : format_names()) formats.emplace_back(format);
    derive->add_option("--formulation", print.formulation, "the form of the equations")->check(CLI::IsMember(formulations));
    derive->add_option("--evidence", print.evidence,
                       "whose constraint forces stay in the equations: all, motion, none or NAME,...");
    for (const char* language : {"c", "cpp"}) formats.emplace_back(language);
    derive->add_option("--to", print.format, "the format; c and cpp: the code of `export` in one file")
        ->check(CLI::IsMember(formats));

    CLI::App* simulate = app.add_subcommand("run", "simulate; writes DIR/report.html, DIR/trajectory.csv and more");
    with_model(simulate);
    with_completion(simulate);
    simulate->add_option("--out", run.out, "DIR for the results; default MODEL.out");
    simulate->add_option("--forces", run.options.forces,
                         "FRAME: writes DIR/forces.csv, all constraint forces along the axes of a frame or body");
    const auto with_plan = [&](CLI::App* command, RunOptions& options) {
        command->add_option("--from", options.from, "start time, in seconds");
        command->add_option("--until", options.until, "end time, in seconds");
        command->add_option("--at", options.at, "T,...: times of rows, in seconds")->delimiter(',')->allow_extra_args(false);
        command->add_flag("--at-events", options.at_events, "rows where something happens, too: before and after it");
        command->add_flag("--through", options.through,
                          "goes on through singular positions of the constraints, along the branch that keeps the velocities");
        command->add_option("--rtol", options.rtol, "relative tolerance")->check(positive_number());
        command->add_option("--atol", options.atol, "absolute tolerance")->check(positive_number());
        command->add_option("--formulation", options.formulation, "how the accelerations are found")
            ->check(CLI::IsMember(formulations));
        command->add_option("--integrator", options.integrator, "the method of integration")
            ->check(CLI::IsMember(integrator_names()));
        command->add_option("--step", options.step, "the step of an integrator with a fixed one, in seconds")
            ->check(positive_number());
        command->add_option("--first-step", options.first_step, "the first step of the others, in seconds")
            ->check(positive_number());
        command->add_option("--max-step", options.max_step, "the longest step of the others, in seconds")
            ->check(positive_number());
        command->add_option("--stabilize", options.stabilize, "what is done about drift")
            ->check(CLI::IsMember(drift_control_names()));
        command->add_option("--gains", options.gains, "G or G1,G2: the gains of --stabilize baumgarte, in 1/s and 1/s^2")
            ->delimiter(',')
            ->expected(1, 2);
    };
    with_plan(simulate, run.options);
    simulate->add_flag("!--interpret", run.options.native, "without native code: the same numbers, more slowly");
    simulate->add_option("--every", run.every, "spacing of the rows, in seconds; `step`: a row after every step");
    simulate->add_option("--resume", run.resume, "DIR: go on with a run that was stopped, from its own files");
    with_force(simulate);
    simulate->add_flag("!--no-report", run.report, "do not write DIR/report.html");
    CLI::App* sweep = app.add_subcommand("sweep", "simulate over ranges, lists and random draws; writes DIR/sweep.csv");
    with_model(sweep);
    sweep->add_option("--over", many.over, "\"NAME = A..B by STEP\", \"NAME = A..B in COUNT\" or \"NAME = (A, B, ...)\" (SI)")
        ->allow_extra_args(false);
    sweep->add_option("--random", many.random, "\"NAME in A..B\" or \"NAME in normal(MEAN, DEVIATION)\"")
        ->allow_extra_args(false);
    sweep->add_option("--samples", many.samples, "how many random draws, for each combination of --over")
        ->check(CLI::Range(1, 10'000'000));
    sweep->add_option("--seed", many.seed, "another seed, other draws; default 1");
    sweep->add_option("--extremes", many.extremes, "COLUMN,...: the least and the largest value along the rows")
        ->delimiter(',')
        ->allow_extra_args(false);
    sweep->add_option("--threads", many.threads, "how many members at a time; default: one on each core");
    sweep->add_option("--out", many.out, "DIR for the results; default MODEL.sweep");
    with_force(sweep);
    sweep->add_option("--every", many.options.every, "spacing of the rows, in seconds")->check(positive_number());
    with_plan(sweep, many.options);

    CLI::App* linearize =
        app.add_subcommand("linearize", "linear equations and eigenvalues about an equilibrium or a steady motion");
    with_model(linearize);
    linearize->add_option("--trim", linear.trim, "seek one near the start values; otherwise the start must be one")
        ->check(CLI::IsMember({"equilibrium", "steady"}));
    linearize->add_option("--hold", linear.request.hold, "NAME,...: coordinates, speeds and rates that keep their start values")
        ->delimiter(',');
    linearize->add_flag("--open", linear.request.open, "let servo-constraints go: their actuators become inputs");
    linearize->add_option("--sweep", linear.sweep, "NAME=FROM:TO:COUNT: eigenvalues over a range, and critical values");
    linearize->add_option("--out", linear.out, "DIR for the results of a sweep; default MODEL.linear");
    with_force(linearize);
    linear.format = "text";
    linearize->add_option("--to", linear.format, "the format")->check(CLI::IsMember({"text", "latex", "markdown"}));

    CLI::App* to_code = app.add_subcommand("export", "source code that computes the motion elsewhere; writes DIR/SYSTEM_model.*");
    with_model(to_code);
    to_code->add_option("--to", language, "the language: c (C99) or cpp (one header, C++17)")->check(CLI::IsMember({"c", "cpp"}));
    to_code->add_option("--formulation", exported.request.formulation, "how the accelerations are found")
        ->check(CLI::IsMember(formulations));
    with_force(to_code);
    to_code->add_option("--out", exported.out, "DIR for the files; default MODEL.export");

    CLI::App* plot = app.add_subcommand("plot", "draw curves of a run as SVG, PDF or PNG, for papers");
    plot->add_option("DIR", folder_of_run, "the folder of the run")->required();
    plot->add_option("CURVES", picture.request.text, "\"EXPR, ... [vs EXPR]\" or \"path(POINT), ...\"")->required();
    plot->add_option("-o,--out", picture.out, "the file; its ending is .svg, .pdf or .png");
    plot->add_option("--width", picture.width, "in mm; default 120")->check(CLI::Range(43.0, 2000.0));
    plot->add_option("--height", picture.height, "in mm; default 75")->check(CLI::Range(32.0, 2000.0));
    plot->add_option("--title", picture.title, "a line above the curves");
    plot->add_option("--log", picture.log, "logarithmic axes")->check(CLI::IsMember({"x", "y", "xy"}));
    plot->add_option("--from", picture.request.from, "the first time, in seconds");
    plot->add_option("--to", picture.request.to, "the last time, in seconds");
    plot->add_option("--dpi", picture.dpi, "dots per inch of a PNG; default 300")->check(CLI::Range(30.0, 2400.0));
    with_force(plot);
    plot->add_flag("--json", shared.json, "print JSON, for machines");

    CLI::App* layout = app.add_subcommand("format", "lay out model files, keeping every word and comment");
    layout->add_option("FILE", files, "model files; `-` reads standard input and writes standard output")->required();
    layout->add_flag("--check", only_check, "write nothing; name the files that would change, and exit with 1");
    layout->add_flag("--json", shared.json, "print JSON, for machines");

    CLI::App* gallery = app.add_subcommand("gallery", "list the example models, or copy one here");
    gallery->add_option("NAME", name, "the model to copy");
    with_force(gallery);
    gallery->add_flag("--json", shared.json, "print JSON, for machines");

    CLI::App* explain = app.add_subcommand("explain", "explain a diagnostic");
    explain->add_option("CODE", code, "such as E0101; without it, all of them");
    explain->add_flag("--json", shared.json, "print JSON, for machines");

    try {
        // NOTE: CLI11 takes them from the back
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        if (simulate->parsed() && !run.resume.empty() && resumed == nullptr)
            return resume(*simulate, run.resume, shared, run.options.native);
        if (resumed == nullptr && !gallery->parsed() && !explain->parsed() && !plot->parsed() && !layout->parsed() &&
            file.empty())
            throw CLI::RequiredError("FILE");
        limit_memory(shared);
        if (check->parsed()) return check_command(file, shared);
        if (derive->parsed()) return derive_command(file, print, shared);
        if (simulate->parsed()) {
            run.state.options = options_of(*simulate);
            run.state.command = command_text(shared);
            if (resumed != nullptr) {
                run.state.command = resumed->state.command;
                run.stopped = resumed->state;
                run.out = resumed->folder;
                run.options.native = run.options.native && resumed->native;
                shared.limit.insert(shared.limit.end(), resumed->limits.begin(), resumed->limits.end());
                shared.json = resumed->json;
                shared.force = resumed->force;
                limit_memory(shared);
            }
            return run_command(file, run, shared);
        }
        if (sweep->parsed()) return sweep_command(file, many, shared);
        if (linearize->parsed()) return linearize_command(file, linear, shared);
        if (to_code->parsed()) {
            exported.request.options.language = language == "c" ? ExportLanguage::c : ExportLanguage::cpp;
            return export_command(file, exported, shared);
        }
        if (layout->parsed()) return format_command(files, only_check, shared);
        if (plot->parsed()) return plot_command(folder_of_run, picture, shared);
        if (gallery->parsed()) return gallery_command(name, shared);
        return explain_command(code, shared);
    } catch (const CLI::ParseError& error) {
        if (resumed != nullptr) return refuse_to_resume(resumed->folder, fmt::format("state.json: {}", error.what()), shared);
        const int status = app.exit(error) == 0 ? 0 : 2;
        if (std::ferror(stdout) != 0 && output_error() == 0) output_error() = errno;  // --help and --version say something
        return status;
    } catch (const UsageError& error) {
        if (resumed != nullptr) return refuse_to_resume(resumed->folder, fmt::format("state.json: {}", error.what()), shared);
        tell(fmt::format("appell: {}\n", error.what()));
        return 2;
    } catch (const std::exception& error) {
        if (const auto* failure = dynamic_cast<const std::system_error*>(&error);
            std::ferror(stdout) != 0 && failure != nullptr) {
            output_error() = failure->code().value();  // told at the end
            return 1;
        }
        return tell_failure(error, shared);
    }
}

// A stream that was closed by whoever started the program: no file that is opened later may take its number and get what was
// meant for it. Writing to standard output fails then; what goes to standard error is not wanted.
void open_closed_streams() {
    for (const auto& [stream, mode] : {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}})
        if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) (void)::open("/dev/null", mode);
}

// What was said may wait in buffers up to here. A reader that has gone, as of `appell gallery | head`, has all it wanted.
int with_streams_flushed(int status) {
    flush_output();
    const int reason = output_error();
    const bool failed = reason != 0 || std::ferror(stdout) != 0;
    if (failed && reason != EPIPE) {
        const Diagnostic problem{Code::E0801,
                                 {},
                                 "cannot write to the standard output",
                                 system_message(reason != 0 ? reason : EIO),
                                 "",
                                 "not all that was asked for has arrived there: make room, and run the command again"};
        tell(render(problem, SourceSet{}));
    }
    const bool lost = std::fflush(stderr) != 0 || std::ferror(stderr) != 0;
    return status == 0 && (failed || lost) ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) {
    open_closed_streams();
    // a reader that goes away makes a write fail, and what was begun is cleaned up; a signal would leave it behind
    std::signal(SIGPIPE, SIG_IGN);
    tell_what_is_not_caught();
    std::signal(SIGXFSZ, SIG_IGN);  // likewise: a file that grew too large is an error of the write
    return with_streams_flushed(carry_out(std::vector<std::string>(argv + 1, argv + argc), nullptr));
}
