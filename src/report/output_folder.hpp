// A folder of results, all or nothing. Files are written into a partial folder first; commit() moves them to their places at
// once, so that a reader never sees half a file, and a run that is killed at any moment leaves what was there before, or all
// that was committed.
//
// A new folder appears by one rename, from .NAME.appell-partial beside it. In a folder that is there, files are staged in
// FOLDER/.appell/partial; one rename makes that FOLDER/.appell/finished, and what stands there is moved to its places one by one:
// by this process, or, where it is killed in between, by the next one that opens the folder.
//
// Only files that the folder's manifest lists, and that are still what was written, are replaced or removed
// (folder_manifest.hpp). While an OutputFolder lives nobody else can make one of the same folder (folder_lock.hpp). Failures are
// diagnostics: E0801 with the path and the system's reason, E0816 for files that are in the way, E0876 for a folder in use.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/folder_manifest.hpp"

namespace appell {

// who writes, as the manifest will have it
struct OutputAuthor {
    std::string command;
    FolderManifest::Given given;
    bool force = false;  // files that are in the way are replaced
};

class OutputFolder {
public:
    // Takes the folder, makes its parents where they are missing, finishes what a process that was killed had committed, and
    // removes what it had not.
    static Result<OutputFolder> create(const std::filesystem::path& target, OutputAuthor author = {});

    OutputFolder(OutputFolder&&) noexcept;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();  // removes what was not committed

    // Before anything is computed: may files of these names be written? E0816 where one is in the way; W0879 where results that
    // another command line left will be replaced, for which `same_run` is not asked.
    [[nodiscard]] Diagnostics claim(std::span<const std::string> names, bool same_run = false);

    // names are relative and stay inside: "trajectory.csv", "plots/energy.svg"
    [[nodiscard]] Diagnostics write(const std::string& name, std::string_view content);
    // where a file that is written piece by piece goes until the commit
    [[nodiscard]] std::filesystem::path staged(const std::string& name) const;
    // such a file, as far as it is written; without a mark the commit reads the file to make one
    void mark(const std::string& name, const FileMark& mark);
    // with the next commit
    void remove(const std::string& name);
    // The first one replaces all that the same command left there before; later ones add to it.
    [[nodiscard]] Diagnostics commit();

    [[nodiscard]] const std::filesystem::path& target() const;
    // What was made so far and holds no results, the innermost first: files, and folders that can go when they are empty.
    [[nodiscard]] std::vector<std::filesystem::path> made() const;

private:
    struct State;

    explicit OutputFolder(std::unique_ptr<State> state);
    static Diagnostics open_target(State& state);
    static Diagnostics open_stage(State& state);
    [[nodiscard]] Diagnostics next_manifest(FolderManifest& next) const;
    [[nodiscard]] Diagnostics commit_new(const FolderManifest& next);
    [[nodiscard]] Diagnostics commit_into_target(const FolderManifest& next);

    std::unique_ptr<State> state_;
};

// Is a command at work in the folder?
[[nodiscard]] bool is_being_written(const std::filesystem::path& folder);

// A folder whose last commit was cut short is put in order, if nobody is at work there; otherwise nothing happens.
void finish_interrupted_commit(const std::filesystem::path& folder);

}  // namespace appell
