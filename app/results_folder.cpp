#include "results_folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "report/json_text.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

// options that say where results go, or how they are shown, but not what they are
constexpr std::array<std::string_view, 2> k_with_value{"--out", "--threads"};
constexpr std::array<std::string_view, 2> k_alone{"--force", "--json"};

// an argument that makes no difference to the results, and how many further ones belong to it
bool is_beside(const std::string& argument, std::size_t& more) {
    more = 0;
    for (const std::string_view option : k_with_value) {
        if (argument == option) more = 1;
        if (argument == option || argument.starts_with(std::string(option) + "=")) return true;
    }
    return std::find(k_alone.begin(), k_alone.end(), argument) != k_alone.end();
}

std::string quoted(const std::string& argument) {
    const bool plain = !argument.empty() && argument.find_first_not_of(
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                "0123456789_-+=./,:@%") == std::string::npos;
    if (plain) return argument;
    std::string out = "'";
    for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string joined(const std::vector<std::string>& arguments) {
    std::string out;
    for (std::size_t i = 0, more = 0; i < arguments.size(); ++i) {
        if (is_beside(arguments[i], more))
            i += more;
        else
            out += (out.empty() ? "" : " ") + quoted(arguments[i]);
    }
    return out;
}

// An option with its values, --set=x or --set x; numbers with a sign are values.
struct GivenOption {
    std::string name;
    std::vector<std::string> values;
};

bool is_option(const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' && argument[1] != '.' && (argument[1] < '0' || argument[1] > '9');
}

// Options in one order and one form, so that commands that ask for the same compare equal. Those of one name keep theirs.
std::vector<std::string> in_order(const std::vector<std::string>& arguments) {
    std::vector<GivenOption> options;
    for (const std::string& argument : arguments) {
        if (!is_option(argument)) {
            if (options.empty()) options.emplace_back();
            options.back().values.push_back(argument);
            continue;
        }
        const std::size_t sign = argument.starts_with("--") ? argument.find('=') : std::string::npos;
        options.push_back({argument.substr(0, sign), {}});
        if (sign != std::string::npos) options.back().values.push_back(argument.substr(sign + 1));
    }
    std::ranges::stable_sort(options, {}, &GivenOption::name);
    std::vector<std::string> out;
    for (const GivenOption& option : options) {
        if (!option.name.empty()) out.push_back(option.name);
        out.insert(out.end(), option.values.begin(), option.values.end());
    }
    return out;
}

// as JSON keeps it
std::string utf8(const std::string& text) {
    return nlohmann::json::parse(json_text(nlohmann::json(text), -1)).get<std::string>();
}

}  // namespace

std::string default_folder(const std::string& file, const std::string& system, const std::string& ending) {
    std::error_code error;
    const std::string name = fs::is_regular_file(file, error) ? fs::path(file).filename().replace_extension().string() : system;
    return name + ending;
}

OutputAuthor author_of(const std::string& command, const std::string& file, const SharedOptions& shared) {
    std::vector<std::string> options(shared.arguments.begin() + (shared.arguments.empty() ? 0 : 1), shared.arguments.end());
    if (const auto at = std::find(options.begin(), options.end(), file); at != options.end()) options.erase(at);
    std::error_code error;
    const fs::path model = fs::weakly_canonical(file, error);
    return {command, {utf8(error ? file : model.string()), utf8(joined(in_order(options)))}, shared.force};
}

std::string command_text(const SharedOptions& shared) { return utf8("appell " + joined(shared.arguments)); }

}  // namespace appell
