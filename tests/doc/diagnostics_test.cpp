// Every diagnostic says what to do about it, and docs/diagnostics.md is what the program says.
#include <gtest/gtest.h>

#include "base/diagnostic_reference.hpp"
#include "doc/pages.hpp"

namespace appell::doc {

namespace {

TEST(Diagnostics, EachHasARemedy) {
    for (const CodeInfo& row : all_codes()) {
        const std::string_view text = remedy(row.code);
        EXPECT_FALSE(text.empty()) << row.name << " has none in src/base/diagnostic_remedies.def";
        EXPECT_TRUE(text.ends_with('.')) << row.name << ": " << text;
    }
}

TEST(Diagnostics, EachIsInTheReference) {
    const std::string reference = diagnostic_reference();
    for (const CodeInfo& row : all_codes())
        EXPECT_NE(reference.find("### " + std::string(row.name) + "\n"), std::string::npos)
            << row.name << ": its first two digits have no heading";
}

TEST(Diagnostics, ThePageIsTheReference) {
    const std::string page = content(k_root / "docs/diagnostics.md"), reference = diagnostic_reference();
    EXPECT_TRUE(page.ends_with(reference)) << "docs/diagnostics.md must end with what `appell explain` prints";
}

}  // namespace

}  // namespace appell::doc
