// `appell format` on files: what it writes, what it leaves alone, what it says.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"

namespace appell {
namespace {

constexpr const char* k_untidy = "# a note\nsystem   s\nparam a=1 m # one\n";
constexpr const char* k_tidy = "# a note\nsystem s\nparam a = 1 m  # one\n";

TEST_F(Cli, FormatReplacesFilesThatChange) {
    write("a.appell", k_untidy);
    write("b.appell", k_tidy);
    fs::permissions(folder_ / "a.appell", fs::perms::owner_read | fs::perms::owner_write);
    const auto before = fs::last_write_time(folder_ / "b.appell");
    fs::create_symlink("a.appell", folder_ / "link.appell");
    const Outcome outcome = call("format link.appell b.appell");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_EQ(read("a.appell"), k_tidy);
    EXPECT_TRUE(fs::is_symlink(folder_ / "link.appell"));
    EXPECT_EQ(fs::status(folder_ / "a.appell").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(fs::last_write_time(folder_ / "b.appell"), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3);
}

TEST_F(Cli, FormatLeavesAPipeAPipe) {
    write("a.appell", k_untidy);
    const std::string in_folder = "cd '" + folder_.string() + "' && ";
    ASSERT_EQ(std::system((in_folder + "mkfifo pipe && (cat a.appell > pipe &)").c_str()), 0);
    EXPECT_EQ(call("format pipe").out, k_tidy);
    EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
    const Outcome standard = call("format /dev/stdin < a.appell");  // a file after all
    EXPECT_EQ(standard.code, 0) << standard.out;
    // what a model from a pipe includes is beside the user
    write("part.appell", "param b = 2\n");
    ASSERT_EQ(std::system((in_folder + "(printf 'system s\\ninclude \"part.appell\"\\n' > pipe &)").c_str()), 0);
    EXPECT_EQ(call("check pipe").out.find("E0001"), std::string::npos);
}

TEST_F(Cli, FormatChecksWithoutWriting) {
    write("a.appell", k_untidy);
    write("b.appell", k_tidy);
    const Outcome differs = call("format --check a.appell b.appell");
    EXPECT_EQ(differs.code, 1);
    EXPECT_EQ(differs.out, "a.appell\n");
    EXPECT_EQ(read("a.appell"), k_untidy);
    const Outcome same = call("format --check b.appell");
    EXPECT_EQ(same.code, 0);
    EXPECT_EQ(same.out, "");
    const auto json = nlohmann::json::parse(call("format --check --json a.appell b.appell", false).out);
    EXPECT_TRUE(json["files"][0]["changed"]);
    EXPECT_FALSE(json["files"][1]["changed"]);
}

TEST_F(Cli, FormatReadsStandardInput) {
    write("a.appell", k_untidy);
    const Outcome outcome = call("format - < a.appell");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, k_tidy);
    EXPECT_EQ(read("a.appell"), k_untidy);
}

TEST_F(Cli, FormatLeavesAloneWhatDoesNotParse) {
    const std::string broken = "system s\nlet a = (1 +\nparamm b=2\n";
    write("bad.appell", broken);
    write("a.appell", k_untidy);
    const Outcome outcome = call("format bad.appell a.appell nowhere.appell");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.out.find("bad.appell:"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("[E0001]"), std::string::npos) << outcome.out;
    EXPECT_EQ(read("bad.appell"), broken);
    EXPECT_EQ(read("a.appell"), k_tidy);  // the others are done
    write("zero.appell", std::string("system s\0x\n", 11));
    expect_problem("format zero.appell", "E0006");
    EXPECT_EQ(call("format").code, 2);
}

}  // namespace
}  // namespace appell
