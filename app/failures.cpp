#include "failures.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>

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

std::optional<rlim_t> bound_of(int resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

// what was allowed for stacks of threads, which are reserved in full and used in part
rlim_t& room_for_stacks() {
    static rlim_t room = 0;
    return room;
}

// how much memory there may be, by this command's limit or by that of the shell that started it
std::optional<rlim_t> memory_bound() {
    std::optional<rlim_t> bound = bound_of(RLIMIT_DATA);
    if (bound) *bound -= room_for_stacks();
    const std::optional<rlim_t> addresses = bound_of(RLIMIT_AS);
    return bound && addresses ? std::min(*bound, *addresses) : bound ? bound : addresses;
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
    if (setrlimit(RLIMIT_DATA, &limit) == 0) room_for_stacks() = 0;
}

void allow_stacks_of_threads(std::size_t count) {
    rlimit limit{};
    if (!k_can_limit || getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const rlim_t before = limit.rlim_cur;
    pthread_attr_t attributes;
    std::size_t stack = 0;
    if (pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_getstacksize(&attributes, &stack);
    (void)pthread_attr_destroy(&attributes);
    limit.rlim_cur = std::min<rlim_t>(before + count * stack, limit.rlim_max);
    if (setrlimit(RLIMIT_DATA, &limit) == 0) room_for_stacks() += limit.rlim_cur - before;
}

int tell_failure(const std::exception& error, const SharedOptions& shared) {
    try {
        Derivation told;
        Diagnostic problem = failure(error);
        if (problem.code == Code::E0881) {
            if (const std::optional<rlim_t> bound = memory_bound())
                problem.expected = fmt::format("no more than {}", memory_text(static_cast<double>(*bound)));
            if (!shared.arguments.empty() && shared.arguments.front() == "sweep")
                problem.hint += ", or fewer members at a time with --threads";
        }
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
