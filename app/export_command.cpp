// `appell export`: the model as source code in a folder.
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "library/model_files.hpp"
#include "report/files.hpp"
#include "report/run_files.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// Files of an earlier export say so at their beginning; any other file of the same name is somebody's work.
bool is_exported(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 2000> begin{};
    file.read(begin.data(), begin.size());
    return std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())).find("Exported by Appell") !=
           std::string_view::npos;
}

Diagnostics check_folder(const std::filesystem::path& folder, const std::vector<ExportedFile>& files) {
    Diagnostics out;
    std::error_code error;
    for (const ExportedFile& file : files)
        if (const std::filesystem::path path = folder / file.name; std::filesystem::exists(path, error) && !is_exported(path))
            out.add({Code::E0816,
                     {},
                     fmt::format("{} exists already, and is no file of an earlier export", path.string()),
                     "",
                     "a folder without it",
                     "take another folder with --out DIR; nothing was written"});
    return out;
}

}  // namespace

int export_command(const std::string& file, ExportCommand command, const SharedOptions& shared) {
    command.request.version = APPELL_VERSION;
    Derivation d;
    Result<ModelText> text = read_model_file(file, read_options(shared));
    if (text.ok())
        d = derive(*text);
    else
        d.diagnostics.append(text.diagnostics);
    const std::optional<std::vector<ExportedFile>> files = d.ok() ? export_code(d, command.request) : std::nullopt;
    if (!files) return finish(d, shared, false);
    const std::string out = command.out.empty() ? d.model->name + ".export" : command.out;
    Diagnostics writing = check_folder(out, *files);
    if (!writing.has_errors()) {
        Result<OutputFolder> folder = OutputFolder::create(out);
        writing.append(folder.diagnostics);
        for (std::size_t i = 0; folder.ok() && !writing.has_errors() && i < files->size(); ++i)
            writing.append(folder->write((*files)[i].name, (*files)[i].text));
        if (folder.ok() && !writing.has_errors()) writing.append(folder->commit());
    }
    d.diagnostics.append(writing);
    if (writing.has_errors()) return finish(d, shared, false);
    if (shared.json) {
        Json list = Json::array();
        for (const ExportedFile& written : *files) list.push_back({{"name", written.name}, {"bytes", written.text.size()}});
        fmt::print("{}\n", Json{{"schema", 1},
                                {"system", d.model->name},
                                {"folder", out},
                                {"files", list},
                                {"diagnostics", Json::parse(diagnostics_json(d.diagnostics, d.sources))}}
                               .dump(2));
    } else {
        std::vector<std::string> names;
        for (const ExportedFile& written : *files) names.push_back(written.name);
        fmt::print("{} in {}/: {}\n", d.model->name, out, fmt::join(names, ", "));
    }
    return finish(d, shared, true);
}

}  // namespace appell
