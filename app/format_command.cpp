// `appell format`: model files in the canonical layout.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "lang/format.hpp"
#include "library/model_files.hpp"
#include "report/files.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Result<std::string> text_of(const std::string& file, const SharedOptions& shared) {
    Result<std::string> out;
    if (file == "-") {
        out = read_model_stream(std::cin, "standard input", read_options(shared).limits);
        if (std::ferror(stdin) == 0) return out;
        Result<std::string> failed;
        failed.diagnostics.add(
            {Code::E0001, {}, "cannot read the standard input", system_message(errno), "a model file", "name the file"});
        return failed;
    }
    Result<ModelText> text = read_model_file(file, read_options(shared));
    out.diagnostics = text.diagnostics;
    if (text.ok()) out.value = std::move(text->text);
    return out;
}

// what comes through a pipe goes to the standard output: there is no file to be replaced
bool is_pipe(const std::string& file) {
    std::error_code error;
    return fs::is_fifo(file, error);
}

// a link stays a link, and the file keeps its rights
Diagnostics replace(const std::string& file, const std::string& text) {
    std::error_code error, none;
    const fs::path real = fs::canonical(file, none);
    const fs::perms rights = fs::status(file, error).permissions();
    Diagnostics out = write_file(none ? fs::path(file) : real, text);
    if (!out.has_errors()) fs::permissions(file, rights, error);
    return out;
}

}  // namespace

int format_command(const std::vector<std::string>& files, bool check, const SharedOptions& shared) {
    Derivation told;  // diagnostics and the texts they quote
    Json list = Json::array();
    bool differ = false;
    for (const std::string& file : files) {
        Result<std::string> text = text_of(file, shared);
        told.diagnostics.append(text.diagnostics);
        if (!text.ok()) continue;
        Result<std::string> laid_out = format_model(file == "-" ? "standard input" : file, *text, told.sources);
        told.diagnostics.append(laid_out.diagnostics);
        if (!laid_out.ok()) continue;
        const bool changed = *laid_out != *text;
        differ = differ || changed;
        list.push_back({{"name", file}, {"changed", changed}});
        if (check) {
            if (changed && !shared.json) fmt::print("{}\n", file);
        } else if (file == "-" || is_pipe(file)) {
            if (!shared.json) fmt::print("{}", *laid_out);
        } else if (changed) {
            told.diagnostics.append(replace(file, *laid_out));
        }
    }
    if (shared.json)
        fmt::print("{}\n", json_text(Json{{"schema", 1},
                                          {"files", list},
                                          {"diagnostics", Json::parse(diagnostics_json(told.diagnostics, told.sources))}}));
    const int problems = finish(told, shared, true);
    return problems != 0 || (check && differ) ? 1 : 0;
}

}  // namespace appell
