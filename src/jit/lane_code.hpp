// Native code of a program for the numbers of several lanes: what native_code.hpp makes, with packed instructions. Slots, scratch
// memory, streamed inputs and outputs have eight doubles for each number, aligned to 64 bytes; each lane gets what it would get
// alone, to the last bit. Nothing is decided in it: pivots and results are for the caller to look at.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tape/program.hpp"

namespace appell {

struct LaneCode {
    using Function = void (*)(double* slots, double* scratch, const double* stream, double* outputs);
    // One for each segment, which fills the slots. Or, behind those of the steady segments, one for the whole program, closed
    // forms in place of the solves, which fills the outputs and the slots of pivots and of unknowns that are no outputs.
    std::vector<Function> functions;
    bool whole = false;
    std::size_t step = 8;     // lanes of one call; where it is four, all arguments are moved on by four doubles for the others
    std::size_t scratch = 0;  // numbers
    std::shared_ptr<const void> memory;
};

// Both of eight angles.
using LaneSines = void (*)(double* sines, double* cosines, const double* angles);

// With AVX-512 where `eight`, with AVX otherwise; the processor must have it. Null where there is no native code. `sines` where
// there are better ones than the C library's, one lane after the other.
[[nodiscard]] std::shared_ptr<const LaneCode> make_lane_code(const Program& program, bool eight, LaneSines sines = nullptr);

}  // namespace appell
