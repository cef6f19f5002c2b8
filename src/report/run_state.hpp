// What a stopped run is resumed from: state.json, with the options of the run, the model's texts and the numbers of the run in
// the middle, and the rows that it has written already. The file may have been damaged, or made by somebody else: it is read as
// data of one shape, with a hash over all of it, and no part of it is a path or a command.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/source.hpp"
#include "sim/checkpoint.hpp"

namespace appell {

struct RunState {
    // of `appell run`, with their values: {"--set", "k=5"}, {"--interpret", ""}
    std::vector<std::pair<std::string, std::string>> options;
    std::string command;              // as the report shows it; it is not carried out
    std::string model, asked;         // as the manifest of the folder has them
    std::vector<SourceFile> sources;  // the model file, then what it includes
    Checkpoint::Values numbers;
};

[[nodiscard]] std::string run_state_json(const RunState& state, std::string_view version);
// E0824, with what was found there
[[nodiscard]] Diagnostics cannot_resume(const std::filesystem::path& folder, std::string found, std::string hint);
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
    // is nothing left, but for a line that is cut off?
    [[nodiscard]] bool ended() const;

private:
    [[nodiscard]] bool line(std::size_t numbers);

    std::FILE* file_;
    std::vector<char> line_;
    std::size_t length_ = 0;
};

}  // namespace appell
