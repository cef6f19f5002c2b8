// What a user of exported code sees, the same for C and C++: counts, indices, tables, the workspace. MODEL_ stands for the
// prefix.
#pragma once

#include <string>

#include "emit/exported_model.hpp"

namespace appell {

struct WorkSize {
    std::size_t numbers = 0, indices = 0;
};

[[nodiscard]] std::string interface_text(const ExportedModel& model, const WorkSize& work);
// the tables; `storage` is what stands before them
[[nodiscard]] std::string table_text(const ExportedModel& model, const std::string& storage);
// their declarations
[[nodiscard]] std::string table_declarations(const ExportedModel& model);

}  // namespace appell
