#include "failures.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "base/failure.hpp"
#include "base/number_format.hpp"
#include "command_line.hpp"
#include "library/memory.hpp"

namespace appell {

namespace {

// a sanitizer has a map of all memory, far beyond any limit
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define APPELL_ADDRESS_SANITIZER
#endif
#endif
#if defined(APPELL_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
constexpr bool k_can_limit = false;
#else
constexpr bool k_can_limit = true;
#endif

constexpr const char* k_no_memory = "error[E0881]: there is not enough memory for this\n";

std::string memory_text(double bytes) {
    return bytes < 1e9 ? fmt::format("{} MB", short_number(bytes / 1e6, 3)) : fmt::format("{} GB", short_number(bytes / 1e9, 3));
}

}  // namespace

void limit_memory(const SharedOptions& shared) {
    if (!k_can_limit) return;
    const std::size_t asked = read_options(shared).limits.memory;
    const std::size_t most = asked > 0 ? asked : memory_left() / 10 * 9;
    rlimit limit{};
    if (most == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
    // what the user's shell has limited stays so
    limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
    (void)setrlimit(RLIMIT_DATA, &limit);
}

int tell_failure(const std::exception& error, const SharedOptions& shared) {
    try {
        Derivation told;
        Diagnostic problem = failure(error);
        rlimit limit{};
        if (problem.code == Code::E0881 && getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            problem.expected = fmt::format("no more than {}", memory_text(static_cast<double>(limit.rlim_cur)));
        told.diagnostics.add(std::move(problem));
        return finish(told, shared, false);
    } catch (const std::bad_alloc&) {
        std::fputs(k_no_memory, stderr);
        return 1;
    }
}

void tell_what_is_not_caught() {
    std::set_terminate([] {
        // there may be no memory to make a message with
        try {
            if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
            std::fputs("error[E0882]: internal error: the program gave up\n", stderr);
        } catch (const std::bad_alloc&) {
            std::fputs(k_no_memory, stderr);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "error[E0882]: internal error: %s. This is a bug in appell; please report it\n", error.what());
        } catch (...) {
            std::fputs("error[E0882]: internal error: an exception of no known type\n", stderr);
        }
        _exit(1);
    });
}

}  // namespace appell
