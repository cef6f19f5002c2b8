// NOTE: nothing is synced to the medium. A rename keeps readers of the running system safe; what a power cut may do to
// results that can be computed again is not worth a disk flush per file.
#include "report/output_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "report/files.hpp"
#include "report/folder_lock.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

constexpr const char *k_home = ".appell", *k_manifest = "manifest.json", *k_lock = "lock", *k_partial = "partial",
                     *k_finished = "finished";
// of a commit, among the files that are to be moved
constexpr const char* k_next_manifest = ".manifest.json";
constexpr std::size_t k_shown = 5;

// a trailing slash would make the parent of "out/" be "out"
fs::path plain_target(const fs::path& target) {
    fs::path path = target.lexically_normal();
    if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
    return path;
}

// a folder itself, no link to one: 0, or the system's error
int make_folder(const fs::path& path) {
    if (::mkdir(path.c_str(), 0777) == 0) return 0;
    const int failure = errno;
    std::error_code error;
    if (failure == EEXIST && fs::symlink_status(path, error).type() == fs::file_type::directory) return 0;
    return failure;
}

bool is_there(const fs::path& path) {
    std::error_code error;
    const fs::file_type type = fs::symlink_status(path, error).type();
    return type != fs::file_type::not_found && type != fs::file_type::none;
}

// below a folder, relative to it
std::vector<std::string> files_in(const fs::path& folder, std::error_code& error) {
    std::vector<std::string> out;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const fs::path name = entry->path().lexically_relative(folder);
        if (*name.begin() == k_home || *name.begin() == k_next_manifest) continue;
        if (!entry->is_directory(error)) out.push_back(name.string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool is_ours(const fs::path& target, const FolderManifest& manifest, const std::string& name) {
    const auto entry = manifest.files.find(name);
    return entry != manifest.files.end() && is_as_written(target / name, entry->second);
}

Diagnostics in_the_way(const fs::path& target, const FolderManifest& manifest, const std::string& command,
                       const std::vector<std::string>& names, const std::string& hint) {
    std::vector<std::string> shown;
    for (const std::string& name : names) {
        if (shown.size() == k_shown) break;
        const auto entry = manifest.files.find(name);
        shown.push_back(entry == manifest.files.end() ? name + " was not written by appell"
                        : entry->second.command == command || !is_as_written(target / name, entry->second)
                            ? fmt::format("{} was changed after `appell {}` had written it", name, entry->second.command)
                            : fmt::format("{} is a result of `appell {}`", name, entry->second.command));
    }
    const std::size_t more = names.size() - shown.size();
    Diagnostics out;
    out.add({Code::E0816,
             {},
             names.size() == 1 ? fmt::format("{} is in the way", (target / names.front()).string())
                               : fmt::format("{} files in {} are in the way", names.size(), target.string()),
             fmt::format("{}{}", fmt::join(shown, "; "), more > 0 ? fmt::format("; and {} more", more) : ""),
             fmt::format("a folder without {}", names.size() == 1 ? "it" : "them"),
             hint});
    return out;
}

// Moves what was committed to its places. Files that are in the way, and not `forced`, stop it before anything is moved.
Diagnostics move_finished(const fs::path& target, const FolderManifest& now, const std::set<std::string>& forced) {
    const fs::path home = target / k_home, finished = home / k_finished;
    std::error_code error;
    const std::optional<FolderManifest> next = read_manifest(finished / k_next_manifest);
    if (next) {
        const std::vector<std::string> files = files_in(finished, error);
        if (error) return cannot_write(target, error.message());
        std::vector<std::string> foreign;
        for (const std::string& name : files)
            if (!names_a_result(name) || (is_there(target / name) && !is_ours(target, now, name) && !forced.contains(name)))
                foreign.push_back(name);
        if (!foreign.empty())
            return in_the_way(target, now, "", foreign, fmt::format("move them away; the results wait in {}", finished.string()));
        for (const auto& [name, mark] : now.files)
            if (!next->files.contains(name) && is_as_written(target / name, mark)) fs::remove(target / name, error);
        for (const std::string& name : files) {
            fs::create_directories((target / name).parent_path(), error);
            if (!error) fs::rename(finished / name, target / name, error);
            if (error) return cannot_write(target / name, error.message());
        }
        fs::rename(finished / k_next_manifest, home / k_manifest, error);
        if (error) return cannot_write(home / k_manifest, error.message());
    }
    fs::remove_all(finished, error);
    return {};
}

std::string process(const std::string& owner) { return owner.empty() ? "another process" : "process " + owner; }

Diagnostics in_use(const fs::path& target, const std::string& owner) {
    Diagnostics out;
    out.add({Code::E0876,
             {},
             fmt::format("another command is writing into {}", target.string()),
             fmt::format("{} has the folder", process(owner)),
             "a folder that nobody writes into",
             "wait for it, stop it, or take another folder with --out DIR"});
    return out;
}

}  // namespace

struct OutputFolder::State {
    fs::path target;             // as it was named
    fs::path place;              // the same, absolute, links resolved
    fs::path stage;              // where files are until the commit
    bool is_new = false;         // the stage becomes the folder
    bool home_is_new = false;    // the manifest's folder was made for this
    std::vector<fs::path> made;  // parents of the target that did not exist, outermost first
    OutputAuthor author;
    FolderLock lock;
    FolderManifest manifest;  // of the folder as it is
    std::map<std::string, FileMark> marks;
    std::set<std::string> removed, forced;
    bool committed = false;

    [[nodiscard]] fs::path home() const { return (is_new ? stage : place) / k_home; }
    [[nodiscard]] fs::path sibling() const {
        return place.parent_path() / fmt::format(".{}.appell-partial", place.filename().string());
    }
    // a folder of our own, locked, in which nothing is but what belongs there
    Diagnostics take(const fs::path& home) {
        home_is_new = !is_there(home);
        int failure = make_folder(home);
        if (failure != 0) return cannot_write(target, system_message(failure));
        std::string owner;
        switch (lock.take(home / k_lock, owner)) {
            case FolderLock::Outcome::taken: return {};
            case FolderLock::Outcome::busy: return in_use(target, owner);
            case FolderLock::Outcome::failed: failure = errno; break;
        }
        return cannot_write(target, system_message(failure));
    }
};

OutputFolder::OutputFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}

// a folder that is there
Diagnostics OutputFolder::open_target(State& s) {
    s.is_new = false;
    s.stage = s.place / k_home / k_partial;
    Diagnostics problems = s.take(s.home());
    if (problems.has_errors()) return problems;
    std::error_code error;
    fs::remove_all(s.stage, error);
    s.manifest = read_manifest(s.home() / k_manifest).value_or(FolderManifest{});
    problems = move_finished(s.place, s.manifest, {});
    s.manifest = read_manifest(s.home() / k_manifest).value_or(FolderManifest{});
    // what a process left that was killed while the folder was not there yet
    if (fs::symlink_status(s.sibling(), error).type() == fs::file_type::directory) {
        FolderLock dead;
        std::string owner;
        if (!is_there(s.sibling() / k_home / k_lock) ||
            dead.take(s.sibling() / k_home / k_lock, owner) == FolderLock::Outcome::taken)
            fs::remove_all(s.sibling(), error);
    }
    return problems;
}

// a folder that is not there: all is done beside it
Diagnostics OutputFolder::open_stage(State& s) {
    s.is_new = true;
    s.stage = s.sibling();
    if (const int failure = make_folder(s.stage); failure != 0) return cannot_write(s.target, system_message(failure));
    const Diagnostics problems = s.take(s.home());
    if (problems.has_errors()) return problems;
    std::error_code error;
    std::vector<fs::path> left;
    for (const fs::directory_entry& entry : fs::directory_iterator(s.stage, error))
        if (entry.path().filename() != k_home) left.push_back(entry.path());
    for (const fs::path& path : left) fs::remove_all(path, error);
    fs::remove(s.home() / k_manifest, error);
    return {};
}

Result<OutputFolder> OutputFolder::create(const fs::path& target, OutputAuthor author) {
    if (target.empty()) return {std::nullopt, cannot_write(target, "the name of the folder is empty")};
    auto state = std::make_unique<State>();
    state->target = plain_target(target);
    state->author = std::move(author);
    std::error_code error;
    if (fs::exists(state->target, error) && !fs::is_directory(state->target, error))
        return {std::nullopt, cannot_write(state->target, "a file of that name exists and is no folder")};
    if (is_there(state->target) && !fs::exists(state->target, error))
        return {std::nullopt, cannot_write(state->target, "it is a link to something that is not there")};
    state->place = plain_target(fs::weakly_canonical(fs::absolute(state->target), error));
    if (error) return {std::nullopt, cannot_write(state->target, error.message())};

    // the folders that must be made come first: they are taken back if there is no commit
    const fs::path parent = state->place.parent_path();
    for (fs::path path = parent; !path.empty() && !fs::exists(path, error) && !error; path = path.parent_path())
        state->made.insert(state->made.begin(), path);
    OutputFolder folder(std::move(state));
    State& s = *folder.state_;
    error.clear();
    fs::create_directories(parent, error);
    if (error) return {std::nullopt, cannot_write(s.target, error.message())};
    for (;;) {
        const bool there = fs::exists(s.place, error);
        Diagnostics problems = there ? open_target(s) : open_stage(s);
        if (problems.has_errors()) {
            s.stage.clear();  // it is not this one's
            return {std::nullopt, std::move(problems)};
        }
        // somebody may have made it, or removed it, in between
        if (fs::exists(s.place, error) == there) return {std::move(folder), {}};
        if (!there) fs::remove_all(s.stage, error);
        s.lock = FolderLock();
    }
}

OutputFolder::OutputFolder(OutputFolder&&) noexcept = default;

OutputFolder::~OutputFolder() {
    if (!state_ || state_->place.empty()) return;
    State& s = *state_;
    std::error_code ignored;
    if (!s.stage.empty()) {
        fs::remove_all(s.stage, ignored);
        if (!s.is_new && !s.committed && s.home_is_new) {
            fs::remove(s.home() / k_lock, ignored);
            fs::remove(s.home(), ignored);
        }
    }
    if (s.committed) return;
    // NOTE: remove() takes empty folders only, so that nothing of anybody else's is lost
    for (auto path = s.made.rbegin(); path != s.made.rend(); ++path) fs::remove(*path, ignored);
}

const fs::path& OutputFolder::target() const { return state_->target; }

std::vector<fs::path> OutputFolder::made() const {
    const State& s = *state_;
    std::vector<fs::path> out;
    if (s.is_new || s.home_is_new) out = {s.home() / k_lock, s.home()};
    if (s.is_new) out.push_back(s.stage);
    out.insert(out.end(), s.made.rbegin(), s.made.rend());
    return out;
}

Diagnostics OutputFolder::claim(std::span<const std::string> names, bool same_run) {
    State& s = *state_;
    std::vector<std::string> foreign;
    bool replaces = false;
    for (const std::string& name : names) {
        if (s.is_new || !is_there(s.place / name)) continue;
        const auto entry = s.manifest.files.find(name);
        if (is_ours(s.place, s.manifest, name) && entry->second.command == s.author.command)
            replaces = true;
        else
            foreign.push_back(name);
    }
    Diagnostics out;
    if (!foreign.empty() && !s.author.force)
        return in_the_way(s.target, s.manifest, s.author.command, foreign,
                          "move away what is yours, take another folder with --out DIR, or replace it with --force; nothing was "
                          "written");
    s.forced.insert(foreign.begin(), foreign.end());
    const auto given = s.manifest.given.find(s.author.command);
    if (same_run || !replaces || given == s.manifest.given.end() || given->second == s.author.given) return out;
    const FolderManifest::Given& before = given->second;
    out.add({Code::W0879,
             {},
             fmt::format("the results of another `appell {}` in {} are replaced", s.author.command, s.target.string()),
             fmt::format("results of `appell {} {}{}{}`", s.author.command, before.model, before.options.empty() ? "" : " ",
                         before.options),
             "",
             "to keep both, give each a folder of its own with --out DIR"});
    return out;
}

fs::path OutputFolder::staged(const std::string& name) const {
    const fs::path path = fs::path(name).lexically_normal();
    if (!path.has_filename() || !names_a_result(path.string()))
        throw Error(fmt::format("'{}' is no name of a file inside the output folder", name));
    const fs::path full = state_->stage / path;
    std::error_code ignored;  // a folder that can not be made shows when the file is opened
    fs::create_directories(full.parent_path(), ignored);
    return full;
}

Diagnostics OutputFolder::write(const std::string& name, std::string_view content) {
    return write_whole(staged(name), content, state_->target / name);
}

void OutputFolder::mark(const std::string& name, const FileMark& mark) { state_->marks[name] = mark; }

void OutputFolder::remove(const std::string& name) { state_->removed.insert(name); }

// the manifest after this commit, among what is to be moved
Diagnostics OutputFolder::next_manifest(FolderManifest& next) const {
    const State& s = *state_;
    std::error_code error;
    fs::create_directories(s.stage, error);
    const std::vector<std::string> files = error ? std::vector<std::string>{} : files_in(s.stage, error);
    if (error) return cannot_write(s.target, error.message());
    next = s.manifest;
    if (!s.committed) std::erase_if(next.files, [&](const auto& entry) { return entry.second.command == s.author.command; });
    for (const std::string& name : files) {
        const auto known = s.marks.find(name);
        std::optional<FileMark> mark = known != s.marks.end() ? known->second : mark_of(s.stage / name);
        if (!mark) return cannot_write(s.target / name, system_message(errno));
        mark->command = s.author.command;
        next.files[name] = *mark;
    }
    // tables that are in their place and have grown
    for (const auto& [name, mark] : s.marks)
        if (const auto entry = next.files.find(name); entry != next.files.end()) {
            entry->second = mark;
            entry->second.command = s.author.command;
        }
    for (const std::string& name : s.removed) next.files.erase(name);
    next.given[s.author.command] = s.author.given;
    return {};
}

Diagnostics OutputFolder::commit() {
    FolderManifest next;
    Diagnostics problems = next_manifest(next);
    if (!problems.has_errors()) problems = state_->is_new ? commit_new(next) : commit_into_target(next);
    if (problems.has_errors()) return problems;
    state_->manifest = std::move(next);
    state_->removed.clear();
    state_->committed = true;
    return problems;
}

Diagnostics OutputFolder::commit_new(const FolderManifest& next) {
    State& s = *state_;
    Diagnostics problems = write_whole(s.home() / k_manifest, manifest_text(next), s.target / k_home / k_manifest);
    if (problems.has_errors()) return problems;
    std::error_code error;
    fs::rename(s.stage, s.place, error);
    if (!error) {
        s.is_new = false;
        s.stage = s.place / k_home / k_partial;
        return {};
    }
    // somebody made the folder meanwhile, and put something into it: it keeps that
    if (error != std::errc::directory_not_empty && error != std::errc::file_exists)
        return cannot_write(s.target, error.message());
    const fs::path stage = s.stage;
    problems = open_target(s);
    if (problems.has_errors()) {
        s.stage = stage;
        s.is_new = true;
        return problems;
    }
    fs::rename(stage, s.stage, error);
    if (error) return cannot_write(s.target, error.message());
    fs::remove_all(s.stage / k_home, error);
    return commit_into_target(next);
}

Diagnostics OutputFolder::commit_into_target(const FolderManifest& next) {
    State& s = *state_;
    Diagnostics problems = write_whole(s.stage / k_next_manifest, manifest_text(next), s.target / k_home / k_manifest);
    if (problems.has_errors()) return problems;
    std::error_code error;
    fs::rename(s.stage, s.home() / k_finished, error);
    if (error) return cannot_write(s.target, error.message());
    return move_finished(s.place, s.manifest, s.forced);
}

bool is_being_written(const fs::path& folder) { return FolderLock::held(folder / k_home / k_lock); }

void finish_interrupted_commit(const fs::path& folder) {
    const fs::path home = folder / k_home;
    if (!is_there(home / k_finished)) return;
    FolderLock lock;
    std::string owner;
    if (lock.take(home / k_lock, owner) != FolderLock::Outcome::taken) return;
    (void)move_finished(folder, read_manifest(home / k_manifest).value_or(FolderManifest{}), {});
}

}  // namespace appell
