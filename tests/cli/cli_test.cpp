// The built program as a user types it: exit codes, messages, files. 0 good, 1 a problem of the model or the run, 2 wrong usage.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/integrators.hpp"
#include "cli/cli_fixture.hpp"

namespace appell {
namespace {

TEST_F(Cli, WrongUsageIsTwo) {
    for (const char* arguments :
         {"", "nonsense", "run", "run a.appell --rtol fast", "derive a.appell --to word", "derive a.appell --formulation newton",
          "explain E9999", "gallery no_such_model", "check a.appell --set m", "check a.appell --set m=heavy",
          "check a.appell --limit towels=3", "check a.appell --limit nodes=-1", "linearize", "linearize a.appell --trim soon",
          "linearize a.appell --sweep m", "linearize a.appell --sweep m=1:2", "linearize a.appell --sweep m=1:2:1",
          "linearize a.appell --sweep m=1:1:5", "linearize a.appell --sweep m=a:2:5"})
        EXPECT_EQ(call(arguments).code, 2) << arguments << "\n" << call(arguments).out;
}

TEST_F(Cli, ExportWritesItsFilesAndNoOthers) {
    const Outcome outcome = call("export " + model("simple_pendulum") + " --out code");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    for (const char* name : {"simple_pendulum_model.h", "simple_pendulum_model.c", "driver.c", "Makefile", "README.txt"})
        EXPECT_NE(read(std::string("code/") + name).find("Exported by Appell"), std::string::npos) << name;
    // an export takes the place of an earlier one, and leaves what else is there
    write("code/notes.txt", "mine");
    EXPECT_EQ(call("export " + model("simple_pendulum") + " --out code --set m=3").code, 0);
    EXPECT_NE(read("code/simple_pendulum_model.c").find("{\"m\", \"kg\", 3.0}"), std::string::npos);
    EXPECT_EQ(read("code/notes.txt"), "mine");
    // a file that is somebody's work stays
    write("code/Makefile", "all:\n");
    expect_problem("export " + model("simple_pendulum") + " --out code", "E0816");
    EXPECT_EQ(read("code/Makefile"), "all:\n");
    // in JSON: what was written; the other language; the folder's own name
    const Outcome machine = call("export " + model("simple_pendulum") + " --to cpp --json", false);
    EXPECT_EQ(machine.code, 0);
    const auto json = nlohmann::json::parse(machine.out);
    EXPECT_EQ(json["folder"], "simple_pendulum.export");
    ASSERT_EQ(json["files"].size(), 4u);
    for (const auto& file : json["files"])
        EXPECT_EQ(read("simple_pendulum.export/" + file["name"].get<std::string>()).size(), file["bytes"].get<std::size_t>());
    // problems of the model, of the folder, of the command line
    expect_problem("export " + model("bouncing_ball") + " --out ball", "E0861");
    EXPECT_FALSE(fs::exists(folder_ / "ball"));
    expect_problem("export " + model("simple_pendulum") + " --out /dev/null/code", "E0801");
    for (const char* wrong : {"export", "export a.appell --to rust", "export a.appell --formulation newton"})
        EXPECT_EQ(call(wrong).code, 2) << wrong;
}

// numbers that a model computes when it is read do not follow a sweep: eigenvalues would belong to no model at all
TEST_F(Cli, SweepOfWhatOthersFollowIsRefused) {
    write("a.appell",
          "system a\nparam v = 1, k = v^2, c = 2\ncoord x = 0, y = 0\nstart y' = c\nparticle P mass 1 at O + x*N.x + y*N.y\n"
          "force on P = -k*x*N.x\n");
    const Outcome parameter = call("linearize a.appell --sweep v=1:3:3"), start = call("linearize a.appell --sweep c=1:3:3");
    EXPECT_EQ(parameter.code, 2);
    EXPECT_NE(parameter.out.find("computes k from it"), std::string::npos) << parameter.out;
    EXPECT_EQ(start.code, 2);
    EXPECT_NE(start.out.find("the start value of y'"), std::string::npos) << start.out;
    EXPECT_EQ(call("linearize a.appell --trim steady --sweep c=1:3:3").code, 0);
    EXPECT_EQ(call("linearize a.appell --sweep k=1:3:3").code, 0);
}

TEST_F(Cli, HelpVersionAndExplainAreGood) {
    for (const char* arguments :
         {"--help", "--version", "run --help", "explain E0202", "explain e0202", "gallery", "gallery --json"})
        EXPECT_EQ(call(arguments).code, 0) << arguments;
    EXPECT_NE(call("explain E0603").out.find("inverted"), std::string::npos);
}

TEST_F(Cli, EveryGalleryModelChecksDerivesAndRuns) {
    const auto list = nlohmann::json::parse(call("gallery --json").out);
    ASSERT_GE(list["models"].size(), 9u);
    for (const auto& entry : list["models"]) {
        const std::string name = entry["name"];
        EXPECT_FALSE(entry["title"].get<std::string>().empty()) << name;
        ASSERT_EQ(call("gallery " + name).code, 0);
        EXPECT_EQ(call("check " + name + ".appell").code, 0) << call("check " + name + ".appell").out;
        for (const char* format : {"text", "latex", "markdown"})
            EXPECT_EQ(call("derive " + name + ".appell --to " + format).code, 0);
        const auto equations = nlohmann::json::parse(call("derive " + name + ".appell --to json", false).out);
        EXPECT_EQ(equations["schema"], 1);
        const Outcome run = call("run " + name + ".appell --json --out " + name + ".out", false);
        if (read(name + ".appell").find(" opaque") != std::string::npos) {
            EXPECT_EQ(run.code, 1) << name;  // for claims only: a run has no values for its functions
            continue;
        }
        EXPECT_EQ(run.code, 0) << name << run.out;
        const auto summary = nlohmann::json::parse(run.out);
        EXPECT_EQ(summary["reason"], "finished") << name;
        EXPECT_LT(summary["residuals"]["velocity"]["scaled"].get<double>(), 1e-12) << name;
        EXPECT_LT(summary["residuals"]["position"]["scaled"].get<double>(), 1e-12) << name;
        EXPECT_LT(summary["energy"]["largest_balance_relative"].get<double>(), 1000 * summary["options"]["rtol"].get<double>())
            << name;
        EXPECT_GT(fs::file_size(folder_ / (name + ".out") / "trajectory.csv"), 100u);
        EXPECT_EQ(read(name + ".out/summary.json"), run.out);
    }
}

TEST_F(Cli, ARunLeavesAReportUnlessToldNotTo) {
    const Outcome first = call("run " + model("simple_pendulum") + " --until 1 --out a");
    ASSERT_EQ(first.code, 0) << first.out;
    EXPECT_NE(first.out.find("report.html"), std::string::npos) << first.out;
    const std::string page = read("a/report.html");
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
    EXPECT_NE(page.find("--until 1"), std::string::npos);
    // the same run gives the same page, wherever it goes
    ASSERT_EQ(call("run " + model("simple_pendulum") + " --until 1 --out b").code, 0);
    EXPECT_EQ(page, read("b/report.html"));
    // one that is there would be taken for that of the new run
    const Outcome second = call("run " + model("simple_pendulum") + " --until 2 --no-report --out a");
    ASSERT_EQ(second.code, 0) << second.out;
    EXPECT_FALSE(fs::exists(folder_ / "a/report.html"));
    EXPECT_EQ(second.out.find("report.html"), std::string::npos) << second.out;
}

TEST_F(Cli, DerivePrintsCodeInOneFile) {
    const auto runs = [&](const std::string& command) {
        return std::system(("cd '" + folder_.string() + "' && " + command).c_str()) == 0;
    };
    for (const char* formulation : {"multipliers", "minimal"}) {
        const std::string command = "derive " + model("skate") + " --formulation " + formulation;
        const std::string c = call(command + " --to c").out;
        EXPECT_NE(c.find(std::string("formulation ") + formulation), std::string::npos);
        write("skate.c", c + "\nint main(void) { static skate_work w; double y[skate_STATES];\n  double x[skate_STATES], "
                             "p[skate_PARAMETERS];\n"
                             "  int i;\n  for (i = 0; i < skate_STATES; ++i) x[i] = skate_state_table[i].value;\n"
                             "  for (i = 0; i < skate_PARAMETERS; ++i) p[i] = skate_parameter_table[i].value;\n"
                             "  skate_init(&w);\n  return skate_start(0, x, p, &w) != 0 || skate_rate(0, x, p, y, &w) != 0; }\n");
        EXPECT_TRUE(runs("cc -std=c99 -O1 -Wall -Wextra -Werror -o skate skate.c -lm && ./skate"));
        write("skate.hpp", call(command + " --to cpp").out);
        write("use.cpp", "#include \"skate.hpp\"\nint main() { skate_model::Model m; (void)m; return 0; }\n");
        EXPECT_TRUE(runs("c++ -std=c++17 -O1 -Wall -Wextra -Werror -o use use.cpp && ./use"));
    }
    // the code of `export`, in one piece
    EXPECT_EQ(call("export " + model("skate") + " --to cpp --out code").code, 0);
    const std::string exported = read("code/skate_model.hpp"), printed = call("derive " + model("skate") + " --to cpp").out;
    EXPECT_EQ(exported.substr(exported.find("#pragma once")), printed.substr(printed.find("#pragma once")));
    EXPECT_EQ(call("derive " + model("skate") + " --to c --evidence all").code, 2);
    expect_problem("derive " + model("bouncing_ball") + " --to c", "E0861");
}

TEST_F(Cli, DerivePrintsEveryFormulationInEveryFormat) {
    const std::vector<std::string> formulations{"multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell"};
    for (const std::string& formulation : formulations) {
        const std::string command = "derive " + model("skate") + " --formulation " + formulation;
        const Outcome text = call(command, false);
        EXPECT_EQ(text.code, 0);
        EXPECT_NE(text.out.find("Formulation " + formulation + ":"), std::string::npos) << text.out;
        const std::string markdown = call(command + " --to markdown", false).out;
        EXPECT_TRUE(markdown.starts_with("# A skate on an inclined plane\n")) << markdown;
        EXPECT_TRUE(call(command + " --to latex", false).out.starts_with("\\documentclass[a4paper]{article}\n"));
        const auto json = nlohmann::json::parse(call(command + " --json", false).out);
        EXPECT_EQ(json["formulation"], formulation);
        EXPECT_EQ(json, nlohmann::json::parse(call(command + " --to json", false).out));
    }
    // the default, and what differs between formulations
    EXPECT_EQ(call("derive " + model("skate"), false).out,
              call("derive " + model("skate") + " --formulation multipliers", false).out);
    EXPECT_NE(
        call("derive " + model("skate") + " --formulation minimal", false).out.find("\nDependent rates,  u_D' = D u_I' + d\n"),
        std::string::npos);
}

TEST_F(Cli, DerivedLatexCompiles) {
    if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << "pdflatex is not installed";
    for (const char* name : {"perpendicular_pucks", "rolling_disk", "double_pendulum"})
        for (const char* formulation : {"multipliers", "minimal", "nonminimal", "ukp", "gibbs-appell"}) {
            const std::string file = std::string(name) + "_" + formulation;
            write(file + ".tex", call("derive " + model(name) + " --to latex --formulation " + formulation, false).out);
            const std::string command = "cd '" + folder_.string() + "' && pdflatex -interaction=nonstopmode -halt-on-error " +
                                        file + ".tex >/dev/null 2>&1";
            EXPECT_EQ(std::system(command.c_str()), 0) << read(file + ".log");
            // every line inside the margins
            EXPECT_EQ(read(file + ".log").find("Overfull"), std::string::npos) << read(file + ".log");
        }
}

// what the members of a force are written with stands on the page: ideal multipliers, and those of a law that contains them
TEST_F(Cli, MultipliersOfLawsArePrinted) {
    for (const char* formulation : {"multipliers", "ukp", "minimal"}) {
        const auto printed = [&](const char* name) {
            return call("derive " + model(name) + " --formulation " + formulation, false).out;
        };
        EXPECT_NE(printed("drag_like_constraint").find("\n  ideal(path) = "), std::string::npos) << formulation;
        const std::string rod = printed("rough_rod");
        EXPECT_NE(rod.find("\n  ideal(contact) = "), std::string::npos) << formulation;
        // from M u' = f + C + A' lambda and A u' = b, by hand
        EXPECT_NE(rod.find("\n  lambda(contact) = m*(g - l*sin(theta)*u3^2)/(1 + 3*cos(theta)*(cos(theta) + "
                           "mu*sin(theta)*sign(l*sin(theta)*u3 + u1)))\n"),
                  std::string::npos)
            << rod;
    }
}

// names and titles as people type them; plots keep a name, too
TEST_F(Cli, LettersOfOtherAlphabets) {
    write("a.appell",
          "system a \"Ein Maß θ, Ω und Ж\"\ncoord θ = 1, xβ = 0 m\nparticle Pβ mass 1 kg at O + 1 m*cos(θ)*N.x + xβ*N.y\n"
          "constraint c: dot(vel(Pβ), N.x + N.y) = 0\nstart θ' = 1\nrun for 0.1 s\nplot θ\n");
    EXPECT_EQ(call("run a.appell --out r").code, 0);
    EXPECT_TRUE(fs::exists(folder_ / "r/01_theta.svg")) << call("run a.appell --out r").out;
    if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << "pdflatex is not installed";
    write("a.tex", call("derive a.appell --to latex", false).out);
    const std::string command =
        "cd '" + folder_.string() + "' && pdflatex -interaction=nonstopmode -halt-on-error a.tex >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read("a.log");
    EXPECT_EQ(read("a.log").find("Missing character"), std::string::npos) << read("a.log");
}

// a reader that goes away leaves results or nothing, and no folder that is half of them
TEST_F(Cli, AClosedPipeLeavesNothingBehind) {
    // a note is written while the folder for the files is still there
    write("a.appell",
          "system a\ncoord x = 1, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x^2 + y^2 = 4\nrun for 1\n");
    const std::string run = "run a.appell --out r";
    EXPECT_NE(call(run).out.find("N0812"), std::string::npos);  // the second time files are moved into a folder that is there
    const std::string program = std::string(APPELL_BINARY_DIR) + "/appell";
    const std::string command =
        "cd '" + folder_.string() + "' && ( sleep 0.2; '" + program + "' " + run + " ) 2>&1 | true; sleep 1";
    EXPECT_EQ(std::system(("bash -c \"" + command + "\"").c_str()), 0);
    for (const auto& entry : fs::directory_iterator(folder_))
        EXPECT_TRUE(entry.path().filename() == "r" || entry.path().filename() == "a.appell") << entry.path();
    // and is not complained about
    const std::string list = "cd '" + folder_.string() + "' && ( sleep 0.2; '" + program + "' gallery ) 2>said | true; sleep 1";
    EXPECT_EQ(std::system(("bash -c \"" + list + "\"").c_str()), 0);
    EXPECT_EQ(read("said"), "");
}

// into one file: what stands on standard output comes before the diagnostics, unbroken
TEST_F(Cli, OutputAndDiagnosticsDoNotMix) {
    write("a.appell",
          "system a\ncoord x = 1, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x'^2 + y'^2 = 1\n"
          "start x' = 1\nclaim \"wrong\": x'^2 = 2\n");
    const std::string out = call("check a.appell").out;
    const std::size_t claims = out.find("wrong: FAILS"), error = out.find("error[E1001]");
    ASSERT_NE(claims, std::string::npos) << out;
    ASSERT_NE(error, std::string::npos) << out;
    EXPECT_LT(claims, error) << out;
}

TEST_F(Cli, EquationsOfModelsThatCanNotBeStarted) {
    // a start that contradicts the rows, and an opaque function: both have equations
    write("a.appell", "system a\ncoord x = 1, y = 1\nparticle P mass 2 at O + x*N.x + y*N.y\nconstraint c: x'^2 + y'^2 = -1\n");
    const Outcome impossible = call("derive a.appell --formulation minimal", false);
    EXPECT_EQ(impossible.code, 0) << impossible.out;
    EXPECT_NE(impossible.out.find("\nDependent rates,"), std::string::npos) << impossible.out;
    // at rest the row has no gradient: decided at a random state on the constraints instead
    write("b.appell",
          "system b\ncoord x1 = 1, y1 = 2, x2 = 3, y2 = 4\nparticle P mass 1 at O + x1*N.x + y1*N.y\nparticle Q mass 1 at O + "
          "x2*N.x + "
          "y2*N.y\nconstraint c: dot(vel(P), vel(Q)) = 0\n");
    const Outcome rest = call("derive b.appell --formulation minimal", false);
    EXPECT_NE(rest.out.find("Chosen at a random state on the constraints"), std::string::npos) << rest.out;
}

TEST_F(Cli, EvidenceIsChosenByName) {
    const std::string file = model("appell_hamel_nonlinear");
    const Outcome some = call("derive " + file + " --evidence thread", false);
    EXPECT_EQ(some.code, 0) << some.out;
    EXPECT_NE(some.out.find("Formulation minimal:"), std::string::npos) << some.out;
    EXPECT_NE(some.out.find("In evidence: the forces of thread."), std::string::npos) << some.out;
    EXPECT_NE(some.out.find("lambda(thread)"), std::string::npos);
    EXPECT_EQ(some.out.find("lambda(roll)"), std::string::npos);
    expect_problem("derive " + file + " --evidence thred", "E0202");
    expect_problem("derive " + file + " --evidence thread --formulation ukp", "E0821");
}

TEST_F(Cli, ForcesAlongAFrame) {
    ASSERT_EQ(call("run " + model("rolling_disk") + " --out a --forces D").code, 0);
    std::string header = read("a/forces.csv");
    header.resize(header.find('\n'));
    EXPECT_EQ(header,
              "t,\"force(rolling_contact, D at P).x\",\"force(rolling_contact, D at P).y\",\"force(rolling_contact, D at P).z\"");
    const auto summary = nlohmann::json::parse(read("a/summary.json"));
    EXPECT_EQ(summary["forces"]["columns"][0]["unit"], "N");
    const std::string rows = read("a/forces.csv"), trajectory = read("a/trajectory.csv");
    EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), std::count(trajectory.begin(), trajectory.end(), '\n'));
    // a run without them leaves none of an earlier one
    ASSERT_EQ(call("run " + model("rolling_disk") + " --out a").code, 0);
    EXPECT_FALSE(fs::exists(folder_ / "a" / "forces.csv"));
    expect_problem("run " + model("rolling_disk") + " --out b --forces Q", "E0202");
}

TEST_F(Cli, GalleryDoesNotOverwrite) {
    write("skate.appell", "mine");
    expect_problem("gallery skate", "E0816");
    EXPECT_EQ(read("skate.appell"), "mine");
}

TEST_F(Cli, TwoRunsPrintTheSameBytes) {
    for (const char* name : {"rolling_disk", "perpendicular_pucks"}) {
        ASSERT_EQ(call("run " + model(name) + " --out a").code, 0);
        ASSERT_EQ(call("run " + model(name) + " --out b").code, 0);
        EXPECT_EQ(read("a/trajectory.csv"), read("b/trajectory.csv"));
        EXPECT_EQ(call("derive " + model(name)).out, call("derive " + model(name)).out);
    }
}

TEST_F(Cli, AModelMayComeThroughAPipe) {
    const Outcome file = call("check " + model("skate"));
    const std::string pipe =
        "gallery >/dev/null; mkfifo pipe; cat " + model("skate") + " > pipe & '" APPELL_BINARY_DIR "/appell' ";
    const Outcome piped = call(pipe + "check pipe");
    EXPECT_EQ(piped.code, 0) << piped.out;
    EXPECT_EQ(piped.out, file.out);
    fs::remove(folder_ / "pipe");
    const Outcome too_long = call(pipe + "check pipe --limit source_bytes=100");
    EXPECT_NE(too_long.out.find("E0005"), std::string::npos) << too_long.out;
}

TEST_F(Cli, FilesThatAreNoModels) {
    expect_problem("check missing.appell", "E0001");
    expect_problem("check .", "E0001");
    expect_problem("check /dev/zero", "E0001");
    write("empty.appell", "");
    expect_problem("check empty.appell", "E0008");
    write("binary.appell", std::string("\x7f"
                                       "ELF\0\0\1\2",
                                       8));
    expect_problem("check binary.appell", "E0006");
    write("latin.appell", "system caf\xe9\n");
    expect_problem("check latin.appell", "E0007");
    write("line.appell", "system a\nparam x = " + std::string(10u << 20, '1'));
    expect_problem("check line.appell", "E0009");
    write("nested.appell", "system a\nparam x = " + std::string(100'000, '(') + "1" + std::string(100'000, ')'));
    expect_problem("check nested.appell", "E0011");
    write("family.appell", "system a\nfor i in 1..1000000000\n  param p[i] = 1\nend\n");
    expect_problem("check family.appell", "E0507");
    EXPECT_EQ(call("check " + model("skate") + " --limit nodes=50").code, 1);
}

TEST_F(Cli, ModelsWithProblems) {
    const std::string head = "system bad\nparam m = 1 kg\ncoord x = 1 m, y = 0 m\nparticle P mass m at O + x*N.x + y*N.y\n";
    const auto problem = [&](const std::string& rest, const std::string& code) {
        write("bad.appell", head + rest);
        expect_problem("run bad.appell --out results", code);
        EXPECT_FALSE(fs::exists(folder_ / "results")) << code << ": a failed run left its folder behind";
    };
    problem("force on P = 3*N.x + s*N.y\n", "E0202");
    problem("let a = 1 m + 1 s\noutput o = a\n", "E0301");
    problem("coord a, b\nframe A from B rotate a about z\nframe B from A rotate b about z\n", "E0206");
    problem("coord z = 0 m\n", "E0701");
    problem("coord a\nframe B from N rotate a about z\nbody B frame B mass 1 kg center P inertia (0, 0, 0)\n", "E0702");
    problem("speed u = x' + y', v = x' + y'\n", "E0603");
    problem("constraint c: x^2 = -1 m^2\n", "E0802");
    write("bad.appell", head + "param k = 1\nforce on P = (1 N)/(k - 1)*N.x\n");
    expect_problem("run bad.appell --out results", "E0803");
    write("bad.appell", head);
    expect_problem("run bad.appell --set m=-2", "E0505");
    expect_problem("run bad.appell --set nobody=2", "E0204");
}

TEST_F(Cli, AllProblemsOfAFileAtOnce) {
    write("bad.appell",
          "system bad\nparam m = 1 kgg\ncoord x = 1 m\nparticle P mass mm at O + x*N.x\nforce on Q = N.x\nnonsense here\n");
    const Outcome outcome = call("check bad.appell");
    EXPECT_EQ(outcome.code, 1);
    std::size_t count = 0;
    for (std::size_t at = outcome.out.find("error["); at != std::string::npos; at = outcome.out.find("error[", at + 1)) ++count;
    EXPECT_EQ(count, 4u) << outcome.out;
}

TEST_F(Cli, ResultsThatCanNotBeWritten) {
    write("file", "in the way");
    expect_problem("run " + model("skate") + " --out file/results", "E0801");
    EXPECT_EQ(read("file"), "in the way");
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().filename(), "file");
}

TEST_F(Cli, IncludeStaysInTheModelsFolder) {
    write("secret.appell", "param leaked = 1\n");
    write("sub/model.appell", "system a\ninclude \"../secret.appell\"\ncoord x\nparticle P mass 1 at O + x*N.x\n");
    expect_problem("check sub/model.appell", "E0002");
    write("sub/absolute.appell", "system a\ninclude \"" + (folder_ / "secret.appell").string() + "\"\n");
    expect_problem("check sub/absolute.appell", "E0002");
    fs::create_symlink(folder_ / "secret.appell", folder_ / "sub/link.appell");
    write("sub/linked.appell", "system a\ninclude \"link.appell\"\ncoord x\nparticle P mass 1 at O + x*N.x\n");
    EXPECT_EQ(call("check sub/linked.appell").code, 1);
    write("sub/part.appell", "param mass = 2 kg\n");
    write("sub/good.appell", "system a\ninclude \"part.appell\"\ncoord x = 1 m\nparticle P mass mass at O + x*N.x\n");
    EXPECT_EQ(call("check sub/good.appell").code, 0) << call("check sub/good.appell").out;
}

TEST_F(Cli, AnotherRunLeavesNoPlotsOfTheLast) {
    ASSERT_EQ(call("run " + model("skate") + " --out o").code, 0);
    write("o/notes.txt", "mine");
    ASSERT_EQ(call("run " + model("simple_pendulum") + " --out o").code, 0);
    std::vector<std::string> plots;
    for (const auto& entry : fs::directory_iterator(folder_ / "o"))
        if (entry.path().extension() == ".svg") plots.push_back(entry.path().filename());
    std::sort(plots.begin(), plots.end());
    EXPECT_EQ(plots, (std::vector<std::string>{"01_theta.svg", "02_energy.svg"}));
    EXPECT_EQ(read("o/notes.txt"), "mine");
}

TEST_F(Cli, MinimalNamesWhatItIntegrates) {
    const Outcome text = call("run " + model("sliding_particle") + " --until 1 --formulation minimal --out o", false);
    ASSERT_EQ(text.code, 0) << text.out;
    EXPECT_NE(text.out.find("\n  independent  coordinates x; speeds u1\n"), std::string::npos) << text.out;
    const nlohmann::json summary = nlohmann::json::parse(read("o/summary.json"));
    EXPECT_EQ(summary["independent"]["coordinates"], nlohmann::json({"x"}));
    EXPECT_EQ(summary["independent"]["speeds"], nlohmann::json({"u1"}));
    EXPECT_EQ(summary["options"]["stabilize"], "none");
    EXPECT_EQ(summary["projections"], 0);
    // the other formulations integrate everything, and say nothing of it
    const Outcome whole = call("run " + model("sliding_particle") + " --until 1 --out o", false);
    EXPECT_EQ(whole.out.find("independent"), std::string::npos) << whole.out;
    EXPECT_FALSE(nlohmann::json::parse(read("o/summary.json")).contains("independent"));
    // where one choice wears out another one takes over, and is told
    const Outcome changed = call("run " + model("skate") + " --formulation minimal --out s", false);
    EXPECT_EQ(changed.code, 0) << changed.out;
    EXPECT_NE(changed.out.find("independent speeds y', theta'"), std::string::npos) << changed.out;
    EXPECT_FALSE(nlohmann::json::parse(read("s/summary.json"))["events"].empty());
}

TEST_F(Cli, OptionsReplaceThePlan) {
    const Outcome run =
        call("run " + model("simple_pendulum") + " --until 1 --every 0.25 --rtol 1e-6 --set l=2 --set theta=0.5 --json --out o",
             false);
    ASSERT_EQ(run.code, 0);
    const auto summary = nlohmann::json::parse(run.out);
    EXPECT_EQ(summary["rows"], 5);
    EXPECT_EQ(summary["t_end"], 1.0);
    EXPECT_EQ(summary["options"]["rtol"], 1e-6);
    EXPECT_EQ(summary["parameters"]["l"], 2.0);
    for (const char* wrong : {" --integrator euler", " --every 0", " --rtol -1", " --formulation newton", " --stabilize hope"})
        EXPECT_EQ(call("run " + model("simple_pendulum") + wrong).code, 2) << wrong;
    for (const char* formulation : {"minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell", "voronec"})
        EXPECT_EQ(call("run " + model("perpendicular_pucks") + " --out f --formulation " + formulation).code, 0) << formulation;
}

TEST_F(Cli, EveryIntegratorRuns) {
    const std::string command = "run " + model("sliding_particle") + " --until 1 --out o --integrator ";
    double end = 0;
    for (const IntegratorInfo& row : integrator_table())
        for (const char* formulation : {"multipliers", "minimal"}) {
            const std::string name(row.name);
            const Outcome run = call(command + name + (row.fixed_step ? " --step 0.001" : "") + " --formulation " + formulation);
            ASSERT_EQ(run.code, 0) << name << run.out;
            const auto summary = nlohmann::json::parse(read("o/summary.json"));
            EXPECT_EQ(summary["options"]["integrator"], name);
            EXPECT_EQ(summary["options"].contains("step"), row.fixed_step);
            EXPECT_EQ(summary["options"].contains("rtol"), !row.fixed_step);
            const std::string table = read("o/trajectory.csv"), last = table.substr(table.rfind('\n', table.size() - 2) + 1);
            const double x = std::stod(last.substr(last.find(',') + 1));
            if (end == 0) end = x;
            EXPECT_NEAR(x, end, row.order == 0 ? 1e-7 : 1e-8) << name;  // of rtol 1e-9
        }
    expect_problem(command + "rk4", "E0815");
    expect_problem(command + "dopri5 --step 0.1", "E0815");
    expect_problem(command + "rk4 --step 0.1 --max-step 1", "E0815");
    expect_problem(command + "rk4 --step 0.1 --first-step 1", "E0815");
    // the model's step is left aside by an integrator that has none
    write("m.appell", "system m\ncoord x = 0 m\nparticle P mass 1 kg at O + x*N.x\nrun for 1 s integrator rk4 step 0.1 s\n");
    EXPECT_EQ(call("run m.appell --out o --integrator dop853 --max-step 0.01").code, 0);
    EXPECT_GE(nlohmann::json::parse(read("o/summary.json"))["steps"]["accepted"], 99);
    EXPECT_EQ(call("run m.appell --out o --integrator dop853 --first-step 0.25 --every step").code, 0);
    EXPECT_NE(read("o/trajectory.csv").find("\n0.25,"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(read("o/summary.json"))["options"]["first_step"], 0.25);
}

TEST_F(Cli, LinearizePrintsTheStateTheEquationsAndTheEigenvalues) {
    const std::string command = "linearize " + model("simple_pendulum");
    expect_problem(command, "E1101");
    const Outcome text = call(command + " --trim equilibrium", false);
    EXPECT_EQ(text.code, 0) << text.out;
    EXPECT_NE(text.out.find("theta from 0.523599 to 0"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("-g/l"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("+-3.13209 i"), std::string::npos) << text.out;
    const auto json = nlohmann::json::parse(call(command + " --trim equilibrium --json", false).out);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["kind"], "equilibrium");
    EXPECT_NEAR(json["A"][1][0].get<double>(), -9.81, 1e-12);
    EXPECT_EQ(json["variables"], (nlohmann::json{"theta", "theta'"}));
    EXPECT_TRUE(call(command + " --trim equilibrium --to latex", false).out.starts_with("\\documentclass[a4paper]{article}\n"));
    EXPECT_TRUE(call(command + " --trim equilibrium --to markdown", false).out.starts_with("# A mass on a rod\n"));
}

TEST_F(Cli, LinearizeSweepsIntoAFolder) {
    const std::string command = "linearize " + model("rolling_disk") + " --set lean=0 --sweep \"spin'=1:6:11\" --out sweep";
    const Outcome text = call(command, false);
    EXPECT_EQ(text.code, 0) << text.out;
    EXPECT_NE(text.out.find("Critical value spin' = 2.55734"), std::string::npos) << text.out;
    const std::string table = read("sweep/eigenvalues.csv");
    EXPECT_TRUE(table.starts_with("spin',zeros,unstable,re1,im1,re2,im2\n1,2,1,")) << table;
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 12);
    for (const char* name : {"sweep/eigenvalues.svg", "sweep/frequencies.svg"})
        EXPECT_TRUE(read(name).starts_with("<svg")) << name;
    const auto json = nlohmann::json::parse(call(command + " --json", false).out);
    EXPECT_NEAR(json["sweep"]["critical"][0]["value"].get<double>(), 2.5573423705088842, 1e-10);  // sqrt(g/(3 r))
    // a failure leaves no folder
    expect_problem("linearize " + model("rolling_disk") + " --sweep nothing=1:6:11 --out none", "E1106");
    EXPECT_FALSE(fs::exists(folder_ / "none"));
}

}  // namespace
TEST_F(Cli, RowsAtChosenTimesAndAtEveryStep) {
    const auto times = [&](const std::string& folder) {
        std::vector<std::string> out;
        std::istringstream table(read(folder + "/trajectory.csv"));
        for (std::string line; std::getline(table, line);) out.push_back(line.substr(0, line.find(',')));
        return out;
    };
    ASSERT_EQ(call("run " + model("simple_pendulum") + " --until 2 --at 0.5,1.25 --out all").code, 0);
    const std::vector<std::string> both = times("all");  // beside the model's own grid
    EXPECT_EQ(both.size(), 1 + 201u);                    // the two are on it
    write("m.appell",
          "system m\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nspring P O stiffness 4\nrun for 2 s, at (0.5 s, 1.25 s)\n");
    ASSERT_EQ(call("run m.appell").code, 0);
    EXPECT_EQ(times("m.out"), (std::vector<std::string>{"t", "0", "0.5", "1.25", "2"}));
    ASSERT_EQ(call("run m.appell --every step --out steps").code, 0);
    const auto summary = nlohmann::json::parse(read("steps/summary.json"));
    EXPECT_EQ(summary["options"]["every"], "step");
    EXPECT_EQ(summary["rows"], summary["steps"]["accepted"].get<int>() + 3);
    write("n.appell", "system n\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nspring P O stiffness 4\nrun for 2 s, every step\n");
    ASSERT_EQ(call("run n.appell").code, 0);
    EXPECT_EQ(times("n.out").size(),
              nlohmann::json::parse(read("n.out/summary.json"))["steps"]["accepted"].get<std::size_t>() + 2);
    expect_problem("run m.appell --at 7 --out none", "E0815");
    EXPECT_EQ(call("run m.appell --every soon").code, 2);
    EXPECT_EQ(call("run m.appell --every -1").code, 2);
}

// the program is started, stopped by a signal in the middle, and resumed: the files are those of a run that was left alone
TEST_F(Cli, AStoppedRunIsResumedFromItsFiles) {
    write("part.appell", "param k = 4\n");
    write(
        "m.appell",
        "system m\ninclude \"part.appell\"\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nspring P O stiffness k\n"
        "constraint c: dot(vel(P), N.y) = 0.1*x'\nrun for 2000 s, every 0.01 s\nplot x, y\n");
    ASSERT_EQ(call("run m.appell --set k=5 --forces N --out whole").code, 0);
    const std::string start = "timeout --preserve-status -s SIGNAL 0.2 '" + std::string(APPELL_BINARY_DIR) +
                              "/appell' run m.appell --set k=5 --forces N --out part";
    for (const std::string signal : {"INT", "TERM"}) {
        fs::remove_all(folder_ / "part");
        std::string command = start;
        command.replace(command.find("SIGNAL"), 6, signal);
        EXPECT_NE(std::system(("cd '" + folder_.string() + "' && " + command + " >/dev/null 2>&1").c_str()), 0);
        const auto stopped = nlohmann::json::parse(read("part/summary.json"));
        ASSERT_EQ(stopped["reason"], "cancelled");
        ASSERT_TRUE(fs::exists(folder_ / "part/state.json"));
        const std::string rows = read("part/trajectory.csv"), all = read("whole/trajectory.csv");
        EXPECT_LT(rows.size(), all.size());
        EXPECT_TRUE(all.starts_with(rows));
        // neither the model file nor what it includes is needed any more
        fs::rename(folder_ / "m.appell", folder_ / "moved.appell");
        fs::rename(folder_ / "part.appell", folder_ / "moved_part.appell");
        const Outcome resumed = call("run --resume part");
        EXPECT_EQ(resumed.code, 0) << resumed.out;
        fs::rename(folder_ / "moved.appell", folder_ / "m.appell");
        fs::rename(folder_ / "moved_part.appell", folder_ / "part.appell");
        std::vector<std::string> files;
        for (const auto& entry : fs::directory_iterator(folder_ / "whole")) {
            const std::string name = entry.path().filename().string();
            files.push_back(name);
            if (name == "summary.json") continue;  // it has the time that was needed
            EXPECT_EQ(read("part/" + name), read("whole/" + name)) << name;
        }
        for (const auto& entry : fs::directory_iterator(folder_ / "part"))
            EXPECT_NE(std::find(files.begin(), files.end(), entry.path().filename().string()), files.end()) << entry.path();
    }
    // it has ended: nothing to resume
    const Outcome again = call("run --resume part");
    EXPECT_EQ(again.code, 1);
    EXPECT_NE(again.out.find("E0824"), std::string::npos) << again.out;
    EXPECT_EQ(call("run --resume nowhere").code, 1);
}

// What a run with modes remembers is no part of its state: resumed, it is the same run from its start.
TEST_F(Cli, AStoppedRunWithEventsIsMadeAgain) {
    write("m.appell",
          "system m\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nspring P O stiffness 4\nevent slow: x - 0.5 rising => report\n"
          "run for 20000 s, every 0.05 s\n");
    ASSERT_EQ(call("run m.appell --out whole").code, 0);
    const std::string start =
        "timeout --preserve-status -s TERM 0.15 '" + std::string(APPELL_BINARY_DIR) + "/appell' run m.appell --out part";
    EXPECT_NE(std::system(("cd '" + folder_.string() + "' && " + start + " >said 2>&1").c_str()), 0);
    ASSERT_EQ(nlohmann::json::parse(read("part/summary.json"))["reason"], "cancelled");
    EXPECT_NE(read("said").find("from its start"), std::string::npos) << read("said");
    EXPECT_LT(read("part/trajectory.csv").size(), read("whole/trajectory.csv").size());
    EXPECT_EQ(call("run --resume part").code, 0);
    EXPECT_EQ(read("part/trajectory.csv"), read("whole/trajectory.csv"));
    EXPECT_FALSE(fs::exists(folder_ / "part/state.json"));
}

// A run that is killed leaves a state that it is resumed from, and all rows before it. Of what it was writing when it was killed
// the last row may be a part.
TEST_F(Cli, AKilledRunIsResumed) {
    // long enough for a state to be saved before it ends, on any machine
    write("m.appell",
          "system m\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nspring P O stiffness 4\nrun for 1e5 s, every "
          "0.02 s\n");
    const std::string program = "'" + std::string(APPELL_BINARY_DIR) + "/appell'";
    ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && (" + program +
                           " run m.appell --limit steps=2000000000 >/dev/null 2>&1 & p=$!; while [ ! -e m.out/state.json ] && "
                           "kill -0 $p; do sleep 0.02; "
                           "done; kill -KILL $p)")
                              .c_str()),
              0);
    ASSERT_TRUE(fs::exists(folder_ / "m.out/state.json"));
    EXPECT_FALSE(fs::exists(folder_ / "m.out/summary.json"));
    const std::string rows = read("m.out/trajectory.csv");
    const auto saved = nlohmann::json::parse(read("m.out/state.json"));
    EXPECT_GE(std::count(rows.begin(), rows.end(), '\n'), saved["run"]["numbers"]["summary.rows"][0].get<double>() + 1);
    // on to another stop, and the rows that were there before are there still
    EXPECT_NE(std::system(("cd '" + folder_.string() + "' && timeout --preserve-status -s TERM 1 " + program +
                           " run --resume m.out >/dev/null 2>&1")
                              .c_str()),
              0);
    const auto state = nlohmann::json::parse(read("m.out/state.json"));
    const std::string longer = read("m.out/trajectory.csv");
    EXPECT_EQ(std::count(longer.begin(), longer.end(), '\n'), state["run"]["numbers"]["summary.rows"][0].get<double>() + 1);
    EXPECT_TRUE(longer.starts_with(rows) || rows.starts_with(longer));
}

TEST_F(Cli, AFullDiskIsNamed) {
    // a limit on the size of files is a full disk to the program
    const std::string program = "'" + std::string(APPELL_BINARY_DIR) + "/appell'";
    const std::string command = "cd '" + folder_.string() + "' && (ulimit -f 64; " + program + " run " +
                                model("double_pendulum") + " --every 0.0001 --out full) >log 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(read("log").find("E0801"), std::string::npos) << read("log");
    EXPECT_NE(read("log").find("File too large"), std::string::npos) << read("log");
    EXPECT_NE(read("log").find("no rows of this run are kept"), std::string::npos) << read("log");
    EXPECT_EQ(read("log").find("E0811"), std::string::npos) << read("log");
    EXPECT_FALSE(fs::exists(folder_ / "full"));
}

TEST_F(Cli, SweepsAreTheSameOnAnyNumberOfThreads) {
    write("m.appell",
          "system m\nparam c = 1, k = 4\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nspring P O stiffness k\n"
          "constraint a: x^2 + y^2 = c\noutput r = mag(pos(P))\nstart y' = 1\nrun for 1 s\n");
    const std::string command =
        "sweep m.appell --over 'c = -1..2 by 1' --over 'k = (1, 2.5)' --random \"y' in 1..2\" --samples 3 --seed 7 --extremes "
        "x,r";
    for (const std::string threads : {"1", "2", "7"}) {
        const Outcome outcome = call(command + " --out s" + threads + " --threads " + threads);
        EXPECT_EQ(outcome.code, 0) << outcome.out;
        EXPECT_NE(outcome.out.find("24 members"), std::string::npos) << outcome.out;
    }
    const std::string table = read("s1/sweep.csv");
    EXPECT_EQ(table, read("s2/sweep.csv"));
    EXPECT_EQ(table, read("s7/sweep.csv"));
    EXPECT_EQ(read("s1/summary.json"), read("s7/summary.json"));
    EXPECT_TRUE(
        table.starts_with("member,c,k,y',reason,t_end,x,y,x',y',energy,r,balance_relative,min(x),max(x),min(r),max(r)\n0,-1,1,"))
        << table;
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 25);
    const auto summary = nlohmann::json::parse(read("s1/summary.json"));
    EXPECT_EQ(summary["reasons"]["start_has_no_solution"], 6);
    EXPECT_GE(summary["reasons"]["finished"].get<int>(), 12);
    for (const std::string wrong :
         {"--over 'c = 1..2'", "--over 'c = 1..2 by 0'", "--over 'c = 1..2 by -1'", "--over 'c = (1, 2'", "--over 'c 1'",
          "--over 'c = (1, x)'", "--over 'c = 1..2 in 1'", "--random 'c in 1..2'", "--over 'c = (1)' --samples 3",
          "--random 'c in normal(1)' --samples 2"})
        EXPECT_EQ(call("sweep m.appell " + wrong).code, 2) << wrong;
    expect_problem("sweep m.appell --over 'd = (1, 2)' --out none", "E0204");
    expect_problem("sweep m.appell --over 'c = (1, 2)' --extremes s --out none", "E0826");
}

}  // namespace appell
