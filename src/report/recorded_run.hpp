// What `appell run` left in a folder, read back: the model, what was set, and the table of rows.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace appell {

struct RecordedRun {
    std::string model_name;  // path of the text
    std::string model_text;
    std::map<std::string, std::string> includes;  // by path from the model's folder
    std::map<std::string, double> set;            // what was given in place of the model's own values
    bool damped = false;                          // by Baumgarte: accelerations are not those of the equations of motion
    std::vector<std::string> columns;             // t first
    std::size_t forces = 0;                       // where those of forces.csv begin; the number of columns without any
    std::map<std::string, std::string> units;     // of columns that have one for certain
    std::vector<std::vector<double>> values;      // by column

    [[nodiscard]] std::size_t rows() const { return values.empty() ? 0 : values.front().size(); }
    // blanks do not matter
    [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
};

// Problems are diagnostics E0871.
[[nodiscard]] Result<RecordedRun> read_recorded_run(const std::filesystem::path& folder);

}  // namespace appell
