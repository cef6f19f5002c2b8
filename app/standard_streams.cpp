// What is said to people, and what they say by signals.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/color.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

// set by SIGINT, SIGTERM and SIGHUP; the run looks at g_stop between steps
volatile std::sig_atomic_t g_steps = 0, g_stop = 0;
timespec g_asked{};
std::vector<std::string> g_made;  // complete before a handler looks at it

// Programs such as `timeout` send a signal twice, to the process and to its group.
bool is_an_echo() {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    constexpr double k_echo = 0.3;  // seconds
    return static_cast<double>(now.tv_sec - g_asked.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - g_asked.tv_nsec) < k_echo;
}

// NOTE: a handler may call only what POSIX names as safe in one
void on_signal(int signal) {
    const int error = errno;
    if (g_steps != 0 && g_stop == 0) {
        (void)clock_gettime(CLOCK_MONOTONIC, &g_asked);
        g_stop = 1;
    } else if (g_steps == 0 || !is_an_echo()) {
        for (const std::string& path : g_made)
            if (::unlink(path.c_str()) != 0) (void)::rmdir(path.c_str());
        std::signal(signal, SIG_DFL);
        std::raise(signal);  // it takes effect where the handler returns
    }
    errno = error;
}

void handle_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        // what whoever started the program wants to be ignored, as `nohup` does, stays so
        if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

}  // namespace

void show(const Diagnostics& diagnostics, const SourceSet& sources) {
    const bool colour = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    flush_output();  // both may go to one file, and the other one is buffered
    for (const Diagnostic& d : diagnostics.all()) {
        std::string text = render(d, sources);
        if (colour) {
            // the first word tells the severity
            const std::size_t head = text.find(':');
            const auto style = fmt::emphasis::bold | fmt::fg(d.severity() == Severity::error     ? fmt::terminal_color::red
                                                             : d.severity() == Severity::warning ? fmt::terminal_color::yellow
                                                                                                 : fmt::terminal_color::cyan);
            text = fmt::format(style, "{}", text.substr(0, head)) + text.substr(head);
        }
        tell(text + "\n");
    }
}

int& output_error() {
    static int error = 0;
    return error;
}

void flush_output() {
    if (std::fflush(stdout) != 0 && output_error() == 0) output_error() = errno;
}

void tell(const std::string& text) { std::fputs(text.c_str(), stderr); }

int finish(const Derivation& derivation, const SharedOptions& shared, bool json_printed) {
    if (!shared.json)
        show(derivation.diagnostics, derivation.sources);
    else if (!json_printed)
        fmt::print("{}\n",
                   json_text(Json{{"schema", 1},
                                  {"diagnostics", Json::parse(diagnostics_json(derivation.diagnostics, derivation.sources))}}));
    return derivation.diagnostics.has_errors() ? 1 : 0;
}

void remove_when_ended(const std::vector<std::filesystem::path>& made) {
    for (const std::filesystem::path& path : made) g_made.push_back(path.string());
    handle_signals();
}

void stop_on_signals() {
    g_steps = 1;
    handle_signals();
}

bool stop_asked() { return g_stop != 0; }

}  // namespace appell
