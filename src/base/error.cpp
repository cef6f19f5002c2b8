#include "base/error.hpp"

#include <fmt/format.h>

namespace appell {

void fail_assertion(const char* expression, const char* file, int line, const std::string& note) {
    throw InternalError(
        fmt::format("internal error: {} does not hold at {}:{} ({}). This is a bug in appell; please report it "
                    "with the model that shows it.",
                    expression, file, line, note));
}

}  // namespace appell
