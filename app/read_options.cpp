// --set and --limit as options of reading.
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"
#include "library/memory.hpp"

namespace appell {

double parse_number(std::string_view option, const std::string& text, const std::string& value) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc::result_out_of_range)
        throw UsageError(fmt::format("{} {}: '{}' is out of the range of double precision", option, text, value));
    if (error != std::errc() || end != value.data() + value.size() || value.empty())
        throw UsageError(fmt::format("{} {}: '{}' is not a number", option, text, value));
    return number;
}

namespace {

std::pair<std::string, double> name_and_number(std::string_view option, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw UsageError(fmt::format("{} wants NAME=VALUE, not '{}'", option, text));
    return {text.substr(0, equals), parse_number(option, text, text.substr(equals + 1))};
}

// memory=4GB -> memory=4000000000
std::string plain_size(const std::string& text) {
    for (const auto& [unit, bytes] : {std::pair{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}) {
        if (!text.ends_with(unit)) continue;
        const std::size_t equals = text.find('=');
        const std::string number = text.substr(equals + 1, text.size() - equals - 1 - 2);
        return fmt::format("{}={}", text.substr(0, equals), bytes * parse_number("--limit", text, number));
    }
    return text;
}

}  // namespace

ReadOptions read_options(const SharedOptions& shared) {
    ReadOptions options;
    for (const std::string& text : shared.set) {
        const auto [name, value] = name_and_number("--set", text);
        options.set.insert_or_assign(name, value);  // the last one wins
    }
    const std::map<std::string, std::size_t Limits::*> limits{{"source_bytes", &Limits::source_bytes},
                                                              {"include_depth", &Limits::include_depth},
                                                              {"nesting", &Limits::nesting},
                                                              {"statements", &Limits::statements},
                                                              {"family_size", &Limits::family_size},
                                                              {"nodes", &Limits::nodes},
                                                              {"diagnostics", &Limits::diagnostics},
                                                              {"output_rows", &Limits::output_rows},
                                                              {"steps", &Limits::steps},
                                                              {"solve_entries", &Limits::solve_entries},
                                                              {"events", &Limits::events},
                                                              {"memory", &Limits::memory}};
    bool own_nodes = false;
    for (const std::string& asked : shared.limit) {
        const std::string text = asked.starts_with("memory=") ? plain_size(asked) : asked;
        const auto [name, value] = name_and_number("--limit", text);
        const auto found = limits.find(name);
        if (found == limits.end()) {
            std::vector<std::string> names;
            for (const auto& [known, member] : limits) names.push_back(known);
            throw UsageError(fmt::format("--limit {}: the limits are {}", text, fmt::join(names, ", ")));
        }
        const bool memory = name == "memory";
        if (!(value >= 1) || value > (memory ? 1e15 : 4e9) || value != std::floor(value))
            throw UsageError(memory ? fmt::format("--limit {}: a size such as 500MB or 4GB is needed", asked)
                                    : fmt::format("--limit {}: a whole number from 1 to 4e9 is needed", text));
        options.limits.*(found->second) = static_cast<std::size_t>(value);
        own_nodes = own_nodes || name == "nodes";
    }
    if (!own_nodes) options.limits.nodes = limits_within(options.limits.memory).nodes;
    return options;
}

}  // namespace appell
