#include "report/recorded_run.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <new>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/file_text.hpp"
#include "report/output_folder.hpp"
#include "report/run_state.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

// of a model, or of what is said about a run
constexpr std::uintmax_t k_largest_text = 512u << 20;
constexpr std::size_t k_longest_header = 64u << 20;

std::string without_blanks(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != ' ' && c != '\t') out += c;
    return out;
}

// The first line of a table, fields quoted as RFC 4180 says.
std::vector<std::string> header_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> out(1);
    bool quoted = false;
    std::size_t length = 0;
    for (int c = file.get(); c != EOF && (quoted || c != '\n') && length < k_longest_header; c = file.get(), ++length) {
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

std::string wrong_row(const fs::path& path, std::size_t row) {
    return fmt::format("{}: row {} is missing or another one", path.filename().string(), row + 1);
}

// The columns of a table behind those that are there. What is wrong with it, if anything: the summary counts `least` rows, and
// a run that was resumed since may have more, the last one cut off.
std::string append_table(const fs::path& path, std::size_t least, RecordedRun& run) {
    const std::vector<std::string> header = header_of(path);
    const std::size_t first = run.columns.size(), skipped = first == 0 ? 0 : 1;  // t is there
    const std::size_t most = first == 0 ? std::numeric_limits<std::size_t>::max() : run.rows();
    for (std::size_t i = skipped; i < header.size(); ++i) {
        run.columns.push_back(header[i]);
        run.values.emplace_back();
    }
    StoredRows rows(path);
    std::vector<double> row(header.size());
    std::size_t count = 0;
    for (; count < most && rows.next(row); ++count) {
        if (first > 0 && row.front() != run.values.front()[count]) return wrong_row(path, count);
        for (std::size_t i = skipped; i < row.size(); ++i) run.values[first + i - skipped].push_back(row[i]);
    }
    if (count < least || (count < most && !rows.ended())) return wrong_row(path, count);
    for (std::vector<double>& column : run.values) column.resize(count);
    return "";
}

// how many rows the run had written, too
std::size_t read_summary(const Json& summary, RecordedRun& run) {
    if (summary.at("schema") != 1) throw std::runtime_error("another version wrote it");
    if (summary.contains("set"))
        for (const auto& [name, value] : summary["set"].items()) run.set[name] = value.get<double>();
    if (summary.contains("includes"))
        for (const auto& [name, text] : summary["includes"].items()) run.includes[name] = text.get<std::string>();
    run.damped = summary.at("options").at("stabilize") == "baumgarte";
    if (summary.contains("forces"))
        for (const Json& column : summary["forces"].at("columns"))
            if (column.contains("unit")) run.units[column.at("name")] = column.at("unit");
    return summary.at("rows").get<std::size_t>();
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
    for (const fs::path& file : {model, folder / "summary.json"})
        if (const std::uintmax_t size = fs::file_size(file, error); !error && size > k_largest_text)
            return refuse(fmt::format("{} has {} bytes, more than any run writes", file.filename().string(), size),
                          "run the model again");
    std::optional<std::string> text = file_text(model, k_largest_text);
    const std::optional<std::string> summary = file_text(folder / "summary.json", k_largest_text);
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
    std::size_t least = 0;
    try {
        least = read_summary(Json::parse(*summary), run);
    } catch (const std::bad_alloc&) {
        throw;  // the summary is none the worse for it
    } catch (const std::exception& problem) {
        return refuse(fmt::format("summary.json: {}", problem.what()), "run the model again");
    }
    std::string wrong = append_table(table, least, run);
    if (run.columns.front() != "t" || (wrong.empty() && run.rows() == 0))
        return refuse("trajectory.csv holds no rows", "run the model again");
    run.forces = run.columns.size();
    if (wrong.empty() && fs::is_regular_file(forces, error)) wrong = append_table(forces, least, run);
    if (!wrong.empty()) return refuse(std::move(wrong), "run the model again");
    result.value = std::move(run);
    return result;
}

}  // namespace appell
