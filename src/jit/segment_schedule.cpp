#include "jit/segment_schedule.hpp"

#include <algorithm>
#include <limits>
#include <span>

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
        case Op::Abs:
        case Op::Sqrt:
        case Op::PowInt: return true;
        default: return false;
    }
}

namespace {

class Scheduling {
public:
    Scheduling(const Program& program, SegmentSchedule& out) : program_(program), out_(out), in_slot_(program.slots, k_none) {
        out_ = {};
    }

    // the value in a slot now
    ValueId operand(Slot slot) {
        if (in_slot_[slot] == k_none) {
            in_slot_[slot] = static_cast<ValueId>(out_.values.size());
            out_.values.push_back({.slot = slot, .kept = true});
        }
        return in_slot_[slot];
    }
    void put(Slot slot, ValueId value) { in_slot_[slot] = value; }

    // temporaries share slots, so that the value of a slot is the one it was given last
    bool add(const Segment& segment) {
        std::vector<SegmentValue> made;
        for (const InstructionRun& run : segment.runs) {
            if (run.op == Op::Call) return false;
            // the instructions of a run do not depend on each other, but one may reuse the slot of another's operand
            made.clear();
            for (std::uint32_t i = run.begin; i < run.end; ++i) {
                const Instruction& instruction = program_.instructions[i];
                SegmentValue value{.op = run.op, .arity = static_cast<std::uint8_t>(info(run.op).arity), .slot = instruction.out};
                const Slot from[] = {instruction.a, instruction.b, instruction.c};
                for (std::uint8_t k = 0; k < value.arity; ++k) value.operands[k] = operand(from[k]);
                if (run.op == Op::PowInt) value.exponent = static_cast<std::int32_t>(instruction.b);
                value.kept = instruction.out < program_.first_temporary;
                made.push_back(value);
            }
            for (const SegmentValue& value : made) {
                in_slot_[value.slot] = static_cast<ValueId>(out_.values.size());
                out_.values.push_back(value);
            }
        }
        return true;
    }

    // Values in the order of need, operands first: from the calls among what the roots need, then from the roots.
    void order(const std::vector<ValueId>& roots) {
        std::vector<bool> needed(out_.values.size());
        for (const ValueId root : roots) needed[root] = true;
        std::vector<ValueId> calls;
        for (std::size_t v = out_.values.size(); v-- > 0;) {
            const SegmentValue& value = out_.values[v];
            if (!needed[v]) continue;
            for (std::uint8_t k = 0; k < value.arity; ++k) needed[value.operands[k]] = true;
            if (value.op != Op::Constant && !is_inlined(value.op)) calls.push_back(static_cast<ValueId>(v));
        }
        std::reverse(calls.begin(), calls.end());
        out_.calls = !calls.empty();
        std::vector<bool> ready(out_.values.size());
        for (ValueId v = 0; v < out_.values.size(); ++v) ready[v] = out_.values[v].op == Op::Constant;
        std::vector<ValueId> stack;
        for (const std::vector<ValueId>* from : {static_cast<const std::vector<ValueId>*>(&calls), &roots})
            for (const ValueId root : *from) {
                stack.push_back(root);
                while (!stack.empty()) {
                    const ValueId v = stack.back();
                    const SegmentValue& value = out_.values[v];
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
                    out_.order.push_back(v);
                }
            }
        list_uses();
    }

private:
    void list_uses() {
        out_.first_use.assign(out_.values.size() + 1, 0);
        const auto for_each_use = [&](const auto& visit) {
            for (std::uint32_t place = 0; place < out_.order.size(); ++place) {
                const SegmentValue& value = out_.values[out_.order[place]];
                for (std::uint8_t k = 0; k < value.arity; ++k) visit(value.operands[k], place);
            }
        };
        for_each_use([&](ValueId v, std::uint32_t) { ++out_.first_use[v + 1]; });
        for (std::size_t v = 0; v < out_.values.size(); ++v) out_.first_use[v + 1] += out_.first_use[v];
        out_.uses.resize(out_.first_use.back());
        std::vector<std::uint32_t> next(out_.first_use.begin(), out_.first_use.end() - 1);
        for_each_use([&](ValueId v, std::uint32_t place) { out_.uses[next[v]++] = place; });
    }

    const Program& program_;
    SegmentSchedule& out_;
    std::vector<ValueId> in_slot_;
};

}  // namespace

bool schedule_segment(const Program& program, const Segment& segment, SegmentSchedule& out) {
    Scheduling scheduling(program, out);
    if (!scheduling.add(segment)) return false;
    std::vector<ValueId> kept;
    for (ValueId v = 0; v < out.values.size(); ++v)
        if (out.values[v].op != Op::Constant && out.values[v].kept) kept.push_back(v);
    scheduling.order(kept);
    return true;
}

bool schedule_program(const Program& program, std::size_t first, SegmentSchedule& out) {
    Scheduling scheduling(program, out);
    std::vector<ValueId> watched, unknowns;
    // NOTE: who looks at it in the end looks into its slot; the unknown of a solve is in that of its closed form
    const auto watch = [&](Slot slot) {
        watched.push_back(scheduling.operand(slot));
        return out.values[watched.back()].slot == slot;
    };
    for (const Segment& segment : std::span(program.segments).subspan(first)) {
        if (segment.repeats || !scheduling.add(segment)) return false;
        if (segment.solve < 0) continue;
        const SolveBlock& block = program.solves[static_cast<std::size_t>(segment.solve)];
        if (block.closed.empty()) return false;
        const auto take = [&](const std::vector<Slot>& closed, const std::vector<Slot>& to) {
            for (std::size_t i = 0; i < closed.size(); ++i) {
                unknowns.push_back(scheduling.operand(closed[i]));
                scheduling.put(to[i], unknowns.back());
            }
        };
        for (const std::vector<Slot>* list :
             {&block.closed.mass_pivots, &block.closed.mass_diagonal, &block.closed.row_pivots, &block.closed.row_diagonal})
            for (const Slot slot : *list)
                if (!watch(slot)) return false;
        take(block.closed.x, block.x);
        take(block.closed.lambda, block.lambda);
    }
    for (const auto& [more, less] : program.at_least)
        for (const Slot slot : {more, less})
            if (!watch(slot)) return false;
    for (const Slot slot : program.output_slots) out.outputs.push_back(scheduling.operand(slot));
    for (SegmentValue& value : out.values) {
        if (value.op != Op::Constant)
            value.kept = false;
        else
            value.streamed = value.slot >= program.stream_begin && value.slot < program.stream_end;
    }
    std::vector<bool> is_output(out.values.size());
    for (const ValueId v : out.outputs) is_output[v] = true;
    for (const ValueId v : unknowns)
        if (!is_output[v]) watched.push_back(v);
    for (const ValueId v : watched) {
        if (out.values[v].streamed) return false;  // its slot would not have it
        out.values[v].kept = true;
    }
    std::vector<ValueId> roots = out.outputs;
    roots.insert(roots.end(), watched.begin(), watched.end());
    scheduling.order(roots);
    return true;
}

}  // namespace appell
