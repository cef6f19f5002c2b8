#include "report/sealed_file.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/content_hash.hpp"
#include "report/file_text.hpp"

namespace appell {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_png{"\x89PNG\r\n\x1a\n", 8}, k_pdf = "%PDF";
constexpr std::size_t k_chunk_frame = 12;  // length, type and check sum of a PNG's chunk; its last chunk, IEND, has nothing else
constexpr std::uintmax_t k_largest = 1u << 30;

// ISO 3309, as PNG has it
std::uint32_t check_sum(std::string_view bytes) {
    std::uint32_t sum = 0xffffffffu;
    for (const char c : bytes) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) sum = (sum & 1u) != 0 ? 0xedb88320u ^ (sum >> 1) : sum >> 1;
    }
    return ~sum;
}

std::string big_endian(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xffu);
    return out;
}

// what stands between the content and its end; of the same length whatever the hash
std::string seal_of(std::string_view content) {
    const std::string hash = fmt::format("{:016x}", content_hash(content));
    if (content.starts_with(k_png)) {
        std::string chunk = "tEXtappell";
        chunk += '\0';
        chunk += hash;
        return big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk + big_endian(check_sum(chunk));
    }
    return content.starts_with(k_pdf) ? fmt::format("%appell {}\n", hash) : fmt::format("<!-- appell {} -->\n", hash);
}

std::size_t behind_seal(std::string_view content) { return content.starts_with(k_png) ? k_chunk_frame : 0; }

}  // namespace

std::string with_seal(std::string content) {
    const std::string seal = seal_of(content);
    content.insert(content.size() - behind_seal(content), seal);
    return content;
}

bool is_sealed(const fs::path& path) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) return false;
    std::optional<std::string> text = file_text(path, k_largest);
    if (!text) return false;
    std::string content = std::move(*text);
    const std::size_t seal = seal_of(content).size(), behind = behind_seal(content);
    if (content.size() < seal + behind) return false;
    const std::string whole = content;
    content.erase(content.size() - behind - seal, seal);
    return with_seal(std::move(content)) == whole;
}

}  // namespace appell
