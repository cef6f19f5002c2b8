#include "library/model_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace appell {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> read_text(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad()) return std::nullopt;
    return std::move(text).str();
}

// is `path` inside `folder`, links resolved
bool inside(const fs::path& path, const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    const fs::path home = fs::weakly_canonical(folder, error);
    const auto [h, r] = std::mismatch(home.begin(), home.end(), real.begin(), real.end());
    return !error && h == home.end();
}

}  // namespace

Result<ModelText> read_model_file(const std::string& path, const ReadOptions& options) {
    Result<ModelText> result;
    std::error_code error;
    const auto refuse = [&](std::string why, std::string hint) {
        result.diagnostics.add(
            {Code::E0001, {}, fmt::format("cannot read {}: {}", path, why), "", "a model file", std::move(hint)});
    };
    if (fs::is_directory(path, error)) {
        refuse("it is a folder", "name the .appell file in it");
        return result;
    }
    if (!fs::exists(path, error)) {
        refuse("there is no such file", "`appell gallery` lists models to start from");
        return result;
    }
    const auto size = fs::file_size(path, error);
    if (!error && size > options.limits.source_bytes) {
        result.diagnostics.add({Code::E0005,
                                {},
                                fmt::format("{} has {} bytes", path, size),
                                "",
                                fmt::format("at most {} bytes", options.limits.source_bytes),
                                "raise it with --limit source_bytes=N"});
        return result;
    }
    std::optional<std::string> text = read_text(path);
    if (!text) {
        refuse(errno != 0 ? std::strerror(errno) : "it can not be opened", "");
        return result;
    }
    const fs::path folder = fs::path(path).parent_path().empty() ? fs::path(".") : fs::path(path).parent_path();
    result.value = ModelText{path, std::move(*text),
                             [folder](const std::string& name) -> std::optional<std::string> {
                                 const fs::path file = folder / name;
                                 if (!inside(file, folder)) return std::nullopt;
                                 return read_text(file);
                             },
                             options};
    return result;
}

}  // namespace appell
