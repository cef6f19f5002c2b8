// The command line: argument parsing only. Exit codes: 0 good, 1 the model or the run has a problem, 2 wrong usage.
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"

int main(int argc, char** argv) {
    using namespace appell;
    // a reader that goes away makes a write fail, and what was begun is cleaned up; a signal would leave it behind
    std::signal(SIGPIPE, SIG_IGN);
    CLI::App app{"appell: equations of motion, constraint forces and simulation from one text file"};
    app.set_version_flag("--version", std::string("appell ") + APPELL_VERSION);
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);

    SharedOptions shared;
    std::string file, name, code;
    PrintRequest print;
    RunCommand run;
    LinearizeCommand linear;
    const auto with_model = [&](CLI::App* command) {
        command->add_option("FILE", file, "the model file")->required();
        command->add_flag("--json", shared.json, "print JSON, for machines");
        command->add_option("--set", shared.set, "NAME=VALUE: another parameter, input, size or start value (SI)");
        command->add_option("--limit", shared.limit, "NAME=N: another limit");
    };

    CLI::App* check = app.add_subcommand("check", "read the model, count its freedoms, find its problems");
    with_model(check);

    CLI::App* derive = app.add_subcommand("derive", "print the equations of motion");
    with_model(derive);
    std::vector<std::string> formulations, formats;
    for (const std::string_view formulation : formulation_names()) formulations.emplace_back(formulation);
    for (const std::string_view format : format_names()) formats.emplace_back(format);
    derive->add_option("--formulation", print.formulation, "the form of the equations")->check(CLI::IsMember(formulations));
    derive->add_option("--evidence", print.evidence,
                       "whose constraint forces stay in the equations: all, motion, none or NAME,...");
    derive->add_option("--to", print.format, "the format")->check(CLI::IsMember(formats));

    CLI::App* simulate = app.add_subcommand("run", "simulate; writes DIR/trajectory.csv, DIR/summary.json and plots");
    with_model(simulate);
    simulate->add_option("--out", run.out, "DIR for the results; default SYSTEM.out");
    simulate->add_option("--forces", run.options.forces,
                         "FRAME: writes DIR/forces.csv, all constraint forces along the axes of a frame or body");
    simulate->add_option("--from", run.options.from, "start time, in seconds");
    simulate->add_option("--until", run.options.until, "end time, in seconds");
    simulate->add_option("--every", run.options.every, "spacing of the rows, in seconds")->check(CLI::PositiveNumber);
    simulate->add_option("--rtol", run.options.rtol, "relative tolerance")->check(CLI::PositiveNumber);
    simulate->add_option("--atol", run.options.atol, "absolute tolerance")->check(CLI::PositiveNumber);
    simulate->add_option("--formulation", run.options.formulation, "how the accelerations are found")
        ->check(CLI::IsMember(formulations));
    simulate->add_option("--integrator", run.options.integrator, "the method of integration")->check(CLI::IsMember({"dopri5"}));
    simulate->add_option("--stabilize", run.options.stabilize, "what is done about drift")
        ->check(CLI::IsMember({"project", "none"}));

    CLI::App* linearize =
        app.add_subcommand("linearize", "linear equations and eigenvalues about an equilibrium or a steady motion");
    with_model(linearize);
    linearize->add_option("--trim", linear.trim, "seek one near the start values; otherwise the start must be one")
        ->check(CLI::IsMember({"equilibrium", "steady"}));
    linearize->add_option("--hold", linear.request.hold, "NAME,...: coordinates, speeds and rates that keep their start values")
        ->delimiter(',');
    linearize->add_flag("--open", linear.request.open, "let servo-constraints go: their actuators become inputs");
    linearize->add_option("--sweep", linear.sweep, "NAME=FROM:TO:COUNT: eigenvalues over a range, and critical values");
    linearize->add_option("--out", linear.out, "DIR for the results of a sweep; default SYSTEM.linear");
    linear.format = "text";
    linearize->add_option("--to", linear.format, "the format")->check(CLI::IsMember({"text", "latex", "markdown"}));

    CLI::App* gallery = app.add_subcommand("gallery", "list the example models, or copy one here");
    gallery->add_option("NAME", name, "the model to copy");
    gallery->add_flag("--json", shared.json, "print JSON, for machines");

    CLI::App* explain = app.add_subcommand("explain", "explain a diagnostic");
    explain->add_option("CODE", code, "such as E0101")->required();
    explain->add_flag("--json", shared.json, "print JSON, for machines");

    try {
        app.parse(argc, argv);
        if (check->parsed()) return check_command(file, shared);
        if (derive->parsed()) return derive_command(file, print, shared);
        if (simulate->parsed()) return run_command(file, run, shared);
        if (linearize->parsed()) return linearize_command(file, linear, shared);
        if (gallery->parsed()) return gallery_command(name, shared);
        return explain_command(code, shared);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const UsageError& error) {
        fmt::print(stderr, "appell: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        // not fmt::print: standard error may be what could not be written
        std::fputs(fmt::format("appell: {}\n", error.what()).c_str(), stderr);
        return 1;
    }
}
