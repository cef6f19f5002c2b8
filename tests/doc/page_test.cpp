// What a page shows works, page by page, in a folder of its own: models are written to files, commands are carried out in
// order, and what the page says they print is what they print.
//
//   ```appell          a whole model: written to NAME.appell after its `system NAME`, checked unless `wrong`, and run where it
//   has
//                      a `run` statement and no command of the page names the file; a part of one must stand in a model of the
//                      page or of the gallery
//   ```LANGUAGE file=F a file F, for the commands that follow
//   ```sh              commands: status 0, or N behind `# exit status N`; `needs=PROGRAM`, `needs=python3:MODULE`,
//                      `needs=file:PATH`, `needs=repository:PATH` pass the block over where that is missing
//   ```output          lines of what the last `sh` block printed (missing_line in pages.hpp)
//   ```math, ```text   formulas, and text that is no code; ``` alone likewise
//   not-run            behind a language: code of other programs, which the page says was not run
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>

#include "doc/pages.hpp"

namespace appell::doc {

namespace {

class Page : public ::testing::TestWithParam<fs::path> {
protected:
    void SetUp() override {
        if (!fs::exists(k_program)) GTEST_SKIP() << "this build has no program";
        std::string name = (fs::temp_directory_path() / "appell-doc-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        // what commands find in the repository's folder, and the program on the path
        fs::create_directories(folder_ / "build");
        fs::create_directories(folder_ / "bin");
        fs::create_directory_symlink(APPELL_BINARY_DIR, folder_ / "build/release");
        fs::create_symlink(k_program, folder_ / "bin/appell");
        if (fs::exists("/usr/bin/python3")) fs::create_symlink("/usr/bin/python3", folder_ / "bin/python3");
        fs::copy(k_root / "gallery", folder_ / "gallery", fs::copy_options::recursive);  // commands may change models
        std::ofstream(folder_ / "run") << "#!/bin/sh\nexec " << shell_word(k_program.string()) << " run \"$@\"\n";
        fs::permissions(folder_ / "run", fs::perms::owner_exec, fs::perm_options::add);
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    // the exit status; `said` is what was printed, errors last
    int shell(const std::string& command, std::string& said) const {
        const std::string script = "cd " + shell_word(folder_.string()) + " && PATH=" + shell_word((folder_ / "bin").string()) +
                                   ":$PATH && { " + command + "\n} >said.txt 2>errors.txt </dev/null";
        const int status = std::system(("bash -c " + shell_word(script)).c_str());
        said = content(folder_ / "said.txt") + content(folder_ / "errors.txt");
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    bool has(const std::string& need) const {
        std::string said;
        if (need.rfind("file:", 0) == 0) return fs::exists(need.substr(5));
        if (need.rfind("repository:", 0) == 0) return fs::exists(k_root / need.substr(11));
        if (need.rfind("python3:", 0) == 0) return shell("python3 -c 'import " + need.substr(8) + "'", said) == 0;
        return shell("command -v " + shell_word(need), said) == 0;
    }

    void carry_out(const Block& block, std::string& said) {
        said.clear();
        std::string command;
        for (const std::string& line : lines_of(block.text)) {
            command += line;
            if (!line.empty() && line.back() == '\\') {
                command += "\n";
                continue;
            }
            // the tests themselves
            if (command == "./test") command.clear();
            if (command.empty()) continue;
            int expected = 0;
            static const std::string mark = "# exit status ";
            if (const std::size_t at = command.find(mark); at != std::string::npos)
                expected = std::stoi(command.substr(at + mark.size()));
            std::string now;
            EXPECT_EQ(shell(command, now), expected) << block.place << ": " << command << "\n" << now;
            said += now;
            command.clear();
        }
    }

    fs::path folder_;
};

// lines that stand in a text one after the other, however they are indented
bool stands_in(const std::vector<std::string>& part, const std::string& model) {
    const std::vector<std::string> whole = substance(model);
    return std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
}

TEST_P(Page, Works) {
    static const std::set<std::string> listings = {"c", "cpp", "python", "cmake", "make", "json"};
    const std::vector<Block> blocks = blocks_of(GetParam());
    std::string commands, uses;  // those, and files that commands use
    for (const Block& block : blocks) {
        if (block.language == "sh") commands += block.text;
        if (block.language == "sh" || !block.file().empty()) uses += block.text;
    }
    std::string said;
    bool passed_over = false;
    std::vector<std::string> models;
    for (const Block& block : blocks) {
        if (block.has("not-run")) {
            const std::string page = content(GetParam());
            EXPECT_NE(page.find("not run"), std::string::npos) << block.place << ": the page does not say so";
        } else if (!block.file().empty()) {
            std::ofstream(folder_ / block.file()) << block.text;
            EXPECT_TRUE(uses.find(block.file() == "CMakeLists.txt" ? "cmake -S ." : block.file()) != std::string::npos)
                << block.place << ": no command uses " << block.file();
        } else if (block.language == "appell") {
            const std::string name = system_of(block.text);
            if (name.empty()) {
                bool stands = false;
                for (const std::string& model : models) stands = stands || stands_in(substance(block.text), model);
                for (const auto& entry : fs::directory_iterator(k_root / "gallery"))
                    stands = stands || stands_in(substance(block.text), content(entry.path()));
                EXPECT_TRUE(stands) << block.place << ": neither a model, nor a part of one of the page or of the gallery";
                continue;
            }
            models.push_back(block.text);
            const std::string file = name + ".appell";
            std::ofstream(folder_ / file) << block.text;
            const bool used = commands.find(file) != std::string::npos;
            if (block.has("wrong")) {
                EXPECT_TRUE(used) << block.place << ": no command shows what is wrong with it";
                continue;
            }
            std::string problems;
            EXPECT_EQ(shell("appell check " + file, problems), 0) << block.place << "\n" << problems;
            const std::vector<std::string> lines = substance(block.text);
            const bool runs =
                std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line.rfind("run", 0) == 0; });
            if (!runs || used) continue;
            EXPECT_EQ(shell("appell run " + file, problems), 0) << block.place << "\n" << problems;
            EXPECT_TRUE(fs::exists(folder_ / (name + ".out") / "trajectory.csv")) << block.place;
        } else if (block.language == "sh") {
            passed_over = false;
            for (const std::string& option : block.options)
                if (option.rfind("needs=", 0) == 0 && !has(option.substr(6))) passed_over = true;
            if (!passed_over) carry_out(block, said);
        } else if (block.language == "output") {
            if (passed_over) continue;
            const std::string missing = missing_line(block.text, said);
            EXPECT_TRUE(missing.empty()) << block.place << " shows\n" << missing << "but the commands printed\n" << said;
        } else {
            EXPECT_FALSE(listings.contains(block.language)) << block.place << ": code that nothing executes";
            EXPECT_TRUE(block.language.empty() || block.language == "text" || block.language == "math" ||
                        listings.contains(block.language))
                << block.place << ": blocks of the language " << block.language << " are not known here";
        }
    }
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& page) {
    std::string name = page.param.lexically_relative(k_root).replace_extension().string();
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Documentation, Page, ::testing::ValuesIn(pages()), test_name);

// the mechanism itself: what is not there is found missing
TEST(ShownOutput, IsComparedLineByLine) {
    const std::string said = "one\n  two 1.5e-16\nthree\nfour\n";
    EXPECT_EQ(missing_line("one\n  two 1.5e-16\n", said), "");
    EXPECT_EQ(missing_line("  two …\nthree\n", said), "");
    EXPECT_EQ(missing_line("one\n...\nfour\n", said), "");
    EXPECT_EQ(missing_line("one\nthree\n", said), "three\n");
    EXPECT_EQ(missing_line("four\n...\none\n", said), "one\n");
    EXPECT_EQ(missing_line("  two …e-15\n", said), "  two …e-15\n");
    EXPECT_EQ(missing_line("two 1.5e-16\n", said), "two 1.5e-16\n");
    EXPECT_EQ(missing_line("three…\n", said), "three…\n");
    EXPECT_EQ(missing_line("  two ~1e-15\n", said), "");
    EXPECT_EQ(missing_line("  two ~1e-14\n", said), "  two ~1e-14\n");
    EXPECT_EQ(missing_line("(*) ~2 …\n", "(*) 1.5 N\n"), "");
}

}  // namespace

}  // namespace appell::doc
