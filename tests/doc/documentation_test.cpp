// What the documentation shows works: models are checked and run, commands are carried out, links lead somewhere.
//
// Code blocks marked `appell` in README.md, and those in docs/ that are whole models, go through the built program. Blocks marked
// `sh`: lines that call the program or ./run are carried out with the program of this build, in a temporary folder.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path k_root = APPELL_SOURCE_DIR;
const fs::path k_program = fs::path(APPELL_BINARY_DIR) / "appell";

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

struct Block {
    std::string language;
    std::string text;
    std::string place;  // file:line of its first line
};

std::vector<Block> blocks_of(const fs::path& page) {
    std::vector<Block> blocks;
    bool inside = false;
    std::size_t number = 0;
    for (const std::string& line : lines_of(content(page))) {
        ++number;
        if (line.rfind("```", 0) == 0) {
            if (!inside)
                blocks.push_back(
                    {line.substr(3), "", page.lexically_relative(k_root).string() + ":" + std::to_string(number + 1)});
            inside = !inside;
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    EXPECT_FALSE(inside) << page << " ends inside a code block";
    return blocks;
}

std::vector<fs::path> pages() {
    std::vector<fs::path> found{k_root / "README.md", k_root / "tests/README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(k_root / "docs"))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

// lines that say something: no comments, no blank ones, no trailing blanks
std::vector<std::string> substance(const std::string& model) {
    std::vector<std::string> out;
    for (std::string line : lines_of(model)) {
        line = line.substr(0, line.find('#'));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) out.push_back(line);
    }
    return out;
}

bool is_whole_model(const std::string& text) {
    const std::vector<std::string> lines = substance(text);
    return !lines.empty() && lines.front().rfind("system ", 0) == 0;
}

std::string shell_word(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

class Documentation : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "appell-doc-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // runs the program in the temporary folder; the exit status, and what it said for the test's message
    int program(const std::string& arguments, std::string& said) const {
        const fs::path log = folder_ / "log.txt";
        const std::string command = "cd " + shell_word(folder_.string()) + " && " + shell_word(k_program.string()) + " " +
                                    arguments + " >" + shell_word(log.string()) + " 2>&1";
        const int status = std::system(command.c_str());
        said = arguments + "\n" + content(log);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    // false, with a failure or a skip, when the program is not there
    [[nodiscard]] static bool has_program() { return fs::exists(k_program) || fs::exists(k_root / "app/main.cpp"); }

    fs::path folder_;
};

TEST_F(Documentation, ModelsWork) {
    if (!has_program()) GTEST_SKIP() << "this build has no program";
    std::size_t models = 0;
    for (const fs::path& page : pages()) {
        const bool readme = page == k_root / "README.md";
        for (const Block& block : blocks_of(page)) {
            if (block.language != "appell" || !(readme || is_whole_model(block.text))) continue;
            ++models;
            const std::string name = "model" + std::to_string(models);
            std::ofstream(folder_ / (name + ".appell")) << block.text;
            std::string said;
            EXPECT_EQ(program("check " + name + ".appell", said), 0) << block.place << "\n" << said;
            const std::vector<std::string> lines = substance(block.text);
            const bool runs =
                std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line.rfind("run", 0) == 0; });
            if (!runs) continue;
            EXPECT_EQ(program("run " + name + ".appell --out " + name + ".out", said), 0) << block.place << "\n" << said;
            EXPECT_TRUE(fs::exists(folder_ / (name + ".out") / "trajectory.csv")) << block.place;
        }
    }
    EXPECT_GE(models, 1u) << "README.md shows no model";
}

TEST_F(Documentation, CommandsWork) {
    std::size_t commands = 0;
    for (const fs::path& page : pages()) {
        for (const Block& block : blocks_of(page)) {
            if (block.language != "sh") continue;
            for (const std::string& line : lines_of(block.text)) {
                std::istringstream words(line.substr(0, line.find(" #")));
                std::string first;
                words >> first;
                if (first != "./run" && first != "build/release/appell") continue;
                ++commands;
                std::string arguments = first == "./run" ? "run" : "";
                bool has_out = false;
                for (std::string word; words >> word;) {
                    // what the shell would do
                    for (std::string more; std::count(word.begin(), word.end(), '"') % 2 != 0 && words >> more;)
                        word += " " + more;
                    std::erase(word, '"');
                    has_out = has_out || word.rfind("--out", 0) == 0;
                    if (fs::path(word).extension() == ".appell") {
                        EXPECT_TRUE(fs::exists(k_root / word)) << block.place << ": " << line;
                        word = (k_root / word).string();
                    }
                    arguments += " " + shell_word(word);
                }
                if (!has_program()) continue;
                if (first == "./run" && !has_out) arguments += " --out command" + std::to_string(commands) + ".out";
                std::string said;
                EXPECT_EQ(program(arguments, said), 0) << block.place << ": " << line << "\n" << said;
            }
        }
    }
    EXPECT_GE(commands, 1u) << "README.md shows no command";
}

TEST_F(Documentation, FirstModelIsTheGallerys) {
    std::string shown;
    for (const Block& block : blocks_of(k_root / "README.md"))
        if (block.language == "appell" && shown.empty()) shown = block.text;
    const fs::path file = k_root / "gallery/simple_pendulum.appell";
    ASSERT_TRUE(fs::exists(file));
    EXPECT_EQ(substance(shown), substance(content(file)));
}

TEST_F(Documentation, GalleryIsListed) {
    const std::string page = content(k_root / "docs/gallery.md");
    for (const auto& entry : fs::directory_iterator(k_root / "gallery"))
        if (entry.path().extension() == ".appell") {
            // a row with the title of the model: the program's list has its topics from there
            const std::string name = entry.path().stem(), text = content(entry.path());
            const std::size_t open = text.find('"', text.find("system " + name)), close = text.find('"', open + 1);
            const std::string row =
                "| [`" + name + "`](../gallery/" + name + ".appell) | " + text.substr(open + 1, close - open - 1) + " |\n";
            EXPECT_NE(page.find(row), std::string::npos) << row;
        }
}

TEST_F(Documentation, LinksLeadSomewhere) {
    for (const fs::path& page : pages()) {
        bool code = false;
        for (const std::string& line : lines_of(content(page))) {
            if (line.rfind("```", 0) == 0) code = !code;
            if (code) continue;
            for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
                std::string target = line.substr(at + 2, line.find(')', at) - at - 2);
                target = target.substr(0, target.find('#'));
                if (target.empty() || target.find("://") != std::string::npos) continue;
                EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page.lexically_relative(k_root) << " links to " << target;
            }
        }
    }
}

}  // namespace
