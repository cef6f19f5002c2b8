// What the program wrote into a folder of results: names, sizes and hashes, in FOLDER/.appell/manifest.json. Only what stands
// here and is still what was written may be replaced or removed; whatever else is in the folder is somebody's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace appell {

struct FileMark {
    std::uint64_t size = 0, hash = 0;
    bool grows = false;   // a table that was still being written: what comes behind these bytes is ours, too
    std::string command;  // that wrote it: run, sweep, ...
};

struct FolderManifest {
    // how a command was given that left its results here
    struct Given {
        std::string model;    // its file
        std::string options;  // as one may type them
        bool operator==(const Given&) const = default;
    };
    std::map<std::string, FileMark> files;  // by name, relative to the folder
    std::map<std::string, Given> given;     // by command
};

// none where there is no manifest, or what stands there is none
[[nodiscard]] std::optional<FolderManifest> read_manifest(const std::filesystem::path& file);
[[nodiscard]] std::string manifest_text(const FolderManifest& manifest);

// "trajectory.csv", "plots/energy.svg": a name of a file that stays inside the folder, and is none of the program's own there
[[nodiscard]] bool names_a_result(const std::string& name);
// of what is there now; none if it cannot be read
[[nodiscard]] std::optional<FileMark> mark_of(const std::filesystem::path& file, bool grows = false);
// a regular file with the bytes that were written
[[nodiscard]] bool is_as_written(const std::filesystem::path& file, const FileMark& mark);

}  // namespace appell
