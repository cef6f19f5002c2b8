// What a model file may ask of the machine. Generous; each is settable, and each has a diagnostic that names it, so that no
// file can exhaust memory or time silently.
#pragma once

#include <cstddef>

namespace appell {

struct Limits {
    std::size_t source_bytes = 16u << 20;  // of all files of a model together
    std::size_t include_depth = 16;
    std::size_t nesting = 256;             // parentheses and operators inside one expression
    std::size_t statements = 2'000'000;    // after families are expanded
    std::size_t family_size = 200'000;     // members of one `for`
    std::size_t nodes = 200'000'000;       // of the expression graph; fewer where memory is short (library/memory.hpp)
    std::size_t diagnostics = 100;         // shown for one file; the rest is counted
    std::size_t output_rows = 20'000'000;  // rows of a trajectory
    // of constraint rows that a pivoted solve works on, from the first to the last speed that a row reaches (RowColumns); 64
    // times as many where most are zero. Sparse eliminations and trees are not bound by it.
    std::size_t solve_entries = 50'000;
    std::size_t steps = 100'000'000;  // of the integrator
    std::size_t events = 10'000;      // of a run, that are listed; the others are counted
    std::size_t memory = 0;           // bytes, of the program; 0: nine tenths of what is left
};

}  // namespace appell
