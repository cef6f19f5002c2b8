// Results on disk: whole or not there, CSV that reads back, failures told as diagnostics with the path.
// Permission bits do not stop root, so that paths which can not be written run through a regular file.
#include "report/files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>

#include <unistd.h>

#include "base/error.hpp"

namespace appell {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "appell-files-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // every file and folder below, relative, sorted
    [[nodiscard]] std::vector<std::string> listing() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            names.push_back(entry.path().lexically_relative(folder_).string());
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path folder_;
};

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(Files, NewFolderAppearsWholeOnCommit) {
    auto folder = OutputFolder::create(folder_ / "a/b/out");
    ASSERT_TRUE(folder.ok());
    EXPECT_TRUE(folder->write("summary.json", "{}").empty());
    EXPECT_TRUE(folder->write("plots/energy.svg", "<svg/>").empty());
    EXPECT_FALSE(fs::exists(folder_ / "a/b/out"));
    EXPECT_TRUE(folder->commit().empty());
    EXPECT_EQ(content(folder_ / "a/b/out/summary.json"), "{}");
    EXPECT_EQ(listing(), (std::vector<std::string>{"a", "a/b", "a/b/out", "a/b/out/plots", "a/b/out/plots/energy.svg",
                                                   "a/b/out/summary.json"}));
}

TEST_F(Files, NothingIsLeftWithoutCommit) {
    {
        auto folder = OutputFolder::create(folder_ / "a/b/out/");
        ASSERT_TRUE(folder.ok());
        EXPECT_TRUE(folder->write("trajectory.csv", "t\n0\n").empty());
        EXPECT_NE(listing(), std::vector<std::string>{});
    }
    EXPECT_EQ(listing(), std::vector<std::string>{});
}

TEST_F(Files, ExistingFolderKeepsWhatIsNotReplaced) {
    fs::create_directories(folder_ / "out/plots");
    std::ofstream(folder_ / "out/notes.txt") << "mine";
    std::ofstream(folder_ / "out/summary.json") << "old";
    auto folder = OutputFolder::create(folder_ / "out");
    ASSERT_TRUE(folder.ok());
    EXPECT_TRUE(folder->write("summary.json", "new").empty());
    EXPECT_TRUE(folder->write("plots/a.svg", "<svg/>").empty());
    EXPECT_EQ(content(folder_ / "out/summary.json"), "old");
    EXPECT_TRUE(folder->commit().empty());
    EXPECT_EQ(content(folder_ / "out/summary.json"), "new");
    EXPECT_EQ(content(folder_ / "out/notes.txt"), "mine");
    EXPECT_EQ(content(folder_ / "out/plots/a.svg"), "<svg/>");
    folder.value.reset();
    EXPECT_EQ(listing(), (std::vector<std::string>{"out", "out/notes.txt", "out/plots", "out/plots/a.svg", "out/summary.json"}));
}

TEST_F(Files, TwoWritersOfOneTargetDoNotMeet) {
    auto first = OutputFolder::create(folder_ / "out");
    auto second = OutputFolder::create(folder_ / "out");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_NE(first->staged("x"), second->staged("x"));
    EXPECT_TRUE(first->write("x", "1").empty());
    EXPECT_TRUE(second->write("x", "2").empty());
    EXPECT_TRUE(first->commit().empty());
    EXPECT_TRUE(second->commit().empty());
    EXPECT_EQ(content(folder_ / "out/x"), "2");
}

void expect_cannot_write(const Diagnostics& diagnostics, const std::string& path) {
    ASSERT_EQ(diagnostics.all().size(), 1u);
    EXPECT_EQ(diagnostics.all()[0].code, Code::E0801);
    EXPECT_NE(diagnostics.all()[0].message.find(path), std::string::npos) << diagnostics.all()[0].message;
    EXPECT_FALSE(diagnostics.all()[0].found.empty());  // the system's reason
}

TEST_F(Files, PathsThroughAFileCanNotBeWritten) {
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

TEST_F(Files, NamesStayInside) {
    auto folder = OutputFolder::create(folder_ / "out");
    ASSERT_TRUE(folder.ok());
    for (const std::string name : {"../x", "/etc/x", "a/../../x", "", "..", "a/"})
        EXPECT_THROW((void)folder->staged(name), Error) << name;
    EXPECT_NO_THROW((void)folder->staged("a/../x"));
}

TEST_F(Files, OneFileIsReplacedWhole) {
    const fs::path path = folder_ / "equations.tex";
    EXPECT_TRUE(write_file(path, "first").empty());
    EXPECT_TRUE(write_file(path, "second").empty());
    EXPECT_EQ(content(path), "second");
    EXPECT_EQ(listing(), std::vector<std::string>{"equations.tex"});
    expect_cannot_write(write_file(folder_ / "none/x", "y"), "none/x");
    expect_cannot_write(write_file("/dev/null/x", "y"), "/dev/null/x");
    // a folder in the way
    fs::create_directories(folder_ / "busy/inside");
    expect_cannot_write(write_file(folder_ / "busy", "y"), "busy");
    EXPECT_EQ(listing(), (std::vector<std::string>{"busy", "busy/inside", "equations.tex"}));
}

TEST_F(Files, CsvHeaderIsQuotedWhereItMustBe) {
    EXPECT_EQ(csv_field("u1"), "u1");
    EXPECT_EQ(csv_field("lambda(c, x)"), "\"lambda(c, x)\"");
    EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
    EXPECT_EQ(csv_field("x'"), "x'");
}

TEST_F(Files, CsvNumbersReadBackToTheSameBits) {
    const std::vector<std::string> columns{"t", "value", "lambda(c, x)"};
    std::mt19937_64 random(11);
    std::vector<std::vector<double>> rows{{0, -0.0, std::numeric_limits<double>::denorm_min()},
                                          {1.0 / 3, std::numeric_limits<double>::max(), -std::numeric_limits<double>::min()}};
    while (rows.size() < 5000) {
        // any bit pattern that is a finite number
        std::vector<double> row;
        while (row.size() < columns.size())
            if (const double value = std::bit_cast<double>(random()); std::isfinite(value)) row.push_back(value);
        rows.push_back(row);
    }
    {
        CsvWriter csv(folder_ / "t.csv", columns);
        for (const auto& row : rows) csv.row(row[0], std::span(row).subspan(1));
        EXPECT_EQ(csv.rows(), rows.size());
        EXPECT_TRUE(csv.finish().empty());
    }
    std::istringstream in(content(folder_ / "t.csv"));
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(line, "t,value,\"lambda(c, x)\"");
    for (const auto& row : rows) {
        ASSERT_TRUE(std::getline(in, line));
        const char* at = line.c_str();
        for (std::size_t i = 0; i < row.size(); ++i) {
            char* end = nullptr;
            const double read = std::strtod(at, &end);
            EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(row[i])) << line;
            EXPECT_EQ(*end, i + 1 == row.size() ? '\0' : ',');
            at = end + 1;
        }
    }
    EXPECT_FALSE(std::getline(in, line));
}

TEST_F(Files, CsvSaysWhatIsNotFinite) {
    const std::vector<std::string> columns{"t", "x", "y"};
    const double inf = std::numeric_limits<double>::infinity();
    CsvWriter csv(folder_ / "t.csv", columns);
    csv.row(std::vector<double>{inf, -inf, std::numeric_limits<double>::quiet_NaN()});
    EXPECT_TRUE(csv.finish().empty());
    EXPECT_EQ(content(folder_ / "t.csv"), "t,x,y\ninf,-inf,nan\n");
}

TEST_F(Files, CsvKeepsItsFirstFailure) {
    const std::vector<std::string> columns{"t"};
    CsvWriter csv("/dev/null/t.csv", columns);
    EXPECT_TRUE(csv.failed());
    csv.row(1.0, {});
    expect_cannot_write(csv.finish(), "/dev/null/t.csv");
}

TEST_F(Files, AFullDiskIsADiagnostic) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    const std::vector<std::string> columns{"t", "x"};
    CsvWriter csv("/dev/full", columns);
    for (int i = 0; i < 100'000; ++i) csv.row(std::vector<double>{i * 0.1, 1.0 / 3});
    expect_cannot_write(csv.finish(), "/dev/full");
}

}  // namespace
}  // namespace appell
