// What the commands share: options as numbers, the end of a command, and the wish to stop.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"

namespace appell {

// a number behind an option, such as --set m=3; `text` is all of what the user wrote there
[[nodiscard]] double parse_number(std::string_view option, const std::string& text, const std::string& value);

[[nodiscard]] ReadOptions read_options(const SharedOptions& shared);

// the end of every command: diagnostics as text on standard error, or as JSON on standard output when there is nothing better
int finish(const Derivation& derivation, const SharedOptions& shared, bool json_printed);

// onto standard error; whether that could be written is asked at the end, in main()
void tell(const std::string& text);
// what was said so far onto standard output; the system's first error there is kept until the end of the program
void flush_output();
[[nodiscard]] int& output_error();
void show(const Diagnostics& diagnostics, const SourceSet& sources);

// SIGINT, SIGTERM and SIGHUP end the program, as ever; from now on it takes these files, and folders that are empty, with it.
void remove_when_ended(const std::vector<std::filesystem::path>& made);
// From now on they ask a run to stop, which looks between steps. The next one ends the program where it is.
void stop_on_signals();
[[nodiscard]] bool stop_asked();

}  // namespace appell
