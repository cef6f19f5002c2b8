#include "report/run_state.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_format.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities: they are words
Json to_json(double value) { return std::isfinite(value) ? Json(value) : Json(round_trip(value)); }

double from_json(const Json& json) {
    if (json.is_number()) return json.get<double>();
    const auto word = json.get<std::string>();
    if (word == "nan") return std::nan("");
    if (word != "inf" && word != "-inf") throw std::runtime_error("a number was expected");
    return word == "inf" ? HUGE_VAL : -HUGE_VAL;
}

}  // namespace

std::string run_state_json(const RunState& state, std::string_view version) {
    Json sources = Json::array(), numbers = Json::object();
    for (const SourceFile& file : state.sources) sources.push_back({{"name", file.name}, {"text", file.text}});
    for (const auto& [name, values] : state.numbers) {
        Json list = Json::array();
        for (const double value : values) list.push_back(to_json(value));
        numbers[name] = std::move(list);
    }
    return Json{{"schema", 1}, {"appell", version}, {"arguments", state.arguments}, {"sources", sources}, {"numbers", numbers}}
               .dump() +
           "\n";
}

Result<RunState> read_run_state(const std::filesystem::path& folder, std::string_view version) {
    Result<RunState> result;
    const std::filesystem::path path = folder / "state.json";
    const auto refuse = [&](std::string found, std::string hint) {
        result.diagnostics.add({Code::E0824,
                                {},
                                fmt::format("the run in {} can not be resumed", folder.string()),
                                std::move(found),
                                fmt::format("{} of a run that was stopped", path.string()),
                                std::move(hint)});
        return result;
    };
    std::error_code error;
    if (!std::filesystem::exists(folder / "state.json", error)) {
        const bool finished = std::filesystem::exists(folder / "summary.json", error);
        return refuse(finished ? "the run has ended: there is no state.json" : "there is no state.json",
                      finished ? "run it again with another --until to go further" : "");
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    try {
        const Json json = Json::parse(text.str());
        // numbers of one version mean something else to another one
        if (json.at("schema") != 1 || json.at("appell").get<std::string>() != version)
            return refuse(fmt::format("it was written by appell {}", json.at("appell").get<std::string>()),
                          "run the model again");
        RunState state;
        state.arguments = json.at("arguments").get<std::vector<std::string>>();
        for (const Json& source : json.at("sources")) state.sources.push_back({source.at("name"), source.at("text")});
        for (const auto& [name, list] : json.at("numbers").items())
            for (const Json& value : list) state.numbers[name].push_back(from_json(value));
        for (const auto& [name, list] : json.at("numbers").items()) state.numbers.try_emplace(name);  // lists without entries
        if (state.sources.empty()) throw std::runtime_error("no model");
        result.value = std::move(state);
        return result;
    } catch (const std::exception& problem) {
        return refuse(problem.what(), "run the model again");
    }
}

StoredRows::StoredRows(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
    if (file_ != nullptr) (void)line();  // the header
}

StoredRows::~StoredRows() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(line_);
}

bool StoredRows::line() {
    length_ = file_ != nullptr ? ::getline(&line_, &room_, file_) : -1;
    return length_ > 0 && line_[length_ - 1] == '\n';
}

bool StoredRows::next(std::span<double> row) {
    if (!line()) return false;
    const char* from = line_;
    const char* const end = line_ + length_;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto [rest, error] = std::from_chars(from, end, row[i]);
        if (error != std::errc() || rest == end || *rest != (i + 1 == row.size() ? '\n' : ',')) return false;
        from = rest + 1;
    }
    return from == end;
}

}  // namespace appell
