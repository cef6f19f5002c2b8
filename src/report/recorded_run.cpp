#include "report/recorded_run.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/output_folder.hpp"
#include "report/run_state.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::optional<std::string> text_of(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || file.bad()) return std::nullopt;
    return std::move(text).str();
}

std::string without_blanks(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != ' ' && c != '\t') out += c;
    return out;
}

// the first line of a table, fields quoted as RFC 4180 says
std::vector<std::string> header_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> out(1);
    bool quoted = false;
    for (int c = file.get(); c != EOF && (quoted || c != '\n'); c = file.get()) {
        if (c == '"' && quoted && file.peek() == '"')
            out.back() += static_cast<char>(file.get());
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else
            out.back() += static_cast<char>(c);
    }
    return out;
}

// the columns of a table, without the first `skipped`, behind those that are there
void append_table(const fs::path& path, std::size_t skipped, RecordedRun& run) {
    const std::vector<std::string> header = header_of(path);
    const std::size_t first = run.columns.size();
    for (std::size_t i = skipped; i < header.size(); ++i) {
        run.columns.push_back(header[i]);
        run.values.emplace_back();
    }
    StoredRows rows(path);
    std::vector<double> row(header.size());
    while (rows.next(row))
        for (std::size_t i = skipped; i < row.size(); ++i) run.values[first + i - skipped].push_back(row[i]);
}

void read_summary(const Json& summary, RecordedRun& run) {
    if (summary.at("schema") != 1) throw std::runtime_error("another version wrote it");
    if (summary.contains("set"))
        for (const auto& [name, value] : summary["set"].items()) run.set[name] = value.get<double>();
    if (summary.contains("includes"))
        for (const auto& [name, text] : summary["includes"].items()) run.includes[name] = text.get<std::string>();
    run.damped = summary.at("options").at("stabilize") == "baumgarte";
    if (summary.contains("forces"))
        for (const Json& column : summary["forces"].at("columns"))
            if (column.contains("unit")) run.units[column.at("name")] = column.at("unit");
}

}  // namespace

std::optional<std::size_t> RecordedRun::find(std::string_view column) const {
    const std::string wanted = without_blanks(column);
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (without_blanks(columns[i]) == wanted) return i;
    return std::nullopt;
}

Result<RecordedRun> read_recorded_run(const fs::path& folder) {
    Result<RecordedRun> result;
    const auto refuse = [&](std::string found, std::string hint) {
        result.diagnostics.add({Code::E0871,
                                {},
                                fmt::format("{} holds no run that can be plotted", folder.string()),
                                std::move(found),
                                "the folder that `appell run` wrote",
                                std::move(hint)});
        return result;
    };
    std::error_code error;
    if (!fs::exists(folder, error)) return refuse("there is no such folder", "`appell run FILE --out DIR` makes one");
    if (!fs::is_directory(folder, error)) return refuse("it is a file", "name the folder of the results");
    const fs::path model = folder / "model.appell", table = folder / "trajectory.csv", forces = folder / "forces.csv";
    RecordedRun run;
    std::optional<std::string> text = text_of(model);
    const std::optional<std::string> summary = text_of(folder / "summary.json");
    for (const fs::path& file : {model, table})
        if (!fs::is_regular_file(file, error))
            return refuse(fmt::format("there is no {}", file.filename().string()), "`appell run FILE --out DIR` writes it");
    if (!summary) {
        if (is_being_written(folder))
            return refuse("there is no summary.json: the run is still going", "plot it when it has ended");
        const bool stopped = fs::exists(folder / "state.json", error);
        return refuse("there is no summary.json",
                      stopped ? fmt::format("the run was stopped: `appell run --resume {}` goes on", folder.string())
                              : "run the model again");
    }
    if (!text) return refuse("model.appell can not be read", "");
    run.model_name = model.string();
    run.model_text = std::move(*text);
    try {
        read_summary(Json::parse(*summary), run);
    } catch (const std::exception& problem) {
        return refuse(fmt::format("summary.json: {}", problem.what()), "run the model again");
    }
    append_table(table, 0, run);
    if (run.columns.front() != "t" || run.rows() == 0) return refuse("trajectory.csv holds no rows", "run the model again");
    run.forces = run.columns.size();
    if (fs::is_regular_file(forces, error)) {
        const std::size_t before = run.forces;
        append_table(forces, 1, run);
        // the tables of two runs
        if (run.values.size() > before && run.values.back().size() != run.rows()) {
            run.columns.resize(before);
            run.values.resize(before);
        }
    }
    result.value = std::move(run);
    return result;
}

}  // namespace appell
