// JSON as text. Names of files need not be UTF-8, JSON must: bytes that are not are shown as U+FFFD.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace appell {

template <class Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = 2) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace appell
