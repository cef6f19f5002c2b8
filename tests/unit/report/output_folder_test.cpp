// Folders of results: all or nothing, and nobody else's file is ever touched. Permission bits do not stop root, so that paths
// which can not be written run through a regular file.
#include "report/output_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "support/members.hpp"

namespace appell {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

class Folders : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "appell-folders-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // every file and folder below that is not the program's own, relative, sorted
    [[nodiscard]] std::vector<std::string> listing() const {
        std::vector<std::string> names;
        for (fs::recursive_directory_iterator entry(folder_), end; entry != end; ++entry) {
            if (entry->path().filename() == ".appell") {
                entry.disable_recursion_pending();
                continue;
            }
            names.push_back(entry->path().lexically_relative(folder_).string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    // results of a command that ended well
    void leave(const std::map<std::string, std::string>& files, const std::string& command = "run",
               const FolderManifest::Given& given = {}) const {
        auto folder = OutputFolder::create(folder_ / "out", {command, given});
        ASSERT_TRUE(folder.ok());
        for (const auto& [name, text] : files) ASSERT_TRUE(folder->write(name, text).empty());
        ASSERT_TRUE(folder->commit().empty());
    }

    fs::path folder_;
};

TEST_F(Folders, NewFolderAppearsWholeOnCommit) {
    auto folder = OutputFolder::create(folder_ / "a/b/out");
    ASSERT_TRUE(folder.ok());
    EXPECT_TRUE(folder->write("summary.json", "{}").empty());
    EXPECT_TRUE(folder->write("plots/energy.svg", "<svg/>").empty());
    EXPECT_FALSE(fs::exists(folder_ / "a/b/out"));
    EXPECT_TRUE(folder->commit().empty());
    EXPECT_EQ(content(folder_ / "a/b/out/summary.json"), "{}");
    folder.value.reset();
    EXPECT_EQ(listing(), (std::vector<std::string>{"a", "a/b", "a/b/out", "a/b/out/plots", "a/b/out/plots/energy.svg",
                                                   "a/b/out/summary.json"}));
}

TEST_F(Folders, NothingIsLeftWithoutCommit) {
    {
        auto folder = OutputFolder::create(folder_ / "a/b/out/");
        ASSERT_TRUE(folder.ok());
        EXPECT_TRUE(folder->write("trajectory.csv", "t\n0\n").empty());
        EXPECT_NE(listing(), std::vector<std::string>{});
    }
    EXPECT_EQ(listing(), std::vector<std::string>{});
}

TEST_F(Folders, ExistingFolderKeepsWhatIsNotReplaced) {
    leave({{"summary.json", "old"}, {"forces.csv", "old"}, {"plots/b.svg", "old"}});
    put(folder_ / "out/notes.txt", "mine");
    {
        auto folder = OutputFolder::create(folder_ / "out", {"run", {}});
        ASSERT_TRUE(folder.ok());
        EXPECT_TRUE(folder->claim(std::vector<std::string>{"summary.json", "plots/a.svg"}).empty());
        EXPECT_TRUE(folder->write("summary.json", "new").empty());
        EXPECT_TRUE(folder->write("plots/a.svg", "<svg/>").empty());
        EXPECT_EQ(content(folder_ / "out/summary.json"), "old");
        EXPECT_TRUE(folder->commit().empty());
    }
    EXPECT_EQ(content(folder_ / "out/summary.json"), "new");
    EXPECT_EQ(content(folder_ / "out/notes.txt"), "mine");
    EXPECT_EQ(content(folder_ / "out/plots/a.svg"), "<svg/>");
    EXPECT_EQ(listing(), (std::vector<std::string>{"out", "out/notes.txt", "out/plots", "out/plots/a.svg", "out/summary.json"}));
}

TEST_F(Folders, LaterCommitsAddToTheFirst) {
    auto folder = OutputFolder::create(folder_ / "out", {"run", {}});
    ASSERT_TRUE(folder.ok());
    put(folder->staged("table.csv"), "t\n0\n");
    folder->mark("table.csv", *mark_of(folder->staged("table.csv"), true));
    EXPECT_TRUE(folder->write("state.json", "1").empty());
    EXPECT_TRUE(folder->commit().empty());
    std::ofstream(folder_ / "out/table.csv", std::ios::app) << "1\n";
    EXPECT_TRUE(folder->write("state.json", "2").empty());
    EXPECT_TRUE(folder->commit().empty());
    EXPECT_EQ(content(folder_ / "out/state.json"), "2");
    EXPECT_EQ(content(folder_ / "out/table.csv"), "t\n0\n1\n");
    folder->mark("table.csv", *mark_of(folder_ / "out/table.csv"));
    folder->remove("state.json");
    EXPECT_TRUE(folder->write("summary.json", "{}").empty());
    EXPECT_TRUE(folder->commit().empty());
    folder.value.reset();
    EXPECT_EQ(listing(), (std::vector<std::string>{"out", "out/summary.json", "out/table.csv"}));
    const auto manifest = read_manifest(folder_ / "out/.appell/manifest.json");
    ASSERT_TRUE(manifest.has_value());
    ASSERT_EQ(manifest->files.size(), 2u);
    for (const auto& [name, mark] : manifest->files) EXPECT_TRUE(is_as_written(folder_ / "out" / name, mark)) << name;
    std::ofstream(folder_ / "out/table.csv", std::ios::app) << "2\n";
    EXPECT_FALSE(is_as_written(folder_ / "out/table.csv", manifest->files.at("table.csv")));
}

TEST_F(Folders, OneWriterAtATime) {
    for (const bool there : {false, true}) {
        if (there) leave({{"x", "0"}});
        auto first = OutputFolder::create(folder_ / "out");
        ASSERT_TRUE(first.ok());
        const auto second = OutputFolder::create(folder_ / "out/");
        EXPECT_FALSE(second.ok());
        EXPECT_TRUE(second.diagnostics.has(Code::E0876));
        EXPECT_NE(second.diagnostics.all()[0].found.find(std::to_string(::getpid())), std::string::npos);
        EXPECT_TRUE(first->write("x", "1").empty());
        EXPECT_TRUE(first->commit().empty());
        EXPECT_FALSE(OutputFolder::create(folder_ / "out").ok());  // it may commit again
        first.value.reset();
        EXPECT_TRUE(OutputFolder::create(folder_ / "out").ok());
        EXPECT_EQ(content(folder_ / "out/x"), "1");
        fs::remove_all(folder_ / "out");
    }
}

// somebody makes the folder while it is being filled, and puts files there
TEST_F(Folders, AFolderThatAppearsMeanwhileKeepsItsFiles) {
    for (const bool same_name : {false, true}) {
        auto folder = OutputFolder::create(folder_ / "out", {"run", {}});
        ASSERT_TRUE(folder.ok());
        EXPECT_TRUE(folder->write("x", "1").empty());
        put(folder_ / "out" / (same_name ? "x" : "y"), "mine");
        const Diagnostics problems = folder->commit();
        EXPECT_EQ(problems.has(Code::E0816), same_name);
        EXPECT_EQ(content(folder_ / "out" / (same_name ? "x" : "y")), "mine");
        folder.value.reset();
        if (same_name) {
            // what was computed is not lost: it comes to its place when that is free
            EXPECT_FALSE(OutputFolder::create(folder_ / "out").ok());
            fs::remove(folder_ / "out/x");
            finish_interrupted_commit(folder_ / "out");
        }
        EXPECT_EQ(content(folder_ / "out/x"), "1");
        EXPECT_FALSE(fs::exists(folder_ / "out/.appell/finished"));
        fs::remove_all(folder_ / "out");
    }
}

// Two commands write, a user creates, edits, removes, and processes are killed in the middle, in random order: what the user has
// is never touched, and what a command committed is there, whole.
TEST_F(Folders, NobodysFileIsTouchedInRandomHistories) {
    const std::vector<std::string> names{"a", "b", "c/d", "c/e", "f"};
    std::mt19937 random(16);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const fs::path out = folder_ / "out";
    std::size_t refused = 0, commits = 0, kills = 0;
    for (std::size_t member = 0; member < members(60); ++member) {
        fs::remove_all(out);
        std::map<std::string, std::string> users, ours;  // by name; of `ours` also who wrote it
        std::map<std::string, std::string> author;
        for (std::size_t move = 0; move < 25; ++move) {
            const std::string name = names[below(names.size())], text = std::to_string(random());
            switch (below(6)) {
                case 0:  // a user's file, new or in place of whatever was there
                    put(out / name, text);
                    users[name] = text;
                    ours.erase(name);
                    break;
                case 1:  // edited: the user's from now on
                    if (!ours.contains(name)) break;
                    put(out / name, ours[name] + text);
                    users[name] = ours[name] + text;
                    ours.erase(name);
                    break;
                case 2:
                    fs::remove(out / name);
                    users.erase(name);
                    ours.erase(name);
                    break;
                default: {
                    const std::string command = below(3) == 0 ? "sweep" : "run";
                    std::map<std::string, std::string> files;
                    for (const std::string& one : names)
                        if (below(2) == 0) files[one] = one + text;
                    if (files.empty()) break;
                    const std::size_t fate =
                        below(4);  // 0: killed before the commit, 1: in its middle, which is made by hand below
                    const auto carry_out = [&] {
                        auto folder = OutputFolder::create(out, {command, {}});
                        if (!folder.ok()) return 3;
                        std::vector<std::string> wanted;
                        for (const auto& [one, content] : files) wanted.push_back(one);
                        if (folder->claim(wanted).has_errors()) return 2;
                        for (const auto& [one, content] : files)
                            if (folder->write(one, content).has_errors()) return 4;
                        if (fate == 0) ::_exit(1);
                        return folder->commit().has_errors() ? 5 : 0;
                    };
                    int code = 0;
                    if (fate == 0) {  // a kill needs a process
                        const pid_t child = ::fork();
                        if (child == 0) ::_exit(carry_out());
                        int status = 0;
                        ::waitpid(child, &status, 0);
                        ASSERT_TRUE(WIFEXITED(status));
                        code = WEXITSTATUS(status);
                    } else {
                        code = carry_out();
                    }
                    bool blocked = false;
                    for (const auto& [one, content] : files)
                        blocked = blocked || users.contains(one) || (ours.contains(one) && author[one] != command);
                    ASSERT_EQ(code == 2, blocked) << "member " << member << ", move " << move << ", " << code;
                    ASSERT_LT(code, 3);
                    refused += blocked ? 1 : 0;
                    kills += code == 1 ? 1 : 0;
                    if (code != 0) break;
                    ++commits;
                    std::erase_if(ours, [&](const auto& one) { return author[one.first] == command; });
                    for (const auto& [one, content] : files) {
                        ours[one] = content;
                        author[one] = command;
                    }
                    if (fate != 1 || files.size() < 2) break;
                    // as a kill between two renames leaves it: some files are still among those that are to be moved
                    const fs::path home = out / ".appell";
                    fs::create_directories(home / "finished");
                    for (const auto& [one, content] : files)
                        if (below(2) == 0) {
                            fs::create_directories((home / "finished" / one).parent_path());
                            fs::rename(out / one, home / "finished" / one);
                        }
                    fs::copy_file(home / "manifest.json", home / "finished/.manifest.json");
                    finish_interrupted_commit(out);
                }
            }
            for (const auto& [one, content_of] : users)
                ASSERT_EQ(content(out / one), content_of) << "member " << member << ", move " << move;
            for (const auto& [one, content_of] : ours)
                ASSERT_EQ(content(out / one), content_of) << "member " << member << ", move " << move;
        }
    }
    EXPECT_GT(refused, members(60));
    EXPECT_GT(commits, members(60));
    EXPECT_GT(kills, members(60) / 2);
}

void expect_cannot_write(const Diagnostics& diagnostics, const std::string& path) {
    ASSERT_EQ(diagnostics.all().size(), 1u);
    EXPECT_EQ(diagnostics.all()[0].code, Code::E0801);
    EXPECT_NE(diagnostics.all()[0].message.find(path), std::string::npos) << diagnostics.all()[0].message;
    EXPECT_FALSE(diagnostics.all()[0].found.empty());  // the system's reason
}

TEST_F(Folders, PathsThroughAFileCanNotBeWritten) {
    std::ofstream(folder_ / "file") << "x";
    const auto below = OutputFolder::create(folder_ / "file/out");
    EXPECT_FALSE(below.ok());
    expect_cannot_write(below.diagnostics, "file/out");
    const auto deeper = OutputFolder::create(folder_ / "file/a/b/out");
    EXPECT_FALSE(deeper.ok());
    expect_cannot_write(deeper.diagnostics, "file/a/b/out");
    const auto itself = OutputFolder::create(folder_ / "file");
    EXPECT_FALSE(itself.ok());
    expect_cannot_write(itself.diagnostics, "file");
    EXPECT_FALSE(OutputFolder::create("").ok());
    EXPECT_FALSE(OutputFolder::create("/dev/null/out").ok());
    EXPECT_EQ(listing(), std::vector<std::string>{"file"});
    EXPECT_EQ(content(folder_ / "file"), "x");
}

TEST_F(Folders, NamesStayInside) {
    auto folder = OutputFolder::create(folder_ / "out");
    ASSERT_TRUE(folder.ok());
    for (const std::string name : {"../x", "/etc/x", "a/../../x", "", "..", "a/"})
        EXPECT_THROW((void)folder->staged(name), Error) << name;
    EXPECT_NO_THROW((void)folder->staged("a/../x"));
}

}  // namespace
}  // namespace appell
