// What a command says and writes arrives, or the command fails: full devices, closed streams, readers that go away, names that
// are not UTF-8.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

constexpr const char* k_model =
    "system m\nparam k = 4\ncoord x = 0\nparticle P mass 1 at O + x*N.x\nspring P O stiffness k\nrun for 1 s\nplot x\n";

class Streams : public Cli {
protected:
    // a whole line of the shell in the folder, $A being the program; its status
    int shell(const std::string& line) const {
        const std::string script = "cd '" + folder_.string() + "'; A='" + std::string(APPELL_BINARY_DIR) + "/appell'; " + line;
        write("script", script);
        const int status = std::system(("bash '" + (folder_ / "script").string() + "'").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    // every command that says something on standard output; {} is a new name
    static std::vector<std::string> commands() {
        std::vector<std::string> out{"check m.appell",
                                     "check m.appell --json",
                                     "derive m.appell",
                                     "run m.appell --out run_{}",
                                     "run m.appell --json --out run_{}",
                                     "sweep m.appell --over 'k = (1, 2)' --out sweep_{}",
                                     "sweep m.appell --over 'k = (1, 2)' --json --out sweep_{}",
                                     "linearize m.appell",
                                     "linearize m.appell --json",
                                     "linearize m.appell --sweep k=1:2:3 --out linear_{}",
                                     "export m.appell --out export_{}",
                                     "export m.appell --json --out export_{}",
                                     "plot r x -o {}.svg",
                                     "plot r x -o {}.pdf --json",
                                     "format - < m.appell",
                                     "format --check wide.appell",
                                     "gallery",
                                     "gallery --json",
                                     "explain",
                                     "explain E0801",
                                     "explain E0801 --json",
                                     "--version",
                                     "--help",
                                     "run --help",
                                     "check wrong.appell --json",
                                     "sweep wrong.appell --over 'k = (1, 2)' --json"};
        for (const char* format : {"text", "latex", "markdown", "json", "c", "cpp"})
            out.push_back(std::string("derive m.appell --to ") + format);
        for (const char* format : {"text", "latex", "markdown"}) out.push_back(std::string("linearize m.appell --to ") + format);
        return out;
    }
    void SetUp() override {
        Cli::SetUp();
        write("m.appell", k_model);
        write("wide.appell", "system m\nparam    k = 4\n");
        write("wrong.appell", "system m\nparam k = 4\ncoord x = 0\nforce on P = k*N.x\n");
        ASSERT_EQ(call("run m.appell --out r").code, 0);
    }
    std::string with_name(std::string command, std::size_t number) const {
        if (const std::size_t at = command.find("{}"); at != std::string::npos) command.replace(at, 2, std::to_string(number));
        return command;
    }
};

TEST_F(Streams, AFullDeviceIsTold) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    std::size_t number = 0;
    for (const std::string& each : commands()) {
        const std::string command = with_name(each, ++number);
        EXPECT_EQ(shell("$A " + command + " > /dev/full 2> said"), 1) << command;
        EXPECT_NE(read("said").find("E0801"), std::string::npos) << command << "\n" << read("said");
        EXPECT_NE(read("said").find("No space left"), std::string::npos) << command << "\n" << read("said");
    }
    // results that were asked for are there all the same
    EXPECT_TRUE(fs::exists(folder_ / "run_4/summary.json"));
    // what is wrong with a model is told though standard output is full
    EXPECT_EQ(shell("$A check wrong.appell > /dev/full 2> said"), 1);
    EXPECT_NE(read("said").find("E0202"), std::string::npos) << read("said");
    // messages that are lost are a failure, too
    write("warns.appell",
          "system a\ncoord x = 1, y = 1\nparticle P mass 1 at O + x*N.x + y*N.y\nconstraint c: x^2 + y^2 = 4\n"
          "run for 1 s\n");
    EXPECT_EQ(shell("$A run warns.appell --out w > said 2> /dev/full"), 1);
    EXPECT_TRUE(fs::exists(folder_ / "w/summary.json"));
}

TEST_F(Streams, AClosedStreamIsNoFile) {
    std::size_t number = 100;
    for (const std::string& each : commands()) {
        const std::string command = with_name(each, ++number);
        EXPECT_EQ(shell("$A " + command + " >&- 2> said"), 1) << command;
        EXPECT_NE(read("said").find("E0801"), std::string::npos) << command << "\n" << read("said");
        const std::string other = with_name(each, ++number);
        const int expected = shell("$A " + other + " > open 2> /dev/null");
        const int status = shell("$A " + other + " --force > closed 2>&- <&- || $A " + other + " > closed 2>&-");
        EXPECT_EQ(status, expected) << command;
    }
    // neither the tables nor anything else got what was meant for people
    EXPECT_EQ(shell("$A run m.appell --out all >&- 2>&- <&-"), 1);
    EXPECT_EQ(read("all/trajectory.csv"), read("r/trajectory.csv"));
    EXPECT_EQ(read("all/report.html").find("results in"), std::string::npos);
    EXPECT_EQ(shell("$A format - <&- > said 2>&1"), 1);
    EXPECT_NE(read("said").find("E0001"), std::string::npos) << read("said");
}

TEST_F(Streams, AReaderThatGoesAwayIsNotComplainedAbout) {
    std::size_t number = 200;
    for (const std::string& each : commands()) {
        if (each.find('<') != std::string::npos) continue;
        const std::string command = with_name(each, ++number);
        EXPECT_EQ(shell("{ sleep 0.02; $A " + command +
                        " 2> said; echo $? > status; } | true; while [ ! -s status ]; do sleep 0.01; done"),
                  0);
        EXPECT_EQ(read("status"), "1\n") << command;
        EXPECT_EQ(read("said"), "") << command;
        fs::remove(folder_ / "status");
    }
}

// A limit on the size of files is a full disk to the program. Whatever it is: whole results, or an error and what was there.
TEST_F(Streams, AFullDiskLeavesWholeResultsOrNone) {
    const std::vector<std::string> writing{"run m.appell --set k=5 --out f",
                                           "sweep m.appell --over 'k = 1..2 by 0.01' --out f",
                                           "linearize m.appell --sweep k=1:2:30 --out f",
                                           "export m.appell --set k=5 --out f",
                                           "plot r x -o f/x.svg",
                                           "plot r x -o f/x.pdf",
                                           "plot r x -o f/x.png"};
    const auto listing = [&] {
        std::map<std::string, std::string> out;
        for (const auto& entry : fs::recursive_directory_iterator(folder_ / "f"))
            if (!entry.is_directory() && entry.path().filename() != "lock")
                out[entry.path().lexically_relative(folder_ / "f").string()] =
                    read(entry.path().lexically_relative(folder_).string());
        return out;
    };
    std::mt19937 random(20);
    for (const std::string& command : writing) {
        std::string earlier = command;  // other results of the same command, to be kept
        if (const std::size_t at = earlier.find("--set k=5"); at != std::string::npos) earlier.replace(at, 9, "--set k=3");
        std::size_t failed = 0, went_well = 0;
        for (std::size_t i = 0; i < members(6); ++i) {
            const bool there = i % 2 == 0;
            fs::remove_all(folder_ / "f");
            fs::create_directories(folder_ / "f");
            ASSERT_EQ(there ? call(earlier).code : 0, 0) << earlier;
            const auto before = listing();
            // kilobytes: from nothing to what is enough for all
            const int limit = i < 2 ? 0 : i < 3 ? 4000 : std::uniform_int_distribution<int>(0, 80)(random);
            const int status =
                shell("(ulimit -f " + std::to_string(limit) + "; $A " + command + ") 2>&1 | cat > said; exit ${PIPESTATUS[0]}");
            if (status == 0) {
                ++went_well;
                continue;
            }
            ++failed;
            EXPECT_EQ(status, 1) << command << ", " << limit;
            EXPECT_NE(read("said").find("E0801"), std::string::npos) << command << ", " << limit << "\n" << read("said");
            EXPECT_TRUE(listing() == before) << command << ", " << limit;
        }
        EXPECT_GT(failed, 0u) << command;
        EXPECT_GT(went_well, 0u) << command;
    }
}

TEST_F(Streams, NamesThatAreNotUtf8) {
    const std::string name = "n\xe9m \xff";
    write(name + ".appell", std::string(k_model) + "include \"part.appell\"\n");
    write("part.appell", "param c = 1\n");
    const std::string quoted = "'" + name + ".appell'";
    const std::vector<std::string> all{"check " + quoted,
                                       "derive " + quoted,
                                       "run " + quoted,
                                       "run " + quoted + " --out 'o\xe9'",
                                       "sweep " + quoted + " --over 'k = (1, 2)'",
                                       "sweep " + quoted + " --over 'k = (1, 2)' --out 'o\xe9s'",
                                       "linearize " + quoted,
                                       "linearize " + quoted + " --sweep k=1:2:3",
                                       "export " + quoted,
                                       "export " + quoted + " --out 'o\xe9x'",
                                       "plot 'o\xe9' x -o 'p\xe9.svg'",
                                       "format " + quoted};
    for (const std::string& command : all)
        for (const bool json : {false, true}) {
            const Outcome outcome = call(command + (json ? " --json" : ""), !json);
            EXPECT_EQ(outcome.code, 0) << command << outcome.out;
            EXPECT_TRUE(!json || nlohmann::json::accept(outcome.out)) << command << "\n" << outcome.out;
        }
    EXPECT_TRUE(fs::exists(folder_ / (name + ".out") / "summary.json"));
    for (const char* file : {"o\xe9/summary.json", "o\xe9/.appell/manifest.json", "o\xe9s/summary.json"})
        EXPECT_TRUE(nlohmann::json::accept(read(file))) << file;
    // a page is UTF-8 whatever its model is called
    const std::string page = read("o\xe9/report.html");
    EXPECT_TRUE(nlohmann::json::accept(nlohmann::json(page).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore)));
    EXPECT_NO_THROW((void)nlohmann::json(page).dump()) << "bytes that are not UTF-8";
    // problems are told of such files, too: at their place, and in JSON
    write("w\xe9.appell", "system w\ncoord x\nforce on P = 1*N.x\n");
    for (const char* command : {"check", "derive", "run", "export", "linearize", "sweep --over 'x = (1, 2)'"}) {
        const Outcome outcome = call(std::string(command) + " 'w\xe9.appell' --json", false);
        EXPECT_EQ(outcome.code, 1) << command;
        const auto json = nlohmann::json::parse(outcome.out);
        ASSERT_FALSE(json["diagnostics"].empty()) << command;
        EXPECT_EQ(json["diagnostics"][0]["line"], 3) << command;
    }
    // a run that is stopped is saved and resumed
    EXPECT_EQ(call("run " + quoted + " --set x=1 --until 10 --limit steps=20 --out 'l\xe9'").code, 1);
    EXPECT_TRUE(fs::exists(folder_ / "l\xe9/state.json"));
    EXPECT_EQ(call("run --resume 'l\xe9' --limit steps=2000").code, 0);
    EXPECT_FALSE(fs::exists(folder_ / "l\xe9/state.json"));
}

// every located problem with its place and caret, whatever the command
TEST_F(Streams, EveryCommandShowsWhereAProblemIs) {
    const std::map<std::string, std::string> models{
        {"force on P = k*N.x\n", "E0202"}, {"let a = 1 m + 1 s\noutput o = a\n", "E0301"}, {"particle P mass\n", "E0"}};
    for (const auto& [line, code] : models) {
        write("w.appell", "system m\nparam k = 4\ncoord x = 0\n" + line);
        for (const char* command : {"check w.appell", "derive w.appell", "run w.appell", "linearize w.appell", "export w.appell",
                                    "sweep w.appell --over 'k = (1, 2)'", "sweep w.appell --random 'k in 1..2' --samples 3"}) {
            const Outcome text = call(command);
            EXPECT_EQ(text.code, 1) << command;
            EXPECT_NE(text.out.find("[" + code), std::string::npos) << command << "\n" << text.out;
            EXPECT_NE(text.out.find("--> w.appell:4:"), std::string::npos) << command << "\n" << text.out;
            EXPECT_NE(text.out.find("^"), std::string::npos) << command << "\n" << text.out;
            EXPECT_EQ(text.out.find("vector::"), std::string::npos) << command << "\n" << text.out;
            const auto json = nlohmann::json::parse(call(std::string(command) + " --json", false).out);
            ASSERT_FALSE(json["diagnostics"].empty()) << command;
            EXPECT_EQ(json["diagnostics"][0]["line"], 4) << command;
            EXPECT_EQ(json["diagnostics"][0]["file"], "w.appell") << command;
        }
    }
}

}  // namespace
}  // namespace appell
