// A segment of a tape as values in an order that suits registers. The tape's own order, by depth and operation, keeps many values
// alive at once; here each value is computed where it is needed first, and functions that are called come before everything
// else, because a call empties the registers.
#pragma once

#include <cstdint>
#include <vector>

#include "tape/program.hpp"

namespace appell {

using ValueId = std::uint32_t;

struct SegmentValue {
    Op op = Op::Constant;  // Constant: it is in its slot already
    ValueId operands[3] = {0, 0, 0};
    std::uint8_t arity = 0;
    std::int32_t exponent = 0;  // of PowInt
    Slot slot = 0;
    bool kept = false;      // its slot is read later, outside the segment
    bool streamed = false;  // it is an input that is read from the stream
};

struct SegmentSchedule {
    std::vector<SegmentValue> values;
    std::vector<ValueId> order;  // those to be computed
    // by value: the places in `order` that use it, ascending; uses[first_use[v]] .. uses[first_use[v + 1] - 1]
    std::vector<std::uint32_t> first_use, uses;
    std::vector<ValueId> outputs;  // of a whole program, by output
    bool calls = false;
};

// operations that are inlined; all others are calls
[[nodiscard]] bool is_inlined(Op op);

// False where the segment calls opaque functions.
[[nodiscard]] bool schedule_segment(const Program& program, const Segment& segment, SegmentSchedule& out);

// All segments from the first on, one after the other, with the closed forms in place of the solves' unknowns; what segments
// before it compute is in its slots. Kept are the pivots, their diagonals, and unknowns that are no outputs; all else that no
// output needs is not computed. False where a solve has no closed form, or where a pivot or a condition is the unknown of another
// solve.
[[nodiscard]] bool schedule_program(const Program& program, std::size_t first, SegmentSchedule& out);

}  // namespace appell
