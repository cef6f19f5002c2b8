// Files of results: one file all or nothing, and tables that are written row by row. Failures are diagnostics E0801 with the
// path and the system's reason; what is written is checked up to the last flush.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/content_hash.hpp"
#include "base/result.hpp"

namespace appell {

[[nodiscard]] Diagnostics cannot_write(const std::filesystem::path& path, const std::string& reason);
[[nodiscard]] std::string system_message(int error);

// A file that nobody looks at yet; problems call it by the name that it will have.
[[nodiscard]] Diagnostics write_whole(const std::filesystem::path& path, std::string_view content,
                                      const std::filesystem::path& final_path);
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
    // of the whole rows that are in the file
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }
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
    ContentHash hash_;
};

// a field of a header, quoted if it must be
[[nodiscard]] std::string csv_field(std::string_view name);

}  // namespace appell
