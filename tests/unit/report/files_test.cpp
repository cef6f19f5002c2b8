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

void expect_cannot_write(const Diagnostics& diagnostics, const std::string& path) {
    ASSERT_EQ(diagnostics.all().size(), 1u);
    EXPECT_EQ(diagnostics.all()[0].code, Code::E0801);
    EXPECT_NE(diagnostics.all()[0].message.find(path), std::string::npos) << diagnostics.all()[0].message;
    EXPECT_FALSE(diagnostics.all()[0].found.empty());  // the system's reason
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
        EXPECT_EQ(csv.hash(), content_hash(content(folder_ / "t.csv")));
        EXPECT_EQ(csv.size(), fs::file_size(folder_ / "t.csv"));
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
