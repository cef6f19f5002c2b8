#include "library/model_files.hpp"

#include <array>
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

// What another program writes, as in `appell check /dev/stdin`; one byte beyond `most` tells that it is too long. A device that
// never ends is neither this nor a file.
std::optional<std::string> read_pipe(const fs::path& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_fifo(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text;
    for (std::array<char, 65536> part; text.size() <= most && (file.read(part.data(), part.size()) || file.gcount() > 0);)
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (file.bad()) return std::nullopt;
    return text;
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
    const std::size_t most = options.limits.source_bytes;
    const auto refuse_size = [&](const std::string& size) {
        result.diagnostics.add({Code::E0005,
                                {},
                                fmt::format("{} has {} bytes", path, size),
                                "",
                                fmt::format("at most {} bytes", most),
                                "raise it with --limit source_bytes=N"});
    };
    if (const auto size = fs::file_size(path, error); !error && size > most) {
        refuse_size(fmt::format("{}", size));
        return result;
    }
    errno = 0;
    const bool pipe = fs::is_fifo(path, error);
    std::optional<std::string> text = pipe ? read_pipe(path, most) : read_text(path);
    if (!text) {
        refuse(errno != 0 ? std::strerror(errno) : "it is neither a file nor a pipe", "");
        return result;
    }
    if (text->size() > most) {
        refuse_size(fmt::format("more than {}", most));
        return result;
    }
    // what a model from a pipe includes is looked for where the user is, not where the system keeps its pipes
    const fs::path parent = pipe ? fs::path() : fs::path(path).parent_path(), folder = parent.empty() ? fs::path(".") : parent;
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
