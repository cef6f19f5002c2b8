// How many random members of a class a property test takes: a hundred, or as many as APPELL_MEMBERS says: more in .ci/long, fewer
// under sanitizers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace appell {

inline std::size_t members(std::size_t in_ci = 100) {
    const char* const wanted = std::getenv("APPELL_MEMBERS");
    return wanted == nullptr ? in_ci : std::max<std::size_t>(1, std::stoul(wanted) * in_ci / 100);
}

}  // namespace appell
