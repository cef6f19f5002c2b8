#include "base/diagnostic_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace appell {

namespace {

struct Remedy {
    Code code;
    std::string_view text;
};

constexpr auto k_remedies = std::to_array<Remedy>({
#define APPELL_REMEDY(code, remedy) {Code::code, remedy},
#include "base/diagnostic_remedies.def"
#undef APPELL_REMEDY
});

// the first two digits of a code
struct Group {
    std::string_view digits, title;
};

constexpr auto k_groups = std::to_array<Group>({
    {"00", "Files and limits"},
    {"01", "Text"},
    {"02", "Names"},
    {"03", "Dimensions"},
    {"04", "Types, values, places"},
    {"05", "Statements"},
    {"06", "Coordinates, speeds, frames"},
    {"07", "Masses, forces, constraints"},
    {"08", "Runs and their results"},
    {"09", "Accelerations"},
    {"10", "Claims and the diagnosis of constraints"},
    {"11", "Linear equations"},
});

}  // namespace

std::string_view remedy(Code code) {
    for (const Remedy& row : k_remedies)
        if (row.code == code) return row.text;
    return {};
}

std::string diagnostic_reference() {
    std::vector<CodeInfo> codes(all_codes().begin(), all_codes().end());
    std::stable_sort(codes.begin(), codes.end(),
                     [](const CodeInfo& a, const CodeInfo& b) { return a.name.substr(1) < b.name.substr(1); });
    std::string out;
    for (const Group& group : k_groups) {
        bool first = true;
        for (const CodeInfo& row : codes) {
            if (row.name.substr(1, 2) != group.digits) continue;
            if (first) out += fmt::format("## {}\n\n", group.title);
            first = false;
            out += fmt::format("### {}\n\n**{}.** {}\n\n*What to do:* {}\n\n", row.name, row.title, row.explanation,
                               remedy(row.code));
        }
    }
    return out;
}

}  // namespace appell
