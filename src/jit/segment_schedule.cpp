#include "jit/segment_schedule.hpp"

#include <limits>

namespace appell {

namespace {

constexpr ValueId k_none = std::numeric_limits<ValueId>::max();

}  // namespace

bool is_inlined(Op op) {
    switch (op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Div:
        case Op::Neg:
        case Op::Sqrt:
        case Op::PowInt: return true;
        default: return false;
    }
}

bool schedule_segment(const Program& program, const Segment& segment, SegmentSchedule& out) {
    out = {};
    // --- values: temporaries share slots, so that the value of a slot is the one it was given last
    std::vector<ValueId> in_slot(program.slots, k_none);
    std::vector<ValueId> calls, kept;
    const auto operand = [&](Slot slot) {
        if (in_slot[slot] == k_none) {
            in_slot[slot] = static_cast<ValueId>(out.values.size());
            out.values.push_back({.slot = slot, .kept = true});
        }
        return in_slot[slot];
    };
    for (const InstructionRun& run : segment.runs) {
        if (run.op == Op::Call) return false;
        // the instructions of a run do not depend on each other, but one may reuse the slot of another's operand
        std::vector<SegmentValue> made;
        for (std::uint32_t i = run.begin; i < run.end; ++i) {
            const Instruction& instruction = program.instructions[i];
            SegmentValue value{.op = run.op, .arity = static_cast<std::uint8_t>(info(run.op).arity), .slot = instruction.out};
            const Slot from[] = {instruction.a, instruction.b, instruction.c};
            for (std::uint8_t k = 0; k < value.arity; ++k) value.operands[k] = operand(from[k]);
            if (run.op == Op::PowInt) value.exponent = static_cast<std::int32_t>(instruction.b);
            value.kept = instruction.out < program.first_temporary;
            made.push_back(value);
        }
        for (const SegmentValue& value : made) {
            const auto id = static_cast<ValueId>(out.values.size());
            in_slot[value.slot] = id;
            out.values.push_back(value);
            if (!is_inlined(value.op)) calls.push_back(id);
            if (value.kept) kept.push_back(id);
        }
    }
    // --- order: operands first, from the calls, then from what is kept
    std::vector<bool> ready(out.values.size());
    for (ValueId v = 0; v < out.values.size(); ++v) ready[v] = out.values[v].op == Op::Constant;
    std::vector<ValueId> stack;
    for (const std::vector<ValueId>* roots : {&calls, &kept})
        for (const ValueId root : *roots) {
            stack.push_back(root);
            while (!stack.empty()) {
                const ValueId v = stack.back();
                const SegmentValue& value = out.values[v];
                bool waits = false;
                for (std::uint8_t k = 0; k < value.arity && !ready[v]; ++k)
                    if (!ready[value.operands[k]]) {
                        stack.push_back(value.operands[k]);
                        waits = true;
                    }
                if (waits) continue;
                stack.pop_back();
                if (ready[v]) continue;
                ready[v] = true;
                out.order.push_back(v);
            }
        }
    // --- uses
    out.first_use.assign(out.values.size() + 1, 0);
    const auto for_each_use = [&](const auto& visit) {
        for (std::uint32_t place = 0; place < out.order.size(); ++place) {
            const SegmentValue& value = out.values[out.order[place]];
            for (std::uint8_t k = 0; k < value.arity; ++k) visit(value.operands[k], place);
        }
    };
    for_each_use([&](ValueId v, std::uint32_t) { ++out.first_use[v + 1]; });
    for (std::size_t v = 0; v < out.values.size(); ++v) out.first_use[v + 1] += out.first_use[v];
    out.uses.resize(out.first_use.back());
    std::vector<std::uint32_t> next(out.first_use.begin(), out.first_use.end() - 1);
    for_each_use([&](ValueId v, std::uint32_t place) { out.uses[next[v]++] = place; });
    return true;
}

}  // namespace appell
