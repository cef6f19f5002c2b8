// `appell export`: the model as source code in a folder.
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "library/model_files.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"
#include "results_folder.hpp"

namespace appell {

using Json = nlohmann::ordered_json;

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
    const std::string out = command.out.empty() ? default_folder(file, d.model->name, ".export") : command.out;
    std::vector<std::string> names;
    for (const ExportedFile& written : *files) names.push_back(written.name);
    Result<OutputFolder> folder = OutputFolder::create(out, author_of("export", file, shared));
    Diagnostics writing = folder.diagnostics;
    if (folder.ok()) writing.append(folder->claim(names));
    for (std::size_t i = 0; !writing.has_errors() && i < files->size(); ++i)
        writing.append(folder->write((*files)[i].name, (*files)[i].text));
    if (!writing.has_errors()) writing.append(folder->commit());
    d.diagnostics.append(writing);
    if (writing.has_errors()) return finish(d, shared, false);
    if (shared.json) {
        Json list = Json::array();
        for (const ExportedFile& written : *files) list.push_back({{"name", written.name}, {"bytes", written.text.size()}});
        fmt::print("{}\n", json_text(Json{{"schema", 1},
                                          {"system", d.model->name},
                                          {"folder", out},
                                          {"files", list},
                                          {"diagnostics", Json::parse(diagnostics_json(d.diagnostics, d.sources))}}));
    } else {
        fmt::print("{} in {}/: {}\n", d.model->name, out, fmt::join(names, ", "));
    }
    return finish(d, shared, true);
}

}  // namespace appell
