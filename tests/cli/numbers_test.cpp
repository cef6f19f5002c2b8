// Numbers that are none, or too large, as a user meets them: one word for them in every file, and the parameter they come from.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"

namespace appell {
namespace {

class Numbers : public Cli {
protected:
    // no sign before what is no number, in any file
    void expect_no_sign(const std::string& folder) const {
        for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
            if (!entry.is_regular_file()) continue;
            const std::string text = read(folder + "/" + entry.path().filename().string());
            EXPECT_EQ(text.find("-nan"), std::string::npos) << entry.path();
        }
    }
};

// sqrt(-1) has a sign on some processors, and -sqrt(-1) on the others
TEST_F(Numbers, WhatIsNoNumberHasNoSign) {
    write("m.appell",
          "system m\nparam k = 4\ncoord x = 1, y = 0\nparticle P mass 1 at O + x*N.x + y*N.y\nspring P O stiffness k\n"
          "constraint c: y' = 0.1*x'\noutput a = sqrt(-1 - x^2)\noutput b = -sqrt(-1 - x^2)\noutput d = 0*log(-x^2)\n"
          "run for 1 s, every 0.1 s\nplot a, b\n");
    for (const char* command :
         {"run m.appell --out r", "sweep m.appell --over 'k = (1, 2)' --extremes a,b --out s", "check m.appell",
          "linearize m.appell", "export m.appell --out c", "export m.appell --to cpp --out cpp"}) {
        for (const char* json : {"", " --json"}) {
            const Outcome outcome = call(std::string(command) + json);
            EXPECT_EQ(outcome.out.find("-nan"), std::string::npos) << command << outcome.out;
        }
    }
    for (const char* folder : {"r", "s", "c", "cpp"}) expect_no_sign(folder);
    EXPECT_NE(read("r/trajectory.csv").find(",nan"), std::string::npos);
    EXPECT_NE(read("s/sweep.csv").find(",nan"), std::string::npos);
    // what is exported prints tables, too
    const std::string build = "cd '" + folder_.string() + "' && make -s -C c >/dev/null && c/driver --until 0.3 > c/table.csv";
    ASSERT_EQ(std::system(build.c_str()), 0);
    expect_no_sign("c");
    EXPECT_NE(read("c/table.csv").find(",nan"), std::string::npos) << read("c/table.csv");
    // claims and certificates
    write("n.appell", read("m.appell") + "claim \"c\": sqrt(-1 - x^2) = 1\nclaim \"e\": matrix(M) = ((-sqrt(-1), 0), (0, 1))\n");
    for (const char* json : {"", " --json"}) {
        const Outcome outcome = call(std::string("check n.appell") + json);
        EXPECT_EQ(outcome.out.find("-nan"), std::string::npos) << outcome.out;
        EXPECT_EQ(outcome.out.find("-inf"), std::string::npos) << outcome.out;
    }
}

// Each parameter of some models, far beyond what products of it can be: a run that fails names it, and a run that does not has
// finite numbers.
TEST_F(Numbers, AParameterThatOverflowsIsNamed) {
    std::size_t failed = 0, went_well = 0;
    for (const char* name : {"simple_pendulum", "double_pendulum", "perpendicular_pucks", "rolling_disk", "sliding_particle",
                             "bouncing_ball", "chaplygin_sleigh", "four_bar"}) {
        const Outcome plain = call("run " + model(name) + " --until 0.01 --no-report --json --out p", false);
        const auto parameters = nlohmann::json::parse(plain.out)["parameters"];
        for (const auto& [parameter, value] : parameters.items())
            for (const char* extreme : {"1e308", "1e-308"}) {
                const std::string command = fmt::format("run {} --until 0.01 --no-report --out r --limit steps=2000 --set {}={}",
                                                        model(name), parameter, extreme);
                const Outcome outcome = call(command);
                ASSERT_TRUE(outcome.code == 0 || outcome.code == 1) << command;
                if (outcome.code == 0) {
                    ++went_well;
                    const std::string table = read("r/trajectory.csv");
                    EXPECT_EQ(table.find("nan"), std::string::npos) << command;
                    EXPECT_EQ(table.find("inf"), std::string::npos) << command;
                    continue;
                }
                ++failed;
                // by name, with its value or its place; a limit of work is no such failure
                const bool named = outcome.out.find(fmt::format("{} = 1e", parameter)) != std::string::npos ||
                                   outcome.out.find("[E04") != std::string::npos ||
                                   outcome.out.find("[E0810]") != std::string::npos ||
                                   outcome.out.find("[E0505]") != std::string::npos;
                EXPECT_TRUE(named) << command << "\n" << outcome.out;
            }
    }
    EXPECT_GT(failed, 20u);
    EXPECT_GT(went_well, 5u);
    // beyond the range of numbers altogether
    write("a.appell", "system a\nparam k = 1e400\ncoord x\nparticle P mass 1 at O + x*N.x\n");
    expect_problem("check a.appell", "E0103");
    write("a.appell", "system a\nparam k = 1e308, c = k*k\ncoord x\nparticle P mass 1 at O + x*N.x\n");
    expect_problem("check a.appell", "E0406");
    const Outcome set = call("check a.appell --set k=1e400");
    EXPECT_EQ(set.code, 2);
    EXPECT_NE(set.out.find("out of the range"), std::string::npos) << set.out;
}

}  // namespace
}  // namespace appell
