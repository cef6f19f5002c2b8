// The canonical layout of a model's text. Lines stay lines: what a line says is its author's choice. Within them blanks are set
// by rule, families are indented by two, and columns that are aligned on purpose stay aligned: a wider gap is kept where
// something in the line above or below begins in the same column. Comments stay as they are, runs of blank lines become one.
//
// The layout never changes what a text means: blanks are neither made nor removed where the language looks at them (between a
// name and its bracket, within units, around `*`, `/`, `^`, `.` and primes).
#pragma once

#include <string>

#include "base/result.hpp"

namespace appell {

// A text that does not parse has no layout; the diagnostics say why. Formatting the result again changes nothing.
[[nodiscard]] Result<std::string> format_model(const std::string& name, const std::string& text, SourceSet& sources);

}  // namespace appell
