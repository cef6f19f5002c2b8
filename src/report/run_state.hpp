// What a stopped run is resumed from: state.json, with the command line, the model's texts and the numbers of the run in the
// middle, and the rows that it has written already.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/source.hpp"
#include "sim/checkpoint.hpp"

namespace appell {

struct RunState {
    std::vector<std::string> arguments;  // of the command line
    std::vector<SourceFile> sources;     // the model file, then what it includes
    Checkpoint::Values numbers;
};

[[nodiscard]] std::string run_state_json(const RunState& state, std::string_view version);
// Problems are diagnostics E0824.
[[nodiscard]] Result<RunState> read_run_state(const std::filesystem::path& folder, std::string_view version);

// The rows of a table, one after the other; every number as it was.
class StoredRows {
public:
    explicit StoredRows(const std::filesystem::path& path);
    StoredRows(const StoredRows&) = delete;
    StoredRows& operator=(const StoredRows&) = delete;
    ~StoredRows();

    // false where there is no further row of that many numbers
    [[nodiscard]] bool next(std::span<double> row);

private:
    [[nodiscard]] bool line();

    std::FILE* file_;
    char* line_ = nullptr;
    std::size_t room_ = 0;
    std::ptrdiff_t length_ = 0;
};

}  // namespace appell
