#include "report/files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace appell {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_buffer = 1 << 16;
constexpr std::size_t k_longest_number = 32;  // "-2.2250738585072014e-308" and its separator

}  // namespace

Diagnostics cannot_write(const fs::path& path, const std::string& reason) {
    Diagnostics diagnostics;
    diagnostics.add({Code::E0801,
                     {},
                     fmt::format("cannot write '{}'", path.string()),
                     reason,
                     {},
                     "name a folder that you may write to, with room on its disk"});
    return diagnostics;
}

std::string system_message(int error) { return std::generic_category().message(error); }

namespace {

// what the name of a temporary file for a path begins with; the process and a number follow
std::string partial_name(const fs::path& path) { return fmt::format(".{}.partial-", path.filename().string()); }

// Temporary files for this path whose process is gone: it was killed before it could put them in place.
void remove_partials_of_the_dead(const fs::path& path) {
    const std::string begin = partial_name(path);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(begin)) continue;
        pid_t process = 0;
        long number = 0;
        const char* const last = name.data() + name.size();
        const auto [dash, bad] = std::from_chars(name.data() + begin.size(), last, process);
        if (bad != std::errc() || process <= 0 || dash == last || *dash != '-') continue;
        const auto [rest, worse] = std::from_chars(dash + 1, last, number);
        if (worse != std::errc() || rest != last || ::kill(process, 0) == 0 || errno != ESRCH) continue;
        std::error_code ignored;
        if (entry->symlink_status(ignored).type() == fs::file_type::regular) fs::remove(entry->path(), ignored);
    }
}

// Makes a temporary file or folder beside a path, under a name nobody else has; 0, or the system's error. The maker fails with
// EEXIST for a name that is taken.
template <class Make>
int make_unique_sibling(const fs::path& path, const Make& make, fs::path& made) {
    constexpr int k_tries = 1000;
    for (int i = 0; i < k_tries; ++i) {
        const fs::path name = path.parent_path() / fmt::format("{}{}-{}", partial_name(path), ::getpid(), i);
        if (make(name.c_str()) == 0) {
            made = name;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

}  // namespace

Diagnostics write_whole(const fs::path& path, std::string_view content, const fs::path& final_path) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return cannot_write(final_path, system_message(errno));
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    const int write_error = errno;
    const bool closed = std::fclose(file) == 0;
    if (written && closed) return {};
    const int error = written ? errno : write_error;
    std::error_code ignored;
    fs::remove(path, ignored);
    return cannot_write(final_path, system_message(error));
}

Diagnostics write_file(const fs::path& path, std::string_view content) {
    remove_partials_of_the_dead(path);
    fs::path name;
    const auto make_file = [](const char* temporary) {
        const int descriptor = ::open(temporary, O_CREAT | O_EXCL | O_WRONLY, 0666);
        return descriptor < 0 ? descriptor : ::close(descriptor);
    };
    if (const int failure = make_unique_sibling(path, make_file, name); failure != 0)
        return cannot_write(path, system_message(failure));
    Diagnostics diagnostics = write_whole(name, content, path);
    std::error_code error;
    if (!diagnostics.has_errors()) {
        fs::rename(name, path, error);
        if (!error) return diagnostics;
        diagnostics = cannot_write(path, error.message());
    }
    fs::remove(name, error);
    return diagnostics;
}

// ---------------------------------------------------------------- CSV

std::string csv_field(std::string_view name) {
    if (name.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(name);
    std::string out = "\"";
    for (const char c : name) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

CsvWriter::CsvWriter(const fs::path& path, std::span<const std::string> columns, fs::path final_path)
    : path_(std::move(final_path)),
      file_(std::fopen(path.c_str(), "wb")),
      columns_(columns.size()),
      buffer_(std::max(k_buffer, 2 * k_longest_number * columns.size())) {
    if (columns.empty()) throw Error("a table needs a column");
    if (file_ == nullptr) {
        error_ = errno;
        return;
    }
    // the buffer here is the only one
    std::setvbuf(file_, nullptr, _IONBF, 0);
    std::string header;
    for (const std::string& column : columns) header.append(csv_field(column)).append(1, ',');
    header.back() = '\n';
    if (std::fwrite(header.data(), 1, header.size(), file_) != header.size()) error_ = errno;
    size_ = header.size();
    hash_.add(header);
}

CsvWriter::~CsvWriter() {
    if (file_ != nullptr) std::fclose(file_);
}

void CsvWriter::append(double value, char separator) {
    char* to = buffer_.data() + used_;
    if (std::isfinite(value)) {
        to = std::to_chars(to, to + k_longest_number, value).ptr;
    } else {
        // the words of round_trip (base/number_format.hpp)
        const char* word = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
        const std::size_t length = std::strlen(word);
        std::memcpy(to, word, length);
        to += length;
    }
    *to++ = separator;
    used_ = static_cast<std::size_t>(to - buffer_.data());
}

void CsvWriter::row(double first, std::span<const double> others) {
    APPELL_ASSERT(others.size() + 1 == columns_, "a row has as many numbers as the header has names");
    if (used_ + columns_ * k_longest_number > buffer_.size()) flush();
    append(first, others.empty() ? '\n' : ',');
    for (std::size_t i = 0; i < others.size(); ++i) append(others[i], i + 1 == others.size() ? '\n' : ',');
    ++rows_;
}

void CsvWriter::row(std::span<const double> values) { row(values.front(), values.subspan(1)); }

void CsvWriter::flush() {
    if (file_ != nullptr && error_ == 0 && used_ > 0) {
        if (std::fwrite(buffer_.data(), 1, used_, file_) == used_) {
            size_ += used_;
            hash_.add({buffer_.data(), used_});
        } else {
            error_ = errno;
            if (::ftruncate(::fileno(file_), static_cast<off_t>(size_)) != 0) size_ = 0;  // half a row stays; the failure is told
        }
    }
    used_ = 0;
}

Diagnostics CsvWriter::finish() {
    flush();
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    return error_ == 0 ? Diagnostics{} : cannot_write(path_, system_message(error_));
}

}  // namespace appell
