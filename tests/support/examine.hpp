// A text through every stage as a user would take it there, with small limits. What comes out is a finding, or nothing: an
// exception, an answer that is missing without an error that says why, a place that a message names outside the text.
#pragma once

#include <string>

#include "base/diagnostics.hpp"

namespace appell::attack {

[[nodiscard]] std::string examine(const std::string& text);

// text alone: read, laid out, read again
[[nodiscard]] std::string examine_text(const std::string& text);

// a message that says nothing, an internal error, or a place outside the text
[[nodiscard]] std::string strange_message(const Diagnostics& diagnostics, const SourceSet& sources);

}  // namespace appell::attack
