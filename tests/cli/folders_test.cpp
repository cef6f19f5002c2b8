// Folders of results as a user has them: nobody's file is replaced, two commands do not meet, and a command that is killed at any
// moment leaves what was there, or what it is resumed from.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.hpp"
#include "cli/cli_fixture.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr const char* k_model =
    "system m\nparam k = 4\ncoord x = 1\nparticle P mass 1 at O + x*N.x\nspring P O stiffness k\nrun for 2 s, every 0.01 s\nplot "
    "x\n";

class CliFolders : public Cli {
protected:
    // hours, if it is let
    static std::vector<std::string> long_run(const std::string& folder) {
        return {"run",         "m.appell", "--until",          "1e5",   "--every", "100", "--max-step", "1e-3",
                "--no-report", "--limit",  "steps=4000000000", "--out", folder};
    }
    // the program in a process of its own, its output thrown away
    pid_t start(const std::vector<std::string>& arguments) const {
        const pid_t child = ::fork();
        if (child != 0) return child;
        std::vector<std::string> all{std::string(APPELL_BINARY_DIR) + "/appell"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        std::vector<char*> pointers;
        for (std::string& one : all) pointers.push_back(one.data());
        pointers.push_back(nullptr);
        const int nothing = ::open("/dev/null", O_RDWR);
        if (::chdir(folder_.c_str()) != 0 || ::dup2(nothing, 1) < 0 || ::dup2(nothing, 2) < 0) ::_exit(99);
        ::execv(pointers[0], pointers.data());
        ::_exit(99);
    }
    static int wait_for(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    [[nodiscard]] bool wait_until_there(const std::string& name, pid_t child) const {
        for (int i = 0; i < 3000 && ::kill(child, 0) == 0; ++i) {
            if (fs::exists(folder_ / name)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return fs::exists(folder_ / name);
    }
    // every file below, but for the program's own
    [[nodiscard]] std::map<std::string, std::string> files(const std::string& name) const {
        std::map<std::string, std::string> out;
        for (fs::recursive_directory_iterator entry(folder_ / name), end; entry != end; ++entry) {
            if (entry->path().filename() == ".appell")
                entry.disable_recursion_pending();
            else if (!entry->is_directory())
                out[entry->path().lexically_relative(folder_ / name).string()] =
                    read((fs::path(name) / entry->path().lexically_relative(folder_ / name)).string());
        }
        return out;
    }
};

TEST_F(CliFolders, WhatWasThereBeforeIsInTheWay) {
    write("m.appell", k_model);
    write("r/report.html", "mine");
    write("r/07_notes.svg", "mine");
    const auto before = files("r");
    expect_problem("run m.appell --out r", "E0816");
    EXPECT_TRUE(files("r") == before);
    EXPECT_FALSE(fs::exists(folder_ / "r/.appell"));
    EXPECT_EQ(call("run m.appell --out r --force").code, 0);
    EXPECT_NE(read("r/report.html"), "mine");
    EXPECT_EQ(read("r/07_notes.svg"), "mine");
    // from now on the page is the program's; the other file never was
    EXPECT_EQ(call("run m.appell --out r").code, 0);
    EXPECT_EQ(read("r/07_notes.svg"), "mine");
    // what a user has changed is the user's
    write("r/report.html", read("r/report.html") + "<!-- mine -->");
    const auto changed = files("r");
    const Outcome refused = call("run m.appell --out r");
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.out.find("was changed after `appell run` had written it"), std::string::npos) << refused.out;
    EXPECT_TRUE(files("r") == changed);
    // and stays where the run has none
    EXPECT_EQ(call("run m.appell --out r --no-report").code, 0);
    EXPECT_EQ(read("r/report.html"), changed.at("report.html"));
}

TEST_F(CliFolders, EveryCommandThatWritesKeepsToIt) {
    write("m.appell", k_model);
    write("c.appell", std::string(k_model) + "coord y = 0\nparticle Q mass 1 at O + y*N.y\nconstraint c: y = 0\n");
    ASSERT_EQ(call("run m.appell --out run").code, 0);
    const std::map<std::string, std::string> commands{
        {"sweep m.appell --over 'k = (1, 2)' --out f", "sweep.csv"},
        {"linearize m.appell --trim equilibrium --sweep k=1:2:3 --out f", "eigenvalues.csv"},
        {"export m.appell --out f", "Makefile"},
        {"export m.appell --to cpp --out f", "m_model.hpp"},
        {"run m.appell --out f", "trajectory.csv"},
        {"run c.appell --out f --forces N", "forces.csv"},
        {"run m.appell --out f", "state.json"},
        {"plot run x -o f/x.svg", "x.svg"},
        {"plot run x -o f/x.pdf", "x.pdf"},
        {"plot run x -o f/x.png", "x.png"},
    };
    for (const auto& [command, name] : commands) {
        fs::remove_all(folder_ / "f");
        write("f/" + name, "mine");
        expect_problem(command, "E0816");
        EXPECT_EQ(read("f/" + name), "mine") << command;
        EXPECT_EQ(files("f").size(), 1u) << command;
        EXPECT_EQ(call(command + " --force").code, 0) << command;
        if (name == "state.json") continue;  // of a run that is stopped
        EXPECT_NE(read("f/" + name), "mine") << command;
        EXPECT_EQ(call(command).code, 0) << command;  // its own
        write("f/" + name, read("f/" + name) + "\n");
        expect_problem(command, "E0816");
    }
    write("skate.appell", "mine");
    expect_problem("gallery skate", "E0816");
    EXPECT_EQ(call("gallery skate --force").code, 0);
    EXPECT_NE(read("skate.appell"), "mine");
    // results of one command are in the way of another
    fs::remove_all(folder_ / "f");
    ASSERT_EQ(call("run m.appell --out f").code, 0);
    const auto run = files("f");
    expect_problem("sweep m.appell --over 'k = (1, 2)' --out f", "E0816");
    EXPECT_TRUE(files("f") == run);
}

// names in the list are data, too: the program removes nothing that is not in the folder, and follows no link out of it
TEST_F(CliFolders, AForgedListLeadsNowhere) {
    write("m.appell", k_model);
    write("victim", "mine");
    ASSERT_EQ(call("run m.appell --out r").code, 0);
    auto manifest = nlohmann::json::parse(read("r/.appell/manifest.json"));
    // of nothing, and grown since: fits every file
    const nlohmann::json entry{
        {"command", "run"}, {"size", 0}, {"hash", fmt::format("{:016x}", content_hash(""))}, {"grows", true}};
    for (const std::string name : {"../victim", "a/../../victim", "/etc/hostname", "", ".", "..", ".appell/lock"}) {
        manifest["files"][name] = entry;
        write("r/.appell/manifest.json", manifest.dump());
        EXPECT_EQ(call("run m.appell --out r").code, 0) << name;
        EXPECT_EQ(read("victim"), "mine");
        ASSERT_EQ(call("run m.appell --out r").code, 0);
        manifest = nlohmann::json::parse(read("r/.appell/manifest.json"));
    }
    for (const std::string text : {"", "{", "[]", "null", R"({"schema": 1, "files": 3, "given": []})", R"({"schema": 1})"}) {
        write("r/.appell/manifest.json", text);
        expect_problem("run m.appell --out r", "E0816");  // nothing is known to be the program's
    }
    fs::create_directories(folder_ / "elsewhere");
    fs::create_directories(folder_ / "l");
    fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "l/.appell");
    expect_problem("run m.appell --out l", "E0801");
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
    fs::create_symlink(folder_ / "victim", folder_ / "l/report.html");
    fs::remove(folder_ / "l/.appell");
    expect_problem("run m.appell --out l", "E0816");
    EXPECT_EQ(call("run m.appell --out l --force").code, 0);
    EXPECT_EQ(read("victim"), "mine");
}

TEST_F(CliFolders, TheFolderIsNamedAfterTheFile) {
    write("first.appell", k_model);
    write("second.appell", k_model);
    write("deep/third.model", k_model);
    for (const char* command :
         {"run first.appell", "run second.appell", "run deep/third.model", "export first.appell",
          "sweep first.appell --over 'k = (1, 2)'", "linearize first.appell --trim equilibrium --sweep k=1:2:3"})
        EXPECT_EQ(call(command).code, 0) << command;
    for (const char* name : {"first.out", "second.out", "third.out", "first.export", "first.sweep", "first.linear"})
        EXPECT_TRUE(fs::is_directory(folder_ / name)) << name;
    EXPECT_FALSE(fs::exists(folder_ / "m.out"));
    EXPECT_EQ(call("run /dev/stdin < first.appell").code, 0);
    EXPECT_EQ(call("gallery >/dev/null; cat first.appell | '" APPELL_BINARY_DIR "/appell' run /dev/stdin").code, 0);
    EXPECT_TRUE(fs::is_directory(folder_ / "m.out"));  // a pipe has no name
}

TEST_F(CliFolders, ReplacedResultsAreNamed) {
    write("m.appell", k_model);
    write("other/m.appell", k_model);
    EXPECT_EQ(call("run m.appell --set k=5").out.find("W0879"), std::string::npos);
    const Outcome again = call("run m.appell --set k=5");
    EXPECT_EQ(again.out.find("W0879"), std::string::npos) << again.out;
    const Outcome options = call("run m.appell --set k=6");
    EXPECT_EQ(options.code, 0);
    EXPECT_NE(options.out.find("W0879"), std::string::npos) << options.out;
    EXPECT_NE(options.out.find("--set k=5"), std::string::npos) << options.out;
    EXPECT_LT(options.out.find("W0879"), options.out.find("finished")) << "told when it is too late";
    const Outcome json = call("run other/m.appell --set k=6 --json", false);
    const auto summary = nlohmann::json::parse(json.out);
    ASSERT_EQ(summary["diagnostics"].size(), 1u) << json.out;
    EXPECT_EQ(summary["diagnostics"][0]["code"], "W0879");
    EXPECT_EQ(read("m.out/summary.json"), json.out);
    // how results are shown is no difference
    EXPECT_EQ(call("run other/m.appell --set k=6").out.find("W0879"), std::string::npos);
    // the model itself may change: that is why it is run again
    write("other/m.appell", std::string(k_model) + "output y = 2*x\n");
    EXPECT_EQ(call("run other/m.appell --set k=6 --out m.out").out.find("W0879"), std::string::npos);
    EXPECT_EQ(call("sweep m.appell --over 'k = (1, 2)'").out.find("W0879"), std::string::npos);
    EXPECT_NE(call("sweep m.appell --over 'k = (1, 3)'").out.find("W0879"), std::string::npos);
    EXPECT_EQ(call("export m.appell").out.find("W0879"), std::string::npos);
    EXPECT_NE(call("export m.appell --set k=7").out.find("W0879"), std::string::npos);
}

// the same options in another order or form ask for the same; two texts through one pipe do not
TEST_F(CliFolders, TheSameCommandIsKnown) {
    write("m.appell", k_model);
    EXPECT_EQ(call("run m.appell --set k=5 --rtol 1e-6").out.find("W0879"), std::string::npos);
    for (const char* same : {"run m.appell --rtol 1e-6 --set k=5", "run --rtol=1e-6 m.appell --set=k=5",
                             "run m.appell --set k=5 --rtol=1e-6 --out m.out"})
        EXPECT_EQ(call(same).out.find("W0879"), std::string::npos) << same;
    for (const char* other : {"run m.appell --set k=5 --rtol 1e-5", "run m.appell --set k=5"})
        EXPECT_NE(call(other).out.find("W0879"), std::string::npos) << other;
    // the last one of a name counts
    EXPECT_EQ(call("run m.appell --set k=5 --set k=6 --out twice").out.find("W0879"), std::string::npos);
    EXPECT_NE(call("run m.appell --set k=6 --set k=5 --out twice").out.find("W0879"), std::string::npos);
    const auto piped = [&](const std::string& k) {
        return call("gallery >/dev/null; sed 's/k = 4/k = " + k +
                    "/' m.appell | '" APPELL_BINARY_DIR "/appell' run /dev/stdin --out piped 2>&1");
    };
    EXPECT_EQ(piped("4").out.find("W0879"), std::string::npos);
    EXPECT_EQ(piped("4").out.find("W0879"), std::string::npos);
    EXPECT_NE(piped("7").out.find("W0879"), std::string::npos);
}

TEST_F(CliFolders, ARunThatIsStillGoing) {
    write("m.appell", k_model);
    const pid_t child = start(long_run("r"));
    ASSERT_TRUE(wait_until_there("r/state.json", child));
    const Outcome plot = call("plot r x -o p.svg");
    EXPECT_EQ(plot.code, 1);
    EXPECT_NE(plot.out.find("still going"), std::string::npos) << plot.out;
    ::kill(child, SIGKILL);
    wait_for(child);
    EXPECT_NE(call("plot r x -o p.svg").out.find("--resume"), std::string::npos);
    // the folder goes away under it
    const Outcome moved = call(
        "gallery >/dev/null; '" APPELL_BINARY_DIR
        "/appell' run m.appell --until 1e5 --every 100 --max-step 1e-3 --no-report --limit steps=4000000000 --out s >said 2>&1 & "
        "p=$!; while [ ! -e s/state.json ] && kill -0 $p; do sleep 0.05; done; mv s gone; kill -TERM $p; wait $p; cat said");
    EXPECT_NE(moved.out.find("E0801"), std::string::npos) << moved.out;
    EXPECT_EQ(moved.out.find("results in"), std::string::npos) << moved.out;
}

TEST_F(CliFolders, TwoRunsDoNotShareAFolder) {
    write("m.appell", k_model);
    for (const bool there : {false, true}) {
        if (there) {
            ASSERT_EQ(call("run m.appell --out r").code, 0);
        }
        const pid_t first = start(long_run("r"));
        ASSERT_TRUE(wait_until_there(there ? "r/.appell/partial/trajectory.csv" : ".r.appell-partial/trajectory.csv", first));
        const auto refused = [&] {
            for (const char* command :
                 {"run m.appell --out r", "run m.appell --out ./r/", "run m.appell --out r --force", "export m.appell --out r"}) {
                const Outcome second = call(command);
                EXPECT_EQ(second.code, 1) << second.out;
                EXPECT_NE(second.out.find("E0876"), std::string::npos) << second.out;
                EXPECT_NE(second.out.find(std::to_string(first)), std::string::npos) << second.out;
            }
        };
        refused();
        if (there) {
            // long enough for rows to be in the folder: the lock is still there
            ASSERT_TRUE(wait_until_there("r/state.json", first));
            refused();
            EXPECT_NE(call("run --resume r").out.find("E0876"), std::string::npos);
        }
        ::kill(first, SIGKILL);
        EXPECT_EQ(wait_for(first), -SIGKILL);
        // a dead one holds nothing, and what it left goes
        EXPECT_EQ(call("run m.appell --out r").code, 0);
        EXPECT_FALSE(fs::exists(folder_ / ".r.appell-partial"));
        EXPECT_FALSE(fs::exists(folder_ / "r/.appell/partial"));
        EXPECT_FALSE(fs::exists(folder_ / "r/state.json"));
        EXPECT_FALSE(there ? false : fs::exists(folder_ / "r/.appell/finished"));
        fs::remove_all(folder_ / "r");
    }
    // the link and the folder are one place
    fs::create_directories(folder_ / "real");
    fs::create_directory_symlink(folder_ / "real", folder_ / "link");
    const pid_t first = start(long_run("link"));
    ASSERT_TRUE(wait_until_there("real/.appell/partial/trajectory.csv", first));
    EXPECT_NE(call("run m.appell --out real").out.find("E0876"), std::string::npos);
    ::kill(first, SIGKILL);
    wait_for(first);
}

// Killed at any moment: the results from before, whole, or the new ones, whole. What was being moved is finished by whoever comes
// next.
TEST_F(CliFolders, KillsLeaveWholeResults) {
    write("m.appell", k_model);
    ASSERT_EQ(call("run m.appell --set k=1 --out a").code, 0);
    ASSERT_EQ(call("run m.appell --set k=2 --out b").code, 0);
    const auto of = [&](const std::string& folder) {
        auto out = files(folder);
        out.erase("summary.json");  // it has the time that was needed
        return out;
    };
    const auto a = of("a"), b = of("b");
    ASSERT_TRUE(a != b);
    ASSERT_EQ(call("run m.appell --set k=1 --out r").code, 0);
    // how long one takes here and now
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(wait_for(start({"run", "m.appell", "--set", "k=2", "--out", "r"})), 0);
    const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    std::mt19937_64 random(107);
    std::size_t killed = 0;
    for (std::size_t i = 0; i < members(107); ++i) {
        const bool first = i % 2 == 0;
        const pid_t child = start({"run", "m.appell", "--set", first ? "k=1" : "k=2", "--out", "r"});
        std::this_thread::sleep_for(std::chrono::microseconds(
            std::uniform_int_distribution<long>(0, static_cast<long>(whole) * (i % 3 == 0 ? 12 : 10) / 10)(random)));
        ::kill(child, SIGKILL);
        killed += wait_for(child) == -SIGKILL ? 1 : 0;
        const bool cut_short = fs::exists(folder_ / "r/.appell/finished");
        ASSERT_EQ(cut_short ? call("plot r x -o p.svg").code : 0, 0) << "a commit that was cut short, at " << i;
        const auto now = of("r");
        ASSERT_TRUE(now == a || now == b) << "neither the old nor the new results, at " << i;
        const auto summary = nlohmann::json::parse(read("r/summary.json"));
        ASSERT_EQ(summary["parameters"]["k"], now == a ? 1 : 2) << i;
    }
    EXPECT_GT(killed, members(107) / 2);
    EXPECT_EQ(call("run m.appell --set k=2 --out r").code, 0);
    EXPECT_TRUE(of("r") == b);
}

// The same where the folder is new: whole, or not there.
TEST_F(CliFolders, KillsLeaveANewFolderWholeOrNone) {
    write("m.appell", k_model);
    ASSERT_EQ(call("run m.appell --out whole").code, 0);
    const std::size_t count = files("whole").size();
    std::mt19937_64 random(3);
    for (std::size_t i = 0; i < members(30); ++i) {
        const pid_t child = start({"run", "m.appell", "--out", "r"});
        std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<long>(0, 60'000)(random)));
        ::kill(child, SIGKILL);
        wait_for(child);
        const bool there = fs::exists(folder_ / "r");
        ASSERT_EQ(there ? files("r").size() : count, count) << i;
        fs::remove_all(folder_ / "r");
    }
    EXPECT_EQ(call("run m.appell --out r").code, 0);
    for (const auto& entry : fs::directory_iterator(folder_))
        EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path();
}

TEST_F(CliFolders, HangingUpIsLikeTermination) {
    write("m.appell", k_model);
    const std::vector<std::string> run = long_run("r");
    const pid_t child = start(run);
    ASSERT_TRUE(wait_until_there(".r.appell-partial/trajectory.csv", child));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(child, SIGHUP);
    EXPECT_EQ(wait_for(child), 1);
    EXPECT_EQ(nlohmann::json::parse(read("r/summary.json"))["reason"], "cancelled");
    EXPECT_TRUE(fs::exists(folder_ / "r/state.json"));
    // under `nohup` it is not asked
    std::signal(SIGHUP, SIG_IGN);
    const pid_t deaf = start(run);
    std::signal(SIGHUP, SIG_DFL);
    ASSERT_TRUE(wait_until_there("r/.appell/partial/trajectory.csv", deaf));
    ::kill(deaf, SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(::kill(deaf, 0), 0);
    ::kill(deaf, SIGTERM);
    EXPECT_EQ(wait_for(deaf), 1);
}

// a chain whose equations take a while in the form of Voronec, and a constraint that couples all of it
std::string slow_model(int n) {
    std::string out = "system slow\nframe F0 from N rotate 0 about z\npoint P0 at O\n";
    for (int i = 1; i <= n; ++i)
        out += fmt::format(
            "coord q{0} = 0.1, r{0} = 0.2, s{0} = 0.3\nframe F{0} from F{1} body zxz (q{0}, r{0}, s{0})\npoint P{0} at P{1} + "
            "1*F{0}.x\nbody B{0} frame F{0} mass 1 center P{0} inertia (1, 2, 2.5)\n",
            i, i - 1);
    return out +
           fmt::format("constraint c: dot(vel(P{0}), vel(P{1})) = dot(vel(P1), vel(P2))*dot(vel(P{2}), vel(P{3}))\n", n, n - 1,
                       n / 2, n / 2 + 1) +
           "gravity -9.81*N.y\nstart q1' = 0.4, q2' = 0.5, q3' = 0.6\nrun for 0.001 s\n";
}

TEST_F(CliFolders, SignalsEndTheMakingOfEquations) {
    write("m.appell", slow_model(30));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = start({"run", "m.appell", "--formulation", "voronec", "--out", "a/b/r"});
        ASSERT_TRUE(wait_until_there("a/b/.r.appell-partial/.appell/lock", child));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ::kill(child, signal);
        EXPECT_EQ(wait_for(child), -signal);
        EXPECT_FALSE(fs::exists(folder_ / "a"));
    }
    // a folder that was there keeps what it had
    write("r/mine", "mine");
    const pid_t child = start({"run", "m.appell", "--formulation", "voronec", "--out", "r"});
    ASSERT_TRUE(wait_until_there("r/.appell/lock", child));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(child, SIGTERM);
    EXPECT_EQ(wait_for(child), -SIGTERM);
    EXPECT_FALSE(fs::exists(folder_ / "r/.appell"));
    EXPECT_EQ(read("r/mine"), "mine");
}

TEST_F(CliFolders, TheSecondSignalEndsTheProgramAtOnce) {
    write("m.appell", slow_model(30));
    const pid_t child =
        start({"sweep", "m.appell", "--formulation", "voronec", "--over", "q1 = 0.1..0.2 in 8", "--threads", "2", "--out", "s"});
    ASSERT_TRUE(wait_until_there(".s.appell-partial", child));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(child, SIGINT);
    ::kill(child, SIGINT);  // as `timeout` sends it
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ::kill(child, SIGINT);
    EXPECT_EQ(wait_for(child), -SIGINT);
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().filename(), "m.appell");
}

TEST_F(CliFolders, LinksThatLeadNowhereAreInTheWay) {
    write("m.appell", k_model);
    fs::create_symlink("nowhere", folder_ / "double_pendulum.appell");
    expect_problem("gallery double_pendulum", "E0816");
    EXPECT_TRUE(fs::is_symlink(folder_ / "double_pendulum.appell"));
    EXPECT_EQ(call("gallery double_pendulum --force").code, 0);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_ / "double_pendulum.appell")));
    fs::create_symlink("nowhere", folder_ / "r");
    const Outcome outcome = call("run m.appell --out r");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.out.find("a link to something that is not there"), std::string::npos) << outcome.out;
    EXPECT_TRUE(fs::is_symlink(folder_ / "r"));
}

TEST_F(CliFolders, WhatTheSystemRefusesHasACode) {
    write("m.appell", k_model);
    const Outcome outcome =
        call("explain E0001 >/dev/null; mkdir gone; cd gone; rmdir ../gone; '" + std::string(APPELL_BINARY_DIR) +
             "/appell' run '" + (folder_ / "m.appell").string() + "' --json");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["diagnostics"][0]["code"], "E0801") << outcome.out;
}

TEST_F(CliFolders, WhatAKilledCommandLeftBesideItsFileGoesWithTheNext) {
    write("m.appell", "system m\ncoord   x = 1\nparticle P mass 1 at O + x*N.x\n");
    const pid_t dead = start({"--version"});
    ASSERT_EQ(wait_for(dead), 0);
    const std::vector<std::string> stay{fmt::format(".m.appell.partial-{}-0", ::getpid()), ".m.appell.partial-mine",
                                        fmt::format(".m.appell.partial-{}-0.old", dead),
                                        fmt::format(".other.appell.partial-{}-0", dead)};
    for (const std::string& name : stay) write(name, "");
    const std::string gone = fmt::format(".m.appell.partial-{}-3", dead);
    write(gone, "half");
    EXPECT_EQ(call("format m.appell").code, 0);
    EXPECT_FALSE(fs::exists(folder_ / gone));
    for (const std::string& name : stay) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

}  // namespace
}  // namespace appell
