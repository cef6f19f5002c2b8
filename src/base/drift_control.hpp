// What is done about drift off the constraints: one table for the language, the command line, the messages and the runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace appell {

enum class DriftControl : std::uint8_t { project, baumgarte, blajer, yoon, none };

struct DriftControlInfo {
    DriftControl control;
    std::string_view name;
    std::string_view description;
};

[[nodiscard]] std::span<const DriftControlInfo> drift_control_table();
[[nodiscard]] const DriftControlInfo& info(DriftControl control);
[[nodiscard]] const DriftControlInfo* find_drift_control(std::string_view name);  // null: there is none of this name
[[nodiscard]] std::vector<std::string> drift_control_names();

}  // namespace appell
