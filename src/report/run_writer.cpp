#include "report/run_writer.hpp"

#include <fmt/format.h>

namespace appell {

namespace {

constexpr const char *k_model = "model.appell", *k_trajectory = "trajectory.csv", *k_forces = "forces.csv",
                     *k_state = "state.json", *k_summary = "summary.json", *k_report = "report.html";

}  // namespace

std::vector<std::string> run_file_names(const std::vector<std::string>& plots, bool forces, bool report) {
    std::vector<std::string> out{k_model, k_trajectory, k_summary, k_state};
    if (forces) out.emplace_back(k_forces);
    if (report) out.emplace_back(k_report);
    for (const std::string& plot : plots) out.push_back(plot + ".svg");
    return out;
}

RunWriter::RunWriter(OutputFolder folder, std::string model_text, bool resumed)
    : folder_(std::move(folder)), model_text_(std::move(model_text)), resumed_(resumed) {}

void RunWriter::begin(const Run& run) {
    visible_ = run.layout.visible;
    const auto open = [&](const char* name, std::size_t first, std::size_t end) {
        std::vector<std::string> columns{"t"};
        columns.insert(columns.end(), run.columns.begin() + static_cast<std::ptrdiff_t>(first),
                       run.columns.begin() + static_cast<std::ptrdiff_t>(end));
        return std::make_unique<CsvWriter>(folder_.staged(name), columns, folder_.target() / name);
    };
    trajectory_ = open(k_trajectory, 0, visible_);
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

// the tables as far as they are written
void RunWriter::mark_tables(bool grow) {
    const auto mark = [&](const char* name, const CsvWriter& table) {
        folder_.mark(name, {table.size(), table.hash(), grow, {}});
    };
    mark(k_trajectory, *trajectory_);
    if (forces_) mark(k_forces, *forces_);
}

// The state comes into the folder together with the rows that it counts, and then behind them.
void RunWriter::save(const std::string& state) {
    trajectory_->flush();
    if (forces_) forces_->flush();
    if (failed()) return;
    mark_tables(true);
    if (!published_) problems_.append(folder_.write(k_model, model_text_));
    if (!problems_.has_errors()) problems_.append(folder_.write(k_state, state));
    if (problems_.has_errors()) return;
    problems_.append(folder_.commit());
    published_ = !problems_.has_errors();
}

// the rows of a run that could not go on writing are where they were saved last; what was never saved is removed
Diagnostics RunWriter::with_what_is_left(const Diagnostics& problems) const {
    Diagnostics out;
    for (Diagnostic d : problems.all()) {
        if (published_ || resumed_) {
            d.hint = fmt::format("make room; the rows that were saved are kept, and `appell run --resume {}` goes on",
                                 folder_.target().string());
        } else {
            d.hint += "; no rows of this run are kept: it had not saved any yet";
        }
        out.add(std::move(d));
    }
    return out;
}

// A folder that was saved into may be moved or removed before the run ends; the open tables follow it.
bool RunWriter::is_in_place() const {
    std::error_code error;
    const auto size = std::filesystem::file_size(folder_.target() / k_trajectory, error);
    return !error && size == trajectory_->size();
}

Diagnostics RunWriter::finish(const std::string& summary, const std::vector<NamedPlot>& plots, bool resumable) {
    problems_.append(trajectory_->finish());
    if (forces_) problems_.append(forces_->finish());
    if (problems_.has_errors()) return with_what_is_left(problems_);
    mark_tables(false);
    problems_.append(folder_.write(k_summary, summary));
    if (!report_.empty()) problems_.append(folder_.write(k_report, report_));
    for (const NamedPlot& plot : plots) problems_.append(folder_.write(plot.name + ".svg", plot.svg));
    if (!published_) problems_.append(folder_.write(k_model, model_text_));
    if (!resumable) folder_.remove(k_state);
    if (!problems_.has_errors()) problems_.append(folder_.commit());
    if (!problems_.has_errors() && !is_in_place()) {
        Diagnostics gone;
        gone.add({Code::E0801,
                  {},
                  fmt::format("{} no longer has the results", folder_.target().string()),
                  fmt::format("no {} of this run there", k_trajectory),
                  "a folder that stays where it is until the run has ended",
                  "it was moved or removed while the run went on: look there, or run again"});
        return gone;
    }
    return problems_.has_errors() && (published_ || resumed_) ? with_what_is_left(problems_) : problems_;
}

}  // namespace appell
