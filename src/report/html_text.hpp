// Text and numbers inside an HTML page. Whatever a model says, none of it becomes markup or code.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace appell {

// for text and for attribute values in double quotes
[[nodiscard]] std::string html_text(std::string_view text);

// JSON that stands in a script element: without any character that could end it or begin a comment
[[nodiscard]] std::string json_in_script(std::string_view json);

// little-endian bytes in base 64: exact, and much shorter than decimals
[[nodiscard]] std::string base64(std::span<const double> values);
[[nodiscard]] std::string base64(std::span<const float> values);

}  // namespace appell
