#include "report/run_writer.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

namespace appell {

namespace fs = std::filesystem;

namespace {

constexpr const char *k_state = "state.json", *k_summary = "summary.json", *k_forces = "forces.csv", *k_report = "report.html";

// Plots of an earlier run into the same folder would be taken for plots of this one: NN_name.svg that this run did not write.
void remove_older_plots(const fs::path& folder, const std::vector<NamedPlot>& plots) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        const bool numbered = name.size() > 7 && digit(name[0]) && digit(name[1]) && name[2] == '_' && name.ends_with(".svg");
        const auto written = [&](const NamedPlot& plot) { return plot.name + ".svg" == name; };
        if (numbered && std::none_of(plots.begin(), plots.end(), written)) fs::remove(entry.path(), error);
    }
}

}  // namespace

RunWriter::RunWriter(OutputFolder folder, std::string model_text, bool resumes)
    : folder_(std::move(folder)), model_text_(std::move(model_text)), resumes_(resumes) {}

void RunWriter::begin(const Run& run) {
    visible_ = run.layout.visible;
    const auto open = [&](const char* name, std::size_t first, std::size_t end) {
        std::vector<std::string> columns{"t"};
        columns.insert(columns.end(), run.columns.begin() + static_cast<std::ptrdiff_t>(first),
                       run.columns.begin() + static_cast<std::ptrdiff_t>(end));
        return std::make_unique<CsvWriter>(folder_.staged(name), columns, folder_.target() / name);
    };
    trajectory_ = open("trajectory.csv", 0, visible_);
    if (run.layout.forces_frame.empty()) return;
    forces_end_ = run.layout.forces_end;
    forces_ = open(k_forces, visible_, forces_end_);
}

void RunWriter::row(double t, std::span<const double> columns) {
    trajectory_->row(t, columns.first(visible_));
    if (forces_) forces_->row(t, columns.subspan(visible_, forces_end_ - visible_));
}

bool RunWriter::failed() const {
    return problems_.has_errors() || (trajectory_ && trajectory_->failed()) || (forces_ && forces_->failed());
}

Diagnostics RunWriter::write(const std::string& name, std::string_view content) {
    return published_ ? write_file(folder_.target() / name, content) : folder_.write(name, content);
}

// what is left of an earlier run must not be taken for parts of this one
void RunWriter::publish() {
    problems_.append(folder_.write("model.appell", model_text_));
    if (problems_.has_errors()) return;
    std::error_code error;
    const fs::path& target = folder_.target();
    if (!resumes_) fs::remove(target / k_state, error);
    fs::remove(target / k_summary, error);
    fs::remove(target / k_report, error);
    if (!forces_) fs::remove(target / k_forces, error);
    if (fs::exists(target, error)) remove_older_plots(target, {});
    problems_.append(folder_.commit());
    published_ = true;
}

void RunWriter::save(const std::string& state) {
    trajectory_->flush();
    if (forces_) forces_->flush();
    if (failed()) return;
    if (!published_) publish();
    // after the rows it counts
    if (!problems_.has_errors()) problems_.append(write(k_state, state));
}

// the rows of a run that could not go on writing are where they were saved last; what was never saved is removed
Diagnostics RunWriter::with_what_is_left(const Diagnostics& problems) const {
    Diagnostics out;
    for (Diagnostic d : problems.all()) {
        if (published_) {
            d.hint = fmt::format("make room; the rows up to there are kept, and `appell run --resume {}` goes on",
                                 folder_.target().string());
        } else {
            d.hint += "; no rows of this run are kept: it had not saved any yet";
        }
        out.add(std::move(d));
    }
    return out;
}

Diagnostics RunWriter::finish(const std::string& summary, const std::vector<NamedPlot>& plots, bool resumable) {
    problems_.append(trajectory_->finish());
    if (forces_) problems_.append(forces_->finish());
    if (problems_.has_errors()) return with_what_is_left(problems_);
    problems_.append(write(k_summary, summary));
    if (!report_.empty()) problems_.append(write(k_report, report_));
    for (const NamedPlot& plot : plots) problems_.append(write(plot.name + ".svg", plot.svg));
    if (!published_) {
        problems_.append(folder_.write("model.appell", model_text_));
        if (!problems_.has_errors()) problems_.append(folder_.commit());
    }
    if (problems_.has_errors()) return problems_;
    std::error_code error;
    remove_older_plots(folder_.target(), plots);
    if (!forces_) fs::remove(folder_.target() / k_forces, error);
    if (report_.empty()) fs::remove(folder_.target() / k_report, error);
    if (!resumable) fs::remove(folder_.target() / k_state, error);
    return problems_;
}

}  // namespace appell
