// `appell plot`: curves of a run that has been made, as a picture for a paper.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "pipeline/plot_run.hpp"
#include "report/files.hpp"
#include "report/json_text.hpp"
#include "report/output_folder.hpp"
#include "report/run_files.hpp"
#include "report/sealed_file.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// Cairo's largest picture, a little rounded
constexpr double k_most_pixels = 30000;

void check_usage(const PlotCommand& command, const std::string& ending) {
    if (command.out.empty()) throw UsageError("plot wants -o FILE: a name that ends in .svg, .pdf or .png");
    if (ending != ".svg" && ending != ".pdf" && ending != ".png")
        throw UsageError(fmt::format("-o {}: the name must end in .svg, .pdf or .png{}", command.out,
                                     ending.empty() ? "" : fmt::format(", not in {}", ending)));
    if (ending == ".png" && std::max(command.width, command.height) / 25.4 * command.dpi > k_most_pixels)
        throw UsageError(fmt::format("{} mm at {} dots per inch are too many pixels: at most {} along an edge",
                                     std::max(command.width, command.height), command.dpi, k_most_pixels));
    if (command.request.from && command.request.to && !(*command.request.from < *command.request.to))
        throw UsageError(
            fmt::format("--from {} --to {}: a range of some length is needed", *command.request.from, *command.request.to));
}

bool is_somebodys(const std::string& file) {
    std::error_code error;
    return std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::not_found && !is_sealed(file);
}

}  // namespace

int plot_command(const std::string& folder, PlotCommand command, const SharedOptions& shared) {
    const std::string ending = std::filesystem::path(command.out).extension().string();
    check_usage(command, ending);
    command.request.log_x = command.log.find('x') != std::string::npos;
    command.request.log_y = command.log.find('y') != std::string::npos;
    Derivation told;  // diagnostics and the texts they quote
    if (!shared.force && is_somebodys(command.out)) {
        told.diagnostics.add({Code::E0816,
                              {},
                              fmt::format("{} is in the way", command.out),
                              "a file that `appell plot` did not draw, or that was changed since",
                              "a new name, or a picture of `appell plot`",
                              "give another name with -o, or replace the file with --force; nothing was written"});
        return finish(told, shared, false);
    }
    finish_interrupted_commit(folder);
    const Result<RecordedRun> run = read_recorded_run(folder);
    told.diagnostics.append(run.diagnostics);
    if (!run.ok()) return finish(told, shared, false);
    PlotOfRun plot = plot_of_run(*run, command.request);
    told.diagnostics.append(plot.diagnostics);
    told.sources = plot.sources;
    if (!plot.spec) return finish(told, shared, false);
    plot.spec->title = command.title;
    plot.spec->width = command.width * k_pixels_per_millimetre;
    plot.spec->height = command.height * k_pixels_per_millimetre;
    const Figure figure = draw_plot(*plot.spec);
    const Diagnostics writing = write_file(command.out, with_seal(ending == ".svg"   ? figure_svg(figure)
                                                                  : ending == ".pdf" ? figure_pdf(figure)
                                                                                     : figure_png(figure, command.dpi)));
    told.diagnostics.append(writing);
    if (writing.has_errors()) return finish(told, shared, false);
    if (shared.json) {
        Json curves = Json::array();
        for (const Curve& curve : plot.spec->curves) curves.push_back({{"label", curve.label}, {"points", curve.x.size()}});
        fmt::print("{}\n", json_text(Json{{"schema", 1},
                                          {"file", command.out},
                                          {"curves", curves},
                                          {"diagnostics", Json::parse(diagnostics_json(told.diagnostics, told.sources))}}));
    } else {
        fmt::print("{}\n", command.out);
    }
    return finish(told, shared, true);
}

}  // namespace appell
