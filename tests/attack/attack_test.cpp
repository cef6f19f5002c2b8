// Mutants of the gallery's models, through every stage. A process of its own takes some at a time, so that one that crashes, or
// does not come to an end, is told by its seed and its text, and the others go on.
//
// APPELL_MUTANTS: how many (2,000 in CI, more in .ci/long); APPELL_MUTANT: this one alone, in this process, its text printed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "support/examine.hpp"
#include "support/mutation.hpp"

namespace appell::attack {
namespace {

constexpr std::size_t k_batch = 100;
constexpr int k_longest = 60;  // seconds of computing for one mutant: a hundred thousand times what most take

std::size_t number_from(const char* variable, std::size_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoul(text);
}

// what a child tells its parent, in memory that both see
struct Note {
    std::uint64_t seed;  // under examination
    char finding[4000];  // of this seed; empty: none
};

void start_clock() {
    const itimerval limit{{0, 0}, {k_longest, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

// examines from `first` on, until the end or a finding; the exit status tells which
[[noreturn]] void examine_some(const Mutator& mutator, std::uint64_t first, std::uint64_t end, Note& note) {
    std::signal(SIGPROF, SIG_DFL);
    for (std::uint64_t seed = first; seed < end; ++seed) {
        note.seed = seed;
        start_clock();
        const std::string finding = examine(mutator.mutant(seed));
        if (finding.empty()) continue;
        std::strncpy(note.finding, finding.c_str(), sizeof note.finding - 1);
        _exit(1);
    }
    _exit(0);
}

std::string told_by(int status, const Note& note) {
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 1 ? note.finding : fmt::format("it left with {}", WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return signal == SIGPROF ? fmt::format("no end after {} s", k_longest)
                             : fmt::format("signal {} ({})", signal, strsignal(signal));
}

TEST(Attack, MutantsOfTheGallery) {
    const Mutator mutator(small_gallery_models());
    ASSERT_GT(mutator.models(), 30u);
    if (std::getenv("APPELL_MUTANT") != nullptr) {
        const std::string text = mutator.mutant(number_from("APPELL_MUTANT", 0));
        fmt::print("{}\n", text);
        std::fflush(stdout);
        EXPECT_EQ(examine(text), "");
        return;
    }
    const std::uint64_t begin = number_from("APPELL_FIRST_MUTANT", 0), end = begin + number_from("APPELL_MUTANTS", 2000);
    void* const shared = mmap(nullptr, sizeof(Note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    Note& note = *static_cast<Note*>(shared);
    std::size_t findings = 0;
    for (std::uint64_t first = begin; first < end;) {
        const std::uint64_t last = std::min(first + k_batch, end);
        std::memset(shared, 0, sizeof(Note));
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) examine_some(mutator, first, last, note);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            first = last;
            continue;
        }
        ++findings;
        ADD_FAILURE() << "mutant " << note.seed << ": " << told_by(status, note) << "\n" << mutator.mutant(note.seed);
        if (findings > 200) break;
        first = note.seed + 1;
    }
    munmap(shared, sizeof(Note));
}

}  // namespace
}  // namespace appell::attack
