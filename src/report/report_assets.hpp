// The scripts and styles of report.html, bundled from web/ and carried by the library.
#pragma once

#include <string_view>

namespace appell {

extern const std::string_view k_report_script;
extern const std::string_view k_report_script_hash;  // as a Content-Security-Policy names it
extern const std::string_view k_report_style;

}  // namespace appell
