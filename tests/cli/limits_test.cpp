// Limits that hold: what is read is measured first, what is kept has a bound, and memory that is not there is told like any other
// problem.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "cli/cli_fixture.hpp"

namespace appell {
namespace {

const std::string k_ball = "system ball\ncoord y = 1 m\nparticle P mass 1 kg at O + y*N.y\ngravity -9.81 m/s^2*N.y\n";

class LimitsOfFiles : public Cli {
protected:
    void include(const std::string& what) const { write("m.appell", k_ball + "include \"" + what + "\"\n"); }
    // a file of this size that takes no room
    void hole(const std::string& name, std::uintmax_t size) const {
        write(name, "");
        fs::resize_file(folder_ / name, size);
    }
};

TEST_F(LimitsOfFiles, AnIncludedFileIsMeasuredBeforeItIsRead) {
    hole("huge.appell", 30'000'000'000);
    hole("large.appell", 16'777'300);
    for (const char* name : {"huge.appell", "large.appell"}) {
        include(name);
        const Outcome outcome = call("check m.appell --limit memory=100MB");
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.out.find("[E0005]"), std::string::npos) << outcome.out;
        EXPECT_NE(outcome.out.find("m.appell:5"), std::string::npos) << outcome.out;
    }
    EXPECT_NE(call("check m.appell").out.find(std::to_string(16'777'300 + fs::file_size(folder_ / "m.appell"))),
              std::string::npos);
    // told once, however often it is included
    std::string often = k_ball;
    for (int i = 0; i < 1000; ++i) often += "include \"large.appell\"\n";
    write("m.appell", often);
    const std::string out = call("check m.appell").out;
    EXPECT_EQ(out.find("[E0005]"), out.rfind("[E0005]")) << out;
}

// wherever the limit is reached: in the language, the derivation or the lowering
TEST_F(LimitsOfFiles, ASweepNamesItsLimitOfNodes) {
    write("m.appell",
          "system s\nparam k = 1\ncoord x = 1, y = 2, z = 3\nparticle P mass 1 at O + x*N.x + y*N.y + z*N.z\n"
          "force on P = -k*sin(x*y)*N.x - cos(z*y)*N.y\nconstraint c: x*y*z = 6\nrun for 0.01\n");
    std::size_t refused = 0, finished = 0;
    for (int nodes = 20; nodes <= 400; nodes += nodes < 160 ? 10 : 60) {
        const Outcome outcome =
            call(fmt::format("sweep m.appell --over 'k = 1..3 in 3' --limit nodes={} --out s --force", nodes));
        EXPECT_EQ(outcome.out.find("E0882"), std::string::npos) << nodes << outcome.out;
        if (outcome.code != 0) {
            EXPECT_NE(outcome.out.find("E0012"), std::string::npos) << nodes << outcome.out;
        }
        ++(outcome.code == 0 ? finished : refused);
    }
    EXPECT_GT(refused, 5u);
    EXPECT_GT(finished, 0u);
}

TEST_F(LimitsOfFiles, WhatIsNoFileIsNotIncluded) {
    ASSERT_EQ(::mkfifo((folder_ / "pipe.appell").c_str(), 0600), 0);
    fs::create_directory(folder_ / "folder.appell");
    fs::create_symlink("/dev/zero", folder_ / "zero.appell");
    for (const char* name : {"pipe.appell", "folder.appell", "zero.appell", "nothing.appell"}) {
        include(name);
        expect_problem("check m.appell", "E0001");
    }
}

TEST_F(LimitsOfFiles, APipeThatDoesNotEndIsRefused) {
    write("m.appell", k_ball);
    for (const std::string& command : {std::string("yes | '") + APPELL_BINARY_DIR + "/appell' check /dev/stdin",
                                       std::string("yes | '") + APPELL_BINARY_DIR + "/appell' format -"}) {
        const Outcome outcome = call("explain E0001 >/dev/null; " + command);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.out.find("[E0005]"), std::string::npos) << outcome.out;
    }
}

// a model whose graph needs far more than the limit
std::string large_model(int n) {
    return fmt::format(
        "system large\nsize n = {}\nfor i in 1..n\n  coord x[i] = 0.1*i, y[i] = 0\n  particle P[i] mass 1 at O + x[i]*N.x + "
        "y[i]*N.y\n"
        "end\nfor i in 1..n-1\n  spring P[i] P[i+1] stiffness 100 length 0.1\nend\nrun for 1 s\n",
        n);
}

TEST_F(Cli, MemoryIsLimitedAndTold) {
    write("large.appell", large_model(5000));
    for (const char* command : {"check", "derive", "run", "export", "linearize", "sweep --over 'x[1] = 0..1 in 3'"}) {
        const std::string arguments = fmt::format("{} large.appell --limit nodes=200000000 --limit memory=15MB", command);
        const Outcome outcome = call(arguments);
        EXPECT_EQ(outcome.code, 1) << arguments << outcome.out.substr(0, 1000);
        EXPECT_NE(outcome.out.find("[E0881]"), std::string::npos) << arguments << outcome.out.substr(0, 1000);
        EXPECT_NE(outcome.out.find("15 MB"), std::string::npos) << arguments << outcome.out.substr(0, 1000);
        const Outcome machine = call(arguments + " --json", false);
        EXPECT_EQ(machine.code, 1);
        EXPECT_EQ(nlohmann::json::parse(machine.out)["diagnostics"][0]["code"], "E0881") << arguments;
    }
    // nothing is left behind
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().filename(), "large.appell");
    for (const char* wrong : {"memory=much", "memory=-1", "memory=4XB", "memory=0", "memory=1e30"})
        EXPECT_EQ(call(fmt::format("check large.appell --limit {}", wrong)).code, 2) << wrong;
}

const std::string k_oscillator =
    "system m\nparam k = 4\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nspring P O stiffness k\nrun for 2 s, every 0.1 s\n";

// What is reserved is not used: stacks of threads and of fibers do not count against the limit.
TEST_F(Cli, ASweepOfASmallModelNeedsLittleMemory) {
    write("m.appell", k_oscillator);
    const std::string sweep = "sweep m.appell --over 'k = 1..2 in 200' ";
    ASSERT_EQ(call(sweep + "--threads 1 --out one").code, 0);
    for (const int threads : {4, 40}) {
        const Outcome outcome = call(sweep + fmt::format("--threads {0} --limit memory=60MB --out f{0}", threads));
        EXPECT_EQ(outcome.code, 0) << outcome.out;
        EXPECT_TRUE(read(fmt::format("f{}/sweep.csv", threads)) == read("one/sweep.csv")) << threads;
    }
}

TEST_F(Cli, ASweepGoesOnWithTheThreadsThatThereAre) {
    write("m.appell", k_oscillator);
    const std::string sweep = "sweep m.appell --over 'k = 1..2 in 200' ";
    ASSERT_EQ(call(sweep + "--threads 1 --out one").code, 0);
    // room in the address space for some of a hundred stacks
    const Outcome outcome = call("explain E0001 >/dev/null; ulimit -v 400000; '" + std::string(APPELL_BINARY_DIR) + "/appell' " +
                                 sweep + "--threads 100 --json --out few");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["reasons"]["finished"], 200) << outcome.out;
    EXPECT_TRUE(read("few/sweep.csv") == read("one/sweep.csv"));
}

TEST_F(Cli, AMemberThatIsTooLargeIsTheOnlyOneThatFails) {
    write("large.appell", large_model(2));
    const Outcome outcome =
        call("sweep large.appell --over 'n = (2, 3, 5000, 4, 5)' --limit memory=15MB --threads 2 --json --out s");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    std::istringstream rows(read("s/sweep.csv"));
    std::string row;
    std::getline(rows, row);
    for (const char* reason : {"finished", "finished", "E0881", "finished", "finished"}) {
        ASSERT_TRUE(std::getline(rows, row));
        EXPECT_NE(row.find(reason), std::string::npos) << row;
    }
}

TEST_F(Cli, TheTightestBoundOnMemoryIsTold) {
    write("large.appell", large_model(5000));
    const Outcome outcome = call("explain E0001 >/dev/null; ulimit -v 40000; '" + std::string(APPELL_BINARY_DIR) +
                                 "/appell' check large.appell --limit nodes=200000000");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.out.find("[E0881]"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("no more than 41 MB"), std::string::npos) << outcome.out;
}

// no memory to read a list of files is no reason to think that there is none
TEST_F(Cli, WantOfMemoryIsNotTakenForAFileOfSomebodyElse) {
    write("m.appell", k_oscillator);
    ASSERT_EQ(call("run m.appell --out r").code, 0);
    int refused = 0;
    for (const int kilobytes : {1, 50, 100, 200, 300, 400, 500, 600, 800, 1000}) {
        const Outcome outcome = call(fmt::format("run m.appell --out r --limit memory={}kB", kilobytes));
        if (outcome.code == 0) continue;
        ++refused;
        EXPECT_EQ(outcome.out.find("[E0816]"), std::string::npos) << kilobytes << outcome.out;
        EXPECT_NE(outcome.out.find("[E0881]"), std::string::npos) << kilobytes << outcome.out;
    }
    EXPECT_GT(refused, 0);
}

TEST_F(Cli, EventsBeyondTheirLimitAreCounted) {
    write("m.appell", k_ball + "event e: sin(50*t/(1 s)) => report\nrun for 10 s, every 1 s\n");
    const Outcome outcome = call("run m.appell --limit events=20 --out some");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_NE(outcome.out.find("[W0884]"), std::string::npos) << outcome.out;
    const auto summary = nlohmann::json::parse(read("some/summary.json"));
    EXPECT_NE(outcome.out.find("`--at-events` writes rows"), std::string::npos) << outcome.out;
    EXPECT_EQ(call("run m.appell --limit events=20 --at-events --out rows").out.find("`--at-events`"), std::string::npos);
    EXPECT_EQ(summary["event_count"], 159);  // the multiples of pi/50 up to 10
    ASSERT_EQ(summary["events"].size(), 21u);
    EXPECT_NEAR(summary["events"][19]["t"].get<double>(), 20 * 3.14159265358979 / 50, 1e-9);
    EXPECT_NEAR(summary["events"][20]["t"].get<double>(), 159 * 3.14159265358979 / 50, 1e-9);
    const Outcome all = call("run m.appell --out all");
    EXPECT_EQ(all.out.find("W0884"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(read("all/summary.json"))["events"].size(), 159u);
}

}  // namespace
}  // namespace appell
