// What is said to people, and what they say by signals.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/color.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "report/json_text.hpp"
#include "report/run_files.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t g_stop = 0;  // set by SIGINT, SIGTERM and SIGHUP; the run looks at it between steps

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

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        // what whoever started the program wants to be ignored, as `nohup` does, stays so
        if (std::signal(signal, [](int) { g_stop = 1; }) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool stop_asked() { return g_stop != 0; }

}  // namespace appell
