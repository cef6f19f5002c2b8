// The built program as a user types it, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace appell {

namespace fs = std::filesystem;

struct Outcome {
    int code = -1;
    std::string out;  // standard output and standard error together
};

class Cli : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "appell-cli-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    Outcome call(const std::string& arguments, bool with_errors = true) const {
        const std::string command = "cd '" + folder_.string() + "' && '" + std::string(APPELL_BINARY_DIR) + "/appell' " +
                                    arguments + (with_errors ? " 2>&1" : " 2>/dev/null");
        Outcome outcome;
        FILE* pipe = popen(command.c_str(), "r");
        std::array<char, 4096> buffer{};
        while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.out.append(buffer.data(), n);
        const int status = pclose(pipe);
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return outcome;
    }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    [[nodiscard]] static std::string model(const std::string& name) {
        return "'" + std::string(APPELL_SOURCE_DIR) + "/gallery/" + name + ".appell'";
    }
    // expects a problem: exit code 1 and this diagnostic, nothing left behind
    void expect_problem(const std::string& arguments, const std::string& code) const {
        const Outcome outcome = call(arguments);
        EXPECT_EQ(outcome.code, 1) << outcome.out;
        EXPECT_NE(outcome.out.find("[" + code + "]"), std::string::npos) << arguments << "\n" << outcome.out.substr(0, 2000);
    }
    fs::path folder_;
};

}  // namespace appell
