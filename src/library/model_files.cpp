#include "library/model_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>

#include <fmt/format.h>

namespace appell {

namespace fs = std::filesystem;

namespace {

// all that `file` gives, or one byte more than `most`, which tells that it is too long
std::optional<std::string> read_stream(std::istream& file, std::size_t most) {
    std::string text;
    std::array<char, 65536> part;
    while (text.size() <= most && (file.read(part.data(), part.size()) || file.gcount() > 0))
        text.append(part.data(), std::min(static_cast<std::size_t>(file.gcount()), most + 1 - text.size()));
    if (file.bad()) return std::nullopt;
    return text;
}

std::optional<std::string> read_text(const fs::path& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    return file ? read_stream(file, most) : std::nullopt;
}

// What another program writes, as in `appell check /dev/stdin`. A device that never ends is neither this nor a file.
std::optional<std::string> read_pipe(const fs::path& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_fifo(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    return file ? read_stream(file, most) : std::nullopt;
}

// a file is measured before it is read
IncludedFile read_included(const fs::path& path, std::size_t most) {
    std::error_code error;
    if (const auto size = fs::file_size(path, error); !error && size > most) return IncludedFile::beyond_limit(size);
    std::optional<std::string> text = read_text(path, most);
    if (text && text->size() > most) return IncludedFile::beyond_limit(text->size());
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

Result<std::string> read_model_stream(std::istream& stream, const std::string& name, const Limits& limits) {
    Result<std::string> result;
    std::optional<std::string> text = read_stream(stream, limits.source_bytes);
    if (!text)
        result.diagnostics.add({Code::E0001, {}, fmt::format("cannot read {}", name), "", "", ""});
    else if (text->size() > limits.source_bytes)
        result.diagnostics.add({Code::E0005,
                                {},
                                fmt::format("{} has more than {} bytes", name, limits.source_bytes),
                                "",
                                fmt::format("at most {} bytes", limits.source_bytes),
                                "raise it with --limit source_bytes=N"});
    else
        result.value = std::move(*text);
    return result;
}

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
    std::optional<std::string> text = pipe ? read_pipe(path, most) : read_text(path, most);
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
                             [folder, most](const std::string& name) -> IncludedFile {
                                 const fs::path file = folder / name;
                                 if (!inside(file, folder)) return std::nullopt;
                                 return read_included(file, most);
                             },
                             options};
    return result;
}

}  // namespace appell
