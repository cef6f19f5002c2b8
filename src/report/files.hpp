// Results on disk, all or nothing. Files are written into a temporary folder (or file) beside the target and renamed when
// they are complete, so that a reader never sees half a file and a failed run leaves nothing behind.
//
// A new folder appears by one rename. A folder that exists already keeps what else is in it; the files of the same names are
// replaced one by one, each by one rename. Failures are diagnostics E0801 with the path and the system's reason.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace appell {

class OutputFolder {
public:
    // Makes the temporary folder beside the target, and the target's parents where they are missing.
    static Result<OutputFolder> create(const std::filesystem::path& target);

    OutputFolder(OutputFolder&&) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();  // without a commit: removes all that was made

    // names are relative and stay inside: "trajectory.csv", "plots/energy.svg"
    [[nodiscard]] Diagnostics write(const std::string& name, std::string_view content);
    // where a file that is written piece by piece goes until the commit
    [[nodiscard]] std::filesystem::path staged(const std::string& name) const;
    [[nodiscard]] Diagnostics commit();

    [[nodiscard]] const std::filesystem::path& target() const;

private:
    struct State;

    explicit OutputFolder(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

// one file, replaced by one rename; its folder must exist
[[nodiscard]] Diagnostics write_file(const std::filesystem::path& path, std::string_view content);

// A header and rows of numbers that read back to the same doubles. Header names are quoted as RFC 4180 says where they hold a
// comma, a quote or a line end; lines end with LF. A row costs no allocation; the first failure is kept and told by finish(). The
// file grows by whole rows, and after a failure ends with the last whole one.
class CsvWriter {
public:
    CsvWriter(const std::filesystem::path& path, std::span<const std::string> columns) : CsvWriter(path, columns, path) {}
    // in a file that has another name when it is done, by which problems call it
    CsvWriter(const std::filesystem::path& path, std::span<const std::string> columns, std::filesystem::path final_path);
    CsvWriter(const CsvWriter&) = delete;
    CsvWriter& operator=(const CsvWriter&) = delete;
    ~CsvWriter();

    // the first column and the others: t, and what belongs to it
    void row(double first, std::span<const double> others);
    void row(std::span<const double> values);
    [[nodiscard]] bool failed() const { return error_ != 0; }
    [[nodiscard]] std::size_t rows() const { return rows_; }
    // all rows so far into the file
    void flush();
    // flushes and closes
    [[nodiscard]] Diagnostics finish();

private:
    void append(double value, char separator);

    std::filesystem::path path_;
    std::FILE* file_ = nullptr;
    std::size_t columns_;
    std::size_t rows_ = 0;
    int error_ = 0;  // of the system
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    std::size_t size_ = 0;  // of the file
};

// a field of a header, quoted if it must be
[[nodiscard]] std::string csv_field(std::string_view name);

}  // namespace appell
