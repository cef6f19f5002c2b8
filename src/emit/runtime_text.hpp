// The fixed parts of exported code: real C sources in runtime/, carried by the program as text. They are compiled in the tests as
// they stand, with MODEL_ for the prefix of the model's names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace appell {

struct RuntimeSource {
    std::string_view name;  // "project.c"
    std::string_view text;
};

// all files of runtime/ (made by the build)
[[nodiscard]] std::span<const RuntimeSource> runtime_sources();
[[nodiscard]] std::string_view runtime_source(std::string_view name);

// Those definitions of the solver sources that `code` needs, and what they need, in an order that compiles. A definition is a
// paragraph of a source: what stands between empty lines.
[[nodiscard]] std::string needed_runtime(std::string_view code);

// MODEL_ replaced
[[nodiscard]] std::string with_prefix(std::string text, std::string_view prefix);

}  // namespace appell
