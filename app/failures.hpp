// The end of a command that no stage foresaw, and the limit on memory, which makes one of those ends.
#pragma once

#include <cstddef>
#include <exception>

#include "commands.hpp"

namespace appell {

// The program has no more memory than `--limit memory=SIZE` says, or nine tenths of what is left on the machine: an allocation
// beyond it fails, and is reported like any other problem; the system would end some process otherwise.
void limit_memory(const SharedOptions& shared);

// Stacks of so many more threads, which are address space and hardly memory, do not count against that limit.
void allow_stacks_of_threads(std::size_t count);

// as a diagnostic; the exit code
int tell_failure(const std::exception& error, const SharedOptions& shared);

// an uncaught exception is reported, and the program ends as after any other problem
void tell_what_is_not_caught();

}  // namespace appell
