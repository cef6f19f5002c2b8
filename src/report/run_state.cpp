#include "report/run_state.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.hpp"
#include "base/number_format.hpp"
#include "report/file_text.hpp"
#include "report/json_text.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities: they are words
Json to_json(double value) { return std::isfinite(value) ? Json(value) : Json(round_trip(value)); }

double number_from(const Json& json) {
    if (json.is_number()) return json.get<double>();
    const std::string word = json.is_string() ? json.get<std::string>() : "";
    if (word == "nan") return std::nan("");
    if (word != "inf" && word != "-inf") throw std::runtime_error("a number was expected");
    return word == "inf" ? HUGE_VAL : -HUGE_VAL;
}

}  // namespace

namespace {

constexpr int k_schema = 2;
constexpr std::uintmax_t k_largest_file = 512u << 20;
// of a table: names of columns, and a number with its separator
constexpr std::size_t k_longest_header = 64u << 20, k_longest_number = 32;
constexpr std::size_t k_most_options = 10'000, k_longest_name = 1'000, k_longest_command = 1u << 20;

std::string hash_text(const Json& run) { return fmt::format("{:016x}", content_hash(json_text(run, -1))); }

std::string text_of(const Json& json, std::size_t most, const char* what) {
    if (!json.is_string() || json.get_ref<const std::string&>().size() > most)
        throw std::runtime_error(fmt::format("{} is no text of at most {} bytes", what, most));
    return json.get<std::string>();
}

const Json& part(const Json& json, const char* name, Json::value_t type) {
    const auto found = json.find(name);
    if (found == json.end() || found->type() != type)
        throw std::runtime_error(fmt::format("`{}` is missing or of another kind", name));
    return *found;
}

RunState from_json(const Json& run) {
    RunState state;
    const Json& options = part(run, "options", Json::value_t::array);
    if (options.size() > k_most_options) throw std::runtime_error("too many options");
    for (const Json& option : options) {
        if (!option.is_array() || option.size() != 2) throw std::runtime_error("an option is no pair of texts");
        state.options.emplace_back(text_of(option[0], k_longest_name, "an option"),
                                   text_of(option[1], k_longest_command, "the value of an option"));
    }
    state.command = text_of(part(run, "command", Json::value_t::string), k_longest_command, "`command`");
    state.model = text_of(part(run, "model", Json::value_t::string), k_longest_command, "`model`");
    state.asked = text_of(part(run, "asked", Json::value_t::string), k_longest_command, "`asked`");
    for (const Json& source : part(run, "sources", Json::value_t::array)) {
        if (!source.is_object()) throw std::runtime_error("a source is no object");
        state.sources.push_back({text_of(part(source, "name", Json::value_t::string), k_longest_command, "the name of a source"),
                                 part(source, "text", Json::value_t::string).get<std::string>()});
    }
    if (state.sources.empty()) throw std::runtime_error("there is no model");
    for (const auto& [name, list] : part(run, "numbers", Json::value_t::object).items()) {
        if (!list.is_array()) throw std::runtime_error(fmt::format("the numbers `{}` are no list", name));
        std::vector<double>& values = state.numbers[name];
        for (const Json& value : list) values.push_back(number_from(value));
    }
    return state;
}

}  // namespace

std::string run_state_json(const RunState& state, std::string_view version) {
    Json options = Json::array(), sources = Json::array(), numbers = Json::object();
    for (const auto& [name, value] : state.options) options.push_back(Json::array({name, value}));
    for (const SourceFile& file : state.sources) sources.push_back({{"name", file.name}, {"text", file.text}});
    for (const auto& [name, values] : state.numbers) {
        Json list = Json::array();
        for (const double value : values) list.push_back(to_json(value));
        numbers[name] = std::move(list);
    }
    Json run{{"options", std::move(options)}, {"command", state.command},      {"model", state.model},
             {"asked", state.asked},          {"sources", std::move(sources)}, {"numbers", std::move(numbers)}};
    // names of files that are not UTF-8 change on their way through JSON, and the hash is that of what is read back
    const std::string hash = hash_text(run);
    return json_text(Json{{"schema", k_schema}, {"appell", version}, {"hash", hash}, {"run", std::move(run)}}, -1) + "\n";
}

Diagnostics cannot_resume(const std::filesystem::path& folder, std::string found, std::string hint) {
    Diagnostics out;
    out.add({Code::E0824,
             {},
             fmt::format("the run in {} can not be resumed", folder.string()),
             std::move(found),
             fmt::format("{} of a run that was stopped", (folder / "state.json").string()),
             std::move(hint)});
    return out;
}

Result<RunState> read_run_state(const std::filesystem::path& folder, std::string_view version) {
    const std::filesystem::path path = folder / "state.json";
    const auto refuse = [&](std::string found, std::string hint) -> Result<RunState> {
        return {std::nullopt, cannot_resume(folder, std::move(found), std::move(hint))};
    };
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        const bool finished = std::filesystem::exists(folder / "summary.json", error);
        return refuse(finished ? "the run has ended: there is no state.json" : "there is no state.json",
                      finished ? "run it again with another --until to go further" : "");
    }
    if (!std::filesystem::is_regular_file(path, error)) return refuse("state.json is no file", "run the model again");
    if (std::filesystem::file_size(path, error) > k_largest_file || error)
        return refuse("state.json is larger than any state", "run the model again");
    const std::optional<std::string> text = file_text(path, k_largest_file);
    if (!text) return refuse("state.json cannot be read", "");
    try {
        const Json json = Json::parse(*text);
        if (!json.is_object()) throw std::runtime_error("it is no object");
        // numbers of one version mean something else to another one
        const std::string written_by = text_of(part(json, "appell", Json::value_t::string), k_longest_name, "`appell`");
        if (json.value("schema", Json()) != k_schema || written_by != version)
            return refuse(fmt::format("it was written by appell {}", written_by), "run the model again");
        const Json& run = part(json, "run", Json::value_t::object);
        if (part(json, "hash", Json::value_t::string) != hash_text(run))
            throw std::runtime_error("it is not what was saved: the hash differs");
        return {from_json(run), {}};
    } catch (const std::bad_alloc&) {
        throw;  // the state is none the worse for it
    } catch (const std::exception& problem) {
        return refuse(fmt::format("state.json: {}", problem.what()), "run the model again");
    }
}

StoredRows::StoredRows(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
    std::size_t length = 0;
    for (int c = 0; file_ != nullptr && c != EOF && c != '\n' && length < k_longest_header; ++length) c = ::getc_unlocked(file_);
}

StoredRows::~StoredRows() {
    if (file_ != nullptr) std::fclose(file_);
}

// The next line, with its end, of so many numbers at most: what is no table may be one line of any length.
bool StoredRows::line(std::size_t numbers) {
    line_.resize(numbers * k_longest_number + 1);
    line_.front() = '\0';
    if (file_ == nullptr || std::fgets(line_.data(), static_cast<int>(line_.size()), file_) == nullptr) return false;
    length_ = std::strlen(line_.data());  // a zero in the line ends it too soon, without its end
    return length_ > 0 && line_[length_ - 1] == '\n';
}

bool StoredRows::next(std::span<double> row) {
    if (!line(row.size())) return false;
    const char* from = line_.data();
    const char* const end = from + length_;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto [rest, error] = std::from_chars(from, end, row[i]);
        if (error != std::errc() || rest == end || *rest != (i + 1 == row.size() ? '\n' : ',')) return false;
        from = rest + 1;
    }
    return from == end;
}

bool StoredRows::ended() const { return file_ != nullptr && std::feof(file_) != 0; }

}  // namespace appell
