// Texts, guided by coverage: lexer, parser, elaboration and layout (tests/README.md).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/examine.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string finding = appell::attack::examine_text(std::string(reinterpret_cast<const char*>(data), size));
    if (finding.empty()) return 0;
    std::fprintf(stderr, "%s\n", finding.c_str());
    std::abort();
}
