// Where the files of a command go, and how it was given.
#pragma once

#include <string>

#include "commands.hpp"
#include "report/output_folder.hpp"

namespace appell {

// MODEL.out for MODEL.appell, in the folder where the user is; named after the system where the model comes through a pipe
[[nodiscard]] std::string default_folder(const std::string& file, const std::string& system, const std::string& ending);

// `command`: run, sweep, ...
[[nodiscard]] OutputAuthor author_of(const std::string& command, const std::string& file, const SharedOptions& shared);

// The command line to be typed again. Where the results went is not part of the run: the same run gives the same report.
[[nodiscard]] std::string command_text(const SharedOptions& shared);

}  // namespace appell
