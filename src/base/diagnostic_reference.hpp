// The table of diagnostics for people: what to do about each, and the page docs/diagnostics.md.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.hpp"

namespace appell {

// what to do about a diagnostic, from diagnostic_remedies.def
[[nodiscard]] std::string_view remedy(Code code);

// All diagnostics as Markdown, by the stage that finds them; a part of docs/diagnostics.md, which a test compares with it.
[[nodiscard]] std::string diagnostic_reference();

}  // namespace appell
