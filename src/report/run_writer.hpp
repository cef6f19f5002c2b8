// The files of a run, as it goes. Rows go to trajectory.csv, and forces.csv where forces are wanted, when they come, so that a
// run of any length needs no more memory than its plots do. A run that ends soon appears in its folder all at once. A long one
// appears there with its first save() and from then on is never less than the rows up to the last one, with the state to resume
// it from: tables grow by whole rows, other files are replaced by one rename each (output_folder.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "report/files.hpp"
#include "report/output_folder.hpp"
#include "report/run_files.hpp"
#include "report/run_record.hpp"

namespace appell {

// What a run may write, by name.
[[nodiscard]] std::vector<std::string> run_file_names(const std::vector<std::string>& plots, bool forces, bool report);

class RunWriter final : public RowConsumer {
public:
    // `resumed`: the folder has rows of this run, and the state to go on from, until others replace them
    RunWriter(OutputFolder folder, std::string model_text, bool resumed);

    void begin(const Run& run) override;
    void row(double t, std::span<const double> columns) override;
    // a file can not be written: nothing is gained by going on
    [[nodiscard]] bool failed() const;
    // all rows so far, then the state
    void save(const std::string& state);
    // the page of the run, if there is to be one
    void add_report(std::string html) { report_ = std::move(html); }
    // the rest of the files; the state stays if the run can be resumed
    [[nodiscard]] Diagnostics finish(const std::string& summary, const std::vector<NamedPlot>& plots, bool resumable);

private:
    void mark_tables(bool grow);
    [[nodiscard]] bool is_in_place() const;
    [[nodiscard]] Diagnostics with_what_is_left(const Diagnostics& problems) const;

    OutputFolder folder_;
    std::string model_text_, report_;
    bool published_ = false, resumed_;
    std::size_t visible_ = 0, forces_end_ = 0;
    std::unique_ptr<CsvWriter> trajectory_, forces_;
    Diagnostics problems_;
};

}  // namespace appell
