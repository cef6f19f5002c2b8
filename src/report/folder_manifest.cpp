#include "report/folder_manifest.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <new>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.hpp"
#include "report/file_text.hpp"
#include "report/json_text.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t k_largest_manifest = 16u << 20;

std::uint64_t from_hex(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) throw std::runtime_error("no hash");
    return value;
}

// of the first bytes, at most so many
std::optional<ContentHash> hash_of(const fs::path& path, std::uint64_t most) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return std::nullopt;
    ContentHash hash;
    std::array<char, 1 << 16> part{};
    while (hash.size() < most) {
        const std::size_t wanted = std::min<std::uint64_t>(part.size(), most - hash.size());
        const std::size_t got = std::fread(part.data(), 1, wanted, file.get());
        hash.add({part.data(), got});
        if (got < wanted) break;
    }
    if (std::ferror(file.get()) != 0) return std::nullopt;
    return hash;
}

}  // namespace

bool names_a_result(const std::string& name) {
    const fs::path path(name);
    if (name.empty() || path.is_absolute() || !path.has_filename() || name.find('\0') != std::string::npos) return false;
    for (const fs::path& part : path)
        if (part == ".." || part == "." || part.empty()) return false;
    return *path.begin() != ".appell" && *path.begin() != ".manifest.json";
}

std::optional<FolderManifest> read_manifest(const fs::path& path) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) return std::nullopt;
    const std::optional<std::string> text = file_text(path, k_largest_manifest);
    if (!text) return std::nullopt;
    try {
        const Json json = Json::parse(*text);
        if (json.at("schema") != 1) return std::nullopt;
        FolderManifest out;
        for (const auto& [name, entry] : json.at("files").items()) {
            if (!names_a_result(name)) continue;
            FileMark mark{entry.at("size").get<std::uint64_t>(), from_hex(entry.at("hash").get<std::string>()),
                          entry.value("grows", false), entry.at("command").get<std::string>()};
            out.files.emplace(name, std::move(mark));
        }
        for (const auto& [command, entry] : json.at("given").items())
            out.given[command] = {entry.at("model").get<std::string>(), entry.at("options").get<std::string>()};
        return out;
    } catch (const std::bad_alloc&) {
        throw;  // the manifest is none the worse for it
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::string manifest_text(const FolderManifest& manifest) {
    Json files = Json::object(), given = Json::object();
    for (const auto& [name, mark] : manifest.files) {
        Json entry{{"command", mark.command}, {"size", mark.size}, {"hash", fmt::format("{:016x}", mark.hash)}};
        if (mark.grows) entry["grows"] = true;
        files[name] = std::move(entry);
    }
    for (const auto& [command, how] : manifest.given) given[command] = {{"model", how.model}, {"options", how.options}};
    return json_text(Json{{"schema", 1}, {"files", std::move(files)}, {"given", std::move(given)}}) + "\n";
}

std::optional<FileMark> mark_of(const fs::path& path, bool grows) {
    const std::optional<ContentHash> hash = hash_of(path, UINT64_MAX);
    if (!hash) return std::nullopt;
    return FileMark{hash->size(), hash->value(), grows, {}};
}

bool is_as_written(const fs::path& path, const FileMark& mark) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) return false;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error || size < mark.size || (size > mark.size && !mark.grows)) return false;
    const std::optional<ContentHash> hash = hash_of(path, mark.size);
    return hash && hash->size() == mark.size && hash->value() == mark.hash;
}

}  // namespace appell
